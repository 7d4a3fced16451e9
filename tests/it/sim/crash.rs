//! Daemons that die and come back, driven by a seed: nothing acknowledged is lost, nothing is paid
//! twice, and the same seed gives the same bytes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{House, KIND, Lives, Loss};

/// Seeds of one test run, and what each of them does.
const SEEDS: u64 = 60;
const STEPS: usize = 30;

/// What a seed has drawn, one number after the other.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Everything that was answered, and what is known of each acknowledged run.
#[derive(Default)]
struct Story {
    bytes: Vec<String>,
    /// Whether each run was deleted.
    deleted: BTreeMap<String, bool>,
}

/// Whether the daemon may die.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deaths {
    /// At any moment.
    Sudden,
    /// It is only stopped. How far a thread of the host has come when it is killed is not in the
    /// seed, so two lives with sudden deaths may differ.
    None,
}

/// Lives through one seed and checks the house at its end.
fn story(seed: u64, deaths: Deaths) -> Story {
    let mut draw = Draw(seed);
    let mut lives = Lives::new(seed, |config| config.queue.workers = 2);
    let mut story = Story::default();
    for _ in 0..STEPS {
        match draw.below(10) {
            0 if deaths == Deaths::Sudden => {
                lives.live(async |house| end_amid(house, &mut draw, &mut story).await);
                lives.kill();
            }
            0 | 1 => lives.live(async |house| house.restart().await),
            2 => {
                let span = Duration::from_millis(u64::try_from(draw.below(3_000)).unwrap());
                lives.live(async |house| house.clock.sleep(span).await);
            }
            step => lives.live(async |house| act(house, step, &mut draw, &mut story).await),
        }
        // Simulated time goes on only when every thread has come to rest.
        lives.live(async |house| house.clock.sleep(Duration::from_millis(1)).await);
    }
    lives.live(async |house| settle(house, &mut story).await);
    story
}

/// One request during which the process ends, by a kill or by a power cut, unless it is done before.
async fn end_amid(house: &House, draw: &mut Draw, story: &mut Story) {
    let loss = [Loss::OfProcess, Loss::OfPower][draw.below(2)];
    house.disk.cut_after(u64::try_from(draw.below(12)).unwrap(), loss);
    let body = json!({ "kind": KIND, "input": { "ms": draw.below(100) } });
    let reply = house.ask("POST", "/v1/agents/runs", Some(body)).await;
    // What was answered after the end was answered to nobody.
    if !house.disk.was_cut() {
        story.deleted.insert(reply.json()["id"].as_str().unwrap().to_owned(), false);
    }
    story.bytes.push(reply.raw);
}

/// One request.
async fn act(house: &House, step: usize, draw: &mut Draw, story: &mut Story) {
    let known: Vec<_> = story.deleted.iter().filter(|it| !*it.1).map(|it| it.0.clone()).collect();
    if step < 7 || known.is_empty() {
        let how = ["succeed", "no_signal", "fail", "panic"][draw.below(4)];
        let body = json!({ "kind": KIND, "input": { "do": how, "ms": draw.below(2_000) } });
        let reply = house.ask("POST", "/v1/agents/runs", Some(body)).await;
        assert_eq!(reply.status, 201, "{}", reply.raw);
        story.deleted.insert(reply.json()["id"].as_str().unwrap().to_owned(), false);
        story.bytes.push(reply.raw);
        return;
    }
    let id = known[draw.below(known.len())].clone();
    let (method, path) = match step {
        7 => ("GET", format!("/v1/agents/runs/{id}")),
        8 => ("POST", format!("/v1/agents/runs/{id}/cancel")),
        _ => ("DELETE", format!("/v1/agents/runs/{id}")),
    };
    let reply = house.ask(method, &path, None).await;
    assert!([200, 202, 204, 409].contains(&reply.status), "{method} {}", reply.raw);
    if reply.status == 204 {
        story.deleted.insert(id, true);
    }
    story.bytes.push(reply.raw);
}

/// Waits until all is over, then looks at every run and at the money.
async fn settle(house: &House, story: &mut Story) {
    for _ in 0..1_000 {
        let account = house.ask("GET", "/v1/account", None).await.json();
        if account["held"] == "0" {
            break;
        }
        house.clock.sleep(Duration::from_secs(1)).await;
    }
    for (id, deleted) in &story.deleted {
        let reply = house.ask("GET", &format!("/v1/agents/runs/{id}"), None).await;
        assert_eq!(reply.status, if *deleted { 404 } else { 200 }, "{}", reply.raw);
        if !deleted {
            let run: Value = reply.json();
            assert!(run["finished_at"].is_string(), "{run}");
            let is_charged = run["status"] == "succeeded" || run["status"] == "no_signal";
            assert_eq!(run["cost"], if is_charged { "0.02" } else { "0" }, "{run}");
        }
        story.bytes.push(reply.raw);
    }
    story.bytes.push(house.ask("GET", "/v1/account", None).await.raw);
    house.examine().await;
}

/// Source: the contract, section 13: a 2xx is on disk; every accepted run ends once.
#[test]
fn whatever_dies_when_every_acknowledged_run_ends_once_and_the_money_adds_up() {
    for seed in 0..SEEDS {
        let lived = std::panic::catch_unwind(|| story(seed, Deaths::Sudden));
        assert!(lived.is_ok(), "seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for seed in [3, 14, 15] {
        let life = || story(seed, Deaths::None).bytes;
        let (first, second) = (life(), life());
        assert!(first.len() > 10, "seed {seed} asked only {} times", first.len());
        assert_eq!(first, second, "seed {seed}");
    }
}
