//! Receivers that flap, come back, or get more than they take; attempts that go wrong in us.
//!
//! Source: the contract, section 8; faults F41, F42, F47, F53, F54 and F56.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use errand::outbound::fake::Internet;
use errand::outbound::{BoxFuture, ResolveError, Resolver};
use serde_json::json;

use super::hooks::{
    DEV_SECOND, HOOKS, SECOND, check_all, connect, house_with, log, minutes, only, page, run,
    settled,
};
use crate::support::{Act, House, Receiver};

/// F41: health comes and goes, and no wake-up is lost.
#[tokio::test(start_paused = true)]
async fn a_receiver_that_flaps_gets_everything() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    for round in 0..40 {
        receiver.always(if round % 2 == 0 { Act::Answer(503) } else { Act::Answer(204) });
        for _ in 0..3 {
            house.run(json!({})).await;
        }
        house.clock.sleep(Duration::from_secs(3)).await;
    }
    receiver.always(Act::Answer(204));
    settled(&house, &[&hook]).await;
    let lines = log(&house, &hook).await;
    assert!(lines.iter().all(|it| it["status"] == "delivered"), "{lines:#?}");
    check_all(&house, &[(&receiver, &hook)], 120, DEV_SECOND).await;
}

/// F42: at most four at the same time, and one while it fails.
#[tokio::test(start_paused = true)]
async fn a_receiver_that_comes_back_drains_its_backlog_by_four() {
    let (house, receiver, hook) = house_with(Act::Slow(100, 500), |_| {}).await;
    for _ in 0..60 {
        house.run(json!({})).await;
        house.clock.sleep(Duration::from_millis(50)).await;
    }
    house.clock.sleep(Duration::from_secs(1)).await;
    let shown = house.ask("GET", &hook.path(), None).await.json();
    assert_eq!((&shown["health"], &shown["pending"]), (&json!("failing"), &json!(60)), "{shown}");
    receiver.always(Act::Slow(100, 204));
    settled(&house, &[&hook]).await;
    assert_eq!(receiver.most(), 4);
    let shown = house.ask("GET", &hook.path(), None).await.json();
    assert_eq!((&shown["health"], &shown["pending"]), (&json!("ok"), &json!(0)));
    assert_eq!(shown["consecutive_failures"], 0);
    check_all(&house, &[(&receiver, &hook)], 60, DEV_SECOND).await;
}

/// A receiver that fails has one attempt under way, however much waits for it.
#[tokio::test(start_paused = true)]
async fn a_failing_receiver_has_one_attempt_under_way() {
    let (house, receiver, hook) = house_with(Act::Answer(500), |_| {}).await;
    for _ in 0..5 {
        run(&house, json!({})).await;
    }
    receiver.wait(5).await;
    house.settle().await;
    receiver.always(Act::Slow(1_000, 500));
    let most = receiver.most();
    for _ in 0..20 {
        house.run(json!({})).await;
    }
    house.clock.sleep(Duration::from_secs(10)).await;
    assert!(receiver.most() <= most.max(1), "{} attempts at once", receiver.most());
    receiver.always(Act::Answer(204));
    settled(&house, &[&hook]).await;
    check_all(&house, &[(&receiver, &hook)], 25, DEV_SECOND).await;
}

/// F53: the cap is that of a receiver, also where they share a host.
#[tokio::test(start_paused = true)]
async fn a_hundred_receivers_on_one_host_each_get_the_event() {
    let house = House::with(1, |it| it.webhooks.rules.receivers = 100).await;
    let receiver =
        Receiver::new(&house.clock, Act::Slow(50, 204)).plain(&house.internet, "a.example");
    let mut hooks = Vec::new();
    for number in 0..100 {
        hooks.push(connect(&house, &format!("http://a.example/{number}")).await);
    }
    run(&house, json!({})).await;
    settled(&house, &hooks.iter().collect::<Vec<_>>()).await;
    let told: Vec<_> = hooks.iter().map(|it| (&receiver, it)).collect();
    check_all(&house, &told, 100, DEV_SECOND).await;
}

