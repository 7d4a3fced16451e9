//! Whose turn it is: fairness between accounts, caps, and the order of one account's runs.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::ends::millis_between;
use crate::support::{House, KIND, RUNS};

/// Starts `workers` workers on what was accepted without any.
async fn begin(house: &mut House, workers: usize) {
    house.config.queue.workers = workers;
    house.restart().await;
}

/// Source: the contract, section 6; fault Q21: the one starts within the length of a run.
#[tokio::test(start_paused = true)]
async fn an_account_with_a_thousand_runs_does_not_hold_up_another_one() {
    let house = House::with(1, |it| it.limits.pending_runs = None).await;
    let (_, many) = house.tenant("many", "100").await;
    for _ in 0..1_000 {
        house.run_as(&many, json!({ "ms": 1_000 })).await;
    }
    house.settle().await;
    assert_eq!(house.script.under_way(), 4);
    let one = house.run(json!({})).await;
    let over = house.over(&one).await;
    assert!(millis_between(&over, "created_at", "started_at") <= 1_000, "{over}");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn accounts_take_turns_and_the_runs_of_each_keep_their_order() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    let mut keys = vec![house.key.clone()];
    for name in ["second", "third"] {
        keys.push(house.tenant(name, "1").await.1);
    }
    for (who, key) in keys.iter().enumerate() {
        for number in 0..5 {
            house.run_as(key, json!({ "say": format!("{who}{number}"), "ms": 10 })).await;
        }
    }
    begin(&mut house, 1).await;
    let last = json!({ "say": "end" });
    let last = house.run_as(&keys[2], last).await;
    while house.find_as(&keys[2], &last).await["finished_at"].is_null() {
        house.settle().await;
    }
    let turns = (0..5).flat_map(|number| (0..3).map(move |who| format!("{who}{number}")));
    let expected: Vec<String> = turns.chain(["end".to_owned()]).collect();
    assert_eq!(house.script.begun(), expected);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn an_account_has_at_most_its_share_of_the_workers() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    house.config.queue.account_workers = 2;
    let (_, second) = house.tenant("second", "1").await;
    for _ in 0..10 {
        house.run(json!({ "ms": 100 })).await;
    }
    begin(&mut house, 4).await;
    house.settle().await;
    assert_eq!(house.script.under_way(), 2);
    for _ in 0..10 {
        house.run_as(&second, json!({ "ms": 100 })).await;
    }
    house.settle().await;
    assert_eq!(house.script.under_way(), 4);
    for _ in 0..10_000 {
        house.settle().await;
        if house.script.begun().len() == 20 && house.script.under_way() == 0 {
            break;
        }
    }
    assert_eq!(house.script.most(), 4);
    for key in [&house.key, &second] {
        let done = house.ask_as(key, "GET", &format!("{RUNS}?status=succeeded"), None).await;
        assert_eq!(done.json()["total"], 10);
    }
    house.examine().await;
}

/// Source: the contract, section 6; fault Q22; the contract, section 2: 429 `queue_full`.
#[tokio::test(start_paused = true)]
async fn of_many_runs_at_once_as_many_are_accepted_as_may_wait() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    let (_, rich) = house.tenant("rich", "1000").await;
    let mut asks = JoinSet::new();
    for _ in 0..1_050 {
        let client = house.client().with_key(&rich);
        let body = json!({ "kind": KIND, "input": {} });
        asks.spawn(async move { client.ask("POST", RUNS, Some(body)).await });
    }
    let replies = asks.join_all().await;
    let accepted = replies.iter().filter(|it| it.status == 201).count();
    let full: Vec<_> = replies.iter().filter(|it| it.status == 429).collect();
    assert_eq!((accepted, full.len()), (1_000, 50));
    assert!(full.iter().all(|it| it.code() == "queue_full" && it.header("retry-after").is_some()));
    assert_eq!(house.ask_as(&rich, "GET", RUNS, None).await.json()["total"], 1_000);
    assert_eq!(house.money_of(&rich).await.1, "20");
    // The cap is the account's own.
    assert_eq!(house.run(json!({})).await["status"], "pending");
    begin(&mut house, 4).await;
    house.settle().await;
    house.run_as(&rich, json!({})).await;
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn every_end_of_a_run_makes_room_for_another() {
    let mut house = House::with(1, |it| {
        it.queue.workers = 0;
        it.limits.pending_runs = Some(3);
    })
    .await;
    let run = async |house: &House, what: Value| {
        let body = json!({ "kind": KIND, "input": what });
        house.ask("POST", RUNS, Some(body)).await
    };
    let mut runs = Vec::new();
    for what in ["succeed", "fail", "hang"] {
        runs.push(run(&house, json!({ "do": what })).await.json());
    }
    assert_eq!(run(&house, json!({})).await.code(), "queue_full");
    let path = crate::support::path_of(&runs[0]);
    house.ask("POST", &format!("{path}/cancel"), None).await;
    assert_eq!(run(&house, json!({ "do": "no_signal" })).await.status, 201);
    house.ask("DELETE", &crate::support::path_of(&runs[1]), None).await;
    assert_eq!(run(&house, json!({ "do": "succeed" })).await.status, 201);
    assert_eq!(run(&house, json!({})).await.code(), "queue_full");
    begin(&mut house, 4).await;
    house.settle().await;
    // Two are over; the one that hangs still counts, also when it is deleted.
    house.ask("DELETE", &crate::support::path_of(&runs[2]), None).await;
    for _ in 0..2 {
        assert_eq!(run(&house, json!({ "ms": 100_000 })).await.status, 201);
    }
    assert_eq!(run(&house, json!({})).await.code(), "queue_full");
    house.clock.sleep(std::time::Duration::from_mins(1)).await;
    assert_eq!(run(&house, json!({})).await.status, 201);
    house.examine().await;
}
