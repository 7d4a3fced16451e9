//! A record that is damaged on disk: it is never served, and nothing else stops.

use errand::domain::id::{Id, Run};
use serde_json::json;

use crate::support::{House, KIND, damage};

/// Source: the contract, section 13: wrong bytes are never served.
#[tokio::test(start_paused = true)]
async fn a_damaged_run_is_never_served_and_keeps_nobody_waiting() {
    let mut house = House::with(1, |config| config.queue.workers = 0).await;
    let first = house.run(json!({ "say": "first" })).await;
    let second = house.run(json!({ "say": "second" })).await;
    let (_, other) = house.tenant("second", "1").await;
    let body = json!({ "kind": KIND, "input": { "say": "third" } });
    let third = house.ask_as(&other, "POST", "/v1/agents/runs", Some(body)).await.json();

    house.stop().await;
    let damaged = first["id"].as_str().unwrap();
    let id = Id::<Run>::parse(damaged).unwrap();
    damage(&house, "runs-1", &[house.account.as_bytes().as_slice(), id.as_bytes()].concat());
    house.config.queue.workers = 2;
    house.start().await;

    assert_eq!(house.over(&second).await["status"], "succeeded");
    let path = format!("/v1/agents/runs/{}", third["id"].as_str().unwrap());
    for _ in 0..100 {
        house.clock.sleep(std::time::Duration::from_millis(100)).await;
    }
    let third = house.ask_as(&other, "GET", &path, None).await.json();
    assert_eq!(third["status"], "succeeded");
    let reply = house.ask("GET", &format!("/v1/agents/runs/{damaged}"), None).await;
    assert_eq!((reply.status, reply.code().as_str()), (500, "internal_error"));
    assert_eq!(house.script.begun(), ["second", "third"]);
    let found = errand::app::upkeep::examine(house.daemon().app()).await.unwrap();
    let named = found.problems.iter().any(|it| it.to_string().contains(damaged));
    assert!(named && !found.is_clean(), "{:#?}", found.problems);
}
