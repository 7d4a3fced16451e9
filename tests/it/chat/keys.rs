//! What a key is restricted to when it talks to models, and what it may spend.

use std::time::Duration;

use errand::config::Config;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::chat::{CHATS, HOST, MODEL, events};
use crate::support::upstream::{Step, ask, pause, stream};
use crate::support::{House, KIND, Plan, RUNS, Reply, Upstream};

/// What a chat of [`MODEL`] holds: 85 tokens read and 1,000 written.
const HOLD: &str = "0.002085";

fn any_number(config: &mut Config) {
    config.limits.chats_in_flight = None;
}

async fn house() -> (House, Upstream) {
    let models = [Plan::priced(MODEL, &[HOST]), Plan::priced("vendor/other", &[HOST])];
    let house = House::offering(1, &models, any_number).await;
    let upstream = Upstream::at(&house.internet, HOST, stream(&["Hi"], (85, 1_000)));
    (house, upstream)
}

async fn chat(house: &House, key: &str, extra: &Value) -> Reply {
    house.ask_as(key, "POST", CHATS, Some(ask(MODEL, extra))).await
}

async fn begin_run(house: &House, key: &str) -> Reply {
    let body = json!({ "kind": KIND, "input": { "ms": 1_000 } });
    house.ask_as(key, "POST", RUNS, Some(body)).await
}

#[track_caller]
fn check_spent(reply: &Reply, required: &str, available: &str, resets_at: Option<&str>) {
    let found = (reply.status, reply.code());
    assert_eq!(found, (402, "budget_exceeded".into()), "{}", reply.raw);
    assert_eq!(reply.json()["error"]["type"], "billing_error");
    let expected = json!({
        "required": required, "available": available, "currency": "EUR", "resets_at": resets_at,
    });
    assert_eq!(reply.json()["error"]["details"], expected);
}

