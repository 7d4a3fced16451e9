//! Decides the slots of one schedule within a transaction.

use crate::app::runs::{Terms, accept};
use crate::app::ticks::{Cause, Look, read};
use crate::app::{App, Error};
use crate::domain::cron::Cron;
use crate::domain::run::{Run, RunId, Trigger};
use crate::domain::schedule::{Repeat, Schedule, Stopped};
use crate::domain::slot::{Tick, Verdict};
use crate::domain::time::Timestamp;
use crate::store::schedules::{self, Upcoming};
use crate::store::{self, Txn, accounts, runs, ticks};

/// The slots of a schedule that were decided.
pub(super) struct Decided {
    /// The run of the latest one.
    pub(super) run: Option<Run>,
    /// What became of the latest one.
    pub(super) verdict: Verdict,
    /// How many there were before it.
    pub(super) missed: u32,
}

/// How slots are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// As the rules say.
    ByRule,
    /// None of them becomes a run, because a record that is needed for it is damaged.
    AsError,
}

/// Where slots are decided.
pub(super) struct Desk<'a> {
    pub(super) app: &'a App,
    pub(super) look: Look,
    pub(super) how: Manner,
}

/// Why a slot became no run.
enum Refused {
    /// For a reason that may pass.
    Slot(Verdict),
    /// The agent is gone, cannot be scheduled any more, or has no price.
    Kind,
    /// The store could not be read or written.
    Store(Error),
}

impl Desk<'_> {
    /// Decides all slots of a schedule that are due; the latest of them can become the run `run`.
    pub(super) fn decide(
        &self,
        txn: &mut Txn<'_>,
        place: Upcoming,
        run: RunId,
    ) -> Result<Option<Decided>, Error> {
        let Some(before) = read(txn, place)? else { return Ok(None) };
        let (mut after, now) = (before.clone(), self.look.now);
        let decided = match Cron::parse(&before.cron) {
            Ok(cron) => {
                let decided = self.decide_due(txn, &before, &mut after, &cron, run)?;
                if after.is_enabled() {
                    after.next_run_at = after.next_undecided(&cron, now);
                    if after.next_run_at.is_none() {
                        after.stop(Stopped::CronInvalid, now);
                    }
                }
                decided
            }
            Err(_) => {
                line(txn, &mut after, None, self.tick(place.at, Verdict::Error))?;
                after.stop(Stopped::CronInvalid, now);
                Some(Decided { run: None, verdict: Verdict::Error, missed: 0 })
            }
        };
        schedules::put(txn, Some(&before), &after)?;
        Ok(decided)
    }

    /// Decides what is due, by an expression that can be read.
    fn decide_due(
        &self,
        txn: &mut Txn<'_>,
        before: &Schedule,
        after: &mut Schedule,
        cron: &Cron,
        run: RunId,
    ) -> Result<Option<Decided>, Error> {
        let Some(slots) = before.due(cron, self.look.now) else { return Ok(None) };
        if let Some((slot, slots)) = slots.older {
            line(txn, after, Some(cron), Tick { slots, ..self.too_late(slot) })?;
        }
        let (tick, run, stopped) = self.latest(txn, before, slots.latest, run)?;
        line(txn, after, Some(cron), tick)?;
        if let Some(why) = stopped.or_else(|| last(after.repeat, tick.verdict)) {
            after.stop(why, self.look.now);
        }
        let missed = slots.older.map_or(0, |it| it.1);
        Ok(Some(Decided { run, verdict: tick.verdict, missed }))
    }

    /// Decides the latest slot of a schedule, and whether it stops the schedule.
    fn latest(
        &self,
        txn: &mut Txn<'_>,
        schedule: &Schedule,
        slot: Timestamp,
        id: RunId,
    ) -> Result<(Tick, Option<Run>, Option<Stopped>), Error> {
        let window = self.app.0.settings.schedules.missed_window;
        if !schedule.wants(slot, self.look.now, window) {
            return Ok((self.too_late(slot), None, None));
        }
        if self.how == Manner::AsError {
            return Ok((self.tick(slot, Verdict::Error), None, None));
        }
        match self.start(txn, schedule, slot, id) {
            Ok(run) => {
                let tick = Tick { run: Some(run.id), ..self.tick(slot, Verdict::Fired) };
                Ok((tick, Some(run), None))
            }
            Err(Refused::Slot(verdict)) => Ok((self.tick(slot, verdict), None, None)),
            Err(Refused::Kind) => {
                Ok((self.tick(slot, Verdict::Error), None, Some(Stopped::KindUnavailable)))
            }
            Err(Refused::Store(error)) => Err(error),
        }
    }

    /// Starts the run of a slot, on the terms of the key that the schedule runs for.
    fn start(
        &self,
        txn: &mut Txn<'_>,
        schedule: &Schedule,
        slot: Timestamp,
        id: RunId,
    ) -> Result<Run, Refused> {
        let App(inner) = self.app;
        let agent = inner.catalogue.find(&schedule.kind).filter(|it| it.entry().schedulable);
        let account = accounts::find(txn, schedule.account)?;
        let (Some(_), Some(account)) = (agent, account) else { return Err(Refused::Kind) };
        let price = inner.prices.of_run(&schedule.kind, account.currency).ok_or(Refused::Kind)?;
        if !schedule.overlap.allows(runs::count_active(txn, schedule.account, schedule.id, 2)?) {
            return Err(Refused::Slot(Verdict::SkippedOverlap));
        }
        let blank = Run::of_schedule(schedule, id, price, self.look.now);
        let trigger = Trigger::Schedule { schedule: schedule.id, scheduled_for: slot };
        let run = self.app.with_narrative(Run { trigger, ..blank }, account.currency);
        // Its budget of today; one that was revoked since opens nothing, and keeps its budget.
        let budget = schedule.key.and_then(|it| inner.keys.restrictions(it));
        let budget = budget.and_then(|it| it.budget);
        let limit = inner.settings.pending_runs;
        match accept(txn, &run, Terms { currency: account.currency, limit, budget }) {
            Ok(()) => Ok(run),
            Err(Error::Balance { .. }) => Err(Refused::Slot(Verdict::SkippedBalance)),
            Err(Error::KeyBudget { .. }) => Err(Refused::Slot(Verdict::SkippedBudget)),
            Err(Error::QueueFull { .. }) => Err(Refused::Slot(Verdict::SkippedQueueFull)),
            Err(error) => Err(Refused::Store(error)),
        }
    }

    /// The line about a slot for which it is too late.
    fn too_late(&self, slot: Timestamp) -> Tick {
        let verdict = match self.look.cause {
            Cause::Absence => Verdict::Missed,
            Cause::FullDisk => Verdict::SkippedStorage,
        };
        self.tick(slot, verdict)
    }

    /// The line about a slot that became no run.
    const fn tick(&self, slot: Timestamp, verdict: Verdict) -> Tick {
        Tick { slot, decided_at: self.look.now, verdict, run: None, slots: 1 }
    }
}

