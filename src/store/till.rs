//! Money that is promised for something short, and not on disk: the holds of chats.
//!
//! A chat is over in seconds and cannot outlive the process, so its hold needs no commit; its
//! charge does. What can be spent is what the last commit left, less what these holds set aside,
//! less what changes that are not yet committed take away. All three are looked at and changed
//! under one lock, by chats and by the writer, so that no unit of money is promised twice.
//!
//! Source: the contract, section 4: "one admission section per account".

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::account::AccountId;
use crate::domain::money::Amount;
use crate::store::error::Error;

/// What is promised, and what can be.
#[derive(Debug, Default)]
pub(crate) struct Till(Mutex<Drawer>);

/// The inside of the till, for as long as nobody else looks into it.
#[derive(Debug, Default)]
pub(crate) struct Drawer {
    /// What each account could spend after the last commit, as far as it was asked for.
    committed: HashMap<AccountId, Amount>,
    /// The least that an account can spend after the changes that wait for their commit.
    pending: HashMap<AccountId, Amount>,
    /// The sum of each account's promises.
    promised: HashMap<AccountId, Amount>,
    promises: HashMap<u64, Promise>,
    /// Promises that a change under way has made smaller, as they were before.
    shrunk: Vec<(u64, Amount)>,
    next: u64,
}

#[derive(Clone, Copy, Debug)]
struct Promise {
    account: AccountId,
    amount: Amount,
}

/// A promise that is kept until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    till: Arc<Till>,
    id: u64,
    amount: Amount,
}

/// Why nothing was promised.
#[derive(Debug)]
pub enum NotReserved {
    /// There is not enough; so much is there.
    Short(Amount),
    /// The balance cannot be read.
    Store(Error),
}

impl Till {
    pub(crate) fn open(&self) -> MutexGuard<'_, Drawer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Promises `amount` of an account, whose committed balance `read` can read.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        account: AccountId,
        amount: Amount,
        read: impl FnOnce() -> Result<Amount, Error>,
    ) -> Result<Reservation, NotReserved> {
        let mut drawer = self.open();
        if !drawer.committed.contains_key(&account) {
            let committed = read().map_err(NotReserved::Store)?;
            if drawer.committed.len() >= ACCOUNTS_KEPT {
                drawer.committed.clear();
            }
            drawer.committed.insert(account, committed);
        }
        let available = drawer.available(account);
        if amount > available {
            return Err(NotReserved::Short(available.max(Amount::ZERO)));
        }
        let id = drawer.next;
        drawer.next = id.wrapping_add(1);
        drawer.promises.insert(id, Promise { account, amount });
        drawer.add(account, amount);
        Ok(Reservation { till: Arc::clone(self), id, amount })
    }

    /// Notes a commit, with what the accounts that it changed can spend after it.
    pub(crate) fn committed(&self, after: Vec<(AccountId, Amount)>) {
        let mut drawer = self.open();
        for (account, available) in after {
            if drawer.committed.len() < ACCOUNTS_KEPT || drawer.committed.contains_key(&account) {
                drawer.committed.insert(account, available);
            }
        }
        drawer.pending.clear();
        drawer.shrunk.clear();
    }

    /// Notes that a batch came to nothing, or perhaps did: the file must be asked again.
    pub(crate) fn failed(&self) {
        let mut drawer = self.open();
        drawer.committed.clear();
        drawer.pending.clear();
        for (id, amount) in std::mem::take(&mut drawer.shrunk).into_iter().rev() {
            drawer.resize(id, amount);
        }
    }
}

impl Drawer {
    /// What is promised of an account.
    pub(crate) fn promised(&self, account: AccountId) -> Amount {
        self.promised.get(&account).copied().unwrap_or(Amount::ZERO)
    }

    /// Notes what an account can spend after a change that waits for its commit.
    pub(crate) fn pend(&mut self, account: AccountId, available: Amount) {
        let least = self.pending.entry(account).or_insert(available);
        *least = (*least).min(available);
    }

    /// Makes a promise smaller by what a change under way charges of it.
    pub(crate) fn shrink(&mut self, id: u64, by: Amount) {
        let Some(promise) = self.promises.get(&id).copied() else { return };
        self.shrunk.push((id, promise.amount));
        self.resize(id, promise.amount.minus(by).unwrap_or(Amount::ZERO).max(Amount::ZERO));
    }

