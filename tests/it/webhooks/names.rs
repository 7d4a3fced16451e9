//! Receivers whose names nobody answers for. Source: the contract, section 8, fault F31.

use std::time::Duration;

use errand::outbound::fake::Lookup;
use serde_json::json;

use super::hooks::{connect_as, log, settled_within};
use crate::support::{Act, House, Receiver};

/// Receivers whose look-ups hang, and how many an account has of them.
const HANGING: usize = 600;
const OF_ACCOUNT: usize = 100;

/// F31.
#[tokio::test(start_paused = true)]
async fn names_that_nobody_answers_for_fail_no_attempt_of_a_healthy_receiver() {
    let house = House::with(1, |it| {
        it.webhooks.rules.receivers = 100;
        it.queue.workers = 16;
    })
    .await;
    house.internet.names("hole.example", vec![Lookup::Hangs]);
    let mut keys = Vec::new();
    for number in 0..HANGING / OF_ACCOUNT {
        let (_, key) = house.tenant(&format!("account {number}"), "1").await;
        for receiver in 0..OF_ACCOUNT {
            connect_as(&house, &key, &format!("http://hole.example/{receiver}")).await;
        }
        keys.push(key);
    }
    let receiver =
        Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "a.example");
    let hook = connect_as(&house, &house.key, "http://a.example/").await;
    for round in 1..=8 {
        for key in &keys {
            house.run_as(key, json!({})).await;
        }
        let begun = house.clock.mark();
        house.run(json!({})).await;
        receiver.wait(round).await;
        assert!(begun.elapsed() < Duration::from_secs(2), "{round}: {:?}", begun.elapsed());
        house.clock.sleep(Duration::from_secs(1)).await;
    }
    settled_within(&house, &[&hook], Duration::from_secs(1)).await;
    for line in log(&house, &hook).await {
        assert_eq!(
            (&line["status"], &line["attempts"]),
            (&json!("delivered"), &json!(1)),
            "{line}"
        );
    }
    house.examine().await;
}
