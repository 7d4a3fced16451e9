//! Everybody who keeps a connection waiting, and when it ends.

use std::time::Duration;

use errand::inbound::Peer;

use crate::support::{World, check_refusal, header};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_closed_after_ten_seconds() {
    let world = World::new();
    let begun = world.clock.mark();
    let mut client = world.connect();
    assert_eq!(client.rest().await, "");
    assert_eq!(begun.elapsed(), 10 * SECOND);
    client.ended().await;
    assert_eq!(world.metrics.connections.value(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_partial_head_is_closed_after_ten_seconds() {
    let world = World::new();
    let begun = world.clock.mark();
    let mut client = world.connect();
    client.send("GET / HTTP/1.1\r\nHo").await;
    assert_eq!(client.rest().await, "");
    assert_eq!(begun.elapsed(), 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_drips_is_closed_at_the_same_time() {
    let world = World::new();
    let begun = world.clock.mark();
    let mut client = world.connect();
    client.send("GET / HTTP/1.1\r\nX: ").await;
    while tokio::io::AsyncWriteExt::write_all(&mut client.stream, b"x").await.is_ok() {
        world.clock.sleep(SECOND / 2).await;
    }
    assert!(begun.elapsed() <= 10 * SECOND + SECOND / 2, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_for_seventy_five_seconds() {
    let world = World::new();
    let mut client = world.connect();
    assert_eq!(client.get("/").await.status, 200);
    world.clock.sleep(74 * SECOND).await;
    assert_eq!(client.get("/").await.status, 200);
    let begun = world.clock.mark();
    assert_eq!(client.rest().await, "");
    assert_eq!(begun.elapsed(), 75 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_later_head_has_ten_seconds_from_its_first_byte() {
    let world = World::new();
    let mut client = world.connect();
    assert_eq!(client.get("/").await.status, 200);
    world.clock.sleep(20 * SECOND).await;
    client.send("GET / HT").await;
    let begun = world.clock.mark();
    assert_eq!(client.rest().await, "");
    assert_eq!(begun.elapsed(), 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_reads_is_given_up_after_thirty_seconds() {
    let world = World::new();
    let mut client = world.connect_as(Peer::Local { uid: 0 }, 4096);
    client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n").await;
    assert!(client.more().await);
    world.clock.sleep(29 * SECOND).await;
    // Some progress, and the time begins anew.
    assert!(client.more().await);
    world.clock.sleep(29 * SECOND).await;
    assert_eq!(world.metrics.connections.value(), 1);
    world.clock.sleep(2 * SECOND).await;
    assert_eq!(world.metrics.connections.value(), 0);
    assert!(client.rest().await.len() < 20_000);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_that_makes_progress_gets_the_whole_answer() {
    let world = World::new();
    let mut client = world.connect_as(Peer::Local { uid: 0 }, 64 * 1024);
    client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n").await;
    let head = client.head().await;
    let length: usize = header(&head, "content-length").unwrap().parse().unwrap();
    assert_eq!(length, 1024 * 1024);
    for _ in 0..20 {
        world.clock.sleep(20 * SECOND).await;
        assert!(client.more().await);
    }
    client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await;
    assert!(client.rest().await.contains("xHTTP/1.1 200 OK\r\n"));
}

#[tokio::test(start_paused = true)]
async fn a_service_that_does_not_answer_is_given_up_after_thirty_seconds() {
    let world = World::new();
    let mut client = world.connect();
    let begun = world.clock.mark();
    let answer = client.get("/never").await;
    assert_eq!(begun.elapsed(), 30 * SECOND);
    check_refusal(&answer, 503, "overloaded", "never");
    assert_eq!(header(&answer.head, "retry-after"), Some("1"));
    assert_eq!(client.get("/").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_service_may_ask_for_more_time() {
    let world = World::new();
    let mut client = world.connect();
    let begun = world.clock.mark();
    assert_eq!(client.get("/patient").await.status, 503);
    assert_eq!(begun.elapsed(), 300 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_has_begun_has_no_deadline() {
    let world = World::new();
    let mut client = world.connect();
    client.send("GET /stream?200 HTTP/1.1\r\nHost: h\r\n\r\n").await;
    let begun = world.clock.mark();
    client.head().await;
    world.clock.sleep(200 * SECOND).await;
    client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await;
    let rest = client.rest().await;
    assert!(rest.contains("data: 199\n\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"), "{rest}");
    assert!(begun.elapsed() < 202 * SECOND, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_nobody_reads_is_given_up() {
    let world = World::new();
    let mut client = world.connect_as(Peer::Local { uid: 0 }, 512);
    client.send("GET /stream?100000 HTTP/1.1\r\nHost: h\r\n\r\n").await;
    client.head().await;
    world.clock.sleep(200 * SECOND).await;
    assert_eq!(world.metrics.connections.value(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_silent_connections_are_all_gone_after_ten_seconds() {
    let world = World::new();
    let clients: Vec<_> = (0..1_000).map(|_| world.connect()).collect();
    world.clock.sleep(9 * SECOND).await;
    assert_eq!(world.metrics.connections.value(), 1_000);
    world.clock.sleep(2 * SECOND).await;
    assert_eq!(world.metrics.connections.value(), 0);
    drop(clients);
}
