//! Bodies that are no request: nothing reaches the upstream, and nothing is charged.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::chat::{CHATS, chat, check_nothing_charged, house};
use crate::support::http::{self, with_headers};
use crate::support::upstream::{ask, stream};
use crate::support::{House, Reply, Upstream, golden};

async fn fresh() -> (House, Upstream) {
    house(stream(&["Hi"], (5, 1))).await
}

/// Sends bytes as the body of a chat.
async fn send(house: &House, body: &[u8]) -> Reply {
    let auth = format!("authorization: Bearer {}\r\n", house.key);
    let head = with_headers("POST", CHATS, &auth, "");
    let head = head.replace("length: 0", &format!("length: {}", body.len()));
    house.send(&[head.as_bytes(), body].concat()).await
}

fn message(content: &Value) -> Value {
    json!({ "messages": [{ "role": "user", "content": content }] })
}

/// Every refusal, with the member that it names.
fn refused() -> Vec<(Value, u16, &'static str, &'static str)> {
    let image = json!([{ "type": "image_url", "image_url": { "url": "http://a.example/" } }]);
    let audio = json!([{ "type": "text", "text": "a" }, { "type": "input_audio" }]);
    let part = "messages[0].content[0].type";
    let tool = json!({ "messages": [{ "role": "tool", "content": "a" }] });
    vec![
        (json!({ "model": null }), 400, "missing_field", "model"),
        (json!({ "model": ["ours"] }), 400, "invalid_type", "model"),
        (json!({ "model": "nobody" }), 404, "model_not_found", "model"),
        (json!({ "model": "" }), 404, "model_not_found", "model"),
        (json!({ "model": "our\u{0}s" }), 404, "model_not_found", "model"),
        (json!({ "messages": null }), 400, "missing_field", "messages"),
        (json!({ "messages": [] }), 400, "invalid_value", "messages"),
        (json!({ "messages": vec![json!({}); 1025] }), 400, "invalid_value", "messages"),
        (json!({ "messages": ["hi"] }), 400, "invalid_type", "messages[0]"),
        (tool, 400, "unsupported_parameter", "messages[0].role"),
        (message(&json!(null)), 400, "missing_field", "messages[0].content"),
        (message(&json!("a\u{0}b")), 400, "invalid_value", "messages[0].content"),
        (message(&image), 400, "unsupported_content_part", part),
        (message(&audio), 400, "unsupported_content_part", "messages[0].content[1].type"),
        (json!({ "max_tokens": 0 }), 400, "invalid_value", "max_tokens"),
        (json!({ "max_tokens": -1 }), 400, "invalid_value", "max_tokens"),
        (json!({ "max_tokens": "x" }), 400, "invalid_type", "max_tokens"),
        (json!({ "max_completion_tokens": 1.5 }), 400, "invalid_type", "max_completion_tokens"),
        (json!({ "temperature": 3 }), 400, "invalid_value", "temperature"),
        (json!({ "stream": "yes" }), 400, "invalid_type", "stream"),
        (json!({ "n": 2 }), 400, "unsupported_parameter", "n"),
        (json!({ "logprobs": true }), 400, "unsupported_parameter", "logprobs"),
        (json!({ "tools": [{ "type": "function" }] }), 400, "unsupported_parameter", "tools"),
        (json!({ "store": true }), 400, "unsupported_parameter", "store"),
        (json!({ "audio": {} }), 400, "unsupported_parameter", "audio"),
        (
            json!({ "response_format": { "type": "json_object" } }),
            400,
            "unsupported_parameter",
            "response_format",
        ),
        (json!({ "reasoning_effort": "low" }), 400, "unsupported_parameter", "reasoning_effort"),
    ]
}

