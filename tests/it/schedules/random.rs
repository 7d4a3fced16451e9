//! Schedules that live through kills, clock steps, full disks and changes, driven by a seed.
//!
//! Source: the contract, section 7: every instant fires at most once, a missed one at most once
//! late, and none is silently lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use errand::domain::cron::Cron;
use errand::domain::time::Timestamp;
use serde_json::{Value, json};

use super::plans::{HOUR_MS, change, look, path, plan_as, run_now};
use crate::support::{House, Lives, Loss, RUNS, Trouble};

/// Seeds of one test run, and what each of them does.
const SEEDS: u64 = 12;
const STEPS: usize = 30;

const CRONS: [&str; 5] =
    ["* * * * *", "*/2 * * * *", "1-59/3 * * * *", "*/10 * * * *", "0 * * * *"];
/// Steps of the clock, in milliseconds.
const JUMPS: [i64; 10] = [
    -1_500,
    2_500,
    -45_000,
    90_000,
    -HOUR_MS,
    HOUR_MS,
    -24 * HOUR_MS,
    30 * HOUR_MS,
    -365 * 24 * HOUR_MS,
    365 * 24 * HOUR_MS,
];

/// What a seed has drawn, one number after the other.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// How the wall clock went over a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    /// The daemon was there, and nothing was in its way.
    Lived,
    /// It was down, or stood still, or its disk was full.
    Passed,
}

/// A schedule, and the slots that must be decided by now.
struct Known {
    plan: Value,
    /// What it fires by; none while it is disabled.
    cron: Option<Cron>,
    text: &'static str,
    is_once: bool,
    /// Slots that came while it was enabled.
    came: BTreeMap<Timestamp, Span>,
}

struct Story {
    known: Vec<Known>,
    draw: Draw,
}

impl Story {
    /// Notes the slots of a span of the wall clock for everybody who was to fire.
    fn note(&mut self, span: Span, from: Timestamp, until: Timestamp) {
        // What comes in the last two seconds may be decided in the next span.
        let until = until.before(Duration::from_secs(2));
        for it in &mut self.known {
            let Some(cron) = &it.cron else { continue };
            let slots = std::iter::successors(cron.latest_at_or_before(until, from), |slot| {
                cron.latest_at_or_before(slot.before(Duration::from_millis(1)), from)
            });
            for slot in slots.take(2_000) {
                it.came.entry(slot).or_insert(span);
            }
        }
    }

    async fn join(&mut self, house: &House) {
        let text = self.draw.one(&CRONS);
        let is_once = self.draw.below(5) == 0;
        let body = json!({
            "one_shot": is_once,
            "overlap": self.draw.one(&["skip", "queue_one", "allow"]),
            "input": { "ms": self.draw.below(59_000), "do": self.draw.one(&["succeed", "fail"]) },
        });
        let plan = plan_as(house, &house.key, text, body).await;
        let cron = Some(Cron::parse(text).unwrap());
        self.known.push(Known { plan, cron, text, is_once, came: BTreeMap::new() });
    }

    /// Changes one of the schedules.
    async fn patch(&mut self, house: &House) {
        let (which, how) = (self.draw.below(self.known.len()), self.draw.below(5));
        let text = self.draw.one(&CRONS);
        let it = &mut self.known[which];
        let body = match how {
            0 => json!({ "enabled": false }),
            1 => json!({ "enabled": true }),
            2 => json!({ "cron": it.text, "enabled": true }),
            3 => json!({ "cron": text, "enabled": true }),
            _ => json!({ "input": { "ms": 10 } }),
        };
        if it.is_once && how < 4 {
            return;
        }
        let found = change(house, &it.plan, body).await;
        if how == 3 {
            it.text = text;
        }
        let is_enabled = found["enabled"] == true;
        it.cron = is_enabled.then(|| Cron::parse(it.text).unwrap());
    }

    /// One step that is not a death; how the clock went in it, unless it was set back.
    async fn act(&mut self, house: &mut House) -> Option<Span> {
        match self.draw.below(14) {
            0 if self.known.len() < 6 => self.join(house).await,
            1..=3 => self.patch(house).await,
            4 => {
                let which = self.draw.below(self.known.len());
                run_now(house, &self.known[which].plan).await;
            }
            5 | 6 => {
                let jump = self.draw.one(&JUMPS);
                house.clock.step(jump);
                house.clock.sleep(Duration::from_secs(3)).await;
                return (jump > 0).then_some(Span::Passed);
            }
            7 => {
                house.disk.fail(self.draw.one(&[Trouble::Full, Trouble::Broken]));
                house.clock.sleep(Duration::from_secs(self.draw.below(200) as u64)).await;
                house.disk.heal();
                house.clock.sleep(Duration::from_secs(15)).await;
                return Some(Span::Passed);
            }
            8 => {
                house.stop().await;
                let minutes = self.draw.one(&[0, 1, 7, 300]);
                house.clock.sleep(Duration::from_mins(minutes)).await;
                house.start().await;
                house.clock.sleep(Duration::from_secs(3)).await;
                return Some(Span::Passed);
            }
            9 => {
                tokio::time::advance(Duration::from_secs(self.draw.below(400) as u64)).await;
                house.clock.sleep(Duration::from_secs(3)).await;
                return Some(Span::Passed);
            }
            _ => house.clock.sleep(Duration::from_secs(self.draw.below(400) as u64)).await,
        }
        Some(Span::Lived)
    }

