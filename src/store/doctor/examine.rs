//! The examinations, each over one moment of the file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::domain::account::AccountId;
use crate::store::disk::Disk;
use crate::store::doctor::findings::{Findings, Problem};
use crate::store::doctor::{deliveries, indexes, money, rows, runs, schedules, spends};
use crate::store::error::Error;
use crate::store::file::Store;
use crate::store::key::{Key, Parts};
use crate::store::open::{self, Access, Verify};
use crate::store::tables::Table;
use crate::store::view::{self, View};

/// What the ledgers of all accounts came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerSums {
    /// Accounts.
    pub accounts: u64,
    /// Entries of all their ledgers.
    pub entries: u64,
    /// What does not add up: the first of them, as many as [`Findings::problems`] has.
    pub faults: Vec<Problem>,
    /// How many faults there are.
    pub fault_count: u64,
}

/// Looks at every row of the file. It blocks for as long as that takes.
///
/// A deleted run counts as active, and its hold as held, until its execution has ended.
///
/// # Errors
///
/// What the disk says. A damaged row is no error but a problem that is found.
pub fn examine(store: &Store) -> Result<Findings, Error> {
    let mut findings = read(store, |view, findings| {
        rows::check(view, findings)?;
        let kinds = runs::kinds(view, findings)?;
        each_account(view, |account| {
            let tally = runs::check(view, account, &kinds, findings)?;
            let ledger = money::check_ledger(view, account, findings)?;
            findings.entries = findings.entries.saturating_add(ledger.entries);
            money::check_runs(view, account, ledger, tally, findings)
        })?;
        spends::check(view, findings)?;
        indexes::check(view, &kinds, findings)?;
        deliveries::check(view, findings)?;
        schedules::check(view, findings)
    })?;
    let accounts = findings.tables.iter().find(|it| it.0 == Table::Accounts.name());
    findings.accounts = accounts.map_or(0, |it| it.1);
    Ok(findings)
}

/// Adds up every ledger and compares it with its account's balance.
///
/// It blocks for as long as that takes.
///
/// # Errors
///
/// What the disk says.
pub fn verify_ledger(store: &Store) -> Result<LedgerSums, Error> {
    let findings = read(store, |view, findings| {
        each_account(view, |account| {
            findings.accounts = findings.accounts.saturating_add(1);
            let ledger = money::check_ledger(view, account, findings)?;
            findings.entries = findings.entries.saturating_add(ledger.entries);
            Ok(())
        })
    })?;
    let Findings { accounts, entries, problems: faults, problem_count: fault_count, .. } = findings;
    Ok(LedgerSums { accounts, entries, faults, fault_count })
}

/// Looks at every page of a file that nobody has open, and leaves the file as it is.
///
/// # Errors
///
/// [`Error::Unreadable`] when a page is damaged, [`Error::Locked`] when somebody has the file open,
/// or what the disk says.
pub fn check_pages(disk: &dyn Disk) -> Result<(), Error> {
    open::database(disk, CACHE_BYTES, Verify::Always, Access::ReadOnly).map(drop)
}

/// Reads one moment of the file. redb can panic when a page is damaged; that is an error then.
fn read(
    store: &Store,
    look: impl FnOnce(&View, &mut Findings) -> Result<(), Error>,
) -> Result<Findings, Error> {
    let look = || {
        store.read(|view| {
            let mut findings = Findings::default();
            look(view, &mut findings)?;
            Ok(findings)
        })
    };
    catch_unwind(AssertUnwindSafe(look)).unwrap_or_else(|_| {
        Err(Error::Disk(Arc::from(Box::from("the pages of the file contradict each other"))))
    })
}

/// Gives every account to `look`, also those whose record cannot be read.
pub(super) fn each_account(
    view: &View,
    mut look: impl FnMut(AccountId) -> Result<(), Error>,
) -> Result<(), Error> {
    for row in view::rows_of(view, Table::Accounts, &Key::new())? {
        let (key, _) = row?;
        if let Some(account) = Parts(key.value()).id() {
            look(account)?;
        }
    }
    Ok(())
}

/// Bytes of pages that are kept in memory during the look at the pages.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ledger::EntryKind;
    use crate::domain::money::Amount;
    use crate::store::disk::MemoryDisk;
    use crate::store::doctor::sample::{self, ALICE};
    use crate::store::ledger;

    #[test]
    fn a_store_with_a_run_in_every_state_has_no_problem() {
        let findings = examine(&sample::store()).unwrap();
        assert_eq!(sample::words(&findings), [""; 0]);
        assert!(findings.is_clean());
        assert_eq!((findings.accounts, findings.entries), (2, 3));
        let rows = |table: Table| findings.tables.iter().find(|it| it.0 == table.name()).unwrap().1;
        assert_eq!(rows(Table::Runs), 6);
        assert_eq!((rows(Table::Ghosts), rows(Table::Claims), rows(Table::Queue)), (1, 2, 2));
    }

    #[test]
    fn the_look_at_the_money_finds_what_is_wrong_with_the_money_alone() {
        let store = sample::store();
        let sums = verify_ledger(&store).unwrap();
        let clean = LedgerSums { accounts: 2, entries: 3, faults: Vec::new(), fault_count: 0 };
        assert_eq!(sums, clean);
        sample::write(&store, |txn| {
            let wallet = ledger::find_in(txn, ALICE)?;
            let more = wallet.balance.credit(Amount::from_nanos(1))?;
            ledger::put(txn, ALICE, more, 9)
        });
        let sums = verify_ledger(&store).unwrap();
        assert_eq!(sums.fault_count, 1);
        let text = format!("wallets-1 {ALICE}: its amount is 9.000000001, and should be 9");
        assert_eq!(sums.faults[0].to_string(), text);
        assert_eq!(examine(&store).unwrap().problem_count, 2);
    }

    #[test]
    fn only_a_whole_file_that_nobody_has_open_passes_the_look_at_the_pages() {
        let disk = MemoryDisk::default();
        assert!(matches!(check_pages(&disk), Err(Error::Unreadable { .. })));
        let store = sample::open(&disk);
        sample::write(&store, |txn| {
            let credit = sample::line(EntryKind::Credit, None);
            ledger::append(txn, ALICE, ledger::find_in(txn, ALICE)?.balance, 0, &credit)
        });
        assert!(matches!(check_pages(&disk), Err(Error::Locked { .. })));
        store.close();
        check_pages(&disk).unwrap();
        let flip = |at: u64| {
            let backend = disk.open().unwrap();
            let mut byte = [0];
            backend.read(at, &mut byte).unwrap();
            backend.write(at, &[byte[0] ^ 1]).unwrap();
        };
        let bytes = disk.open().unwrap().len().unwrap();
        let mut refused = 0;
        for at in (10..bytes).step_by(4096).skip(1) {
            flip(at);
            refused += u32::from(matches!(check_pages(&disk), Err(Error::Unreadable { .. })));
            flip(at);
        }
        assert!(refused > 3, "{refused} pages");
        check_pages(&disk).unwrap();
    }
}
