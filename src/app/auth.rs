//! From a key to its caller.
//!
//! All keys are in memory, under their hashes, and are changed there in the same call that
//! changes them on disk: a revoked key is refused from the next request on.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::app::App;
use crate::domain::account::{Account, AccountId, Caller, KeyId, KeyRecord};
use crate::domain::money::Currency;
use crate::domain::secret::{ApiKey, KeyHash};
use crate::domain::time::Timestamp;

/// Why a key opens nothing. Source: service interface, "Authentication"; the contract, section 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It is not a key of this instance.
    Unknown,
    /// Somebody ended it.
    Revoked,
    /// Its time is over.
    Expired,
}

/// Every key and every account's currency.
#[derive(Debug)]
pub(in crate::app) struct KeyTable(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    keys: HashMap<KeyHash, KeyRecord>,
    hashes: HashMap<KeyId, KeyHash>,
    currencies: HashMap<AccountId, Currency>,
}

/// The caller that a key stands for.
///
/// # Errors
///
/// [`Denied`] says why there is none.
pub fn authenticate(app: &App, key: &str) -> Result<Caller, Denied> {
    // The checksum in the key refuses invented ones before anything is hashed.
    let key = ApiKey::parse(key).ok_or(Denied::Unknown)?;
    app.0.keys.caller(&key.hash(), app.0.clock.now())
}

impl KeyTable {
    pub(in crate::app) fn new(accounts: &[Account], keys: Vec<(KeyHash, KeyRecord)>) -> Self {
        let table = Self(RwLock::default());
        accounts.iter().for_each(|it| table.add_account(it));
        keys.into_iter().for_each(|(hash, key)| table.put(hash, key));
        table
    }

    pub(in crate::app) fn add_account(&self, account: &Account) {
        self.change(|it| it.currencies.insert(account.id, account.currency));
    }

    pub(in crate::app) fn put(&self, hash: KeyHash, key: KeyRecord) {
        self.change(|it| {
            it.hashes.insert(key.id, hash);
            it.keys.insert(hash, key);
        });
    }

    /// The key of that id, and its hash.
    pub(in crate::app) fn find(&self, id: KeyId) -> Option<(KeyHash, KeyRecord)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let hash = known.hashes.get(&id)?;
        Some((*hash, known.keys.get(hash)?.clone()))
    }

    /// The keys of an account, or of all, oldest first.
    pub(in crate::app) fn list(&self, account: Option<AccountId>) -> Vec<KeyRecord> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = |it: &&KeyRecord| account.is_none_or(|account| it.account == account);
        let mut keys: Vec<_> = known.keys.values().filter(wanted).cloned().collect();
        keys.sort_by_key(|it| it.id);
        keys
    }

    fn caller(&self, hash: &KeyHash, now: Timestamp) -> Result<Caller, Denied> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let key = known.keys.get(hash).ok_or(Denied::Unknown)?;
        if key.revoked_at.is_some() {
            return Err(Denied::Revoked);
        }
        if key.expires_at.is_some_and(|it| it <= now) {
            return Err(Denied::Expired);
        }
        let currency = known.currencies.get(&key.account).copied().ok_or(Denied::Unknown)?;
        Ok(Caller { account: key.account, key: key.id, rights: key.rights, currency })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}
