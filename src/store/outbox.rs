//! Deliveries that are not over, as they are kept: what is due when, and what is under way.
//!
//! The rows are small and change twice an attempt: once when it is claimed, before anything is
//! sent, and once when it has ended. The log has the rest.

use serde::{Deserialize, Serialize};

use crate::domain::account::AccountId;
use crate::domain::delivery::Place;
use crate::domain::due::{Due, Uptime};
use crate::domain::receiver::ReceiverId;
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::receivers;
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenRow {
    sent: u32,
    due_at: Timestamp,
    pause_ms: u64,
    uptime: Option<(u64, u64)>,
    claim: Option<(u64, Timestamp)>,
}

impl Record for OpenRow {}

/// A delivery that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Attempts that were begun, the present one included.
    pub sent: u32,
    /// When the next one is due, unless one is under way.
    pub due: Due,
    /// The attempt that is under way.
    pub claim: Option<Claim>,
}

/// The right to send once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The boot of the daemon that has it.
    pub boot: u64,
    /// Since when.
    pub started_at: Timestamp,
}

/// Keeps what is due, or under way.
///
/// # Errors
///
/// What the disk says.
pub fn put(txn: &mut Txn<'_>, place: Place, open: &Open) -> Result<(), Error> {
    let row = OpenRow {
        sent: open.sent,
        due_at: open.due.at,
        pause_ms: open.due.pause_ms,
        uptime: open.due.uptime.map(|it| (it.boot, it.millis)),
        claim: open.claim.map(|it| (it.boot, it.started_at)),
    };
    txn.put(Table::Outbox, &key(place), &row)
}

/// What is due, or under way; `None` when the delivery is over, or gone.
///
/// # Errors
///
/// What the disk says.
pub fn find(tables: &impl Tables, place: Place) -> Result<Option<Open>, Error> {
    let row: Option<OpenRow> = view::record(tables, Table::Outbox, &key(place))?;
    Ok(row.map(|it| open(&it)))
}

/// Takes a delivery out that is over.
///
/// # Errors
///
/// What the disk says.
pub fn remove(txn: &mut Txn<'_>, place: Place) -> Result<(), Error> {
    txn.remove(Table::Outbox, &key(place)).map(|_| ())
}

/// Every delivery that is not over and whose record is sound, oldest first for each receiver.
///
/// # Errors
///
/// What the disk says.
pub fn scan(tables: &impl Tables) -> Result<Vec<(Place, Open)>, Error> {
    rows(tables, &Key::new())
}

/// Those of one receiver, oldest first.
///
/// # Errors
///
/// What the disk says.
pub fn of_receiver(
    tables: &impl Tables,
    account: AccountId,
    receiver: ReceiverId,
) -> Result<Vec<(Place, Open)>, Error> {
    rows(tables, &receivers::key(account, receiver))
}

/// The oldest one of a receiver that nobody is sending.
///
/// # Errors
///
/// What the disk says.
pub fn oldest(
    tables: &impl Tables,
    account: AccountId,
    receiver: ReceiverId,
) -> Result<Option<Place>, Error> {
    let prefix = receivers::key(account, receiver);
    for row in view::rows_of(tables, Table::Outbox, &prefix)? {
        let (key, value) = row?;
        let Some((place, open)) = view::sound(read(key.value(), value.value()))? else { continue };
        if open.claim.is_none() {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// The key of a delivery, here and in the log.
pub(crate) fn key(place: Place) -> Key {
    receivers::key(place.account, place.receiver).id(place.id)
}

/// The place that a key names.
pub(crate) fn place(key: &[u8]) -> Option<Place> {
    let mut parts = Parts(key);
    Some(Place { account: parts.id()?, receiver: parts.id()?, id: parts.id()? })
}

fn rows(tables: &impl Tables, prefix: &Key) -> Result<Vec<(Place, Open)>, Error> {
    let mut found = Vec::new();
    for row in view::rows_of(tables, Table::Outbox, prefix)? {
        let (key, value) = row?;
        found.extend(view::sound(read(key.value(), value.value()))?);
    }
    Ok(found)
}

fn read(key: &[u8], value: &[u8]) -> Result<(Place, Open), Error> {
    let row: OpenRow = codec::decode(Table::Outbox, key, value)?;
    let place = place(key).ok_or(Error::Damaged { table: Table::Outbox.name() })?;
    Ok((place, open(&row)))
}

fn open(row: &OpenRow) -> Open {
    let uptime = row.uptime.map(|(boot, millis)| Uptime { boot, millis });
    Open {
        sent: row.sent,
        due: Due { at: row.due_at, pause_ms: row.pause_ms, uptime },
        claim: row.claim.map(|(boot, started_at)| Claim { boot, started_at }),
    }
}
