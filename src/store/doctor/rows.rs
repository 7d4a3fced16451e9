//! Every row by itself: its key, its envelope, its record, and whether its account is there.

use crate::domain::account::AccountId;
use crate::store::accounts::AccountRow;
use crate::store::baselines::BaselineRow;
use crate::store::codec::{self, Record};
use crate::store::delivery_row::DeliveryRow;
use crate::store::doctor::findings::{Fault, Findings};
use crate::store::doctor::keys;
use crate::store::entry_row::EntryRow;
use crate::store::error::Error;
use crate::store::events::EventRow;
use crate::store::key::Key;
use crate::store::keys::KeyRow;
use crate::store::ledger::WalletRow;
use crate::store::meta::{IdentityRow, SlotsRow};
use crate::store::outbox::OpenRow;
use crate::store::queue::ClaimRow;
use crate::store::receivers::{ReceiverRow, StandingRow};
use crate::store::run_row::RunRow;
use crate::store::runs::{CountRow, KindRow, TextRow};
use crate::store::schedules::{ScheduleCountRow, ScheduleRow};
use crate::store::seal::{self, SealRow};
use crate::store::spends::SpendRow;
use crate::store::tables::{Table, Values};
use crate::store::ticks::TickRow;
use crate::store::view::{self, Tables as _, View};

/// Looks at every row of every table, and counts them.
///
/// # Errors
///
/// What the disk says.
pub(super) fn check(view: &View, findings: &mut Findings) -> Result<(), Error> {
    for table in Table::ALL {
        let mut rows = 0_u64;
        // Rows of one account stand together, so the last answer is nearly always the next one.
        let mut last = None;
        for row in view::rows_of(view, table, &Key::new())? {
            let (key, value) = row?;
            let (key, value) = (key.value(), value.value());
            rows = rows.saturating_add(1);
            if let Some(fault) = fault(table, key, value) {
                findings.note(table, key, fault);
                continue;
            }
            let Some(account) = owner(table, key, value) else { continue };
            let known = match last {
                Some((it, known)) if it == account => known,
                Some(_) | None => exists(view, account)?,
            };
            last = Some((account, known));
            if !known {
                findings.note(table, key, Fault::Account);
            }
        }
        findings.tables.push((table.name(), rows));
    }
    Ok(())
}

/// What is wrong with a row, whatever the others say.
fn fault(table: Table, key: &[u8], value: &[u8]) -> Option<Fault> {
    if !keys::is_sound(table, key) {
        return Some(Fault::Key);
    }
    match table.values() {
        Values::Nothing => (!value.is_empty()).then_some(Fault::Value),
        Values::Records if !codec::is_sound(table, key, value) => Some(Fault::Checksum),
        Values::Records => match read(table, key, value) {
            Ok(()) => None,
            Err(Error::Newer { found, known }) => Some(Fault::Newer { found, known }),
            Err(_) => Some(Fault::Unreadable),
        },
    }
}