/// Source: the contract, section 5: complete validation before anything is held or sent.
#[tokio::test(start_paused = true)]
async fn what_is_refused_is_named_and_goes_nowhere() {
    let (house, upstream) = fresh().await;
    let mut told = String::new();
    for (extra, status, code, param) in refused() {
        for streams in [false, true] {
            let mut body = ask("ours", &json!({ "stream": streams }));
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let reply = house.ask("POST", CHATS, Some(body)).await;
            let error = &reply.json()["error"];
            let shown = extra.to_string().chars().take(80).collect::<String>();
            assert_eq!((reply.status, &error["code"]), (status, &json!(code)), "{shown}");
            assert_eq!(error["param"], param, "{shown}: {error}");
            if !streams {
                told.push_str(&format!("{shown}\n  {}\n", error["message"].as_str().unwrap()));
            }
        }
    }
    golden("chat/refused.txt", &told);
    assert_eq!(upstream.count(), 0);
    check_nothing_charged(&house).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_no_json_object_goes_nowhere() {
    let (house, upstream) = fresh().await;
    let nested = |depth: usize| {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        ask("ours", &json!({})).to_string().replacen('{', &format!("{{\"x\":{deep},"), 1)
    };
    let twice = ask("ours", &json!({})).to_string().replacen('{', "{\"model\":\"b\",", 1);
    let lone = ask("ours", &json!({})).to_string().replace("hello", "\\ud800");
    let raw = [b"{\"model\":\"ours\xff\"}".to_vec(), vec![0xc3, 0x28], vec![0xef, 0xbb, 0xbf]];
    let texts = [
        "",
        " ",
        "[]",
        "null",
        "7",
        "\"a\"",
        "{",
        "{}}",
        "{\"model\":}",
        "{'model':1}",
        "{\"a\":NaN}",
        "{\"a\":1e999}",
    ];
    let bodies = raw.into_iter().chain(texts.map(|it| it.as_bytes().to_vec()));
    for body in
        bodies.chain([nested(100).into(), nested(200_000).into(), twice.into(), lone.into()])
    {
        let reply = send(&house, &body).await;
        let start = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        assert_eq!(reply.status, 400, "{start}: {}", reply.raw);
        assert!(["invalid_json", "missing_field"].contains(&reply.code().as_str()), "{start}");
    }
    assert_eq!(upstream.count(), 0);
    check_nothing_charged(&house).await;
    assert_eq!(send(&house, nested(20).as_bytes()).await.status, 200);
}

/// Source: the contract, section 4: a chat has at most 4 MiB.
#[tokio::test(start_paused = true)]
async fn a_body_has_at_most_four_mebibytes() {
    const MOST: usize = 4 * 1024 * 1024;
    let (house, upstream) = fresh().await;
    let sized = |bytes: usize| {
        let body = ask("offline/echo", &json!({ "max_tokens": 1 })).to_string();
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    assert_eq!(send(&house, sized(MOST).as_bytes()).await.status, 200);
    let reply = send(&house, sized(MOST + 1).as_bytes()).await;
    assert_eq!((reply.status, reply.code().as_str()), (413, "payload_too_large"));
    // A long conversation is refused before it is sent on.
    let long = message(&json!("word ".repeat(MOST / 6)));
    let reply = chat(&house, &long).await;
    assert_eq!((reply.status, reply.code().as_str()), (400, "context_length_exceeded"));
    assert_eq!(reply.json()["error"]["param"], "messages");
    let auth = format!("authorization: Bearer {}\r\ncontent-encoding: gzip\r\n", house.key);
    let packed = with_headers("POST", CHATS, &auth, "x");
    assert_eq!(house.send(packed.as_bytes()).await.status, 415);
    assert_eq!(upstream.count(), 0);
    check_nothing_charged(&house).await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_off_or_does_not_come_begins_no_chat() {
    let (house, upstream) = fresh().await;
    let whole = http::request("POST", CHATS, &house.key, &ask("ours", &json!({})).to_string());
    let mut connection = house.client().connect();
    connection.stream.write_all(&whole.as_bytes()[..whole.len() - 5]).await.unwrap();
    let reply = http::read(&mut connection.stream).await;
    assert_eq!((reply.status, reply.code().as_str()), (408, "request_timeout"));
    let mut connection = house.client().connect();
    connection.stream.write_all(&whole.as_bytes()[..whole.len() - 5]).await.unwrap();
    connection.hang_up();
    house.settle().await;
    assert_eq!(upstream.count(), 0);
    check_nothing_charged(&house).await;
}
