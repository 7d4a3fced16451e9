//! Limits of chats: how many at once, and how often.

use std::time::Duration;

use errand::app::limiter::{Rate, Rates};
use serde_json::json;
use tokio::task::JoinSet;

use crate::chat::{CHATS, HOST, MODEL};
use crate::support::upstream::{Step, ask, begun, pause, stream};
use crate::support::{House, Plan, Upstream};

/// Source: the contract, section 12: `limits.chats_in_flight` per key.
#[tokio::test(start_paused = true)]
async fn a_key_has_so_many_chats_at_once() {
    let models = [Plan::priced(MODEL, &[HOST])];
    let house = House::offering(1, &models, |it| it.limits.chats_in_flight = Some(2)).await;
    let upstream = Upstream::at(&house.internet, HOST, vec![Step::Hang]);
    let other = house.key_of(house.account, "models", None).await.0;
    let body = ask(MODEL, &json!({}));
    let first = house.client().begin("POST", CHATS, &body).await;
    let stream_ask = ask(MODEL, &json!({ "stream": true }));
    upstream.first([vec![Step::Hang], begun(&["Hi"], Step::Hang)]);
    house.settle().await;
    let mut second = house.client().begin("POST", CHATS, &stream_ask).await;
    second.read_until("Hi").await;
    let refused = house.ask("POST", CHATS, Some(body.clone())).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "concurrency_limited"));
    assert_eq!(refused.json()["error"]["details"], json!({ "limit": 2 }));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(upstream.count(), 2);
    // Another key of the account has places of its own.
    upstream.always(stream(&["Hi"], (5, 1)));
    let reply = house.ask_as(&other, "POST", CHATS, Some(body.clone())).await;
    assert_eq!(reply.status, 200, "{}", reply.raw);
    // A chat that is over, or given up, leaves its place to the next.
    second.hang_up();
    house.settle().await;
    assert_eq!(house.ask("POST", CHATS, Some(body.clone())).await.status, 200);
    first.hang_up();
    house.settle().await;
    for _ in 0..3 {
        assert_eq!(house.ask("POST", CHATS, Some(body.clone())).await.status, 200);
    }
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_place_is_free_again_after_every_kind_of_end() {
    let models = [Plan::priced(MODEL, &[HOST])];
    let house = House::offering(1, &models, |it| it.limits.chats_in_flight = Some(1)).await;
    let upstream = Upstream::at(&house.internet, HOST, stream(&["Hi"], (5, 1)));
    upstream.first([
        vec![Step::Close],
        begun(&["Hi"], Step::Close),
        vec![Step::Hang],
        begun(&["Hi"], Step::Hang),
    ]);
    for _ in 0..2 {
        for streams in [false, true] {
            let body = ask(MODEL, &json!({ "stream": streams }));
            let reply = house.ask("POST", CHATS, Some(body)).await;
            assert_ne!(reply.status, 429, "{}", reply.raw);
            house.settle().await;
        }
    }
    let body = ask("nobody", &json!({}));
    assert_eq!(house.ask("POST", CHATS, Some(body)).await.status, 404);
    let body = ask(MODEL, &json!({}));
    assert_eq!(house.ask("POST", CHATS, Some(body)).await.status, 200);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_in_a_hurry_begins_no_chat() {
    let models = [Plan::priced(MODEL, &[HOST])];
    let house = House::offering(1, &models, |it| {
        let key = Some(Rate { per_minute: 60, burst: 5 });
        it.limits.rates = Rates { key, account: None, strangers: None };
    })
    .await;
    let upstream = Upstream::at(&house.internet, HOST, stream(&["Hi"], (5, 1)));
    let mut statuses = Vec::new();
    for _ in 0..7 {
        let body = ask(MODEL, &json!({ "stream": true }));
        let reply = house.ask("POST", CHATS, Some(body)).await;
        assert!(reply.header("x-ratelimit-limit-requests").is_some());
        statuses.push(reply.status);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
    assert_eq!(upstream.count(), 5);
}

/// Many at once, with and without streams: each gets its own answer.
#[tokio::test(start_paused = true)]
async fn a_hundred_chats_at_once_do_not_mix() {
    let models = [Plan::priced(MODEL, &[HOST])];
    let house = House::offering(1, &models, |it| it.limits.chats_in_flight = None).await;
    let upstream = Upstream::at(&house.internet, HOST, vec![Step::Close]);
    for number in 0..100 {
        let mut script = begun(&["It is ", &number.to_string()], pause(number % 7 * 10));
        script.extend(stream(&["."], (5, 3)).split_off(1));
        upstream.first([script]);
    }
    let mut asks = JoinSet::new();
    for number in 0..100 {
        let (client, streams) = (house.client(), number % 2 == 0);
        let body = ask(MODEL, &json!({ "stream": streams }));
        asks.spawn(async move { client.ask("POST", CHATS, Some(body)).await });
    }
    let mut said = Vec::new();
    while let Some(reply) = asks.join_next().await {
        let reply = reply.unwrap();
        assert!(reply.status == 200 && reply.is_whole, "{}", reply.raw);
        let number = match serde_json::from_str::<serde_json::Value>(&reply.text) {
            Ok(whole) => {
                let text = whole["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
                text.trim_start_matches("It is ").trim_end_matches('.').parse::<u32>().unwrap()
            }
            Err(_) => {
                let pieces = reply.text.split("\"content\":\"").skip(3);
                let number = pieces.map(|it| it.split('"').next().unwrap()).next().unwrap();
                number.parse().unwrap()
            }
        };
        said.push(number);
    }
    said.sort_unstable();
    assert_eq!(said, (0..100).collect::<Vec<_>>());
    house.clock.sleep(Duration::from_secs(1)).await;
    assert_eq!(house.money().await, ("9.9989".into(), "0".into(), "9.9989".into()));
    house.examine().await;
}
