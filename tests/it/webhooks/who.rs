//! Who is told: every receiver of the account that is connected when a run ends, and nobody else.

use std::time::Duration;

use serde_json::{Value, json};

use super::hooks::{
    DEV_SECOND, HOOKS, SECOND, check_all, connect, connect_as, delete, house_with, log, minutes,
    only, run, settled,
};
use crate::support::{Act, House, Receiver};

/// Source: service interface, "Events", rule 1.
#[tokio::test(start_paused = true)]
async fn every_receiver_of_the_account_is_told_of_every_end_also_two_on_one_url() {
    let house = House::new().await;
    let [a, b, c] = ["a.example", "b.example", "c.example"]
        .map(|it| Receiver::new(&house.clock, Act::Answer(200)).plain(&house.internet, it));
    let first = connect(&house, "http://a.example/in").await;
    let second = connect(&house, "http://a.example/in").await;
    let third = connect(&house, "http://b.example/?q=1").await;
    let (_, stranger) = house.tenant("second", "1").await;
    let other = connect_as(&house, &stranger, "http://c.example/").await;
    assert_ne!(first.secret, second.secret);
    for how in ["succeed", "fail", "no_signal"] {
        run(&house, json!({ "do": how })).await;
    }
    settled(&house, &[&first, &second, &third, &other]).await;
    assert_eq!((a.count(), b.count(), c.count()), (6, 3, 0));
    for hook in [&first, &second, &third] {
        let types: Vec<_> =
            log(&house, hook).await.iter().map(|it| it["event_type"].clone()).collect();
        assert_eq!(types, ["agent.run.no_signal", "agent.run.failed", "agent.run.succeeded"]);
    }
    let told = [(&a, &first), (&a, &second), (&b, &third), (&c, &other)];
    check_all(&house, &told, 9, DEV_SECOND).await;
}

/// Source: service interface, "Events", rule 1; a cancelled run and one that lost its worker end too.
#[tokio::test(start_paused = true)]
async fn every_way_to_end_is_told_once() {
    let (house, receiver, hook) = house_with(Act::Answer(200), |it| it.queue.workers = 1).await;
    run(&house, json!({ "do": "panic" })).await;
    run(&house, json!({ "do": "hang" })).await;
    let running = house.run(json!({ "do": "hang" })).await;
    let pending = house.run(json!({})).await;
    house.settle().await;
    for it in [&pending, &running] {
        let path = format!("{}/cancel", crate::support::path_of(it));
        assert_eq!(house.ask("POST", &path, None).await.status, 202);
        house.over(it).await;
    }
    settled(&house, &[&hook]).await;
    assert_eq!(receiver.count(), 4);
    for request in receiver.seen() {
        let body = request.json();
        assert_eq!(
            (&body["type"], &body["data"]["error"]),
            (&json!("agent.run.failed"), &json!("agent_failed"))
        );
    }
    check_all(&house, &[(&receiver, &hook)], 4, DEV_SECOND).await;
}

/// Asks for a run and waits until it is over, while the clock stands still.
async fn run_frozen(house: &House) -> Value {
    let now = house.clock.now();
    let asked = house.run(json!({})).await;
    for _ in 0..10_000 {
        let found = house.find(&asked).await;
        assert_eq!(house.clock.now(), now, "the clock has moved");
        if !found["finished_at"].is_null() {
            return found;
        }
        tokio::task::yield_now().await;
    }
    panic!("the run is not over: {asked}");
}

/// Source: service interface, "Events", rule 2. The clock stands still meanwhile.
#[tokio::test(start_paused = true)]
async fn a_receiver_is_told_of_what_ends_after_it_was_connected_in_the_same_millisecond_too() {
    let (house, receiver, before) = house_with(Act::Answer(200), |_| {}).await;
    let now = house.clock.now();
    let first = run_frozen(&house).await;
    let after = connect(&house, "http://hooks.example/after").await;
    let second = run_frozen(&house).await;
    assert_eq!(house.clock.now(), now, "the clock has moved");
    house.clock.sleep(Duration::from_secs(60)).await;
    assert_eq!((log(&house, &before).await.len(), log(&house, &after).await.len()), (2, 1));
    settled(&house, &[&before, &after]).await;
    assert_eq!(only(&house, &after).await["run_id"], second["id"]);
    assert!(log(&house, &before).await.iter().any(|it| it["run_id"] == first["id"]));
    check_all(&house, &[(&receiver, &before), (&receiver, &after)], 3, DEV_SECOND).await;
}

/// Source: service interface, "Events", rule 2: a run that was begun before counts by its end.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_decides_and_not_its_beginning() {
    let house = House::new().await;
    let receiver =
        Receiver::new(&house.clock, Act::Answer(200)).plain(&house.internet, "a.example");
    let gone = connect(&house, "http://a.example/gone").await;
    let begun = house.run(json!({ "ms": 5_000 })).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    let hook = connect(&house, "http://a.example/").await;
    delete(&house, &gone).await;
    house.over(&begun).await;
    settled(&house, &[&hook]).await;
    assert_eq!(only(&house, &hook).await["run_id"], begun["id"]);
    assert!(log(&house, &gone).await.is_empty());
    check_all(&house, &[(&receiver, &hook), (&receiver, &gone)], 1, DEV_SECOND).await;
}

/// Source: service interface, "Webhook receivers": new sends stop.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_to_a_receiver_that_was_disabled_before_the_tick() {
    let (house, receiver, hook) = house_with(Act::Answer(200), minutes).await;
    house.clock.sleep(Duration::from_secs(10)).await;
    run(&house, json!({})).await;
    delete(&house, &hook).await;
    run(&house, json!({})).await;
    house.clock.sleep(Duration::from_secs(3_600)).await;
    assert_eq!(receiver.count(), 0);
    let line = only(&house, &hook).await;
    assert_eq!((&line["status"], &line["attempts"]), (&json!("cancelled"), &json!(0)));
    assert_eq!(line["error_reason"], "receiver_disabled");
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// Source: service interface, "Authentication", rule 7: revoking a key removes no receiver; fault
/// F45: nor does an empty balance.
#[tokio::test(start_paused = true)]
async fn a_revoked_key_and_an_empty_balance_stop_no_delivery() {
    let house = House::with(1, minutes).await;
    let receiver =
        Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "a.example");
    receiver.first(&[Act::Answer(500)]);
    let (account, key) = house.tenant("poor", "0.02").await;
    let hook = connect_as(&house, &key, "http://a.example/").await;
    let run = house.run_as(&key, json!({})).await;
    house.settle().await;
    assert_eq!(house.find_as(&key, &run).await["status"], "succeeded");
    assert_eq!(house.money_of(&key).await.0, "0");
    let app = house.daemon().app();
    for known in errand::app::keys::list(app, Some(account)) {
        errand::app::keys::revoke(app, known.id).await.unwrap();
    }
    assert_eq!(house.ask_as(&key, "GET", HOOKS, None).await.status, 401);
    receiver.wait(2).await;
    house.settle().await;
    let (fresh, _) = house.key_of(account, "agents", None).await;
    let hook = super::hooks::Hook { key: fresh, ..hook };
    assert_eq!(only(&house, &hook).await["status"], "delivered");
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}
