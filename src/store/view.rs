//! Reading: one moment of the file, and what reading and writing transactions have in common.

use std::cell::OnceCell;

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable};

use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::tables::Table;

/// Rows of a table, in the order of their keys.
pub type Rows<'a> = redb::Range<'a, &'static [u8], &'static [u8]>;

/// Gives the rows of every table: a [`View`] or a [`Txn`](crate::store::Txn).
pub trait Tables {
    /// The value of a row, handed to `read`; `None` when there is no such row.
    ///
    /// # Errors
    ///
    /// What the disk says, or what `read` says.
    fn row<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<Option<T>, Error>;

    /// The rows from `start` up to, and without, `end`; to the last one when there is no end.
    ///
    /// # Errors
    ///
    /// What the disk says.
    fn rows(&self, table: Table, start: &[u8], end: Option<&[u8]>) -> Result<Rows<'_>, Error>;
}

/// Reads the record of a row.
pub(crate) fn record<R: Record>(
    tables: &impl Tables,
    table: Table,
    key: &Key,
) -> Result<Option<R>, Error> {
    let key = key.as_slice();
    tables.row(table, key, |bytes| codec::decode(table, key, bytes))
}

/// Leaves a damaged record out of a list, so that the sound ones are served. The log says so.
pub(crate) fn sound<T>(read: Result<T, Error>) -> Result<Option<T>, Error> {
    match read {
        Ok(record) => Ok(Some(record)),
        Err(Error::Damaged { table }) => {
            tracing::error!(table, "a damaged record was left out; `errand doctor` names it");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The rows that begin with `prefix`.
pub(crate) fn rows_of<'a>(
    tables: &'a impl Tables,
    table: Table,
    prefix: &Key,
) -> Result<Rows<'a>, Error> {
    let end = prefix.end();
    tables.rows(table, prefix.as_slice(), end.as_ref().map(Key::as_slice))
}

/// One moment of the file. It is not held across an `await`, because old pages pile up behind it.
pub struct View {
    transaction: ReadTransaction,
    tables: [OnceCell<ReadOnlyTable<&'static [u8], &'static [u8]>>; Table::ALL.len()],
}

impl View {
    pub(crate) const fn new(transaction: ReadTransaction) -> Self {
        Self { transaction, tables: [const { OnceCell::new() }; Table::ALL.len()] }
    }

    /// A table, opened when it is first asked for.
    fn table(&self, table: Table) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>, Error> {
        let cell = self.tables.get(table as usize).expect("every table has its cell");
        if let Some(open) = cell.get() {
            return Ok(open);
        }
        let opened = self.transaction.open_table(table.definition())?;
        Ok(cell.get_or_init(|| opened))
    }
}

impl Tables for View {
    fn row<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        self.table(table)?.get(key)?.map(|it| read(it.value())).transpose()
    }

    fn rows(&self, table: Table, start: &[u8], end: Option<&[u8]>) -> Result<Rows<'_>, Error> {
        range(self.table(table)?, start, end)
    }
}

/// The range of a table, which has the same form for both kinds of transaction.
pub(crate) fn range<'a>(
    table: &'a impl ReadableTable<&'static [u8], &'static [u8]>,
    start: &[u8],
    end: Option<&[u8]>,
) -> Result<Rows<'a>, Error> {
    Ok(match end {
        // redb refuses a range whose end is before its start; here it is an empty one.
        Some(end) => table.range::<&[u8]>(start..end.max(start))?,
        None => table.range::<&[u8]>(start..)?,
    })
}
