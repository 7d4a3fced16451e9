//! Streamed answers, byte for byte.

use std::time::Duration;

use serde_json::{Value, json};

use crate::chat::{CHATS, MODEL, chat, check_charged, events, house};
use crate::support::golden;
use crate::support::upstream::{Step, ask, begun, done, event, finish, pause, stream, text, usage};

/// The JSON of the events of a stream that is complete.
#[track_caller]
fn complete(text: &str) -> Vec<Value> {
    let mut events = events(text);
    assert_eq!(events.pop(), Some("[DONE]"), "{text}");
    events.iter().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// Source: the contract, section 5: usage that nobody asked for is on the last chunk; what was
/// asked for is in a chunk of its own, and null in all others.
#[tokio::test(start_paused = true)]
async fn a_stream_says_once_what_was_used() {
    for (name, options) in
        [("plain", json!(null)), ("with-usage", json!({ "include_usage": true }))]
    {
        let (house, _) = house(stream(&["Hé", "llo", "\n"], (5, 2))).await;
        let reply = chat(&house, &json!({ "stream": true, "stream_options": options })).await;
        assert!(reply.is_whole);
        let head = reply.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        let head = head.collect::<String>().replace(reply.header("x-request-id").unwrap(), "(id)");
        golden(&format!("chat/stream-{name}.txt"), &format!("{head}\n{}", reply.text));
        let said = complete(&reply.text);
        let costs = said.iter().filter(|it| it["usage"].is_object()).count();
        assert_eq!(costs, 1, "{}", reply.text);
        check_charged(&house, "0.000009").await;
    }
}

/// Source: the contract, section 5: a comment every ten seconds keeps proxies awake.
#[tokio::test(start_paused = true)]
async fn a_silent_stream_says_every_ten_seconds_that_it_is_alive() {
    let mut script = begun(&["Hi"], pause(35_000));
    script.extend([finish("stop"), pause(1), usage(5, 1)]);
    script.extend(done());
    let (house, _) = house(script).await;
    let begun = house.clock.mark();
    let reply = chat(&house, &json!({ "stream": true })).await;
    assert_eq!(begun.elapsed().as_secs(), 35);
    let (before, after) = reply.text.split_once(": keep-alive\n\n").unwrap();
    assert!(before.contains("\"Hi\"") && !before.contains("stop"), "{}", reply.text);
    assert_eq!(after.matches(": keep-alive\n\n").count(), 2);
    assert_eq!(complete(&reply.text).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn each_piece_goes_out_when_it_comes() {
    let mut script = begun(&["one"], pause(1_000));
    script.extend([text("two"), pause(1_000)]);
    script.extend(stream(&["three"], (5, 3)).split_off(1));
    let (house, _) = house(script).await;
    let begun = house.clock.mark();
    let body = ask(MODEL, &json!({ "stream": true }));
    let mut connection = house.client().begin("POST", CHATS, &body).await;
    for (word, seconds) in [("one", 0), ("two", 1), ("three", 2)] {
        connection.read_until(word).await;
        assert_eq!(begun.elapsed().as_secs(), seconds, "{word}");
    }
}

/// Source: the contract, section 5: a stream that broke off ends with an error and without
/// `[DONE]`; what was delivered is charged, and no more.
#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_ends_with_an_error_and_costs_what_was_delivered() {
    let error = event("{\"error\":{\"message\":\"secret words\",\"code\":500}}");
    for (end, code) in [
        (Step::Close, "upstream_truncated"),
        (Step::Reset, "upstream_truncated"),
        (Step::Say(b"0\r\n\r\n".to_vec()), "upstream_truncated"),
        (error, "upstream_error"),
        (event("{\"what\":"), "upstream_invalid_response"),
        (Step::Say(b"zz\r\n".to_vec()), "upstream_invalid_response"),
        (Step::Hang, "upstream_timeout"),
    ] {
        let shown = format!("{end:?}");
        let (house, upstream) = house(begun(&["Hi", " there", "!"], end)).await;
        let options = json!({ "stream": true, "stream_options": { "include_usage": true } });
        let reply = chat(&house, &options).await;
        assert!(reply.is_whole, "{shown}: {}", reply.raw);
        let told = events(&reply.text);
        let last: Value = serde_json::from_str(told[told.len() - 1]).unwrap();
        assert_eq!(last["error"]["code"], code, "{shown}: {}", reply.text);
        assert_eq!(last["error"]["type"], "upstream_error", "{shown}");
        assert!(!reply.text.contains("[DONE]") && !reply.text.contains("secret"), "{shown}");
        assert!(!reply.text.contains("finish_reason\":\"stop\""), "{shown}");
        assert_eq!(upstream.count(), 1, "{shown}");
        // 9 bytes are three tokens; the conversation is nine.
        check_charged(&house, "0.000015").await;
    }
}

/// A stream whose upstream counted before it broke off is charged for what was delivered, not for
/// what the upstream says.
#[tokio::test(start_paused = true)]
async fn what_a_broken_upstream_counted_is_not_charged() {
    let mut script = begun(&["Hi"], usage(80, 900));
    script.push(Step::Close);
    let (house, _) = house(script).await;
    chat(&house, &json!({ "stream": true })).await;
    check_charged(&house, "0.000011").await;
}

#[tokio::test(start_paused = true)]
async fn a_long_stream_loses_nothing() {
    let pieces: Vec<String> = (0..2_000).map(|it| format!("{it} ")).collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let (house, _) = house(stream(&pieces, (5, 4_000))).await;
    let reply = chat(&house, &json!({ "stream": true, "max_tokens": 4_000 })).await;
    let said = complete(&reply.text);
    let said: String =
        said.iter().filter_map(|it| it["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(said, pieces.concat());
    check_charged(&house, "0.008005").await;
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_its_time_gets_everything() {
    let pieces = vec!["0123456789".repeat(100); 250];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let (house, _) = house(stream(&pieces, (5, 4_000))).await;
    let body = ask(MODEL, &json!({ "stream": true, "max_tokens": 4_000 }));
    let mut connection = house.client().begin("POST", CHATS, &body).await;
    house.clock.sleep(Duration::from_secs(5)).await;
    let rest = connection.rest().await;
    assert!(rest.contains("data: [DONE]\n\n"), "{} bytes", rest.len());
    check_charged(&house, "0.008005").await;
}
