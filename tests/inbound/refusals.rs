//! Requests that never reach their service, and what their senders are told.

use crate::support::{World, check_refusal, header};

/// Sends a request and checks its refusal, after which the connection must end.
async fn check(request: &str, status: u16, code: &str) {
    let world = World::new();
    let mut client = world.connect();
    client.send(request).await;
    let answer = client.answer().await;
    let case: String = request.chars().take(200).collect();
    check_refusal(&answer, status, code, &case);
    assert_eq!(header(&answer.head, "connection"), Some("close"), "{case}");
    assert_eq!(client.rest().await, "", "{case}");
    assert_eq!(world.metrics.requests[3].value(), 1, "{case}");
    client.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_with_two_lengths_is_refused_and_what_it_smuggles_is_not_run() {
    let headers = [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
    ];
    for headers in headers {
        let smuggled = "GET /ignore HTTP/1.1\r\nHost: h\r\n\r\n";
        let request = format!("POST /echo HTTP/1.1\r\nHost: h\r\n{headers}\r\n\r\n");
        let request = format!("{request}0\r\n\r\n{smuggled}");
        check(&request, 400, "invalid_request").await;
    }
}

#[tokio::test(start_paused = true)]
async fn two_lengths_are_noticed_behind_other_requests_of_the_connection() {
    let world = World::new();
    let mut client = world.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello").await;
    client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    client.send("3\r\nyes\r\n0\r\n\r\nPOST /echo HTTP/1.1\r\nHost: h\r\n").await;
    client.send("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").await;
    assert_eq!(client.answer().await.body, "hello");
    assert_eq!(client.answer().await.body, "yes");
    check_refusal(&client.answer().await, 400, "invalid_request", "the third");
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn lengths_and_codings_that_are_not_plain_are_refused() {
    let headers = [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: +3",
        "Content-Length: -1",
        "Content-Length: 3, 3",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity",
    ];
    for header in headers {
        let request = format!("POST /echo HTTP/1.1\r\nHost: h\r\n{header}\r\n\r\n");
        check(&request, 400, "invalid_request").await;
    }
    let request = "POST /echo HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    check(request, 400, "invalid_request").await;
}

#[tokio::test(start_paused = true)]
async fn malformed_heads_are_refused_with_the_one_error_body() {
    let requests = [
        "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
        "GET / HTTP/3.0\r\nHost: h\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        "G\u{7}T / HTTP/1.1\r\nHost: h\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0 a TLS hello\r\n\r\n",
    ];
    for request in requests {
        check(request, 400, "invalid_request").await;
    }
}

#[tokio::test(start_paused = true)]
async fn http_1_1_needs_exactly_one_host() {
    check("GET / HTTP/1.1\r\n\r\n", 400, "invalid_request").await;
    check("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "invalid_request").await;
    check("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400, "invalid_request").await;
    let mut client = World::new().connect();
    client.send("GET / HTTP/1.0\r\n\r\n").await;
    assert_eq!(client.answer().await.status, 200);
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_not_a_path_is_refused() {
    check("GET http://evil/x HTTP/1.1\r\nHost: h\r\n\r\n", 400, "invalid_request").await;
    check("GET evil:80 HTTP/1.1\r\nHost: h\r\n\r\n", 400, "invalid_request").await;
    check("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 400, "invalid_request").await;
}

#[tokio::test(start_paused = true)]
async fn methods_that_no_resource_has_are_refused_with_those_that_there_are() {
    for method in ["TRACE", "BREW", "get", &"X".repeat(300)] {
        let request = format!("{method} / HTTP/1.1\r\nHost: h\r\n\r\n");
        check(&request, 405, "method_not_allowed").await;
    }
    check("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", 405, "method_not_allowed").await;
    let mut client = World::new().connect();
    client.send("TRACE / HTTP/1.1\r\nHost: h\r\n\r\n").await;
    let head = client.head().await;
    let allow = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
    assert_eq!(header(&head, "allow"), Some(allow));
}

#[tokio::test(start_paused = true)]
async fn heads_and_targets_above_their_limits_are_refused() {
    let long = |bytes: usize| format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "x".repeat(bytes));
    check(&long(9_000), 414, "uri_too_long").await;
    check(&long(20_000), 431, "headers_too_large").await;
    check(&long(70_000), 431, "headers_too_large").await;
    let value = "v".repeat(20_000);
    let large = format!("GET / HTTP/1.1\r\nHost: h\r\nX: {value}\r\n\r\n");
    check(&large, 431, "headers_too_large").await;
    let many = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "X: y\r\n".repeat(64));
    check(&many, 431, "headers_too_large").await;
}

#[tokio::test(start_paused = true)]
async fn what_is_odd_but_clear_is_accepted() {
    let world = World::new();
    let mut client = world.connect();
    let headers = "X: y\r\n".repeat(63);
    client.send(&format!("GET /a HTTP/1.1\r\nHost: h\r\n{headers}\r\n")).await;
    assert_eq!(client.answer().await.status, 200);
    client.send("GET /bare-lines HTTP/1.1\nHost: h\n\n").await;
    assert!(client.answer().await.body.starts_with("Get /bare-lines"));
    client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2").await;
    client.send("\r\n\r\nhi\r\n\r\n").await;
    assert_eq!(client.answer().await.body, "hi");
    let path = format!("/{}", "x".repeat(8 * 1024 - 1));
    assert_eq!(client.get(&path).await.status, 200);
    let answer = client.get("/v1/../admin/%2f%2e%2e?a=%00").await;
    assert!(answer.body.starts_with("Get /v1/../admin/%2f%2e%2e Some(\"a=%00\")"));
}

#[tokio::test(start_paused = true)]
async fn the_preface_of_http_2_ends_the_connection() {
    let mut client = World::new().connect();
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert_eq!(client.rest().await, "");
    client.ended().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_reads_like_a_refusal_of_hyper_arrives_as_it_is() {
    let mut client = World::new().connect();
    let text = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let length = text.len();
    for _ in 0..2 {
        let head = format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n");
        client.send(&format!("{head}{text}")).await;
        assert_eq!(client.answer().await.body, text);
    }
}
