//! Slots for which nobody was there: the latest becomes a late run, the others are counted.
//!
//! Source: the contract, section 7: a missed instant fires at most once, late.

use std::time::Duration;

use serde_json::json;

use super::plans::{counts, lines, look, plan, plan_as, reach, runs, told};
use crate::support::{House, Trouble};

/// A house that is down from 00:01 until then.
async fn down_until(house: &mut House, time: &str) {
    reach(house, "00:01:00").await;
    house.stop().await;
    reach(house, time).await;
    house.start().await;
    house.clock.sleep(Duration::from_secs(2)).await;
}

/// S3, for one.
#[tokio::test(start_paused = true)]
async fn three_days_down_are_one_late_run_and_a_number() {
    let mut house = House::new().await;
    let made = plan(&house, "*/5 * * * *", json!({ "say": "late" })).await;
    down_until(&mut house, "04 00:01:00").await;
    assert_eq!(told(&house, &made).await, ["03 23:55 missed x863", "04 00:00 fired"]);
    assert_eq!(counts(&house, &made).await, [1, 0, 863]);
    let found = look(&house, &made).await;
    assert_eq!(found["last_skip"]["reason"], "missed");
    assert_eq!(found["next_run_at"], "2026-01-04T00:05:00.000+00:00");
    let run = &runs(&house, &made).await[0];
    assert_eq!(run["scheduled_for"], "2026-01-04T00:00:00.000+00:00");
    assert_eq!(lines(&house, &made).await[0]["late_s"], 60);
    house.examine().await;
}

/// S4.
#[tokio::test(start_paused = true)]
async fn a_slot_is_made_up_for_only_within_the_window() {
    for (window_h, expected) in
        [(24, "02 06:00 fired"), (19, "02 06:00 fired"), (17, "02 06:00 missed")]
    {
        let window = Duration::from_hours(window_h);
        let mut house = House::with(1, |it| it.schedules.rules.missed_window = window).await;
        let made = plan(&house, "0 6 * * *", json!({})).await;
        down_until(&mut house, "03 00:00:00").await;
        assert_eq!(told(&house, &made).await, ["01 06:00 missed", expected], "{window_h}");
        reach(&house, "03 06:00:30").await;
        assert_eq!(told(&house, &made).await[2..], ["03 06:00 fired"]);
        house.examine().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_schedule_can_refuse_late_runs() {
    let mut house = House::new().await;
    let body = json!({ "missed": "skip" });
    let made = plan_as(&house, &house.key, "*/5 * * * *", body).await;
    down_until(&mut house, "01:01:00").await;
    assert_eq!(told(&house, &made).await, ["01 00:55 missed x11", "01 01:00 missed"]);
    assert_eq!(counts(&house, &made).await, [0, 0, 12]);
    reach(&house, "01:05:30").await;
    assert_eq!(counts(&house, &made).await, [1, 0, 12]);
    // Less than a minute late is not late.
    house.stop().await;
    reach(&house, "01:10:55").await;
    house.start().await;
    house.settle().await;
    assert_eq!(counts(&house, &made).await, [2, 0, 12]);
    house.examine().await;
}

/// S12: no task of the daemon has run for 90 seconds.
#[tokio::test(start_paused = true)]
async fn a_daemon_that_stood_still_fires_late_once() {
    let house = House::new().await;
    let made = plan(&house, "* * * * *", json!({})).await;
    reach(&house, "00:01:30").await;
    tokio::time::advance(Duration::from_secs(90)).await;
    house.clock.sleep(Duration::from_millis(100)).await;
    assert_eq!(told(&house, &made).await, ["01 00:01 fired", "01 00:02 missed", "01 00:03 fired"]);
    reach(&house, "00:03:30").await;
    tokio::time::advance(Duration::from_secs(55)).await;
    reach(&house, "00:05:30").await;
    let told = told(&house, &made).await;
    assert_eq!(told[3..], ["01 00:04 fired", "01 00:05 fired"]);
    house.examine().await;
}

/// A late run stands behind what was asked for and what is in time.
#[tokio::test(start_paused = true)]
async fn late_runs_come_last() {
    let mut house = House::with(1, |it| it.queue.workers = 0).await;
    plan(&house, "0 1 * * *", json!({ "say": "late" })).await;
    plan(&house, "0 4 * * *", json!({ "say": "in time" })).await;
    down_until(&mut house, "03:59:50").await;
    reach(&house, "04:00:05").await;
    house.run(json!({ "say": "asked" })).await;
    house.config.queue.workers = 1;
    house.restart().await;
    house.clock.sleep(Duration::from_secs(5)).await;
    assert_eq!(house.script.begun(), ["asked", "in time", "late"]);
}

/// A disk that is full: nothing is decided until there is space, and the log says why.
#[tokio::test(start_paused = true)]
async fn slots_that_a_full_disk_has_kept_back_say_so() {
    for (trouble, verdict) in [(Trouble::Full, "skipped_storage"), (Trouble::Broken, "missed")] {
        let house = House::new().await;
        let made = plan(&house, "*/5 * * * *", json!({})).await;
        let never = plan_as(&house, &house.key, "2 * * * *", json!({ "missed": "skip" })).await;
        reach(&house, "00:01:00").await;
        house.disk.fail(trouble);
        reach(&house, "00:21:00").await;
        assert_eq!(counts(&house, &made).await, [0, 0, 0], "{trouble:?}");
        house.disk.heal();
        house.clock.sleep(Duration::from_secs(5)).await;
        let expected = [format!("01 00:15 {verdict} x3"), "01 00:20 fired".to_owned()];
        assert_eq!(told(&house, &made).await, expected);
        assert_eq!(told(&house, &never).await, [format!("01 00:02 {verdict}")]);
        assert_eq!(counts(&house, &never).await, [0, 0, 1]);
        reach(&house, "00:25:30").await;
        assert_eq!(told(&house, &made).await[2..], ["01 00:25 fired"]);
        house.examine().await;
    }
}

/// A commit that is on disk although its sync failed is not decided again.
#[tokio::test(start_paused = true)]
async fn a_decision_whose_sync_has_failed_counts_once() {
    for number in 1..=4 {
        let house = House::new().await;
        let made = plan(&house, "* * * * *", json!({})).await;
        reach(&house, "00:00:59").await;
        house.disk.fail_sync(number);
        reach(&house, "00:04:30").await;
        let expected: Vec<_> = (1..=4).map(|it| format!("01 00:0{it} fired")).collect();
        assert_eq!(told(&house, &made).await, expected, "{number}");
        assert_eq!(runs(&house, &made).await.len(), 4, "{number}");
        house.examine().await;
    }
}
