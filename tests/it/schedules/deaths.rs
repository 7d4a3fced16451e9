//! A daemon that dies around a slot: the slot is decided once, and its run is there.
//!
//! Source: the contract, section 7; faults S1, S2 and S14.

use serde_json::json;

use super::plans::{look, plan, reach, runs, told};
use crate::support::{Lives, Loss};

/// S1 and S2: whichever of the writes around a slot is the last one.
#[test]
fn a_death_around_a_slot_neither_loses_nor_repeats_it() {
    for loss in [Loss::OfProcess, Loss::OfPower] {
        for acts in 0..24 {
            let mut lives = Lives::new(1, |_| {});
            let made = lives.live(async |house| {
                let made = plan(house, "* * * * *", json!({ "ms": 100 })).await;
                reach(house, "00:01:30").await;
                house.disk.cut_after(acts, loss);
                reach(house, "00:02:00.500").await;
                house.disk.was_cut();
                made
            });
            lives.kill();
            lives.live(async |house| {
                reach(house, "00:04:30").await;
                let expected: Vec<_> = (1..=4).map(|it| format!("01 00:0{it} fired")).collect();
                assert_eq!(told(house, &made).await, expected, "{loss:?} {acts}");
                let runs = runs(house, &made).await;
                assert_eq!(runs.len(), 4, "{loss:?} {acts}");
                assert!(runs.iter().all(|it| it["status"] == "succeeded"), "{runs:#?}");
                assert_eq!(house.money().await.0, "9.92");
                house.examine().await;
            });
        }
    }
}

/// S1: the daemon is down while the slot comes.
#[test]
fn a_death_before_a_slot_fires_it_when_the_daemon_is_back() {
    let mut lives = Lives::new(1, |_| {});
    let made = lives.live(async |house| {
        let made = plan(house, "0 * * * *", json!({})).await;
        reach(house, "00:59:59.999").await;
        house.disk.cut_after(0, Loss::OfPower);
        reach(house, "01:30:00").await;
        assert!(house.disk.was_cut());
        made
    });
    lives.kill();
    lives.live(async |house| {
        house.settle().await;
        assert_eq!(told(house, &made).await, ["01 01:00 fired"]);
        reach(house, "02:00:30").await;
        assert_eq!(told(house, &made).await, ["01 01:00 fired", "01 02:00 fired"]);
        house.examine().await;
    });
}

/// S14: the run that was under way is taken up again, and the schedule goes on.
#[test]
fn a_run_that_was_under_way_at_a_death_does_not_wedge_its_schedule() {
    let mut lives = Lives::new(1, |_| {});
    let made = lives.live(async |house| {
        let made = plan(house, "* * * * *", json!({ "ms": 50_000 })).await;
        reach(house, "00:01:30").await;
        assert_eq!(look(house, &made).await["last_run_status"], "running");
        made
    });
    lives.kill();
    lives.live(async |house| {
        reach(house, "00:04:55").await;
        let expected = ["00:01 fired", "00:02 skipped_overlap", "00:03 fired", "00:04 fired"];
        assert_eq!(told(house, &made).await, expected.map(|it| format!("01 {it}")));
        assert!(runs(house, &made).await.iter().all(|it| it["status"] == "succeeded"));
        house.examine().await;
    });
}

/// A change that was answered is on disk.
#[test]
fn a_death_right_after_an_answer_keeps_what_was_answered() {
    let mut lives = Lives::new(1, |_| {});
    let (made, off) = lives.live(async |house| {
        let made = plan(house, "* * * * *", json!({})).await;
        let off = plan(house, "* * * * *", json!({})).await;
        super::plans::change(house, &off, json!({ "enabled": false })).await;
        house.disk.cut_after(0, Loss::OfPower);
        house.clock.sleep(super::plans::MINUTE).await;
        (made, off)
    });
    lives.kill();
    lives.live(async |house| {
        reach(house, "00:03:30").await;
        assert_eq!(told(house, &made).await.len(), 3);
        assert_eq!(told(house, &off).await.len(), 0);
        assert_eq!(look(house, &off).await["disabled_reason"], "user");
        house.examine().await;
    });
}