/// Reads the record of a row, as what its table keeps.
fn read(table: Table, key: &[u8], value: &[u8]) -> Result<(), Error> {
    fn as_a<R: Record>(table: Table, key: &[u8], value: &[u8]) -> Result<(), Error> {
        codec::decode::<R>(table, key, value).map(|_| ())
    }
    match table {
        Table::Meta if key == seal::META_KEY => as_a::<SealRow>(table, key, value),
        Table::Meta if key == b"slots" => as_a::<SlotsRow>(table, key, value),
        Table::Meta => as_a::<IdentityRow>(table, key, value),
        Table::Accounts => as_a::<AccountRow>(table, key, value),
        Table::Wallets => as_a::<WalletRow>(table, key, value),
        Table::Ledger => as_a::<EntryRow>(table, key, value),
        Table::Keys => as_a::<KeyRow>(table, key, value),
        Table::Kinds => as_a::<KindRow>(table, key, value),
        Table::Runs | Table::Ghosts => as_a::<RunRow<'_>>(table, key, value),
        Table::Outputs => as_a::<TextRow>(table, key, value),
        Table::RunCounts => as_a::<CountRow>(table, key, value),
        Table::Claims => as_a::<ClaimRow>(table, key, value),
        Table::Receivers => as_a::<ReceiverRow>(table, key, value),
        Table::Standings => as_a::<StandingRow>(table, key, value),
        Table::Events => as_a::<EventRow>(table, key, value),
        Table::Deliveries => as_a::<DeliveryRow>(table, key, value),
        Table::Outbox => as_a::<OpenRow>(table, key, value),
        Table::Schedules => as_a::<ScheduleRow>(table, key, value),
        Table::Ticks => as_a::<TickRow>(table, key, value),
        Table::Baselines => as_a::<BaselineRow>(table, key, value),
        Table::KeySpends => as_a::<SpendRow>(table, key, value),
        Table::ScheduleCounts => as_a::<ScheduleCountRow>(table, key, value),
        Table::RunStates
        | Table::RunLabels
        | Table::Queue
        | Table::ActiveReceivers
        | Table::RunEvents
        | Table::DeliveryStates
        | Table::EventDeliveries
        | Table::DueSchedules
        | Table::ScheduleRuns => Ok(()),
    }
}

/// Whose row it is: by its key, or else by its record.
fn owner(table: Table, key: &[u8], value: &[u8]) -> Option<AccountId> {
    match table {
        Table::Keys => codec::decode::<KeyRow>(table, key, value).ok().map(|it| it.account),
        Table::Claims => codec::decode::<ClaimRow>(table, key, value).ok().map(|it| it.account),
        // The key may be gone; what it has spent is kept all the same.
        Table::KeySpends => None,
        Table::Meta
        | Table::Accounts
        | Table::Wallets
        | Table::Ledger
        | Table::Kinds
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
        | Table::DueSchedules
        | Table::Ticks
        | Table::ScheduleRuns
        | Table::Baselines
        | Table::ScheduleCounts => keys::account(table, key),
    }
}

