//! Looking from one row at those that belong to it.

use crate::store::doctor::findings::{Fault, Findings};
use crate::store::doctor::keys;
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::tables::Table;
use crate::store::view::{self, Tables as _, View};

/// What stands at a place that a row names.
pub(super) enum Behind<T> {
    /// It is there.
    There(T),
    /// It is not there.
    Nothing,
    /// It is there and cannot be read, which the look at all rows has told.
    Unreadable,
}

impl<T> Behind<T> {
    /// What a look at the place has given.
    pub(super) fn of(found: Result<Option<T>, Error>) -> Result<Self, Error> {
        match found {
            Ok(Some(it)) => Ok(Self::There(it)),
            Ok(None) => Ok(Self::Nothing),
            Err(error) if error.is_disk() => Err(error),
            Err(_) => Ok(Self::Unreadable),
        }
    }

    /// Whether it fits, as far as can be read.
    pub(super) fn fits(&self, fit: impl FnOnce(&T) -> bool) -> bool {
        match self {
            Self::There(it) => fit(it),
            Self::Nothing => false,
            Self::Unreadable => true,
        }
    }
}

/// Gives the key of every row of a table to `look`, and notes what it finds.
pub(super) fn each(
    view: &View,
    table: Table,
    look: impl Fn(&[u8]) -> Result<Option<Fault>, Error>,
    findings: &mut Findings,
) -> Result<(), Error> {
    for row in view::rows_of(view, table, &Key::new())? {
        let (key, _) = row?;
        if !keys::is_sound(table, key.value()) {
            continue;
        }
        if let Some(fault) = look(key.value())? {
            findings.note(table, key.value(), fault);
        }
    }
    Ok(())
}

/// Whether a row is there, whatever is in it.
pub(super) fn is_there(view: &View, table: Table, key: &Key) -> Result<bool, Error> {
    Ok(view.row(table, key.as_slice(), |_| Ok(()))?.is_some())
}
