//! `/v1/account`: what the caller's account has.

use std::time::Duration;

use serde_json::json;

use crate::support::{House, golden, shown};

#[tokio::test(start_paused = true)]
async fn an_account_shows_its_money_and_the_key_that_asks() {
    let house = House::new().await;
    house.run(json!({ "ms": 60_000 })).await;
    golden("api/account.txt", &shown(&house.ask("GET", "/v1/account", None).await));
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn every_right_opens_the_account_and_the_key_is_the_one_that_asks() {
    let house = House::new().await;
    let hour = Some(Duration::from_hours(1));
    for rights in ["models", "agents", "models,agents"] {
        let (key, id) = house.key_of(house.account, rights, hour).await;
        let account = house.ask_as(&key, "GET", "/v1/account", None).await.json();
        assert_eq!(account["id"], house.account.to_string());
        assert_eq!(account["key"]["id"], id.to_string());
        assert_eq!(account["key"]["rights"], json!(rights.split(',').collect::<Vec<_>>()));
        assert_eq!(account["key"]["expires_at"], "2026-01-01T01:00:00.000+00:00");
    }
}

/// Source: service interface, "What the service does": another key of the same account sees the
/// same; a key of another account does not.
#[tokio::test(start_paused = true)]
async fn keys_of_one_account_share_its_runs_and_its_balance() {
    let house = House::new().await;
    let (second, _) = house.key_of(house.account, "agents", None).await;
    let (_, stranger) = house.tenant("second", "1").await;
    let run = house.run_as(&second, json!({})).await;
    house.over(&run).await;
    assert_eq!(house.find(&run).await, house.find_as(&second, &run).await);
    assert_eq!(house.money().await, house.money_of(&second).await);
    assert_eq!(house.money().await.0, "9.98");
    assert_eq!(house.money_of(&stranger).await.0, "1");
    assert_eq!(house.find_as(&stranger, &run).await["error"]["code"], "not_found");
    house.examine().await;
}
