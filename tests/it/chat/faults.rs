//! Upstreams that fail: the caller is told one of a few things, never the upstream's own words,
//! and pays nothing.

use errand::outbound::ResolveError;
use errand::outbound::fake::Lookup;
use serde_json::json;

use crate::chat::{HOST, MODEL, chat, check_charged, check_nothing_charged, house};
use crate::support::upstream::{Script, Step, answer, begun, event, stream};
use crate::support::{House, Plan, Reply, Upstream, golden, shown};

/// What an upstream does, and what the caller is told.
type Row = (&'static str, Script, u16, &'static str, Option<&'static str>);

fn rows() -> Vec<Row> {
    let failed = "upstream_error";
    let invalid = "upstream_invalid_response";
    let long = r#"{"error":{"type":"exceed_context_size_error","message":"secret"}}"#;
    let loading = r#"{"error":{"type":"unavailable_error","message":"Loading model"}}"#;
    let says = |status, headers, body| answer(status, headers, body);
    vec![
        ("400", says(400, "", "secret"), 400, "upstream_rejected_request", None),
        ("422", says(422, "", "secret"), 400, "upstream_rejected_request", None),
        ("too long", says(400, "", long), 400, "context_length_exceeded", None),
        ("401", says(401, "www-authenticate: Bearer\r\n", "secret"), 502, MISSET, Some("false")),
        ("402", says(402, "", "secret"), 502, MISSET, Some("false")),
        ("403", says(403, "", "secret"), 502, MISSET, Some("false")),
        ("404", says(404, "", "secret"), 502, MISSET, Some("false")),
        ("redirect", says(302, "location: http://b.example/\r\n", ""), 502, MISSET, Some("false")),
        ("429", says(429, "retry-after: 7\r\n", "secret"), 429, "upstream_rate_limited", None),
        ("429 for long", says(429, "retry-after: 999\r\n", ""), 429, LIMITED, None),
        ("500", says(500, "", "secret"), 502, failed, Some("false")),
        ("502", says(502, "", "<html>"), 502, failed, Some("false")),
        ("loading", says(503, "", loading), 503, "model_loading", Some("true")),
        ("closes", vec![Step::Close], 502, failed, Some("false")),
        ("resets", vec![Step::Reset], 502, failed, Some("false")),
        ("no HTTP", vec![Step::Say(b"220 mail\r\n\r\n".to_vec())], 502, invalid, Some("false")),
        ("a page", says(200, "", "<html>secret</html>"), 502, invalid, Some("false")),
        ("no choices", says(200, "", "{}"), 502, invalid, Some("false")),
        ("half an object", says(200, "", "{\"choices\":"), 502, invalid, Some("false")),
        ("an empty stream", begun(&[], done_only()), 502, invalid, Some("false")),
        ("an error at once", begun(&[], error()), 502, failed, Some("false")),
        ("silence", vec![Step::Hang], 504, "upstream_timeout", Some("false")),
    ]
}

const MISSET: &str = "upstream_misconfigured";
const LIMITED: &str = "upstream_rate_limited";

fn error() -> Step {
    event("{\"error\":{\"message\":\"secret\",\"code\":500}}")
}

fn done_only() -> Step {
    Step::Say(b"0\r\n\r\n".to_vec())
}

/// Source: the contract, section 2, and section 5: never the customer's 401.
#[tokio::test(start_paused = true)]
async fn every_fault_has_its_status_and_its_code() {
    let mut told = String::new();
    for (what, script, status, code, retry) in rows() {
        for streams in [false, true] {
            let (house, _) = house(script.clone()).await;
            let reply = chat(&house, &json!({ "stream": streams })).await;
            if streams && what == "silence" {
                // The head of a stream does not wait for so long: the fault is an event.
                let told = reply.text.rsplit("\n\n").nth(1).unwrap();
                assert!(reply.status == 200 && told.contains(code), "{}", reply.raw);
                assert!(!reply.text.contains("[DONE]"), "{}", reply.raw);
                check_nothing_charged(&house).await;
                continue;
            }
            assert_eq!((reply.status, reply.code().as_str()), (status, code), "{what}");
            assert_eq!(reply.header("x-should-retry"), retry, "{what}");
            assert_eq!(reply.header("www-authenticate"), None, "{what}");
            assert_eq!(reply.header("x-service-cost"), None, "{what}");
            assert!(!reply.raw.contains("secret"), "{what}: {}", reply.raw);
            check_wait(what, &reply);
            check_nothing_charged(&house).await;
            if !streams {
                told.push_str(&format!("## {what}\n{}\n", shown(&reply)));
                let date = reply.header("date").unwrap();
                told = told.replace(date, "(date)");
            }
        }
    }
    golden("chat/faults.txt", &told);
}

/// Whoever should wait is told for how long: from a second to a minute.
#[track_caller]
fn check_wait(what: &str, reply: &Reply) {
    let wait = reply.header("retry-after").map(|it| it.parse::<u64>().unwrap());
    let expected = match what {
        "429" => Some(7),
        "429 for long" => Some(60),
        "loading" => Some(5),
        _ => None,
    };
    assert_eq!(wait, expected, "{what}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_one_piece_that_breaks_off_is_no_answer_and_costs_nothing() {
    for (end, status, code) in [
        (Step::Close, 502, "upstream_truncated"),
        (done_only(), 502, "upstream_truncated"),
        (error(), 502, "upstream_error"),
        (Step::Hang, 504, "upstream_timeout"),
    ] {
        let shown = format!("{end:?}");
        let (house, _) = house(begun(&["Hi", " there"], end)).await;
        let reply = chat(&house, &json!({})).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{shown}");
        assert!(!reply.text.contains("there"), "{shown}");
        check_nothing_charged(&house).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_not_there_is_a_fault_of_the_model() {
    let house = House::offering(1, &[Plan::priced(MODEL, &[HOST])], |_| {}).await;
    house.internet.names(HOST, vec![Lookup::Fails(ResolveError::NxDomain)]);
    let reply = chat(&house, &json!({})).await;
    assert_eq!((reply.status, reply.code().as_str()), (502, "upstream_error"));
    assert!(!reply.text.contains(HOST), "{}", reply.text);
    check_nothing_charged(&house).await;
}

/// Source: the contract, section 5: the next is asked before the first byte, and one answer is
/// charged once.
#[tokio::test(start_paused = true)]
async fn another_upstream_answers_before_the_first_byte_and_one_is_paid() {
    for bad in [answer(500, "", ""), answer(429, "", ""), answer(401, "", ""), vec![Step::Close]] {
        for streams in [false, true] {
            let hosts = [HOST, "b.example"];
            let house = House::offering(1, &[Plan::priced(MODEL, &hosts)], |_| {}).await;
            let first = Upstream::at(&house.internet, HOST, bad.clone());
            let second = Upstream::at(&house.internet, "b.example", stream(&["Hi"], (5, 1)));
            let reply = chat(&house, &json!({ "stream": streams })).await;
            assert_eq!(reply.status, 200, "{}", reply.raw);
            assert_eq!((first.count(), second.count()), (1, 1));
            check_charged(&house, "0.000007").await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_else_is_asked_after_the_first_byte() {
    let hosts = [HOST, "b.example"];
    let house = House::offering(1, &[Plan::priced(MODEL, &hosts)], |_| {}).await;
    Upstream::at(&house.internet, HOST, begun(&["Hi"], Step::Close));
    let second = Upstream::at(&house.internet, "b.example", stream(&["Hi"], (5, 1)));
    let reply = chat(&house, &json!({ "stream": true })).await;
    assert!(reply.text.contains("upstream_truncated"), "{}", reply.text);
    assert_eq!(second.count(), 0);
    check_charged(&house, "0.000011").await;
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_fails_again_and_again_is_left_alone() {
    let (house, upstream) = house(answer(500, "", "")).await;
    for _ in 0..5 {
        assert_eq!(chat(&house, &json!({})).await.code(), "upstream_error");
    }
    let reply = chat(&house, &json!({})).await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "upstream_unavailable"));
    assert_eq!(reply.header("x-should-retry"), Some("true"));
    assert_eq!(reply.header("retry-after"), Some("10"));
    assert_eq!(upstream.count(), 5);
    check_nothing_charged(&house).await;
}
