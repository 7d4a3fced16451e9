//! The log of each schedule: its last slots and what became of them.

use serde::{Deserialize, Serialize};

use crate::domain::account::AccountId;
use crate::domain::limits::TICKS_KEPT;
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::schedule::Schedule;
use crate::domain::slot::{Tick, Verdict};
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::schedules::{code, key, meant};
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TickRow {
    decided_at: Timestamp,
    verdict: u8,
    run: Option<RunId>,
    slots: u32,
}

impl Record for TickRow {}

/// Writes a line about a slot that has none, and takes out the oldest when there are too many.
///
/// The schedule counts its lines; it is the caller's to keep.
///
/// # Errors
///
/// What the disk says.
pub fn insert(txn: &mut Txn<'_>, schedule: &mut Schedule, tick: &Tick) -> Result<(), Error> {
    let prefix = key(schedule.account, schedule.id);
    let row = TickRow {
        decided_at: tick.decided_at,
        verdict: code(&Verdict::ALL, tick.verdict),
        run: tick.run,
        slots: tick.slots,
    };
    txn.put(Table::Ticks, &prefix.time(tick.slot), &row)?;
    if schedule.counts.lines < TICKS_KEPT {
        schedule.counts.lines = schedule.counts.lines.saturating_add(1);
        return Ok(());
    }
    let oldest = view::rows_of(txn, Table::Ticks, &prefix)?.next();
    let oldest = oldest.map(|row| Ok::<_, Error>(Key::new().bytes(row?.0.value()))).transpose()?;
    match oldest {
        Some(oldest) => txn.remove(Table::Ticks, &oldest).map(|_| ()),
        None => Ok(()),
    }
}

/// Whether there is a line about a slot.
///
/// # Errors
///
/// What the disk says.
pub fn exists(
    tables: &impl Tables,
    account: AccountId,
    id: ScheduleId,
    slot: Timestamp,
) -> Result<bool, Error> {
    let found = tables.row(Table::Ticks, key(account, id).time(slot).as_slice(), |_| Ok(()))?;
    Ok(found.is_some())
}

/// A part of a schedule's log, the latest slot first.
///
/// # Errors
///
/// What the disk says.
pub fn scan(
    tables: &impl Tables,
    account: AccountId,
    id: ScheduleId,
    offset: usize,
    limit: usize,
) -> Result<Vec<Tick>, Error> {
    let mut ticks = Vec::new();
    let rows = view::rows_of(tables, Table::Ticks, &key(account, id))?;
    for row in rows.rev().skip(offset).take(limit) {
        let (key, value) = row?;
        ticks.extend(view::sound(decode(key.value(), value.value()))?);
    }
    Ok(ticks)
}

/// Forgets the log of a schedule.
pub(crate) fn remove_all(
    txn: &mut Txn<'_>,
    account: AccountId,
    id: ScheduleId,
) -> Result<(), Error> {
    let rows = view::rows_of(txn, Table::Ticks, &key(account, id))?;
    let keys = rows.map(|row| Ok(Key::new().bytes(row?.0.value())));
    for key in keys.collect::<Result<Vec<_>, Error>>()? {
        txn.remove(Table::Ticks, &key)?;
    }
    Ok(())
}

/// Reads a line from its row.
pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Tick, Error> {
    let row: TickRow = codec::decode(Table::Ticks, key, value)?;
    let mut parts = Parts(key);
    let slot = parts.take::<32>().and_then(|_| parts.take::<8>()).map(u64::from_be_bytes);
    let slot = slot.and_then(|it| i64::try_from(it).ok());
    let slot = slot.ok_or(Error::Damaged { table: Table::Ticks.name() })?;
    Ok(Tick {
        slot: Timestamp::from_millis(slot),
        decided_at: row.decided_at,
        verdict: meant(&Verdict::ALL, row.verdict)?,
        run: row.run,
        slots: row.slots,
    })
}
