//! Slots that come while the daemon is there: each becomes one run, in time.
//!
//! Source: the contract, section 7: every instant fires at most once.

use std::time::Duration;

use serde_json::{Value, json};

use super::plans::{
    MINUTE, change, counts, lines, look, path, plan, plan_as, reach, run_now, runs, told,
};
use crate::support::House;

#[tokio::test(start_paused = true)]
async fn every_slot_becomes_a_run_at_its_minute() {
    let house = House::new().await;
    let made = plan(&house, "* * * * *", json!({ "say": "tick" })).await;
    reach(&house, "00:03:30").await;
    let runs = runs(&house, &made).await;
    assert_eq!(runs.len(), 3);
    for (minute, run) in (1..).zip(&runs) {
        let slot = format!("2026-01-01T00:0{minute}:00.000+00:00");
        assert_eq!((&run["scheduled_for"], &run["created_at"]), (&json!(slot), &json!(slot)));
        assert_eq!((&run["trigger"], &run["schedule_id"]), (&json!("schedule"), &made["id"]));
        assert_eq!((&run["output"], &run["cost"]), (&json!("tick"), &json!("0.02")));
    }
    let log = lines(&house, &made).await;
    assert!(log.iter().all(|it| it["late_s"] == 0 && it["fired_at"] == it["scheduled_for"]));
    let found = look(&house, &made).await;
    assert_eq!(
        (&found["last_run_id"], &found["last_run_at"]),
        (&runs[2]["id"], &runs[2]["created_at"])
    );
    assert_eq!(
        (&found["last_skip"], &found["last_run_status"]),
        (&Value::Null, &json!("succeeded"))
    );
    assert_eq!(house.money().await.0, "9.94");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn expressions_fire_when_they_say() {
    let house = House::new().await;
    let mut plans = Vec::new();
    for cron in ["*/20 * * * *", "5,55 0 * * *", "0 1-2 1 * *", "30 0 2 1 *", "0 2 * * FRI"] {
        plans.push(plan(&house, cron, json!({})).await);
    }
    reach(&house, "02 02:30:00").await;
    let mut fired = Vec::new();
    for it in &plans {
        fired.push(told(&house, it).await);
    }
    // The first of January 2026 is a Thursday.
    assert_eq!(fired[0].len(), 79);
    assert_eq!(fired[1], ["01 00:05 fired", "01 00:55 fired", "02 00:05 fired", "02 00:55 fired"]);
    assert_eq!(fired[2], ["01 01:00 fired", "01 02:00 fired"]);
    assert_eq!(fired[3], ["02 00:30 fired"]);
    assert_eq!(fired[4], ["02 02:00 fired"]);
    house.examine().await;
}

/// A restart between two slots, and one right before and right after a slot, changes nothing.
#[tokio::test(start_paused = true)]
async fn restarts_neither_lose_nor_repeat_a_slot() {
    let mut house = House::new().await;
    let made = plan(&house, "* * * * *", json!({})).await;
    for time in ["00:01:30", "00:01:59.999", "00:03:00", "00:04:00.001", "00:04:59.500"] {
        reach(&house, time).await;
        house.restart().await;
    }
    reach(&house, "00:06:30").await;
    let expected: Vec<_> = (1..=6).map(|it| format!("01 00:0{it} fired")).collect();
    assert_eq!(told(&house, &made).await, expected);
    assert_eq!(runs(&house, &made).await.len(), 6);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn an_account_does_not_see_or_pay_for_schedules_of_another() {
    let house = House::new().await;
    let (_, stranger) = house.tenant("second", "1").await;
    let mine = plan(&house, "* * * * *", json!({})).await;
    plan_as(&house, &stranger, "*/2 * * * *", json!({})).await;
    reach(&house, "00:04:30").await;
    assert_eq!(runs(&house, &mine).await.len(), 4);
    assert_eq!(house.money().await.0, "9.92");
    assert_eq!(house.money_of(&stranger).await.0, "0.96");
    house.examine().await;
}

/// Whoever waits for a run is not kept waiting by those of the clock.
#[tokio::test(start_paused = true)]
async fn runs_that_are_asked_for_come_before_those_of_schedules() {
    let house = House::with(1, |it| it.queue.workers = 1).await;
    house.run(json!({ "say": "busy", "ms": 50_000 })).await;
    reach(&house, "00:00:20").await;
    plan(&house, "1 * * * *", json!({ "say": "clock" })).await;
    house.run(json!({ "say": "second", "ms": 20_000 })).await;
    reach(&house, "00:01:05").await;
    house.run(json!({ "say": "asked" })).await;
    reach(&house, "00:02:00").await;
    assert_eq!(house.script.begun(), ["busy", "second", "asked", "clock"]);
    house.examine().await;
}

/// A schedule that is switched off in the settings is as one whose daemon is down.
#[tokio::test(start_paused = true)]
async fn the_operator_can_switch_schedules_off() {
    let mut house = House::with(1, |it| it.schedules.is_on = false).await;
    let made = plan(&house, "0 * * * *", json!({})).await;
    reach(&house, "03:30:00").await;
    assert_eq!(counts(&house, &made).await, [0, 0, 0]);
    let run = run_now(&house, &made).await;
    assert_eq!(house.over(&run).await["status"], "succeeded");
    house.config.schedules.is_on = true;
    house.restart().await;
    house.clock.sleep(MINUTE).await;
    assert_eq!(told(&house, &made).await, ["01 02:00 missed x2", "01 03:00 fired"]);
    house.examine().await;
}

/// The first schedule of all wakes the loop that has nothing to wait for.
#[tokio::test(start_paused = true)]
async fn a_schedule_that_is_made_or_changed_just_before_its_slot_is_in_time() {
    let house = House::new().await;
    reach(&house, "00:00:59.990").await;
    let made = plan(&house, "* * * * *", json!({})).await;
    reach(&house, "00:01:00.010").await;
    assert_eq!(told(&house, &made).await, ["01 00:01 fired"]);
    change(&house, &made, json!({ "cron": "0 12 * * *" })).await;
    reach(&house, "00:02:59.995").await;
    change(&house, &made, json!({ "cron": "3 * * * *" })).await;
    reach(&house, "00:03:00.005").await;
    assert_eq!(told(&house, &made).await, ["01 00:01 fired", "01 00:03 fired"]);
    assert_eq!(lines(&house, &made).await[0]["late_s"], 0);
    assert_eq!(house.ask("DELETE", &path(&made), None).await.status, 204);
    house.clock.sleep(Duration::from_hours(2)).await;
    assert_eq!(runs(&house, &made).await.len(), 2);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn what_became_of_slots_is_counted_for_the_operator() {
    let house = House::new().await;
    let made = plan(&house, "* * * * *", json!({ "ms": 90_000, "do": "hang" })).await;
    reach(&house, "00:02:30").await;
    house.clock.step(super::plans::HOUR_MS);
    house.clock.sleep(Duration::from_secs(5)).await;
    let [fired, skipped, missed] = counts(&house, &made).await;
    let page = house.metrics().get("/metrics").await.text;
    let value = |outcome: &str| {
        let line = format!("errand_slots_total{{outcome=\"{outcome}\"}} ");
        let found = page.lines().find_map(|it| it.strip_prefix(line.as_str()));
        found.unwrap_or_else(|| panic!("no {line} in {page}")).parse::<u64>().unwrap()
    };
    assert_eq!(["fired", "skipped", "missed"].map(value), [fired, skipped, missed]);
    assert!(missed > 50, "{missed}");
}
