//! A record of a delivery or a receiver that is damaged on disk: nobody else notices.
//!
//! Source: the contract, sections 8 and 13; fault F57.

use std::time::Duration;

use errand::domain::id::{Delivery, Id, Receiver as Named};
use serde_json::{Value, json};

use super::hooks::{Hook, connect, delete, house_with, minutes, page, run, settled};
use crate::support::{Act, House, RUNS, Receiver, damage, path_of};

/// A record of one delivery, or of its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    Delivery,
    Open,
    Standing,
}

/// Flips a bit in what belongs to a line of a log.
fn harm(house: &House, record: Record, hook: &Hook, line: &Value) {
    let receiver = Id::<Named>::parse(&hook.id).unwrap();
    let id = Id::<Delivery>::parse(line["id"].as_str().unwrap()).unwrap();
    let of_receiver = [house.account.as_bytes().as_slice(), receiver.as_bytes()].concat();
    let key = [of_receiver.as_slice(), id.as_bytes()].concat();
    match record {
        Record::Delivery => damage(house, "deliveries-1", &key),
        Record::Open => damage(house, "outbox-1", &key),
        Record::Standing => damage(house, "standings-1", &of_receiver),
    }
}

/// A house of `errand serve` with twelve receivers that take a second, so that their results are
/// recorded together.
async fn twelve() -> (House, Receiver, Vec<Hook>) {
    let house = House::with(1, |it| {
        minutes(it);
        it.webhooks.rules.receivers = 12;
    })
    .await;
    let receiver =
        Receiver::new(&house.clock, Act::Slow(1_000, 204)).plain(&house.internet, "a.example");
    let mut hooks = Vec::new();
    for number in 0..12 {
        hooks.push(connect(&house, &format!("http://a.example/{number}")).await);
    }
    (house, receiver, hooks)
}

async fn total(house: &House, hook: &Hook, status: &str) -> u64 {
    let page = page(house, hook, &format!("limit=1&status={status}")).await;
    page["total"].as_u64().unwrap()
}

/// All others were told, what is damaged can be deleted, and nothing of it is left.
async fn check_others(house: &House, hooks: &[Hook], over: &Value, told: u64, what: &str) {
    for hook in &hooks[1..] {
        assert_eq!(total(house, hook, "delivered").await, told, "{what}");
    }
    // The same receiver goes on, too.
    let next = run(house, json!({})).await;
    house.clock.sleep(Duration::from_mins(2)).await;
    let path = format!("{}/deliveries?limit=1", hooks[0].path());
    let newest = house.ask("GET", &path, None).await.json()["data"][0].clone();
    assert_eq!(
        (&newest["run_id"], &newest["status"]),
        (&next["id"], &json!("delivered")),
        "{what}"
    );
    let reply = house.ask("DELETE", &path_of(over), None).await;
    assert_eq!(reply.status, 204, "{what}: {}", reply.raw);
    for hook in hooks {
        delete(house, hook).await;
    }
    house.examine().await;
}

/// It is damaged while it waits for its first attempt.
#[tokio::test(start_paused = true)]
async fn a_damaged_record_keeps_nobody_elses_results_from_being_recorded() {
    for record in [Record::Delivery, Record::Open, Record::Standing] {
        let (mut house, receiver, hooks) = twelve().await;
        let over = run(&house, json!({})).await;
        let line = page(&house, &hooks[0], "").await["data"][0].clone();
        house.stop().await;
        harm(&house, record, &hooks[0], &line);
        house.start().await;
        house.clock.sleep(Duration::from_mins(2)).await;
        let sent = if record == Record::Standing { 12 } else { 11 };
        assert_eq!(receiver.count(), sent, "{record:?}");
        check_others(&house, &hooks, &over, 1, &format!("{record:?}")).await;
    }
}

