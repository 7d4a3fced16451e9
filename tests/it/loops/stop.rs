//! Stopping and starting: what is under way is finished or given back, what waits is kept.

use std::time::Duration;

use serde_json::json;

use crate::support::{House, path_of};

/// Source: the contract, section 12: `queue.workers = 0` accepts work without running it.
#[tokio::test(start_paused = true)]
async fn what_is_accepted_without_workers_is_done_when_there_are_some() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    let mut runs = Vec::new();
    for number in 0..30 {
        runs.push(house.run(json!({ "say": number.to_string() })).await);
    }
    house.clock.sleep(Duration::from_hours(48)).await;
    for run in &runs {
        assert_eq!(house.find(run).await["status"], "pending");
    }
    assert!(house.script.begun().is_empty());
    house.config.queue.workers = 1;
    house.restart().await;
    for (number, run) in runs.iter().enumerate() {
        assert_eq!(house.over(run).await["output"], number.to_string());
    }
    assert_eq!(house.money().await, ("9.4".into(), "0".into(), "9.4".into()));
    house.examine().await;
}

/// Source: the contract, section 6; fault Q12: no attempt is used up.
#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_what_will_be_done_and_gives_the_rest_back() {
    let mut house = House::with(1, |it| it.queue.workers = 2).await;
    let short = house.run(json!({ "ms": 20_000, "say": "short" })).await;
    let long = house.run(json!({ "ms": 40_000, "say": "long" })).await;
    house.settle().await;
    let waiting = house.run(json!({ "say": "waiting" })).await;
    let begun = house.clock.mark();
    house.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(31), "{:?}", begun.elapsed());
    assert_eq!(house.script.begun(), ["short", "long"]);

    house.config.queue.workers = 0;
    house.start().await;
    assert_eq!(house.find(&short).await["status"], "succeeded");
    for run in [&long, &waiting] {
        let run = house.find(run).await;
        assert_eq!((&run["status"], &run["attempts"]), (&json!("pending"), &json!(0)), "{run}");
    }
    assert_eq!(house.money().await, ("9.98".into(), "0.04".into(), "9.94".into()));
    house.examine().await;

    house.config.queue.workers = 1;
    house.restart().await;
    let long = house.over(&long).await;
    assert_eq!((&long["status"], &long["attempts"]), (&json!("succeeded"), &json!(1)));
    assert_eq!(house.over(&waiting).await["status"], "succeeded");
    assert_eq!(house.script.begun()[2..], ["long", "waiting"]);
    house.examine().await;
}

/// However often a daemon is stopped, a run is not given up for it.
#[tokio::test(start_paused = true)]
async fn any_number_of_stops_costs_a_run_nothing() {
    let mut house = House::new().await;
    let run = house.run(json!({ "ms": 50_000 })).await;
    for _ in 0..5 {
        house.settle().await;
        house.restart().await;
    }
    let over = house.over(&run).await;
    assert_eq!((&over["status"], &over["attempts"]), (&json!("succeeded"), &json!(1)));
    assert_eq!(house.script.begun().len(), 6);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_at_the_moment_of_a_claim_gives_the_claimed_run_back() {
    let mut house = House::new().await;
    let run = house.run(json!({ "do": "stumble" })).await;
    house.settle().await;
    // Its third execution is claimed ten seconds later; the claim is on its way to the disk when
    // the daemon is stopped.
    let gate = house.disk.shut();
    tokio::time::advance(Duration::from_secs(10)).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let daemon = house.forget().unwrap();
    let stop = tokio::spawn(daemon.stop(Duration::from_secs(30)));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    drop(gate);
    stop.await.unwrap();
    house.config.queue.workers = 0;
    house.start().await;
    let run = house.find(&run).await;
    assert_eq!((&run["status"], &run["attempts"]), (&json!("pending"), &json!(2)), "{run}");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_right_after_a_create_loses_nothing() {
    let mut house = House::new().await;
    for _ in 0..10 {
        let run = house.run(json!({ "do": "hang" })).await;
        house.stop().await;
        house.config.queue.workers = 0;
        house.start().await;
        let found = house.find(&run).await;
        assert_eq!((&found["status"], &found["attempts"]), (&json!("pending"), &json!(0)));
        assert_eq!(house.ask("DELETE", &path_of(&run), None).await.status, 204);
        house.config.queue.workers = 4;
        house.restart().await;
    }
    assert_eq!(house.money().await, ("10".into(), "0".into(), "10".into()));
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_run_that_was_cancelled_or_deleted() {
    let mut house = House::new().await;
    let cancelled = house.run(json!({ "do": "hang" })).await;
    let deleted = house.run(json!({ "ms": 10_000 })).await;
    house.settle().await;
    house.ask("POST", &format!("{}/cancel", path_of(&cancelled)), None).await;
    house.ask("DELETE", &path_of(&deleted), None).await;
    house.settle().await;
    house.restart().await;
    assert_eq!(house.find(&cancelled).await["error_detail"]["reason"], "canceled");
    // Its execution was finished within the time that a stop gives, so it is charged.
    assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()));
    house.examine().await;
}
