//! Slots that become no run although the daemon is there: overlap, balance, queue, agent, text.
//!
//! Source: the contract, section 7: each has its reason in the log.

use std::sync::Arc;

use errand::app::accounts;
use errand::domain::id::Id;
use errand::domain::money::Amount;
use errand::store::{Options, Store, Verify, schedules};
use serde_json::{Value, json};

use super::plans::{at, change, counts, look, path, plan, plan_as, reach, run_now, runs, told};
use crate::support::{House, Script};

/// A house with so many workers, and a schedule that fires every minute.
async fn overlapping(workers: usize, rule: &str, ms: u32) -> (House, Value) {
    let mut house = House::with(1, |it| it.queue.workers = workers).await;
    house.agents = vec![Arc::new(house.script.clone().patient())];
    house.restart().await;
    let body = json!({ "overlap": rule, "input": { "ms": ms } });
    let made = plan_as(&house, &house.key, "* * * * *", body).await;
    (house, made)
}

/// S13.
#[tokio::test(start_paused = true)]
async fn a_slot_is_skipped_while_the_run_before_is_under_way() {
    let (house, made) = overlapping(2, "skip", 90_000).await;
    reach(&house, "00:04:30").await;
    let expected = ["00:01 fired", "00:02 skipped_overlap", "00:03 fired", "00:04 skipped_overlap"];
    assert_eq!(told(&house, &made).await, expected.map(|it| format!("01 {it}")));
    let found = look(&house, &made).await;
    assert_eq!(
        found["last_skip"],
        json!({ "scheduled_for": "2026-01-01T00:04:00.000+00:00", "reason": "skipped_overlap" })
    );
    assert_eq!(found["next_run_at"], "2026-01-01T00:05:00.000+00:00");
    assert_eq!((counts(&house, &made).await, house.script.most()), ([2, 2, 0], 1));
    house.examine().await;
}

/// S13.
#[tokio::test(start_paused = true)]
async fn one_run_may_wait_behind_the_one_under_way() {
    let (house, made) = overlapping(1, "queue_one", 150_000).await;
    reach(&house, "00:04:10").await;
    let expected = ["00:01 fired", "00:02 fired", "00:03 skipped_overlap", "00:04 fired"];
    assert_eq!(told(&house, &made).await, expected.map(|it| format!("01 {it}")));
    let states: Vec<_> = runs(&house, &made).await.iter().map(|it| it["status"].clone()).collect();
    assert_eq!(states, ["succeeded", "running", "pending"]);
    house.examine().await;
}

/// S13.
#[tokio::test(start_paused = true)]
async fn runs_may_overlap_where_the_schedule_says_so() {
    let (house, made) = overlapping(0, "allow", 0).await;
    reach(&house, "00:05:30").await;
    assert_eq!(counts(&house, &made).await, [5, 0, 0]);
    assert_eq!(runs(&house, &made).await.len(), 5);
    house.examine().await;
}

/// A run that was asked for is under way like any other; asking ignores the rule itself.
#[tokio::test(start_paused = true)]
async fn a_run_now_ignores_the_rule_and_counts_for_the_next_slot() {
    let (house, made) = overlapping(0, "skip", 0).await;
    run_now(&house, &made).await;
    run_now(&house, &made).await;
    reach(&house, "00:01:30").await;
    assert_eq!(told(&house, &made).await, ["01 00:01 skipped_overlap"]);
    for run in runs(&house, &made).await {
        assert_eq!(house.ask("DELETE", &crate::support::path_of(&run), None).await.status, 204);
    }
    reach(&house, "00:02:30").await;
    assert_eq!(told(&house, &made).await[1..], ["01 00:02 fired"]);
    house.examine().await;
}

