//! A receiver that answers never waits for those that do not.
//!
//! Source: the contract, section 8; faults F39 and F40.

use std::time::Duration;

use serde_json::json;

use super::hooks::{Hook, connect_as, log};
use crate::support::{Act, House, Receiver};

/// Receivers of the large test, of which half are dead, and how many an account has of them.
/// Ten thousand take a minute in a debug build; the lanes are made smaller by the same factor.
const RECEIVERS: usize = 1_000;
const OF_ACCOUNT: usize = 50;
/// How a lane of 10,000 receivers is scaled.
const SCALE: usize = 10_000 / RECEIVERS;

/// F40.
#[tokio::test(start_paused = true)]
async fn an_account_with_a_dead_receiver_and_much_to_send_delays_nobody_else() {
    let house = House::new().await;
    house.internet.name("dead.example", "93.184.215.101");
    house.internet.hang("93.184.215.101:80");
    let healthy =
        Receiver::new(&house.clock, Act::Slow(80, 204)).plain(&house.internet, "a.example");
    let mut dead = Vec::new();
    for number in 0..10 {
        let url = format!("http://dead.example/{number}");
        dead.push(connect_as(&house, &house.key, &url).await);
    }
    let (_, key) = house.tenant("second", "10").await;
    connect_as(&house, &key, "http://a.example/").await;
    for _ in 0..60 {
        house.run(json!({})).await;
    }
    house.clock.sleep(Duration::from_secs(1)).await;
    for count in 1..=5 {
        let begun = house.clock.mark();
        house.run_as(&key, json!({})).await;
        healthy.wait(count).await;
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        house.clock.sleep(Duration::from_secs(7)).await;
    }
    assert_eq!(log(&house, &dead[0]).await.len(), 60);
    house.examine().await;
}

/// Many accounts whose every other receiver is a black hole.
struct Crowd {
    house: House,
    healthy: Receiver,
    keys: Vec<String>,
}

impl Crowd {
    async fn new() -> Self {
        let house = House::with(1, |it| {
            it.webhooks.rules.receivers = 100;
            it.webhooks.rules.lanes.fast /= SCALE;
            it.webhooks.rules.lanes.slow /= SCALE;
            it.queue.workers = 64;
        })
        .await;
        house.internet.name("dead.example", "93.184.215.101");
        house.internet.hang("93.184.215.101:80");
        let healthy =
            Receiver::new(&house.clock, Act::Slow(80, 204)).plain(&house.internet, "a.example");
        let mut keys = Vec::new();
        for number in 0..RECEIVERS / OF_ACCOUNT {
            let (_, key) = house.tenant(&format!("account {number}"), "1").await;
            for receiver in 0..OF_ACCOUNT {
                let host = if receiver % 2 == 0 { "a" } else { "dead" };
                let url = format!("http://{host}.example/{number}/{receiver}");
                let _: Hook = connect_as(&house, &key, &url).await;
            }
            keys.push(key);
        }
        Self { house, healthy, keys }
    }

    /// One event for every receiver; how long the healthy ones had to wait for it, at the 99th
    /// percentile.
    async fn tell(&self) -> Duration {
        let (begun, before) = (self.house.clock.mark(), self.healthy.count());
        for key in &self.keys {
            self.house.run_as(key, json!({})).await;
        }
        self.healthy.wait(before + RECEIVERS / 2).await;
        let mut waits: Vec<_> =
            self.healthy.seen()[before..].iter().map(|it| it.at.since(begun)).collect();
        waits.sort_unstable();
        waits[waits.len() * 99 / 100]
    }
}

/// F39: first with receivers of whom nothing is known, then with those that are known to fail.
#[tokio::test(start_paused = true)]
async fn half_of_many_receivers_are_black_holes_and_the_others_do_not_wait() {
    let crowd = Crowd::new().await;
    let cold = crowd.tell().await;
    assert!(cold < Duration::from_secs(20), "cold: {cold:?}");
    crowd.house.clock.sleep(Duration::from_mins(3)).await;
    let known = crowd.tell().await;
    assert!(known < Duration::from_secs(2), "known: {known:?}");
    crowd.house.clock.sleep(Duration::from_mins(3)).await;
    crowd.house.examine().await;
}
