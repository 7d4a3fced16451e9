//! Daemons with receivers of every kind that live through kills and clock steps, driven by a seed.

use std::time::Duration;

use errand::config::Config;
use serde_json::json;

use super::hooks::{Hook, SECOND, check_all, connect, delete, log, minutes, settled_within};
use crate::support::{Act, House, Lives, Loss, Receiver, path_of};

/// Seeds of one test run, and what each of them does.
const SEEDS: u64 = 16;
const STEPS: usize = 25;

/// What a seed has drawn, one number after the other.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Whether the daemon may die.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deaths {
    /// At any moment.
    Sudden,
    /// It is only stopped. How far a thread of the host has come when it is killed is not in the
    /// seed.
    None,
}

/// A receiver, and whether it was disabled.
struct Known {
    receiver: Receiver,
    hook: Hook,
    is_disabled: bool,
}

/// What a seed has made.
#[derive(Default)]
struct Story {
    known: Vec<Known>,
    bytes: Vec<String>,
}

const ACTS: [Act; 10] = [
    Act::Answer(204),
    Act::Answer(500),
    Act::Answer(410),
    Act::Slow(3_000, 200),
    Act::Hang,
    Act::Reset,
    Act::Raw("garbage\r\n\r\n"),
    Act::Silence(200),
    Act::Flood(200),
    Act::Hint(503, "90"),
];

async fn join(house: &House, draw: &mut Draw, story: &mut Story) {
    let host = format!("host{}.example", story.known.len());
    let receiver = Receiver::new(&house.clock, ACTS[draw.below(10)]).plain(&house.internet, &host);
    receiver.first(&[ACTS[draw.below(10)], ACTS[draw.below(10)]]);
    receiver.forget_after_end_on(&house.disk);
    let hook = connect(house, &format!("http://{host}/")).await;
    story.bytes.push(hook.secret.clone());
    story.known.push(Known { receiver, hook, is_disabled: false });
}

/// One step that is not a death.
async fn act(house: &House, draw: &mut Draw, story: &mut Story) {
    match draw.below(12) {
        0 | 1 if story.known.len() < 8 => join(house, draw, story).await,
        2 => {
            let which = draw.below(story.known.len());
            delete(house, &story.known[which].hook).await;
            story.known[which].is_disabled = true;
        }
        3 => {
            let which = draw.below(story.known.len());
            story.known[which].receiver.always(ACTS[draw.below(10)]);
        }
        4 => house.clock.step([3_600_000, -3_600_000, 86_400_000, -86_400_000][draw.below(4)]),
        5 => {
            let run = house.run(json!({ "ms": draw.below(2_000) })).await;
            house.clock.sleep(Duration::from_secs(draw.below(90) as u64)).await;
            let reply = house.ask("DELETE", &path_of(&run), None).await;
            story.bytes.push(reply.status.to_string());
        }
        6 | 7 => house.clock.sleep(Duration::from_secs(draw.below(300) as u64)).await,
        _ => {
            let how = ["succeed", "fail", "no_signal"][draw.below(3)];
            let body = json!({ "do": how, "ms": draw.below(2_000) });
            story.bytes.push(house.run(body).await.to_string());
        }
    }
}

/// Lives through one seed and checks the house at its end.
fn story(seed: u64, deaths: Deaths) -> Story {
    let mut draw = Draw(seed);
    // Whether a result finds others to wait for depends on how quick the host's threads are.
    let configure = match deaths {
        Deaths::Sudden => minutes,
        Deaths::None => |config: &mut Config| {
            minutes(config);
            config.webhooks.rules.gather = Duration::ZERO;
        },
    };
    let mut lives = Lives::new(seed, configure);
    let mut story = Story::default();
    lives.live(async |house| {
        for _ in 0..3 {
            join(house, &mut draw, &mut story).await;
        }
    });
    for _ in 0..STEPS {
        match draw.below(8) {
            0 if deaths == Deaths::Sudden => {
                let (acts, loss) =
                    (draw.below(12) as u64, [Loss::OfProcess, Loss::OfPower][draw.below(2)]);
                let wait = draw.below(70) as u64;
                lives.live(async |house| {
                    house.disk.cut_after(acts, loss);
                    house.clock.sleep(Duration::from_secs(wait)).await;
                    house.disk.was_cut();
                });
                lives.kill();
                let disk = &lives.house.disk;
                story.known.iter().for_each(|it| it.receiver.forget_after_end_on(disk));
            }
            1 => lives.live(async |house| house.restart().await),
            _ => lives.live(async |house| act(house, &mut draw, &mut story).await),
        }
        // Simulated time goes on only when every thread has come to rest.
        lives.live(async |house| house.clock.sleep(Duration::from_millis(1)).await);
    }
    lives.live(async |house| end(house, &mut story, deaths).await);
    story
}

/// Waits until all is over and checks it.
async fn end(house: &House, story: &mut Story, deaths: Deaths) {
    house.clock.sleep(Duration::from_secs(70)).await;
    let hooks: Vec<_> = story.known.iter().map(|it| &it.hook).collect();
    settled_within(house, &hooks, Duration::from_mins(1)).await;
    house.clock.sleep(Duration::from_mins(40)).await;
    let mut total = 0;
    assert!(!house.disk.has_ended());
    for Known { receiver, hook, .. } in &story.known {
        let lines = log(house, hook).await;
        total += lines.len();
        for line in lines {
            // A 2xx that was recorded was seen, and nothing came after it.
            let event = line["event_id"].as_str().unwrap();
            let seen = receiver.seen();
            let sends = seen.iter().filter(|it| it.header("x-service-event-id") == event);
            let last = sends.map(super::super::support::receiver::Request::attempt).max();
            if line["status"] == "delivered" {
                assert_eq!(last.unwrap() as u64, line["attempts"].as_u64().unwrap(), "{line}");
            }
            if deaths == Deaths::None {
                story.bytes.push(line.to_string());
            }
        }
    }
    // Every run that is left was told to everybody who is left and was there all the time.
    let runs = house.ask("GET", "/v1/agents/runs?limit=200", None).await.json();
    let (runs, first) = (runs["total"].as_u64().unwrap(), &story.known[..3]);
    for Known { hook, .. } in first.iter().filter(|it| !it.is_disabled) {
        assert_eq!(log(house, hook).await.len() as u64, runs, "events were lost, or made twice");
    }
    let told: Vec<_> = story.known.iter().map(|it| (&it.receiver, &it.hook)).collect();
    check_all(house, &told, total, SECOND).await;
}

/// Source: the contract, section 8; invariants I1 to I5 and I9.
#[test]
fn whatever_happens_when_every_event_is_sent_as_the_rules_say() {
    for seed in 0..SEEDS {
        let lived = std::panic::catch_unwind(|| story(seed, Deaths::Sudden));
        assert!(lived.is_ok(), "seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_deliveries() {
    for seed in [3, 14, 15] {
        let life = || story(seed, Deaths::None).bytes;
        let (first, second) = (life(), life());
        assert!(first.len() > 10, "seed {seed} did only {} things", first.len());
        assert_eq!(first, second, "seed {seed}");
    }
}
