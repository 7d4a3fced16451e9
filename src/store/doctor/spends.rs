//! What each key has spent, against the ledgers and the runs that it pays for.

use std::collections::BTreeMap;

use crate::domain::account::KeyId;
use crate::domain::ledger::EntryKind;
use crate::domain::money::Amount;
use crate::domain::run::Run;
use crate::store::codec;
use crate::store::doctor::examine::each_account;
use crate::store::doctor::findings::{Fault, Findings};
use crate::store::doctor::runs;
use crate::store::entry_row;
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::spends::SpendRow;
use crate::store::tables::Table;
use crate::store::view::{self, View};

/// What the other rows say of a key.
#[derive(Clone, Copy, Debug)]
struct Sum {
    held: Amount,
    total: Amount,
}

/// The sums of all keys. There are as many as keys ever spent something.
#[derive(Debug)]
struct Sums {
    keys: BTreeMap<KeyId, Sum>,
    /// Whether every row could be read and added, so that the sums mean something.
    whole: bool,
}

/// Compares what every key holds and has spent with the runs and the ledgers.
///
/// # Errors
///
/// What the disk says.
pub(super) fn check(view: &View, findings: &mut Findings) -> Result<(), Error> {
    let mut sums = add_up(view)?;
    if !sums.whole {
        return Ok(());
    }
    for row in view::rows_of(view, Table::KeySpends, &Key::new())? {
        let (key, value) = row?;
        let row = codec::decode::<SpendRow>(Table::KeySpends, key.value(), value.value());
        let Some(id) = Parts(key.value()).id() else { continue };
        let sum = sums.keys.remove(&id).unwrap_or(Sum::NOTHING);
        let Ok(row) = row else { continue };
        let mut note = |fault| findings.note(Table::KeySpends, key.value(), fault);
        Fault::differs("held amount", &row.held, &sum.held).map(&mut note);
        Fault::differs("spent amount", &row.total, &sum.total).map(&mut note);
    }
    for (key, sum) in sums.keys {
        let key = Key::of(key);
        let mut note = |fault| findings.note(Table::KeySpends, key.as_slice(), fault);
        Fault::differs("held amount", &Amount::ZERO, &sum.held).map(&mut note);
        Fault::differs("spent amount", &Amount::ZERO, &sum.total).map(&mut note);
    }
    Ok(())
}

fn add_up(view: &View) -> Result<Sums, Error> {
    let mut sums = Sums { keys: BTreeMap::new(), whole: true };
    each_account(view, |account| {
        for row in view::rows_of(view, Table::Ledger, &Key::of(account))? {
            let (key, value) = row?;
            match entry_row::entry(key.value(), value.value()) {
                Err(_) => sums.whole = false,
                Ok(entry) if matches!(entry.kind, EntryKind::Charge | EntryKind::Chat) => {
                    let spent = Amount::ZERO.minus(entry.amount);
                    sums.add(entry.key, Some(Amount::ZERO), spent);
                }
                Ok(_) => {}
            }
        }
        for table in [Table::Runs, Table::Ghosts] {
            runs::each(view, table, account, |_, run: Option<Run>| {
                match run {
                    Some(run) => sums.add(run.key, Some(run.hold), Some(Amount::ZERO)),
                    None => sums.whole = false,
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(sums)
}

impl Sum {
    const NOTHING: Self = Self { held: Amount::ZERO, total: Amount::ZERO };
}

impl Sums {
    /// Adds to the sums of a key, if there is one.
    fn add(&mut self, key: Option<KeyId>, held: Option<Amount>, spent: Option<Amount>) {
        let Some(key) = key else { return };
        let sum = self.keys.entry(key).or_insert(Sum::NOTHING);
        let held = held.and_then(|it| sum.held.plus(it));
        let total = spent.and_then(|it| sum.total.plus(it));
        match (held, total) {
            (Some(held), Some(total)) => *sum = Sum { held, total },
            _ => self.whole = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::spend::Spend;
    use crate::domain::time::Timestamp;
    use crate::store::doctor::sample::{KEY, PRICE, check_problems};

    fn spends(what: &str, kept: &str, right: &str) -> String {
        format!("key-spends-1 {KEY}: its {what} is {kept}, and should be {right}")
    }

    #[test]
    fn a_key_that_holds_or_has_spent_something_else_than_its_runs_is_found() {
        let charged = Spend::default().hold(PRICE).charge(PRICE, Timestamp::EPOCH);
        check_problems(
            move |txn| {
                txn.put_spend(KEY, charged);
                Ok(())
            },
            &[spends("spent amount", "1", "0")],
        );
        check_problems(
            |txn| {
                txn.put_spend(KEY, Spend::default());
                Ok(())
            },
            &[spends("held amount", "0", "1")],
        );
    }

    #[test]
    fn a_key_whose_spending_is_missing_is_found() {
        let remove =
            |txn: &mut crate::store::Txn<'_>| txn.remove(Table::KeySpends, &Key::of(KEY)).map(drop);
        check_problems(remove, &[spends("held amount", "0", "1")]);
    }
}
