//! Schedules that fire once.
//!
//! Source: service interface, "Schedule": `one_shot`; the contract, section 7; fault S18.

use std::time::Duration;

use errand::app::accounts;
use errand::domain::money::Amount;
use serde_json::{Value, json};

use super::plans::{change, counts, look, plan_as, reach, run_now, runs, told};
use crate::support::{House, Lives, Loss};

async fn once(house: &House, cron: &str) -> Value {
    plan_as(house, &house.key, cron, json!({ "one_shot": true })).await
}

#[track_caller]
fn check_stopped(plan: &Value, reason: &str) {
    assert_eq!((&plan["enabled"], &plan["disabled_reason"]), (&json!(false), &json!(reason)));
    assert_eq!((&plan["next_run_at"], &plan["next_runs"]), (&Value::Null, &json!([])));
}

#[tokio::test(start_paused = true)]
async fn it_fires_at_its_first_slot_and_stays_as_a_record() {
    let house = House::new().await;
    let made = once(&house, "*/5 * * * *").await;
    assert_eq!(made["next_runs"], json!([made["next_run_at"]]));
    reach(&house, "00:30:00").await;
    check_stopped(&look(&house, &made).await, "one_shot_done");
    assert_eq!(told(&house, &made).await, ["01 00:05 fired"]);
    // Stopped twice is stopped for the first reason.
    check_stopped(&change(&house, &made, json!({ "enabled": false })).await, "one_shot_done");
    change(&house, &made, json!({ "enabled": true })).await;
    reach(&house, "01:00:00").await;
    check_stopped(&look(&house, &made).await, "one_shot_done");
    assert_eq!(told(&house, &made).await, ["01 00:05 fired", "01 00:35 fired"]);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_now_does_not_use_it_up() {
    let house = House::new().await;
    let made = once(&house, "0 1 * * *").await;
    run_now(&house, &made).await;
    assert_eq!(look(&house, &made).await["enabled"], true);
    reach(&house, "01:00:30").await;
    check_stopped(&look(&house, &made).await, "one_shot_done");
    assert_eq!(runs(&house, &made).await.len(), 2);
    house.examine().await;
}

/// S18: a slot that was skipped does not count.
#[tokio::test(start_paused = true)]
async fn without_money_it_waits_for_the_first_slot_with_it() {
    let mut house = House::new().await;
    let (account, key) = house.tenant("poor", "0").await;
    house.key = key;
    let made = once(&house, "*/5 * * * *").await;
    reach(&house, "00:11:00").await;
    assert_eq!(look(&house, &made).await["enabled"], true);
    let more = Amount::parse("1").unwrap();
    accounts::credit(house.daemon().app(), account, more, "more").await.unwrap();
    reach(&house, "01:00:00").await;
    let expected = ["00:05 skipped_balance", "00:10 skipped_balance", "00:15 fired"];
    assert_eq!(told(&house, &made).await, expected.map(|it| format!("01 {it}")));
    check_stopped(&look(&house, &made).await, "one_shot_done");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn while_another_run_is_under_way_it_waits_too() {
    let house = House::new().await;
    let made = once(&house, "* * * * *").await;
    let body = json!({ "input": { "do": "hang", "ms": 10 } });
    change(&house, &made, body).await;
    reach(&house, "00:00:30").await;
    run_now(&house, &made).await;
    reach(&house, "00:05:00").await;
    assert_eq!(told(&house, &made).await, ["01 00:01 skipped_overlap", "01 00:02 fired"]);
    house.examine().await;
}

/// S18: missed for an hour, for three days, and for longer than the window of the operator.
#[tokio::test(start_paused = true)]
async fn missed_it_fires_once_late_or_says_that_it_was_missed() {
    for (cron, until, reason, expected) in [
        ("*/30 * * * *", "01:10:00", "one_shot_done", &["01 00:30 missed", "01 01:00 fired"][..]),
        ("0 1 * * *", "02:00:00", "one_shot_done", &["01 01:00 fired"]),
        ("0 1 1 1 *", "04 01:00:00", "one_shot_missed", &["01 01:00 missed"]),
        ("0 1 1 * *", "03 01:00:00", "one_shot_missed", &["01 01:00 missed"]),
    ] {
        let mut house = House::new().await;
        let made = once(&house, cron).await;
        house.stop().await;
        reach(&house, until).await;
        house.start().await;
        house.clock.sleep(Duration::from_hours(1)).await;
        check_stopped(&look(&house, &made).await, reason);
        assert_eq!(told(&house, &made).await, expected, "{cron}");
        house.examine().await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_refuses_late_runs_is_missed_after_a_minute() {
    let mut house = House::new().await;
    let body = json!({ "one_shot": true, "missed": "skip" });
    let made = plan_as(&house, &house.key, "0 * * * *", body).await;
    house.stop().await;
    reach(&house, "01:01:00").await;
    house.start().await;
    house.settle().await;
    check_stopped(&look(&house, &made).await, "one_shot_missed");
    assert_eq!(counts(&house, &made).await, [0, 0, 1]);
    house.examine().await;
}

/// S18: wherever the end comes, one run and no more.
#[test]
fn a_death_at_any_step_makes_one_run() {
    for loss in [Loss::OfProcess, Loss::OfPower] {
        for acts in 0..20 {
            let mut lives = Lives::new(1, |_| {});
            let made = lives.live(async |house| {
                let made = once(house, "* * * * *").await;
                reach(house, "00:00:59.500").await;
                house.disk.cut_after(acts, loss);
                reach(house, "00:01:00.500").await;
                house.disk.was_cut();
                made
            });
            lives.kill();
            lives.live(async |house| {
                reach(house, "00:05:00").await;
                assert_eq!(told(house, &made).await, ["01 00:01 fired"], "{loss:?} {acts}");
                assert_eq!(runs(house, &made).await.len(), 1);
                check_stopped(&look(house, &made).await, "one_shot_done");
                house.examine().await;
            });
        }
    }
}
