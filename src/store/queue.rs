//! Waiting work and work under way, as they are kept.
//!
//! A pending run stands in the queue of its account, a running one has a claim. A claim carries
//! the number of its attempt, which tells a late result from the awaited one. There are no
//! leases: a claim of an earlier boot belongs to nobody, because workers live in this process.

use serde::{Deserialize, Serialize};

use crate::domain::account::AccountId;
use crate::domain::run::{Class, Run, RunId};
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClaimRow {
    pub(in crate::store) account: AccountId,
    attempt: u32,
    boot: u64,
    claimed_at: Timestamp,
}

impl Record for ClaimRow {}

/// The right to execute a run once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Whose run it is.
    pub account: AccountId,
    /// The run.
    pub run: RunId,
    /// Which execution it is, from 1.
    pub attempt: u32,
    /// The boot that made it.
    pub boot: u64,
    /// When it was made.
    pub claimed_at: Timestamp,
}

/// A run that waits.
#[derive(Clone, Copy)]
pub struct Waiting {
    /// The run.
    pub run: RunId,
    /// From when on it may be started.
    pub due_at: Timestamp,
    place: Key,
}

/// Puts a pending run into the queue.
///
/// # Errors
///
/// What the disk says.
pub fn enqueue(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    txn.mark(Table::Queue, &place(run))
}

/// Takes a pending run out of the queue.
///
/// # Errors
///
/// What the disk says; [`Error::Damaged`] when it was not there.
pub fn remove(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    match txn.remove(Table::Queue, &place(run))? {
        true => Ok(()),
        false => Err(Error::Damaged { table: Table::Queue.name() }),
    }
}

/// Takes a place out of the queue whose run cannot be read.
///
/// # Errors
///
/// What the disk says.
pub fn discard(txn: &mut Txn<'_>, waiting: &Waiting) -> Result<(), Error> {
    txn.remove(Table::Queue, &waiting.place).map(|_| ())
}

/// The next run of an account that is due, or else the one that will be due first.
///
/// # Errors
///
/// What the disk says.
pub fn next(
    tables: &impl Tables,
    account: AccountId,
    now: Timestamp,
) -> Result<Option<Waiting>, Error> {
    let mut first: Option<Waiting> = None;
    // Rows that are not due stand behind all that are, save for those that stand in line longer
    // than they wait; there are few of them, and the look is bounded all the same.
    for row in view::rows_of(tables, Table::Queue, &Key::of(account))?.take(LOOK_MAX) {
        let waiting = waiting(row?.0.value())?;
        if waiting.due_at <= now {
            return Ok(Some(waiting));
        }
        if first.is_none_or(|it| waiting.due_at < it.due_at) {
            first = Some(waiting);
        }
    }
    Ok(first)
}

/// The accounts that have waiting runs.
///
/// # Errors
///
/// What the disk says.
pub fn accounts(tables: &impl Tables) -> Result<Vec<AccountId>, Error> {
    let mut accounts = Vec::new();
    let mut from = Some(Key::new());
    while let Some(start) = from {
        let Some(row) = tables.rows(Table::Queue, start.as_slice(), None)?.next() else { break };
        let account = Parts(row?.0.value()).id().ok_or_else(damaged)?;
        accounts.push(account);
        from = Key::of(account).end();
    }
    Ok(accounts)
}

/// Keeps the right to execute a run.
///
/// # Errors
///
/// What the disk says.
pub fn insert_claim(txn: &mut Txn<'_>, claim: &Claim) -> Result<(), Error> {
    let row = ClaimRow {
        account: claim.account,
        attempt: claim.attempt,
        boot: claim.boot,
        claimed_at: claim.claimed_at,
    };
    txn.put(Table::Claims, &Key::of(claim.run), &row)
}

/// The claim of a run.
///
/// # Errors
///
/// What the disk says.
pub fn find_claim(tables: &impl Tables, run: RunId) -> Result<Option<Claim>, Error> {
    let row: Option<ClaimRow> = view::record(tables, Table::Claims, &Key::of(run))?;
    Ok(row.map(|it| claim(run, &it)))
}

/// Ends a claim.
///
/// # Errors
///
/// What the disk says.
pub fn remove_claim(txn: &mut Txn<'_>, run: RunId) -> Result<(), Error> {
    txn.remove(Table::Claims, &Key::of(run)).map(|_| ())
}

/// Every claim whose record is sound: as many as workers.
///
/// # Errors
///
/// What the disk says.
pub fn scan_claims(tables: &impl Tables) -> Result<Vec<Claim>, Error> {
    let mut claims = Vec::new();
    for row in view::rows_of(tables, Table::Claims, &Key::new())? {
        let (key, value) = row?;
        let damaged = Error::Damaged { table: Table::Claims.name() };
        let run = Parts(key.value()).id().ok_or(damaged);
        let row = codec::decode(Table::Claims, key.value(), value.value());
        claims.extend(view::sound(run.and_then(|run| Ok(claim(run, &row?))))?);
    }
    Ok(claims)
}

/// The key of a waiting run.
pub(crate) fn place(run: &Run) -> Key {
    let class = run.class();
    Key::of(run.account)
        .time(class.rank(run.due_at))
        .u8(class_code(class))
        .time(run.due_at)
        .id(run.id)
}

fn waiting(key: &[u8]) -> Result<Waiting, Error> {
    let mut parts = Parts(key);
    // Account, rank and class; then what is asked for.
    let head = parts.take::<25>();
    let due = head.and_then(|_| parts.take::<8>()).map(u64::from_be_bytes);
    let due = due.and_then(|it| i64::try_from(it).ok()).ok_or_else(damaged)?;
    let run = parts.id().ok_or_else(damaged)?;
    Ok(Waiting { run, due_at: Timestamp::from_millis(due), place: Key::new().bytes(key) })
}

fn claim(run: RunId, row: &ClaimRow) -> Claim {
    let ClaimRow { account, attempt, boot, claimed_at } = *row;
    Claim { account, run, attempt, boot, claimed_at }
}

const fn class_code(class: Class) -> u8 {
    match class {
        Class::Asked => 0,
        Class::Scheduled => 1,
        Class::Late => 2,
    }
}

fn damaged() -> Error {
    Error::Damaged { table: Table::Queue.name() }
}

/// Waiting runs of one account that are looked at for one that is due.
const LOOK_MAX: usize = 256;
