//! `/models`: what is offered, to whom, and at what price.

use std::collections::BTreeSet;

use errand::domain::money::{Amount, Currency};
use serde_json::{Value, json};

use crate::chat::{CHATS, HOST};
use crate::support::upstream::{ask, stream};
use crate::support::{House, Plan, Upstream, golden, shown};

/// A house with a free and two priced models, whose names need escapes.
async fn shop(rates: &[(&str, &str)]) -> House {
    let models = [
        Plan::priced("vendor/large:8b", &[HOST]),
        Plan::priced("a-small.one", &[HOST]),
        Plan::free("zero", &[HOST]),
    ];
    let rates = rates
        .iter()
        .map(|(currency, rate)| (Currency::parse(currency).unwrap(), Amount::parse(rate).unwrap()));
    let house = House::offering(1, &models, |it| it.billing.rates = rates.collect()).await;
    Upstream::at(&house.internet, HOST, stream(&["Hi"], (5, 1)));
    house
}

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn models_are_listed_with_their_prices_in_the_order_of_their_names() {
    let house = shop(&[]).await;
    let list = house.ask("GET", "/v1/models", None).await;
    golden("chat/models.txt", &shown(&list));
    let list = list.json();
    let sorted: BTreeSet<_> = ids(&list).into_iter().collect();
    assert_eq!(ids(&list), sorted.into_iter().collect::<Vec<_>>());
}

/// Source: the contract, section 1: one segment is decoded, the rest of the path is as it is.
#[tokio::test(start_paused = true)]
async fn a_model_is_found_under_its_name_escaped_or_not() {
    let house = shop(&[]).await;
    let list = house.ask("GET", "/v1/models", None).await.json();
    for (path, id) in [
        ("vendor%2Flarge:8b", "vendor/large:8b"),
        ("vendor%2flarge%3A8b", "vendor/large:8b"),
        ("a-small.one", "a-small.one"),
        ("offline%2Fecho", "offline/echo"),
    ] {
        let found = house.ask("GET", &format!("/v1/models/{path}"), None).await;
        assert_eq!(found.status, 200, "{path}: {}", found.text);
        let listed = list["data"].as_array().unwrap().iter().find(|it| it["id"] == id);
        assert_eq!(Some(&found.json()), listed, "{path}");
    }
    for path in ["nobody", "vendor", "vendor%2F", "%20", "zero%00", "ZERO", "zero%2F..%2Fzero"] {
        let found = house.ask("GET", &format!("/v1/models/{path}"), None).await;
        let is_known = [("model_not_found", 404), ("invalid_path", 400)]
            .contains(&(found.code().as_str(), found.status));
        assert!(is_known, "{path}: {}", found.raw);
    }
    let unescaped = house.ask("GET", "/v1/models/vendor/large:8b", None).await;
    assert_eq!((unescaped.status, unescaped.code().as_str()), (404, "route_not_found"));
}

#[tokio::test(start_paused = true)]
async fn only_keys_for_models_see_and_use_them() {
    let house = shop(&[]).await;
    let (agents, _) = house.key_of(house.account, "agents", None).await;
    let (models, _) = house.key_of(house.account, "models", None).await;
    for (method, path, body) in [
        ("GET", "/v1/models", None),
        ("GET", "/v1/models/zero", None),
        ("POST", CHATS, Some(ask("zero", &json!({})))),
    ] {
        for (key, status, code) in [
            ("", 401, "missing_api_key"),
            ("service_sk_x", 401, "invalid_api_key"),
            (agents.as_str(), 403, "insufficient_rights"),
            (models.as_str(), 200, ""),
        ] {
            let reply = house.ask_as(key, method, path, body.clone()).await;
            assert_eq!((reply.status, reply.code().as_str()), (status, code), "{path} {key}");
        }
    }
}

/// Source: the contract, section 5: accounts in another currency are served where there is a fixed
/// factor; what has no price in a currency is not served.
#[tokio::test(start_paused = true)]
async fn an_account_sees_and_pays_prices_in_its_own_currency() {
    let house = shop(&[("USD", "1.08")]).await;
    let usd = Currency::parse("USD").unwrap();
    let (_, dollars) = house.tenant_in("dollars", "1", usd).await;
    let (_, francs) = house.tenant_in("francs", "1", Currency::parse("CHF").unwrap()).await;
    let free = ["offline/echo", "offline/extract", "offline/lorem-stream", "zero"];
    let of = async |key: &str| house.ask_as(key, "GET", "/v1/models", None).await.json();
    assert_eq!(ids(&of(&francs).await), free);
    let list = of(&dollars).await;
    assert_eq!(ids(&list).len(), 6);
    let small = &list["data"][0];
    let pricing = json!({
        "currency": "USD", "input_per_million": "1.08", "output_per_million": "2.16",
        "per_request": "0",
    });
    assert_eq!((&small["id"], &small["pricing"]), (&json!("a-small.one"), &pricing));

    let body = ask("a-small.one", &json!({}));
    let reply = house.ask_as(&dollars, "POST", CHATS, Some(body.clone())).await;
    assert_eq!(reply.json()["usage"]["cost"], "0.00000756");
    assert_eq!(reply.json()["usage"]["currency"], "USD");
    assert_eq!(house.money_of(&dollars).await.0, "0.99999244");
    let refused = house.ask_as(&francs, "POST", CHATS, Some(body)).await;
    assert_eq!((refused.status, refused.code().as_str()), (404, "model_not_found"));
    let free = house.ask_as(&francs, "POST", CHATS, Some(ask("zero", &json!({})))).await;
    assert_eq!(free.json()["usage"]["cost"], "0");
    assert_eq!(free.json()["usage"]["currency"], "CHF");
    assert_eq!(house.money_of(&francs).await.0, "1");
    house.examine().await;
}
