//! Commits that failed and are on disk all the same: whoever asked was told that nothing was done,
//! and what is there is found again.
//!
//! Source: the contract, section 6; fault Q14; the promise P11: heals without a restart.

use std::time::Duration;

use serde_json::json;

use crate::support::{House, KIND, RUNS};

/// Syncs of one commit, and some.
const SYNCS: u64 = 6;

/// The counter of commits that failed.
fn failures(house: &House) -> u64 {
    house.daemon().app().metrics().commit_failures.value()
}

/// All of it was done, once.
async fn check_done(house: &House, syncs: u64) {
    let history = house.ask("GET", RUNS, None).await.json();
    let run = &history["data"][0];
    assert_eq!((&history["total"], &run["status"]), (&json!(1), &json!("succeeded")), "{syncs}");
    assert_eq!((&run["attempts"], house.script.begun().len()), (&json!(1), 1), "{syncs}: {run}");
    assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()), "{syncs}");
    let ready = house.ask_as("", "GET", "/readyz", None).await;
    assert_eq!(ready.status, 200, "{syncs}: {}", ready.raw);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_acceptance_seemed_to_fail_is_executed_if_it_is_there() {
    let mut landed = 0;
    for syncs in 1..=SYNCS {
        let house = House::new().await;
        house.disk.fail_sync(syncs);
        let body = json!({ "kind": KIND, "input": {} });
        let reply = house.ask("POST", RUNS, Some(body.clone())).await;
        if reply.status == 500 {
            let is_there = house.ask("GET", RUNS, None).await.json()["total"] == 1;
            landed += u64::from(is_there);
            house.clock.sleep(Duration::from_secs(10)).await;
            if !is_there {
                assert_eq!(house.ask("POST", RUNS, Some(body)).await.status, 201, "{syncs}");
            }
        }
        house.clock.sleep(Duration::from_secs(20)).await;
        check_done(&house, syncs).await;
    }
    assert!(landed > 0, "no commit was on disk although it failed");
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_claim_seemed_to_fail_is_executed_once() {
    let mut landed = 0;
    for syncs in 1..=SYNCS {
        let mut house = House::with(1, |it| it.queue.workers = 0).await;
        let run = house.run(json!({})).await;
        house.config.queue.workers = 4;
        house.stop().await;
        house.start().await;
        house.disk.fail_sync(syncs);
        house.settle().await;
        let is_claimed = house.find(&run).await["status"] == "running";
        if failures(&house) > 0 && is_claimed && house.script.begun().is_empty() {
            landed += 1;
        }
        house.clock.sleep(Duration::from_secs(30)).await;
        check_done(&house, syncs).await;
    }
    assert!(landed > 0, "no claim was on disk although it failed");
}

/// An execution that is under way while others are looked for stays what it is.
#[tokio::test(start_paused = true)]
async fn a_run_under_way_is_left_alone_by_the_look_for_others() {
    let house = House::with(1, |it| it.queue.workers = 2).await;
    let long = house.run(json!({ "say": "long", "ms": 50_000 })).await;
    house.settle().await;
    house.disk.fail_sync(1);
    let body = json!({ "kind": KIND, "input": { "say": "refused" } });
    assert_eq!(house.ask("POST", RUNS, Some(body)).await.status, 500);
    house.clock.sleep(Duration::from_secs(20)).await;
    assert!(failures(&house) > 0);
    assert_eq!((house.script.under_way(), &house.find(&long).await["attempts"]), (1, &json!(1)));
    assert_eq!(house.over(&long).await["attempts"], 1);
    assert_eq!(house.script.begun().iter().filter(|it| *it == "long").count(), 1);
    house.examine().await;
}
