//! What a run of a schedule compares with: what the last one has left.
//!
//! Source: the contract, sections 6 and 7.

use serde_json::{Value, json};

use super::plans::{change, path, plan, reach, run_now, runs};
use crate::support::{House, Lives, Loss};

async fn outputs(house: &House, plan: &Value) -> Vec<String> {
    let runs = runs(house, plan).await;
    runs.iter().map(|it| it["output"].as_str().unwrap_or("-").to_owned()).collect()
}

async fn keeps(house: &House, plan: &Value, say: &str, keep: &str) {
    let input = json!({ "input": { "say": say, "keep": keep } });
    change(house, plan, input).await;
}

#[tokio::test(start_paused = true)]
async fn each_run_compares_with_what_the_last_one_has_left() {
    let mut house = House::new().await;
    let made = plan(&house, "* * * * *", json!({ "say": "a", "keep": "A" })).await;
    reach(&house, "00:01:10").await;
    keeps(&house, &made, "b", "B").await;
    reach(&house, "00:02:10").await;
    house.restart().await;
    change(&house, &made, json!({ "input": { "say": "c" } })).await;
    reach(&house, "00:04:10").await;
    assert_eq!(outputs(&house, &made).await, ["a", "b after A", "c after B", "c after B"]);
    house.examine().await;
}

/// Run-now is a run of the schedule: a change can be tried without waiting.
#[tokio::test(start_paused = true)]
async fn a_run_now_compares_and_leaves_a_baseline_as_a_slot_does() {
    let house = House::new().await;
    let made = plan(&house, "5 * * * *", json!({ "say": "a", "keep": "A" })).await;
    house.over(&run_now(&house, &made).await).await;
    keeps(&house, &made, "b", "B").await;
    house.over(&run_now(&house, &made).await).await;
    keeps(&house, &made, "c", "C").await;
    reach(&house, "00:05:10").await;
    assert_eq!(outputs(&house, &made).await, ["a", "b after A", "c after B"]);
    let quiet = json!({ "input": { "do": "no_signal", "say": "d", "keep": "D" } });
    change(&house, &made, quiet).await;
    let over = house.over(&run_now(&house, &made).await).await;
    assert_eq!((&over["status"], &over["trigger"]), (&json!("no_signal"), &json!("run_now")));
    assert_eq!(over["cost"], "0.02");
    keeps(&house, &made, "e", "E").await;
    house.over(&run_now(&house, &made).await).await;
    assert_eq!(outputs(&house, &made).await[3..], ["d after C", "e after D"]);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn runs_that_are_asked_for_and_other_schedules_have_nothing_of_it() {
    let house = House::new().await;
    let made = plan(&house, "* * * * *", json!({ "say": "a", "keep": "A" })).await;
    let other = plan(&house, "*/2 * * * *", json!({ "say": "other" })).await;
    reach(&house, "00:01:10").await;
    let asked = house.run(json!({ "say": "asked", "keep": "X" })).await;
    assert_eq!(house.over(&asked).await["output"], "asked");
    reach(&house, "00:02:10").await;
    assert_eq!(outputs(&house, &made).await, ["a", "a after A"]);
    assert_eq!(outputs(&house, &other).await, ["other"]);
    house.examine().await;
}

/// What a failed run has left counts only when it has left something.
#[tokio::test(start_paused = true)]
async fn a_run_that_leaves_nothing_leaves_the_baseline_as_it_was() {
    let house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({ "say": "a", "keep": "A" })).await;
    house.over(&run_now(&house, &made).await).await;
    for how in ["panic", "hang"] {
        change(&house, &made, json!({ "input": { "do": how, "keep": "X" } })).await;
        house.over(&run_now(&house, &made).await).await;
    }
    let large = "x".repeat(60_000);
    change(&house, &made, json!({ "input": { "say": "b", "do": "fail" } })).await;
    house.over(&run_now(&house, &made).await).await;
    keeps(&house, &made, "c", &large).await;
    house.over(&run_now(&house, &made).await).await;
    let found = outputs(&house, &made).await;
    assert_eq!(
        (found.first().unwrap().as_str(), found.last().unwrap().as_str()),
        ("a", "c after A")
    );
    house.examine().await;
}

/// A schedule that is gone takes its baseline with it, also from a run that is under way.
#[tokio::test(start_paused = true)]
async fn a_deleted_schedule_keeps_no_baseline() {
    let house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({ "keep": "A" })).await;
    house.over(&run_now(&house, &made).await).await;
    change(&house, &made, json!({ "input": { "keep": "B", "ms": 5_000 } })).await;
    let run = run_now(&house, &made).await;
    house.settle().await;
    assert_eq!(house.ask("DELETE", &path(&made), None).await.status, 204);
    assert_eq!(house.over(&run).await["status"], "succeeded");
    // The doctor names baselines without a schedule.
    house.examine().await;
}

/// The baseline is kept in the commit that ends the run: both are there, or neither.
#[test]
fn a_death_at_the_end_of_a_run_keeps_its_end_and_its_baseline_together() {
    for acts in 0..16 {
        let mut lives = Lives::new(1, |_| {});
        let (made, run) = lives.live(async |house| {
            let made = plan(house, "0 * * * *", json!({ "say": "a", "keep": "A" })).await;
            house.over(&run_now(house, &made).await).await;
            let input = json!({ "say": "b", "keep": "B", "ms": 500 });
            change(house, &made, json!({ "input": input })).await;
            let run = run_now(house, &made).await;
            house.settle().await;
            house.disk.cut_after(acts, Loss::OfPower);
            house.clock.sleep(std::time::Duration::from_secs(1)).await;
            house.disk.was_cut();
            (made, run)
        });
        lives.kill();
        lives.live(async |house| {
            assert_eq!(house.over(&run).await["output"], "b after A", "{acts}");
            change(house, &made, json!({ "input": { "say": "c" } })).await;
            let last = run_now(house, &made).await;
            assert_eq!(house.over(&last).await["output"], "c after B", "{acts}");
            house.examine().await;
        });
    }
}
