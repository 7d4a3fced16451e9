//! How executions end, other than by being done.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{House, KIND, RUNS, path_of};

/// When something happened, in milliseconds after something else.
pub fn millis_between(run: &Value, from: &str, to: &str) -> i64 {
    let time = |name: &str| {
        let text = run[name].as_str().unwrap_or_else(|| panic!("no {name}: {run}"));
        errand::domain::time::Timestamp::parse(text).unwrap().millis()
    };
    time(to) - time(from)
}

#[track_caller]
fn check_failed(run: &Value, reason: &str, attempts: u32) {
    assert_eq!(
        (&run["status"], &run["error"]),
        (&json!("failed"), &json!("agent_failed")),
        "{run}"
    );
    assert_eq!(run["error_detail"]["reason"], reason, "{run}");
    assert_eq!((&run["attempts"], &run["cost"]), (&json!(attempts), &json!("0")), "{run}");
    assert_eq!((&run["output"], &run["cost_reserved"]), (&json!(null), &json!("0")), "{run}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_hangs_is_ended_at_its_deadline_and_its_worker_goes_on() {
    let house = House::with(1, |it| it.queue.workers = 1).await;
    let hung = house.run(json!({ "do": "hang" })).await;
    house.settle().await;
    let next = house.run(json!({})).await;
    let hung = house.over(&hung).await;
    check_failed(&hung, "timeout", 1);
    assert_eq!(millis_between(&hung, "started_at", "finished_at"), 60_000);
    house.settle().await;
    let next = house.find(&next).await;
    assert_eq!((&next["status"], &next["started_at"]), (&json!("succeeded"), &hung["finished_at"]));
    assert_eq!(house.script.under_way(), 0);
    assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()));
    house.examine().await;
}

/// Three executions that end without an outcome are the last. A panic takes nobody with it.
#[tokio::test(start_paused = true)]
async fn an_agent_that_panics_is_tried_three_times() {
    let house = House::new().await;
    let run = house.run(json!({ "do": "panic", "say": "bad" })).await;
    let over = house.over(&run).await;
    check_failed(&over, "worker_lost", 3);
    // The second try follows at once, the third one ten seconds later.
    assert_eq!(millis_between(&over, "created_at", "finished_at"), 10_000);
    assert_eq!(house.script.begun(), ["bad", "bad", "bad"]);
    assert_eq!(house.daemon().app().metrics().panics.value(), 3);
    let good = house.run(json!({})).await;
    assert_eq!(house.over(&good).await["status"], "succeeded");
    assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()));
    house.examine().await;
}

/// Source: the contract, section 6: cancel.
#[tokio::test(start_paused = true)]
async fn a_cancel_ends_a_run_at_once_and_only_once() {
    let house = House::with(1, |it| it.queue.workers = 1).await;
    let running = house.run(json!({ "do": "hang" })).await;
    house.settle().await;
    let pending = house.run(json!({})).await;
    let next = house.run(json!({ "say": "next" })).await;
    let cancel =
        async |run: &Value| house.ask("POST", &format!("{}/cancel", path_of(run)), None).await;
    assert_eq!(cancel(&pending).await.json()["status"], "failed");
    check_failed(&house.find(&pending).await, "canceled", 0);
    let answer = cancel(&running).await;
    assert_eq!((answer.status, &answer.json()["cancel_requested"]), (202, &json!(true)));
    house.settle().await;
    let over = house.find(&running).await;
    check_failed(&over, "canceled", 1);
    // Its worker is free at the same moment.
    assert_eq!(house.find(&next).await["status"], "succeeded");
    assert_eq!(house.find(&next).await["started_at"], over["finished_at"]);
    for run in [&pending, &running, &next] {
        let again = cancel(run).await;
        assert_eq!((again.status, again.code().as_str()), (409, "run_over"));
        assert_eq!(house.find(run).await["finished_at"], house.find(run).await["updated_at"]);
    }
    assert_eq!(house.script.begun().len(), 2);
    assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()));
    house.examine().await;
}

/// A run that is cancelled is not charged, even when its agent was done at that very moment and
/// its owner has deleted it meanwhile.
#[tokio::test(start_paused = true)]
async fn a_cancelled_and_deleted_run_is_free_although_its_agent_was_done() {
    let house = House::new().await;
    let run = house.run(json!({ "ms": 100 })).await;
    house.settle().await;
    let gate = house.disk.shut();
    let client = house.client();
    let (cancel, delete) = (format!("{}/cancel", path_of(&run)), path_of(&run));
    let second = client.clone();
    let cancel = tokio::spawn(async move { client.ask("POST", &cancel, None).await });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let delete = tokio::spawn(async move { second.ask("DELETE", &delete, None).await });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    // Both wait for the disk; now the agent is done, and its outcome waits behind them.
    tokio::time::advance(Duration::from_millis(100)).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    drop(gate);
    assert_eq!((cancel.await.unwrap().status, delete.await.unwrap().status), (202, 204));
    house.settle().await;
    assert_eq!(house.money().await, ("10".into(), "0".into(), "10".into()));
    house.examine().await;
}

/// Source: the contract, section 6: outputs stay under 30,000 characters.
#[tokio::test(start_paused = true)]
async fn an_output_that_is_too_long_is_a_failure_and_the_longest_is_not() {
    let house = House::new().await;
    let longest = house.run(json!({ "say": "é".repeat(30_000) })).await;
    let longest = house.over(&longest).await;
    assert_eq!(longest["status"], "succeeded");
    assert_eq!(longest["output"].as_str().unwrap().chars().count(), 30_000);
    for what in [json!({ "say": "x".repeat(30_001) }), json!({ "do": "flood" })] {
        let run = house.run(what).await;
        check_failed(&house.over(&run).await, "output_too_large", 1);
    }
    assert_eq!(house.money().await.0, "9.98");
    house.examine().await;
}

/// Source: the contract, section 6; fault Q24; the rule: a kind may be taken out of the catalogue.
#[tokio::test(start_paused = true)]
async fn a_run_whose_kind_was_removed_fails_and_its_money_comes_back() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    let run = house.run(json!({})).await;
    let (agents, workers) = (std::mem::take(&mut house.agents), 4);
    house.config.queue.workers = workers;
    house.restart().await;
    check_failed(&house.over(&run).await, "kind_unavailable", 1);
    assert_eq!(house.money().await, ("10".into(), "0".into(), "10".into()));
    let body = json!({ "kind": KIND, "input": {} });
    assert_eq!(house.ask("POST", RUNS, Some(body)).await.code(), "unknown_kind");
    // What it has left can still be found by its kind.
    let found = house.ask("GET", &format!("{RUNS}?kind={KIND}"), None).await.json();
    assert_eq!(found["total"], 1);
    house.agents = agents;
    house.restart().await;
    let again = house.run(json!({})).await;
    assert_eq!(house.over(&again).await["status"], "succeeded");
    house.examine().await;
}

/// What was accepted at a price is done at that price.
#[tokio::test(start_paused = true)]
async fn a_run_keeps_its_price_when_the_prices_change_or_go() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    let run = house.run(json!({})).await;
    house.config.agents.prices.clear();
    house.config.queue.workers = 4;
    house.restart().await;
    assert_eq!(house.over(&run).await["cost"], "0.02");
    assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()));
    house.examine().await;
}
