//! The operations as transactions of the store.

use errand::domain::account::AccountId;
use errand::domain::ledger::EntryKind;
use errand::domain::money::Amount;
use errand::domain::outcome::{Ending, Failure, Outcome, Reason, Report};
use errand::domain::run::{Attempt, Run, RunId, Status};
use errand::domain::time::Timestamp;
use errand::store::ledger::HoldError;
use errand::store::queue::{self, Claim};
use errand::store::{Error, Spender, Txn, accounts, ledger, runs, runs_list};

use super::{ACTIVE_RUNS_MAX, Answer, Op, Refusal};

type Result<T> = std::result::Result<T, Refusal>;

impl Op {
    /// Does it.
    ///
    /// # Errors
    ///
    /// Why it was refused; nothing is written then.
    pub(crate) fn write(&self, txn: &mut Txn<'_>) -> Result<Answer> {
        match self {
            Self::Open(account) => {
                accounts::insert(txn, account)?;
                Ok(Answer::Done)
            }
            Self::Credit { account, change, now } => credit(txn, *account, *change, *now),
            Self::Create(run) => create(txn, run),
            Self::Claim { account, boot, now } => claim(txn, *account, *boot, *now),
            Self::Finish { claim, outcome, now } => finish(txn, claim, outcome, *now),
            Self::GiveBack { claim, attempt, now } => give_back(txn, claim, *attempt, *now),
            Self::Cancel { account, run, now } => cancel(txn, *account, *run, *now),
            Self::Delete { account, run, now } => delete(txn, *account, *run, *now),
            Self::Expire { account, before } => expire(txn, *account, *before),
        }
    }
}

fn credit(txn: &mut Txn<'_>, id: AccountId, change: Amount, now: Timestamp) -> Result<Answer> {
    accounts::find(txn, id)?.ok_or(Refusal::NoAccount)?;
    let wallet = ledger::find_in(txn, id)?;
    let after = wallet.balance.credit(change).map_err(|_| Refusal::Balance)?;
    let kind = if change.is_negative() { EntryKind::Debit } else { EntryKind::Credit };
    let line = ledger::Line {
        at: now,
        kind,
        reference: None,
        key: None,
        note: "by hand".into(),
        usage: None,
    };
    ledger::append(txn, id, after, wallet.active_runs, &line)?;
    Ok(Answer::Done)
}

fn create(txn: &mut Txn<'_>, run: &Run) -> Result<Answer> {
    accounts::find(txn, run.account)?.ok_or(Refusal::NoAccount)?;
    let wallet = ledger::find_in(txn, run.account)?;
    if wallet.active_runs >= ACTIVE_RUNS_MAX {
        return Err(Refusal::QueueFull);
    }
    let (account, now, budget) = (run.account, run.created_at, None);
    let spender = run.key.map(|key| Spender { account, key, budget, now });
    ledger::hold(txn, account, run.hold, spender).map_err(|error| match error {
        HoldError::Store(error) => Refusal::Store(error),
        HoldError::Refused(_) | HoldError::Budget(_) => Refusal::Balance,
    })?;
    runs::insert(txn, run)?;
    queue::enqueue(txn, run)?;
    Ok(Answer::Done)
}

fn claim(txn: &mut Txn<'_>, account: AccountId, boot: u64, now: Timestamp) -> Result<Answer> {
    let Some(waiting) = queue::next(txn, account, now)?.filter(|it| it.due_at <= now) else {
        return Ok(Answer::Claimed(None));
    };
    let run = runs::find(txn, account, waiting.run)?.ok_or(Error::Bug("a queued run is gone"))?;
    let mut after = run.clone();
    after.claim(now).map_err(|_| Error::Bug("a queued run is not pending"))?;
    let attempt = after.attempts;
    let claim = Claim { account, run: run.id, attempt, boot, claimed_at: now };
    queue::remove(txn, &run)?;
    runs::put(txn, &run, &after)?;
    queue::insert_claim(txn, &claim)?;
    Ok(Answer::Claimed(Some(Box::new(after))))
}

fn finish(txn: &mut Txn<'_>, claim: &Claim, outcome: &Outcome, now: Timestamp) -> Result<Answer> {
    if queue::find_claim(txn, claim.run)?.as_ref() != Some(claim) {
        return Ok(Answer::TooLate);
    }
    let (ending, report) = split(outcome);
    let run = runs::find(txn, claim.account, claim.run)?;
    let ghost = runs::find_ghost(txn, claim.account, claim.run)?;
    queue::remove_claim(txn, claim.run)?;
    match (run, ghost) {
        (Some(run), _) if run.cancel_requested => {
            end(txn, &run, Ending::Failed(canceled()), None, now)?;
        }
        (Some(run), _) => end(txn, &run, ending, report, now)?,
        (None, Some(ghost)) => end_ghost(txn, &ghost, &ending, now)?,
        (None, None) => return Err(Error::Bug("a claim without a run").into()),
    }
    Ok(Answer::Done)
}

