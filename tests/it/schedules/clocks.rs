//! A wall clock that is set while schedules wait.
//!
//! Source: the promise P13: a clock that is set back or forward loses nothing and repeats nothing.

use std::time::Duration;

use serde_json::{Value, json};

use super::plans::{HOUR_MS, MINUTE, change, counts, lines, look, plan, reach, runs, told};
use crate::support::{House, RUNS};

const YEAR_MS: i64 = 365 * 24 * HOUR_MS;

/// Every slot has become at most one run, and the log and the counts say so.
async fn check_once(house: &House, plan: &Value) -> usize {
    let runs = runs(house, plan).await;
    let mut slots: Vec<_> = runs.iter().map(|it| it["scheduled_for"].to_string()).collect();
    let all = slots.len();
    slots.sort_unstable();
    slots.dedup();
    assert_eq!(slots.len(), all, "a slot has fired twice: {runs:#?}");
    assert_eq!(counts(house, plan).await[0], all as u64);
    house.examine().await;
    all
}

/// S5.
#[tokio::test(start_paused = true)]
async fn an_hour_back_fires_no_slot_twice_and_goes_on_with_the_first_that_did_not_fire() {
    let house = House::new().await;
    reach(&house, "10:29:30").await;
    let made = plan(&house, "*/10 * * * *", json!({})).await;
    reach(&house, "11:05:00").await;
    assert_eq!(runs(&house, &made).await.len(), 4);
    house.clock.step(-HOUR_MS);
    // Now it is 10:05; 10:10 and 10:20 never came, 10:30 to 11:00 have fired.
    house.clock.sleep(Duration::from_secs(2)).await;
    assert_eq!(look(&house, &made).await["next_run_at"], "2026-01-01T10:10:00.000+00:00");
    reach(&house, "11:21:00").await;
    let expected = ["10:10", "10:20", "10:30", "10:40", "10:50", "11:00", "11:10", "11:20"];
    assert_eq!(told(&house, &made).await, expected.map(|it| format!("01 {it} fired")));
    assert_eq!(check_once(&house, &made).await, 8);
}

/// S5: whatever the step, the next slot comes at its time.
#[tokio::test(start_paused = true)]
async fn a_step_back_leaves_no_gap() {
    for step in [1_000, 2_500, 61_000, HOUR_MS, 24 * HOUR_MS, YEAR_MS] {
        let house = House::new().await;
        let made = plan(&house, "* * * * *", json!({})).await;
        // The schedule is a minute old: all that comes after the step is new but its one slot.
        reach(&house, "00:01:30").await;
        house.clock.step(-step);
        house.clock.sleep(10 * MINUTE).await;
        let all = check_once(&house, &made).await;
        assert!((10..=11).contains(&all), "{step}: {all}");
    }
}

/// A slot that lies between the step and the moment when it is noticed is not lost.
#[tokio::test(start_paused = true)]
async fn a_step_back_to_right_before_a_slot_does_not_lose_it() {
    for millis in [1, 300, 999] {
        let house = House::new().await;
        reach(&house, "02:00:30").await;
        let made = plan(&house, "0 * * * *", json!({})).await;
        reach(&house, "03:00:30.700").await;
        // Back to right before 01:00.
        house.clock.step(-2 * HOUR_MS - 30_700 - millis);
        house.clock.sleep(Duration::from_secs(5)).await;
        assert_eq!(told(&house, &made).await, ["01 01:00 fired", "01 03:00 fired"], "{millis}");
        check_once(&house, &made).await;
    }
}

/// S6.
#[tokio::test(start_paused = true)]
async fn an_hour_forward_fires_once_and_goes_on() {
    let house = House::new().await;
    let made = plan(&house, "*/10 * * * *", json!({})).await;
    reach(&house, "00:11:00").await;
    house.clock.step(HOUR_MS);
    house.clock.sleep(2 * MINUTE).await;
    assert_eq!(
        told(&house, &made).await,
        ["01 00:10 fired", "01 01:00 missed x5", "01 01:10 fired"]
    );
    reach(&house, "01:20:30").await;
    assert_eq!(counts(&house, &made).await, [3, 0, 5]);
    check_once(&house, &made).await;
}

