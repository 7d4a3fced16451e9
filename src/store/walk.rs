//! Walking through ids, newest first: many ranges of keys as one, cut to a span of time.

use std::marker::PhantomData;

use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::tables::Table;
use crate::store::view::{Rows, Tables};

/// A span of ids: from the first of `start` up to, and without, `end`.
pub(crate) struct Span<T> {
    start: Option<Id<T>>,
    end: Option<Id<T>>,
}

impl<T> Clone for Span<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Span<T> {}

impl<T> Span<T> {
    /// What was born at `after` or later, and before `before`.
    pub(crate) fn of_times(after: Option<Timestamp>, before: Option<Timestamp>) -> Self {
        Self { start: after.map(first_id), end: before.map(first_id) }
    }

    /// The part of it that is older than `id`.
    pub(crate) fn before(self, id: Option<Id<T>>) -> Self {
        let end = match (self.end, id) {
            (Some(end), Some(id)) => Some(end.min(id)),
            (end, id) => end.or(id),
        };
        Self { end, ..self }
    }

    fn rows<'a>(
        &self,
        tables: &'a impl Tables,
        table: Table,
        prefix: &Key,
    ) -> Result<Rows<'a>, Error> {
        let start = self.start.map_or(*prefix, |it| prefix.id(it));
        let end = self.end.map_or_else(|| prefix.end(), |it| Some(prefix.id(it)));
        tables.rows(table, start.as_slice(), end.as_ref().map(Key::as_slice))
    }
}

/// The ids of all sources, newest first: the sources are merged, each being in order.
pub(crate) struct Walk<'a, T> {
    /// The newest id of each source that was not given yet, and the older ones.
    heads: Vec<(Option<Id<T>>, Source<'a, T>)>,
}

impl<'a, T> Walk<'a, T> {
    /// A walk over what stands in `sources`, which are tables and beginnings of keys.
    pub(crate) fn new(
        tables: &'a impl Tables,
        sources: &[(Table, Key)],
        span: Span<T>,
    ) -> Result<Self, Error> {
        let mut heads = Vec::with_capacity(sources.len());
        for (table, prefix) in sources {
            let mut source =
                Source { rows: span.rows(tables, *table, prefix)?, table: *table, of: PhantomData };
            heads.push((source.next().transpose()?, source));
        }
        Ok(Self { heads })
    }
}

impl<T> Iterator for Walk<'_, T> {
    type Item = Result<Id<T>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (head, source) = self.heads.iter_mut().max_by_key(|it| it.0)?;
        let newest = (*head)?;
        match source.next().transpose() {
            Ok(next) => *head = next,
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(newest))
    }
}

/// One source's ids, newest first.
struct Source<'a, T> {
    rows: Rows<'a>,
    table: Table,
    of: PhantomData<fn() -> T>,
}

impl<T> Iterator for Source<'_, T> {
    type Item = Result<Id<T>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next_back()?;
        Some(row.map_err(Error::from).and_then(|it| last_id(it.0.value(), self.table)))
    }
}

/// The smallest id that can be born at `at`. Only its time is looked at: the bits of version and
/// variant are left zero, so that it sorts before every real id of that millisecond.
pub(crate) fn first_id<T>(at: Timestamp) -> Id<T> {
    let [_, _, a, b, c, d, e, f] = u64::try_from(at.millis()).unwrap_or(0).to_be_bytes();
    Id::from_bytes([a, b, c, d, e, f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
}

/// The id at the end of a key.
pub(crate) fn last_id<T>(key: &[u8], table: Table) -> Result<Id<T>, Error> {
    let tail = key.len().checked_sub(16).and_then(|it| key.get(it..));
    let id = tail.and_then(|it| Parts(it).id());
    id.ok_or(Error::Damaged { table: table.name() })
}
