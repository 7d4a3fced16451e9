//! One schedule: what it runs and when, what became of its slots, and which changes it allows.
//!
//! A *slot* is an instant that the cron expression names. Every slot is decided once: it becomes a
//! run, or a word why not. Pure: no clock, no storage; callers pass `now`.
//! Source: service interface, "Schedule"; the contract, section 7.

use crate::domain::account::{AccountId, KeyId};
use crate::domain::cron::Cron;
use crate::domain::decided::{Decided, Stretch};
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::slot::{Tick, Verdict};
use crate::domain::time::Timestamp;

/// A kind of run that is started by the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Its name.
    pub id: ScheduleId,
    /// Whose it is.
    pub account: AccountId,
    /// The key that its runs spend for: the one that made it, or last changed what it does. None
    /// for the operator.
    pub key: Option<KeyId>,
    /// The agent of its runs.
    pub kind: String,
    /// The input of its runs as it was accepted, as JSON text.
    pub input: String,
    /// When it fires, in UTC, as it was sent.
    pub cron: String,
    /// Where its results go besides webhooks.
    pub channels: Vec<Channel>,
    /// Whether it stops after its first run.
    pub repeat: Repeat,
    /// What happens to a slot while an earlier run is not over.
    pub overlap: Overlap,
    /// What happens to slots for which nobody was there.
    pub missed: MissedSlots,
    /// Why it does not fire; none while it does.
    pub stopped: Option<Stopped>,
    /// Its next slot; none exactly when it is stopped.
    pub next_run_at: Option<Timestamp>,
    /// The slots that were decided, under this and earlier expressions.
    pub decided: Decided,
    /// What became of its slots so far.
    pub counts: Counts,
    /// The last run it started.
    pub last_run: Option<LastRun>,
    /// The last slot that did not become a run, and why.
    pub last_skip: Option<(Timestamp, Verdict)>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Where the result of a scheduled run can go besides webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// An e-mail.
    Email,
    /// A message of a Telegram bot.
    Telegram,
    /// A message in Slack.
    Slack,
}

/// How often a schedule fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// At every slot.
    #[default]
    Always,
    /// Once; then it is stopped. A slot that became no run does not count.
    Once,
}

/// What happens to a slot while an earlier run of the schedule is pending or running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// It is skipped, which protects the balance.
    #[default]
    Skip,
    /// It becomes a run if only one earlier run is there.
    QueueOne,
    /// It becomes a run.
    Allow,
}

/// What happens to slots that passed while nobody was there to decide them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedSlots {
    /// The latest one becomes a run if it is not too old.
    #[default]
    FireOnce,
    /// None of them becomes a run.
    Skip,
}

/// Why a schedule does not fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Its owner wants it so.
    User,
    /// It was to fire once and has.
    OneShotDone,
    /// It was to fire once, and nobody was there in time.
    OneShotMissed,
    /// Its agent is gone, cannot be scheduled any more, or has no price.
    KindUnavailable,
    /// Its expression cannot be read any more.
    CronInvalid,
}

/// What became of the slots so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that became runs.
    pub fired: u64,
    /// Those that were skipped for a reason of their own.
    pub skipped: u64,
    /// Those that were missed.
    pub missed: u64,
    /// Lines in the log.
    pub lines: u32,
    /// Lines that were ever written to it.
    pub written: u64,
}

/// The last run of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRun {
    /// The run.
    pub id: RunId,
    /// When it was started.
    pub at: Timestamp,
}

