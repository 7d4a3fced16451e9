//! Callers who go away, and a daemon that stops.

use std::time::Duration;

use errand::domain::chat::Sizes;
use serde_json::{Value, json};

use crate::chat::{
    CHATS, HOST, MODEL, check_charged, check_nothing_charged, entries, events, house, house_with,
};
use crate::support::http::unchunked;
use crate::support::upstream::{Step, ask, begun, pause, stream, text};
use crate::support::{Connection, House, Plan};

/// Begins a chat and leaves its answer to be read.
async fn begin(house: &House, extra: &Value) -> Connection {
    house.client().begin("POST", CHATS, &ask(MODEL, extra)).await
}

/// Source: the contract, section 5: the upstream is stopped, and nothing is charged.
#[tokio::test(start_paused = true)]
async fn who_hangs_up_before_the_first_byte_pays_nothing() {
    for script in [vec![Step::Hang], begun(&[], Step::Hang)] {
        for streams in [false, true] {
            let (house, upstream) = house(script.clone()).await;
            let connection = begin(&house, &json!({ "stream": streams })).await;
            house.clock.sleep(Duration::from_secs(1)).await;
            assert_eq!((upstream.count(), upstream.left()), (1, 0));
            assert_eq!(house.money().await.1, "0.002085");
            connection.hang_up();
            house.clock.sleep(Duration::from_secs(1)).await;
            assert_eq!(upstream.left(), 1);
            check_nothing_charged(&house).await;
        }
    }
}

/// An answer in one piece is given as a whole or not at all.
#[tokio::test(start_paused = true)]
async fn who_hangs_up_before_a_whole_answer_pays_nothing() {
    let (house, upstream) = house(begun(&["Hi", " there"], Step::Hang)).await;
    let connection = begin(&house, &json!({})).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    connection.hang_up();
    house.clock.sleep(Duration::from_secs(1)).await;
    assert_eq!(upstream.left(), 1);
    check_nothing_charged(&house).await;
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_in_the_middle_of_a_stream_pays_for_what_was_delivered() {
    let mut script = begun(&["Hi", " there", "!"], pause(1_000));
    script.extend([text(" More."), Step::Hang]);
    for (word, charge) in [("\"!\"", "0.000015"), ("More", "0.000017")] {
        let (house, upstream) = house(script.clone()).await;
        let mut connection = begin(&house, &json!({ "stream": true })).await;
        connection.read_until(word).await;
        connection.hang_up();
        house.clock.sleep(Duration::from_secs(3)).await;
        assert_eq!(upstream.left(), 1, "{word}");
        check_charged(&house, charge).await;
    }
}

/// Bytes that the connection and its two ends take without anybody reading.
const READ_AHEAD_BYTES_MAX: u64 = 200 * 1024;

/// The upstream is stopped although it says nothing that could not be written.
#[tokio::test(start_paused = true)]
async fn a_silent_stream_notices_at_once_that_nobody_reads_it() {
    let (house, upstream) = house(begun(&["Hi"], Step::Hang)).await;
    let mut connection = begin(&house, &json!({ "stream": true })).await;
    connection.read_until("Hi").await;
    house.clock.sleep(Duration::from_secs(1)).await;
    connection.hang_up();
    house.clock.sleep(Duration::from_millis(10)).await;
    assert_eq!(upstream.left(), 1);
    check_charged(&house, "0.000011").await;
}

/// A caller who does not read is let go, and the model with it.
#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_let_go_and_pays_for_what_was_handed_over() {
    let piece = text(&"x".repeat(1_000));
    let Step::Say(flood) = piece else { panic!("a text is said") };
    let (house, upstream) = house(begun(&["Hi"], Step::Flood(flood))).await;
    let connection = begin(&house, &json!({ "stream": true, "max_tokens": 4_000 })).await;
    house.clock.sleep(Duration::from_mins(3)).await;
    assert_eq!(upstream.left(), 1);
    assert_eq!(house.money().await.1, "0");
    let found = entries(&house).await;
    assert_eq!(found.len(), 1);
    house.examine().await;
    drop(connection);
}

