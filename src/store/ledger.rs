//! Wallets and ledgers, as they are kept.
//!
//! A hold changes the wallet only; a capture changes the wallet and writes one entry. Both happen
//! in the transaction that changes the run, so neither can happen twice or alone.

use serde::{Deserialize, Serialize};

use crate::domain::account::{AccountId, KeyId};
use crate::domain::ledger::{Balance, BalanceError, ChatUsage, Entry, EntryKind};
use crate::domain::money::Amount;
use crate::domain::time::Timestamp;
use crate::store::codec::Record;
use crate::store::entry_row::{entry, entry_row};
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::tables::Table;
use crate::store::till::Spender;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WalletRow {
    pub(in crate::store) amount: Amount,
    pub(in crate::store) held: Amount,
    /// Entries in the ledger.
    pub(in crate::store) entries: u64,
    /// Runs that are not over; deleted ones count while they are executed.
    pub(in crate::store) active_runs: u32,
}

impl Record for WalletRow {}

impl WalletRow {
    /// What can be spent of it.
    pub(in crate::store) fn available(&self) -> Amount {
        self.amount.minus(self.held).unwrap_or(Amount::ZERO)
    }
}

/// What an account has and has under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wallet {
    /// The money.
    pub balance: Balance,
    /// Entries in the ledger.
    pub entries: u64,
    /// Runs that are not over; deleted ones count while they are executed.
    pub active_runs: u32,
}

/// What an entry says beside its number and its sums.
#[derive(Clone, Debug)]
pub struct Line {
    /// When it is written.
    pub at: Timestamp,
    /// Why the balance changes.
    pub kind: EntryKind,
    /// What it pays for.
    pub reference: Option<[u8; 16]>,
    /// The key that started the work.
    pub key: Option<KeyId>,
    /// The kind of agent, or the operator's words.
    pub note: String,
    /// What a chat has used.
    pub usage: Option<ChatUsage>,
}

/// Gives a new account an empty wallet.
pub(crate) fn open_wallet(txn: &mut Txn<'_>, account: AccountId) {
    txn.put_wallet(account, WalletRow::default());
}

/// What an account has; nothing when there is no such account.
///
/// # Errors
///
/// What the disk says.
pub fn find(tables: &impl Tables, account: AccountId) -> Result<Wallet, Error> {
    let row: Option<WalletRow> = view::record(tables, Table::Wallets, &Key::of(account))?;
    wallet(row.as_ref())
}

/// What an account has, as the transaction has left it.
///
/// # Errors
///
/// What the disk says.
pub fn find_in(txn: &Txn<'_>, account: AccountId) -> Result<Wallet, Error> {
    wallet(txn.wallet(account)?.as_ref())
}

/// Changes the balance without an entry: a hold, or the release of one. Counts `active` runs.
///
/// # Errors
///
/// What the disk says.
pub fn put(
    txn: &mut Txn<'_>,
    account: AccountId,
    balance: Balance,
    active_runs: u32,
) -> Result<(), Error> {
    let row = txn.wallet(account)?.unwrap_or_default();
    let (amount, held) = (balance.amount(), balance.held());
    txn.put_wallet(account, WalletRow { amount, held, active_runs, ..row });
    Ok(())
}

/// Sets the price of a run aside, and counts it as active.
///
/// What is promised to chats is not there for it.
///
/// # Errors
///
/// [`HoldError::Refused`] when there is not enough, and nothing is written then.
pub fn hold(
    txn: &mut Txn<'_>,
    account: AccountId,
    price: Amount,
    key: Option<Spender>,
) -> Result<(), HoldError> {
    let row = txn.wallet(account)?.unwrap_or_default();
    let before = wallet(Some(&row))?;
    let spent = key.map(|it| txn.spend(it.key).map(|spend| (it, spend))).transpose()?;
    txn.change_wallet(account, |drawer| {
        if let Some((Spender { key, budget: Some(budget), now, .. }, spend)) = spent {
            let left = budget.amount().minus(spend.used(budget, now));
            let left = left.and_then(|it| it.minus(drawer.promised_of(key)));
            let left = left.unwrap_or(Amount::ZERO).max(Amount::ZERO);
            if price > left {
                return Err(HoldError::Budget(left));
            }
        }
        let free = before.balance.available().minus(drawer.promised(account));
        let available = free.unwrap_or(Amount::ZERO).max(Amount::ZERO);
        if price > available {
            let short = BalanceError::Short { required: price, available };
            return Err(HoldError::Refused(short));
        }
        let after = before.balance.hold(price).map_err(HoldError::Refused)?;
        if let Some((Spender { key, .. }, spend)) = spent {
            drawer.pend_key(key, spend.hold(price));
        }
        let active_runs = row.active_runs.saturating_add(1);
        Ok(WalletRow { amount: after.amount(), held: after.held(), active_runs, ..row })
    })?;
    if let Some((Spender { key, .. }, spend)) = spent {
        txn.put_spend(key, spend.hold(price));
    }
    Ok(())
}

/// Notes for a key that a hold of a run has ended, of which `charge` was taken at `now`.
///
/// # Errors
///
/// What the disk says.
pub fn capture_of_key(
    txn: &mut Txn<'_>,
    key: KeyId,
    hold: Amount,
    charge: Amount,
    now: Timestamp,
) -> Result<(), Error> {
    let spend = txn.spend(key)?;
    txn.put_spend(key, spend.capture(hold, charge, now));
    Ok(())
}

