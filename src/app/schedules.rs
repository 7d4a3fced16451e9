//! Schedules, as their owner handles them: create, look at, change, run now, delete.
//!
//! Source: service interface, "Schedule"; the contract, section 7.

mod look;
pub use look::{FullSchedule, Listing, Log, find, list, list_all, log, owner_of};

use std::time::Duration;

use serde_json::{Map, Value};

use crate::app::runs::{self, Terms, input_error};
use crate::app::{App, Error};
use crate::domain::account::Owner;
use crate::domain::cron::Cron;
use crate::domain::decided::Decided;
use crate::domain::limits::{self, INPUT_BYTES_MAX};
use crate::domain::money::Amount;
use crate::domain::run::{Run, RunId, ScheduleId, Status, Trigger};
use crate::domain::schedule::{
    Channel, Counts, LastRun, MissedSlots, Overlap, Repeat, Schedule, Stopped,
};
use crate::domain::time::Timestamp;
use crate::store::{meta, schedules};

/// What an operator decides about schedules.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Schedules of one account.
    pub per_account: u32,
    /// How old a slot may be that becomes a late run.
    pub missed_window: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            per_account: limits::SCHEDULES_DEFAULT,
            missed_window: limits::MISSED_WINDOW_DEFAULT,
        }
    }
}

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct NewSchedule {
    /// The agent of its runs.
    pub kind: String,
    /// The input of its runs.
    pub input: Map<String, Value>,
    /// When it fires.
    pub cron: String,
    /// Where its results go besides webhooks.
    pub channels: Vec<Channel>,
    /// How often it fires.
    pub repeat: Repeat,
    /// Whether it fires from the beginning.
    pub enabled: bool,
    /// What happens while an earlier run is not over.
    pub overlap: Overlap,
    /// What happens to slots for which nobody was there.
    pub missed: MissedSlots,
}

/// What is to be changed; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Another expression.
    pub cron: Option<String>,
    /// Another input.
    pub input: Option<Map<String, Value>>,
    /// Whether it fires.
    pub enabled: Option<bool>,
}

/// Accepts a schedule.
///
/// # Errors
///
/// [`Error::KindNotAllowed`], [`Error::UnknownKind`], [`Error::NotSchedulable`],
/// [`Error::Input`], [`Error::Cron`], [`Error::TooManySchedules`].
pub async fn create(app: &App, owner: Owner, new: NewSchedule) -> Result<FullSchedule, Error> {
    let input = checked_input(app, owner, &new.kind, &new.input)?;
    let cron = Cron::parse(&new.cron).map_err(Error::Cron)?;
    let now = app.0.clock.now();
    let mut channels = new.channels;
    channels.sort_unstable();
    channels.dedup();
    let mut schedule = Schedule {
        id: app.0.entropy.id(now),
        account: owner.account,
        key: owner.key,
        kind: new.kind,
        input,
        cron: new.cron,
        channels,
        repeat: new.repeat,
        overlap: new.overlap,
        missed: new.missed,
        stopped: Some(Stopped::User),
        next_run_at: None,
        decided: Decided::default(),
        counts: Counts::default(),
        last_run: None,
        last_skip: None,
        created_at: now,
        updated_at: now,
    };
    if new.enabled {
        schedule.start(&cron, now);
    }
    let (kept, limit) = (schedule.clone(), app.0.settings.schedules.per_account);
    let create = app.0.store.write(move |txn| {
        if schedules::count(txn, Some(kept.account))? >= u64::from(limit) {
            return Err(Error::TooManySchedules { limit });
        }
        schedules::put(txn, None, &kept)?;
        Ok(meta::note_slots(txn, now)?)
    });
    create.await?;
    app.0.slots.notify_one();
    Ok(app.full(owner, schedule, None))
}

/// Changes the owner's schedule, as a whole or not at all.
///
/// Another expression or another beginning counts from now on: no slot that has passed is made up
/// for. Another input is that of later runs. From a change on that does more than stop it, the
/// schedule runs for the key that was shown: whoever says what is run pays from their budget.
/// Source: the contract, section 7.
///
/// # Errors
///
/// [`Error::NotFound`], [`Error::Cron`], [`Error::Input`]; [`Error::UnknownKind`] when a schedule
/// is started whose agent is gone, [`Error::KindNotAllowed`] when the key is not meant for its kind
/// and would do more than stop it.
pub async fn change(
    app: &App,
    owner: Owner,
    id: ScheduleId,
    change: Change,
) -> Result<FullSchedule, Error> {
    let FullSchedule { schedule, .. } = find(app, owner, id)?;
    let cron = change.cron.map(|text| Cron::parse(&text).map(|it| (text, it)));
    let cron = cron.transpose().map_err(Error::Cron)?;
    let input =
        change.input.map(|it| checked_input(app, owner, &schedule.kind, &it)).transpose()?;
    let does_more = cron.is_some() || input.is_some() || change.enabled == Some(true);
    if does_more {
        app.check_kind(owner.key, &schedule.kind)?;
    }
    if change.enabled == Some(true) {
        schedulable(app, owner, &schedule.kind)?;
    }
    let (enabled, now) = (change.enabled, app.0.clock.now());
    let put = app.0.store.write(move |txn| {
        let before = schedules::find(txn, owner.account, id)?.ok_or(Error::NotFound)?;
        let mut after = before.clone();
        if let Some((text, cron)) = &cron {
            after.change_cron(text.clone(), cron, now);
        }
        if let Some(input) = &input
            && *input != after.input
        {
            after.input.clone_from(input);
            after.updated_at = after.updated_at.max(now);
        }
        match enabled {
            Some(true) if !after.is_enabled() => {
                let cron = Cron::parse(&after.cron).map_err(Error::Cron)?;
                after.start(&cron, now);
            }
            // A schedule that has stopped by itself keeps its reason.
            Some(false) if after.is_enabled() => after.stop(Stopped::User, now),
            Some(_) | None => {}
        }
        if after != before {
            if does_more {
                after.key = owner.key.or(after.key);
            }
            schedules::put(txn, Some(&before), &after)?;
            meta::note_slots(txn, now)?;
        }
        Ok::<_, Error>(after)
    });
    let schedule = put.await?;
    app.0.slots.notify_one();
    app.0.store.read(|view| app.looked_up(view, owner, schedule))
}

