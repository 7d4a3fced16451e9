//! Clients that hang up while their request is under way: they take the answer with them, and
//! nothing else.
//!
//! Source: the contract, section 6; faults F11 and Q14.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::http::{self, request};
use crate::support::{Act, House, KIND, RUNS, Receiver, path_of};

const HOOKS: &str = "/v1/webhooks";

/// Lets every task do what it can do now. While the disk is at work the paused clock stands still.
async fn rounds() {
    for _ in 0..300 {
        tokio::task::yield_now().await;
    }
}

/// Sends a request, and hangs up before it is answered because the disk takes its time.
async fn hang_up(house: &House, method: &str, path: &str, body: Option<Value>) {
    let gate = house.disk.shut();
    let body = body.map(|it| it.to_string()).unwrap_or_default();
    let mut connection = house.client().connect();
    let text = request(method, path, &house.key, &body);
    connection.stream.write_all(text.as_bytes()).await.unwrap();
    rounds().await;
    connection.stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    let read = connection.stream.read_to_end(&mut answer).await;
    assert!(answer.is_empty(), "{method} {path} was answered: {read:?} {answer:?}");
    drop(connection);
    drop(gate);
    house.settle().await;
}

/// A house with a receiver, and the path of it.
async fn house_with_receiver(act: Act, workers: usize) -> (House, Receiver, String) {
    let house = House::with(1, |it| it.queue.workers = workers).await;
    let receiver = Receiver::new(&house.clock, act).plain(&house.internet, "a.example");
    let url = json!({ "url": "http://a.example/" });
    let made = house.ask("POST", HOOKS, Some(url)).await;
    let path = made.header("location").unwrap().to_owned();
    (house, receiver, path)
}

/// The newest line of a log.
async fn newest(house: &House, hook: &str) -> Value {
    house.ask("GET", &format!("{hook}/deliveries"), None).await.json()["data"][0].clone()
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_client_has_gone_is_executed_and_charged_once() {
    let house = House::new().await;
    let body = json!({ "kind": KIND, "input": { "say": "unheard" } });
    hang_up(&house, "POST", RUNS, Some(body)).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    let history = house.ask("GET", RUNS, None).await.json();
    assert_eq!(
        (&history["total"], &history["data"][0]["status"]),
        (&json!(1), &json!("succeeded"))
    );
    assert_eq!(house.script.begun(), ["unheard"]);
    assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()));
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_pending_run_that_is_cancelled_is_told_although_its_client_has_gone() {
    let (house, receiver, hook) = house_with_receiver(Act::Answer(204), 0).await;
    let run = house.run(json!({})).await;
    hang_up(&house, "POST", &format!("{}/cancel", path_of(&run)), None).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    assert_eq!(house.find(&run).await["error_detail"]["reason"], "canceled");
    assert_eq!(
        (receiver.count(), &newest(&house, &hook).await["status"]),
        (1, &json!("delivered"))
    );
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_running_agent_is_stopped_although_its_client_has_gone() {
    let (house, receiver, _) = house_with_receiver(Act::Answer(204), 1).await;
    let run = house.run(json!({ "do": "hang" })).await;
    house.settle().await;
    assert_eq!(house.script.under_way(), 1);
    hang_up(&house, "POST", &format!("{}/cancel", path_of(&run)), None).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    assert_eq!((house.script.under_way(), receiver.count()), (0, 1));
    assert_eq!(house.find(&run).await["error_detail"]["reason"], "canceled");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_again_is_sent_although_its_client_has_gone() {
    let (house, receiver, hook) = house_with_receiver(Act::Answer(500), 1).await;
    let run = house.run(json!({})).await;
    house.over(&run).await;
    house.clock.sleep(Duration::from_mins(1)).await;
    assert_eq!((receiver.count(), &newest(&house, &hook).await["status"]), (6, &json!("failed")));
    let again = newest(&house, &hook).await["id"].as_str().unwrap().to_owned();
    hang_up(&house, "POST", &format!("{hook}/deliveries/{again}/resend"), None).await;
    house.clock.sleep(Duration::from_mins(1)).await;
    assert_eq!((receiver.count(), &newest(&house, &hook).await["status"]), (12, &json!("failed")));
    receiver.always(Act::Answer(204));
    let since = json!({ "since": "2026-01-01T00:00:00Z" });
    hang_up(&house, "POST", &format!("{hook}/recover"), Some(since)).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    assert_eq!(
        (receiver.count(), &newest(&house, &hook).await["status"]),
        (13, &json!("delivered"))
    );
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_is_gone_although_its_client_has_gone() {
    let (house, receiver, hook) = house_with_receiver(Act::Answer(500), 1).await;
    let told = house.run(json!({ "say": "told" })).await;
    house.over(&told).await;
    let waits = house.run(json!({ "do": "hang" })).await;
    for run in [&told, &waits] {
        hang_up(&house, "DELETE", &path_of(run), None).await;
        assert_eq!(house.find(run).await["error"]["code"], "not_found");
    }
    hang_up(&house, "DELETE", &hook, None).await;
    let count = receiver.count();
    house.clock.sleep(Duration::from_mins(5)).await;
    assert_eq!((receiver.count(), house.script.under_way()), (count, 0));
    assert_eq!(house.money().await.1, "0");
    house.examine().await;
}

/// The time for an answer is over, and the work goes on.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_answered_too_late_is_executed_all_the_same() {
    let house = House::new().await;
    let gate = house.disk.shut();
    let body = json!({ "kind": KIND, "input": {} }).to_string();
    let mut connection = house.client().connect();
    let text = request("POST", RUNS, &house.key, &body);
    connection.stream.write_all(text.as_bytes()).await.unwrap();
    rounds().await;
    for _ in 0..40 {
        tokio::time::advance(Duration::from_secs(1)).await;
        rounds().await;
    }
    let late = http::read(&mut connection.stream).await;
    assert_eq!(late.status, 503, "{}", late.raw);
    drop(gate);
    house.clock.sleep(Duration::from_secs(1)).await;
    let history = house.ask("GET", RUNS, None).await.json();
    assert_eq!(
        (&history["total"], &history["data"][0]["status"]),
        (&json!(1), &json!("succeeded"))
    );
    assert_eq!(house.money().await.0, "9.98");
    house.examine().await;
}

/// A look-up that takes three seconds, and then a commit: neither is cut off by the stop.
#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_what_was_begun_for_a_client_who_has_gone() {
    let mut house = House::new().await;
    house.internet.names("slow.example", vec![errand::outbound::fake::Lookup::Hangs]);
    let body = json!({ "url": "http://slow.example/" }).to_string();
    let mut connection = house.client().connect();
    let text = request("POST", HOOKS, &house.key, &body);
    connection.stream.write_all(text.as_bytes()).await.unwrap();
    house.settle().await;
    drop(connection);
    let begun = house.clock.mark();
    house.stop().await;
    assert!((2..=4).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    house.start().await;
    assert_eq!(house.ask("GET", HOOKS, None).await.json()["total"], 1);
    house.examine().await;
}
