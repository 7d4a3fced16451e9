//! What is known of the file itself: who it is, which format it has, how often it was opened.

use serde::{Deserialize, Serialize};

use crate::domain::id::{Id, Instance};
use crate::domain::time::Timestamp;
use crate::store::codec::Record;
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::open::Options;
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

/// Who the file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The id of the installation, made with the file.
    pub instance: Id<Instance>,
    /// The name of the installation.
    pub name: String,
    /// When the file was made.
    pub created_at: Timestamp,
    /// How often the file was opened by a daemon, this time included.
    pub boot: u64,
    /// The format of the file.
    pub format: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct IdentityRow {
    /// The format a reader must know.
    format: u32,
    instance: Id<Instance>,
    name: String,
    created_at: Timestamp,
    boot: u64,
}

impl Record for IdentityRow {}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SlotsRow {
    reckoned_at: Timestamp,
}

impl Record for SlotsRow {}

/// Who the file is.
///
/// # Errors
///
/// What the disk says; [`Error::Bug`] when the file was never prepared.
pub fn identity(tables: &impl Tables) -> Result<Identity, Error> {
    let row = find(tables)?.ok_or(Error::Bug("the file has no identity"))?;
    Ok(Identity {
        instance: row.instance,
        name: row.name,
        created_at: row.created_at,
        boot: row.boot,
        format: row.format,
    })
}

/// Gives a new file its identity, refuses a newer one, and counts the opening.
pub(crate) fn begin(txn: &mut Txn<'_>, options: &Options) -> Result<(), Error> {
    let row = match find(txn)? {
        Some(row) if row.format > FORMAT => {
            return Err(Error::Newer { found: row.format, known: FORMAT });
        }
        Some(row) => IdentityRow { boot: row.boot.saturating_add(1), ..row },
        None => IdentityRow {
            format: FORMAT,
            instance: options.instance,
            name: options.name.clone(),
            created_at: options.now,
            boot: 1,
        },
    };
    txn.put(Table::Meta, &key(), &row)
}

/// Writes the identity again as it is, to see whether a commit works.
///
/// # Errors
///
/// What the disk says.
pub fn probe(txn: &mut Txn<'_>) -> Result<(), Error> {
    let row = find(txn)?.ok_or(Error::Bug("the file has no identity"))?;
    txn.put(Table::Meta, &key(), &row)
}

/// Notes that next slots were reckoned at `now`; the latest such time stays.
///
/// A clock that shows an earlier time was set back, and the slots must be reckoned again.
///
/// # Errors
///
/// What the disk says.
pub fn note_slots(txn: &mut Txn<'_>, now: Timestamp) -> Result<(), Error> {
    if slots_noted_at(txn)?.is_some_and(|it| it >= now) {
        return Ok(());
    }
    txn.put(Table::Meta, &slots_key(), &SlotsRow { reckoned_at: now })
}

/// Notes that all next slots were reckoned again at `now`, whatever was noted before.
///
/// # Errors
///
/// What the disk says.
pub fn reset_slots(txn: &mut Txn<'_>, now: Timestamp) -> Result<(), Error> {
    txn.put(Table::Meta, &slots_key(), &SlotsRow { reckoned_at: now })
}

/// The latest time at which a next slot was reckoned.
///
/// # Errors
///
/// What the disk says.
pub fn slots_noted_at(tables: &impl Tables) -> Result<Option<Timestamp>, Error> {
    let row: Option<SlotsRow> = view::record(tables, Table::Meta, &slots_key())?;
    Ok(row.map(|it| it.reckoned_at))
}

fn slots_key() -> Key {
    Key::new().bytes(b"slots")
}

fn find(tables: &impl Tables) -> Result<Option<IdentityRow>, Error> {
    view::record(tables, Table::Meta, &key())
}

fn key() -> Key {
    Key::new().bytes(b"identity")
}

/// The format that this version writes; it reads all formats up to it.
pub const FORMAT: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::disk::MemoryDisk;
    use crate::store::open::{self, Verify};

    #[test]
    fn a_file_of_a_newer_format_is_refused_and_both_formats_are_named() {
        let disk = MemoryDisk::default();
        let options = Options {
            cache_bytes: 1 << 20,
            verify: Verify::Small,
            instance: Id::from_bytes([7; 16]),
            name: "test".into(),
            now: Timestamp::EPOCH,
        };
        let opened = open::prepared(&disk, &options).unwrap();
        let transaction = opened.database.begin_write().unwrap();
        let till = crate::store::till::Till::default();
        let mut txn = Txn::new(&transaction, &till);
        let row = IdentityRow { format: 7, ..find(&txn).unwrap().unwrap() };
        txn.put(Table::Meta, &key(), &row).unwrap();
        drop(txn);
        transaction.commit().unwrap();
        drop(opened);
        let Err(error) = open::prepared(&disk, &options) else { panic!("it must be refused") };
        assert!(matches!(error, Error::Newer { found: 7, known: 1 }));
        let text = error.to_string();
        assert!(text.contains("format 7") && text.contains("up to 1"), "{text}");
    }
}
