//! Bodies that are not what they should be, and when they are read at all.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::support::http::{self, request, with_headers};
use crate::support::{House, KIND, RUNS, Reply};

/// Sends a body to the create with header lines of its own beside the key.
async fn post(house: &House, headers: &str, body: &str) -> Reply {
    let headers = format!("authorization: Bearer {}\r\n{headers}", house.key);
    house.send(with_headers("POST", RUNS, &headers, body).as_bytes()).await
}

fn good() -> String {
    json!({ "kind": KIND, "input": {} }).to_string()
}

#[track_caller]
fn check_code(reply: &Reply, status: u16, code: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (status, code), "{}", reply.raw);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_not_one_json_object_is_refused() {
    let house = House::new().await;
    let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    for body in [
        String::new(),
        " ".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "\"text\"".to_owned(),
        "{".to_owned(),
        "{}{}".to_owned(),
        "{'kind':1}".to_owned(),
        "\u{feff}{}".to_owned(),
        "{\"kind\":\"a\",\"kind\":\"b\"}".to_owned(),
        "{\"input\":{\"a\":1,\"a\":1}}".to_owned(),
        "{\"kind\":NaN}".to_owned(),
        "{\"kind\":\"\\ud800\"}".to_owned(),
        nested(65),
        nested(100_000 / 6),
        format!("{{\"input\":[{}0]}}", "0,".repeat(10_000)),
    ] {
        let reply = post(&house, "content-type: application/json\r\n", &body).await;
        check_code(&reply, 400, "invalid_json");
        assert_eq!(reply.json()["error"]["param"], json!(null), "{}", reply.raw);
    }
    let mut bytes = request("POST", RUNS, &house.key, "{\"kind\":\"?\"}").into_bytes();
    let at = bytes.len() - 3;
    bytes[at] = 0xff;
    check_code(&house.send(&bytes).await, 400, "invalid_json");
    // As deep as it may be, it is JSON, and only its field is unknown.
    let reply = post(&house, "", &nested(64)).await;
    check_code(&reply, 400, "missing_field");
}

#[tokio::test(start_paused = true)]
async fn a_body_of_another_type_is_refused_and_one_without_a_type_is_json() {
    let house = House::new().await;
    for value in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json5",
        "text/json",
        "",
        ";application/json",
    ] {
        let reply = post(&house, &format!("content-type: {value}\r\n"), &good()).await;
        check_code(&reply, 415, "unsupported_media_type");
    }
    for headers in [
        "",
        "content-type: application/json\r\n",
        "content-type: Application/JSON; charset=utf-8\r\n",
        "content-type: application/json ;charset=utf-8\r\n",
    ] {
        assert_eq!(post(&house, headers, &good()).await.status, 201, "{headers}");
    }
    let reply = post(&house, "content-encoding: gzip\r\n", &good()).await;
    check_code(&reply, 415, "unsupported_media_type");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let house = House::new().await;
    let whole = |bytes: usize| {
        let frame = json!({ "kind": KIND, "input": {}, "external_id": "" }).to_string();
        let (head, tail) = frame.split_at(frame.len() - 2);
        format!("{head}{}{tail}", " ".repeat(bytes - frame.len()))
    };
    let largest = post(&house, "", &whole(256 * 1024)).await;
    check_code(&largest, 400, "invalid_value");
    let reply = post(&house, "", &whole(256 * 1024 + 1)).await;
    check_code(&reply, 413, "payload_too_large");

    // The length alone is enough.
    let head = request("POST", RUNS, &house.key, "").replace("length: 0", "length: 262145");
    let mut connection = house.client().connect();
    let reply = http::exchange(&mut connection.stream, head.as_bytes()).await;
    check_code(&reply, 413, "payload_too_large");
}

/// Whoever has no key cannot make the daemon read or keep anything.
///
/// Source: the contract, section 3; models of the error table: key before body.
#[tokio::test(start_paused = true)]
async fn a_request_without_a_key_is_answered_before_its_body_comes() {
    let house = House::new().await;
    let (models, _) = house.key_of(house.account, "models", None).await;
    let big = 10 * 1024 * 1024;
    for (key, status) in [("", 401), ("service_sk_x", 401), (models.as_str(), 403)] {
        for wish in ["", "expect: 100-continue\r\n"] {
            let auth = format!("authorization: Bearer {key}\r\n");
            let auth = if key.is_empty() { "" } else { &auth };
            let head = with_headers("POST", RUNS, &format!("{auth}{wish}"), "");
            let head = head.replace("length: 0", &format!("length: {big}"));
            let mut connection = house.client().connect();
            let reply = http::exchange(&mut connection.stream, head.as_bytes()).await;
            assert_eq!(reply.status, status, "{}", reply.raw);
            assert_eq!(reply.header("connection"), Some("close"), "{}", reply.raw);
            // The other side is gone, so the body has nowhere to go.
            assert!(connection.stream.write_all(&vec![b' '; big]).await.is_err());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_or_breaks_off_starts_nothing() {
    let house = House::new().await;
    let whole = request("POST", RUNS, &house.key, &good());
    let mut connection = house.client().connect();
    connection.stream.write_all(&whole.as_bytes()[..whole.len() - 5]).await.unwrap();
    let begun = house.clock.mark();
    check_code(&http::read(&mut connection.stream).await, 408, "request_timeout");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());

    let chunked = whole.replace("content-length: ", "transfer-encoding: chunked\r\nx-was: ");
    let (head, _) = chunked.split_once("\r\n\r\n").unwrap();
    let broken = format!("{head}\r\n\r\n5\r\n{{\"kinX");
    check_code(&house.send(broken.as_bytes()).await, 400, "invalid_request");
    let body = good();
    let sound = format!("{head}\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    assert_eq!(house.send(sound.as_bytes()).await.status, 201);
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 1);
    house.examine().await;
}

/// Source: the contract, section 1: an explicit null on an optional field is no field.
#[tokio::test(start_paused = true)]
async fn a_null_is_no_field() {
    let house = House::new().await;
    let body = json!({ "kind": KIND, "input": {}, "external_id": null, "anything": null });
    let reply = house.ask("POST", RUNS, Some(body)).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert_eq!(reply.json()["external_id"], json!(null));
}
