//! Answers in one piece: what goes to the upstream, what comes back, and what it costs.

use errand::domain::chat::CountSource;
use serde_json::json;

use crate::chat::{chat, check_charged, check_nothing_charged, entries, house};
use crate::support::upstream::{answer, begun, done, event, finish, stream, text};
use crate::support::{golden, shown};

/// Source: service interface, "Text models": the full answer, with usage and cost.
#[tokio::test(start_paused = true)]
async fn an_answer_is_whole_and_says_what_it_cost() {
    let (house, upstream) = house(stream(&["Hi", " there", "!"], (5, 2))).await;
    let extra = json!({
        "temperature": 0.5, "stop": ["END"], "seed": 7, "max_completion_tokens": 20,
        "user": "u-1", "metadata": { "a": "b" }, "store": false, "n": 1, "tools": [],
    });
    let reply = chat(&house, &extra).await;
    let shown = shown(&reply);
    let sent = upstream.seen().concat();
    golden("chat/whole.txt", &format!("{shown}\n## what the upstream was asked\n{sent}\n"));
    check_charged(&house, "0.000009").await;
    let entry = &entries(&house).await[0];
    let id = reply.json()["id"].as_str().unwrap().replace("chatcmpl-", "").replace('-', "");
    let reference: String = entry.reference.unwrap().iter().map(|it| format!("{it:02x}")).collect();
    assert_eq!((reference, entry.note.as_str()), (id, "ours"));
    assert_eq!(entry.key, Some(house.key_id));
}

#[tokio::test(start_paused = true)]
async fn parameters_that_nobody_knows_are_ignored_and_named() {
    let (house, upstream) = house(stream(&["Hi"], (5, 1))).await;
    let reply = chat(&house, &json!({ "top_k": 7, "min_p": 0.1, "a\r\nb": 1 })).await;
    assert_eq!(reply.status, 200, "{}", reply.raw);
    assert_eq!(reply.header("x-service-ignored-params"), Some("top_k,min_p,a??b"));
    assert!(!upstream.seen()[0].contains("top_k"));
    let streamed = chat(&house, &json!({ "stream": true, "top_k": 7 })).await;
    assert_eq!(streamed.header("x-service-ignored-params"), Some("top_k"));
    assert_eq!(chat(&house, &json!({})).await.header("x-service-ignored-params"), None);
}

/// Source: the contract, section 5: what nobody counted is estimated from the text, and says so.
#[tokio::test(start_paused = true)]
async fn what_the_upstream_does_not_count_is_estimated_and_says_so() {
    let mut script = begun(&["Hi", " there"], finish("length"));
    script.extend(done());
    let (house, _) = house(script).await;
    let reply = chat(&house, &json!({})).await.json();
    assert_eq!(reply["choices"][0]["finish_reason"], "length");
    let usage = json!({
        "prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "cost": "0.000013",
        "currency": "EUR", "estimated": true,
    });
    assert_eq!(reply["usage"], usage);
    check_charged(&house, "0.000013").await;
    assert_eq!(entries(&house).await[0].usage.unwrap().source, CountSource::Estimate);
}

/// Source: the contract, section 4: charge = min(actual, hold).
#[tokio::test(start_paused = true)]
async fn tokens_that_cannot_have_been_used_are_the_operators() {
    let (house, _) = house(stream(&["Hi"], (1_000_000, 9))).await;
    let reply = chat(&house, &json!({ "max_tokens": 10 })).await.json();
    assert_eq!(reply["usage"]["prompt_tokens"], 85);
    assert_eq!(reply["usage"]["cost"], "0.000103");
    check_charged(&house, "0.000103").await;
    assert_eq!(entries(&house).await[0].usage.unwrap().unbilled.to_string(), "0.999915");
    let counters = house.metrics().get("/metrics").await.text;
    assert!(counters.contains("clamped"), "{counters}");
}

#[tokio::test(start_paused = true)]
async fn zeros_of_the_upstream_count_and_cost_nothing() {
    let (house, _) = house(stream(&["Hi"], (0, 0))).await;
    let reply = chat(&house, &json!({})).await;
    assert_eq!(reply.json()["usage"]["cost"], "0");
    assert_eq!(reply.header("x-service-cost"), Some("0"));
    check_nothing_charged(&house).await;
}

/// Servers that cannot stream answer in one object all the same.
#[tokio::test(start_paused = true)]
async fn an_upstream_that_answers_in_one_piece_is_understood() {
    let body = json!({
        "object": "chat.completion",
        "choices": [{ "message": { "content": "Hi" }, "finish_reason": "content_filter" }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 1 },
    });
    let (house, _) = house(answer(200, "", &body.to_string())).await;
    for streams in [false, true] {
        let reply = chat(&house, &json!({ "stream": streams })).await;
        assert!(reply.is_whole && reply.text.contains("\"Hi\""), "{}", reply.raw);
        assert!(reply.text.contains("\"content_filter\""), "{}", reply.raw);
        assert!(reply.text.contains("\"cost\":\"0.000005\""), "{}", reply.raw);
    }
    house.examine().await;
}

/// Source: the contract, section 5: `[DONE]` without a reason is an end, and so is a reason
/// without `[DONE]`.
#[tokio::test(start_paused = true)]
async fn half_an_end_is_an_end() {
    let last = done().pop().unwrap();
    for end in [vec![event("[DONE]"), last.clone()], vec![finish("stop"), last]] {
        let mut script = begun(&["Hi"], text("!"));
        script.extend(end);
        let (house, _) = house(script).await;
        let reply = chat(&house, &json!({})).await.json();
        assert_eq!(reply["choices"][0]["message"]["content"], "Hi!");
        assert_eq!(reply["choices"][0]["finish_reason"], "stop");
        check_charged(&house, "0.000011").await;
    }
}