    /// A death, after which the clock goes on where it was.
    fn die(&mut self, lives: &mut Lives) {
        let (acts, loss) =
            (self.draw.below(16) as u64, self.draw.one(&[Loss::OfProcess, Loss::OfPower]));
        let wait = self.draw.below(130) as u64;
        lives.live(async |house| {
            house.disk.cut_after(acts, loss);
            house.clock.sleep(Duration::from_secs(wait)).await;
            house.disk.was_cut();
        });
        lives.kill();
        lives.live(async |house| house.clock.sleep(Duration::from_secs(3)).await);
    }
}

fn story(seed: u64) {
    // The history of a year that was jumped over stays, so that it can be compared.
    let mut lives = Lives::new(seed, |it| it.runs.retention = None);
    let mut story = Story { known: Vec::new(), draw: Draw(seed) };
    lives.live(async |house| {
        (house.account, house.key) = house.tenant("rich", "1000").await;
        for _ in 0..3 {
            story.join(house).await;
        }
    });
    for _ in 0..STEPS {
        let before = lives.house.clock.clone();
        let from = lives.live(async |_| before.now());
        let span = if story.draw.below(6) == 0 {
            story.die(&mut lives);
            Some(Span::Passed)
        } else {
            lives.live(async |house| story.act(house).await)
        };
        let until = lives.live(async |house| {
            house.clock.sleep(Duration::from_millis(1)).await;
            house.clock.now()
        });
        if let Some(span) = span {
            story.note(span, from, until);
        }
    }
    lives.live(async |house| {
        house.clock.sleep(Duration::from_mins(5)).await;
        for it in &story.known {
            check(house, it).await;
        }
        house.examine().await;
    });
}

/// All of a list, page by page.
async fn all(house: &House, path: &str) -> Vec<Value> {
    let mut items = Vec::new();
    loop {
        let page = house.ask("GET", &format!("{path}limit=200&offset={}", items.len()), None).await;
        let page = page.json();
        items.extend(page["data"].as_array().unwrap().iter().cloned());
        if page["has_more"] == false {
            return items;
        }
    }
}

fn slot_of(item: &Value) -> Timestamp {
    Timestamp::parse(item["scheduled_for"].as_str().unwrap()).unwrap()
}

async fn check(house: &House, known: &Known) {
    let found = look(house, &known.plan).await;
    let id = known.plan["id"].as_str().unwrap();
    let runs = all(house, &format!("{RUNS}?schedule_id={id}&")).await;
    let lines = all(house, &format!("{}/ticks?", path(&known.plan))).await;
    assert!(lines.len() < 500, "the log was cut");

    // At most once.
    let fired: Vec<_> = runs.iter().filter(|it| it["trigger"] == "schedule").map(slot_of).collect();
    let slots: BTreeSet<_> = fired.iter().copied().collect();
    assert_eq!(slots.len(), fired.len(), "a slot has fired twice");
    assert!(!known.is_once || fired.len() <= 1, "{found}");

    // The log and the counts say the same as the history.
    let logged = lines.iter().filter(|it| it["outcome"] == "fired").map(slot_of);
    assert_eq!(logged.collect::<BTreeSet<_>>(), slots);
    let many = |outcome: &str| -> u64 {
        let lines = lines.iter().filter(|it| it["outcome"] == outcome);
        lines.map(|it| it["count"].as_u64().unwrap()).sum()
    };
    let skipped =
        ["skipped_overlap", "skipped_balance", "skipped_budget", "skipped_queue_full", "error"];
    let sums = [
        many("fired"),
        skipped.into_iter().map(many).sum(),
        many("missed") + many("skipped_storage"),
    ];
    assert_eq!(
        ["fired", "skipped", "missed"].map(|it| found["counts"][it].as_u64().unwrap()),
        sums
    );

    // What came is decided: by a line of its own, or together with others that were missed.
    if known.is_once {
        return;
    }
    let decided: BTreeSet<_> = lines.iter().map(slot_of).collect();
    let together = lines.iter().filter(|it| it["count"].as_u64().unwrap() > 1).map(slot_of);
    let last_together = together.max();
    for (slot, span) in &known.came {
        let is_counted = *span == Span::Passed && last_together.is_some_and(|it| *slot <= it);
        assert!(
            decided.contains(slot) || is_counted,
            "{slot} came ({span:?}) and has no line in {found}: {lines:#?}"
        );
    }
}

#[test]
fn whatever_happens_a_slot_fires_at_most_once_and_none_is_silently_lost() {
    for seed in 0..SEEDS {
        let lived = std::panic::catch_unwind(|| story(seed));
        assert!(lived.is_ok(), "seed {seed}");
    }
}
