//! API keys, as they are kept: under the hash of the key, which itself is nowhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::account::{AccountId, KeyId, KeyRecord, Rights};
use crate::domain::budget::{Budget, Period};
use crate::domain::money::Amount;
use crate::domain::restrictions::{KindName, ModelPattern, Only, Restrictions, origin};
use crate::domain::secret::KeyHash;
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeyRow {
    id: KeyId,
    pub(in crate::store) account: AccountId,
    name: String,
    rights: Rights,
    hint: String,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    restrictions: RestrictionsRow,
}

impl Record for KeyRow {}

/// What a key is restricted to; an empty list restricts nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct RestrictionsRow {
    models: Vec<String>,
    kinds: Vec<String>,
    networks: Vec<String>,
    requests_per_minute: Option<u32>,
    concurrency: Option<u32>,
    strict: bool,
    budget: Option<(Amount, Period)>,
}

/// Keeps a key, or what became of it.
///
/// # Errors
///
/// What the disk says.
pub fn put(txn: &mut Txn<'_>, hash: &KeyHash, key: &KeyRecord) -> Result<(), Error> {
    let row = KeyRow {
        id: key.id,
        account: key.account,
        name: key.name.clone(),
        rights: key.rights,
        hint: key.hint.clone(),
        created_at: key.created_at,
        expires_at: key.expires_at,
        revoked_at: key.revoked_at,
        last_used_at: key.last_used_at,
        restrictions: RestrictionsRow::of(&key.restrictions),
    };
    txn.put(Table::Keys, &Key::new().bytes(hash.as_bytes()), &row)
}

/// The key of that hash.
///
/// # Errors
///
/// What the disk says.
pub fn find(tables: &impl Tables, hash: &KeyHash) -> Result<Option<KeyRecord>, Error> {
    let row: Option<KeyRow> =
        view::record(tables, Table::Keys, &Key::new().bytes(hash.as_bytes()))?;
    row.map(record).transpose()
}

/// Every key whose record is sound, with its hash, for the table in memory.
///
/// # Errors
///
/// What the disk says.
pub fn scan(tables: &impl Tables) -> Result<Vec<(KeyHash, KeyRecord)>, Error> {
    let mut keys = Vec::new();
    for row in view::rows_of(tables, Table::Keys, &Key::new())? {
        let (key, value) = row?;
        let damaged = Error::Damaged { table: Table::Keys.name() };
        let hash = Parts(key.value()).take::<32>().ok_or(damaged);
        let row = codec::decode(Table::Keys, key.value(), value.value());
        let pair = hash.and_then(|hash| Ok((KeyHash::from_bytes(hash), record(row?)?)));
        keys.extend(view::sound(pair)?);
    }
    Ok(keys)
}

fn record(row: KeyRow) -> Result<KeyRecord, Error> {
    let restrictions = row.restrictions.read();
    let damaged = Error::Damaged { table: Table::Keys.name() };
    Ok(KeyRecord {
        id: row.id,
        account: row.account,
        name: row.name,
        rights: row.rights,
        hint: row.hint,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
        restrictions: Arc::new(restrictions.ok_or(damaged)?),
    })
}

impl RestrictionsRow {
    fn of(kept: &Restrictions) -> Self {
        Self {
            models: kept.models.as_ref().map(Only::texts).unwrap_or_default(),
            kinds: kept.kinds.as_ref().map(Only::texts).unwrap_or_default(),
            networks: kept.networks.as_ref().map(Only::texts).unwrap_or_default(),
            requests_per_minute: kept.requests_per_minute,
            concurrency: kept.concurrency,
            strict: kept.strict,
            budget: kept.budget.map(|it| (it.amount(), it.period())),
        }
    }

    /// `None` when something is in it that was never written: a key is refused rather than freed.
    fn read(self) -> Option<Restrictions> {
        Some(Restrictions {
            models: only(&self.models, ModelPattern::parse)?,
            kinds: only(&self.kinds, KindName::parse)?,
            networks: only(&self.networks, |it| origin(it).ok())?,
            requests_per_minute: self.requests_per_minute,
            concurrency: self.concurrency,
            strict: self.strict,
            budget: match self.budget {
                Some((amount, period)) => Some(Budget::new(amount, period)?),
                None => None,
            },
        })
    }
}

/// The items of a list; `Some(None)` when it is empty.
fn only<T: PartialEq>(
    texts: &[String],
    parse: impl Fn(&str) -> Option<T>,
) -> Option<Option<Only<T>>> {
    if texts.is_empty() {
        return Some(None);
    }
    let items = texts.iter().map(|it| parse(it)).collect::<Option<Vec<T>>>()?;
    Some(Some(Only::new(items)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> RestrictionsRow {
        RestrictionsRow {
            models: vec!["offline/*".into(), "vendor/name:tag".into()],
            kinds: vec!["seo_audit".into()],
            networks: vec!["192.0.2.0/24".into(), "2001:db8::/32".into()],
            requests_per_minute: Some(60),
            concurrency: Some(4),
            strict: true,
            budget: Some((Amount::from_nanos(1), Period::Month)),
        }
    }

    #[test]
    fn restrictions_read_back_as_they_were_written() {
        let read = row().read().unwrap();
        assert_eq!(RestrictionsRow::of(&read).read(), Some(read.clone()));
        assert_eq!(read.networks.unwrap().texts(), row().networks);
        let none = RestrictionsRow::default().read();
        assert_eq!(none, Some(Restrictions::default()));
    }

    #[test]
    fn a_restriction_that_cannot_be_read_does_not_free_the_key() {
        for broken in [
            RestrictionsRow { models: vec!["*".into()], ..row() },
            RestrictionsRow { kinds: vec![String::new()], ..row() },
            RestrictionsRow { networks: vec!["10.0.0.1/8".into()], ..row() },
            RestrictionsRow { networks: vec!["10.0.0.0/8".into(); 101], ..row() },
            RestrictionsRow { budget: Some((Amount::ZERO, Period::Day)), ..row() },
        ] {
            assert_eq!(broken.clone().read(), None, "{broken:?}");
        }
    }
}
