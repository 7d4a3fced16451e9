//! The end of a run: its status, its money, what it leaves behind and who is told, in one
//! transaction.
//!
//! Every way a run can end comes through [`end`], so that what must happen with an end is written
//! down once.

use crate::app::Error;
use crate::app::news::{self, Fresh, Telling};
use crate::domain::ledger::EntryKind;
use crate::domain::money::Amount;
use crate::domain::outcome::{Ending, Failure, Reason, Report};
use crate::domain::run::{Attempt, Run};
use crate::domain::time::Timestamp;
use crate::store::{self, Txn, ledger, queue, runs};

/// How a run ends, and with what.
pub(in crate::app) struct End<'a> {
    /// The terminal status.
    pub(in crate::app) ending: Ending,
    /// What it leaves behind.
    pub(in crate::app) report: Option<&'a Report>,
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
    let charge = if end.ending.status().is_charged() { run.hold } else { Amount::ZERO };
    after
        .finish(end.ending, charge, end.now)
        .map_err(|_| store::Error::Bug("a run ended in a state that does not allow it"))?;
    settle(txn, run, charge, end.now)?;
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
    now: Timestamp,
) -> Result<(), Error> {
    let charge = if ending.status().is_charged() { ghost.hold } else { Amount::ZERO };
    settle(txn, ghost, charge, now)?;
    runs::remove_ghost(txn, ghost.account, ghost.id)?;
    Ok(())
}

/// Captures `charge` of a run's hold, releases the rest, and counts one active run less.
pub(in crate::app) fn settle(
    txn: &mut Txn<'_>,
    run: &Run,
    charge: Amount,
    now: Timestamp,
) -> Result<(), Error> {
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
        usage: None,
    };
    ledger::append(txn, run.account, after, active, &line)?;
    Ok(())
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
        return Ok(end(txn, run, End { ending, report: None, now, telling })?.news);
    }
    if attempt == Attempt::Counted && !run.may_retry() {
        let failure = Failure {
            reason: Reason::WorkerLost,
            code: "worker_lost".to_owned(),
            message: "The daemon ended several times while it worked on this run.".to_owned(),
        };
        let ending = Ending::Failed(failure);
        return Ok(end(txn, run, End { ending, report: None, now, telling })?.news);
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
