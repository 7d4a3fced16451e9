//! One schedule: what it runs and when, what became of its slots, and which changes it allows.
//!
//! A *slot* is an instant that the cron expression names. Every slot is decided once: it becomes a
//! run, or a word why not. Pure: no clock, no storage; callers pass `now`.
//! Source: service interface, "Schedule"; the contract, section 7.

use std::time::Duration;

use crate::domain::account::AccountId;
use crate::domain::cron::Cron;
use crate::domain::limits::{LATE_AFTER, MISSED_COUNT_MAX, TICKS_KEPT};
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::slot::{DueSlots, Stretch, Tick, Verdict};
use crate::domain::time::Timestamp;

/// A kind of run that is started by the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Its name.
    pub id: ScheduleId,
    /// Whose it is.
    pub account: AccountId,
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
    /// The slots that were decided last, one after the other without a gap.
    pub decided: Option<Stretch>,
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
        self.next_run_at = cron.next_after(now);
        self.stopped = self.next_run_at.is_none().then_some(Stopped::CronInvalid);
        self.touch(now);
    }

    /// Gives it another expression; slots of the old one are not fired any more.
    pub fn change_cron(&mut self, text: String, cron: &Cron, now: Timestamp) {
        self.cron = text;
        self.decided = None;
        if self.is_enabled() {
            self.start(cron, now);
        }
        self.touch(now);
    }

    /// The slots that are due; none when it is stopped or the next one is still to come.
    #[must_use]
    pub fn due(&self, cron: &Cron, now: Timestamp) -> Option<DueSlots> {
        let next = self.next_run_at.filter(|it| *it <= now)?;
        let before_next = next.before(INSTANT);
        let latest = cron.latest_at_or_before(now, before_next)?;
        let older = cron.latest_at_or_before(latest.before(INSTANT), before_next);
        let count = |it| (it, cron.count_between(before_next, it, MISSED_COUNT_MAX));
        Some(DueSlots { latest, older: older.map(count) })
    }

    /// Whether a slot that is decided at `now` may still become a run.
    #[must_use]
    pub fn wants(&self, slot: Timestamp, now: Timestamp, window: Duration) -> bool {
        let late = now.since(slot);
        match self.missed {
            MissedSlots::FireOnce => late <= window,
            MissedSlots::Skip => late < LATE_AFTER,
        }
    }

    /// Notes what became of a slot.
    pub fn note(&mut self, cron: &Cron, tick: &Tick) {
        let slots = u64::from(tick.slots);
        let counts = &mut self.counts;
        match tick.verdict {
            Verdict::Fired => counts.fired = counts.fired.saturating_add(slots),
            Verdict::Missed | Verdict::SkippedStorage => {
                counts.missed = counts.missed.saturating_add(slots);
            }
            Verdict::SkippedOverlap
            | Verdict::SkippedBalance
            | Verdict::SkippedQueueFull
            | Verdict::Error => counts.skipped = counts.skipped.saturating_add(slots),
        }
        match tick.run {
            Some(id) => self.last_run = Some(LastRun { id, at: tick.decided_at }),
            None => self.last_skip = Some((tick.slot, tick.verdict)),
        }
        let follows = |it: &Stretch| cron.next_after(it.until) == Some(tick.slot);
        let from = self.decided.filter(follows).map_or(tick.slot, |it| it.from);
        self.decided = Some(Stretch { from, until: tick.slot });
        self.touch(tick.decided_at);
    }

    /// The first slot after `now` of which `is_decided` says no.
    ///
    /// After the clock was set back, slots come again that were decided before.
    ///
    /// # Errors
    ///
    /// What `is_decided` says.
    pub fn next_undecided<E>(
        &self,
        cron: &Cron,
        now: Timestamp,
        mut is_decided: impl FnMut(Timestamp) -> Result<bool, E>,
    ) -> Result<Option<Timestamp>, E> {
        let mut next = cron.next_after(now);
        for _ in 0..TICKS_KEPT.saturating_add(2) {
            let Some(slot) = next else { return Ok(None) };
            if let Some(stretch) = self.decided.filter(|it| it.from <= slot && slot <= it.until) {
                next = cron.next_after(stretch.until);
            } else if is_decided(slot)? {
                next = cron.next_after(slot);
            } else {
                return Ok(next);
            }
        }
        Ok(next)
    }

    /// Notes a change at `now`, or at the last change when the clock went back.
    fn touch(&mut self, now: Timestamp) {
        self.updated_at = self.updated_at.max(now);
    }
}

impl Channel {
    /// Every channel, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Email, Self::Telegram, Self::Slack];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Telegram => "telegram",
            Self::Slack => "slack",
        }
    }

    /// Reads the word for a channel.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

impl Overlap {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Skip, Self::QueueOne, Self::Allow];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::QueueOne => "queue_one",
            Self::Allow => "allow",
        }
    }

    /// Reads the word for a rule.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

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

impl MissedSlots {
    /// Every rule.
    pub const ALL: [Self; 2] = [Self::FireOnce, Self::Skip];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FireOnce => "fire_once",
            Self::Skip => "skip",
        }
    }

    /// Reads the word for a rule.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

impl Repeat {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Always, Self::Once];
}

impl Stopped {
    /// Every reason.
    pub const ALL: [Self; 5] = [
        Self::User,
        Self::OneShotDone,
        Self::OneShotMissed,
        Self::KindUnavailable,
        Self::CronInvalid,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::OneShotDone => "one_shot_done",
            Self::OneShotMissed => "one_shot_missed",
            Self::KindUnavailable => "kind_unavailable",
            Self::CronInvalid => "cron_invalid",
        }
    }
}

/// The smallest difference of two times.
const INSTANT: Duration = Duration::from_millis(1);
