//! Schedules, as they are looked at: one, a list, the log of one.

use crate::app::schedules::schedulable;
use crate::app::{App, Error};
use crate::domain::account::Owner;
use crate::domain::money::{Amount, Currency};
use crate::domain::run::{ScheduleId, Status};
use crate::domain::schedule::Schedule;
use crate::domain::slot::Tick;
use crate::store::{self, Tables, runs, schedules, ticks};

/// A schedule, how its last run ended, and what a run costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullSchedule {
    /// The schedule.
    pub schedule: Schedule,
    /// How its last run does; none when it has none, or when that was deleted.
    pub last_status: Option<Status>,
    /// What one run costs; none when the kind cannot be scheduled any more.
    pub price: Option<Amount>,
    /// What its owner's balance counts in.
    pub currency: Currency,
}

/// A part of a list of schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The schedules, oldest first.
    pub schedules: Vec<FullSchedule>,
    /// How many there are.
    pub total: u64,
}

/// A part of a schedule's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The lines, what was decided last first.
    pub ticks: Vec<Tick>,
    /// How many lines there are.
    pub total: u32,
}

/// A part of the owner's schedules, oldest first.
///
/// # Errors
///
/// What the store says.
pub fn list(app: &App, owner: Owner, offset: usize, limit: usize) -> Result<Listing, Error> {
    app.0.store.read(|view| {
        let found = schedules::scan(view, Some(owner.account), offset, limit)?.into_iter();
        let schedules = found.map(|it| app.looked_up(view, owner, it));
        let schedules = schedules.collect::<Result<_, _>>()?;
        Ok(Listing { schedules, total: schedules::count(view, Some(owner.account))? })
    })
}

/// A part of everybody's schedules, for the operator: those of the oldest account first.
///
/// # Errors
///
/// What the store says.
pub fn list_all(app: &App, offset: usize, limit: usize) -> Result<Listing, Error> {
    app.0.store.read(|view| {
        let mut listed = Vec::new();
        // Schedules of one account stand together, so the last owner is nearly always the next.
        let mut last: Option<Owner> = None;
        for schedule in schedules::scan(view, None, offset, limit)? {
            let known = last.filter(|it| it.account == schedule.account);
            let owner = match known {
                Some(owner) => owner,
                None => match store::accounts::find(view, schedule.account) {
                    Ok(Some(it)) => Owner { account: it.id, key: None, currency: it.currency },
                    // The doctor names such an account; the others are shown.
                    Ok(None) | Err(store::Error::Damaged { .. }) => continue,
                    Err(error) => return Err(error.into()),
                },
            };
            last = Some(owner);
            listed.push(app.looked_up(view, owner, schedule)?);
        }
        Ok(Listing { schedules: listed, total: schedules::count(view, None)? })
    })
}

/// The owner's schedule of that id.
///
/// # Errors
///
/// [`Error::NotFound`] when there is none.
pub fn find(app: &App, owner: Owner, id: ScheduleId) -> Result<FullSchedule, Error> {
    app.0.store.read(|view| {
        let found = schedules::find(view, owner.account, id)?.ok_or(Error::NotFound)?;
        app.looked_up(view, owner, found)
    })
}

/// A part of the log of the owner's schedule.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such schedule.
pub fn log(
    app: &App,
    owner: Owner,
    id: ScheduleId,
    offset: usize,
    limit: usize,
) -> Result<Log, Error> {
    app.0.store.read(|view| {
        let found = schedules::find(view, owner.account, id)?.ok_or(Error::NotFound)?;
        let ticks = ticks::scan(view, owner.account, id, offset, limit)?;
        Ok(Log { ticks, total: found.counts.lines })
    })
}

/// Who owns a schedule, for the operator, who knows its id alone.
///
/// # Errors
///
/// [`Error::NotFound`] when nobody does.
pub fn owner_of(app: &App, id: ScheduleId) -> Result<Owner, Error> {
    app.0.store.read(|view| {
        for account in store::accounts::scan(view)? {
            if schedules::find(view, account.id, id)?.is_some() {
                return Ok(Owner { account: account.id, key: None, currency: account.currency });
            }
        }
        Err(Error::NotFound)
    })
}

impl App {
    pub(super) fn looked_up(
        &self,
        view: &impl Tables,
        owner: Owner,
        schedule: Schedule,
    ) -> Result<FullSchedule, Error> {
        let last = schedule.last_run.map(|it| runs::find(view, owner.account, it.id));
        let last = match last.transpose() {
            Ok(found) => found.flatten().map(|it| it.status),
            // A damaged run does not hide its schedule.
            Err(store::Error::Damaged { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(self.full(owner, schedule, last))
    }

    pub(super) fn full(
        &self,
        owner: Owner,
        schedule: Schedule,
        last_status: Option<Status>,
    ) -> FullSchedule {
        let price = schedulable(self, owner, &schedule.kind).ok();
        FullSchedule { schedule, last_status, price, currency: owner.currency }
    }
}
