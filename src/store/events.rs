//! Events, as they are kept: the bytes that are sent, for as long as a delivery needs them.

use serde::{Deserialize, Serialize};

use crate::domain::account::AccountId;
use crate::domain::event::{Event, EventId, EventType};
use crate::domain::run::RunId;
use crate::domain::time::Timestamp;
use crate::store::codec::Record;
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};
use crate::store::walk::last_id;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventRow {
    pub(in crate::store) run: RunId,
    kind: EventTypeRow,
    created_at: Timestamp,
    body: String,
    sha256: [u8; 32],
}

impl Record for EventRow {}

/// The layout of [`EventType`] on disk.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::store) enum EventTypeRow {
    Succeeded,
    Failed,
    NoSignal,
}

/// Keeps an event.
///
/// # Errors
///
/// What the disk says.
pub fn insert(txn: &mut Txn<'_>, event: &Event) -> Result<(), Error> {
    let row = EventRow {
        run: event.run,
        kind: event.kind.into(),
        created_at: event.created_at,
        body: event.body.clone(),
        sha256: event.sha256,
    };
    txn.put(Table::Events, &key(event.account, event.id), &row)?;
    txn.mark(Table::RunEvents, &run_key(event.account, event.run).id(event.id))
}

/// Forgets an event.
///
/// # Errors
///
/// What the disk says.
pub fn remove(txn: &mut Txn<'_>, account: AccountId, id: EventId, run: RunId) -> Result<(), Error> {
    txn.remove(Table::Events, &key(account, id))?;
    txn.remove(Table::RunEvents, &run_key(account, run).id(id)).map(|_| ())
}

/// The event of that account and id.
///
/// # Errors
///
/// What the disk says.
pub fn find(tables: &impl Tables, account: AccountId, id: EventId) -> Result<Option<Event>, Error> {
    let row: Option<EventRow> = view::record(tables, Table::Events, &key(account, id))?;
    Ok(row.map(|row| {
        let EventRow { run, kind, created_at, body, sha256 } = row;
        Event { id, account, run, kind: kind.into(), created_at, body, sha256 }
    }))
}

/// The events of a run: one, once it is over and there was somebody to tell.
///
/// # Errors
///
/// What the disk says.
pub fn of_run(tables: &impl Tables, account: AccountId, run: RunId) -> Result<Vec<EventId>, Error> {
    let rows = view::rows_of(tables, Table::RunEvents, &run_key(account, run))?;
    rows.map(|row| last_id(row?.0.value(), Table::RunEvents)).collect()
}

/// The key of an event.
pub(crate) fn key(account: AccountId, id: EventId) -> Key {
    Key::of(account).id(id)
}

/// The beginning of the keys of a run's events, in their index.
pub(crate) fn run_key(account: AccountId, run: RunId) -> Key {
    Key::of(account).id(run)
}

impl From<EventType> for EventTypeRow {
    fn from(kind: EventType) -> Self {
        match kind {
            EventType::Succeeded => Self::Succeeded,
            EventType::Failed => Self::Failed,
            EventType::NoSignal => Self::NoSignal,
        }
    }
}

impl From<EventTypeRow> for EventType {
    fn from(row: EventTypeRow) -> Self {
        match row {
            EventTypeRow::Succeeded => Self::Succeeded,
            EventTypeRow::Failed => Self::Failed,
            EventTypeRow::NoSignal => Self::NoSignal,
        }
    }
}
