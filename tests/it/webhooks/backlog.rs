//! More waits for one receiver than may: the oldest is given up, visibly.
//!
//! Source: the contract, section 8: the backlog of a receiver.

use std::sync::Arc;
use std::time::Duration;

use errand::daemon::{World, open};
use errand::domain::delivery::Place;
use errand::domain::due::Due;
use errand::domain::id::Id;
use errand::domain::limits::BACKLOG_MAX;
use errand::store::outbox::Open;
use errand::store::{Error, deliveries};
use errand::sys::shutdown::Shutdown;
use serde_json::json;

use super::hooks::{Hook, delete, house_with, minutes, only, page, run};
use crate::support::receiver::Request;
use crate::support::{Act, House};

/// Fills the backlog of a receiver with repetitions of the only line of its log.
async fn fill(house: &House, hook: &Hook, line: &serde_json::Value) {
    let world = World {
        clock: house.clock.clone(),
        entropy: house.entropy.clone(),
        disk: Arc::new(house.disk.clone()),
        resolver: Arc::new(house.internet.clone()),
        dialer: Arc::new(house.internet.clone()),
        agents: Vec::new(),
        models: Vec::new(),
    };
    let opened = open(&house.config, world, &Shutdown::new()).await;
    let opened = opened.map_err(|it| it.to_string()).unwrap();
    let place = Place {
        account: house.account,
        receiver: Id::parse(&hook.id).unwrap(),
        id: Id::parse(line["id"].as_str().unwrap()).unwrap(),
    };
    let (now, uptime) = (house.clock.now(), house.clock.uptime());
    let ids: Vec<_> = (1..BACKLOG_MAX).map(|_| house.entropy.id(now)).collect();
    let fill = opened.store.write(move |txn| {
        let first = deliveries::find(txn, place)?.unwrap();
        let due = Due::after(Duration::from_hours(1), now, uptime);
        for id in &ids {
            let again = first.resend(*id, now);
            deliveries::insert(txn, &again, &Open { sent: 0, due, claim: None })?;
        }
        Ok::<_, Error>(())
    });
    fill.await.unwrap();
    opened.store.close();
}

#[tokio::test(start_paused = true)]
async fn a_full_backlog_gives_up_its_oldest_delivery_and_says_so() {
    let (mut house, receiver, hook) = house_with(Act::Answer(500), minutes).await;
    run(&house, json!({ "say": "the oldest" })).await;
    receiver.wait(1).await;
    house.settle().await;
    let first = only(&house, &hook).await;
    house.stop().await;
    fill(&house, &hook, &first).await;
    house.start().await;
    // So many ids in one millisecond are ahead of the clock.
    house.clock.sleep(Duration::from_secs(10)).await;
    let total = async |status: &str| page(&house, &hook, &format!("limit=1&status={status}")).await;
    assert_eq!(total("pending").await["total"], BACKLOG_MAX - 1);
    assert_eq!(total("retrying").await["total"], 1);

    let newest = run(&house, json!({})).await;
    let failed = total("failed").await;
    assert_eq!(failed["total"], 1);
    let given_up = &failed["data"][0];
    assert_eq!(
        (&given_up["id"], &given_up["error_reason"]),
        (&first["id"], &json!("backlog_limit"))
    );
    assert_eq!((&given_up["attempts"], &given_up["http_code"]), (&json!(1), &json!(500)));
    let waiting = total("pending").await;
    assert_eq!(
        (&waiting["total"], &waiting["data"][0]["run_id"]),
        (&json!(BACKLOG_MAX), &newest["id"])
    );
    // What was given up is not sent again, although it was due first.
    house.clock.sleep(Duration::from_mins(2)).await;
    let is_first = |it: &Request| it.header("x-service-event-id") == first["event_id"];
    assert_eq!(receiver.seen().iter().filter(|it| is_first(it)).count(), 1);
    assert!(receiver.count() > 1, "the newest was not sent");
    house.examine().await;

    // All of it goes in one commit.
    delete(&house, &hook).await;
    assert_eq!(total("pending").await["total"], 0);
    assert_eq!(total("cancelled").await["total"], BACKLOG_MAX);
    house.examine().await;
}
