//! When an event is sent again, and when no more.

use std::time::Duration;

use errand::domain::time::Timestamp;
use serde_json::json;

use super::hooks::{PAUSES, SECOND, check_all, house_with, log, minutes, only, run, settled};
use crate::support::{Act, House, Receiver, path_of};

/// How long an attempt takes that is not answered. Source: the contract, section 8.
const DEADLINE: Duration = Duration::from_secs(15);

/// Source: service interface, "Events", rules 7 and 10.
#[tokio::test(start_paused = true)]
async fn six_attempts_with_growing_pauses_from_the_end_of_each_then_failed() {
    let acts = [
        Act::Answer(404),
        Act::Hang,
        Act::Reset,
        Act::Slow(7_000, 503),
        Act::Answer(302),
        Act::Answer(199),
    ];
    let took = [0, 15, 0, 7, 0, 0].map(Duration::from_secs);
    let (house, receiver, hook) = house_with(Act::Answer(200), minutes).await;
    receiver.first(&acts);
    let over = run(&house, json!({ "say": "kept" })).await;
    settled(&house, &[&hook]).await;
    house.clock.sleep(Duration::from_hours(24)).await;
    let seen = receiver.seen();
    assert_eq!(seen.len(), 6, "there was a seventh attempt, or none");
    for (number, least) in PAUSES.into_iter().enumerate() {
        let least = Duration::from_secs(least) + took[number];
        let found = seen[number + 1].at.since(seen[number].at);
        let most = least + least / 10 + Duration::from_secs(1);
        assert!((least..=most).contains(&found), "{found:?} after attempt {}", number + 1);
    }
    let line = only(&house, &hook).await;
    assert_eq!((&line["status"], &line["attempts"]), (&json!("failed"), &json!(6)));
    assert_eq!(house.find(&over).await["output"], "kept");
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// Source: service interface, "Events", rule 7.
#[tokio::test(start_paused = true)]
async fn the_first_attempt_is_at_the_next_full_minute() {
    let (house, receiver, hook) = house_with(Act::Answer(200), minutes).await;
    for (number, wait) in [0_u64, 17, 59, 61].into_iter().enumerate() {
        house.clock.sleep(Duration::from_secs(wait)).await;
        let over = run(&house, json!({})).await;
        let ended = Timestamp::parse(over["finished_at"].as_str().unwrap()).unwrap();
        receiver.wait(number + 1).await;
        let came = receiver.seen()[number].wall;
        let due = ended.next_minute();
        assert!(came >= due && came.since(due) < Duration::from_secs(1), "{came} for {due}");
    }
    check_all(&house, &[(&receiver, &hook)], 4, SECOND).await;
}

/// Source: the contract, section 8: `first_attempt = "commit"` sends at once.
#[tokio::test(start_paused = true)]
async fn in_development_the_first_attempt_is_made_at_once() {
    let (house, receiver, hook) = house_with(Act::Answer(200), |_| {}).await;
    let begun = house.clock.mark();
    run(&house, json!({})).await;
    receiver.wait(1).await;
    assert!(begun.elapsed() <= Duration::from_millis(200), "{:?}", begun.elapsed());
    settled(&house, &[&hook]).await;
}

/// Source: service interface, "Events", rule 7: success is any 2xx answer.
#[tokio::test(start_paused = true)]
async fn any_2xx_is_a_success_at_any_attempt() {
    for (number, code) in [200, 201, 202, 204, 206, 299].into_iter().enumerate() {
        let (house, receiver, hook) = house_with(Act::Answer(code), |_| {}).await;
        receiver.first(&vec![Act::Answer(500); number]);
        run(&house, json!({})).await;
        settled(&house, &[&hook]).await;
        house.clock.sleep(Duration::from_hours(1)).await;
        let line = only(&house, &hook).await;
        assert_eq!((&line["status"], &line["http_code"]), (&json!("delivered"), &json!(code)));
        assert_eq!(receiver.count(), number + 1);
        house.examine().await;
    }
}

/// Source: service interface, "Events", rule 7: other answers cause a retry, 410 too.
#[tokio::test(start_paused = true)]
async fn any_other_answer_is_tried_again() {
    for code in [300, 301, 304, 307, 308, 400, 401, 403, 404, 410, 418, 429, 500, 503, 599] {
        let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
        receiver.first(&[Act::Answer(code)]);
        run(&house, json!({})).await;
        settled(&house, &[&hook]).await;
        let line = only(&house, &hook).await;
        assert_eq!(
            (&line["status"], &line["attempts"]),
            (&json!("delivered"), &json!(2)),
            "{code}"
        );
        assert_eq!(line["attempt_log"][0]["http_code"], code);
        assert_eq!(line["attempt_log"][0]["error_reason"], "http_status");
    }
}

/// Source: the contract, section 8; fault F25.
#[tokio::test(start_paused = true)]
async fn a_hint_lengthens_a_pause_and_never_shortens_one() {
    for (status, hint, least, most) in [
        (503, "300", 300, 301),
        (429, "0", 60, 67),
        (503, "999999999999", 3_600, 3_601),
        (503, "-1", 60, 67),
        (503, "Thu, 01 Jan 2026 00:11:00 GMT", 600, 601),
        (503, "Mon, 01 Jan 1990 00:00:00 GMT", 60, 67),
        (500, "300", 60, 67),
    ] {
        let (house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
        receiver.first(&[Act::Hint(status, hint)]);
        run(&house, json!({})).await;
        settled(&house, &[&hook]).await;
        let seen = receiver.seen();
        let pause = seen[1].at.since(seen[0].at).as_secs();
        assert!((least..=most).contains(&pause), "{status} {hint}: {pause}");
        check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
    }
}

/// Source: service interface, "Events", rules 9 and 10.
#[tokio::test(start_paused = true)]
async fn what_is_sent_again_by_hand_keeps_the_event_and_leaves_the_failed_one_as_it_was() {
    let (house, receiver, hook) = house_with(Act::Answer(500), |_| {}).await;
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    let failed = only(&house, &hook).await;
    let path = format!("{}/deliveries/{}/resend", hook.path(), failed["id"].as_str().unwrap());
    let reply = house.ask("POST", &path, None).await;
    assert_eq!(reply.status, 202, "{}", reply.raw);
    settled(&house, &[&hook]).await;
    let lines = log(&house, &hook).await;
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1], failed);
    assert_eq!(lines[0]["resend_of"], failed["id"]);
    assert_eq!((&lines[0]["event_id"], &lines[0]["attempts"]), (&failed["event_id"], &json!(6)));
    let seen = receiver.seen();
    assert_eq!(seen.len(), 12);
    assert!(seen.iter().all(|it| it.body == seen[0].body));
    assert_eq!((seen[6].attempt(), seen[11].attempt()), (1, 6));
}

