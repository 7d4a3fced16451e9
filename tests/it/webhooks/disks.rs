//! A disk that is full, broken or slow while events are delivered.
//!
//! Source: the contract, section 8; faults F09 to F11.

use std::time::Duration;

use serde_json::json;

use super::hooks::{SECOND, check_all, house_with, minutes, only, run, settled};
use crate::support::{Act, Trouble};

/// F09.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_that_cannot_be_claimed_and_all_goes_on_when_there_is_space() {
    for trouble in [Trouble::Full, Trouble::Broken] {
        let (house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
        run(&house, json!({})).await;
        house.disk.fail(trouble);
        house.clock.sleep(Duration::from_mins(10)).await;
        assert_eq!(receiver.count(), 0, "{trouble:?}");
        let ready = house.ask_as("", "GET", "/readyz", None).await;
        assert_eq!(ready.status, 503, "{}", ready.raw);
        house.disk.heal();
        settled(&house, &[&hook]).await;
        let line = only(&house, &hook).await;
        assert_eq!((&line["status"], &line["attempts"]), (&json!("delivered"), &json!(1)));
        check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
        assert_eq!(house.ask_as("", "GET", "/readyz", None).await.status, 200);
    }
}

/// F10.
#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_recorded_is_kept_and_not_sent_again() {
    for (act, status, count) in
        [(Act::Slow(1_000, 204), "delivered", 1), (Act::Slow(1_000, 500), "delivered", 2)]
    {
        let (house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
        receiver.first(&[act]);
        run(&house, json!({})).await;
        receiver.wait(1).await;
        house.disk.fail(Trouble::Full);
        house.clock.sleep(Duration::from_mins(30)).await;
        assert_eq!(receiver.count(), 1);
        house.disk.heal();
        settled(&house, &[&hook]).await;
        let line = only(&house, &hook).await;
        assert_eq!((&line["status"], receiver.count()), (&json!(status), count));
        assert!(line["attempt_log"][0]["error_reason"] != "interrupted", "{line}");
        check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
    }
}

/// F10 and F03: killed while the result could not be recorded.
#[tokio::test(start_paused = true)]
async fn a_stop_with_a_full_disk_interrupts_what_was_not_recorded() {
    let (mut house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
    receiver.first(&[Act::Slow(1_000, 204)]);
    run(&house, json!({})).await;
    receiver.wait(1).await;
    house.disk.fail(Trouble::Full);
    house.clock.sleep(Duration::from_secs(10)).await;
    house.stop().await;
    house.disk.heal();
    house.start().await;
    settled(&house, &[&hook]).await;
    let line = only(&house, &hook).await;
    assert_eq!((&line["status"], &line["attempts"]), (&json!("delivered"), &json!(2)));
    assert_eq!(line["attempt_log"][0]["error_reason"], "interrupted");
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// A commit whose last sync failed may be on disk all the same: what it says is found again.
///
/// Source: the contract, section 8, faults F09 and F10.
#[tokio::test(start_paused = true)]
async fn a_commit_that_is_on_disk_although_it_failed_strands_nothing() {
    for syncs in 1..=4 {
        for (first, wait) in
            [(Act::Answer(204), 0), (Act::Answer(500), 0), (Act::Slow(1_000, 500), 60_500)]
        {
            let (house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
            receiver.first(&[first]);
            let asked = house.run(json!({ "ms": 1_000 })).await;
            house.settle().await;
            house.clock.sleep(Duration::from_millis(wait)).await;
            house.disk.fail_sync(syncs);
            house.over(&asked).await;
            house.clock.sleep(Duration::from_mins(20)).await;
            let line = only(&house, &hook).await;
            assert_eq!(line["status"], "delivered", "{syncs} {first:?}: {line}");
            check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
        }
    }
}

/// F11: a disk that takes its time makes nothing twice.
#[tokio::test(start_paused = true)]
async fn a_slow_disk_delays_and_repeats_nothing() {
    let (house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
    receiver.first(&[Act::Answer(500)]);
    let gate = house.disk.shut();
    let asking = tokio::spawn({
        let client = house.client();
        let body = json!({ "kind": crate::support::KIND, "input": {} });
        async move { client.ask("POST", crate::support::RUNS, Some(body)).await }
    });
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    drop(gate);
    let asked = asking.await.unwrap().json();
    house.over(&asked).await;
    settled(&house, &[&hook]).await;
    assert_eq!(receiver.count(), 2);
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}
