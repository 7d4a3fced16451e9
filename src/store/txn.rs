//! Changing: all tables in one transaction, and the rows that many changes share.
//!
//! An operation *refuses before it writes*, because a commit carries the operations of many
//! callers and redb cannot undo one of them. The writer checks it: an operation that fails after
//! its first write takes the whole batch down, which is then run one by one.
//!
//! The wallet of an account, the counts of its runs and the standings of its receivers are changed
//! by nearly every operation.
//! They are kept in memory during the transaction and written once, at its end.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use redb::ReadableTable as _;
use redb::WriteTransaction;

use crate::domain::account::{AccountId, KeyId};
use crate::domain::receiver::ReceiverId;
use crate::domain::spend::Spend;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::ledger::WalletRow;
use crate::store::receivers::{self, StandingRow};
use crate::store::runs::{CountKey, CountRow, KindCode};
use crate::store::spends::{self, SpendRow};
use crate::store::tables::Table;
use crate::store::till::{Drawer, Spendable, Till};
use crate::store::view::{self, Rows, Tables};

type OpenTable<'t> = redb::Table<'t, &'static [u8], &'static [u8]>;

/// A change under way.
pub struct Txn<'t> {
    transaction: &'t WriteTransaction,
    tables: [OnceCell<OpenTable<'t>>; Table::ALL.len()],
    /// Rows written so far, the shared ones included.
    writes: u64,
    /// How the disk failed under this transaction, which can then only be given up.
    failure: RefCell<Option<Error>>,
    till: &'t Till,
    wallets: BTreeMap<AccountId, WalletRow>,
    spends: BTreeMap<KeyId, Spend>,
    counts: BTreeMap<CountKey, CountRow>,
    standings: BTreeMap<(AccountId, ReceiverId), StandingRow>,
    pub(in crate::store) kinds: BTreeMap<String, KindCode>,
}

impl<'t> Txn<'t> {
    pub(crate) const fn new(transaction: &'t WriteTransaction, till: &'t Till) -> Self {
        Self {
            transaction,
            tables: [const { OnceCell::new() }; Table::ALL.len()],
            writes: 0,
            failure: RefCell::new(None),
            till,
            wallets: BTreeMap::new(),
            spends: BTreeMap::new(),
            counts: BTreeMap::new(),
            standings: BTreeMap::new(),
            kinds: BTreeMap::new(),
        }
    }

    /// Rows written so far.
    pub(crate) const fn writes(&self) -> u64 {
        self.writes
    }

