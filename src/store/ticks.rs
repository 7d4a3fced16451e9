//! The log of each schedule: what became of its last slots, in the order of the decisions.
//!
//! It is for people to read. That no slot is decided twice is known from the schedule itself.

use serde::{Deserialize, Serialize};

use crate::domain::account::AccountId;
use crate::domain::limits::TICKS_KEPT;
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::schedule::Schedule;
use crate::domain::slot::{Tick, Verdict};
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::schedules::{code, key, meant};
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TickRow {
    slot: Timestamp,
    decided_at: Timestamp,
    verdict: u8,
    run: Option<RunId>,
    slots: u32,
}

impl Record for TickRow {}

/// Writes a line, and takes out the one that was written first when there are too many.
///
/// The schedule counts its lines; it is the caller's to keep. The order is that of writing, so a
/// clock that was set back neither hides new lines behind old ones nor takes them out first.
///
/// # Errors
///
/// What the disk says.
pub fn insert(txn: &mut Txn<'_>, schedule: &mut Schedule, tick: &Tick) -> Result<(), Error> {
    let prefix = key(schedule.account, schedule.id);
    let row = TickRow {
        slot: tick.slot,
        decided_at: tick.decided_at,
        verdict: code(&Verdict::ALL, tick.verdict),
        run: tick.run,
        slots: tick.slots,
    };
    let counts = &mut schedule.counts;
    let number = counts.written;
    txn.put(Table::Ticks, &prefix.u64(number), &row)?;
    counts.written = number.saturating_add(1);
    if counts.lines < TICKS_KEPT {
        counts.lines = counts.lines.saturating_add(1);
        return Ok(());
    }
    let first = number.saturating_sub(u64::from(TICKS_KEPT));
    txn.remove(Table::Ticks, &prefix.u64(first)).map(|_| ())
}

/// A part of a schedule's log, what was decided last first.
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
    Ok(Tick {
        slot: row.slot,
        decided_at: row.decided_at,
        verdict: meant(&Verdict::ALL, row.verdict)?,
        run: row.run,
        slots: row.slots,
    })
}
