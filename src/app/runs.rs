//! Runs, as their owner handles them: create, look at, cancel, delete.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::agents::{InputError, Problem};
use crate::app::accounts::held_back;
use crate::app::error::InputProblem;
use crate::app::news;
use crate::app::settle::{self, End, Ended};
use crate::app::{App, Error};
use crate::domain::account::Caller;
use crate::domain::budget::Budget;
use crate::domain::limits::{EXTERNAL_ID_CHARS_MAX, INPUT_BYTES_MAX};
use crate::domain::money::{Amount, Currency};
use crate::domain::outcome::Ending;
use crate::domain::run::{Run, RunId, Status, Trigger};
use crate::store::ledger::HoldError;
use crate::store::runs::{Part, find_text};
use crate::store::{Spender, Txn, ledger, queue, runs};

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The agent.
    pub kind: String,
    /// Its input.
    pub input: Map<String, Value>,
    /// The caller's own name for the run.
    pub external_id: Option<String>,
}

/// A run and what it left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullRun {
    /// The run.
    pub run: Run,
    /// The report; none before the end and for a failed run.
    pub output: Option<String>,
}

/// Accepts a run: when this returns, it is on disk, and so is the hold of its price.
///
/// # Errors
///
/// [`Error::KindNotAllowed`], [`Error::UnknownKind`], [`Error::Input`], [`Error::Balance`],
/// [`Error::QueueFull`].
pub async fn create(app: &App, caller: &Caller, new: NewRun) -> Result<Run, Error> {
    app.check_kind(Some(caller.key), &new.kind)?;
    let agent = app.0.catalogue.find(&new.kind).ok_or(Error::UnknownKind)?;
    let price = app.0.prices.of_run(&new.kind, caller.currency).ok_or(Error::UnknownKind)?;
    let input = agent.accept(&new.input).map_err(input_error)?;
    if input.len() > INPUT_BYTES_MAX {
        return Err(Error::value("input", "must not be larger than 64 KiB"));
    }
    let external_id = new.external_id.map(checked_label).transpose()?;
    let now = app.0.clock.now();
    let run = Run {
        id: app.0.entropy.id(now),
        account: caller.account,
        key: Some(caller.key),
        kind: new.kind,
        input,
        external_id,
        trigger: Trigger::Api,
        status: Status::Pending,
        hold: price,
        model_hold: Amount::ZERO,
        cost: Amount::ZERO,
        attempts: 0,
        due_at: now,
        created_at: now,
        started_at: None,
        finished_at: None,
        updated_at: now,
        failure: None,
        cancel_requested: false,
    };
    let run = Arc::new(app.with_narrative(run, caller.currency));
    let (kept, currency) = (Arc::clone(&run), caller.currency);
    let limit = app.0.settings.pending_runs;
    let terms = Terms { currency, limit, budget: caller.restrictions.budget };
    app.0.store.write(move |txn| accept(txn, &kept, terms)).await?;
    app.accepted(&run);
    Ok(Arc::unwrap_or_clone(run))
}

/// On what terms runs are accepted.
#[derive(Clone, Copy, Debug)]
pub(in crate::app) struct Terms {
    /// What the account's balance counts in.
    pub(in crate::app) currency: Currency,
    /// Runs of the account that may wait or run; any number when `None`.
    pub(in crate::app) limit: Option<u32>,
    /// What the key may spend.
    pub(in crate::app) budget: Option<Budget>,
}

/// Accepts a run within a transaction: the record, its hold and its place in the queue.
///
/// It refuses before it writes.
///
/// # Errors
///
/// [`Error::QueueFull`] when `limit` runs of the account wait or run, [`Error::Balance`],
/// [`Error::KeyBudget`].
pub(in crate::app) fn accept(txn: &mut Txn<'_>, run: &Run, terms: Terms) -> Result<(), Error> {
    let Terms { currency, limit, budget } = terms;
    let wallet = ledger::find_in(txn, run.account)?;
    if let Some(limit) = limit.filter(|it| wallet.active_runs >= *it) {
        return Err(Error::QueueFull { limit });
    }
    let now = run.created_at;
    let spender = run.key.map(|key| Spender { account: run.account, key, budget, now });
    ledger::hold(txn, run.account, run.hold, spender).map_err(|error| match error {
        HoldError::Budget(available) => Error::KeyBudget {
            required: run.hold,
            available,
            currency,
            resets_at: budget.and_then(|it| it.period().resets_at(now)),
        },
        error @ (HoldError::Refused(_) | HoldError::Store(_)) => held_back(error, currency),
    })?;
    runs::insert(txn, run)?;
    queue::enqueue(txn, run)?;
    Ok(())
}

impl App {
    /// Lets the workers know of a run that is on disk.
    pub(in crate::app) fn accepted(&self, run: &Run) {
        self.0.metrics.runs_created.add(1);
        self.0.line.join(run.account);
        self.0.work.notify_one();
    }
}

