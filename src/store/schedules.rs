//! Schedules, as they are kept: the record, and the index of what fires next.

use serde::{Deserialize, Serialize};

use crate::domain::account::{AccountId, KeyId};
use crate::domain::decided::{Decided, Stretch};
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::schedule::{
    Channel, Counts, LastRun, MissedSlots, Overlap, Repeat, Schedule, Stopped,
};
use crate::domain::slot::Verdict;
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};
use crate::store::walk::last_id;
use crate::store::{baselines, ticks};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScheduleRow {
    key: Option<KeyId>,
    kind: String,
    input: String,
    cron: String,
    channels: Vec<u8>,
    repeat: u8,
    overlap: u8,
    missed: u8,
    stopped: Option<u8>,
    next_run_at: Option<Timestamp>,
    decided: Vec<(Timestamp, Timestamp)>,
    fired: u64,
    skipped: u64,
    missed_slots: u64,
    lines: u32,
    written: u64,
    last_run: Option<(RunId, Timestamp)>,
    last_skip: Option<(Timestamp, u8)>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl Record for ScheduleRow {}

/// How many schedules an account has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ScheduleCountRow(pub(in crate::store) u64);

impl Record for ScheduleCountRow {}

/// A schedule that fires next, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upcoming {
    /// Its next slot.
    pub at: Timestamp,
    /// Whose it is.
    pub account: AccountId,
    /// The schedule.
    pub id: ScheduleId,
}

/// Keeps a schedule, or what became of `before`.
///
/// # Errors
///
/// What the disk says.
pub fn put(txn: &mut Txn<'_>, before: Option<&Schedule>, after: &Schedule) -> Result<(), Error> {
    let old = before.and_then(due_key);
    let new = due_key(after);
    if old.as_ref().map(Key::as_slice) != new.as_ref().map(Key::as_slice) {
        if let Some(old) = old {
            txn.remove(Table::DueSchedules, &old)?;
        }
        if let Some(new) = new {
            txn.mark(Table::DueSchedules, &new)?;
        }
    }
    if before.is_none() {
        let more = count(txn, Some(after.account))?.saturating_add(1);
        txn.put(Table::ScheduleCounts, &Key::of(after.account), &ScheduleCountRow(more))?;
    }
    txn.put(Table::Schedules, &key(after.account, after.id), &row(after))
}

/// Forgets a schedule with its log and its baseline. Its runs stay.
///
/// # Errors
///
/// What the disk says.
pub fn remove(txn: &mut Txn<'_>, schedule: &Schedule) -> Result<(), Error> {
    if let Some(due) = due_key(schedule) {
        txn.remove(Table::DueSchedules, &due)?;
    }
    let fewer = count(txn, Some(schedule.account))?.saturating_sub(1);
    txn.put(Table::ScheduleCounts, &Key::of(schedule.account), &ScheduleCountRow(fewer))?;
    ticks::remove_all(txn, schedule.account, schedule.id)?;
    baselines::remove(txn, schedule.account, schedule.id)?;
    txn.remove(Table::Schedules, &key(schedule.account, schedule.id)).map(|_| ())
}

/// The schedule of that account and id.
///
/// # Errors
///
/// What the disk says.
pub fn find(
    tables: &impl Tables,
    account: AccountId,
    id: ScheduleId,
) -> Result<Option<Schedule>, Error> {
    let found = view::record(tables, Table::Schedules, &key(account, id))?;
    found.map(|it| schedule(account, id, it)).transpose()
}

/// A part of the schedules of an account, or of all, oldest first. One whose record is damaged is
/// left out of its place.
///
/// # Errors
///
/// What the disk says.
pub fn scan(
    tables: &impl Tables,
    account: Option<AccountId>,
    offset: usize,
    limit: usize,
) -> Result<Vec<Schedule>, Error> {
    let mut schedules = Vec::new();
    let rows = view::rows_of(tables, Table::Schedules, &account.map_or_else(Key::new, Key::of))?;
    for row in rows.skip(offset).take(limit) {
        let (key, value) = row?;
        schedules.extend(view::sound(decode(key.value(), value.value()))?);
    }
    Ok(schedules)
}

/// How many schedules an account has, or all have.
///
/// # Errors
///
/// What the disk says.
pub fn count(tables: &impl Tables, account: Option<AccountId>) -> Result<u64, Error> {
    if let Some(account) = account {
        let row: Option<ScheduleCountRow> =
            view::record(tables, Table::ScheduleCounts, &Key::of(account))?;
        return Ok(row.unwrap_or_default().0);
    }
    let mut all = 0_u64;
    for row in view::rows_of(tables, Table::ScheduleCounts, &Key::new())? {
        let (key, value) = row?;
        let read = codec::decode(Table::ScheduleCounts, key.value(), value.value());
        let ScheduleCountRow(some) = view::sound(read)?.unwrap_or_default();
        all = all.saturating_add(some);
    }
    Ok(all)
}

/// Up to `limit` schedules whose next slot is not after `now`, the earliest first.
///
/// # Errors
///
/// What the disk says.
pub fn due(tables: &impl Tables, now: Timestamp, limit: usize) -> Result<Vec<Upcoming>, Error> {
    let end = Key::new().time(now).end();
    let rows = tables.rows(Table::DueSchedules, &[], end.as_ref().map(Key::as_slice))?;
    rows.take(limit).map(|row| upcoming(row?.0.value())).collect()
}

