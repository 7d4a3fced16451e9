//! Stopping while attempts are under way. Source: the contract, section 8, fault F07.

use std::time::Duration;

use serde_json::json;

use super::hooks::{SECOND, check_all, connect, house_with, log, minutes, only, run, settled};
use crate::support::{Act, House, Receiver};

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_attempts_under_way_and_records_them() {
    let mut house = House::with(1, |it| {
        minutes(it);
        it.webhooks.rules.receivers = 100;
    })
    .await;
    let receiver =
        Receiver::new(&house.clock, Act::Slow(10_000, 204)).plain(&house.internet, "a.example");
    let mut hooks = Vec::new();
    for number in 0..50 {
        hooks.push(connect(&house, &format!("http://a.example/{number}")).await);
    }
    for _ in 0..2 {
        run(&house, json!({})).await;
    }
    receiver.wait(100).await;
    run(&house, json!({})).await;
    let begun = house.clock.mark();
    house.stop().await;
    assert!(begun.elapsed() <= Duration::from_secs(13), "{:?}", begun.elapsed());
    assert_eq!(receiver.count(), 100, "something new was sent");
    receiver.always(Act::Answer(204));
    house.start().await;
    for hook in &hooks {
        let log = log(&house, hook).await;
        let statuses: Vec<_> = log.iter().map(|it| it["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["pending", "delivered", "delivered"]);
        assert!(log[1]["error_reason"].is_null());
    }
    settled(&house, &hooks.iter().collect::<Vec<_>>()).await;
    let told: Vec<_> = hooks.iter().map(|it| (&receiver, it)).collect();
    check_all(&house, &told, 150, SECOND).await;
}

/// What does not end in time is interrupted: it counts, and comes again after its pause.
#[tokio::test(start_paused = true)]
async fn a_stop_interrupts_what_does_not_end_in_time() {
    let (mut house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
    receiver.first(&[Act::Slow(14_000, 204)]);
    run(&house, json!({})).await;
    receiver.wait(1).await;
    let stopped = house.clock.mark();
    let daemon = house.forget().unwrap();
    daemon.stop(Duration::from_secs(5)).await;
    assert!(stopped.elapsed() <= Duration::from_secs(6), "{:?}", stopped.elapsed());
    house.start().await;
    settled(&house, &[&hook]).await;
    let line = only(&house, &hook).await;
    assert_eq!((&line["status"], &line["attempts"]), (&json!("delivered"), &json!(2)));
    assert_eq!(line["attempt_log"][0]["error_reason"], "interrupted");
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// A receiver that floods and one that falls silent do not hold a stop up for long.
#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_the_rest_of_answers() {
    for act in [Act::Silence(204), Act::Flood(200)] {
        let (mut house, receiver, hook) = house_with(act, |_| {}).await;
        run(&house, json!({})).await;
        receiver.wait(1).await;
        let begun = house.clock.mark();
        house.restart().await;
        assert!(begun.elapsed() <= Duration::from_secs(3), "{act:?}: {:?}", begun.elapsed());
        assert_eq!(only(&house, &hook).await["status"], "delivered");
    }
}

/// Source: the contract, section 8, fault F50.
#[tokio::test(start_paused = true)]
async fn a_second_daemon_on_the_same_file_does_not_start_and_sends_nothing() {
    use errand::daemon::{Daemon, World};
    use std::sync::Arc;
    let (house, receiver, hook) = house_with(Act::Answer(500), minutes).await;
    run(&house, json!({})).await;
    for _ in 0..3 {
        let world = World {
            clock: house.clock.clone(),
            entropy: house.entropy.clone(),
            disk: Arc::new(house.disk.clone()),
            resolver: Arc::new(house.internet.clone()),
            dialer: Arc::new(house.internet.clone()),
            agents: Vec::new(),
        };
        assert!(Daemon::start(&house.config, world).await.is_err());
    }
    settled(&house, &[&hook]).await;
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}