/// Source: the contract, section 5: what is under way is finished where that is possible in time.
#[tokio::test(start_paused = true)]
async fn a_stop_lets_a_stream_come_to_its_end() {
    let mut script = begun(&["Hi"], pause(20_000));
    script.extend(stream(&["."], (5, 2)).split_off(1));
    let (mut house, _) = house(script).await;
    let mut connection = begin(&house, &json!({ "stream": true })).await;
    connection.read_until("Hi").await;
    let ((), rest) = tokio::join!(house.stop(), connection.rest());
    assert!(rest.contains("data: [DONE]\n\n"), "{rest}");
    house.start().await;
    check_charged(&house, "0.000009").await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_stream_that_does_not_end_and_charges_what_was_delivered() {
    let Step::Say(piece) = text("ha ") else { panic!("a text is said") };
    // The second says far more than its 500 tokens can be: they are the most that is charged.
    for (end, charge) in [(Step::Hang, "0.000011"), (Step::Drip(piece), "0.001009")] {
        let (mut house, upstream) = house(begun(&["Hi"], end)).await;
        let asked = json!({ "stream": true, "max_tokens": 500 });
        let mut connection = begin(&house, &asked).await;
        let first = connection.read_until("Hi").await;
        let begun = house.clock.mark();
        let ((), rest) = tokio::join!(house.stop(), connection.rest());
        assert!(begun.elapsed() < Duration::from_secs(33), "{:?}", begun.elapsed());
        let body = format!("{first}{rest}");
        let (_, body) = body.split_once("\r\n\r\n").unwrap();
        let (text, is_whole) = unchunked(body);
        assert!(is_whole);
        let told = events(&text);
        assert!(told[told.len() - 1].contains("\"shutting_down\""), "{}", told[told.len() - 1]);
        assert!(!text.contains("[DONE]"));
        house.start().await;
        assert_eq!(upstream.left(), 1);
        check_charged(&house, charge).await;
    }
}

/// Source: the contract, section 2: `shutting_down`. Who waits for a whole answer is told too.
#[tokio::test(start_paused = true)]
async fn a_stop_answers_who_waits_for_a_whole_answer_and_charges_nothing() {
    for script in [vec![Step::Hang], begun(&["Hi"], Step::Hang)] {
        let (mut house, upstream) = house(script).await;
        let mut connection = begin(&house, &json!({})).await;
        house.clock.sleep(Duration::from_secs(1)).await;
        let ((), reply) = tokio::join!(house.stop(), connection.rest());
        assert!(reply.starts_with("HTTP/1.1 503"), "{reply}");
        assert!(reply.contains("\"shutting_down\"") && reply.contains("x-should-retry: true"));
        house.start().await;
        assert_eq!(upstream.left(), 1);
        check_nothing_charged(&house).await;
    }
}

/// What waits in the daemon for a reader was not delivered.
#[tokio::test(start_paused = true)]
async fn who_leaves_without_reading_does_not_pay_for_what_waits() {
    let Step::Say(flood) = text(&"x".repeat(1_000)) else { panic!("a text is said") };
    let sizes = Sizes::new(1_000_000, 500_000, 1_000).unwrap();
    let models = [Plan { sizes, ..Plan::priced(MODEL, &[HOST]) }];
    let (house, upstream) = house_with(&models, begun(&["Hi"], Step::Flood(flood))).await;
    let connection = begin(&house, &json!({ "stream": true, "max_tokens": 500_000 })).await;
    house.clock.sleep(Duration::from_secs(2)).await;
    connection.hang_up();
    house.settle().await;
    assert_eq!(upstream.left(), 1);
    let found = entries(&house).await;
    let tokens = found[0].usage.unwrap().usage.completion_tokens;
    assert!((1_000..READ_AHEAD_BYTES_MAX).contains(&(tokens * 4)), "{tokens} tokens are charged");
    house.examine().await;
}

/// Nothing was delivered, so nothing is charged.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_stream_that_has_not_begun() {
    let (mut house, upstream) = house(vec![Step::Hang]).await;
    let mut connection = begin(&house, &json!({ "stream": true })).await;
    let first = connection.read_until(": keep-alive").await;
    let begun = house.clock.mark();
    let ((), rest) = tokio::join!(house.stop(), connection.rest());
    assert!(begun.elapsed() < Duration::from_secs(31), "{:?}", begun.elapsed());
    assert!(first.starts_with("HTTP/1.1 200 OK") && rest.contains("shutting_down"), "{rest}");
    assert!(!rest.contains("[DONE]"), "{rest}");
    house.start().await;
    assert_eq!(upstream.left(), 1);
    check_nothing_charged(&house).await;
}