    /// What an account can spend; below zero while a change under way has taken more than is left.
    fn available(&self, account: AccountId) -> Amount {
        let committed = self.committed.get(&account).copied().unwrap_or(Amount::ZERO);
        let least = self.pending.get(&account).map_or(committed, |it| committed.min(*it));
        least.minus(self.promised(account)).unwrap_or(Amount::ZERO)
    }

    fn resize(&mut self, id: u64, amount: Amount) {
        let Some(promise) = self.promises.get_mut(&id) else { return };
        let (account, before) = (promise.account, promise.amount);
        promise.amount = amount;
        self.take(account, before);
        self.add(account, amount);
    }

    fn add(&mut self, account: AccountId, amount: Amount) {
        let sum = self.promised(account).plus(amount).unwrap_or(Amount::MAX);
        self.promised.insert(account, sum);
    }

    fn take(&mut self, account: AccountId, amount: Amount) {
        let sum = self.promised(account).minus(amount).unwrap_or(Amount::ZERO);
        if sum > Amount::ZERO {
            self.promised.insert(account, sum);
        } else {
            self.promised.remove(&account);
        }
    }
}

impl Reservation {
    /// How much was promised.
    #[must_use]
    pub const fn amount(&self) -> Amount {
        self.amount
    }

    /// Its number in the till.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut drawer = self.till.open();
        if let Some(promise) = drawer.promises.remove(&self.id) {
            drawer.take(promise.account, promise.amount);
        }
    }
}

/// Accounts whose committed balance is kept in memory; more are read again.
const ACCOUNTS_KEPT: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;

    const ACCOUNT: AccountId = Id::from_bytes([1; 16]);

    const fn nanos(nanos: i64) -> Amount {
        Amount::from_nanos(nanos)
    }

    fn reserve(till: &Arc<Till>, amount: i64) -> Result<Reservation, Amount> {
        till.reserve(ACCOUNT, nanos(amount), || Ok(nanos(10))).map_err(|error| match error {
            NotReserved::Short(available) => available,
            NotReserved::Store(error) => panic!("{error}"),
        })
    }

    #[test]
    fn no_more_is_promised_than_is_there() {
        let till = Arc::<Till>::default();
        let first = reserve(&till, 6).unwrap();
        assert_eq!(reserve(&till, 5).unwrap_err(), nanos(4));
        let second = reserve(&till, 4).unwrap();
        assert_eq!(reserve(&till, 1).unwrap_err(), nanos(0));
        drop(first);
        assert_eq!(reserve(&till, 7).unwrap_err(), nanos(6));
        drop(second);
        assert!(reserve(&till, 10).is_ok());
    }

    #[test]
    fn a_change_counts_against_promises_before_its_commit_and_for_them_after_it() {
        let till = Arc::<Till>::default();
        drop(reserve(&till, 1).unwrap());
        till.open().pend(ACCOUNT, nanos(3));
        // A change of the same batch that gives back counts only when it is on disk.
        till.open().pend(ACCOUNT, nanos(9));
        assert_eq!(reserve(&till, 4).unwrap_err(), nanos(3));
        till.committed(vec![(ACCOUNT, nanos(9))]);
        assert!(reserve(&till, 9).is_ok());
    }

    #[test]
    fn a_charge_takes_from_its_promise_and_a_failed_one_gives_back() {
        let till = Arc::<Till>::default();
        let chat = reserve(&till, 8).unwrap();
        let charge = || {
            let mut drawer = till.open();
            drawer.shrink(chat.id(), nanos(3));
            drawer.pend(ACCOUNT, nanos(7));
        };
        charge();
        assert_eq!(reserve(&till, 3).unwrap_err(), nanos(2));
        till.failed();
        assert_eq!(reserve(&till, 3).unwrap_err(), nanos(2));
        charge();
        till.committed(vec![(ACCOUNT, nanos(7))]);
        assert_eq!(reserve(&till, 3).unwrap_err(), nanos(2));
        drop(chat);
        assert!(reserve(&till, 7).is_ok());
        assert!(till.open().promised.is_empty());
    }
}