impl Schedule {
    /// Whether it fires.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.stopped.is_none()
    }

    /// Stops it.
    pub fn stop(&mut self, why: Stopped, now: Timestamp) {
        self.stopped = Some(why);
        self.next_run_at = None;
        self.touch(now);
    }

    /// Lets it fire at the first slot after `now`; a slot that passed meanwhile is not made up for.
    pub fn start(&mut self, cron: &Cron, now: Timestamp) {
        self.next_run_at = self.next_undecided(cron, now);
        self.stopped = self.next_run_at.is_none().then_some(Stopped::CronInvalid);
        self.touch(now);
    }

    /// Gives it another expression; slots of the old one are not fired any more.
    ///
    /// Times that were decided stay so: a clock that is set back brings no slot of either again.
    ///
    /// The same expression changes nothing: a slot that is due stays due.
    pub fn change_cron(&mut self, text: String, cron: &Cron, now: Timestamp) {
        if text == self.cron {
            return;
        }
        self.cron = text;
        if self.is_enabled() {
            self.start(cron, now);
        }
        self.touch(now);
    }

    /// Notes what became of a slot; the times that count as decided because too many gaps were
    /// kept, if any. The expression is none where it cannot be read any more.
    pub fn note(&mut self, cron: Option<&Cron>, tick: &Tick) -> Option<Stretch> {
        let slots = u64::from(tick.slots);
        let counts = &mut self.counts;
        match tick.verdict {
            Verdict::Fired => counts.fired = counts.fired.saturating_add(slots),
            Verdict::Missed | Verdict::SkippedStorage => {
                counts.missed = counts.missed.saturating_add(slots);
            }
            Verdict::SkippedOverlap
            | Verdict::SkippedBalance
            | Verdict::SkippedBudget
            | Verdict::SkippedQueueFull
            | Verdict::Error => counts.skipped = counts.skipped.saturating_add(slots),
        }
        match tick.run {
            Some(id) => self.last_run = Some(LastRun { id, at: tick.decided_at }),
            None => self.last_skip = Some((tick.slot, tick.verdict)),
        }
        self.touch(tick.decided_at);
        self.decided.add(cron, tick.slot)
    }

    /// Notes a change at `now`, or at the last change when the clock went back.
    fn touch(&mut self, now: Timestamp) {
        self.updated_at = self.updated_at.max(now);
    }
}

impl Overlap {
    /// Whether a slot may become a run while `active` earlier ones are not over.
    #[must_use]
    pub const fn allows(self, active: usize) -> bool {
        match self {
            Self::Skip => active == 0,
            Self::QueueOne => active <= 1,
            Self::Allow => true,
        }
    }
}

#[cfg(test)]
pub(in crate::domain) mod tests {
    use super::*;
    use crate::domain::id::Id;

    /// A time of one day.
    pub(in crate::domain) fn at(time: &str) -> Timestamp {
        Timestamp::parse(&format!("2026-01-01T{time}Z")).unwrap()
    }

    /// A schedule that was started at a time of that day.
    pub(in crate::domain) fn every(text: &str, start: &str) -> (Cron, Schedule) {
        let cron = Cron::parse(text).unwrap();
        let mut schedule = Schedule {
            id: Id::from_bytes([1; 16]),
            account: Id::from_bytes([2; 16]),
            key: None,
            kind: "script".to_owned(),
            input: "{}".to_owned(),
            cron: text.to_owned(),
            channels: Vec::new(),
            repeat: Repeat::Always,
            overlap: Overlap::Skip,
            missed: MissedSlots::FireOnce,
            stopped: Some(Stopped::User),
            next_run_at: None,
            decided: Decided::default(),
            counts: Counts::default(),
            last_run: None,
            last_skip: None,
            created_at: at(start),
            updated_at: at(start),
        };
        schedule.start(&cron, at(start));
        (cron, schedule)
    }

    fn tick(slot: &str, verdict: Verdict, slots: u32) -> Tick {
        let run = (verdict == Verdict::Fired).then(|| Id::from_bytes([9; 16]));
        Tick { slot: at(slot), decided_at: at(slot), verdict, run, slots }
    }

    #[test]
    fn it_fires_from_the_first_slot_after_its_start_and_not_when_stopped() {
        let (cron, mut schedule) = every("0 * * * *", "12:00:00");
        assert_eq!((schedule.next_run_at, schedule.stopped), (Some(at("13:00:00")), None));
        schedule.stop(Stopped::User, at("12:30:00"));
        assert_eq!((schedule.next_run_at, schedule.is_enabled()), (None, false));
        schedule.start(&cron, at("15:59:59"));
        assert_eq!((schedule.next_run_at, schedule.stopped), (Some(at("16:00:00")), None));
    }

