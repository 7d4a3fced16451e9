//! Due slots become runs: one transaction for many schedules, and a line for every slot.
//!
//! What a slot becomes, its line and the schedule's next slot are one commit, so a crash leaves a
//! slot undecided or decided, and nothing between. A line is also what keeps a slot from being
//! decided again after the clock was set back. Source: the contract, section 7; "Driver".

use std::time::Duration;

use crate::app::runs::{Terms, accept};
use crate::app::{App, Error};
use crate::domain::cron::Cron;
use crate::domain::run::{Run, RunId, Trigger};
use crate::domain::schedule::{Repeat, Schedule, Stopped};
use crate::domain::slot::{Tick, Verdict};
use crate::domain::time::Timestamp;
use crate::store::schedules::{self, Upcoming};
use crate::store::{self, Txn, accounts, meta, runs, ticks};

/// What kept slots from being decided in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nobody was there: the daemon was down, or the machine asleep.
    Absence,
    /// The disk was full.
    FullDisk,
}

/// How far the slots are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More may be due.
    More,
    /// Nothing is due for so long.
    Until(Duration),
    /// No schedule fires.
    Idle,
}

/// Decides what is due, some schedules at a time.
///
/// # Errors
///
/// What the store says; nothing of what was tried is decided then.
pub async fn fire(app: &App, cause: Cause) -> Result<Progress, Error> {
    let now = app.0.clock.now();
    let (noted, due) = app.0.store.read(|view| {
        Ok::<_, Error>((meta::slots_noted_at(view)?, schedules::due(view, now, BATCH)?))
    })?;
    if noted.is_some_and(|it| it.since(now) > STEP_MIN) {
        let moved = reckon_again(app, now).await?;
        tracing::warn!(schedules = moved, "the clock was set back; next slots were reckoned again");
        return Ok(Progress::More);
    }
    if due.is_empty() {
        return rest(app, now);
    }
    let is_all = due.len() < BATCH;
    let places: Vec<_> = due.into_iter().map(|it| (it, app.0.entropy.id(now))).collect();
    let writer = app.clone();
    let decide = app.0.store.write(move |txn| {
        let mut decided = Vec::with_capacity(places.len());
        for (place, id) in &places {
            let desk = Desk { app: &writer, now, cause };
            decided.extend(desk.decide(txn, *place, *id)?);
        }
        meta::note_slots(txn, now)?;
        Ok::<_, Error>(decided)
    });
    for Decided { run, verdict, missed } in decide.await? {
        app.count_slots(verdict, 1);
        app.count_slots(Verdict::Missed, missed);
        if let Some(run) = run {
            app.accepted(&run);
        }
    }
    if is_all { rest(app, app.0.clock.now()) } else { Ok(Progress::More) }
}

/// Waits until something may be due: at most for `longest`, and not while draining.
///
/// # Cancel safety
///
/// Safe: a wake-up that is not taken stays for the next wait.
pub async fn wait(app: &App, longest: Duration) {
    tokio::select! {
        () = app.0.slots.notified() => {}
        () = app.0.clock.sleep(longest) => {}
        () = app.drains() => {}
    }
}

/// How long nothing is due.
fn rest(app: &App, now: Timestamp) -> Result<Progress, Error> {
    let next = app.0.store.read(|view| Ok::<_, Error>(schedules::next_slot(view)?))?;
    Ok(match next.map(|it| it.since(now)) {
        Some(Duration::ZERO) => Progress::More,
        Some(pause) => Progress::Until(pause),
        None => Progress::Idle,
    })
}