/// S7.
#[tokio::test(start_paused = true)]
async fn a_clock_that_was_years_ahead_for_a_while_costs_one_late_run() {
    let house = House::new().await;
    let made = plan(&house, "*/5 * * * *", json!({})).await;
    reach(&house, "00:06:00").await;
    house.clock.step(5 * YEAR_MS);
    house.clock.sleep(Duration::from_secs(90)).await;
    house.clock.step(-5 * YEAR_MS);
    house.clock.sleep(Duration::from_secs(2)).await;
    // Alive again within two seconds.
    assert_eq!(look(&house, &made).await["next_run_at"], "2026-01-01T00:10:00.000+00:00");
    reach(&house, "00:20:30").await;
    let told = told(&house, &made).await;
    assert_eq!(told[..4], ["05", "10", "15", "20"].map(|it| format!("01 00:{it} fired")));
    // The last slot before the clock was right again, and all that lay between.
    assert_eq!((told.len(), counts(&house, &made).await), (6, [5, 0, 525_599]));
    assert_eq!(check_once(&house, &made).await, 5);
    let ids: Vec<_> = runs(&house, &made).await.iter().map(|it| it["id"].to_string()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

/// S7, the other way round, and with a restart while the clock is wrong.
#[tokio::test(start_paused = true)]
async fn a_clock_that_was_years_behind_for_a_while_repeats_nothing() {
    let mut house = House::new().await;
    let made = plan(&house, "*/5 * * * *", json!({})).await;
    reach(&house, "00:06:00").await;
    house.clock.step(-5 * YEAR_MS);
    house.restart().await;
    house.clock.sleep(10 * MINUTE).await;
    assert_eq!(counts(&house, &made).await, [3, 0, 0]);
    house.clock.step(5 * YEAR_MS);
    house.clock.sleep(Duration::from_secs(5)).await;
    let [fired, _, missed] = counts(&house, &made).await;
    assert_eq!((fired, missed), (4, 525_598));
    reach(&house, "00:20:30").await;
    assert_eq!(check_once(&house, &made).await, 5);
}

/// Slots that were decided while the clock was ahead do not hide those before them.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_again_and_again_hides_no_slot() {
    let house = House::new().await;
    let made = plan(&house, "*/10 * * * *", json!({})).await;
    house.clock.step(10 * HOUR_MS);
    house.clock.sleep(31 * MINUTE).await;
    // 10:00 to 10:30 have fired, 00:10 to 09:50 were counted. Back to 08:31, where 08:40 fires,
    // and then forward to 10:35.
    house.clock.step(-2 * HOUR_MS);
    reach(&house, "08:45:00").await;
    house.clock.step(110 * 60_000);
    house.clock.sleep(Duration::from_secs(5)).await;
    let expected = [
        "08:40 fired",
        "09:30 missed x5",
        "09:40 fired",
        "09:50 missed x59",
        "10:00 fired",
        "10:10 fired",
        "10:20 fired",
        "10:30 fired",
    ];
    assert_eq!(told(&house, &made).await, expected.map(|it| format!("01 {it}")));
    check_once(&house, &made).await;
}

/// S8: a machine that was asleep finds as much as one that was off.
#[tokio::test(start_paused = true)]
async fn eight_hours_of_sleep_cost_one_late_run_within_seconds() {
    let house = House::new().await;
    let made = plan(&house, "*/5 * * * *", json!({})).await;
    reach(&house, "00:02:00").await;
    house.clock.step(8 * HOUR_MS);
    house.clock.sleep(Duration::from_secs(3)).await;
    assert_eq!(told(&house, &made).await, ["01 07:55 missed x95", "01 08:00 fired"]);
    assert_eq!(lines(&house, &made).await[0]["late_s"].as_u64().unwrap() / 10, 12);
    check_once(&house, &made).await;
}

/// S9: a second that comes twice, or a minute of 59 or 61 seconds.
#[tokio::test(start_paused = true)]
async fn a_leap_second_makes_no_minute_twice() {
    for (step, time) in [
        (-1_000, "00:04:59.900"),
        (-1_000, "00:05:00.100"),
        (-1_000, "00:05:00.999"),
        (1_000, "00:04:59.500"),
        (-200, "00:05:00.100"),
        (-2_001, "00:05:00.500"),
    ] {
        let house = House::new().await;
        let made = plan(&house, "* * * * *", json!({})).await;
        reach(&house, time).await;
        house.clock.step(step);
        reach(&house, "00:08:30").await;
        let expected: Vec<_> = (1..=8).map(|it| format!("01 00:0{it} fired")).collect();
        assert_eq!(told(&house, &made).await, expected, "{step} {time}");
        check_once(&house, &made).await;
    }
}

/// A change while the clock is wrong counts from the wrong time on, and from the right one again.
#[tokio::test(start_paused = true)]
async fn a_change_while_the_clock_is_wrong_does_not_outlive_it() {
    let house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({})).await;
    house.clock.step(YEAR_MS);
    house.clock.sleep(Duration::from_secs(3)).await;
    change(&house, &made, json!({ "cron": "*/10 * * * *" })).await;
    house.clock.step(-YEAR_MS);
    house.clock.sleep(Duration::from_secs(3)).await;
    let found = look(&house, &made).await;
    assert_eq!(found["next_run_at"], "2026-01-01T00:10:00.000+00:00");
    reach(&house, "00:30:30").await;
    assert_eq!(check_once(&house, &made).await, 4);
}

