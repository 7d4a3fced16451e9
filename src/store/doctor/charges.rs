//! Charges against the runs they pay: each once, and for what the run costs.

use std::collections::HashSet;

use crate::domain::account::AccountId;
use crate::domain::checksum::CRC_32C;
use crate::domain::id::Id;
use crate::domain::ledger::{Entry, EntryKind};
use crate::domain::money::Amount;
use crate::store::doctor::findings::{Fault, Findings};
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::tables::Table;
use crate::store::view::{self, Tables as _, View};
use crate::store::{entry_row, runs};

/// Finds entries that charge the same thing twice; whether there is none.
///
/// The names are looked at in several rounds, each with its share of them, so that the memory
/// stays the same for a long ledger.
pub(super) fn check_once(
    view: &View,
    account: AccountId,
    charges: u64,
    findings: &mut Findings,
) -> Result<bool, Error> {
    let mut once = true;
    let rounds = u32::try_from(charges.div_ceil(NAMES_MAX)).unwrap_or(u32::MAX);
    for round in 0..rounds {
        let mut names = HashSet::new();
        for row in view::rows_of(view, Table::Ledger, &Key::of(account))? {
            let (key, value) = row?;
            let entry = entry_row::entry(key.value(), value.value()).ok();
            let Some(name) = entry.as_ref().and_then(charged) else { continue };
            let share = CRC_32C.of(&[&name]).checked_rem(rounds).unwrap_or(0);
            if share == round && !names.insert(name) {
                let fault = Fault::Rule("it charges something that was charged before");
                findings.note(Table::Ledger, key.value(), fault);
                once = false;
            }
        }
    }
    Ok(once)
}

/// Compares each charge with its run, if that is still there; how many runs cost something.
///
/// `None` when an entry could not be read.
pub(super) fn check_prices(
    view: &View,
    account: AccountId,
    findings: &mut Findings,
) -> Result<Option<u64>, Error> {
    let mut paid = Some(0_u64);
    for row in view::rows_of(view, Table::Ledger, &Key::of(account))? {
        let (key, value) = row?;
        let Ok(entry) = entry_row::entry(key.value(), value.value()) else {
            paid = None;
            continue;
        };
        let Some(id) = charged(&entry).map(Id::from_bytes) else { continue };
        let ghost = runs::run_key(account, id);
        if view.row(Table::Ghosts, ghost.as_slice(), |_| Ok(()))?.is_some() {
            let fault = Fault::Rule("it charges a run whose execution has not ended");
            findings.note(Table::Ledger, key.value(), fault);
        }
        let cost = match runs::find(view, account, id) {
            Ok(Some(run)) => run.cost,
            // Deleted runs leave their charges behind.
            Ok(None) => continue,
            Err(error) if error.is_disk() => return Err(error),
            Err(_) => continue,
        };
        let price = Amount::ZERO.minus(entry.amount).unwrap_or(Amount::MAX);
        if let Some(fault) = Fault::differs("price", &price, &cost) {
            findings.note(Table::Ledger, key.value(), fault);
        }
        let counts = u64::from(cost > Amount::ZERO);
        paid = paid.map(|it| it.saturating_add(counts));
    }
    Ok(paid)
}

/// What an entry charges.
pub(super) fn charged(entry: &Entry) -> Option<[u8; 16]> {
    match entry.kind {
        EntryKind::Charge | EntryKind::Chat => entry.reference,
        EntryKind::Credit | EntryKind::Debit => None,
    }
}

/// Names that are remembered at the same time: about ten megabytes.
const NAMES_MAX: u64 = 200_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;
    use crate::store::doctor::sample::{self, ALICE, DONE, FAILED, GHOST, append, check_problems};

    fn entry(seq: u64, fault: &str) -> String {
        format!("ledger-1 {ALICE}/{seq}: {fault}")
    }

    #[test]
    fn a_run_that_is_charged_twice_is_found() {
        check_problems(
            |txn| append(txn, EntryKind::Charge, "8", Some(DONE)),
            &[entry(3, "it charges something that was charged before")],
        );
        // Deleted runs are not charged twice either.
        let gone = Id::from_bytes([0x77; 16]);
        check_problems(
            move |txn| {
                append(txn, EntryKind::Charge, "8", Some(gone))?;
                append(txn, EntryKind::Charge, "7", Some(gone))
            },
            &[entry(4, "it charges something that was charged before")],
        );
    }

    #[test]
    fn a_charge_that_contradicts_its_run_is_found() {
        check_problems(
            |txn| append(txn, EntryKind::Charge, "8", Some(FAILED)),
            &[entry(3, "its price is 1, and should be 0")],
        );
        check_problems(
            |txn| append(txn, EntryKind::Charge, "8", Some(GHOST)),
            &[entry(3, "it charges a run whose execution has not ended")],
        );
    }
    #[test]
    fn a_long_ledger_is_searched_in_rounds_of_the_same_memory() {
        let store = sample::store();
        let total = NAMES_MAX / 1000;
        sample::write(&store, move |txn| {
            for number in 0..total {
                let name = Id::new(Timestamp::EPOCH, 0, number.to_be_bytes());
                append(txn, EntryKind::Charge, "9", Some(name))?;
            }
            Ok(())
        });
        let mut findings = Findings::default();
        let once = store.read(|view| check_once(view, ALICE, NAMES_MAX * 3, &mut findings));
        assert!(once.unwrap() && findings.is_clean());
        sample::write(&store, move |txn| {
            let name = Id::new(Timestamp::EPOCH, 0, 3_u64.to_be_bytes());
            append(txn, EntryKind::Charge, "9", Some(name))
        });
        let once = store.read(|view| check_once(view, ALICE, NAMES_MAX * 3, &mut findings));
        assert!(!once.unwrap());
        assert_eq!(findings.problem_count, 1);
    }
}
