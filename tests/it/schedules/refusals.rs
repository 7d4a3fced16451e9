//! What is refused: wrong fields, wrong expressions, too many, no right, and ids that lead nowhere.
//!
//! Source: the contract, sections 2 and 7.

use std::sync::Arc;

use serde_json::{Value, json};

use super::plans::{SCHEDULES, path, plan, plan_as, reach, run_now, runs};
use crate::support::{House, KIND, Script, golden, shown};

#[tokio::test(start_paused = true)]
async fn wrong_fields_are_named() {
    let mut house = House::new().await;
    house.agents.push(Arc::new(Script::of("asked").on_request_only()));
    let price = errand::domain::money::Amount::parse("0.02").unwrap();
    house.config.agents.prices.insert("asked".to_owned(), price);
    house.restart().await;
    let cases = [
        (json!({ "kind": null }), "missing_field", "kind"),
        (json!({ "input": null }), "missing_field", "input"),
        (json!({ "cron": null }), "missing_field", "cron"),
        (json!({ "kind": 7 }), "invalid_type", "kind"),
        (json!({ "input": "{}" }), "invalid_type", "input"),
        (json!({ "cron": 5 }), "invalid_type", "cron"),
        (json!({ "one_shot": "yes" }), "invalid_type", "one_shot"),
        (json!({ "enabled": 1 }), "invalid_type", "enabled"),
        (json!({ "delivery_channels": "email" }), "invalid_type", "delivery_channels"),
        (json!({ "delivery_channels": [1] }), "invalid_type", "delivery_channels"),
        (json!({ "delivery_channels": ["sms"] }), "invalid_channel", "delivery_channels"),
        (json!({ "delivery_channels": ["Email"] }), "invalid_channel", "delivery_channels"),
        (json!({ "overlap": "wait" }), "invalid_value", "overlap"),
        (json!({ "overlap": 1 }), "invalid_type", "overlap"),
        (json!({ "missed": "fire_all" }), "invalid_value", "missed"),
        (json!({ "kind": "nothing" }), "unknown_kind", "kind"),
        (json!({ "kind": "asked" }), "kind_not_schedulable", "kind"),
        (json!({ "input": { "x": 1 } }), "unknown_parameter", "input.x"),
        (json!({ "input": { "ms": "1" } }), "invalid_input", "input.ms"),
        (json!({ "input": { "say": "x".repeat(65_536) } }), "invalid_value", "input"),
        (json!({ "timezone": "Europe/Berlin" }), "unknown_parameter", "timezone"),
        (json!({ "next_run_at": "2026-01-01T00:00:00Z" }), "unknown_parameter", "next_run_at"),
    ];
    for (change, code, param) in cases {
        let mut body = json!({ "kind": KIND, "input": {}, "cron": "* * * * *" });
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let reply = house.ask("POST", SCHEDULES, Some(body)).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, code), "{change}");
        assert_eq!(reply.json()["error"]["param"], param, "{change}");
    }
    assert_eq!(house.ask("GET", SCHEDULES, None).await.json()["total"], 0);
    house.examine().await;
}

/// Source: the contract, section 7: field, reason and hint. S20: also for what can never fire, and
/// for a text that is far too long.
#[tokio::test(start_paused = true)]
async fn an_expression_is_refused_with_its_field_a_reason_and_a_hint() {
    let house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({})).await;
    let preview = format!("{SCHEDULES}/preview");
    for (cron, field, reason, hint) in [
        ("", json!(null), "field_count", None),
        ("* * * *", json!(null), "field_count", None),
        ("0 0 9 * * *", json!(null), "field_count", Some("seconds are not supported")),
        ("@daily", json!(null), "nickname", Some("write 0 0 * * *")),
        ("TZ=UTC 0 9 * * *", json!(null), "time_zone", Some("in UTC")),
        ("60 * * * *", json!(1), "out_of_range", Some("use 0 to 59")),
        ("0 24 * * *", json!(2), "out_of_range", Some("use 0 to 23")),
        ("0 0 L * *", json!(3), "extension", Some("L is not supported")),
        ("0 0 * 11-2 *", json!(4), "reversed_range", Some("write 11-12,1-2")),
        ("0 0 * * FRI-SUN", json!(5), "sunday_last", Some("write 5-7")),
        ("*/0 * * * *", json!(1), "step_zero", None),
        ("0 0 30 2 *", json!(3), "never", None),
        ("1,,2 * * * *", json!(1), "empty_item", None),
    ] {
        let body = json!({ "kind": KIND, "input": {}, "cron": cron });
        let answers = [
            house.ask("POST", SCHEDULES, Some(body)).await,
            house.ask("PATCH", &path(&made), Some(json!({ "cron": cron }))).await,
            house.ask("POST", &preview, Some(json!({ "cron": cron }))).await,
        ];
        for reply in &answers {
            let error = &reply.json()["error"];
            assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_cron"), "{cron}");
            assert_eq!((&error["param"], &error["details"]["field"]), (&json!("cron"), &field));
            assert_eq!(error["details"]["reason"], reason, "{cron}");
            let found = error["details"]["hint"].as_str().unwrap_or_default();
            assert!(hint.is_none_or(|it| found.contains(it)), "{cron}: {found}");
            assert_eq!(reply.without_id(), answers[2].without_id());
        }
    }
    let long = "0,".repeat(40_000) + "0 * * * *";
    let reply = house.ask("POST", &preview, Some(json!({ "cron": long }))).await;
    assert_eq!(reply.json()["error"]["details"]["reason"], "too_long");
    let reply = house.ask("POST", &preview, Some(json!({ "cron": "0 0 * * FRI-MON" }))).await;
    golden("schedules/invalid-cron.txt", &shown(&reply));
}

