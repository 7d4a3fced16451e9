//! API keys, as they are kept: under the hash of the key, which itself is nowhere.

use serde::{Deserialize, Serialize};

use crate::domain::account::{AccountId, KeyId, KeyRecord, Rights};
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
}

impl Record for KeyRow {}

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
    Ok(row.map(record))
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
        let pair = hash.and_then(|hash| Ok((KeyHash::from_bytes(hash), record(row?))));
        keys.extend(view::sound(pair)?);
    }
    Ok(keys)
}

fn record(row: KeyRow) -> KeyRecord {
    KeyRecord {
        id: row.id,
        account: row.account,
        name: row.name,
        rights: row.rights,
        hint: row.hint,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
    }
}
