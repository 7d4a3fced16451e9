//! Rows that go back to a run: index rows, counts, places in the queue, claims and outputs.
//!
//! Each is asked for its run. Together with `runs`, which asks each run for its rows, this finds
//! every row that is missing, left over, or there twice.

use crate::domain::account::AccountId;
use crate::domain::run::{Run, RunId, Status};
use crate::store::codec;
use crate::store::doctor::findings::{Fault, Findings};
use crate::store::doctor::keys;
use crate::store::doctor::runs::Kinds;
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::queue::{self, ClaimRow};
use crate::store::runs::{self, CountRow};
use crate::store::tables::Table;
use crate::store::view::{self, Tables as _, View};

/// Looks for rows that go back to no run, and at the counts.
///
/// # Errors
///
/// What the disk says.
pub(super) fn check(view: &View, kinds: &Kinds, findings: &mut Findings) -> Result<(), Error> {
    check_runs_of(view, Table::RunStates, findings, |run, key| kinds.place(run, key))?;
    check_runs_of(view, Table::RunLabels, findings, |run, key| {
        runs::label_key(run).is_some_and(|it| it.as_slice() == key)
    })?;
    check_runs_of(view, Table::Queue, findings, |run, key| {
        run.status == Status::Pending && queue::place(run).as_slice() == key
    })?;
    check_outputs(view, findings)?;
    check_claims(view, findings)?;
    check_counts(view, findings)
}

/// Whether there is a run that a row goes back to.
enum Behind {
    Run(Box<Run>),
    Nothing,
    /// There is one and it cannot be read, which the look at all rows has told.
    Unreadable,
}

fn behind(view: &View, account: AccountId, id: RunId) -> Result<Behind, Error> {
    match runs::find(view, account, id) {
        Ok(Some(run)) => Ok(Behind::Run(Box::new(run))),
        Ok(None) => Ok(Behind::Nothing),
        Err(error) if error.is_disk() => Err(error),
        Err(_) => Ok(Behind::Unreadable),
    }
}

/// Notes the rows of an index whose run is gone, or `wants` them not.
fn check_runs_of(
    view: &View,
    table: Table,
    findings: &mut Findings,
    wants: impl Fn(&Run, &[u8]) -> bool,
) -> Result<(), Error> {
    for row in view::rows_of(view, table, &Key::new())? {
        let (key, _) = row?;
        let ids = keys::account_and_run(key.value());
        let Some((account, id)) = ids.filter(|_| keys::is_sound(table, key.value())) else {
            continue;
        };
        let stands = match behind(view, account, id)? {
            Behind::Run(run) => wants(&run, key.value()),
            Behind::Nothing => false,
            Behind::Unreadable => true,
        };
        if !stands {
            findings.note(table, key.value(), Fault::stray(Table::Runs));
        }
    }
    Ok(())
}

fn check_outputs(view: &View, findings: &mut Findings) -> Result<(), Error> {
    for row in view::rows_of(view, Table::Outputs, &Key::new())? {
        let (key, _) = row?;
        let mut parts = Parts(key.value());
        let (Some(account), Some(id)) = (parts.id(), parts.id()) else { continue };
        let stands = match behind(view, account, id)? {
            Behind::Run(run) => run.status.is_over(),
            Behind::Nothing => false,
            Behind::Unreadable => true,
        };
        if !stands {
            findings.note(Table::Outputs, key.value(), Fault::stray(Table::Runs));
        }
    }
    Ok(())
}

fn check_claims(view: &View, findings: &mut Findings) -> Result<(), Error> {
    for row in view::rows_of(view, Table::Claims, &Key::new())? {
        let (key, value) = row?;
        let claim = codec::decode::<ClaimRow>(Table::Claims, key.value(), value.value());
        let (Ok(claim), Some(id)) = (claim, Parts(key.value()).id()) else { continue };
        let ghost = runs::run_key(claim.account, id);
        let stands = match behind(view, claim.account, id)? {
            Behind::Run(run) => run.status == Status::Running,
            Behind::Nothing => view.row(Table::Ghosts, ghost.as_slice(), |_| Ok(()))?.is_some(),
            Behind::Unreadable => true,
        };
        if !stands {
            findings.note(Table::Claims, key.value(), Fault::stray(Table::Runs));
        }
    }
    Ok(())
}

/// Compares each count with the rows of the index that it counts.
fn check_counts(view: &View, findings: &mut Findings) -> Result<(), Error> {
    for row in view::rows_of(view, Table::RunCounts, &Key::new())? {
        let (key, value) = row?;
        let count = codec::decode::<CountRow>(Table::RunCounts, key.value(), value.value());
        let (Ok(CountRow(kept)), true) = (count, keys::is_sound(Table::RunCounts, key.value()))
        else {
            continue;
        };
        let mut found = 0_u64;
        for row in view::rows_of(view, Table::RunStates, &Key::new().bytes(key.value()))? {
            row?;
            found = found.saturating_add(1);
        }
        if let Some(fault) = Fault::differs("number of runs", &kept, &found) {
            findings.note(Table::RunCounts, key.value(), fault);
        }
    }
    // From one beginning of keys to the next: each must have its count.
    let mut from = Some(Key::new());
    while let Some(start) = from {
        let row = view.rows(Table::RunStates, start.as_slice(), None)?.next().transpose()?;
        let Some((key, _)) = row else { break };
        let Some(counted) = key.value().get(..COUNT_KEY_BYTES) else {
            from = Key::new().bytes(key.value()).u8(0).into();
            continue;
        };
        if view.row(Table::RunCounts, counted, |_| Ok(()))?.is_none() {
            findings.note(Table::RunStates, key.value(), Fault::missing(Table::RunCounts));
        }
        from = Key::new().bytes(counted).end();
    }
    Ok(())
}