/// Why a price was not set aside.
#[derive(Debug)]
pub enum HoldError {
    /// The balance refuses.
    Refused(BalanceError),
    /// The budget of the key does; so much is left of it.
    Budget(Amount),
    /// What the disk says.
    Store(Error),
}

impl From<Error> for HoldError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Takes money out that is neither held nor promised, and writes the entry; `change` is negative.
///
/// # Errors
///
/// [`HoldError::Refused`] when there is not enough, and nothing is written then.
pub fn debit(
    txn: &mut Txn<'_>,
    account: AccountId,
    change: Amount,
    line: &Line,
) -> Result<(), HoldError> {
    let row = txn.wallet(account)?.unwrap_or_default();
    let before = wallet(Some(&row))?;
    let seq = row.entries.saturating_add(1);
    let after = before.balance.credit(change).map_err(HoldError::Refused)?;
    let key = Key::of(account).u64(seq);
    txn.change_wallet(account, |drawer| {
        let promised = drawer.promised(account);
        if after.available() < promised {
            let available = before.balance.available().minus(promised).unwrap_or(Amount::ZERO);
            let required = Amount::ZERO.minus(change).unwrap_or(Amount::MAX);
            return Err(HoldError::Refused(BalanceError::Short { required, available }));
        }
        Ok(WalletRow { amount: after.amount(), held: after.held(), entries: seq, ..row })
    })?;
    Ok(txn.put(Table::Ledger, &key, &entry_row(line, change, after))?)
}

/// Takes `charge` of what was promised, and writes the entry.
///
/// # Errors
///
/// What the disk says; a fault of ours when the charge is above the promise.
pub fn charge(
    txn: &mut Txn<'_>,
    account: AccountId,
    reservation: u64,
    charge: Amount,
    line: &Line,
) -> Result<(), Error> {
    let row = txn.wallet(account)?.unwrap_or_default();
    let before = wallet(Some(&row))?;
    let after = before.balance.hold(charge).and_then(|it| it.capture(charge, charge))?;
    let seq = row.entries.saturating_add(1);
    let change = after.amount().minus(row.amount);
    let change = change.ok_or(Error::Bug("an entry does not fit"))?;
    txn.put(Table::Ledger, &Key::of(account).u64(seq), &entry_row(line, change, after))?;
    if let Some(key) = line.key {
        let spend = txn.spend(key)?;
        txn.put_spend(key, spend.charge(charge, line.at));
    }
    txn.change_wallet(account, |drawer| {
        drawer.shrink(reservation, charge);
        Ok(WalletRow { amount: after.amount(), held: after.held(), entries: seq, ..row })
    })
}

/// Writes the entry that leads from the wallet's present amount to `after`, and the wallet.
///
/// # Errors
///
/// What the disk says.
pub fn append(
    txn: &mut Txn<'_>,
    account: AccountId,
    after: Balance,
    active_runs: u32,
    line: &Line,
) -> Result<(), Error> {
    let row = txn.wallet(account)?.unwrap_or_default();
    let seq = row.entries.saturating_add(1);
    let change = after.amount().minus(row.amount);
    let change = change.ok_or(Error::Bug("an entry does not fit"))?;
    txn.put(Table::Ledger, &Key::of(account).u64(seq), &entry_row(line, change, after))?;
    let (amount, held) = (after.amount(), after.held());
    txn.put_wallet(account, WalletRow { amount, held, entries: seq, active_runs });
    Ok(())
}

/// Up to `limit` entries of an account, newest first, before the entry `before`.
///
/// # Errors
///
/// What the disk says.
pub fn scan(
    tables: &impl Tables,
    account: AccountId,
    before: u64,
    limit: usize,
) -> Result<Vec<Entry>, Error> {
    let start = Key::of(account).u64(0);
    let end = Key::of(account).u64(before);
    let rows = tables.rows(Table::Ledger, start.as_slice(), Some(end.as_slice()))?;
    let entries = rows.rev().take(limit).map(|row| {
        let (key, value) = row?;
        entry(key.value(), value.value())
    });
    entries.collect()
}

/// The sum of an account's entries and their number, when each leads to the next.
///
/// # Errors
///
/// What the disk says; [`Error::Damaged`] when an entry is missing or does not add up.
pub fn sum(tables: &impl Tables, account: AccountId) -> Result<(Amount, u64), Error> {
    let damaged = || Error::Damaged { table: Table::Ledger.name() };
    let (mut sum, mut count) = (Amount::ZERO, 0_u64);
    for row in view::rows_of(tables, Table::Ledger, &Key::of(account))? {
        let (key, value) = row?;
        let entry = entry(key.value(), value.value())?;
        count = count.saturating_add(1);
        sum = sum.plus(entry.amount).ok_or_else(damaged)?;
        if entry.seq != count || entry.balance_after != sum {
            return Err(damaged());
        }
    }
    Ok((sum, count))
}

fn wallet(row: Option<&WalletRow>) -> Result<Wallet, Error> {
    let Some(row) = row else {
        return Ok(Wallet { balance: Balance::default(), entries: 0, active_runs: 0 });
    };
    let damaged = Error::Damaged { table: Table::Wallets.name() };
    let balance = Balance::new(row.amount, row.held).ok_or(damaged)?;
    Ok(Wallet { balance, entries: row.entries, active_runs: row.active_runs })
}

/// A refusal of the balance is no fault of the store; callers answer it before they write.
impl From<BalanceError> for Error {
    fn from(_: BalanceError) -> Self {
        Self::Bug("a balance was changed against its rules")
    }
}
