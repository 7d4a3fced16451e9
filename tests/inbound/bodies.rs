//! Bodies: their limits, their deadline, and what happens to those that nobody reads.

use std::time::Duration;

use crate::support::{World, check_refusal, header};

const POST: &str = "POST /echo HTTP/1.1\r\nHost: h\r\n";
/// Longer than what the service reads.
const TOO_LONG: usize = 1_001;

#[tokio::test(start_paused = true)]
async fn an_announced_length_above_the_limit_is_refused_before_a_byte_is_read() {
    let world = World::new();
    let mut client = world.connect();
    client.send(&format!("{POST}Content-Length: {TOO_LONG}\r\n\r\n")).await;
    let answer = client.answer().await;
    check_refusal(&answer, 413, "payload_too_large", "announced");
    assert_eq!(header(&answer.head, "connection"), Some("close"));
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_on_sending_still_gets_its_refusal() {
    let world = World::new();
    let mut client = world.connect();
    client.send(&format!("{POST}Content-Length: 9000000\r\n\r\n")).await;
    let some = "x".repeat(100_000);
    // More than the stream holds, so that the other side must take it.
    client.send(&some).await;
    client.send(&some).await;
    check_refusal(&client.answer().await, 413, "payload_too_large", "sending");
    let begun = world.clock.mark();
    assert_eq!(client.rest().await, "");
    assert_eq!(begun.elapsed(), Duration::ZERO);
    client.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_never_stops_sending_is_left_after_a_while() {
    let world = World::new();
    let mut client = world.connect();
    let begun = world.clock.mark();
    client.send(&format!("{POST}Content-Length: 9000000\r\n\r\n")).await;
    assert_eq!(client.answer().await.status, 413);
    while tokio::io::AsyncWriteExt::write_all(&mut client.stream, b"x").await.is_ok() {
        world.clock.sleep(Duration::from_millis(100)).await;
    }
    assert!(begun.elapsed() <= Duration::from_secs(3), "{:?}", begun.elapsed());
    client.ended().await;
}

#[tokio::test(start_paused = true)]
async fn chunks_above_the_limit_are_refused() {
    let world = World::new();
    let mut client = world.connect();
    client.send(&format!("{POST}Transfer-Encoding: chunked\r\n\r\n")).await;
    for _ in 0..11 {
        client.send(&format!("64\r\n{}\r\n", "x".repeat(100))).await;
    }
    let answer = client.answer().await;
    check_refusal(&answer, 413, "payload_too_large", "chunked");
    assert_eq!(header(&answer.head, "connection"), Some("close"));
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_body_as_long_as_the_limit_is_read_in_every_form() {
    let mut client = World::new().connect();
    let text = "y".repeat(TOO_LONG - 1);
    client.send(&format!("{POST}Content-Length: 1000\r\n\r\n{text}")).await;
    assert_eq!(client.answer().await.body, text);
    client.send(&format!("{POST}Transfer-Encoding: Chunked\r\n\r\n")).await;
    for part in [&text[..1], &text[1..999], &text[999..]] {
        client.send(&format!("{:x};note=1\r\n{part}\r\n", part.len())).await;
    }
    client.send("0\r\nX-Trailer: t\r\n\r\n").await;
    assert_eq!(client.answer().await.body, text);
    client.send(&format!("{POST}Content-Length: 0\r\n\r\n{POST}\r\n")).await;
    assert_eq!(client.answer().await.body, "");
    assert_eq!(client.answer().await.body, "");
}

#[tokio::test(start_paused = true)]
async fn malformed_chunks_are_refused() {
    let bodies = ["xyz\r\n", "fffffffffffffffff\r\n", "1\r\nab\r\n", "1;\n\r\na\r\n"];
    for body in bodies {
        let mut client = World::new().connect();
        client.send(&format!("{POST}Transfer-Encoding: chunked\r\n\r\n{body}")).await;
        check_refusal(&client.answer().await, 400, "invalid_request", body);
        assert_eq!(client.rest().await, "", "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_compressed_body_is_refused_and_the_connection_goes_on() {
    let mut client = World::new().connect();
    client.send(&format!("{POST}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi")).await;
    check_refusal(&client.answer().await, 415, "unsupported_media_type", "gzip");
    client.send(&format!("{POST}Content-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi")).await;
    assert_eq!(client.answer().await.body, "hi");
}

#[tokio::test(start_paused = true)]
async fn a_dripping_body_is_refused_at_its_deadline() {
    let world = World::new();
    let mut client = world.connect();
    let begun = world.clock.mark();
    client.send(&format!("{POST}Content-Length: 1000\r\n\r\n")).await;
    for _ in 0..29 {
        client.send("x").await;
        world.clock.sleep(Duration::from_millis(500)).await;
    }
    let answer = client.answer().await;
    check_refusal(&answer, 408, "request_timeout", "drip");
    // Every byte earns the time that it takes at the slowest rate allowed: here less than 2 ms.
    let late = begun.elapsed().saturating_sub(Duration::from_secs(15));
    assert!(late <= Duration::from_millis(3), "{late:?}");
    assert_eq!(header(&answer.head, "connection"), Some("close"));
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_leaves_the_service_its_full_time() {
    let world = World::new();
    let mut client = world.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh").await;
    world.clock.sleep(Duration::from_secs(14)).await;
    client.send("i").await;
    assert_eq!(client.answer().await.body, "hi");
}

#[tokio::test(start_paused = true)]
async fn permission_to_go_on_is_given_when_the_body_is_first_asked_for() {
    let world = World::new();
    let expect = "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    let mut client = world.connect();
    client.send(&format!("{POST}{expect}")).await;
    assert_eq!(client.head().await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hi").await;
    assert_eq!(client.answer().await.body, "hi");

    let mut client = world.connect();
    client.send(&format!("POST /ignore HTTP/1.1\r\nHost: h\r\n{expect}")).await;
    let answer = client.answer().await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "ignored"));
    assert_eq!(header(&answer.head, "connection"), Some("close"));
    assert_eq!(client.rest().await, "");

    let mut client = world.connect();
    client.send(&format!("{POST}Expect: 100-continue\r\nContent-Length: {TOO_LONG}\r\n\r\n")).await;
    check_refusal(&client.answer().await, 413, "payload_too_large", "before it goes on");
}

#[tokio::test(start_paused = true)]
async fn an_unread_body_that_is_there_already_costs_no_connection() {
    let mut client = World::new().connect();
    let ignore = "POST /ignore HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi";
    for _ in 0..3 {
        client.send(ignore).await;
        let answer = client.answer().await;
        assert_eq!(answer.body, "ignored");
        assert_eq!(header(&answer.head, "connection"), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_ends_the_connection_and_the_work_for_it() {
    let requests = [
        format!("{POST}Content-Length: 1000\r\n\r\nhello"),
        "GET /never HTTP/1.1\r\nHost: h\r\n\r\n".to_owned(),
        "GET /stream?1000 HTTP/1.1\r\nHost: h\r\n\r\n".to_owned(),
    ];
    for request in requests {
        let world = World::new();
        let mut client = world.connect();
        client.send(&request).await;
        let begun = world.clock.mark();
        client.ended().await;
        assert_eq!(begun.elapsed(), Duration::ZERO, "{request}");
        assert_eq!(world.metrics.connections.value(), 0);
    }
}