/// Up to `limit` schedules that fire, in the order of their next slots, after `last`.
///
/// # Errors
///
/// What the disk says.
pub fn enabled(
    tables: &impl Tables,
    last: Option<Upcoming>,
    limit: usize,
) -> Result<Vec<Upcoming>, Error> {
    let start = last.map(|it| Key::new().time(it.at).id(it.account).id(it.id).u8(0));
    let start = start.unwrap_or_else(Key::new);
    let rows = tables.rows(Table::DueSchedules, start.as_slice(), None)?;
    rows.take(limit).map(|row| upcoming(row?.0.value())).collect()
}

/// When the next slot of any schedule is.
///
/// # Errors
///
/// What the disk says.
pub fn next_slot(tables: &impl Tables) -> Result<Option<Timestamp>, Error> {
    let first = tables.rows(Table::DueSchedules, &[], None)?.next();
    first.map(|row| upcoming(row?.0.value()).map(|it| it.at)).transpose()
}

/// Takes a place out of the index whose schedule is gone, cannot be read or fires at another time.
///
/// # Errors
///
/// What the disk says.
pub fn discard(txn: &mut Txn<'_>, place: Upcoming) -> Result<(), Error> {
    let key = Key::new().time(place.at).id(place.account).id(place.id);
    txn.remove(Table::DueSchedules, &key).map(|_| ())
}

/// The key of a schedule.
pub(crate) fn key(account: AccountId, id: ScheduleId) -> Key {
    Key::of(account).id(id)
}

/// The key under which a schedule stands in the index of what fires next.
pub(crate) fn due_key(schedule: &Schedule) -> Option<Key> {
    let next = schedule.next_run_at?;
    Some(Key::new().time(next).id(schedule.account).id(schedule.id))
}

/// Reads a schedule from its row.
pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Schedule, Error> {
    let account = Parts(key).id().ok_or_else(damaged)?;
    let id = last_id(key, Table::Schedules)?;
    schedule(account, id, codec::decode(Table::Schedules, key, value)?)
}

fn upcoming(key: &[u8]) -> Result<Upcoming, Error> {
    let mut parts = Parts(key);
    let at = parts.take::<8>().map(u64::from_be_bytes).and_then(|it| i64::try_from(it).ok());
    let (Some(at), Some(account), Some(id)) = (at, parts.id(), parts.id()) else {
        return Err(Error::Damaged { table: Table::DueSchedules.name() });
    };
    Ok(Upcoming { at: Timestamp::from_millis(at), account, id })
}

fn row(schedule: &Schedule) -> ScheduleRow {
    ScheduleRow {
        key: schedule.key,
        kind: schedule.kind.clone(),
        input: schedule.input.clone(),
        cron: schedule.cron.clone(),
        channels: schedule.channels.iter().map(|it| code(&Channel::ALL, *it)).collect(),
        repeat: code(&Repeat::ALL, schedule.repeat),
        overlap: code(&Overlap::ALL, schedule.overlap),
        missed: code(&MissedSlots::ALL, schedule.missed),
        stopped: schedule.stopped.map(|it| code(&Stopped::ALL, it)),
        next_run_at: schedule.next_run_at,
        decided: schedule.decided.stretches().iter().map(|it| (it.from, it.until)).collect(),
        fired: schedule.counts.fired,
        skipped: schedule.counts.skipped,
        missed_slots: schedule.counts.missed,
        lines: schedule.counts.lines,
        written: schedule.counts.written,
        last_run: schedule.last_run.map(|it| (it.id, it.at)),
        last_skip: schedule.last_skip.map(|(slot, it)| (slot, code(&Verdict::ALL, it))),
        created_at: schedule.created_at,
        updated_at: schedule.updated_at,
    }
}

fn schedule(account: AccountId, id: ScheduleId, row: ScheduleRow) -> Result<Schedule, Error> {
    let channels = row.channels.iter().map(|it| meant(&Channel::ALL, *it));
    let decided = row.decided.into_iter().map(|(from, until)| Stretch { from, until });
    let last_skip = |(slot, it)| Ok::<_, Error>((slot, meant(&Verdict::ALL, it)?));
    Ok(Schedule {
        id,
        account,
        key: row.key,
        kind: row.kind,
        input: row.input,
        cron: row.cron,
        channels: channels.collect::<Result<_, _>>()?,
        repeat: meant(&Repeat::ALL, row.repeat)?,
        overlap: meant(&Overlap::ALL, row.overlap)?,
        missed: meant(&MissedSlots::ALL, row.missed)?,
        stopped: row.stopped.map(|it| meant(&Stopped::ALL, it)).transpose()?,
        next_run_at: row.next_run_at,
        decided: Decided::restore(decided.collect()).ok_or_else(damaged)?,
        counts: Counts {
            fired: row.fired,
            skipped: row.skipped,
            missed: row.missed_slots,
            lines: row.lines,
            written: row.written,
        },
        last_run: row.last_run.map(|(id, at)| LastRun { id, at }),
        last_skip: row.last_skip.map(last_skip).transpose()?,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

/// The number that stands for a word: its place among all of them.
pub(in crate::store) fn code<T: Copy + PartialEq>(all: &[T], word: T) -> u8 {
    let place = all.iter().position(|it| *it == word).and_then(|it| u8::try_from(it).ok());
    place.unwrap_or(u8::MAX)
}

/// The word that a number stands for.
pub(in crate::store) fn meant<T: Copy>(all: &[T], code: u8) -> Result<T, Error> {
    all.get(usize::from(code)).copied().ok_or_else(damaged)
}

fn damaged() -> Error {
    Error::Damaged { table: Table::Schedules.name() }
}
