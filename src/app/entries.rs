//! The lines of a ledger, as the operator looks at them: filtered, newest first, page by page.
//!
//! A page ends when it is full or when it has looked at many lines, whichever comes first, so that
//! a filter that fits nothing does not keep the disk busy. Whoever wants more goes on from there.

use crate::app::{App, Error};
use crate::domain::account::{AccountId, KeyId};
use crate::domain::ledger::{Entry, EntryKind};
use crate::domain::time::Timestamp;
use crate::store::{Tables, accounts, ledger};

/// Which lines are wanted; everything when nothing is named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// Why the balance changed.
    pub kind: Option<EntryKind>,
    /// The key that started the work.
    pub key: Option<KeyId>,
    /// The first time that is wanted.
    pub since: Option<Timestamp>,
    /// The first time that is not wanted any more.
    pub until: Option<Timestamp>,
}

/// A part of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The lines that are wanted, newest first.
    pub entries: Vec<Entry>,
    /// Where the next part begins: lines before this number. `None` when there is none.
    pub next_before: Option<u64>,
}

impl Filter {
    fn wants(&self, entry: &Entry) -> bool {
        self.kind.is_none_or(|it| it == entry.kind)
            && self.key.is_none_or(|it| Some(it) == entry.key)
            && self.since.is_none_or(|it| entry.at >= it)
            && self.until.is_none_or(|it| entry.at < it)
    }
}

/// Up to `limit` wanted lines of an account's ledger before the line `before`.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such account.
pub async fn list(
    app: &App,
    account: AccountId,
    filter: Filter,
    before: Option<u64>,
    limit: usize,
) -> Result<Page, Error> {
    let before = before.unwrap_or(u64::MAX);
    let look = move |view: &_| {
        accounts::find(view, account)?.ok_or(Error::NotFound)?;
        page(view, account, filter, before, limit)
    };
    app.0.store.scan(look).await
}

fn page(
    tables: &impl Tables,
    account: AccountId,
    filter: Filter,
    mut before: u64,
    limit: usize,
) -> Result<Page, Error> {
    let mut entries = Vec::new();
    let mut looked_at = 0_usize;
    while looked_at < LOOKED_AT_MAX {
        let found = ledger::scan(tables, account, before, CHUNK)?;
        looked_at = looked_at.saturating_add(found.len());
        let is_last = found.len() < CHUNK;
        for entry in found {
            if entries.len() == limit {
                return Ok(Page { entries, next_before: Some(before) });
            }
            before = entry.seq;
            if filter.wants(&entry) {
                entries.push(entry);
            }
        }
        if is_last {
            return Ok(Page { entries, next_before: None });
        }
    }
    Ok(Page { entries, next_before: Some(before) })
}

/// Lines that are read at once.
const CHUNK: usize = 500;
/// Lines that are looked at for one page.
const LOOKED_AT_MAX: usize = 20_000;
