//! What is done for nobody in particular: forgetting, and trying a disk again.

use std::time::Duration;

use serde_json::json;

use crate::support::{House, RUNS, Trouble, path_of};

const HOUR: Duration = Duration::from_hours(1);

/// Source: the contract, section 6, "Retention".
#[tokio::test(start_paused = true)]
async fn old_runs_are_forgotten_and_nothing_else_is() {
    let mut house = House::with(1, |it| it.runs.retention = Some(24 * HOUR)).await;
    let mut old = Vec::new();
    for number in 0..210 {
        let what = ["succeed", "no_signal", "fail"][number % 3];
        old.push(house.run(json!({ "do": what })).await);
        house.settle().await;
    }
    assert_eq!(house.find(&old[0]).await["expires_at"], "2026-01-02T00:00:00.000+00:00");
    house.config.queue.workers = 0;
    house.restart().await;
    let waiting = house.run(json!({ "say": "waiting" })).await;
    let money = house.money().await;

    house.clock.sleep(23 * HOUR + HOUR / 2).await;
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 211);
    house.config.queue.workers = 1;
    house.restart().await;
    let young = house.run(json!({ "say": "young" })).await;
    house.clock.sleep(HOUR).await;
    let left = house.ask("GET", RUNS, None).await.json();
    // The one that waited is as old as the others, but was over only now.
    assert_eq!((&left["total"], &left["data"][0]["id"]), (&json!(1), &young["id"]), "{left}");
    for run in old.iter().take(3).chain([&waiting]) {
        assert_eq!(house.ask("GET", &path_of(run), None).await.status, 404);
        let path = format!("{}/result", path_of(run));
        assert_eq!(house.ask("GET", &path, None).await.status, 404);
    }
    assert!(house.script.begun().contains(&"waiting".to_owned()));
    let (balance, held, _) = house.money().await;
    assert_eq!((money.0.as_str(), balance.as_str(), held.as_str()), ("7.2", "7.16", "0"));
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_is_never_too_old() {
    let mut house = House::with(1, |it| {
        it.runs.retention = Some(HOUR);
        it.queue.workers = 0;
    })
    .await;
    let run = house.run(json!({})).await;
    house.clock.sleep(50 * HOUR).await;
    assert_eq!(house.find(&run).await["status"], "pending");
    house.config.queue.workers = 1;
    house.restart().await;
    assert_eq!(house.over(&run).await["status"], "succeeded");
    house.examine().await;
}

/// Source: the contract, section 6; fault Q14; the promise P11: heals without a restart.
#[tokio::test(start_paused = true)]
async fn what_is_done_while_the_disk_is_in_trouble_is_recorded_afterwards() {
    for trouble in [Trouble::Full, Trouble::Broken] {
        let house = House::new().await;
        let run = house.run(json!({ "ms": 1_000 })).await;
        let fails = house.run(json!({ "ms": 1_000, "do": "panic" })).await;
        house.settle().await;
        house.disk.fail(trouble);
        house.clock.sleep(Duration::from_mins(5)).await;
        assert_eq!(house.find(&run).await["status"], "running");
        assert_eq!(house.money().await, ("10".into(), "0.04".into(), "9.96".into()));
        house.disk.heal();
        house.clock.sleep(Duration::from_secs(5)).await;
        let over = house.find(&run).await;
        assert_eq!((&over["status"], &over["attempts"]), (&json!("succeeded"), &json!(1)));
        assert_eq!(house.script.begun().iter().filter(|it| *it == "done").count(), 3);
        assert_eq!(house.over(&fails).await["attempts"], 3);
        assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()));
        house.examine().await;
    }
}

/// A run is claimed on disk before its agent begins, so that executions can be counted.
#[tokio::test(start_paused = true)]
async fn nothing_begins_while_nothing_can_be_recorded() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    let run = house.run(json!({})).await;
    house.config.queue.workers = 4;
    house.stop().await;
    house.start().await;
    house.disk.fail(Trouble::Full);
    house.clock.sleep(Duration::from_mins(5)).await;
    let begun = house.script.begun().len();
    house.disk.heal();
    house.clock.sleep(Duration::from_secs(5)).await;
    let over = house.find(&run).await;
    assert_eq!(over["status"], "succeeded");
    assert_eq!(house.script.begun().len(), 1);
    assert!(begun <= 1);
    house.examine().await;
}