/// Deletes the owner's schedule. Its runs stay, also those that have not begun.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such schedule.
pub async fn delete(app: &App, owner: Owner, id: ScheduleId) -> Result<(), Error> {
    let delete = app.0.store.write(move |txn| {
        let found = schedules::find(txn, owner.account, id)?.ok_or(Error::NotFound)?;
        Ok::<_, Error>(schedules::remove(txn, &found)?)
    });
    delete.await
}

/// Runs the owner's schedule now, whether it is stopped or not.
///
/// The run is one of the schedule to its agent: it compares with the baseline and may find nothing
/// new. The next slot stays, and so does a schedule that fires once.
///
/// # Errors
///
/// [`Error::NotFound`], [`Error::KindNotAllowed`], [`Error::UnknownKind`], [`Error::Balance`],
/// [`Error::QueueFull`].
pub async fn run_now(app: &App, owner: Owner, id: ScheduleId) -> Result<Run, Error> {
    let FullSchedule { schedule, .. } = find(app, owner, id)?;
    let price = permitted(app, owner, &schedule.kind)?;
    let now = app.0.clock.now();
    let blank = Run::of_schedule(&schedule, app.0.entropy.id(now), price, now);
    let run = Run { key: owner.key, trigger: Trigger::RunNow { schedule: id }, ..blank };
    let run = app.with_narrative(run, owner.currency);
    let budget = owner.key.and_then(|it| app.0.keys.restrictions(it)).and_then(|it| it.budget);
    let (currency, limit) = (owner.currency, app.0.settings.pending_runs);
    let accept = app.0.store.write(move |txn| {
        let before = schedules::find(txn, owner.account, id)?.ok_or(Error::NotFound)?;
        let run = Run { input: before.input.clone(), ..run.clone() };
        runs::accept(txn, &run, Terms { currency, limit, budget })?;
        let mut after = before.clone();
        after.last_run = Some(LastRun { id: run.id, at: now });
        schedules::put(txn, Some(&before), &after)?;
        Ok::<_, Error>(run)
    });
    let run = accept.await?;
    app.accepted(&run);
    Ok(run)
}

impl Run {
    /// A run of a schedule that was not accepted yet, for its next slot.
    pub(in crate::app) fn of_schedule(
        schedule: &Schedule,
        id: RunId,
        price: Amount,
        now: Timestamp,
    ) -> Self {
        let scheduled_for = schedule.next_run_at.unwrap_or(now);
        Self {
            id,
            account: schedule.account,
            key: schedule.key,
            kind: schedule.kind.clone(),
            input: schedule.input.clone(),
            external_id: None,
            trigger: Trigger::Schedule { schedule: schedule.id, scheduled_for },
            status: Status::Pending,
            hold: price,
            model_hold: Amount::ZERO,
            cost: Amount::ZERO,
            attempts: 0,
            due_at: now,
            created_at: now,
            started_at: None,
            finished_at: None,
            updated_at: now,
            failure: None,
            cancel_requested: false,
        }
    }
}

/// The price of a run of a kind that the owner's key may schedule.
fn permitted(app: &App, owner: Owner, kind: &str) -> Result<Amount, Error> {
    app.check_kind(owner.key, kind)?;
    schedulable(app, owner, kind)
}

/// The price of a run of a kind that may be scheduled.
fn schedulable(app: &App, owner: Owner, kind: &str) -> Result<Amount, Error> {
    let agent = app.0.catalogue.find(kind).ok_or(Error::UnknownKind)?;
    if !agent.entry().schedulable {
        return Err(Error::NotSchedulable);
    }
    app.0.prices.of_run(kind, owner.currency).ok_or(Error::UnknownKind)
}

fn checked_input(
    app: &App,
    owner: Owner,
    kind: &str,
    input: &Map<String, Value>,
) -> Result<String, Error> {
    permitted(app, owner, kind)?;
    let agent = app.0.catalogue.find(kind).ok_or(Error::UnknownKind)?;
    let input = agent.accept(input).map_err(input_error)?;
    if input.len() > INPUT_BYTES_MAX {
        return Err(Error::value("input", "must not be larger than 64 KiB"));
    }
    Ok(input)
}
