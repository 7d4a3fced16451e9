//! A wall clock that is set while runs wait and run.
//!
//! Source: the promise P13: a clock that is set back or forward loses nothing and repeats nothing.

use std::time::Duration;

use serde_json::{Value, json};

use super::ends::millis_between;
use crate::support::{House, RUNS};

const HOUR_MS: i64 = 3_600_000;
const YEAR_MS: i64 = 365 * 24 * HOUR_MS;
/// Steps of a clock that somebody sets.
const STEPS: [i64; 6] = [-HOUR_MS, HOUR_MS, -YEAR_MS, YEAR_MS, -1, 7_000];

#[track_caller]
fn check_stamps(run: &Value) {
    assert!(millis_between(run, "created_at", "started_at") >= 0, "{run}");
    assert!(millis_between(run, "started_at", "finished_at") >= 0, "{run}");
    assert_eq!(run["finished_at"], run["updated_at"], "{run}");
}

/// The ids of the history, newest first.
async fn ids(house: &House) -> Vec<String> {
    let page = house.ask("GET", &format!("{RUNS}?limit=200"), None).await.json();
    page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn runs_that_wait_and_run_take_as_long_as_without_a_step() {
    for step in STEPS {
        let house = House::with(1, |it| it.queue.workers = 1).await;
        let mut runs = Vec::new();
        for _ in 0..3 {
            runs.push(house.run(json!({ "ms": 10_000 })).await);
        }
        house.clock.sleep(Duration::from_secs(5)).await;
        house.clock.step(step);
        runs.push(house.run(json!({})).await);
        let begun = house.clock.mark();
        for run in &runs {
            let over = house.over(run).await;
            assert_eq!(over["status"], "succeeded", "{step}");
            assert_eq!(over["attempts"], 1, "{step}");
            check_stamps(&over);
        }
        // Five seconds are left of the first; the others take ten each.
        assert!(begun.elapsed() <= Duration::from_secs(26), "{step}: {:?}", begun.elapsed());
        let made: Vec<_> = runs.iter().rev().map(|it| it["id"].as_str().unwrap()).collect();
        assert_eq!(ids(&house).await, made, "{step}");
        assert!(made.is_sorted_by(|a, b| a > b), "{step}: {made:?}");
        assert_eq!(house.money().await.0, "9.92");
        house.examine().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_daemon_stays_ready_and_takes_the_next_run_at_once() {
    for step in STEPS {
        let house = House::new().await;
        house.clock.sleep(Duration::from_millis(2_500)).await;
        house.clock.step(step);
        for _ in 0..20 {
            house.clock.sleep(Duration::from_secs(3)).await;
            let ready = house.ask_as("", "GET", "/readyz", None).await;
            assert_eq!(ready.status, 200, "{step}: {}", ready.text);
        }
        let run = house.run(json!({})).await;
        house.settle().await;
        check_stamps(&house.find(&run).await);
        house.examine().await;
    }
}

/// A pause is never much longer than it was meant to be.
#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_its_next_try_is_not_forgotten() {
    for step in STEPS {
        let house = House::new().await;
        let run = house.run(json!({ "do": "panic" })).await;
        house.clock.sleep(Duration::from_secs(3)).await;
        assert_eq!(house.find(&run).await["status"], "pending");
        house.clock.step(step);
        let begun = house.clock.mark();
        let over = house.over(&run).await;
        assert_eq!((&over["attempts"], &over["status"]), (&json!(3), &json!("failed")), "{step}");
        assert!(begun.elapsed() <= Duration::from_mins(1), "{step}: {:?}", begun.elapsed());
        check_stamps(&over);
        house.examine().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_not_reached_by_setting_the_clock() {
    for step in [YEAR_MS, -YEAR_MS] {
        let house = House::new().await;
        let done = house.run(json!({ "ms": 50_000 })).await;
        let hung = house.run(json!({ "do": "hang" })).await;
        house.clock.sleep(Duration::from_secs(1)).await;
        house.clock.step(step);
        let begun = house.clock.mark();
        assert_eq!(house.over(&done).await["status"], "succeeded");
        assert_eq!(house.over(&hung).await["error_detail"]["reason"], "timeout");
        let took = begun.elapsed();
        assert!((59..=60).contains(&took.as_secs()), "{step}: {took:?}");
        house.examine().await;
    }
}

/// Source: the contract, section 6; fault S7: ids stay unique and sorted.
#[tokio::test(start_paused = true)]
async fn ids_grow_across_steps_and_restarts() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    let mut made = Vec::new();
    for step in [5 * YEAR_MS, -5 * YEAR_MS, 0, HOUR_MS, -YEAR_MS] {
        house.clock.step(step);
        for _ in 0..3 {
            made.push(house.run(json!({})).await["id"].as_str().unwrap().to_owned());
        }
        // Another process has other random numbers, and knows of earlier ids from the disk only.
        house.stop().await;
        house.entropy = errand::sys::entropy::Entropy::seeded(step.unsigned_abs());
        house.start().await;
    }
    assert!(made.is_sorted_by(|a, b| a < b), "{made:?}");
    made.reverse();
    assert_eq!(ids(&house).await, made);
    house.config.queue.workers = 4;
    house.restart().await;
    house.clock.sleep(Duration::from_mins(1)).await;
    let done = house.ask("GET", &format!("{RUNS}?status=succeeded"), None).await.json();
    assert_eq!(done["total"], 15);
    house.examine().await;
}

/// A clock that was wrong for a while does not keep old runs for as long as it was wrong.
#[tokio::test(start_paused = true)]
async fn old_runs_are_forgotten_after_the_clock_was_set_back() {
    let house = House::with(1, |it| it.runs.retention = Some(Duration::from_hours(1))).await;
    house.clock.step(YEAR_MS);
    house.clock.sleep(Duration::from_mins(15)).await;
    // The janitor has looked at a time that comes again in a year.
    house.clock.step(-YEAR_MS);
    let run = house.run(json!({})).await;
    house.clock.sleep(Duration::from_mins(75)).await;
    assert_eq!(house.find(&run).await["error"]["code"], "not_found");
    house.examine().await;
}
