//! What a key is restricted to holds for what it schedules.
//!
//! Source: the contract, sections 3 and 7.

use serde_json::{Value, json};

use super::plans::{MINUTE, counts, lines, look, path, plan, plan_as, reach, told};
use crate::support::{House, KIND, RUNS};

async fn patch(house: &House, key: &str, plan: &Value, change: Value) -> (u16, String) {
    let reply = house.ask_as(key, "PATCH", &path(plan), Some(change)).await;
    let code = if reply.status == 200 { String::new() } else { reply.code() };
    (reply.status, code)
}

#[tokio::test(start_paused = true)]
async fn the_slots_of_a_schedule_count_against_the_budget_of_its_key() {
    let mut house = House::new().await;
    let (thrifty, id) = house.restricted(json!({ "budget": { "amount": "0.05" } })).await;
    let theirs = plan_as(&house, &thrifty, "* * * * *", json!({})).await;
    let mine = plan(&house, "* * * * *", json!({})).await;
    reach(&house, "00:03:30").await;
    let expected = ["00:01 fired", "00:02 fired", "00:03 skipped_budget"];
    assert_eq!(told(&house, &theirs).await, expected.map(|it| format!("01 {it}")));
    assert_eq!(counts(&house, &mine).await, [3, 0, 0]);
    let found = look(&house, &theirs).await;
    assert_eq!(
        (&found["last_skip"]["reason"], &found["enabled"]),
        (&json!("skipped_budget"), &json!(true))
    );
    // The budget of today counts, also after a restart and for a key that opens nothing any more.
    house.restrict(&id, json!({ "budget": { "amount": "0.06" } })).await;
    reach(&house, "00:04:30").await;
    assert_eq!(told(&house, &theirs).await[3], "01 00:04 fired");
    house.restart().await;
    assert_eq!(house.operate(&format!("/keys/{id}/revoke"), json!({})).await.status, 200);
    reach(&house, "00:05:30").await;
    assert_eq!(told(&house, &theirs).await[4], "01 00:05 skipped_budget");
    let page = house.metrics().get("/metrics").await.text;
    assert!(page.contains("errand_slots_total{outcome=\"skipped\"} 1\n"), "{page}");
    house.examine().await;
}

/// Source: service interface: resources belong to the account.
#[tokio::test(start_paused = true)]
async fn a_schedule_outlives_the_key_that_made_it() {
    let house = House::new().await;
    let (secret, id) = house.restricted(json!({})).await;
    let made = plan_as(&house, &secret, "* * * * *", json!({})).await;
    assert_eq!(house.operate(&format!("/keys/{id}/revoke"), json!({})).await.status, 200);
    reach(&house, "00:02:30").await;
    assert_eq!(counts(&house, &made).await, [2, 0, 0]);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_changes_what_a_schedule_does_pays_from_their_own_budget() {
    let house = House::new().await;
    let (thrifty, _) = house.restricted(json!({ "budget": { "amount": "0.02" } })).await;
    let mine = plan(&house, "0 12 * * *", json!({})).await;
    let change = json!({ "cron": "* * * * *", "input": { "say": "mine" } });
    assert_eq!(patch(&house, &thrifty, &mine, change).await.0, 200);
    reach(&house, "00:02:30").await;
    assert_eq!(told(&house, &mine).await, ["01 00:01 fired", "01 00:02 skipped_budget"]);
    // Nothing changes, so nobody else pays.
    assert_eq!(patch(&house, &house.key, &mine, json!({ "enabled": true })).await.0, 200);
    reach(&house, "00:03:30").await;
    assert_eq!(told(&house, &mine).await[2], "01 00:03 skipped_budget");
    // To stop it is not to want it; the operator leaves it to its key.
    assert_eq!(patch(&house, &house.key, &mine, json!({ "enabled": false })).await.0, 200);
    let id = mine["id"].as_str().unwrap();
    let on = house.operate(&format!("/schedules/{id}/change"), json!({ "enabled": true })).await;
    assert_eq!(on.status, 200);
    reach(&house, "00:04:30").await;
    assert_eq!(told(&house, &mine).await[3], "01 00:04 skipped_budget");
    assert_eq!(patch(&house, &house.key, &mine, json!({ "enabled": false })).await.0, 200);
    assert_eq!(patch(&house, &house.key, &mine, json!({ "enabled": true })).await.0, 200);
    house.clock.sleep(MINUTE).await;
    assert_eq!(lines(&house, &mine).await[0]["outcome"], "fired");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_can_only_stop_a_schedule_of_a_kind_that_it_is_not_meant_for() {
    let house = House::new().await;
    let (other, id) = house.restricted(json!({ "kinds": ["other"] })).await;
    let made = plan(&house, "0 12 * * *", json!({})).await;
    let forbidden = (403, "kind_not_allowed".to_owned());
    for change in [
        json!({ "cron": "* * * * *" }),
        json!({ "input": { "say": "other" } }),
        json!({ "enabled": true }),
        json!({ "enabled": false, "cron": "* * * * *" }),
    ] {
        assert_eq!(patch(&house, &other, &made, change.clone()).await, forbidden, "{change}");
    }
    assert_eq!(look(&house, &made).await, made);
    assert_eq!(patch(&house, &other, &made, json!({})).await.0, 200);
    assert_eq!(patch(&house, &other, &made, json!({ "enabled": false })).await.0, 200);
    house.restrict(&id, json!({ "kinds": [KIND] })).await;
    assert_eq!(patch(&house, &other, &made, json!({ "cron": "* * * * *" })).await.0, 200);
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 0);
    house.examine().await;
}