/// Reckons every next slot again, for a clock that was set back; how many have changed.
async fn reckon_again(app: &App, now: Timestamp) -> Result<usize, Error> {
    let (mut moved, mut last) = (0_usize, None);
    loop {
        let from = last;
        let some =
            app.0.store.read(|view| Ok::<_, Error>(schedules::enabled(view, from, BATCH)?))?;
        let Some(end) = some.last() else { break };
        last = Some(*end);
        let reckon = app.0.store.write(move |txn| {
            let mut moved = 0_usize;
            for place in &some {
                let Some(before) = read(txn, *place)? else { continue };
                // What is due on either clock is decided, not put off.
                if place.at <= now {
                    continue;
                }
                let Ok(cron) = Cron::parse(&before.cron) else { continue };
                // A slot that came between the step and this look is due.
                let next = next_undecided(txn, &before, &cron, now.before(STEP_MIN))?;
                if next.is_some() && next != before.next_run_at {
                    let after = Schedule { next_run_at: next, ..before.clone() };
                    schedules::put(txn, Some(&before), &after)?;
                    moved = moved.saturating_add(1);
                }
            }
            Ok::<_, Error>(moved)
        });
        moved = moved.saturating_add(reckon.await?);
        if app.is_draining() {
            return Ok(moved);
        }
    }
    app.0.store.write(move |txn| Ok::<_, Error>(meta::reset_slots(txn, now)?)).await?;
    Ok(moved)
}

/// The slots of a schedule that were decided.
struct Decided {
    /// The run of the latest one.
    run: Option<Run>,
    /// What became of the latest one.
    verdict: Verdict,
    /// How many there were before it.
    missed: u32,
}

/// Where slots are decided.
struct Desk<'a> {
    app: &'a App,
    now: Timestamp,
    cause: Cause,
}

impl Desk<'_> {
    /// Decides all slots of a schedule that are due; the latest of them can become the run `run`.
    fn decide(
        &self,
        txn: &mut Txn<'_>,
        place: Upcoming,
        run: RunId,
    ) -> Result<Option<Decided>, Error> {
        let Some(before) = read(txn, place)? else { return Ok(None) };
        let mut after = before.clone();
        let Ok(cron) = Cron::parse(&before.cron) else {
            after.stop(Stopped::CronInvalid, self.now);
            schedules::put(txn, Some(&before), &after)?;
            return Ok(Some(Decided { run: None, verdict: Verdict::Error, missed: 0 }));
        };
        let mut decided = None;
        let (account, id) = (place.account, place.id);
        let due = before.due(&cron, self.now, |it| ticks::exists(txn, account, id, it))?;
        if let Some(slots) = due {
            if let Some((slot, count)) = slots.older {
                line(txn, &mut after, &cron, self.too_late(slot, count))?;
            }
            let (tick, run) = self.latest(txn, &before, slots.latest, run)?;
            line(txn, &mut after, &cron, tick)?;
            after.stop_after(tick.verdict, self.now);
            let missed = slots.older.map_or(0, |it| it.1);
            decided = Some(Decided { run, verdict: tick.verdict, missed });
        }
        if after.is_enabled() {
            after.next_run_at = next_undecided(txn, &after, &cron, self.now)?;
            if after.next_run_at.is_none() {
                after.stop(Stopped::CronInvalid, self.now);
            }
        }
        schedules::put(txn, Some(&before), &after)?;
        Ok(decided)
    }

    /// Decides the latest slot of a schedule.
    fn latest(
        &self,
        txn: &mut Txn<'_>,
        schedule: &Schedule,
        slot: Timestamp,
        id: RunId,
    ) -> Result<(Tick, Option<Run>), Error> {
        if !schedule.wants(slot, self.now, self.app.0.settings.schedules.missed_window) {
            return Ok((self.too_late(slot, 1), None));
        }
        let (verdict, run) = match self.start(txn, schedule, slot, id) {
            Ok(run) => (Verdict::Fired, Some(run)),
            Err(Refused::Slot(verdict)) => (verdict, None),
            Err(Refused::Store(error)) => return Err(error),
        };
        let run_id = run.as_ref().map(|it| it.id);
        Ok((Tick { slot, decided_at: self.now, verdict, run: run_id, slots: 1 }, run))
    }

    /// Starts the run of a slot.
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
        let (Some(_), Some(account)) = (agent, account) else {
            return Err(Refused::Slot(Verdict::Error));
        };
        let price = inner.prices.of_run(&schedule.kind, account.currency);
        let price = price.ok_or(Refused::Slot(Verdict::Error))?;
        if !schedule.overlap.allows(runs::count_active(txn, schedule.account, schedule.id, 2)?) {
            return Err(Refused::Slot(Verdict::SkippedOverlap));
        }
        let blank = Run::of_schedule(schedule, id, price, self.now);
        let trigger = Trigger::Schedule { schedule: schedule.id, scheduled_for: slot };
        let run = Run { trigger, ..blank };
        let limit = inner.settings.pending_runs;
        let terms = Terms { currency: account.currency, limit, budget: None };
        match accept(txn, &run, terms) {
            Ok(()) => Ok(run),
            Err(Error::Balance { .. }) => Err(Refused::Slot(Verdict::SkippedBalance)),
            Err(Error::QueueFull { .. }) => Err(Refused::Slot(Verdict::SkippedQueueFull)),
            Err(error) => Err(Refused::Store(error)),
        }
    }

    /// The line about slots for which it is too late.
    fn too_late(&self, slot: Timestamp, slots: u32) -> Tick {
        let verdict = match self.cause {
            Cause::Absence => Verdict::Missed,
            Cause::FullDisk => Verdict::SkippedStorage,
        };
        Tick { slot, decided_at: self.now, verdict, run: None, slots }
    }
}

