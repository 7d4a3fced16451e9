//! The form of every table's keys: to check them, and to name a row in words.

use std::fmt::Write as _;

use crate::domain::account::AccountId;
use crate::domain::id::{self, Id};
use crate::domain::run::RunId;
use crate::store::key::Parts;
use crate::store::tables::Table;

/// One part of a key.
#[derive(Clone, Copy)]
enum Part {
    /// An id of any kind.
    Id,
    /// One byte that is smaller than this.
    Below(u8),
    /// A number of two bytes.
    Short,
    /// A number of eight bytes, or a time.
    Long,
    /// A hash, of which the beginning is shown.
    Hash,
    /// A text up to the zero byte behind it.
    Label,
    /// A text up to the end.
    Rest,
}

/// What the keys of a table are made of.
const fn parts(table: Table) -> &'static [Part] {
    match table {
        Table::Meta | Table::Kinds => &[Part::Rest],
        Table::Accounts
        | Table::Wallets
        | Table::Claims
        | Table::KeySpends
        | Table::ScheduleCounts => &[Part::Id],
        Table::Ledger => &[Part::Id, Part::Long],
        Table::Keys => &[Part::Hash],
        Table::Runs
        | Table::Ghosts
        | Table::Receivers
        | Table::ActiveReceivers
        | Table::Standings
        | Table::Events
        | Table::Schedules
        | Table::Baselines => &[Part::Id, Part::Id],
        Table::Outputs => &[Part::Id, Part::Id, Part::Below(3)],
        Table::RunStates => &[Part::Id, Part::Short, Part::Below(5), Part::Id],
        Table::RunLabels => &[Part::Id, Part::Label, Part::Id],
        Table::RunCounts => &[Part::Id, Part::Short, Part::Below(5)],
        Table::Queue => &[Part::Id, Part::Long, Part::Below(3), Part::Long, Part::Id],
        Table::RunEvents | Table::Deliveries | Table::Outbox => &[Part::Id, Part::Id, Part::Id],
        Table::DeliveryStates => &[Part::Id, Part::Id, Part::Below(5), Part::Id],
        Table::EventDeliveries => &[Part::Id, Part::Id, Part::Id, Part::Id],
        Table::DueSchedules => &[Part::Long, Part::Id, Part::Id],
        Table::Ticks => &[Part::Id, Part::Id, Part::Long],
        Table::ScheduleRuns => &[Part::Id, Part::Id, Part::Below(2), Part::Id],
    }
}

/// Whether `key` has the form of its table.
pub(super) fn is_sound(table: Table, key: &[u8]) -> bool {
    read(table, key).is_some()
}

/// The row of `key` in words: its parts with slashes between them, or its bytes.
pub(super) fn describe(table: Table, key: &[u8]) -> String {
    read(table, key).map_or_else(|| hex(key), |parts| parts.join("/"))
}

/// The account at the beginning of a key, in tables that have one there.
pub(super) fn account(table: Table, key: &[u8]) -> Option<AccountId> {
    match table {
        Table::Wallets
        | Table::Ledger
        | Table::Runs
        | Table::Ghosts
        | Table::Outputs
        | Table::RunStates
        | Table::RunLabels
        | Table::RunCounts
        | Table::Queue
        | Table::Receivers
        | Table::ActiveReceivers
        | Table::Standings
        | Table::Events
        | Table::RunEvents
        | Table::Deliveries
        | Table::DeliveryStates
        | Table::EventDeliveries
        | Table::Outbox
        | Table::Schedules
        | Table::Ticks
        | Table::ScheduleRuns
        | Table::Baselines
        | Table::ScheduleCounts => Parts(key).id(),
        Table::DueSchedules => Parts(key.get(8..)?).id(),
        Table::Meta
        | Table::Accounts
        | Table::Keys
        | Table::Kinds
        | Table::Claims
        | Table::KeySpends => None,
    }
}

/// The account at the beginning of a key and the run at its end.
pub(super) fn account_and_run(key: &[u8]) -> Option<(AccountId, RunId)> {
    let (rest, run) = key.split_last_chunk::<16>()?;
    Some((Parts(rest).id()?, Id::from_bytes(*run)))
}

/// The parts of a key in words; `None` when it does not have its table's form.
fn read(table: Table, key: &[u8]) -> Option<Vec<String>> {
    let mut left = Parts(key);
    let mut words = Vec::new();
    for part in parts(table) {
        words.push(match part {
            Part::Id => left.id::<id::Run>()?.to_string(),
            Part::Below(end) => {
                let [number] = left.take::<1>().filter(|[it]| it < end)?;
                number.to_string()
            }
            Part::Short => u16::from_be_bytes(left.take()?).to_string(),
            Part::Long => u64::from_be_bytes(left.take()?).to_string(),
            Part::Hash => hex(left.take::<32>()?.get(..SHOWN_BYTES)?),
            Part::Label => {
                let len = left.0.iter().position(|it| *it == 0)?;
                let (label, rest) = left.0.split_at_checked(len)?;
                left = Parts(rest);
                left.take::<1>()?;
                text(label)?
            }
            Part::Rest => text(std::mem::take(&mut left.0))?,
        });
    }
    left.0.is_empty().then_some(words)
}

/// A text that is there and can be printed.
fn text(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let printable = !text.is_empty() && !text.chars().any(char::is_control);
    printable.then(|| text.to_owned())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Bytes of a hash that are shown.
const SHOWN_BYTES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::key::Key;

    const ACCOUNT: &str = "01010101-0101-0101-0101-010101010101";
    const RUN: &str = "02020202-0202-0202-0202-020202020202";

    fn start() -> Key {
        Key::new().bytes(&[1; 16])
    }

    #[track_caller]
    fn check_words(table: Table, key: Key, words: &str) {
        assert_eq!(describe(table, key.as_slice()), words);
        assert!(is_sound(table, key.as_slice()), "{words}");
    }

    #[track_caller]
    fn check_wrong(table: Table, key: &[u8]) {
        assert!(!is_sound(table, key), "{} {key:?}", table.name());
        assert_eq!(describe(table, key), hex(key));
    }

    #[test]
    fn a_row_is_named_by_the_parts_of_its_key() {
        check_words(Table::Ledger, start().u64(7), &format!("{ACCOUNT}/7"));
        let label = start().bytes("öl".as_bytes()).u8(0).bytes(&[2; 16]);
        check_words(Table::RunLabels, label, &format!("{ACCOUNT}/öl/{RUN}"));
        let state = start().u16(3).u8(4).bytes(&[2; 16]);
        check_words(Table::RunStates, state, &format!("{ACCOUNT}/3/4/{RUN}"));
        check_words(Table::Keys, Key::new().bytes(&[0xAB; 32]), "abababab");
        check_words(Table::Meta, Key::new().bytes(b"identity"), "identity");
    }

    #[test]
    fn a_key_of_another_form_is_wrong() {
        for table in Table::ALL {
            check_wrong(table, &[]);
            check_wrong(table, &[0xFF; 3]);
        }
        check_wrong(Table::Accounts, &[1; 15]);
        check_wrong(Table::Accounts, &[1; 17]);
        check_wrong(Table::Outputs, start().bytes(&[2; 16]).u8(3).as_slice());
        check_wrong(Table::RunCounts, start().u16(3).u8(5).as_slice());
        check_wrong(Table::RunLabels, start().u8(0).bytes(&[2; 16]).as_slice());
        check_wrong(Table::RunLabels, start().bytes(b"no end").bytes(&[2; 16]).as_slice());
        check_wrong(Table::Kinds, b"a\nb");
    }
}
