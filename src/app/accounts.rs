//! Accounts and their balances: made and credited by the operator.

use crate::app::error::checked_name;
use crate::app::{App, Error};
use crate::domain::account::{Account, AccountId};
use crate::domain::ledger::{BalanceError, EntryKind};
use crate::domain::limits::NAME_CHARS_MAX;
use crate::domain::money::{Amount, Currency};
use crate::store::accounts;
use crate::store::ledger::{self, HoldError, Line};

pub use crate::store::ledger::Wallet;

/// Makes an account with nothing in it.
///
/// # Errors
///
/// [`Error::Input`] when the name cannot be used.
pub async fn create(app: &App, name: &str, currency: Currency) -> Result<Account, Error> {
    let name = checked_name(name)?;
    let created_at = app.0.clock.now();
    let account = Account { id: app.0.entropy.id(created_at), name, currency, created_at };
    let kept = account.clone();
    app.0.store.write(move |txn| Ok::<_, Error>(accounts::insert(txn, &kept)?)).await?;
    app.0.keys.add_account(&account);
    Ok(account)
}

/// Every account, oldest first.
///
/// # Errors
///
/// [`Error::Internal`] when the store cannot be read.
pub fn list(app: &App) -> Result<Vec<Account>, Error> {
    app.0.store.read(|view| Ok(accounts::scan(view)?))
}

/// The account of that id, and what it has.
///
/// # Errors
///
/// [`Error::NotFound`] when there is none.
pub fn find(app: &App, id: AccountId) -> Result<(Account, Wallet), Error> {
    app.0.store.read(|view| {
        let account = accounts::find(view, id)?.ok_or(Error::NotFound)?;
        Ok((account, ledger::find(view, id)?))
    })
}

/// What is promised to chats of an account that are under way.
#[must_use]
pub fn promised(app: &App, id: AccountId) -> Amount {
    app.0.store.promised(id)
}

/// Adds money to an account's balance, or takes it out when `change` is negative.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such account; [`Error::Balance`] when held money would be
/// taken out; [`Error::Amount`] when the sum is zero or does not fit.
pub async fn credit(
    app: &App,
    id: AccountId,
    change: Amount,
    note: &str,
) -> Result<(Account, Wallet), Error> {
    if change == Amount::ZERO {
        return Err(Error::Amount("an amount of zero changes nothing"));
    }
    if note.chars().count() > NAME_CHARS_MAX || note.chars().any(char::is_control) {
        return Err(Error::value("note", "must have at most 100 characters, none of control"));
    }
    let line = Line {
        at: app.0.clock.now(),
        kind: if change.is_negative() { EntryKind::Debit } else { EntryKind::Credit },
        reference: None,
        key: None,
        note: note.to_owned(),
        usage: None,
    };
    let credit = app.0.store.write(move |txn| {
        let account = accounts::find(txn, id)?.ok_or(Error::NotFound)?;
        if change.is_negative() {
            let taken = ledger::debit(txn, id, change, &line);
            taken.map_err(|it| held_back(it, account.currency))?;
        } else {
            let wallet = ledger::find_in(txn, id)?;
            let after = wallet.balance.credit(change);
            let after = after.map_err(|it| refusal(it, account.currency))?;
            ledger::append(txn, id, after, wallet.active_runs, &line)?;
        }
        Ok::<_, Error>((account, ledger::find_in(txn, id)?))
    });
    credit.await
}

/// What the caller is told when money is not set aside.
pub(in crate::app) fn held_back(error: HoldError, currency: Currency) -> Error {
    match error {
        HoldError::Refused(error) => refusal(error, currency),
        HoldError::Budget(available) => {
            refusal(BalanceError::Short { required: available, available }, currency)
        }
        HoldError::Store(error) => error.into(),
    }
}

/// What the caller is told when a balance refuses.
fn refusal(error: BalanceError, currency: Currency) -> Error {
    match error {
        BalanceError::Short { required, available } => {
            Error::Balance { required, available, currency }
        }
        BalanceError::TooLarge => Error::Amount("the balance would be too large"),
        BalanceError::Unbalanced => Error::Internal(error.into()),
    }
}