/// F54: pages stay whole while the log grows.
#[tokio::test(start_paused = true)]
async fn a_log_that_grows_is_read_without_holes() {
    let (house, receiver, hook) = house_with(Act::Slow(20, 204), |_| {}).await;
    for number in 1..=50_u64 {
        house.run(json!({})).await;
        house.settle().await;
        let page = page(&house, &hook, "limit=200").await;
        let lines = page["data"].as_array().unwrap();
        assert_eq!(page["total"], number);
        assert_eq!(lines.len() as u64, number);
        assert!(lines.is_sorted_by(|a, b| a["id"].as_str() > b["id"].as_str()));
    }
    settled(&house, &[&hook]).await;
    check_all(&house, &[(&receiver, &hook)], 50, DEV_SECOND).await;
}

/// F56: a thousand demands make one delivery.
#[tokio::test(start_paused = true)]
async fn an_event_is_on_its_way_once_however_often_it_is_asked_for() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    receiver.always(Act::Answer(500));
    let first = only(&house, &hook).await;
    let path = format!("{}/deliveries/{}/resend", hook.path(), first["id"].as_str().unwrap());
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..1_000 {
        let reply = house.ask("POST", &path, None).await;
        assert_eq!(reply.status, 202, "{}", reply.raw);
        ids.insert(reply.json()["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 1);
    settled(&house, &[&hook]).await;
    assert_eq!(receiver.count(), 7);
    check_all(&house, &[(&receiver, &hook)], 2, DEV_SECOND).await;
}

/// A resolver that panics for some names.
#[derive(Debug)]
struct Stumbling(Internet);

impl Resolver for Stumbling {
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        assert!(host != "panic.example", "it was asked to panic");
        self.0.lookup(host)
    }
}

/// F47: an attempt that panics counts, and holds nobody up.
#[tokio::test(start_paused = true)]
async fn a_panic_inside_an_attempt_is_an_internal_fault_of_that_attempt_alone() {
    let mut house = House::with(1, minutes).await;
    let bad = connect(&house, "http://panic.example/").await;
    let good = connect(&house, "http://good.example/").await;
    let receiver =
        Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "good.example");
    house.resolver = Arc::new(Stumbling(house.internet.clone()));
    house.restart().await;
    run(&house, json!({})).await;
    settled(&house, &[&bad, &good]).await;
    let line = only(&house, &bad).await;
    assert_eq!((&line["status"], &line["error_reason"]), (&json!("failed"), &json!("internal")));
    assert_eq!(line["attempts"], 6);
    assert_eq!(only(&house, &good).await["status"], "delivered");
    let page = house.metrics().get("/metrics").await.text;
    assert!(page.contains("\nerrand_panics_total 6\n"), "{page}");
    let shown = house.ask("GET", &bad.path(), None).await.json();
    assert_eq!(shown["health"], "unknown", "a fault of ours says nothing of the receiver");
    let nobody = Receiver::new(&house.clock, Act::Hang);
    check_all(&house, &[(&receiver, &good), (&nobody, &bad)], 2, SECOND).await;
}

/// Source: the contract, section 8: recover sends again what has failed, and nothing twice.
#[tokio::test(start_paused = true)]
async fn what_failed_is_recovered_once() {
    let (house, receiver, hook) = house_with(Act::Answer(500), |_| {}).await;
    for _ in 0..3 {
        run(&house, json!({})).await;
    }
    settled(&house, &[&hook]).await;
    receiver.always(Act::Answer(204));
    let body = json!({ "since": "2026-01-01T00:00:00Z" });
    let path = format!("{HOOKS}/{}/recover", hook.id);
    for made in [3, 0] {
        let reply = house.ask("POST", &path, Some(body.clone())).await;
        assert_eq!((reply.status, reply.json()), (202, json!({ "deliveries": made })));
    }
    settled(&house, &[&hook]).await;
    let reply = house.ask("POST", &path, Some(body)).await;
    assert_eq!(reply.json(), json!({ "deliveries": 0 }));
    assert_eq!(receiver.count(), 21);
    check_all(&house, &[(&receiver, &hook)], 6, DEV_SECOND).await;
}
