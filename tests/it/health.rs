//! Whether the daemon lives and works, as it says itself, and what it has counted.

use std::time::Duration;

use errand::app::limiter::Rate;
use errand::domain::delivery::Place;
use errand::domain::due::Due;
use errand::domain::fault::Reason;
use errand::domain::id::{Delivery, Id, Receiver as Named};
use errand::domain::money::Amount;
use errand::store::outbox::Open;
use errand::store::{deliveries, runs};
use serde_json::{Value, json};

use crate::support::{Act, House, RUNS, Receiver, Reply, Trouble, golden};

async fn ready(house: &House) -> Reply {
    house.ask_as("", "GET", "/readyz", None).await
}

#[track_caller]
fn check_not_ready(reply: &Reply, part: &str, state: &str) {
    assert_eq!(reply.status, 503, "{}", reply.raw);
    let json = reply.json();
    assert_eq!((&json["ready"], &json["parts"][part]), (&json!(false), &json!(state)), "{json}");
}

/// Source: the contract, section 12, "Health": 503 when the disk is not well.
#[tokio::test(start_paused = true)]
async fn a_disk_in_trouble_is_shown_and_reads_go_on() {
    for (trouble, state, status) in
        [(Trouble::Full, "full", 503), (Trouble::Broken, "failing", 500)]
    {
        let house = House::new().await;
        let run = house.run(json!({})).await;
        house.over(&run).await;
        house.disk.fail(trouble);
        // Nobody has noticed yet: what is read comes from memory.
        assert_eq!(ready(&house).await.status, 200);
        let body = json!({ "kind": "script", "input": {} });
        assert_eq!(house.ask("POST", RUNS, Some(body.clone())).await.status, status);
        check_not_ready(&ready(&house).await, "storage", state);
        assert_eq!(house.ask_as("", "GET", "/healthz", None).await.status, 200);
        house.clock.sleep(Duration::from_mins(10)).await;
        check_not_ready(&ready(&house).await, "storage", state);

        house.disk.heal();
        house.clock.sleep(Duration::from_secs(5)).await;
        assert_eq!(ready(&house).await.status, 200, "{trouble:?}");
        assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 1);
        assert_eq!(house.ask("POST", RUNS, Some(body)).await.status, 201);
        house.examine().await;
    }
}

