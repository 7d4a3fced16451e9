//! `/v1/agents/`: what can be run.

use std::sync::Arc;

use errand::domain::money::{Amount, Currency};

use crate::support::{House, KIND, Script, golden, shown};

/// A house with three kinds: two with a price, one without.
async fn house() -> House {
    let mut house = House::with(1, |config| {
        let amount = |text| Amount::parse(text).unwrap();
        let prices = [(KIND, "0.02"), ("other", "1.5")];
        config.agents.prices = prices.map(|(kind, it)| (kind.to_owned(), amount(it))).into();
        let rates = [("USD", "1.08"), ("JPY", "163.33333333")];
        let currency = |text| Currency::parse(text).unwrap();
        config.billing.rates = rates.map(|(it, rate)| (currency(it), amount(rate))).into();
    })
    .await;
    for kind in ["other", "unpriced"] {
        house.agents.push(Arc::new(Script::of(kind)));
    }
    house.restart().await;
    house
}

/// Source: service interface, "Agent type": kind, name, description, schedulable.
#[tokio::test(start_paused = true)]
async fn the_catalogue_lists_the_kinds_that_have_a_price() {
    let house = house().await;
    golden("api/agents.txt", &shown(&house.ask("GET", "/v1/agents/", None).await));
}

/// Source: the contract, section 1.
#[tokio::test(start_paused = true)]
async fn the_catalogue_has_two_paths_and_pages_like_every_list() {
    let house = house().await;
    let with = house.ask("GET", "/v1/agents/", None).await;
    let without = house.ask("GET", "/v1/agents", None).await;
    assert_eq!(with.without_id(), without.without_id());
    let page = house.ask("GET", "/v1/agents?limit=1&offset=1", None).await.json();
    assert_eq!(page["data"][0]["kind"], "other");
    assert_eq!((&page["total"], &page["has_more"]), (&2.into(), &false.into()));
    let first = house.ask("GET", "/v1/agents?limit=1", None).await.json();
    assert_eq!(first["has_more"], true);
    for query in ["limit=0", "limit=201", "offset=-1", "kind=script", "limit=1&limit=1"] {
        let refused = house.ask("GET", &format!("/v1/agents?{query}"), None).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_query"), "{query}");
    }
}

/// Source: service interface, "What the service does": amounts are in the balance currency of the
/// account; the contract, section 5: a fixed factor, rounded up.
#[tokio::test(start_paused = true)]
async fn prices_are_shown_in_the_currency_of_the_account() {
    let house = house().await;
    for (currency, prices) in [
        ("USD", vec![("script", "0.0216"), ("other", "1.62")]),
        ("JPY", vec![("script", "3.266666667"), ("other", "244.999999995")]),
        ("CREDIT", vec![]),
    ] {
        let code = Currency::parse(currency).unwrap();
        let (_, key) = house.tenant_in(currency, "0", code).await;
        let list = house.ask_as(&key, "GET", "/v1/agents/", None).await.json();
        let data = list["data"].as_array().unwrap();
        let shown =
            data.iter().map(|it| (it["kind"].as_str().unwrap(), it["price"].as_str().unwrap()));
        assert_eq!(shown.collect::<Vec<_>>(), prices, "{currency}");
        assert!(data.iter().all(|it| it["currency"] == currency), "{list}");
        assert_eq!(list["total"], prices.len(), "{currency}");
    }
}
