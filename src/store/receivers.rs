//! Receivers, as they are kept: the record with its sealed secret, who is active, how each does.

use serde::{Deserialize, Serialize};

use crate::domain::account::AccountId;
use crate::domain::delivery::Status;
use crate::domain::health::{Health, State};
use crate::domain::receiver::{Receiver, ReceiverId};
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::seal::Sealed;
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables, View};
use crate::store::walk::last_id;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReceiverRow {
    url: String,
    secret: Sealed,
    fingerprint: String,
    created_at: Timestamp,
    pub(in crate::store) disabled_at: Option<Timestamp>,
}

impl Record for ReceiverRow {}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StandingRow {
    state: u8,
    failures: u32,
    slow: u32,
    last_attempt_at: Option<Timestamp>,
    last_success_at: Option<Timestamp>,
    pub(in crate::store) counts: [u64; Status::ALL.len()],
}

impl Record for StandingRow {}

/// How a receiver does, and how many deliveries it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// How it does.
    pub health: Health,
    /// Deliveries of each status, in the order of [`Status::ALL`].
    counts: [u64; Status::ALL.len()],
}

impl From<StandingRow> for Standing {
    fn from(row: StandingRow) -> Self {
        let states = [State::Unknown, State::Ok, State::Failing];
        let state = states.into_iter().find(|it| *it as u8 == row.state).unwrap_or_default();
        let StandingRow { failures, slow, last_attempt_at, last_success_at, counts, .. } = row;
        let health = Health { state, failures, slow, last_attempt_at, last_success_at };
        Self { health, counts }
    }
}

impl Standing {
    /// How many deliveries are of `status`.
    #[must_use]
    pub fn count(&self, status: Status) -> u64 {
        self.counts.get(status as usize).copied().unwrap_or_default()
    }

    /// How many deliveries are not over.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.count(Status::Pending).saturating_add(self.count(Status::Retrying))
    }

    pub(in crate::store) fn add(&mut self, status: Status) {
        if let Some(count) = self.counts.get_mut(status as usize) {
            *count = count.saturating_add(1);
        }
    }

    pub(in crate::store) fn take(&mut self, status: Status) {
        if let Some(count) = self.counts.get_mut(status as usize) {
            *count = count.saturating_sub(1);
        }
    }
}

/// Keeps a receiver, or what became of it, with its secret.
///
/// # Errors
///
/// What the disk says.
pub fn put(txn: &mut Txn<'_>, receiver: &Receiver, secret: &Sealed) -> Result<(), Error> {
    let row = ReceiverRow {
        url: receiver.url.clone(),
        secret: secret.clone(),
        fingerprint: receiver.fingerprint.clone(),
        created_at: receiver.created_at,
        disabled_at: receiver.disabled_at,
    };
    let key = key(receiver.account, receiver.id);
    txn.put(Table::Receivers, &key, &row)?;
    if receiver.disabled_at.is_none() {
        txn.mark(Table::ActiveReceivers, &key)
    } else {
        txn.remove(Table::ActiveReceivers, &key).map(|_| ())
    }
}

/// Forgets a receiver that has no deliveries any more.
///
/// # Errors
///
/// What the disk says.
pub fn remove(txn: &mut Txn<'_>, account: AccountId, id: ReceiverId) -> Result<(), Error> {
    for table in [Table::Receivers, Table::ActiveReceivers] {
        txn.remove(table, &key(account, id))?;
    }
    txn.remove_standing(account, id).map(|_| ())
}

/// The receiver of that account and id, and its secret.
///
/// # Errors
///
/// What the disk says.
pub fn find(
    tables: &impl Tables,
    account: AccountId,
    id: ReceiverId,
) -> Result<Option<(Receiver, Sealed)>, Error> {
    let found = view::record(tables, Table::Receivers, &key(account, id))?;
    Ok(found.map(|it| receiver(account, id, it)))
}

