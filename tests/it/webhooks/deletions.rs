//! Receivers and runs that are deleted while events are on their way.
//!
//! Source: the contract, section 8; faults F43 and F44.

use std::time::Duration;

use serde_json::json;

use super::hooks::{
    SECOND, check_all, connect, delete, house_with, log, minutes, only, run, settled,
};
use crate::support::{Act, path_of};

/// F43; service interface, "Webhook receivers": a send in progress may finish.
#[tokio::test(start_paused = true)]
async fn an_attempt_under_way_to_a_disabled_receiver_may_finish_and_is_the_last() {
    for (act, status, reason) in [
        (Act::Slow(5_000, 204), "delivered", json!(null)),
        (Act::Slow(5_000, 500), "cancelled", json!("receiver_disabled")),
        (Act::Hang, "cancelled", json!("receiver_disabled")),
        (Act::Reset, "cancelled", json!("receiver_disabled")),
    ] {
        let (house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
        receiver.first(&[act]);
        run(&house, json!({})).await;
        receiver.wait(1).await;
        delete(&house, &hook).await;
        delete(&house, &hook).await;
        house.clock.sleep(Duration::from_hours(2)).await;
        let line = only(&house, &hook).await;
        assert_eq!((&line["status"], &line["error_reason"]), (&json!(status), &reason), "{act:?}");
        assert_eq!(line["attempts"], 1);
        assert_eq!(receiver.count(), 1);
        check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
    }
}

/// F43: between two attempts.
#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_disabled_during_a_pause_gets_nothing_more() {
    let (mut house, receiver, hook) = house_with(Act::Answer(500), minutes).await;
    let other = connect(&house, "http://hooks.example/other").await;
    run(&house, json!({})).await;
    receiver.wait(2).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    delete(&house, &hook).await;
    house.restart().await;
    settled(&house, &[&hook, &other]).await;
    let line = only(&house, &hook).await;
    assert_eq!((&line["status"], &line["attempts"]), (&json!("cancelled"), &json!(1)));
    assert_eq!(
        (&line["error_reason"], &line["http_code"]),
        (&json!("receiver_disabled"), &json!(500))
    );
    assert_eq!(receiver.count(), 7);
    check_all(&house, &[(&receiver, &hook), (&receiver, &other)], 2, SECOND).await;
}

/// F43: killed while an attempt to a disabled receiver was under way.
#[tokio::test(start_paused = true)]
async fn an_interrupted_attempt_to_a_disabled_receiver_is_the_last() {
    let (mut house, receiver, hook) = house_with(Act::Hang, minutes).await;
    run(&house, json!({})).await;
    receiver.wait(1).await;
    delete(&house, &hook).await;
    house.forget().unwrap().stop(Duration::from_secs(1)).await;
    house.start().await;
    house.clock.sleep(Duration::from_hours(1)).await;
    let line = only(&house, &hook).await;
    assert_eq!(
        (&line["status"], &line["error_reason"]),
        (&json!("cancelled"), &json!("receiver_disabled"))
    );
    assert_eq!(receiver.count(), 1);
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// F44: the run goes, and what is linked to it.
#[tokio::test(start_paused = true)]
async fn a_deleted_run_takes_its_events_along() {
    let (mut house, receiver, hook) = house_with(Act::Answer(500), minutes).await;
    let first = run(&house, json!({ "say": "never sent" })).await;
    assert_eq!(house.ask("DELETE", &path_of(&first), None).await.status, 204);
    let second = run(&house, json!({ "say": "sent once" })).await;
    receiver.wait(1).await;
    house.settle().await;
    assert_eq!(house.ask("DELETE", &path_of(&second), None).await.status, 204);
    house.restart().await;
    house.clock.sleep(Duration::from_hours(1)).await;
    assert!(log(&house, &hook).await.is_empty());
    assert_eq!(receiver.count(), 1);
    assert_eq!(receiver.seen()[0].json()["data"]["output"], "sent once");
    let shown = house.ask("GET", &hook.path(), None).await.json();
    assert_eq!((&shown["pending"], &shown["health"]), (&json!(0), &json!("unknown")));
    check_all(&house, &[(&receiver, &hook)], 0, SECOND).await;
}

/// F44: in flight; a run of another receiver's event is not touched.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_deleted_while_it_is_told_frees_the_way_for_others() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    receiver.first(&[Act::Slow(5_000, 500); 4]);
    for _ in 0..4 {
        let told = run(&house, json!({})).await;
        let count = receiver.count();
        receiver.wait(count.max(1)).await;
        house.settle().await;
        assert_eq!(house.ask("DELETE", &path_of(&told), None).await.status, 204);
    }
    let last = run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    house.clock.sleep(Duration::from_mins(2)).await;
    assert_eq!(only(&house, &hook).await["run_id"], last["id"]);
    assert_eq!(receiver.count(), 5);
    check_all(&house, &[(&receiver, &hook)], 1, SECOND / 60).await;
}