/// Source: the contract, section 12, "Health": 503 when a loop is not well.
#[tokio::test(start_paused = true)]
async fn a_loop_that_does_not_turn_is_shown() {
    let house = House::new().await;
    let run = house.run(json!({ "do": "panic" })).await;
    house.settle().await;
    // The third execution is claimed ten seconds later, and the claim then hangs in the disk.
    let gate = house.disk.shut();
    tokio::time::advance(Duration::from_secs(10)).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(ready(&house).await.status, 200);
    tokio::time::advance(Duration::from_secs(11)).await;
    check_not_ready(&ready(&house).await, "worker", "stalled");
    drop(gate);
    house.settle().await;
    assert_eq!(ready(&house).await.status, 200);
    assert_eq!(house.over(&run).await["error_detail"]["reason"], "worker_lost");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_daemon_without_workers_is_ready_without_a_worker() {
    let house = House::with(1, |it| it.queue.workers = 0).await;
    house.clock.sleep(Duration::from_mins(1)).await;
    let reply = ready(&house).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()["parts"]["worker"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn every_loop_turns_for_as_long_as_nothing_happens() {
    let house = House::new().await;
    for _ in 0..500 {
        house.clock.sleep(Duration::from_millis(1_937)).await;
        assert_eq!(ready(&house).await.status, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_drains_says_so_and_ends_its_work() {
    let mut house = House::new().await;
    let run = house.run(json!({ "ms": 5_000 })).await;
    house.settle().await;
    let client = house.client();
    let daemon = house.forget().unwrap();
    let stop = tokio::spawn(daemon.stop(Duration::from_secs(30)));
    house.settle().await;
    check_not_ready(&client.get("/readyz").await, "shutdown", "draining");
    stop.await.unwrap();
    house.start().await;
    assert_eq!(house.find(&run).await["status"], "succeeded");
    house.examine().await;
}

/// Copies of what there is; a purge takes 200 of them in a transaction.
const COPIES: usize = 2_000;

/// A house that is stopped, with many runs and deliveries that are over.
async fn full_house() -> (House, String) {
    let mut house = House::with(1, |it| {
        it.runs.retention = Some(Duration::from_hours(1));
        it.webhooks.rules.retention = Duration::from_hours(1);
    })
    .await;
    let _ = Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "a.example");
    let url = json!({ "url": "http://a.example/" });
    let hook = house.ask("POST", "/v1/webhooks", Some(url)).await.json()["id"].clone();
    let run = house.run(json!({ "do": "fail" })).await;
    let log = format!("/v1/webhooks/{}/deliveries", hook.as_str().unwrap());
    house.clock.sleep(Duration::from_secs(1)).await;
    let line = house.ask("GET", &log, None).await.json()["data"][0].clone();
    let run = Id::parse(run["id"].as_str().unwrap()).unwrap();
    let receiver = Id::<Named>::parse(hook.as_str().unwrap()).unwrap();
    let id = Id::<Delivery>::parse(line["id"].as_str().unwrap()).unwrap();
    house.stop().await;
    let (account, now, uptime) = (house.account, house.clock.now(), house.clock.uptime());
    let ids: Vec<_> = (0..COPIES).map(|_| (house.entropy.id(now), house.entropy.id(now))).collect();
    let write = house.write(move |txn| {
        let first = deliveries::find(txn, Place { account, receiver, id })?.unwrap();
        let failed = runs::find(txn, account, run)?.unwrap();
        for (run, delivery) in &ids {
            let open = Open { sent: 0, due: Due::after(Duration::ZERO, now, uptime), claim: None };
            let before = first.resend(*delivery, now);
            let mut after = before.clone();
            after.drop_for(Reason::BacklogLimit, now);
            deliveries::insert(txn, &before, &open)?;
            deliveries::put(txn, &before, &after, None, None)?;
            let copy = errand::domain::run::Run { id: *run, cost: Amount::ZERO, ..failed.clone() };
            runs::insert(txn, &copy)?;
        }
        Ok(())
    });
    write.await;
    (house, log)
}

/// F55: a purge is many commits, and whoever watches the daemon sees that it lives.
#[tokio::test(start_paused = true)]
async fn a_long_purge_on_a_slow_disk_keeps_the_daemon_ready() {
    let (mut house, log) = full_house().await;
    house.clock.sleep(Duration::from_hours(2)).await;
    house.start().await;
    // The janitor begins at once, and every sync takes a second and a half.
    let gate = house.disk.shut();
    for sync in 0..16 {
        let mut looks = 0;
        while !gate.is_waited_for() {
            tokio::task::yield_now().await;
            looks += 1;
            assert!(looks < 50_000_000, "the purge was over after {sync} syncs");
        }
        tokio::time::advance(Duration::from_millis(1_500)).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let reply = ready(&house).await;
        assert_eq!(reply.status, 200, "after {sync} syncs: {}", reply.raw);
        gate.pass();
    }
    drop(gate);
    house.clock.sleep(Duration::from_secs(30)).await;
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 0);
    assert_eq!(house.ask("GET", &log, None).await.json()["total"], 0);
    house.examine().await;
}

/// The number of a series.
fn value(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|it| it.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series}: {page}")).parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_page_of_counters_has_what_happened() {
    let house = House::with(1, |it| {
        it.limits.rates.key = Some(Rate { per_minute: 60, burst: 6 });
    })
    .await;
    for what in ["succeed", "no_signal", "fail", "panic", "hang"] {
        house.run(json!({ "do": what })).await;
        house.settle().await;
    }
    house.ask("GET", "/v1/account", None).await;
    assert_eq!(house.ask("GET", "/v1/account", None).await.status, 429);
    assert_eq!(house.ask_as("x", "GET", "/v1/account", None).await.status, 401);
    let reply = house.metrics().get("/metrics").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let page = reply.text.as_str();
    for (series, expected) in [
        ("errand_runs_created_total", 5.0),
        ("errand_runs_finished_total{status=\"succeeded\"}", 1.0),
        ("errand_runs_finished_total{status=\"no_signal\"}", 1.0),
        ("errand_runs_finished_total{status=\"failed\"}", 1.0),
        // The one that panicked at once is being tried again.
        ("errand_runs_running", 1.0),
        ("errand_panics_total", 2.0),
        ("errand_requests_total{status=\"2xx\"}", 6.0),
        ("errand_requests_total{status=\"4xx\"}", 2.0),
        ("errand_requests_total{status=\"5xx\"}", 0.0),
        ("errand_auth_failures_total", 1.0),
        ("errand_rate_limited_total", 1.0),
        ("errand_late_results_total", 0.0),
        ("errand_commit_failures_total", 0.0),
        ("errand_connections", 1.0),
    ] {
        assert!((value(page, series) - expected).abs() < 0.1, "{series}: {page}");
    }
    assert!(value(page, "errand_commits_total") >= 10.0);
    assert!(value(page, "errand_writes_total") >= value(page, "errand_commits_total"));
    let heads: Vec<&str> = page.lines().filter(|it| it.starts_with('#')).collect();
    golden("metrics.txt", &format!("{}\n", heads.join("\n")));
}

#[tokio::test(start_paused = true)]
async fn the_page_of_counters_is_one_page_for_reading() {
    let house = House::new().await;
    let metrics = house.metrics();
    let post = metrics.ask("POST", "/metrics", None).await;
    assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(metrics.ask("HEAD", "/metrics", None).await.status, 200);
    for path in ["/", "/metrics/", "/v1/account", "/healthz"] {
        assert_eq!(metrics.get(path).await.status, 404, "{path}");
    }
    assert_eq!(house.ask("GET", "/metrics", None).await.code(), "route_not_found");
}
