//! Accounts, as they are kept.

use serde::{Deserialize, Serialize};

use crate::domain::account::{Account, AccountId};
use crate::domain::money::Currency;
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::ledger;
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AccountRow {
    name: String,
    currency: Currency,
    created_at: Timestamp,
}

impl Record for AccountRow {}

/// Keeps a new account with an empty balance.
///
/// # Errors
///
/// What the disk says.
pub fn insert(txn: &mut Txn<'_>, account: &Account) -> Result<(), Error> {
    let row = AccountRow {
        name: account.name.clone(),
        currency: account.currency,
        created_at: account.created_at,
    };
    txn.put(Table::Accounts, &Key::of(account.id), &row)?;
    ledger::open_wallet(txn, account.id);
    Ok(())
}

/// The account of that id.
///
/// # Errors
///
/// What the disk says.
pub fn find(tables: &impl Tables, id: AccountId) -> Result<Option<Account>, Error> {
    let row: Option<AccountRow> = view::record(tables, Table::Accounts, &Key::of(id))?;
    Ok(row.map(|it| account(id, it)))
}

/// Every account whose record is sound, oldest first. There are as many as the operator made.
///
/// # Errors
///
/// What the disk says.
pub fn scan(tables: &impl Tables) -> Result<Vec<Account>, Error> {
    let mut accounts = Vec::new();
    for row in view::rows_of(tables, Table::Accounts, &Key::new())? {
        let (key, value) = row?;
        let damaged = Error::Damaged { table: Table::Accounts.name() };
        let id = Parts(key.value()).id().ok_or(damaged);
        let row = codec::decode(Table::Accounts, key.value(), value.value());
        accounts.extend(view::sound(id.and_then(|id| row.map(|row| account(id, row))))?);
    }
    Ok(accounts)
}

fn account(id: AccountId, row: AccountRow) -> Account {
    Account { id, name: row.name, currency: row.currency, created_at: row.created_at }
}