/// A log that is full, gaps, and a step back over all of it: no slot is paid for twice.
#[tokio::test(start_paused = true)]
async fn a_day_back_past_a_full_log_fires_no_slot_twice() {
    let mut house = House::with(1, |it| it.runs.retention = None).await;
    let (account, key) = house.tenant("rich", "100").await;
    (house.account, house.key) = (account, key);
    let made = plan(&house, "* * * * *", json!({})).await;
    reach(&house, "09:00:30").await;
    house.stop().await;
    reach(&house, "09:05:30").await;
    house.start().await;
    reach(&house, "09:30:30").await;
    change(&house, &made, json!({ "enabled": false })).await;
    reach(&house, "09:40:30").await;
    change(&house, &made, json!({ "enabled": true })).await;
    change(&house, &made, json!({ "cron": "*/2 * * * *" })).await;
    reach(&house, "10:00:30").await;
    change(&house, &made, json!({ "cron": "* * * * *" })).await;
    let before = counts(&house, &made).await;
    assert_eq!(before, [540 + 1 + 25 + 10, 0, 4]);
    house.clock.step(-10 * HOUR_MS);
    house.clock.sleep(Duration::from_secs(3)).await;
    // The first slot that never became a run is one of those for which nobody was there.
    assert_eq!(look(&house, &made).await["next_run_at"], "2026-01-01T09:01:00.000+00:00");
    reach(&house, "10:05:30").await;
    // 09:01 to 09:03 and 09:31 to 09:41 had not fired; the odd minutes after that were passed over
    // by the other expression. Five are new.
    let after = counts(&house, &made).await;
    assert_eq!(after, [before[0] + 3 + 11 + 5, 0, 4]);
    // The log shows what was decided last, wherever the clock was.
    let log = lines(&house, &made).await;
    assert_eq!(log[0]["scheduled_for"], "2026-01-01T10:05:00.000+00:00");
    let page = house.client().get(&format!("{RUNS}?limit=1&status=succeeded")).await.json();
    assert_eq!(page["total"], after[0]);
    house.examine().await;
}
