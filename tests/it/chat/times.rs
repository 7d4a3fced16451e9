//! Deadlines of chats: the model's, the caller's, and the daemon's.

use std::time::Duration;

use serde_json::{Value, json};

use crate::chat::{CHATS, HOST, MODEL, chat, check_charged, check_nothing_charged, events, house};
use crate::support::http::with_headers;
use crate::support::upstream::{Step, ask, begun, pause, stream, text};
use crate::support::{House, Plan, Reply, Upstream};

/// Asks with a header of a client library that says how long it waits.
async fn hurried(house: &House, header: &str, extra: &Value) -> (Reply, Duration) {
    let auth = format!("authorization: Bearer {}\r\n", house.key);
    let body = ask(MODEL, extra).to_string();
    let request = with_headers("POST", CHATS, &format!("{auth}{header}\r\n"), &body);
    let begun = house.clock.mark();
    let reply = house.send(request.as_bytes()).await;
    (reply, begun.elapsed())
}

/// Source: the contract, section 5: it ends two seconds before its caller gives up, uncharged.
#[tokio::test(start_paused = true)]
async fn an_answer_ends_before_its_caller_gives_up() {
    for (header, seconds) in [
        ("x-stainless-read-timeout: 30", 28),
        ("x-stainless-read-timeout: 30.0", 28),
        ("x-stainless-timeout: 30", 28),
        ("x-stainless-read-timeout: 2", 1),
        // What is no number of seconds is no patience.
        ("x-stainless-read-timeout: -5", 120),
        ("x-stainless-read-timeout: soon", 120),
        ("x-stainless-read-timeout: 0", 120),
        ("x-stainless-read-timeout: 99999999999999999999", 120),
        ("x-stainless-read-timeout: 600", 120),
    ] {
        let (house, upstream) = house(vec![Step::Hang]).await;
        let (reply, took) = hurried(&house, header, &json!({})).await;
        assert_eq!((reply.status, reply.code().as_str()), (504, "upstream_timeout"), "{header}");
        assert_eq!(reply.header("x-should-retry"), Some("false"));
        assert_eq!(took.as_secs(), seconds, "{header}");
        house.settle().await;
        assert_eq!(upstream.left(), 1, "{header}");
        check_nothing_charged(&house).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_patience_of_a_caller_does_not_cut_a_stream_that_is_alive() {
    let mut script = begun(&["Hi"], pause(50_000));
    script.extend(stream(&["."], (5, 2)).split_off(1));
    let (house, _) = house(script).await;
    let extra = json!({ "stream": true });
    let (reply, took) = hurried(&house, "x-stainless-read-timeout: 20", &extra).await;
    assert_eq!((reply.status, took.as_secs()), (200, 50));
    assert_eq!(events(&reply.text).last(), Some(&"[DONE]"), "{}", reply.text);
    check_charged(&house, "0.000009").await;
}

/// Client libraries wait so long for the head; then heartbeats keep them.
#[tokio::test(start_paused = true)]
async fn the_head_of_a_stream_comes_before_its_caller_gives_up() {
    for (header, seconds) in [("x-stainless-read-timeout: 6", 3), ("x-other: 6", 10)] {
        let (house, _) = house(vec![Step::Hang]).await;
        let auth = format!("authorization: Bearer {}\r\n{header}\r\n", house.key);
        let body = ask(MODEL, &json!({ "stream": true })).to_string();
        let begun = house.clock.mark();
        let request = with_headers("POST", CHATS, &auth, &body);
        let mut connection = house.client().begin_with(&request).await;
        connection.read_until("\r\n\r\n").await;
        assert_eq!(begun.elapsed().as_secs(), seconds, "{header}");
    }
}

/// Source: the contract, section 5: an answer in one piece has 240 seconds, and a silence of 60 is
/// too long.
#[tokio::test(start_paused = true)]
async fn a_model_that_never_ends_is_stopped() {
    let mut slow = begun(&["Hi"], pause(50_000));
    for _ in 0..60 {
        slow.extend([text("."), pause(50_000)]);
    }
    for (script, streams, seconds) in [
        (slow.clone(), false, 240),
        (slow, true, 1_800),
        (begun(&["Hi"], Step::Hang), false, 120),
        (begun(&["Hi"], Step::Hang), true, 120),
    ] {
        let (house, upstream) = house(script).await;
        let begun = house.clock.mark();
        let reply = chat(&house, &json!({ "stream": streams })).await;
        let took = begun.elapsed().as_secs();
        assert!(took <= seconds && took > seconds / 3, "{took} of {seconds}");
        assert!(reply.text.contains("upstream_timeout"), "{}", reply.raw);
        assert_eq!(reply.status, if streams { 200 } else { 504 });
        house.clock.sleep(Duration::from_mins(1)).await;
        assert_eq!(upstream.left(), 1);
        if !streams {
            check_nothing_charged(&house).await;
        }
    }
}

/// The time of a request that has its answer is not that of other requests.
#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_waited_for() {
    let mut slow = vec![pause(100_000)];
    slow.extend(stream(&["Hi"], (5, 1)));
    let (house, _) = house(slow).await;
    assert_eq!(chat(&house, &json!({})).await.status, 200);
    check_charged(&house, "0.000007").await;
}

/// All attempts together have the time of one answer.
#[tokio::test(start_paused = true)]
async fn an_upstream_that_hangs_leaves_no_time_to_others_who_are_not_asked() {
    let hosts = [HOST, "b.example"];
    let house = House::offering(1, &[Plan::priced(MODEL, &hosts)], |_| {}).await;
    let first = Upstream::at(&house.internet, HOST, vec![Step::Hang]);
    let second = Upstream::at(&house.internet, "b.example", stream(&["Hi"], (5, 1)));
    let (reply, took) = hurried(&house, "x-stainless-timeout: 10", &json!({})).await;
    assert_eq!((reply.status, took.as_secs()), (504, 8));
    assert_eq!((first.count(), second.count()), (1, 0));
    check_nothing_charged(&house).await;
}