/// Source: the contract, section 2: `model_not_allowed`.
#[tokio::test(start_paused = true)]
async fn a_key_sees_and_asks_its_models_alone() {
    let (house, upstream) = house().await;
    let (key, id) = house.restricted(json!({ "models": ["vendor/*", "offline/echo"] })).await;
    let list = house.ask_as(&key, "GET", "/v1/models", None).await.json();
    let ids: Vec<_> = list["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["offline/echo", "vendor/other"]);
    // What there is does not show in the answer.
    for model in [MODEL, "nobody", "offline/extract", "vendor"] {
        for streams in [false, true] {
            let body = ask(model, &json!({ "stream": streams }));
            let reply = house.ask_as(&key, "POST", CHATS, Some(body)).await;
            let found = (reply.status, reply.code());
            assert_eq!(found, (403, "model_not_allowed".into()), "{model}: {}", reply.raw);
            assert_eq!(reply.json()["error"]["param"], "model");
        }
        let path = format!("/v1/models/{model}").replace("offline/", "offline%2F");
        assert_eq!(house.ask_as(&key, "GET", &path, None).await.code(), "model_not_found");
    }
    assert_eq!(upstream.count(), 0);
    for (model, status) in [("vendor/other", 200), ("offline/echo", 200), ("vendor/nobody", 404)] {
        let reply = house.ask_as(&key, "POST", CHATS, Some(ask(model, &json!({})))).await;
        assert_eq!(reply.status, status, "{model}: {}", reply.raw);
    }
    house.restrict(&id, json!({ "models": "off" })).await;
    assert_eq!(chat(&house, &key, &json!({})).await.status, 200);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_strict_key_refuses_what_other_keys_are_told_was_ignored() {
    let (house, upstream) = house().await;
    let (key, id) = house.restricted(json!({ "strict": true })).await;
    let extra = json!({ "top_banana": 1 });
    let refused = chat(&house, &key, &extra).await;
    let found = (refused.status, refused.code());
    assert_eq!(found, (400, "unknown_parameter".into()), "{}", refused.raw);
    assert_eq!(refused.json()["error"]["param"], "top_banana");
    assert_eq!(upstream.count(), 0);
    house.restrict(&id, json!({ "strict": false })).await;
    for key in [&key, &house.key] {
        let reply = chat(&house, key, &extra).await;
        assert_eq!(reply.header("x-service-ignored-params"), Some("top_banana"), "{}", reply.raw);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_can_have_a_number_of_chats_of_its_own() {
    let (house, upstream) = house().await;
    let (key, _) = house.restricted(json!({ "concurrency": 1 })).await;
    upstream.first([vec![Step::Hang]]);
    let first = house.client().with_key(&key).begin("POST", CHATS, &ask(MODEL, &json!({}))).await;
    house.settle().await;
    let refused = chat(&house, &key, &json!({})).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "concurrency_limited"));
    assert_eq!(refused.json()["error"]["details"], json!({ "limit": 1 }));
    assert_eq!(chat(&house, &house.key, &json!({})).await.status, 200);
    first.hang_up();
    house.settle().await;
    assert_eq!(chat(&house, &key, &json!({})).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn of_many_chats_at_once_those_within_the_budget_reach_the_upstream() {
    for streams in [false, true] {
        let (house, upstream) = house().await;
        // Ten holds, and not quite an eleventh.
        let budget = json!({ "budget": { "amount": "0.022934999" } });
        let (key, _) = house.restricted(budget).await;
        let mut slow = vec![pause(500)];
        slow.extend(stream(&["Hi"], (85, 1_000)));
        upstream.always(slow);
        let mut asks = JoinSet::new();
        for _ in 0..60 {
            let client = house.client().with_key(&key);
            let body = ask(MODEL, &json!({ "stream": streams }));
            asks.spawn(async move { client.ask("POST", CHATS, Some(body)).await });
        }
        let mut paid = 0;
        while let Some(reply) = asks.join_next().await {
            let reply = reply.unwrap();
            match reply.status {
                200 => paid += 1,
                _ => check_spent(&reply, HOLD, "0.002084999", None),
            }
        }
        assert_eq!((paid, upstream.count()), (10, 10));
        // The other keys of the account have the rest of the balance.
        assert_eq!(chat(&house, &house.key, &json!({})).await.status, 200);
        house.settle().await;
        assert_eq!(house.money().await.0, "9.977065");
        house.examine().await;
    }
}

/// Chats and runs of a key spend from one budget, and what is not spent comes back to it.
#[tokio::test(start_paused = true)]
async fn runs_and_chats_of_a_key_share_its_budget() {
    let (mut house, upstream) = house().await;
    // Two runs and a chat.
    let (key, id) = house.restricted(json!({ "budget": { "amount": "0.042085" } })).await;
    let first = begin_run(&house, &key).await.json();
    let second = begin_run(&house, &key).await.json();
    check_spent(&begin_run(&house, &key).await, "0.02", "0.002085", None);
    upstream.first([vec![Step::Hang]]);
    let hangs = house.client().with_key(&key).begin("POST", CHATS, &ask(MODEL, &json!({}))).await;
    house.settle().await;
    check_spent(&chat(&house, &key, &json!({})).await, HOLD, "0", None);
    // A caller that leaves before the first word pays nothing.
    hangs.hang_up();
    house.settle().await;
    let path = format!("{RUNS}/{}/cancel", first["id"].as_str().unwrap());
    assert_eq!(house.ask_as(&key, "POST", &path, None).await.status, 202);
    house.over(&first).await;
    house.over(&second).await;
    house.settle().await;
    // One run is paid and one is not: there is money for a chat and a run again.
    let paid = chat(&house, &key, &json!({})).await;
    assert_eq!(paid.json()["usage"]["cost"], HOLD, "{}", paid.raw);
    assert_eq!(begin_run(&house, &key).await.status, 201);
    check_spent(&begin_run(&house, &key).await, "0.02", "0", None);
    let account = house.ask_as(&key, "GET", "/v1/account", None).await.json();
    assert_eq!(account["key"]["budget"]["used"], "0.042085");
    // What was spent is known after a restart, and when the budget is changed.
    house.restart().await;
    check_spent(&chat(&house, &key, &json!({})).await, HOLD, "0", None);
    house.restrict(&id, json!({ "budget": { "amount": "0.01" } })).await;
    check_spent(&chat(&house, &key, &json!({})).await, HOLD, "0", None);
    house.restrict(&id, json!({ "budget": "off" })).await;
    assert_eq!(chat(&house, &key, &json!({})).await.status, 200);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_of_a_day_begins_anew_at_midnight() {
    let (house, _upstream) = house().await;
    let budget = json!({ "budget": { "amount": "0.003", "period": "day" } });
    let (key, _) = house.restricted(budget).await;
    for day in ["02", "03"] {
        let midnight = format!("2026-01-{day}T00:00:00.000+00:00");
        assert_eq!(chat(&house, &key, &json!({})).await.status, 200);
        check_spent(&chat(&house, &key, &json!({})).await, HOLD, "0.000915", Some(&midnight));
        check_spent(&begin_run(&house, &key).await, "0.02", "0.000915", Some(&midnight));
        house.clock.sleep(Duration::from_hours(24)).await;
    }
    assert_eq!(chat(&house, &key, &json!({})).await.status, 200);
    house.examine().await;
}

/// A stream that breaks off costs what was delivered, also in the budget.
#[tokio::test(start_paused = true)]
async fn a_budget_counts_what_is_charged_and_not_what_was_held() {
    let (house, upstream) = house().await;
    let (key, _) = house.restricted(json!({ "budget": { "amount": "0.0021" } })).await;
    upstream.always(stream(&["Hi"], (5, 1)));
    let streamed = chat(&house, &key, &json!({ "stream": true })).await;
    assert_eq!(events(&streamed.text).last(), Some(&"[DONE]"));
    assert_eq!(chat(&house, &key, &json!({})).await.status, 200);
    // Twice seven millionths are gone.
    assert_eq!(chat(&house, &key, &json!({})).await.status, 200);
    check_spent(&chat(&house, &key, &json!({})).await, HOLD, "0.002079", None);
    house.examine().await;
}