#[tokio::test(start_paused = true)]
async fn an_account_has_as_many_schedules_as_the_operator_allows() {
    let house = House::with(1, |it| it.schedules.rules.per_account = 2).await;
    let first = plan(&house, "0 * * * *", json!({})).await;
    plan_as(&house, &house.key, "1 * * * *", json!({ "enabled": false })).await;
    let body = json!({ "kind": KIND, "input": {}, "cron": "2 * * * *" });
    let reply = house.ask("POST", SCHEDULES, Some(body)).await;
    golden("schedules/too-many.txt", &shown(&reply));
    let (_, other) = house.tenant("second", "1").await;
    plan_as(&house, &other, "* * * * *", json!({})).await;
    assert_eq!(house.ask("DELETE", &path(&first), None).await.status, 204);
    plan(&house, "2 * * * *", json!({})).await;
    house.examine().await;
}

/// What is asked of one schedule.
const ROUTES: [(&str, &str); 5] =
    [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/run"), ("GET", "/ticks")];

/// Source: the contract, section 2: the same 404, byte for byte apart from the request id.
#[tokio::test(start_paused = true)]
async fn ids_that_lead_nowhere_get_the_same_answer() {
    let house = House::new().await;
    let foreign = plan(&house, "* * * * *", json!({})).await;
    let run = run_now(&house, &foreign).await;
    let (account, stranger) = house.tenant("second", "1").await;
    let deleted = plan_as(&house, &stranger, "* * * * *", json!({})).await;
    assert_eq!(house.ask_as(&stranger, "DELETE", &path(&deleted), None).await.status, 204);
    let text = |it: &Value| it["id"].as_str().unwrap().to_owned();
    let ids = [
        text(&foreign),
        text(&deleted),
        text(&run),
        account.to_string(),
        "019b7680-0000-7000-8000-000000000000".to_owned(),
        text(&foreign).to_uppercase(),
        text(&foreign).replace('-', ""),
        "nonsense".to_owned(),
        "%2F".to_owned(),
        "x".repeat(4000),
    ];
    let mut answers = Vec::new();
    for id in ids {
        for (method, tail) in ROUTES {
            let body = (method == "PATCH").then(|| json!({ "enabled": false }));
            let path = format!("{SCHEDULES}/{id}{tail}");
            let reply = house.ask_as(&stranger, method, &path, body).await;
            assert_eq!((reply.status, reply.code().as_str()), (404, "not_found"), "{path}");
            answers.push(reply.without_id());
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    reach(&house, "00:01:30").await;
    assert_eq!(runs(&house, &foreign).await.len(), 2);
    house.examine().await;
}

/// Source: service interface, "Rights": `agents`.
#[tokio::test(start_paused = true)]
async fn every_route_wants_the_right_to_agents() {
    let house = House::new().await;
    let made = plan(&house, "* * * * *", json!({})).await;
    let (weak, _) = house.key_of(house.account, "models", None).await;
    let mut asked = vec![
        ("GET", SCHEDULES.to_owned()),
        ("POST", SCHEDULES.to_owned()),
        ("POST", format!("{SCHEDULES}/preview")),
        ("GET", format!("{SCHEDULES}/nonsense")),
    ];
    asked.extend(ROUTES.map(|(method, tail)| (method, path(&made) + tail)));
    for (method, path) in asked {
        let reply = house.ask_as(&weak, method, &path, None).await;
        let code = reply.code();
        assert_eq!((reply.status, code.as_str()), (403, "insufficient_rights"), "{path}");
        let reply = house.ask_as("", method, &path, None).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "missing_api_key"), "{path}");
    }
    for method in ["PUT", "DELETE"] {
        let reply = house.ask(method, SCHEDULES, None).await;
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST, GET, HEAD")));
    }
    // Another key of the account sees and changes the same.
    let (other, _) = house.key_of(house.account, "agents", None).await;
    assert_eq!(house.ask_as(&other, "DELETE", &path(&made), None).await.status, 204);
}

/// Source: the contract, sections 4 and 6: a run that is asked for is refused as any other.
#[tokio::test(start_paused = true)]
async fn a_run_now_is_refused_without_money_and_in_a_full_queue() {
    let house = House::with(1, |config| {
        config.queue.workers = 0;
        config.limits.pending_runs = Some(1);
    })
    .await;
    let made = plan(&house, "0 * * * *", json!({})).await;
    let (_, poor) = house.tenant("poor", "0.01").await;
    let theirs = plan_as(&house, &poor, "0 * * * *", json!({})).await;
    let reply = house.ask_as(&poor, "POST", &format!("{}/run", path(&theirs)), None).await;
    assert_eq!((reply.status, reply.code().as_str()), (402, "insufficient_balance"));
    run_now(&house, &made).await;
    let reply = house.ask("POST", &format!("{}/run", path(&made)), None).await;
    assert_eq!((reply.status, reply.code().as_str()), (429, "queue_full"));
    assert_eq!(runs(&house, &made).await.len(), 1);
    house.examine().await;
}
