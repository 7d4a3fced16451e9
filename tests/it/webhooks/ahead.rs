//! What is claimed ahead or noted in memory, and is not to be sent any more when its turn comes.
//!
//! Source: the contract, section 8; faults F38, F43 and F44.

use std::time::Duration;

use serde_json::json;

use super::hooks::{Hook, delete, fill, house_with, log, only, page, run, settled};
use crate::support::{Act, House, Receiver, path_of};

async fn total(house: &House, hook: &Hook, status: &str) -> u64 {
    let page = page(house, hook, &format!("limit=1&status={status}")).await;
    page["total"].as_u64().unwrap()
}

/// A receiver that takes five milliseconds, and 400 deliveries that are due to it at once.
async fn quick_with_backlog() -> (House, Receiver, Hook) {
    let (mut house, receiver, hook) = house_with(Act::Slow(5, 204), |_| {}).await;
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    let line = only(&house, &hook).await;
    house.stop().await;
    fill(&house, &hook, &line, 400, Duration::from_secs(2)).await;
    house.start().await;
    (house, receiver, hook)
}

/// F43; service interface, "Webhook receivers": new sends stop, one in progress may finish.
#[tokio::test(start_paused = true)]
async fn what_is_claimed_ahead_for_a_disabled_receiver_is_not_sent() {
    let (house, receiver, hook) = quick_with_backlog().await;
    receiver.wait(20).await;
    delete(&house, &hook).await;
    let count = receiver.count();
    assert!(count < 100, "{count} were sent before it was disabled");
    house.clock.sleep(Duration::from_hours(1)).await;
    assert!(
        receiver.count() <= count + 4,
        "{} were sent after it was disabled",
        receiver.count() - count
    );
    let (delivered, cancelled) =
        (total(&house, &hook, "delivered").await, total(&house, &hook, "cancelled").await);
    assert_eq!((delivered, delivered + cancelled), (receiver.count() as u64, 401));
    house.examine().await;
}

/// A receiver that answered at once gets no more claimed than it is sent, as soon as it does not.
#[tokio::test(start_paused = true)]
async fn a_quick_receiver_that_becomes_a_black_hole_is_not_claimed_ahead_again_and_again() {
    let (house, receiver, hook) = quick_with_backlog().await;
    receiver.wait(20).await;
    receiver.always(Act::Hang);
    house.clock.sleep(Duration::from_millis(100)).await;
    let writes = || house.daemon().app().metrics().writes.value();
    let (before, count) = (writes(), receiver.count());
    house.clock.sleep(Duration::from_secs(13)).await;
    // What was claimed is given back once.
    let made = writes() - before;
    assert!(made < 300, "{made} writes in thirteen seconds");
    assert_eq!(receiver.count(), count);
    receiver.always(Act::Answer(204));
    settled(&house, &[&hook]).await;
    assert_eq!(total(&house, &hook, "delivered").await, 401);
    house.examine().await;
}

/// F44: entries of what is gone stand in front of what is due, and cost it nothing.
#[tokio::test(start_paused = true)]
async fn sixty_deliveries_of_a_deleted_run_delay_the_next_one_by_nothing() {
    let (mut house, receiver, hook) = house_with(Act::Answer(500), |_| {}).await;
    let old = run(&house, json!({ "say": "old" })).await;
    settled(&house, &[&hook]).await;
    let line = only(&house, &hook).await;
    let shown = house.ask("GET", &hook.path(), None).await.json();
    assert_eq!((&line["status"], &shown["health"]), (&json!("failed"), &json!("failing")));
    house.stop().await;
    fill(&house, &hook, &line, 60, Duration::from_secs(8)).await;
    house.start().await;
    // Nobody else is at work: a second look comes only when the first one asks for it.
    house.run(json!({ "say": "new", "ms": 9_000 })).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    assert_eq!(house.ask("DELETE", &path_of(&old), None).await.status, 204);
    let (begun, count) = (house.clock.mark(), receiver.count());
    receiver.wait(count + 1).await;
    let waited = begun.elapsed();
    assert_eq!(receiver.seen()[count].json()["data"]["output"], "new");
    assert!(waited <= Duration::from_secs(9), "{waited:?} instead of eight seconds");
    settled(&house, &[&hook]).await;
    assert_eq!((log(&house, &hook).await.len(), receiver.count()), (1, count + 6));
    house.examine().await;
}
