//! Due slots become runs: one transaction for many schedules, and a line for every slot.
//!
//! What a slot becomes, its line, what the schedule knows as decided and its next slot are one
//! commit, so a crash leaves a slot undecided or decided, and nothing between.
//! Source: the contract, section 7; "Driver".

mod desk;
mod reckoning;
use desk::{Decided, Desk, Manner};
pub use reckoning::Reckoning;

use std::time::Duration;

use crate::app::{App, Error};
use crate::domain::run::RunId;
use crate::domain::schedule::Schedule;
use crate::domain::slot::Verdict;
use crate::domain::time::Timestamp;
use crate::store::schedules::{self, Upcoming};
use crate::store::{self, Txn, meta};

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

/// Decides what is due, some schedules at a time; after the clock was set back, also reckons the
/// next slots of some others again.
///
/// # Errors
///
/// What the store says; nothing of what was tried is decided then.
pub async fn fire(app: &App, cause: Cause, reckoning: &mut Reckoning) -> Result<Progress, Error> {
    let now = app.0.clock.now();
    let (noted, due) = app.0.store.read(|view| {
        Ok::<_, Error>((meta::slots_noted_at(view)?, schedules::due(view, now, BATCH)?))
    })?;
    let is_behind = noted.is_some_and(|it| it.since(now) > STEP_MIN);
    if is_behind {
        reckoning.go_on(app, now).await?;
    } else {
        *reckoning = Reckoning::default();
    }
    let is_all = due.len() < BATCH;
    if !due.is_empty() {
        let places: Vec<_> = due.into_iter().map(|it| (it, app.0.entropy.id(now))).collect();
        decide(app, Look { now, cause }, places).await?;
    }
    if is_behind || !is_all { Ok(Progress::More) } else { rest(app, app.0.clock.now()) }
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

/// When slots are looked at, and what has kept them.
#[derive(Clone, Copy)]
struct Look {
    now: Timestamp,
    cause: Cause,
}

/// A place in the index of what fires next, and the id of the run that it may become.
type Place = (Upcoming, RunId);

/// Decides what is due at some places, in one commit if it can be.
///
/// Where a record is damaged, each is decided alone, so that one cannot keep all others waiting.
async fn decide(app: &App, look: Look, places: Vec<Place>) -> Result<(), Error> {
    match commit(app, look, places.clone(), Manner::ByRule).await {
        Err(error) if is_fault(&error) => {}
        done => return done,
    }
    for place in places {
        match commit(app, look, vec![place], Manner::ByRule).await {
            Err(error) if is_fault(&error) => {
                let id = place.0.id;
                tracing::error!(schedule.id = %id, %error, "the slot of schedule {id} is passed over");
                pass_over(app, look, place).await?;
            }
            done => done?,
        }
    }
    Ok(())
}

/// Passes over a slot that cannot be decided; if not even that can be, the place is given up.
async fn pass_over(app: &App, look: Look, place: Place) -> Result<(), Error> {
    match commit(app, look, vec![place], Manner::AsError).await {
        Err(error) if is_fault(&error) => {
            let id = place.0.id;
            tracing::error!(schedule.id = %id, %error, "schedule {id} does not fire any more");
            let discard =
                move |txn: &mut Txn<'_>| Ok::<_, Error>(schedules::discard(txn, place.0)?);
            app.0.store.write(discard).await
        }
        done => done,
    }
}

/// Decides what is due at some places, all or nothing.
async fn commit(app: &App, look: Look, places: Vec<Place>, how: Manner) -> Result<(), Error> {
    let writer = app.clone();
    let decide = app.0.store.write(move |txn| {
        let mut decided = Vec::with_capacity(places.len());
        for (place, id) in &places {
            decided.extend(Desk { app: &writer, look, how }.decide(txn, *place, *id)?);
        }
        meta::note_slots(txn, look.now)?;
        Ok::<_, Error>(decided)
    });
    for Decided { run, verdict, missed } in decide.await? {
        app.count_slots(verdict, 1);
        app.count_slots(Verdict::Missed, missed);
        if let Some(run) = run {
            app.accepted(&run);
        }
    }
    Ok(())
}

/// Whether it lies in what is stored, and not in a disk that may be well again.
const fn is_fault(error: &Error) -> bool {
    matches!(error, Error::Internal(error) if !error.is_disk())
}

impl App {
    fn count_slots(&self, verdict: Verdict, slots: u32) {
        let (slots, [fired, skipped, missed]) = (u64::from(slots), &self.0.metrics.slots);
        match verdict {
            Verdict::Fired => fired.add(slots),
            Verdict::Missed | Verdict::SkippedStorage => missed.add(slots),
            Verdict::SkippedOverlap
            | Verdict::SkippedBalance
            | Verdict::SkippedBudget
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

/// Schedules that are decided in one transaction.
const BATCH: usize = 200;
/// A step of the clock that is taken for one; less is the drift of any clock.
const STEP_MIN: Duration = Duration::from_secs(2);
