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

use crate::domain::account::{AccountId, KeyId};
use crate::domain::budget::Budget;
use crate::domain::money::Amount;
use crate::domain::spend::Spend;
use crate::domain::time::Timestamp;
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
    /// What is known of keys, as far as it was asked for.
    keys: HashMap<KeyId, KeyBook>,
    promises: HashMap<u64, Promise>,
    /// Promises that a change under way has made smaller, as they were before.
    shrunk: Vec<(u64, Amount)>,
    next: u64,
}

/// What is known of a key.
#[derive(Clone, Copy, Debug, Default)]
struct KeyBook {
    /// What it had spent after the last commit.
    committed: Option<Spend>,
    /// What it will have spent after the changes that wait for their commit.
    pending: Option<Spend>,
    /// The sum of its promises.
    promised: Amount,
}

#[derive(Clone, Copy, Debug)]
struct Promise {
    account: AccountId,
    key: KeyId,
    amount: Amount,
}

/// Who spends, and how much its key may.
#[derive(Clone, Copy, Debug)]
pub struct Spender {
    /// The account that pays.
    pub account: AccountId,
    /// The key that is shown.
    pub key: KeyId,
    /// What the key may spend; anything when `None`.
    pub budget: Option<Budget>,
    /// The time, which says in which period of the budget it is.
    pub now: Timestamp,
}

/// What the accounts and keys that a commit has changed can spend, or have spent.
#[derive(Debug, Default)]
pub(crate) struct Spendable {
    pub(crate) accounts: Vec<(AccountId, Amount)>,
    pub(crate) keys: Vec<(KeyId, Spend)>,
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
    /// The budget of the key does not allow it; so much is left of it.
    Budget(Amount),
    /// The balance cannot be read.
    Store(Error),
}

impl Till {
    pub(crate) fn open(&self) -> MutexGuard<'_, Drawer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Promises `amount` of an account, whose committed balance `read` can read, and of the budget
    /// of a key, whose spending `read_key` can read.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        spender: Spender,
        amount: Amount,
        read: impl FnOnce() -> Result<Amount, Error>,
        read_key: impl FnOnce() -> Result<Spend, Error>,
    ) -> Result<Reservation, NotReserved> {
        let Spender { account, key, budget, now } = spender;
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
        if let Some(budget) = budget {
            if drawer.keys.get(&key).is_none_or(|it| it.committed.is_none()) {
                let spend = read_key().map_err(NotReserved::Store)?;
                drawer.keys.entry(key).or_default().committed = Some(spend);
            }
            let left = drawer.left(key, budget, now);
            if amount > left {
                return Err(NotReserved::Budget(left.max(Amount::ZERO)));
            }
        }
        let id = drawer.next;
        drawer.next = id.wrapping_add(1);
        let promise = Promise { account, key, amount };
        drawer.promises.insert(id, promise);
        drawer.add(promise);
        Ok(Reservation { till: Arc::clone(self), id, amount })
    }

    /// Notes a commit, with what the accounts that it changed can spend after it.
    pub(crate) fn committed(&self, after: Spendable) {
        let mut drawer = self.open();
        for (key, spend) in after.keys {
            drawer.keys.entry(key).or_default().committed = Some(spend);
        }
        drawer.forget_keys();
        for (account, available) in after.accounts {
            if drawer.committed.len() < ACCOUNTS_KEPT || drawer.committed.contains_key(&account) {
                drawer.committed.insert(account, available);
            }
        }
        drawer.pending.clear();
        drawer.keys.values_mut().for_each(|it| it.pending = None);
        drawer.shrunk.clear();
    }

    /// Notes that a batch came to nothing, or perhaps did: the file must be asked again.
    pub(crate) fn failed(&self) {
        let mut drawer = self.open();
        drawer.committed.clear();
        drawer.pending.clear();
        for book in drawer.keys.values_mut() {
            (book.committed, book.pending) = (None, None);
        }
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

    /// Notes what a key will have spent after a change that waits for its commit.
    pub(crate) fn pend_key(&mut self, key: KeyId, spend: Spend) {
        self.keys.entry(key).or_default().pending = Some(spend);
    }

    /// What is promised of the budget of a key.
    pub(crate) fn promised_of(&self, key: KeyId) -> Amount {
        self.keys.get(&key).map_or(Amount::ZERO, |it| it.promised)
    }

    /// What is left of the budget of a key; below zero when it was made smaller.
    fn left(&self, key: KeyId, budget: Budget, now: Timestamp) -> Amount {
        let book = self.keys.get(&key).copied().unwrap_or_default();
        let used = |it: Option<Spend>| it.map_or(Amount::ZERO, |it| it.used(budget, now));
        let used = used(book.committed).max(used(book.pending));
        let left = budget.amount().minus(used).and_then(|it| it.minus(book.promised));
        left.unwrap_or(Amount::ZERO)
    }

    /// Forgets what can be read again, when it is much.
    fn forget_keys(&mut self) {
        if self.keys.len() > ACCOUNTS_KEPT {
            self.keys.retain(|_, it| it.promised > Amount::ZERO || it.pending.is_some());
        }
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
        let before = *promise;
        promise.amount = amount;
        self.take(before);
        self.add(Promise { amount, ..before });
    }

    fn add(&mut self, promise: Promise) {
        let Promise { account, key, amount } = promise;
        let sum = self.promised(account).plus(amount).unwrap_or(Amount::MAX);
        self.promised.insert(account, sum);
        let book = self.keys.entry(key).or_default();
        book.promised = book.promised.plus(amount).unwrap_or(Amount::MAX);
    }

    fn take(&mut self, promise: Promise) {
        let Promise { account, key, amount } = promise;
        if let Some(book) = self.keys.get_mut(&key) {
            book.promised = book.promised.minus(amount).unwrap_or(Amount::ZERO).max(Amount::ZERO);
        }
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
            drawer.take(promise);
        }
    }
}

