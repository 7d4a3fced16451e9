//! What every answer carries, and what comes through the connection around it.

use std::net::IpAddr;

use errand::inbound::{Config, Peer};

use crate::support::{World, check_refusal, header};

#[tokio::test(start_paused = true)]
async fn every_answer_has_an_id_and_the_clock_s_date_and_says_nothing_of_its_server() {
    let mut client = World::new().connect();
    let first = client.get("/").await;
    let second = client.get("/").await;
    let id = |it: &str| header(it, "x-request-id").unwrap().to_owned();
    assert_ne!(id(&first.head), id(&second.head));
    assert_eq!(header(&first.head, "date"), Some("Thu, 01 Jan 2026 00:00:00 GMT"));
    for name in ["server", "x-powered-by", "via"] {
        assert_eq!(header(&first.head, name), None);
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_bytes() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut client = World::new().connect();
        client
            .send("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /panic HTTP/1.1\r\nHost: h\r\n\r\n")
            .await;
        client.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\nBAD\r\n\r\n").await;
        runs.push(client.rest().await);
    }
    assert!(runs[0].contains("data: 2") && runs[0].contains("invalid_request"), "{}", runs[0]);
    assert_eq!(runs[0], runs[1]);
}

#[tokio::test(start_paused = true)]
async fn pipelined_requests_are_answered_in_their_order() {
    let mut client = World::new().connect();
    let requests: String =
        (0..50).map(|it| format!("GET /{it} HTTP/1.1\r\nHost: h\r\n\r\n")).collect();
    client.send(&requests).await;
    for number in 0..50 {
        let body = client.answer().await.body;
        assert!(body.starts_with(&format!("Get /{number} ")), "{number}: {body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_asks_for_the_end_gets_it() {
    let mut client = World::new().connect();
    client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await;
    let answer = client.answer().await;
    assert_eq!(header(&answer.head, "connection"), Some("close"));
    assert_eq!(client.rest().await, "");
    client.ended().await;
}

#[tokio::test(start_paused = true)]
async fn head_has_the_headers_of_the_answer_and_no_body() {
    let mut client = World::new().connect();
    client.send("HEAD /ignore HTTP/1.1\r\nHost: h\r\n\r\n").await;
    let head = client.head().await;
    assert_eq!(header(&head, "content-length"), Some("7"));
    client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n").await;
    assert!(client.head().await.starts_with("HTTP/1.1 200"));
    client.send("GET /empty HTTP/1.1\r\nHost: h\r\n\r\n").await;
    let head = client.head().await;
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    assert_eq!(client.get("/").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_cut_off_visibly_when_its_maker_does_not_finish() {
    let mut client = World::new().connect();
    client.send("GET /stream/broken HTTP/1.1\r\nHost: h\r\n\r\n").await;
    let head = client.head().await;
    assert_eq!(header(&head, "content-type"), Some("text/event-stream"));
    let rest = client.rest().await;
    assert!(rest.ends_with("data: 2\n\n\r\n"), "{rest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_finished_stream_leaves_the_connection_usable() {
    let mut client = World::new().connect();
    client.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n").await;
    client.head().await;
    let mut chunks = String::new();
    while !chunks.ends_with("\r\n0\r\n\r\n") {
        chunks.push_str(&client.line().await);
    }
    assert!(chunks.contains("data: 0") && chunks.contains("data: 2"), "{chunks:?}");
    assert_eq!(client.get("/").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_one_answer_and_nothing_else() {
    let world = World::new();
    let mut client = world.connect();
    for (count, path) in [(1, "/panic"), (2, "/panic-at-once")] {
        check_refusal(&client.get(path).await, 500, "internal_error", path);
        assert_eq!(world.metrics.panics.value(), count);
        assert_eq!(client.get("/").await.status, 200);
    }
    assert_eq!(world.metrics.requests[1].value(), 2);
    assert_eq!(world.metrics.requests[4].value(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_forwarded_address_counts_only_when_a_trusted_proxy_says_it() {
    let proxy: IpAddr = [10, 0, 0, 9].into();
    let world = World::with(Config { trusted_proxies: vec![(proxy, 24)], ..Config::default() });
    let cases = [
        (Peer::Tcp(proxy), "1.1.1.1, 203.0.113.9", "Tcp(203.0.113.9)"),
        (Peer::Tcp([10, 0, 1, 9].into()), "203.0.113.9", "Tcp(10.0.1.9)"),
        (Peer::Local { uid: 7 }, "203.0.113.9", "Local { uid: 7 }"),
    ];
    for (peer, forwarded, expected) in cases {
        let mut client = world.connect_as(peer, 4096);
        client
            .send(&format!("GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: {forwarded}\r\n\r\n"))
            .await;
        let body = client.answer().await.body;
        assert!(body.ends_with(expected), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_and_connections_are_counted() {
    let world = World::new();
    let mut client = world.connect();
    client.get("/").await;
    client.get("/").await;
    assert_eq!(world.metrics.connections.value(), 1);
    assert_eq!(world.metrics.requests[1].value(), 2);
    let text = world.metrics.to_text();
    assert!(text.contains("errand_request_seconds_count 2\n"), "{text}");
    client.ended().await;
    assert_eq!(world.metrics.connections.value(), 0);
}