/// Bytes of the key of a count: an account, a kind and a status.
const COUNT_KEY_BYTES: usize = 16 + 2 + 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;
    use crate::domain::outcome::Report;
    use crate::store::Txn;
    use crate::store::doctor::sample::{
        ALICE, BOB, DONE, NOW, RUNNING, WAITING, check_problems, claim, find,
    };

    const GONE: RunId = Id::from_bytes([0x77; 16]);

    fn stray(row: &str) -> Vec<String> {
        vec![format!("{row}: no row of runs-1 stands behind it")]
    }

    #[test]
    fn an_index_row_of_a_run_that_is_gone_is_found() {
        check_problems(
            |txn| txn.mark(Table::RunLabels, &runs::label_prefix(ALICE, "x").id(GONE)),
            &stray(&format!("run-labels-1 {ALICE}/x/{GONE}")),
        );
        check_problems(
            |txn| txn.mark(Table::Queue, &Key::of(BOB).u64(1).u8(1).u64(2).id(GONE)),
            &stray(&format!("queue-1 {BOB}/1/1/2/{GONE}")),
        );
        let states = Key::of(ALICE).u16(0).u8(0).id(GONE);
        let count = format!("run-counts-1 {ALICE}/0/0: its number of runs is 1, and should be 2");
        check_problems(
            move |txn| txn.mark(Table::RunStates, &states),
            &[stray(&format!("run-states-1 {ALICE}/0/0/{GONE}")), vec![count]].concat(),
        );
    }

    #[test]
    fn a_second_index_row_of_a_run_is_found() {
        check_problems(
            |txn| txn.mark(Table::RunLabels, &runs::label_prefix(ALICE, "other").id(WAITING)),
            &stray(&format!("run-labels-1 {ALICE}/other/{WAITING}")),
        );
        check_problems(
            |txn| txn.mark(Table::Queue, &Key::of(ALICE).u64(1).u8(0).time(NOW).id(WAITING)),
            &stray(&format!("queue-1 {ALICE}/1/0/1000/{WAITING}")),
        );
        let states = Key::of(ALICE).u16(0).u8(3).id(WAITING);
        check_problems(
            move |txn| txn.mark(Table::RunStates, &states),
            &[
                stray(&format!("run-states-1 {ALICE}/0/3/{WAITING}")),
                vec![format!("run-states-1 {ALICE}/0/3/{WAITING}: it has no row in run-counts-1")],
            ]
            .concat(),
        );
    }

    #[test]
    fn a_run_that_is_queued_while_it_is_executed_is_found() {
        let queued = |txn: &mut Txn<'_>| {
            let run = find(txn, RUNNING)?;
            queue::enqueue(txn, &run)
        };
        check_problems(queued, &stray(&format!("queue-1 {ALICE}/1000/0/1000/{RUNNING}")));
    }

    #[test]
    fn a_claim_of_a_run_that_is_not_executed_is_found() {
        for id in [WAITING, DONE, GONE] {
            check_problems(
                move |txn| queue::insert_claim(txn, &claim(ALICE, id)),
                &stray(&format!("claims-1 {id}")),
            );
        }
    }

    #[test]
    fn an_output_of_no_run_or_of_one_that_is_not_over_is_found() {
        let report = Report { output: "text".into(), result: None };
        let early = report.clone();
        let write = move |txn: &mut Txn<'_>| {
            let run = find(txn, RUNNING)?;
            runs::insert_report(txn, &run, &early)
        };
        check_problems(write, &stray(&format!("outputs-1 {ALICE}/{RUNNING}/0")));
        let write = move |txn: &mut Txn<'_>| {
            let run = Run { id: GONE, ..find(txn, RUNNING)? };
            runs::insert_report(txn, &run, &report)
        };
        check_problems(write, &stray(&format!("outputs-1 {ALICE}/{GONE}/0")));
    }

    #[test]
    fn a_count_that_is_wrong_or_missing_is_found() {
        let count = Key::of(ALICE).u16(0).u8(2);
        let fault = "its number of runs is 9, and should be 1";
        check_problems(
            move |txn| txn.put(Table::RunCounts, &count, &CountRow(9)),
            &[format!("run-counts-1 {ALICE}/0/2: {fault}")],
        );
        check_problems(
            move |txn| txn.remove(Table::RunCounts, &count).map(|_| ()),
            &[format!("run-states-1 {ALICE}/0/2/{DONE}: it has no row in run-counts-1")],
        );
        let empty = Key::of(BOB).u16(0).u8(2);
        check_problems(
            move |txn| txn.put(Table::RunCounts, &empty, &CountRow(1)),
            &[format!("run-counts-1 {BOB}/0/2: its number of runs is 1, and should be 0")],
        );
    }
}