/// Writes a line about slots that were not decided before.
fn line(txn: &mut Txn<'_>, schedule: &mut Schedule, cron: &Cron, tick: Tick) -> Result<(), Error> {
    ticks::insert(txn, schedule, &tick)?;
    schedule.note(cron, &tick);
    Ok(())
}

/// Why a slot became no run.
enum Refused {
    Slot(Verdict),
    Store(Error),
}

impl From<store::Error> for Refused {
    fn from(error: store::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Schedule {
    /// Stops it when that was its last slot.
    fn stop_after(&mut self, verdict: Verdict, now: Timestamp) {
        let why = match (verdict, self.repeat) {
            (Verdict::Error, _) => Some(Stopped::KindUnavailable),
            (Verdict::Fired, Repeat::Once) => Some(Stopped::OneShotDone),
            (Verdict::Missed | Verdict::SkippedStorage, Repeat::Once) => {
                Some(Stopped::OneShotMissed)
            }
            // What was skipped for a passing reason is tried again at the next slot.
            (Verdict::Fired | Verdict::Missed | Verdict::SkippedStorage, Repeat::Always)
            | (
                Verdict::SkippedOverlap | Verdict::SkippedBalance | Verdict::SkippedQueueFull,
                Repeat::Once | Repeat::Always,
            ) => None,
        };
        if let Some(why) = why {
            self.stop(why, now);
        }
    }
}

impl App {
    fn count_slots(&self, verdict: Verdict, slots: u32) {
        let (slots, [fired, skipped, missed]) = (u64::from(slots), &self.0.metrics.slots);
        match verdict {
            Verdict::Fired => fired.add(slots),
            Verdict::Missed | Verdict::SkippedStorage => missed.add(slots),
            Verdict::SkippedOverlap
            | Verdict::SkippedBalance
            | Verdict::SkippedQueueFull
            | Verdict::Error => skipped.add(slots),
        }
    }
}

/// The schedule of a place in the index; a place that leads nowhere is taken out.
fn read(txn: &mut Txn<'_>, place: Upcoming) -> Result<Option<Schedule>, Error> {
    match schedules::find(txn, place.account, place.id) {
        Ok(Some(found)) if found.next_run_at == Some(place.at) => Ok(Some(found)),
        Ok(Some(_) | None) => {
            schedules::discard(txn, place)?;
            Ok(None)
        }
        // One damaged record must not keep all others waiting; the doctor names it.
        Err(store::Error::Damaged { table }) => {
            tracing::error!(table, schedule.id = %place.id, "a damaged schedule does not fire");
            schedules::discard(txn, place)?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The first slot after `now` that was not decided yet.
fn next_undecided(
    txn: &Txn<'_>,
    schedule: &Schedule,
    cron: &Cron,
    now: Timestamp,
) -> Result<Option<Timestamp>, Error> {
    let (account, id) = (schedule.account, schedule.id);
    Ok(schedule.next_undecided(cron, now, |slot| ticks::exists(txn, account, id, slot))?)
}

/// Schedules that are decided in one transaction.
const BATCH: usize = 200;
/// A step of the clock that is taken for one; less is the drift of any clock.
const STEP_MIN: Duration = Duration::from_secs(2);