    #[test]
    fn where_time_ends_it_cannot_be_started() {
        let (cron, mut schedule) = every("0 * * * *", "12:00:00");
        schedule.start(&cron, Timestamp::from_millis(i64::MAX));
        assert_eq!(schedule.stopped, Some(Stopped::CronInvalid));
    }

    #[test]
    fn another_expression_counts_from_now_on_and_only_while_it_fires() {
        let (_, mut schedule) = every("0 * * * *", "12:00:00");
        let daily = Cron::parse("30 20 * * *").unwrap();
        schedule.change_cron("30 20 * * *".to_owned(), &daily, at("13:00:00"));
        assert_eq!(schedule.next_run_at, Some(at("20:30:00")));
        schedule.stop(Stopped::OneShotDone, at("14:00:00"));
        let hourly = Cron::parse("0 * * * *").unwrap();
        schedule.change_cron("0 * * * *".to_owned(), &hourly, at("15:00:00"));
        assert_eq!((schedule.next_run_at, schedule.stopped), (None, Some(Stopped::OneShotDone)));
        assert_eq!(schedule.updated_at, at("15:00:00"));
    }

    #[test]
    fn the_same_expression_changes_nothing() {
        let (cron, mut schedule) = every("0 * * * *", "12:00:00");
        schedule.note(Some(&cron), &tick("13:00:00", Verdict::Fired, 1));
        let before = schedule.clone();
        schedule.change_cron("0 * * * *".to_owned(), &cron, at("14:00:30"));
        assert_eq!(schedule, before);
    }

    #[test]
    fn another_expression_does_not_forget_what_was_decided() {
        let (cron, mut schedule) = every("0 * * * *", "11:59:59");
        for slot in ["12:00:00", "13:00:00", "14:00:00"] {
            schedule.note(Some(&cron), &tick(slot, Verdict::Fired, 1));
        }
        let stretch = Stretch { from: at("12:00:00"), until: at("14:00:00") };
        assert_eq!(schedule.decided.stretches(), [stretch]);
        // The clock was set back: what comes up to 14:00 was decided, whatever it is called.
        let often = Cron::parse("*/30 * * * *").unwrap();
        schedule.change_cron("*/30 * * * *".to_owned(), &often, at("12:10:00"));
        assert_eq!(schedule.decided.stretches(), [stretch]);
        assert_eq!(schedule.next_run_at, Some(at("14:30:00")));
    }

    #[test]
    fn every_verdict_is_counted_once() {
        let (cron, mut schedule) = every("0 * * * *", "11:59:59");
        for (number, verdict) in (12..).zip(Verdict::ALL) {
            schedule.note(Some(&cron), &tick(&format!("{number}:00:00"), verdict, 1));
        }
        schedule.note(Some(&cron), &tick("22:00:00", Verdict::Missed, 4));
        let Counts { fired, skipped, missed, .. } = schedule.counts;
        assert_eq!((fired, skipped, missed), (1, 5, 6));
        assert_eq!(schedule.last_run.map(|it| it.at), Some(at("12:00:00")));
        assert_eq!(schedule.last_skip, Some((at("22:00:00"), Verdict::Missed)));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_set_the_last_change_back() {
        let (_, mut schedule) = every("0 * * * *", "12:00:00");
        schedule.stop(Stopped::User, at("11:00:00"));
        assert_eq!(schedule.updated_at, at("12:00:00"));
    }

    #[test]
    fn overlap_rules_let_so_many_runs_be_under_way() {
        for (rule, allowed) in [
            (Overlap::Skip, [true, false, false]),
            (Overlap::QueueOne, [true, true, false]),
            (Overlap::Allow, [true; 3]),
        ] {
            assert_eq!([0, 1, 2].map(|it| rule.allows(it)), allowed, "{rule:?}");
        }
    }
}
