//! The end of a run: its status, its money, what it leaves behind and who is told, in one
//! transaction.
//!
//! Every way a run can end comes through [`end`], so that what must happen with an end is written
//! down once.

use crate::app::Error;
use crate::app::news::{self, Fresh, Telling};
use crate::domain::ledger::{ChatUsage, EntryKind, charge_of};
use crate::domain::limits::{OUTPUT_CHARS_MAX, RESULT_BYTES_MAX};
use crate::domain::money::Amount;
use crate::domain::outcome::{Ending, Failure, Outcome, Reason, Report};
use crate::domain::run::{Attempt, Run};
use crate::domain::time::Timestamp;
use crate::store::{self, Txn, ledger, queue, runs};

/// How a run ends, and with what.
pub(in crate::app) struct End<'a> {
    /// The terminal status.
    pub(in crate::app) ending: Ending,
    /// What it leaves behind.
    pub(in crate::app) report: Option<&'a Report>,
    /// What a model has used for it, as it is charged.
    pub(in crate::app) usage: Option<ChatUsage>,
    /// When.
    pub(in crate::app) now: Timestamp,
    /// How the receivers are told.
    pub(in crate::app) telling: Telling,
}

/// A run that has ended, and who is told.
pub(in crate::app) struct Ended {
    /// The run.
    pub(in crate::app) run: Run,
    /// The deliveries that were made.
    pub(in crate::app) news: Vec<Fresh>,
}

/// Ends a run that stands in the history. Its place in the queue or its claim is the caller's.
///
/// # Errors
///
/// What the disk says; a fault of ours when the run cannot end so.
pub(in crate::app) fn end(txn: &mut Txn<'_>, run: &Run, end: End<'_>) -> Result<Ended, Error> {
    let mut after = run.clone();
    let bill = Bill::of(run, &end.ending, end.usage);
    after
        .finish(end.ending, bill.charge, end.now)
        .map_err(|_| store::Error::Bug("a run ended in a state that does not allow it"))?;
    settle(txn, run, bill, end.now)?;
    runs::put(txn, run, &after)?;
    if let Some(report) = end.report {
        runs::insert_report(txn, &after, report)?;
    }
    let output = end.report.map(|it| it.output.as_str());
    let news = news::announce(txn, &after, output, end.telling)?;
    Ok(Ended { run: after, news })
}

/// Ends the hold of a run that was deleted while it was executed.
///
/// It is charged when it was done, because the work was. Source: the contract, section 6.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn end_ghost(
    txn: &mut Txn<'_>,
    ghost: &Run,
    ending: &Ending,
    usage: Option<ChatUsage>,
    now: Timestamp,
) -> Result<(), Error> {
    settle(txn, ghost, Bill::of(ghost, ending, usage), now)?;
    runs::remove_ghost(txn, ghost.account, ghost.id)?;
    Ok(())
}

/// What is taken of a run's hold, and what a model had of it.
#[derive(Clone, Copy)]
struct Bill {
    charge: Amount,
    usage: Option<ChatUsage>,
}

impl Bill {
    fn of(run: &Run, ending: &Ending, usage: Option<ChatUsage>) -> Self {
        if !ending.status().is_charged() {
            return Self { charge: Amount::ZERO, usage: None };
        }
        let used = usage.map_or(Amount::ZERO, |it| it.price.cost(it.usage));
        Self { charge: charge_of(run.hold, run.model_hold, used), usage }
    }
}

/// Releases the hold of a run that was never begun, and counts one active run less.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn release(txn: &mut Txn<'_>, run: &Run, now: Timestamp) -> Result<(), Error> {
    settle(txn, run, Bill { charge: Amount::ZERO, usage: None }, now)
}

/// Captures what a run costs of its hold, releases the rest, and counts one active run less.
fn settle(txn: &mut Txn<'_>, run: &Run, bill: Bill, now: Timestamp) -> Result<(), Error> {
    let Bill { charge, usage } = bill;
    let wallet = ledger::find_in(txn, run.account)?;
    let after = wallet.balance.capture(run.hold, charge).map_err(store::Error::from)?;
    let active = wallet.active_runs.saturating_sub(1);
    if let Some(key) = run.key {
        ledger::capture_of_key(txn, key, run.hold, charge, now)?;
    }
    if charge == Amount::ZERO {
        ledger::put(txn, run.account, after, active)?;
        return Ok(());
    }
    let line = ledger::Line {
        at: now,
        kind: EntryKind::Charge,
        reference: Some(*run.id.as_bytes()),
        key: run.key,
        note: run.kind.clone(),
        usage,
    };
    ledger::append(txn, run.account, after, active, &line)?;
    Ok(())
}

/// Splits an outcome into its status and what it leaves behind, within the limits.
pub(in crate::app) fn checked(outcome: Outcome) -> (Ending, Option<Report>) {
    let (ending, report) = match outcome {
        Outcome::Succeeded(report) => (Ending::Succeeded, report),
        Outcome::NoSignal(report) => (Ending::NoSignal, report),
        Outcome::Failed(failure) => return (Ending::Failed(failure), None),
    };
    let result = report.result.as_ref().map_or(0, String::len);
    if report.output.chars().count() > OUTPUT_CHARS_MAX || result > RESULT_BYTES_MAX {
        let failure = Failure {
            reason: Reason::OutputTooLarge,
            code: "output_too_large".to_owned(),
            message: "The agent's output is larger than allowed.".to_owned(),
        };
        return (Ending::Failed(failure), None);
    }
    (ending, Some(report))
}

/// Puts a run back whose execution ended without an outcome, or ends it when that was the last.
///
/// Its claim is the caller's.
///
/// # Errors
///
/// What the disk says; a fault of ours when the run is not running.
pub(in crate::app) fn lose(
    txn: &mut Txn<'_>,
    run: &Run,
    attempt: Attempt,
    now: Timestamp,
    telling: Telling,
) -> Result<Vec<Fresh>, Error> {
    if run.cancel_requested {
        let ending = Ending::Failed(canceled());
        return Ok(end(txn, run, End { ending, report: None, usage: None, now, telling })?.news);
    }
    if attempt == Attempt::Counted && !run.may_retry() {
        let failure = Failure {
            reason: Reason::WorkerLost,
            code: "worker_lost".to_owned(),
            message: "The daemon ended several times while it worked on this run.".to_owned(),
        };
        let ending = Ending::Failed(failure);
        return Ok(end(txn, run, End { ending, report: None, usage: None, now, telling })?.news);
    }
    let mut after = run.clone();
    after
        .give_back(attempt, now)
        .map_err(|_| store::Error::Bug("a run was given back that is not running"))?;
    runs::put(txn, run, &after)?;
    queue::enqueue(txn, &after)?;
    Ok(Vec::new())
}

/// Why a cancelled run failed.
pub(in crate::app) fn canceled() -> Failure {
    Failure {
        reason: Reason::Canceled,
        code: "canceled".to_owned(),
        message: "The run was cancelled.".to_owned(),
    }
}
