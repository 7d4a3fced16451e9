//! A schedule alone through long stories of clocks, gaps and changes, against a model that knows
//! every slot by itself.
//!
//! Source: the contract, section 7: every instant fires at most once, and none is silently lost.

use std::collections::BTreeSet;
use std::time::Duration;

use errand::domain::cron::Cron;
use errand::domain::decided::{Decided, STRETCHES_MAX};
use errand::domain::id::Id;
use errand::domain::schedule::{Counts, MissedSlots, Overlap, Repeat, Schedule, Stopped};
use errand::domain::slot::{Tick, Verdict};
use errand::domain::time::Timestamp;

use super::plans::at;

const SEEDS: u64 = 60;
/// Changes of one story; between two of them lie up to 200 minutes.
const STEPS: usize = 400;
const MINUTE_MS: i64 = 60_000;
const CRONS: [&str; 4] = ["* * * * *", "*/2 * * * *", "1-59/3 * * * *", "*/10 3-20 * * *"];
/// How far the clock is set, in minutes.
const JUMPS: [i64; 8] = [-1, -90, -700, -1_500, -6_000, 60, 800, 5_000];

struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// What a schedule must do, slot by slot.
struct Model {
    schedule: Schedule,
    cron: Cron,
    now: Timestamp,
    /// Every slot that has a line of its own.
    told: BTreeSet<Timestamp>,
    /// Gaps that were closed for want of room: slots in them may be passed over.
    closed: Vec<(Timestamp, Timestamp)>,
    /// Stretches of slots of an expression that was changed since: times in them are decided.
    before: Vec<(Timestamp, Timestamp)>,
}

impl Model {
    fn new(text: &str) -> Self {
        let now = at("00:00:30");
        let mut schedule = Schedule {
            id: Id::from_bytes([1; 16]),
            account: Id::from_bytes([2; 16]),
            key: None,
            kind: "script".to_owned(),
            input: "{}".to_owned(),
            cron: text.to_owned(),
            channels: Vec::new(),
            repeat: Repeat::Always,
            overlap: Overlap::Allow,
            missed: MissedSlots::FireOnce,
            stopped: Some(Stopped::User),
            next_run_at: None,
            decided: Decided::default(),
            counts: Counts::default(),
            last_run: None,
            last_skip: None,
            created_at: now,
            updated_at: now,
        };
        let cron = Cron::parse(text).unwrap();
        schedule.start(&cron, now);
        let (told, closed, before) = (BTreeSet::new(), Vec::new(), Vec::new());
        Self { schedule, cron, now, told, closed, before }
    }

    /// Whether a slot may come, by the model alone.
    fn is_open(&self, slot: Timestamp) -> bool {
        let spans = self.closed.iter().chain(&self.before);
        !self.told.contains(&slot) && spans.into_iter().all(|it| slot < it.0 || it.1 < slot)
    }

    /// The slots of the expression from one time to another, found minute by minute.
    fn slots(&self, from: Timestamp, until: Timestamp) -> Vec<Timestamp> {
        let first = (from.millis() + MINUTE_MS - 1).div_euclid(MINUTE_MS) * MINUTE_MS;
        let minutes = (first..=until.millis()).step_by(60_000).map(Timestamp::from_millis);
        let is_slot =
            |it: &Timestamp| self.cron.next_after(it.before(Duration::from_millis(1))) == Some(*it);
        minutes.filter(is_slot).collect()
    }

    fn write(&mut self, slot: Timestamp, slots: u32, verdict: Verdict) {
        assert!(self.told.insert(slot), "{slot} was decided twice");
        let run = (verdict == Verdict::Fired).then(|| Id::from_bytes([3; 16]));
        let tick = Tick { slot, decided_at: self.now, verdict, run, slots };
        if let Some(gap) = self.schedule.note(Some(&self.cron), &tick) {
            self.closed.push((gap.from, gap.until));
        }
        assert!(self.schedule.decided.stretches().len() <= STRETCHES_MAX);
    }

    /// Looks at what is due, as the daemon does.
    fn look(&mut self) {
        let Some(next) = self.schedule.next_run_at else { return };
        let open = |it: &Self| -> Vec<_> {
            let slots = it.slots(next, it.now).into_iter();
            slots.filter(|slot| it.is_open(*slot)).collect()
        };
        let expected = open(self);
        match self.schedule.due(&self.cron, self.now) {
            None => assert_eq!(expected, [], "{:?}", self.schedule),
            Some(due) => {
                assert_eq!(expected.last(), Some(&due.latest));
                let older = expected.split_last().unwrap().1;
                assert_eq!(
                    due.older,
                    older.last().map(|it| (*it, u32::try_from(older.len()).unwrap()))
                );
                if let Some((slot, slots)) = due.older {
                    self.write(slot, slots, Verdict::Missed);
                }
                self.write(due.latest, 1, Verdict::Fired);
            }
        }
        if next <= self.now {
            self.reckon(self.now);
        }
    }

    fn reckon(&mut self, now: Timestamp) {
        let next = self.schedule.next_undecided(&self.cron, now).unwrap();
        self.schedule.next_run_at = Some(next);
        // Nothing that is open lies before it.
        let end = next.before(Duration::from_millis(1));
        let near = end.min(now.after(Duration::from_hours(2)));
        let passed = self.slots(now.after(Duration::from_millis(1)), near);
        assert_eq!(passed.into_iter().find(|it| self.is_open(*it)), None);
    }

    /// Lets minutes pass, and looks every minute.
    fn live(&mut self, minutes: u64) {
        for _ in 0..minutes {
            self.now = self.now.after(Duration::from_mins(1));
            self.look();
        }
    }

    fn act(&mut self, draw: &mut Draw) {
        match draw.below(6) {
            0 => {
                let jump = draw.one(&JUMPS) * MINUTE_MS;
                self.now = Timestamp::from_millis(self.now.millis() + jump);
                if jump < 0 && self.schedule.next_run_at.is_some_and(|it| it > self.now) {
                    self.reckon(self.now);
                }
            }
            // Nobody is there for a while.
            1 => self.now = self.now.after(Duration::from_mins(draw.below(90))),
            2 => self.schedule.stop(Stopped::User, self.now),
            3 => {
                let text = draw.one(&CRONS);
                let spans = self.schedule.decided.stretches().iter().map(|it| (it.from, it.until));
                self.before = spans.collect();
                self.cron = Cron::parse(text).unwrap();
                self.schedule.change_cron(text.to_owned(), &self.cron, self.now);
            }
            _ => {}
        }
        if !self.schedule.is_enabled() && draw.below(3) == 0 {
            self.schedule.start(&self.cron, self.now);
        }
        self.live(draw.below(200));
    }
}

#[test]
fn through_long_stories_a_slot_is_decided_once_and_none_that_is_open_is_passed_over() {
    for seed in 0..SEEDS {
        let lived = std::panic::catch_unwind(|| {
            let mut draw = Draw(seed);
            let mut model = Model::new(CRONS[0]);
            for _ in 0..STEPS {
                model.act(&mut draw);
            }
            assert!(model.told.len() > 5_000, "{}", model.told.len());
        });
        assert!(lived.is_ok(), "seed {seed}");
    }
}