/// S21.
#[tokio::test(start_paused = true)]
async fn a_slot_without_money_is_skipped_and_the_next_one_with_it_fires() {
    let mut house = House::new().await;
    let (account, key) = house.tenant("poor", "0.03").await;
    house.key = key;
    let made = plan(&house, "* * * * *", json!({})).await;
    reach(&house, "00:03:30").await;
    let expected = ["00:01 fired", "00:02 skipped_balance", "00:03 skipped_balance"];
    assert_eq!(told(&house, &made).await, expected.map(|it| format!("01 {it}")));
    let found = look(&house, &made).await;
    assert_eq!((&found["enabled"], &found["disabled_reason"]), (&json!(true), &Value::Null));
    assert_eq!(runs(&house, &made).await.len(), 1);
    assert_eq!(house.money().await, ("0.01".into(), "0".into(), "0.01".into()));
    let more = Amount::parse("1").unwrap();
    accounts::credit(house.daemon().app(), account, more, "more").await.unwrap();
    reach(&house, "00:04:30").await;
    assert_eq!(told(&house, &made).await[3..], ["01 00:04 fired"]);
    assert_eq!(counts(&house, &made).await, [2, 2, 0]);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_slot_in_a_full_queue_is_skipped() {
    let house = House::with(1, |config| {
        config.queue.workers = 1;
        config.limits.pending_runs = Some(2);
    })
    .await;
    let made = plan(&house, "* * * * *", json!({})).await;
    for _ in 0..2 {
        house.run(json!({ "ms": 40_000 })).await;
    }
    reach(&house, "00:02:30").await;
    assert_eq!(told(&house, &made).await, ["01 00:01 fired", "01 00:02 fired"]);
    for _ in 0..2 {
        house.run(json!({ "do": "hang" })).await;
    }
    reach(&house, "00:03:10").await;
    assert_eq!(told(&house, &made).await[2..], ["01 00:03 skipped_queue_full"]);
    house.clock.sleep(super::plans::MINUTE * 2).await;
    assert_eq!(told(&house, &made).await.last().unwrap(), "01 00:05 fired");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_schedule_whose_agent_is_gone_stops_at_its_slot_and_can_be_started_again() {
    let mut house = House::new().await;
    let made = plan(&house, "*/5 * * * *", json!({})).await;
    let agents = std::mem::take(&mut house.agents);
    for gone in ["gone", "on request only", "without a price"] {
        house.agents = match gone {
            "gone" => Vec::new(),
            "on request only" => vec![Arc::new(Script::default().on_request_only())],
            _ => agents.clone(),
        };
        let price = house.config.agents.prices.remove(crate::support::KIND).unwrap();
        if gone == "on request only" {
            house.config.agents.prices.insert(crate::support::KIND.to_owned(), price);
        }
        house.restart().await;
        house.clock.sleep(super::plans::MINUTE * 6).await;
        let found = look(&house, &made).await;
        assert_eq!(found["disabled_reason"], "kind_unavailable", "{gone}");
        assert_eq!(found["last_skip"]["reason"], "error", "{gone}");
        assert_eq!((&found["enabled"], &found["next_run_at"]), (&json!(false), &Value::Null));
        house.agents.clone_from(&agents);
        house.config.agents.prices.insert(crate::support::KIND.to_owned(), price);
        house.restart().await;
        change(&house, &made, json!({ "enabled": true })).await;
        house.clock.sleep(super::plans::MINUTE * 6).await;
        assert_eq!(look(&house, &made).await["last_run_status"], "succeeded", "{gone}");
    }
    assert_eq!(counts(&house, &made).await[1], 3);
    house.examine().await;
}

/// S22: a later version may refuse what an earlier one took.
#[tokio::test(start_paused = true)]
async fn a_stored_expression_that_cannot_be_read_stops_its_schedule_and_nothing_else() {
    let mut house = House::new().await;
    let broken = plan(&house, "*/5 * * * *", json!({})).await;
    let sound = plan(&house, "*/5 * * * *", json!({})).await;
    house.stop().await;
    let options = Options {
        cache_bytes: 1 << 20,
        verify: Verify::Never,
        instance: Id::from_bytes([7; 16]),
        name: "test".to_owned(),
        now: house.clock.now(),
    };
    let disk = Arc::new(house.disk.clone());
    let store = Store::open(disk, &options, house.clock.clone(), Arc::default()).unwrap();
    let (account, id) = (house.account, Id::parse(broken["id"].as_str().unwrap()).unwrap());
    let write = store.write(move |txn| {
        let before = schedules::find(txn, account, id)?.unwrap();
        let after =
            errand::domain::schedule::Schedule { cron: "@later".to_owned(), ..before.clone() };
        schedules::put(txn, Some(&before), &after)
    });
    write.await.unwrap();
    store.close();
    house.start().await;
    let found = look(&house, &broken).await;
    assert_eq!((&found["cron"], &found["description"]), (&json!("@later"), &Value::Null));
    assert_eq!(found["next_runs"], json!([]));
    reach(&house, "00:05:30").await;
    let found = look(&house, &broken).await;
    assert_eq!(
        (&found["enabled"], &found["disabled_reason"]),
        (&json!(false), &json!("cron_invalid"))
    );
    assert_eq!(told(&house, &broken).await, ["01 00:05 error"]);
    assert_eq!(found["last_skip"]["reason"], "error");
    assert_eq!(told(&house, &sound).await, ["01 00:05 fired"]);
    let again = house.ask("PATCH", &path(&broken), Some(json!({ "enabled": true }))).await;
    assert_eq!((again.status, again.code().as_str()), (400, "invalid_cron"));
    change(&house, &broken, json!({ "enabled": true, "cron": "6 * * * *" })).await;
    reach(&house, "00:06:30").await;
    assert_eq!(counts(&house, &broken).await[0], 1);
    assert!(at("00:06:00") < house.clock.now());
    house.examine().await;
}