/// Writes a line about slots that were not decided before.
fn line(
    txn: &mut Txn<'_>,
    schedule: &mut Schedule,
    cron: Option<&Cron>,
    tick: Tick,
) -> Result<(), Error> {
    ticks::insert(txn, schedule, &tick)?;
    if let Some(gap) = schedule.note(cron, &tick) {
        let id = schedule.id;
        let (from, until) = (gap.from, gap.until);
        tracing::debug!(schedule.id = %id, %from, %until, "a gap of schedule {id} counts as decided");
    }
    Ok(())
}

/// Why a schedule stops when that became of its last slot.
const fn last(repeat: Repeat, verdict: Verdict) -> Option<Stopped> {
    match (verdict, repeat) {
        (Verdict::Fired, Repeat::Once) => Some(Stopped::OneShotDone),
        (Verdict::Missed | Verdict::SkippedStorage, Repeat::Once) => Some(Stopped::OneShotMissed),
        // What was skipped for a passing reason is tried again at the next slot.
        (Verdict::Fired | Verdict::Missed | Verdict::SkippedStorage, Repeat::Always)
        | (
            Verdict::SkippedOverlap
            | Verdict::SkippedBalance
            | Verdict::SkippedBudget
            | Verdict::SkippedQueueFull
            | Verdict::Error,
            Repeat::Once | Repeat::Always,
        ) => None,
    }
}

impl From<store::Error> for Refused {
    fn from(error: store::Error) -> Self {
        Self::Store(error.into())
    }
}