fn exists(view: &View, account: AccountId) -> Result<bool, Error> {
    let found = view.row(Table::Accounts, Key::of(account).as_slice(), |_| Ok(()))?;
    Ok(found.is_some())
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::domain::ledger::EntryKind;
    use crate::domain::secret::KeyHash;
    use crate::store::doctor::examine;
    use crate::store::doctor::sample::{self, ALICE, DONE, NOBODY, check_problems};
    use crate::store::{Txn, keys as key_store, ledger, queue, runs};

    /// A record of no table.
    #[derive(Serialize, Deserialize)]
    struct Strange(u8, u8);
    impl Record for Strange {}

    /// A record of the next version.
    #[derive(Serialize, Deserialize)]
    struct Next(u8);
    impl Record for Next {
        const VERSION: u8 = 2;
    }

    /// The key and the value of the first row of a table.
    fn first(txn: &Txn<'_>, table: Table) -> Result<(Key, Vec<u8>), Error> {
        let row = view::rows_of(txn, table, &Key::new())?.next().unwrap();
        let (key, value) = row?;
        Ok((Key::new().bytes(key.value()), value.value().to_vec()))
    }

    /// Makes a new value of a row.
    type Change = fn(Table, &Key, Vec<u8>) -> Result<Vec<u8>, Error>;

    /// Changes the first row of every table that keeps records, one table after the other.
    #[track_caller]
    fn check_first_rows(change: Change, words: &str) {
        for table in Table::ALL.into_iter().filter(|it| it.values() == Values::Records) {
            let store = sample::store();
            sample::write(&store, move |txn| {
                let (key, value) = first(txn, table)?;
                let value = change(table, &key, value)?;
                txn.plant(table, &key, &value)
            });
            let found = sample::words(&examine(&store).unwrap());
            let [problem] = found.as_slice() else { panic!("{}: {found:?}", table.name()) };
            assert!(problem.starts_with(table.name()), "{problem}");
            assert!(problem.ends_with(words), "{problem}");
        }
    }

    #[test]
    fn a_flipped_bit_is_found_in_every_table_and_nothing_else_is() {
        let flip = |_: Table, _: &Key, mut value: Vec<u8>| {
            *value.last_mut().unwrap() ^= 1;
            Ok(value)
        };
        check_first_rows(flip, ": its checksum does not fit");
    }

    #[test]
    fn a_whole_envelope_with_something_else_in_it_is_found_in_every_table() {
        // Too short for most records, and one byte too long for a number.
        let strange = |table: Table, key: &Key, _: Vec<u8>| {
            codec::encode(table, key.as_slice(), &Strange(7, 7))
        };
        check_first_rows(strange, ": its record cannot be read");
    }

    #[test]
    fn a_record_of_the_next_version_is_found_in_every_table() {
        let next =
            |table: Table, key: &Key, _: Vec<u8>| codec::encode(table, key.as_slice(), &Next(7));
        let words = ": its record has version 2, and this program reads up to 1";
        check_first_rows(next, words);
    }

    #[test]
    fn a_key_of_the_wrong_form_is_found_in_every_table() {
        for table in Table::ALL {
            check_problems(
                move |txn| txn.plant(table, &Key::new().bytes(&[10; 3]), &[]),
                &[format!("{} 0a0a0a: its key has the wrong form", table.name())],
            );
        }
    }

    #[test]
    fn an_index_row_with_a_value_is_found() {
        for table in [Table::RunStates, Table::RunLabels, Table::Queue] {
            let store = sample::store();
            sample::write(&store, move |txn| {
                let (key, _) = first(txn, table)?;
                txn.plant(table, &key, &[1])
            });
            let found = sample::words(&examine(&store).unwrap());
            let [problem] = found.as_slice() else { panic!("{}: {found:?}", table.name()) };
            assert!(problem.ends_with("it has a value, and its table has none"), "{problem}");
        }
    }

    #[test]
    fn rows_of_an_account_that_is_not_there_are_found() {
        let nobody = |txn: &mut Txn<'_>| {
            let credit = ledger::find_in(txn, NOBODY)?.balance.credit(sample::PRICE)?;
            let line = sample::line(EntryKind::Credit, None);
            ledger::append(txn, NOBODY, credit, 0, &line)?;
            key_store::put(txn, &KeyHash::from_bytes([0xBB; 32]), &sample::key(NOBODY))
        };
        check_problems(
            nobody,
            &[
                format!("wallets-1 {NOBODY}: its account does not exist"),
                format!("ledger-1 {NOBODY}/1: its account does not exist"),
                "keys-1 bbbbbbbb: its account does not exist".to_owned(),
            ],
        );
    }

    #[test]
    fn runs_of_an_account_that_is_not_there_are_found_in_all_their_tables() {
        let nobody = |txn: &mut Txn<'_>| {
            let run = sample::new_run(NOBODY, DONE);
            runs::insert(txn, &run)?;
            queue::enqueue(txn, &run)
        };
        check_problems(
            nobody,
            &[
                format!("runs-1 {NOBODY}/{DONE}: its account does not exist"),
                format!("run-states-1 {NOBODY}/0/0/{DONE}: its account does not exist"),
                format!("run-counts-1 {NOBODY}/0/0: its account does not exist"),
                format!("queue-1 {NOBODY}/1000/0/1000/{DONE}: its account does not exist"),
            ],
        );
    }

    #[test]
    fn an_account_without_a_wallet_is_found() {
        let without = |txn: &mut Txn<'_>| txn.remove(Table::Wallets, &Key::of(ALICE)).map(|_| ());
        check_problems(without, &[format!("accounts-1 {ALICE}: it has no row in wallets-1")]);
    }
}
