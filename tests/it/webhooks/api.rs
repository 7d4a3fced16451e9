//! Receivers over the API: whole answers. Source: service interface, "Webhook receivers".

use std::time::Duration;

use serde_json::json;

use super::hooks::{HOOKS, connect, delete, house_with, log, run, settled};
use crate::support::{Act, House, Receiver, golden, shown};

/// Source: service interface, "Webhook receiver": the secret is shown once.
#[tokio::test(start_paused = true)]
async fn a_receiver_is_created_listed_shown_and_disabled() {
    let house = House::new().await;
    house.internet.name("a.example", "93.184.215.1");
    golden("webhooks/list-empty.txt", &shown(&house.ask("GET", HOOKS, None).await));
    let body = json!({ "url": "HTTP://A.example:80/x/../hook?b=1" });
    let created = house.ask("POST", HOOKS, Some(body)).await;
    golden("webhooks/created.txt", &shown(&created));
    let made = created.json();
    let path = format!("{HOOKS}/{}", made["id"].as_str().unwrap());
    assert_eq!(created.header("location"), Some(path.as_str()));
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");

    let found = house.ask("GET", &path, None).await;
    golden("webhooks/found.txt", &shown(&found));
    golden("webhooks/list.txt", &shown(&house.ask("GET", HOOKS, None).await));
    golden("webhooks/deleted.txt", &shown(&house.ask("DELETE", &path, None).await));
    house.clock.sleep(Duration::from_secs(5)).await;
    assert_eq!(house.ask("DELETE", &path, None).await.status, 204);
    assert_eq!(house.ask("GET", HOOKS, None).await.json()["total"], 0);
    let all = house.ask("GET", &format!("{HOOKS}?include=disabled"), None).await;
    golden("webhooks/list-disabled.txt", &shown(&all));
    assert_eq!(all.json()["data"][0]["disabled_at"], "2026-01-01T00:00:00.000+00:00");
    for reply in [found, all, house.ask("GET", &path, None).await] {
        assert!(
            !reply.raw.contains(&secret[6..]) && !reply.raw.contains("whsec_"),
            "{}",
            reply.raw
        );
    }
    house.examine().await;
}

/// Source: the contract, section 1: one envelope; receivers stand oldest first.
#[tokio::test(start_paused = true)]
async fn receivers_are_listed_in_pages_oldest_first() {
    let house = House::new().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(connect(&house, &format!("http://a{number}.example/")).await.id);
    }
    let page = house.ask("GET", &format!("{HOOKS}?limit=2&offset=1"), None).await.json();
    let found: Vec<_> =
        page["data"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(found, ids[1..3]);
    assert_eq!((&page["total"], &page["has_more"]), (&json!(5), &json!(true)));
}

/// Source: service interface, "Delivery log entry"; the contract, section 8.
#[tokio::test(start_paused = true)]
async fn the_log_shows_each_delivery_and_on_demand_each_attempt() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    receiver.first(&[Act::Answer(503), Act::Hang]);
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    receiver.first(&[Act::Answer(500)]);
    run(&house, json!({ "do": "fail" })).await;
    receiver.wait(4).await;
    house.settle().await;
    let path = format!("{}/deliveries", hook.path());
    golden("webhooks/deliveries.txt", &shown(&house.ask("GET", &path, None).await));
    let whole = house.ask("GET", &format!("{path}?include=attempts&limit=1&offset=1"), None).await;
    golden("webhooks/deliveries-attempts.txt", &shown(&whole));
    golden("webhooks/found-used.txt", &shown(&house.ask("GET", &hook.path(), None).await));
}

/// Source: the contract, section 8: resend makes a delivery of its own, and never two at once.
#[tokio::test(start_paused = true)]
async fn an_event_is_sent_again_by_hand() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    receiver.first(&[Act::Slow(1_000, 204)]);
    let first = log(&house, &hook).await[0]["id"].as_str().unwrap().to_owned();
    let path = format!("{}/deliveries/{first}/resend", hook.path());
    let reply = house.ask("POST", &path, None).await;
    golden("webhooks/resent.txt", &shown(&reply));
    let again = house.ask("POST", &path, None).await;
    assert_eq!((again.status, &again.json()["id"]), (202, &reply.json()["id"]));
    // The repetition of a repetition is one of the same event.
    settled(&house, &[&hook]).await;
    let second = reply.json()["id"].as_str().unwrap().to_owned();
    let path = format!("{}/deliveries/{second}/resend", hook.path());
    let third = house.ask("POST", &path, None).await.json();
    assert_eq!(
        (&third["resend_of"], &third["event_id"]),
        (&json!(second), &reply.json()["event_id"])
    );
    settled(&house, &[&hook]).await;
    assert_eq!(receiver.count(), 3);
    house.examine().await;
}

/// Source: the contract, section 8: DNS, address and connection, and no event.
#[tokio::test(start_paused = true)]
async fn a_receiver_is_tried_without_an_event() {
    let house = House::new().await;
    let receiver =
        Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "a.example");
    let mut text = String::new();
    for host in ["a", "nowhere"] {
        let hook = connect(&house, &format!("http://{host}.example/")).await;
        let reply = house.ask("POST", &format!("{}/test", hook.path()), None).await;
        text.push_str(&shown(&reply));
        assert!(log(&house, &hook).await.is_empty());
        delete(&house, &hook).await;
    }
    golden("webhooks/tests.txt", &text);
    assert_eq!(receiver.count(), 0);
}