/// The caller's run of that id.
///
/// # Errors
///
/// [`Error::NotFound`] when there is none.
pub fn find(app: &App, caller: &Caller, id: RunId) -> Result<FullRun, Error> {
    app.0.store.read(|view| {
        let run = runs::find(view, caller.account, id)?.ok_or(Error::NotFound)?;
        let output = match run.status {
            Status::Succeeded | Status::NoSignal => {
                find_text(view, caller.account, id, Part::Output)?
            }
            Status::Pending | Status::Running | Status::Failed => None,
        };
        Ok(FullRun { run, output })
    })
}

/// The structured result of the caller's run, as JSON text; `None` when it has none (yet).
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such run.
pub fn find_result(app: &App, caller: &Caller, id: RunId) -> Result<Option<String>, Error> {
    app.0.store.read(|view| {
        runs::find(view, caller.account, id)?.ok_or(Error::NotFound)?;
        Ok(find_text(view, caller.account, id, Part::Result)?)
    })
}

/// Deletes the caller's run and what is linked to it; it is not a cancellation.
///
/// Its event goes too, and what was not delivered of it is not sent any more.
///
/// A pending run leaves the queue and its hold is released. A running one is gone at once; its
/// execution goes on, the result is thrown away, and the cost is charged. Ledger entries stay.
/// Source: service interface, "Run status"; the contract, section 6.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such run.
pub async fn delete(app: &App, caller: &Caller, id: RunId) -> Result<(), Error> {
    let (account, now) = (caller.account, app.0.clock.now());
    let delete = app.0.store.write(move |txn| {
        let run = runs::find(txn, account, id)?.ok_or(Error::NotFound)?;
        match run.status {
            Status::Pending => {
                queue::remove(txn, &run)?;
                settle::release(txn, &run, now)?;
            }
            Status::Running => runs::put_ghost(txn, &run)?,
            Status::Succeeded | Status::NoSignal | Status::Failed => {}
        }
        news::withdraw(txn, account, id)?;
        runs::remove(txn, &run)?;
        Ok::<_, Error>(())
    });
    delete.await
}

/// Cancels the caller's run: a pending one fails at once, a running one is told to stop.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such run, [`Error::RunOver`] when it is over.
pub async fn cancel(app: &App, caller: &Caller, id: RunId) -> Result<Run, Error> {
    let (account, now, telling) = (caller.account, app.0.clock.now(), app.telling());
    let cancel = app.0.store.write(move |txn| {
        let run = runs::find(txn, account, id)?.ok_or(Error::NotFound)?;
        match run.status {
            Status::Pending => {
                queue::remove(txn, &run)?;
                let ending = Ending::Failed(settle::canceled());
                settle::end(txn, &run, End { ending, report: None, usage: None, now, telling })
            }
            Status::Running => {
                let after = Run { cancel_requested: true, ..run.clone() };
                runs::put(txn, &run, &after)?;
                Ok(Ended { run: after, news: Vec::new() })
            }
            Status::Succeeded | Status::NoSignal | Status::Failed => Err(Error::RunOver),
        }
    });
    let Ended { run, news } = cancel.await?;
    app.post(news);
    match run.status {
        Status::Running => app.0.under_way.stop(run.id),
        Status::Pending | Status::Succeeded | Status::NoSignal | Status::Failed => {
            app.count_end(run.status);
        }
    }
    Ok(run)
}

/// Forgets runs that are over; how many were still there.
///
/// # Errors
///
/// What the store says.
pub(in crate::app) async fn forget(app: &App, expired: Vec<Run>) -> Result<usize, Error> {
    let forget = app.0.store.write(move |txn| {
        let mut gone = 0_usize;
        for run in &expired {
            let still_there = runs::find(txn, run.account, run.id)?;
            if let Some(run) = still_there.filter(|it| it.status.is_over()) {
                news::withdraw(txn, run.account, run.id)?;
                runs::remove(txn, &run)?;
                gone = gone.saturating_add(1);
            }
        }
        Ok::<_, Error>(gone)
    });
    forget.await
}

pub(in crate::app) fn input_error(error: InputError) -> Error {
    let problem = match error.problem {
        Problem::Missing => InputProblem::Missing,
        Problem::Type(expected) => InputProblem::Type(expected),
        Problem::Value(text) => InputProblem::Value(text),
        Problem::Unknown => InputProblem::Unknown,
    };
    Error::Input { param: error.param, problem }
}

fn checked_label(label: String) -> Result<String, Error> {
    let length = label.chars().count();
    if length == 0 || length > EXTERNAL_ID_CHARS_MAX {
        return Err(Error::value("external_id", "must have 1 to 128 characters"));
    }
    // A zero byte would end the label in its index.
    if label.chars().any(char::is_control) {
        return Err(Error::value("external_id", "must not have control characters"));
    }
    Ok(label)
}
