//! More waits for one receiver than may: the oldest is given up, visibly.
//!
//! Source: the contract, section 8: the backlog of a receiver.

use std::time::Duration;

use errand::domain::limits::BACKLOG_MAX;
use serde_json::{Value, json};

use super::hooks::{
    HOOKS, Hook, connect, delete, fill, house_with, log, minutes, only, page, run, settled,
};
use crate::support::receiver::Request;
use crate::support::{Act, House, Receiver, Reply, golden, shown};

#[tokio::test(start_paused = true)]
async fn a_full_backlog_gives_up_its_oldest_delivery_and_says_so() {
    let (mut house, receiver, hook) = house_with(Act::Answer(500), minutes).await;
    run(&house, json!({ "say": "the oldest" })).await;
    receiver.wait(1).await;
    house.settle().await;
    let first = only(&house, &hook).await;
    house.stop().await;
    fill(&house, &hook, &first, BACKLOG_MAX - 1, Duration::from_hours(1)).await;
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

/// A house whose receiver has `room` places left in its backlog, and failed deliveries of five
/// events that do not wait.
async fn nearly_full(room: u64) -> (House, Receiver, Hook) {
    let (mut house, receiver, hook) = house_with(Act::Answer(500), |_| {}).await;
    for _ in 0..6 {
        house.run(json!({})).await;
    }
    settled(&house, &[&hook]).await;
    let oldest = log(&house, &hook).await.pop().unwrap();
    house.stop().await;
    fill(&house, &hook, &oldest, BACKLOG_MAX - room, Duration::from_hours(1)).await;
    house.start().await;
    house.clock.sleep(Duration::from_secs(10)).await;
    (house, receiver, hook)
}

/// A reply without what is another one each time.
fn timeless(reply: &Reply) -> String {
    shown(reply).replace(reply.header("date").unwrap(), "(date)")
}

async fn total(house: &House, hook: &Hook, status: &str) -> u64 {
    let page = page(house, hook, &format!("limit=1&status={status}")).await;
    page["total"].as_u64().unwrap()
}

/// The path that sends the newest delivery of that status again.
async fn resend_path(house: &House, hook: &Hook, status: &str) -> String {
    let page = page(house, hook, &format!("limit=1&status={status}")).await;
    format!("{}/deliveries/{}/resend", hook.path(), page["data"][0]["id"].as_str().unwrap())
}

/// Source: the contract, section 8: what is still being tried keeps its attempts.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_again_by_hand_at_the_price_of_what_waits() {
    let (house, receiver, hook) = nearly_full(2).await;
    let recover = async || {
        let body = json!({ "since": "2026-01-01T00:00:00Z" });
        let reply = house.ask("POST", &format!("{HOOKS}/{}/recover", hook.id), Some(body)).await;
        assert_eq!(reply.status, 202, "{}", reply.raw);
        reply.json()["deliveries"].clone()
    };
    // It fills the two places, and leaves the rest for later.
    receiver.always(Act::Hang);
    assert_eq!(recover().await, 2);
    assert_eq!((recover().await, total(&house, &hook, "failed").await), (json!(0), 6));
    let page = page(&house, &hook, "limit=200&status=failed").await;
    assert!(page["data"].as_array().unwrap().iter().all(|it| it["attempts"] == 6), "{page}");
    // Two of the failed ones are on their way again; a third one has no room.
    let failed: Vec<Value> = page["data"].as_array().unwrap().clone();
    let resend =
        |it: &Value| format!("{}/deliveries/{}/resend", hook.path(), it["id"].as_str().unwrap());
    let mut refused = Vec::new();
    for line in &failed[..5] {
        let reply = house.ask("POST", &resend(line), None).await;
        if reply.status != 202 {
            refused.push(reply);
        }
    }
    assert_eq!(refused.len(), 3);
    for reply in &refused {
        assert_eq!((reply.status, reply.code().as_str()), (429, "backlog_full"), "{}", reply.raw);
        assert_eq!(reply.header("retry-after"), Some("60"));
    }
    golden("webhooks/backlog-full.txt", &timeless(&refused[0]));
    assert_eq!(total(&house, &hook, "failed").await, 6);
    house.examine().await;

    // As soon as there is room, the rest goes.
    receiver.always(Act::Answer(204));
    house.clock.sleep(Duration::from_mins(1)).await;
    assert_eq!(recover().await, 2);
    house.examine().await;
}

/// Source: the contract, section 8: an event is sent to a receiver twenty times at most.
#[tokio::test(start_paused = true)]
async fn an_event_is_sent_again_a_limited_number_of_times() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    let other = connect(&house, "http://hooks.example/other").await;
    run(&house, json!({})).await;
    settled(&house, &[&hook, &other]).await;
    let path = resend_path(&house, &hook, "delivered").await;
    for _ in 1..20 {
        assert_eq!(house.ask("POST", &path, None).await.status, 202);
        settled(&house, &[&hook]).await;
    }
    let refused = house.ask("POST", &path, None).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "too_many_resends"));
    golden("webhooks/too-many-resends.txt", &timeless(&refused));
    assert_eq!(receiver.count(), 21);
    // It is counted for each receiver.
    let path = resend_path(&house, &other, "delivered").await;
    assert_eq!(house.ask("POST", &path, None).await.status, 202);
    house.examine().await;
}