/// Accounts whose committed balance is kept in memory; more are read again.
const ACCOUNTS_KEPT: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::budget::Period;
    use crate::domain::id::Id;

    const ACCOUNT: AccountId = Id::from_bytes([1; 16]);

    const fn nanos(nanos: i64) -> Amount {
        Amount::from_nanos(nanos)
    }

    const KEY: KeyId = Id::from_bytes([2; 16]);

    fn reserve_of(
        till: &Arc<Till>,
        amount: i64,
        budget: Option<i64>,
    ) -> Result<Reservation, NotReserved> {
        let budget = budget.map(|it| Budget::new(nanos(it), Period::None).unwrap());
        let spender = Spender { account: ACCOUNT, key: KEY, budget, now: Timestamp::EPOCH };
        let spent = Spend::default().charge(nanos(1), Timestamp::EPOCH);
        till.reserve(spender, nanos(amount), || Ok(nanos(10)), || Ok(spent))
    }

    fn reserve(till: &Arc<Till>, amount: i64) -> Result<Reservation, Amount> {
        reserve_of(till, amount, None).map_err(|error| match error {
            NotReserved::Short(available) => available,
            NotReserved::Budget(_) => panic!("there is no budget"),
            NotReserved::Store(error) => panic!("{error}"),
        })
    }

    #[track_caller]
    fn check_left(till: &Arc<Till>, amount: i64, budget: i64, left: i64) {
        match reserve_of(till, amount, Some(budget)) {
            Err(NotReserved::Budget(found)) => assert_eq!(found, nanos(left)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_more_is_promised_than_the_budget_of_the_key_has_left() {
        let till = Arc::<Till>::default();
        // One was spent before.
        let chat = reserve_of(&till, 3, Some(5)).unwrap();
        check_left(&till, 2, 5, 1);
        // A run of the same key that is not yet committed counts too.
        let held = Spend::default().charge(nanos(1), Timestamp::EPOCH).hold(nanos(1));
        till.open().pend_key(KEY, held);
        check_left(&till, 1, 5, 0);
        till.failed();
        drop(reserve_of(&till, 1, Some(5)).unwrap());
        drop(chat);
        drop(reserve_of(&till, 4, Some(5)).unwrap());
        check_left(&till, 5, 5, 4);
    }

    fn after(available: i64) -> Spendable {
        Spendable { accounts: vec![(ACCOUNT, nanos(available))], keys: Vec::new() }
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
        till.committed(after(9));
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
        till.committed(after(7));
        assert_eq!(reserve(&till, 3).unwrap_err(), nanos(2));
        drop(chat);
        assert!(reserve(&till, 7).is_ok());
        assert!(till.open().promised.is_empty());
    }
}