fn give_back(txn: &mut Txn<'_>, claim: &Claim, attempt: Attempt, now: Timestamp) -> Result<Answer> {
    if queue::find_claim(txn, claim.run)?.as_ref() != Some(claim) {
        return Ok(Answer::TooLate);
    }
    let run = runs::find(txn, claim.account, claim.run)?;
    let ghost = runs::find_ghost(txn, claim.account, claim.run)?;
    queue::remove_claim(txn, claim.run)?;
    match (run, ghost) {
        (Some(run), _) if run.cancel_requested => {
            end(txn, &run, Ending::Failed(canceled()), None, now)?;
        }
        (Some(run), _) if attempt == Attempt::Counted && !run.may_retry() => {
            end(txn, &run, Ending::Failed(lost()), None, now)?;
        }
        (Some(run), _) => {
            let mut after = run.clone();
            after.give_back(attempt, now).map_err(|_| Error::Bug("it is not running"))?;
            runs::put(txn, &run, &after)?;
            queue::enqueue(txn, &after)?;
        }
        (None, Some(ghost)) => end_ghost(txn, &ghost, &Ending::Failed(canceled()), now)?,
        (None, None) => return Err(Error::Bug("a claim without a run").into()),
    }
    Ok(Answer::Done)
}

fn cancel(txn: &mut Txn<'_>, account: AccountId, id: RunId, now: Timestamp) -> Result<Answer> {
    let run = runs::find(txn, account, id)?.ok_or(Refusal::NoRun)?;
    match run.status {
        Status::Pending => {
            queue::remove(txn, &run)?;
            end(txn, &run, Ending::Failed(canceled()), None, now)?;
        }
        Status::Running => {
            let after = Run { cancel_requested: true, ..run.clone() };
            runs::put(txn, &run, &after)?;
        }
        Status::Succeeded | Status::NoSignal | Status::Failed => return Err(Refusal::Over),
    }
    Ok(Answer::Done)
}

fn delete(txn: &mut Txn<'_>, account: AccountId, id: RunId, now: Timestamp) -> Result<Answer> {
    let run = runs::find(txn, account, id)?.ok_or(Refusal::NoRun)?;
    match run.status {
        Status::Pending => {
            queue::remove(txn, &run)?;
            settle(txn, &run, Amount::ZERO, now)?;
        }
        Status::Running => runs::put_ghost(txn, &run)?,
        Status::Succeeded | Status::NoSignal | Status::Failed => {}
    }
    runs::remove(txn, &run)?;
    Ok(Answer::Done)
}

fn expire(txn: &mut Txn<'_>, account: AccountId, before: Timestamp) -> Result<Answer> {
    let expired = runs_list::scan_expired(txn, account, before, EXPIRE_MAX)?;
    for run in &expired {
        runs::remove(txn, run)?;
    }
    Ok(Answer::Gone(expired.len()))
}

fn end(
    txn: &mut Txn<'_>,
    run: &Run,
    ending: Ending,
    report: Option<&Report>,
    now: Timestamp,
) -> Result<()> {
    let mut after = run.clone();
    let charge = if ending.status().is_charged() { run.hold } else { Amount::ZERO };
    after.finish(ending, charge, now).map_err(|_| Error::Bug("it cannot end so"))?;
    settle(txn, run, charge, now)?;
    runs::put(txn, run, &after)?;
    if let Some(report) = report {
        runs::insert_report(txn, &after, report)?;
    }
    Ok(())
}

fn end_ghost(txn: &mut Txn<'_>, ghost: &Run, ending: &Ending, now: Timestamp) -> Result<()> {
    let charge = if ending.status().is_charged() { ghost.hold } else { Amount::ZERO };
    settle(txn, ghost, charge, now)?;
    Ok(runs::remove_ghost(txn, ghost.account, ghost.id)?)
}

fn settle(txn: &mut Txn<'_>, run: &Run, charge: Amount, now: Timestamp) -> Result<()> {
    let wallet = ledger::find_in(txn, run.account)?;
    let after = wallet.balance.capture(run.hold, charge).map_err(Error::from)?;
    let active = wallet.active_runs - 1;
    if let Some(key) = run.key {
        ledger::capture_of_key(txn, key, run.hold, charge, now)?;
    }
    if charge == Amount::ZERO {
        return Ok(ledger::put(txn, run.account, after, active)?);
    }
    let reference = Some(*run.id.as_bytes());
    let (kind, note) = (EntryKind::Charge, run.kind.clone());
    let line = ledger::Line { at: now, kind, reference, key: run.key, note, usage: None };
    Ok(ledger::append(txn, run.account, after, active, &line)?)
}

/// The status and the report of an outcome.
pub(super) fn split(outcome: &Outcome) -> (Ending, Option<&Report>) {
    match outcome {
        Outcome::Succeeded(report) => (Ending::Succeeded, Some(report)),
        Outcome::NoSignal(report) => (Ending::NoSignal, Some(report)),
        Outcome::Failed(failure) => (Ending::Failed(failure.clone()), None),
    }
}

/// Why a cancelled run failed.
pub(super) fn canceled() -> Failure {
    Failure { reason: Reason::Canceled, code: "canceled".into(), message: "Cancelled.".into() }
}

/// Why a run failed that was lost too often.
pub(super) fn lost() -> Failure {
    Failure { reason: Reason::WorkerLost, code: "worker_lost".into(), message: "Lost.".into() }
}

/// Runs that are forgotten at once.
pub(super) const EXPIRE_MAX: usize = 3;