/// A receiver that hangs takes the whole time of an attempt and no more.
#[tokio::test(start_paused = true)]
async fn an_attempt_without_an_answer_ends_at_its_deadline() {
    for act in [Act::Hang, Act::Drip] {
        let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
        receiver.first(&[act]);
        run(&house, json!({})).await;
        settled(&house, &[&hook]).await;
        let line = only(&house, &hook).await;
        let first = &line["attempt_log"][0];
        assert_eq!(
            (&first["error_reason"], &first["error_detail"]),
            (&json!("timeout"), &json!("response"))
        );
        let took = Duration::from_millis(first["duration_ms"].as_u64().unwrap());
        assert!(took >= DEADLINE && took < DEADLINE + SECOND, "{act:?}: {took:?}");
    }
}

/// Source: service interface, "Events", rule 10.
#[tokio::test(start_paused = true)]
async fn the_run_of_a_failed_delivery_can_still_be_read() {
    let house = House::new().await;
    let receiver =
        Receiver::new(&house.clock, Act::Answer(500)).plain(&house.internet, "a.example");
    let hook = super::hooks::connect(&house, "http://a.example/").await;
    let over = run(&house, json!({ "say": "the result" })).await;
    settled(&house, &[&hook]).await;
    assert_eq!(only(&house, &hook).await["status"], "failed");
    assert_eq!(receiver.count(), 6);
    let reply = house.ask("GET", &path_of(&over), None).await;
    assert_eq!((reply.status, &reply.json()["output"]), (200, &json!("the result")));
}