    /// How the disk failed under this transaction.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure.borrow().clone()
    }

    /// Writes the rows that were kept in memory; what the accounts and keys that were changed can
    /// spend after it.
    pub(crate) fn finish(&mut self) -> Result<Spendable, Error> {
        let mut spendable = Spendable::default();
        for (account, row) in std::mem::take(&mut self.wallets) {
            self.put(Table::Wallets, &Key::of(account), &row)?;
            spendable.accounts.push((account, row.available()));
        }
        for (key, spend) in std::mem::take(&mut self.spends) {
            self.put(Table::KeySpends, &Key::of(key), &SpendRow::from(spend))?;
            spendable.keys.push((key, spend));
        }
        for (count, row) in std::mem::take(&mut self.counts) {
            self.put(Table::RunCounts, &count.key(), &row)?;
        }
        for ((account, receiver), row) in std::mem::take(&mut self.standings) {
            self.put(Table::Standings, &receivers::key(account, receiver), &row)?;
        }
        Ok(spendable)
    }

    /// Writes a record.
    pub(in crate::store) fn put<R: Record>(
        &mut self,
        table: Table,
        key: &Key,
        record: &R,
    ) -> Result<(), Error> {
        let bytes = codec::encode(table, key.as_slice(), record)?;
        self.insert(table, key, &bytes)
    }

    /// Writes a row of an index.
    pub(in crate::store) fn mark(&mut self, table: Table, key: &Key) -> Result<(), Error> {
        self.insert(table, key, &[])
    }

    /// Takes a row out; whether it was there.
    pub(in crate::store) fn remove(&mut self, table: Table, key: &Key) -> Result<bool, Error> {
        self.writes = self.writes.saturating_add(1);
        let removed = self.table_mut(table)?.remove(key.as_slice()).map(|it| it.is_some());
        self.noted(removed.map_err(Error::from))
    }

    /// The wallet of an account, as this transaction has left it.
    pub(in crate::store) fn wallet(&self, account: AccountId) -> Result<Option<WalletRow>, Error> {
        match self.wallets.get(&account) {
            Some(row) => Ok(Some(row.clone())),
            None => view::record(self, Table::Wallets, &Key::of(account)),
        }
    }

    /// Changes the wallet of an account.
    pub(in crate::store) fn put_wallet(&mut self, account: AccountId, row: WalletRow) {
        self.till.open().pend(account, row.available());
        self.writes = self.writes.saturating_add(1);
        self.wallets.insert(account, row);
    }

    /// Changes the wallet of an account as `change` says, which sees what is promised of it and
    /// may keep a promise. Nobody promises anything meanwhile.
    pub(in crate::store) fn change_wallet<E>(
        &mut self,
        account: AccountId,
        change: impl FnOnce(&mut Drawer) -> Result<WalletRow, E>,
    ) -> Result<(), E> {
        let till = self.till;
        let mut drawer = till.open();
        let row = change(&mut drawer)?;
        drawer.pend(account, row.available());
        self.writes = self.writes.saturating_add(1);
        self.wallets.insert(account, row);
        Ok(())
    }

    /// What a key has spent, as this transaction has left it.
    pub(in crate::store) fn spend(&self, key: KeyId) -> Result<Spend, Error> {
        match self.spends.get(&key) {
            Some(spend) => Ok(*spend),
            None => spends::find(self, key),
        }
    }

    /// Changes what a key has spent.
    pub(in crate::store) fn put_spend(&mut self, key: KeyId, spend: Spend) {
        self.till.open().pend_key(key, spend);
        self.writes = self.writes.saturating_add(1);
        self.spends.insert(key, spend);
    }

    /// How many runs there are of an account, kind and status.
    pub(in crate::store) fn count(&self, key: CountKey) -> Result<CountRow, Error> {
        match self.counts.get(&key) {
            Some(row) => Ok(row.clone()),
            None => Ok(view::record(self, Table::RunCounts, &key.key())?.unwrap_or_default()),
        }
    }

    /// Changes how many there are.
    pub(in crate::store) fn put_count(&mut self, key: CountKey, row: CountRow) {
        self.writes = self.writes.saturating_add(1);
        self.counts.insert(key, row);
    }

    /// How a receiver does, as this transaction has left it.
    pub(in crate::store) fn standing(
        &self,
        account: AccountId,
        receiver: ReceiverId,
    ) -> Result<StandingRow, Error> {
        match self.standings.get(&(account, receiver)) {
            Some(row) => Ok(row.clone()),
            None => receivers::standing_row(self, account, receiver),
        }
    }

    /// Changes how a receiver does.
    pub(in crate::store) fn put_standing(
        &mut self,
        account: AccountId,
        receiver: ReceiverId,
        row: StandingRow,
    ) {
        self.writes = self.writes.saturating_add(1);
        self.standings.insert((account, receiver), row);
    }

    /// Forgets how a receiver does.
    pub(in crate::store) fn remove_standing(
        &mut self,
        account: AccountId,
        receiver: ReceiverId,
    ) -> Result<bool, Error> {
        self.standings.remove(&(account, receiver));
        self.remove(Table::Standings, &receivers::key(account, receiver))
    }

    /// Writes any bytes, for tests that need a damaged file.
    #[cfg(test)]
    pub(in crate::store) fn plant(
        &mut self,
        table: Table,
        key: &Key,
        value: &[u8],
    ) -> Result<(), Error> {
        self.insert(table, key, value)
    }

    fn insert(&mut self, table: Table, key: &Key, value: &[u8]) -> Result<(), Error> {
        self.writes = self.writes.saturating_add(1);
        let inserted = self.table_mut(table)?.insert(key.as_slice(), value).map(|_| ());
        self.noted(inserted.map_err(Error::from))
    }

    fn table(&self, table: Table) -> Result<&OpenTable<'t>, Error> {
        let cell = self.tables.get(table as usize).expect("every table has its cell");
        if let Some(open) = cell.get() {
            return Ok(open);
        }
        let opened = self.transaction.open_table(table.definition()).map_err(Error::from);
        let opened = self.noted(opened)?;
        Ok(cell.get_or_init(|| opened))
    }

    fn table_mut(&mut self, table: Table) -> Result<&mut OpenTable<'t>, Error> {
        self.table(table)?;
        let cell = self.tables.get_mut(table as usize).expect("every table has its cell");
        Ok(cell.get_mut().expect("the line before opened it"))
    }

    /// Remembers that the disk failed.
    fn noted<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            self.failure.borrow_mut().get_or_insert_with(|| error.clone());
        }
        result
    }
}

impl Tables for Txn<'_> {
    fn row<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let found = self.table(table)?.get(key).map_err(Error::from);
        self.noted(found)?.map(|it| read(it.value())).transpose()
    }

    fn rows(&self, table: Table, start: &[u8], end: Option<&[u8]>) -> Result<Rows<'_>, Error> {
        self.noted(view::range(self.table(table)?, start, end))
    }
}