/// What waits for a receiver is cancelled with it, also when one of it cannot be read.
#[tokio::test(start_paused = true)]
async fn a_receiver_with_a_damaged_record_can_be_disabled() {
    for record in [Record::Delivery, Record::Open, Record::Standing] {
        let (mut house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
        let over = run(&house, json!({})).await;
        let line = page(&house, &hook, "").await["data"][0].clone();
        let next = run(&house, json!({})).await;
        house.stop().await;
        harm(&house, record, &hook, &line);
        house.start().await;
        delete(&house, &hook).await;
        house.clock.sleep(Duration::from_mins(2)).await;
        let cancelled = if record == Record::Standing { 2 } else { 1 };
        assert_eq!(total(&house, &hook, "cancelled").await, cancelled, "{record:?}");
        assert_eq!(receiver.count(), 0, "{record:?}");
        for run in [&over, &next] {
            assert_eq!(house.ask("DELETE", &path_of(run), None).await.status, 204, "{record:?}");
        }
        house.examine().await;
    }
}

/// It is damaged while an attempt is under way, and the daemon dies: the next start counts the
/// attempts of all.
#[tokio::test(start_paused = true)]
async fn a_damaged_record_of_an_interrupted_attempt_does_not_keep_the_daemon_down() {
    for record in [Record::Delivery, Record::Open, Record::Standing] {
        let (mut house, receiver, hooks) = twelve().await;
        receiver.always(Act::Hang);
        let over = run(&house, json!({})).await;
        receiver.wait(12).await;
        let line = page(&house, &hooks[0], "").await["data"][0].clone();
        house.forget().unwrap().stop(Duration::from_millis(1)).await;
        harm(&house, record, &hooks[0], &line);
        receiver.always(Act::Slow(1_000, 204));
        house.start().await;
        house.clock.sleep(Duration::from_mins(3)).await;
        let sent = if record == Record::Standing { 24 } else { 23 };
        assert_eq!(receiver.count(), sent, "{record:?}");
        check_others(&house, &hooks, &over, 1, &format!("{record:?}")).await;
    }
}

/// What cannot be read stays, for the doctor to name, and everything else is forgotten in time.
#[tokio::test(start_paused = true)]
async fn a_damaged_record_does_not_stop_what_is_old_from_being_forgotten() {
    const HOUR: Duration = Duration::from_hours(1);
    let (mut house, _receiver, hook) = house_with(Act::Answer(204), |it| {
        it.runs.retention = Some(3 * HOUR);
        it.webhooks.rules.retention = HOUR;
    })
    .await;
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.push(run(&house, json!({})).await);
    }
    settled(&house, &[&hook]).await;
    let (_, other) = house.tenant("second", "1").await;
    house.run_as(&other, json!({})).await;
    let lines = page(&house, &hook, "").await["data"].as_array().unwrap().clone();
    house.stop().await;
    harm(&house, Record::Delivery, &hook, &lines[4]);
    let damaged = Id::<errand::domain::id::Run>::parse(runs[1]["id"].as_str().unwrap()).unwrap();
    let key = [house.account.as_bytes().as_slice(), damaged.as_bytes()].concat();
    damage(&house, "runs-1", &key);
    house.start().await;
    house.clock.sleep(2 * HOUR).await;
    // The log has lost all but the damaged line, which is not shown.
    let left = page(&house, &hook, "").await;
    assert_eq!((&left["total"], &left["data"]), (&json!(1), &json!([])), "{left}");
    house.clock.sleep(2 * HOUR).await;
    assert_eq!(house.ask_as(&other, "GET", RUNS, None).await.json()["total"], 0);
    let left = house.ask("GET", RUNS, None).await.json();
    assert_eq!((&left["total"], &left["data"]), (&json!(1), &json!([])), "{left}");
    // It went with its run.
    assert_eq!(page(&house, &hook, "").await["total"], 0);
    assert_eq!(house.ask("GET", &path_of(&runs[1]), None).await.status, 500);
}
