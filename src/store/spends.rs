//! What each key has spent, as it is kept.

use serde::{Deserialize, Serialize};

use crate::domain::account::KeyId;
use crate::domain::money::Amount;
use crate::domain::spend::Spend;
use crate::domain::time::Timestamp;
use crate::store::codec::Record;
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::tables::Table;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SpendRow {
    pub(in crate::store) held: Amount,
    pub(in crate::store) total: Amount,
    day: (Timestamp, Amount),
    month: (Timestamp, Amount),
}

impl Record for SpendRow {}

impl From<Spend> for SpendRow {
    fn from(spend: Spend) -> Self {
        let Spend { held, total, day, month } = spend;
        Self { held, total, day, month }
    }
}

impl From<SpendRow> for Spend {
    fn from(row: SpendRow) -> Self {
        let SpendRow { held, total, day, month } = row;
        Self { held, total, day, month }
    }
}

/// What a key has spent, as it is on disk.
///
/// # Errors
///
/// What the disk says.
pub fn find(tables: &impl Tables, key: KeyId) -> Result<Spend, Error> {
    let row: Option<SpendRow> = view::record(tables, Table::KeySpends, &Key::of(key))?;
    Ok(row.map(Spend::from).unwrap_or_default())
}
