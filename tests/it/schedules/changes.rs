//! Changing and deleting a schedule: what counts from then on, and what stays.
//!
//! Source: the contract, section 7.

use std::time::Duration;

use serde_json::{Value, json};

use super::plans::{
    at, change, counts, look, path, plan, plan_as, reach, run_now, runs, told, try_change,
};
use crate::support::{House, Script, golden, shown};

#[tokio::test(start_paused = true)]
async fn a_change_answers_with_the_record() {
    let house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({})).await;
    reach(&house, "00:30:00").await;
    let body = json!({ "cron": "15 * * * *", "input": { "say": "new" }, "enabled": true });
    let reply = try_change(&house, &made, body).await;
    golden("schedules/changed.txt", &shown(&reply));
    assert_eq!(look(&house, &made).await, reply.json());
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_without_a_difference_changes_nothing() {
    let house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({ "say": "x" })).await;
    reach(&house, "00:30:00").await;
    for body in [
        json!({}),
        json!({ "cron": null, "input": null, "enabled": null }),
        json!({ "kind": null, "one_shot": null }),
        json!({ "cron": "0 * * * *", "input": { "say": "x" }, "enabled": true }),
    ] {
        assert_eq!(change(&house, &made, body.clone()).await, made, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_is_made_as_a_whole_or_not_at_all() {
    let house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({})).await;
    let fixed =
        |name: &str, value: Value| (json!({ name: value }), "not_patchable", name.to_owned());
    let mut cases = vec![
        fixed("kind", json!("seo_audit")),
        fixed("delivery_channels", json!([])),
        fixed("one_shot", json!(true)),
        fixed("overlap", json!("allow")),
        fixed("missed", json!("skip")),
        fixed("id", made["id"].clone()),
    ];
    for (body, code, param) in [
        (json!({ "cron": "x" }), "invalid_cron", "cron"),
        (json!({ "cron": 1 }), "invalid_type", "cron"),
        (json!({ "input": [] }), "invalid_type", "input"),
        (json!({ "input": { "ms": -1 } }), "invalid_input", "input.ms"),
        (json!({ "enabled": "no" }), "invalid_type", "enabled"),
        (json!({ "next_run_at": 1 }), "unknown_parameter", "next_run_at"),
    ] {
        cases.push((body, code, param.to_owned()));
    }
    for (mut body, code, param) in cases {
        let whole = json!({ "cron": "5 * * * *", "input": { "say": "y" }, "enabled": false });
        for (name, value) in whole.as_object().unwrap() {
            let body = body.as_object_mut().unwrap();
            body.entry(name.clone()).or_insert_with(|| value.clone());
        }
        let reply = try_change(&house, &made, body.clone()).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, code), "{body}");
        assert_eq!(reply.json()["error"]["param"], param, "{body}");
        assert_eq!(look(&house, &made).await, made, "{body}");
    }
    house.examine().await;
}

/// S15: the change comes before the slot, in its second, or after it; never both.
#[tokio::test(start_paused = true)]
async fn a_change_in_the_second_of_a_slot_comes_before_or_after_it() {
    for wait in [600, 999, 1_000, 1_001, 1_400] {
        for body in [json!({ "cron": "30 * * * *" }), json!({ "enabled": false })] {
            let house = House::new().await;
            let made = plan(&house, "*/10 * * * *", json!({})).await;
            reach(&house, "00:09:59").await;
            let (client, path) = (house.client(), path(&made));
            house.clock.sleep(Duration::from_millis(wait)).await;
            let changed = client.ask("PATCH", &path, Some(body.clone())).await;
            assert_eq!(changed.status, 200);
            let before = runs(&house, &made).await.len();
            assert_eq!(counts(&house, &made).await[0], before as u64);
            reach(&house, "00:29:30").await;
            assert_eq!(runs(&house, &made).await.len(), before, "{wait} {body}");
            assert!(before <= 1 && (wait < 1_400 || before == 1), "{wait} {body}");
            house.examine().await;
        }
    }
}