/// Every receiver of an account whose record is sound, oldest first.
///
/// # Errors
///
/// What the disk says.
pub fn scan(tables: &impl Tables, account: AccountId) -> Result<Vec<Receiver>, Error> {
    let mut receivers = Vec::new();
    for row in view::rows_of(tables, Table::Receivers, &Key::of(account))? {
        let (key, value) = row?;
        let id = last_id(key.value(), Table::Receivers);
        let row = codec::decode(Table::Receivers, key.value(), value.value());
        let found = id.and_then(|id| Ok(receiver(account, id, row?).0));
        receivers.extend(view::sound(found)?);
    }
    Ok(receivers)
}

/// The receivers of an account that are not disabled.
///
/// # Errors
///
/// What the disk says.
pub fn active(tables: &impl Tables, account: AccountId) -> Result<Vec<ReceiverId>, Error> {
    let rows = view::rows_of(tables, Table::ActiveReceivers, &Key::of(account))?;
    rows.map(|row| last_id(row?.0.value(), Table::ActiveReceivers)).collect()
}

/// Whether a receiver is there and not disabled.
///
/// # Errors
///
/// What the disk says.
pub fn is_active(tables: &impl Tables, account: AccountId, id: ReceiverId) -> Result<bool, Error> {
    let found = tables.row(Table::ActiveReceivers, key(account, id).as_slice(), |_| Ok(()))?;
    Ok(found.is_some())
}

/// How a receiver does, as it is on disk.
///
/// # Errors
///
/// What the disk says.
pub fn standing(view: &View, account: AccountId, id: ReceiverId) -> Result<Standing, Error> {
    standing_row(view, account, id).map(Standing::from)
}

/// The row of a receiver's standing. One that cannot be read is made again from the index that it
/// counts, so that deliveries go on; how the receiver did is forgotten.
pub(in crate::store) fn standing_row(
    tables: &impl Tables,
    account: AccountId,
    id: ReceiverId,
) -> Result<StandingRow, Error> {
    match view::record(tables, Table::Standings, &key(account, id)) {
        Ok(row) => Ok(row.unwrap_or_default()),
        Err(Error::Damaged { table }) => {
            tracing::error!(table, receiver.id = %id, "a damaged record was made again");
            let mut row = StandingRow::default();
            for (status, count) in Status::ALL.into_iter().zip(&mut row.counts) {
                let prefix = key(account, id).u8(status as u8);
                let found = view::rows_of(tables, Table::DeliveryStates, &prefix)?.count();
                *count = u64::try_from(found).unwrap_or(u64::MAX);
            }
            Ok(row)
        }
        Err(error) => Err(error),
    }
}

/// How a receiver does, as a transaction has left it.
///
/// # Errors
///
/// What the disk says.
pub fn standing_in(txn: &Txn<'_>, account: AccountId, id: ReceiverId) -> Result<Standing, Error> {
    txn.standing(account, id).map(Standing::from)
}

/// Changes how a receiver does.
pub(crate) fn put_standing(
    txn: &mut Txn<'_>,
    account: AccountId,
    id: ReceiverId,
    standing: &Standing,
) {
    let Standing { health, counts } = *standing;
    let row = StandingRow {
        state: health.state as u8,
        failures: health.failures,
        slow: health.slow,
        last_attempt_at: health.last_attempt_at,
        last_success_at: health.last_success_at,
        counts,
    };
    txn.put_standing(account, id, row);
}

/// The key of a receiver.
pub(crate) fn key(account: AccountId, id: ReceiverId) -> Key {
    Key::of(account).id(id)
}

fn receiver(account: AccountId, id: ReceiverId, row: ReceiverRow) -> (Receiver, Sealed) {
    let ReceiverRow { url, secret, fingerprint, created_at, disabled_at } = row;
    (Receiver { id, account, url, fingerprint, created_at, disabled_at }, secret)
}
