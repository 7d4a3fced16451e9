//! From a key to its caller.
//!
//! All keys are in memory, under their hashes, and are changed there in the same call that
//! changes them on disk: a revoked key is refused from the next request on.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::app::App;
use crate::domain::account::{Account, AccountId, Caller, KeyId, KeyRecord};
use crate::domain::money::Currency;
use crate::domain::restrictions::Restrictions;
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
    /// It was shown from a network that it is not meant for.
    Origin,
}

/// All keys, and what their accounts count in.
#[derive(Debug, Default)]
pub(in crate::app) struct KeyTable(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    keys: HashMap<KeyHash, Held>,
    hashes: HashMap<KeyId, KeyHash>,
    currencies: HashMap<AccountId, Currency>,
}

/// A key, and when it was last shown: the record itself says what the disk says of that.
#[derive(Debug)]
struct Held {
    record: KeyRecord,
    /// In milliseconds; [`NEVER`] before the first time.
    used_at: AtomicI64,
}

/// The caller that a key stands for, when it is shown by `address`; a socket has none.
///
/// It counts as a use of the key.
///
/// # Errors
///
/// [`Denied`] says why there is none.
pub fn authenticate(app: &App, key: &str, address: Option<IpAddr>) -> Result<Caller, Denied> {
    // The checksum in the key refuses invented ones before anything is hashed.
    let key = ApiKey::parse(key).ok_or(Denied::Unknown)?;
    app.0.keys.caller(&key.hash(), address, app.0.clock.now())
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
        self.change(|it| it.put(hash, key));
    }

    /// Puts in what `read` finds, which nothing can change between the look and the putting.
    ///
    /// # Errors
    ///
    /// What `read` says; nothing is changed then.
    pub(in crate::app) fn reload<E>(
        &self,
        hash: KeyHash,
        read: impl FnOnce() -> Result<KeyRecord, E>,
    ) -> Result<KeyRecord, E> {
        self.change(|it| {
            it.put(hash, read()?);
            Ok(it.keys.get(&hash).expect("the line before put it in").shown())
        })
    }

    /// Ends a key.
    pub(in crate::app) fn revoke(&self, hash: &KeyHash, at: Timestamp) {
        self.change(|it| {
            if let Some(held) = it.keys.get_mut(hash) {
                held.record.revoked_at.get_or_insert(at);
            }
        });
    }

    /// The key of that id, and its hash.
    pub(in crate::app) fn find(&self, id: KeyId) -> Option<(KeyHash, KeyRecord)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let hash = known.hashes.get(&id)?;
        Some((*hash, known.keys.get(hash)?.shown()))
    }

    /// What a key is restricted to.
    pub(in crate::app) fn restrictions(&self, id: KeyId) -> Option<Arc<Restrictions>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let held = known.keys.get(known.hashes.get(&id)?)?;
        Some(Arc::clone(&held.record.restrictions))
    }

    /// The keys of an account, or of all, oldest first.
    pub(in crate::app) fn list(&self, account: Option<AccountId>) -> Vec<KeyRecord> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = |it: &&Held| account.is_none_or(|account| it.record.account == account);
        let mut keys: Vec<_> = known.keys.values().filter(wanted).map(Held::shown).collect();
        keys.sort_by_key(|it| it.id);
        keys
    }

    /// Up to `max` keys that were used later than the disk knows, with the time.
    pub(in crate::app) fn unsaved_uses(&self, max: usize) -> Vec<(KeyHash, Timestamp)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let unsaved = known.keys.iter().filter_map(|(hash, held)| {
            let used_at = held.used_at().filter(|it| Some(*it) > held.record.last_used_at)?;
            Some((*hash, used_at))
        });
        let mut uses: Vec<_> = unsaved.take(max).collect();
        // The same uses are the same commit.
        uses.sort_unstable_by_key(|(hash, _)| *hash.as_bytes());
        uses
    }

    /// Notes what the disk knows of the uses of keys.
    pub(in crate::app) fn saved_uses(&self, uses: &[(KeyHash, Timestamp)]) {
        self.change(|it| {
            for (hash, used_at) in uses {
                if let Some(held) = it.keys.get_mut(hash) {
                    held.record.last_used_at = held.record.last_used_at.max(Some(*used_at));
                }
            }
        });
    }

    fn caller(
        &self,
        hash: &KeyHash,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Caller, Denied> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let held = known.keys.get(hash).ok_or(Denied::Unknown)?;
        let key = &held.record;
        if key.revoked_at.is_some() {
            return Err(Denied::Revoked);
        }
        if key.expires_at.is_some_and(|it| it <= now) {
            return Err(Denied::Expired);
        }
        if !key.restrictions.allows_origin(address) {
            return Err(Denied::Origin);
        }
        let currency = known.currencies.get(&key.account).copied().ok_or(Denied::Unknown)?;
        held.used_at.fetch_max(now.millis(), Ordering::Relaxed);
        Ok(Caller {
            account: key.account,
            key: key.id,
            rights: key.rights,
            currency,
            restrictions: Arc::clone(&key.restrictions),
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Known {
    fn put(&mut self, hash: KeyHash, record: KeyRecord) {
        self.hashes.insert(record.id, hash);
        let used_at = self.keys.get(&hash).and_then(Held::used_at).max(record.last_used_at);
        let used_at = AtomicI64::new(used_at.map_or(NEVER, Timestamp::millis));
        self.keys.insert(hash, Held { record, used_at });
    }
}

impl Held {
    /// When the key was last shown.
    fn used_at(&self) -> Option<Timestamp> {
        let millis = self.used_at.load(Ordering::Relaxed);
        (millis != NEVER).then(|| Timestamp::from_millis(millis))
    }

    /// The record as people see it.
    fn shown(&self) -> KeyRecord {
        KeyRecord { last_used_at: self.used_at(), ..self.record.clone() }
    }
}

/// The time of a key that was never shown.
const NEVER: i64 = i64::MIN;