/// S15: many changes and the slot at the same instant.
#[tokio::test(start_paused = true)]
async fn after_the_answer_to_a_change_no_slot_of_the_old_expression_fires() {
    let house = House::with(1, |it| it.queue.workers = 0).await;
    let mut plans = Vec::new();
    for _ in 0..40 {
        plans.push(plan(&house, "10 * * * *", json!({})).await);
    }
    let mut asking = tokio::task::JoinSet::new();
    for (number, it) in plans.iter().enumerate() {
        let (client, path, clock) = (house.client(), path(it), house.clock.clone());
        asking.spawn(async move {
            clock.sleep(at("00:10:00").since(clock.now())).await;
            if number % 3 == 0 {
                tokio::task::yield_now().await;
            }
            let reply = client.ask("PATCH", &path, Some(json!({ "cron": "20 * * * *" }))).await;
            assert_eq!(reply.status, 200, "{}", reply.raw);
            (number, reply.json()["counts"]["fired"].as_u64().unwrap())
        });
    }
    while let Some(done) = asking.join_next().await {
        let (number, fired) = done.unwrap();
        assert_eq!(runs(&house, &plans[number]).await.len() as u64, fired, "{number}");
    }
    reach(&house, "00:19:00").await;
    for it in &plans {
        let [fired, skipped, missed] = counts(&house, it).await;
        assert!(fired <= 1 && skipped == 0 && missed == 0, "{fired}");
        assert_eq!(runs(&house, it).await.len() as u64, fired);
        assert_eq!(look(&house, it).await["next_run_at"], "2026-01-01T00:20:00.000+00:00");
    }
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn another_input_is_that_of_later_runs() {
    let house = House::new().await;
    let made = plan(&house, "* * * * *", json!({ "say": "old", "ms": 30_000 })).await;
    reach(&house, "00:01:10").await;
    change(&house, &made, json!({ "input": { "say": "new" } })).await;
    reach(&house, "00:02:10").await;
    let said: Vec<_> = runs(&house, &made).await.iter().map(|it| it["output"].clone()).collect();
    assert_eq!(said, ["old", "new"]);
    house.examine().await;
}

/// S16.
#[tokio::test(start_paused = true)]
async fn what_passed_while_a_schedule_was_disabled_is_not_made_up_for() {
    let mut house = House::new().await;
    let made = plan(&house, "*/5 * * * *", json!({})).await;
    let off = change(&house, &made, json!({ "enabled": false })).await;
    assert_eq!((&off["next_run_at"], &off["disabled_reason"]), (&Value::Null, &json!("user")));
    reach(&house, "02 00:02:00").await;
    house.restart().await;
    reach(&house, "04 00:02:00").await;
    let on = change(&house, &made, json!({ "enabled": true })).await;
    assert_eq!(on["next_run_at"], "2026-01-04T00:05:00.000+00:00");
    assert_eq!(on["disabled_reason"], Value::Null);
    house.clock.sleep(super::plans::MINUTE).await;
    assert_eq!(told(&house, &made).await, Vec::<String>::new());
    reach(&house, "04 00:05:30").await;
    assert_eq!(told(&house, &made).await, ["04 00:05 fired"]);
    house.examine().await;
}

/// S17.
#[tokio::test(start_paused = true)]
async fn to_enable_twice_and_to_save_twice_fires_once() {
    let house = House::new().await;
    let made = plan(&house, "*/5 * * * *", json!({})).await;
    for _ in 0..2 {
        change(&house, &made, json!({ "enabled": true })).await;
        change(&house, &made, json!({ "cron": "*/5 * * * *", "input": {} })).await;
    }
    reach(&house, "00:05:00.500").await;
    for _ in 0..2 {
        change(&house, &made, json!({ "enabled": true })).await;
        change(&house, &made, json!({ "enabled": false })).await;
        change(&house, &made, json!({ "enabled": true, "cron": "*/5 * * * *" })).await;
    }
    reach(&house, "00:06:00").await;
    assert_eq!(told(&house, &made).await, ["01 00:05 fired"]);
    assert_eq!(runs(&house, &made).await.len(), 1);
    house.examine().await;
}

/// A slot that is due while the same expression is saved again still fires.
#[tokio::test(start_paused = true)]
async fn saving_the_same_expression_loses_no_slot() {
    let mut house = House::with(1, |it| it.schedules.is_on = false).await;
    let made = plan(&house, "0 * * * *", json!({})).await;
    reach(&house, "01:30:00").await;
    change(&house, &made, json!({ "cron": "0 * * * *", "enabled": true })).await;
    house.config.schedules.is_on = true;
    house.restart().await;
    house.settle().await;
    assert_eq!(told(&house, &made).await, ["01 01:00 fired"]);
    house.examine().await;
}

/// S19.
#[tokio::test(start_paused = true)]
async fn a_deleted_schedule_leaves_its_runs_waiting_and_running() {
    let house = House::with(1, |it| it.queue.workers = 1).await;
    let body = json!({ "input": { "ms": 30_000 }, "overlap": "allow" });
    let made = plan_as(&house, &house.key, "* * * * *", body).await;
    reach(&house, "00:01:10").await;
    run_now(&house, &made).await;
    let before = runs(&house, &made).await;
    let states: Vec<_> = before.iter().map(|it| it["status"].clone()).collect();
    assert_eq!(states, ["running", "pending"]);
    let reply = house.ask("DELETE", &path(&made), None).await;
    golden("schedules/deleted.txt", &shown(&reply));
    for method in ["GET", "DELETE", "PATCH"] {
        let body = (method == "PATCH").then(|| json!({}));
        assert_eq!(house.ask(method, &path(&made), body).await.status, 404, "{method}");
    }
    reach(&house, "00:05:00").await;
    let after = runs(&house, &made).await;
    assert_eq!(after.len(), 2);
    for run in &after {
        assert_eq!((&run["status"], &run["schedule_id"]), (&json!("succeeded"), &made["id"]));
    }
    assert_eq!(house.money().await.0, "9.96");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_run_of_a_schedule_leaves_its_line() {
    let house = House::new().await;
    let made = plan(&house, "* * * * *", json!({})).await;
    reach(&house, "00:01:10").await;
    let run = runs(&house, &made).await.remove(0);
    assert_eq!(house.ask("DELETE", &crate::support::path_of(&run), None).await.status, 204);
    let found = look(&house, &made).await;
    assert_eq!((&found["last_run_id"], &found["last_run_status"]), (&run["id"], &Value::Null));
    assert_eq!(told(&house, &made).await, ["01 00:01 fired"]);
    house.examine().await;
}

/// A schedule whose agent is gone can be stopped and deleted, and not started.
#[tokio::test(start_paused = true)]
async fn a_schedule_of_an_agent_that_is_gone_cannot_be_started_or_run() {
    let mut house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({})).await;
    house.agents = vec![std::sync::Arc::new(Script::of("another"))];
    house.restart().await;
    let refused = |reply: crate::support::Reply| {
        assert_eq!((reply.status, reply.code().as_str()), (400, "unknown_kind"), "{}", reply.raw);
    };
    let found = look(&house, &made).await;
    assert_eq!((&found["enabled"], &found["cost_per_day"]), (&json!(true), &Value::Null));
    refused(house.ask("POST", &format!("{}/run", path(&made)), None).await);
    refused(try_change(&house, &made, json!({ "input": {} })).await);
    change(&house, &made, json!({ "cron": "5 * * * *" })).await;
    change(&house, &made, json!({ "enabled": false })).await;
    refused(try_change(&house, &made, json!({ "enabled": true })).await);
    assert_eq!(house.ask("DELETE", &path(&made), None).await.status, 204);
    house.examine().await;
}
