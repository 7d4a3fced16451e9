//! The work of the workers: claim runs, end them, give them back, recover after a crash.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::agents::{Step, StepLog};
use crate::app::line::{Left, is_due};
use crate::app::news::{Fresh, Telling};
use crate::app::settle::{self, End};
use crate::app::{App, Error, baselines, steps};
use crate::domain::account::AccountId;
use crate::domain::ledger::ChatUsage;
use crate::domain::outcome::{Ending, Work};
use crate::domain::run::{Attempt, Run, Status};
use crate::domain::time::Timestamp;
use crate::store::queue::{self, Claim};
use crate::store::{self, Txn, runs};

/// A run that was claimed, and the right to end it.
#[derive(Debug)]
pub struct Job {
    /// The run, as it is now.
    pub run: Run,
    /// The right to end it.
    pub claim: Claim,
    /// Becomes true when its owner wants it to stop.
    pub stop: watch::Receiver<bool>,
    /// Where its agent tells how far it is.
    pub progress: watch::Sender<Step>,
    /// What its agent has told so far.
    pub log: Arc<StepLog>,
}

/// How a claim was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// As it was asked.
    Done,
    /// Not: somebody else has ended it, and the result came too late.
    TooLate,
}

/// What the look at one account's queue gave.
struct Look {
    account: AccountId,
    jobs: Vec<(Run, Claim)>,
    left: Left,
}

/// Claims up to `free` runs that are due, for the accounts whose turn it is.
///
/// An execution counts from here on: it is on disk before the agent begins.
///
/// # Errors
///
/// What the store says; nothing is claimed then.
pub async fn claim(app: &App, free: usize) -> Result<Vec<Job>, Error> {
    let now = app.0.clock.now();
    let picks = app.0.line.pick(free, now);
    if picks.is_empty() {
        return Ok(Vec::new());
    }
    let (wanted, boot) = (picks.clone(), app.0.boot);
    let write = app.0.store.write(move |txn| {
        let looks =
            wanted.iter().map(|(account, workers)| look(txn, *account, *workers, boot, now));
        looks.collect::<Result<Vec<_>, Error>>()
    });
    let looks = match write.await {
        Ok(looks) => looks,
        Err(error) => {
            for (account, workers) in picks {
                app.0.line.looked(account, Left::Due, workers);
            }
            return Err(error);
        }
    };
    let mut jobs = Vec::with_capacity(free);
    for (look, (_, workers)) in looks.into_iter().zip(picks) {
        let used = u32::try_from(look.jobs.len()).unwrap_or(u32::MAX);
        app.0.line.looked(look.account, look.left, workers.saturating_sub(used));
        for (run, claim) in look.jobs {
            app.0.metrics.runs_running.up();
            jobs.push(app.0.under_way.begin(run, claim, &app.0.clock));
        }
    }
    stop_cancelled(app, &jobs);
    Ok(jobs)
}

/// Waits until there may be something to claim: at most for `longest`, and not while draining.
///
/// Without a free worker only the end of a run, or new work, ends the wait before. The wait is
/// measured on the clock that never steps.
///
/// # Cancel safety
///
/// Safe: a wake-up that is not taken stays for the next wait.
pub async fn wait(app: &App, free: usize, longest: Duration) {
    let now = app.0.clock.now();
    let due = if free == 0 { None } else { app.0.line.next_due() };
    let pause = match due {
        Some(due_at) if is_due(due_at, now) => Duration::ZERO,
        Some(due_at) => due_at.since(now).min(longest),
        None => longest,
    };
    tokio::select! {
        () = app.0.work.notified() => {}
        () = app.drains() => {}
        () = app.0.clock.sleep(pause) => {}
    }
}

/// Ends the wait of who waits for something to claim.
pub fn wake(app: &App) {
    app.0.work.notify_one();
}

/// Ends a claimed run with what its agent gave.
///
/// # Errors
///
/// What the store says; the claim stands, and the caller may try again.
pub async fn finish(
    app: &App,
    job: &Job,
    work: Work,
    usage: Option<ChatUsage>,
) -> Result<Landed, Error> {
    let (claim, now) = (job.claim.clone(), app.0.clock.now());
    let telling = app.telling();
    let (ending, report) = settle::checked(work.outcome);
    let steps = steps::text(job, now);
    let baseline = baselines::checked(&job.run, work.baseline);
    let landed = app.0.store.write(move |txn| {
        if !is_mine(txn, &claim)? {
            return Ok(None);
        }
        match claimed(txn, &claim)? {
            // The result has nowhere to go; the doctor names the record.
            Claimed::Unreadable => {
                queue::remove_claim(txn, claim.run)?;
                Ok(None)
            }
            Claimed::Run(run) => {
                queue::remove_claim(txn, claim.run)?;
                let (ending, report) = if run.cancel_requested {
                    (Ending::Failed(settle::canceled()), None)
                } else {
                    baselines::keep(txn, &run, baseline.as_deref())?;
                    (ending.clone(), report.as_ref())
                };
                runs::insert_steps(txn, &run, steps.as_deref())?;
                let ended = settle::end(txn, &run, End { ending, report, usage, now, telling })?;
                Ok(Some((ended.run.status, ended.news)))
            }
            Claimed::Ghost(ghost) => {
                queue::remove_claim(txn, claim.run)?;
                let canceled = Ending::Failed(settle::canceled());
                let ending = if ghost.cancel_requested { &canceled } else { &ending };
                settle::end_ghost(txn, &ghost, ending, usage, now)?;
                Ok::<_, Error>(Some((ending.status(), Vec::new())))
            }
        }
    });
    let landed = landed.await?;
    app.release(job);
    Ok(match landed {
        Some((status, news)) => {
            app.count_end(status);
            app.post(news);
            Landed::Done
        }
        None => {
            app.0.metrics.late_results.add(1);
            tracing::warn!(run.id = %job.run.id, "a result came too late and was thrown away");
            Landed::TooLate
        }
    })
}

/// Gives a claimed run back whose execution ended without an outcome.
///
/// # Errors
///
/// What the store says; the claim stands, and the caller may try again.
pub async fn give_back(app: &App, job: &Job, attempt: Attempt) -> Result<Landed, Error> {
    let (claim, now) = (job.claim.clone(), app.0.clock.now());
    let telling = app.telling();
    let give = app.0.store.write(move |txn| {
        if !is_mine(txn, &claim)? {
            return Ok((Landed::TooLate, Vec::new()));
        }
        Ok::<_, Error>((Landed::Done, drop_claim(txn, &claim, attempt, now, telling)?))
    });
    let (landed, news) = give.await?;
    app.release(job);
    app.post(news);
    app.0.line.join(job.claim.account);
    app.0.work.notify_one();
    Ok(landed)
}

/// Gives back all runs that an earlier process had claimed; how many there were.
///
/// Workers live in this process, so a claim of an earlier boot belongs to nobody.
///
/// # Errors
///
/// What the store says.
pub async fn recover(app: &App) -> Result<usize, Error> {
    let boot = app.0.boot;
    let mut lost = app.0.store.read(queue::scan_claims)?;
    lost.retain(|it| it.boot != boot);
    give_back_all(app, &lost, Attempt::Counted).await
}

/// Gives back all runs of these claims that are still there; how many there were.
///
/// # Errors
///
/// What the store says.
pub(in crate::app) async fn give_back_all(
    app: &App,
    claims: &[Claim],
    attempt: Attempt,
) -> Result<usize, Error> {
    let mut count = 0_usize;
    for some in claims.chunks(RECOVER_MAX) {
        let (some, now, telling) = (some.to_vec(), app.0.clock.now(), app.telling());
        let give = app.0.store.write(move |txn| {
            let (mut news, mut count) = (Vec::new(), 0_usize);
            for claim in &some {
                if is_mine(txn, claim)? {
                    news.extend(drop_claim(txn, claim, attempt, now, telling)?);
                    count = count.saturating_add(1);
                }
            }
            Ok::<_, Error>((news, count))
        });
        let (news, given) = give.await?;
        app.post(news);
        count = count.saturating_add(given);
    }
    claims.iter().for_each(|it| app.0.line.join(it.account));
    app.0.work.notify_one();
    Ok(count)
}

impl App {
    /// Counts an end.
    pub(in crate::app) fn count_end(&self, status: Status) {
        let [succeeded, no_signal, failed] = &self.0.metrics.runs_finished;
        match status {
            Status::Succeeded => succeeded.add(1),
            Status::NoSignal => no_signal.add(1),
            Status::Failed => failed.add(1),
            Status::Pending | Status::Running => {}
        }
    }

    /// Forgets that a job is under way.
    fn release(&self, job: &Job) {
        self.0.under_way.end(job.run.id);
        self.0.metrics.runs_running.down();
        self.0.line.leave(job.claim.account);
        self.0.work.notify_one();
    }
}

/// Tells those jobs to stop whose owner did so before they were under way.
///
/// The claim is on disk a moment earlier than the job is in memory. Who cancels before this look
/// is seen by it; who cancels after it finds the job.
fn stop_cancelled(app: &App, jobs: &[Job]) {
    let look = app.0.store.read(|view| {
        for Job { claim, .. } in jobs {
            let run = runs::find(view, claim.account, claim.run)?;
            if run.is_some_and(|it| it.cancel_requested) {
                app.0.under_way.stop(claim.run);
            }
        }
        Ok::<_, Error>(())
    });
    if let Err(error) = look {
        tracing::warn!(%error, "it is not known whether claimed runs were cancelled meanwhile");
    }
}

/// Claims up to `workers` due runs of one account.
fn look(
    txn: &mut Txn<'_>,
    account: AccountId,
    workers: u32,
    boot: u64,
    now: Timestamp,
) -> Result<Look, Error> {
    let mut jobs = Vec::new();
    loop {
        let left = match queue::next(txn, account, now)? {
            None => Left::Nothing,
            Some(waiting) if !is_due(waiting.due_at, now) => Left::Later(waiting.due_at),
            Some(_) if jobs.len() >= workers as usize => Left::Due,
            Some(waiting) => {
                // A run that cannot be read must not keep the others waiting. It stays where it
                // is, with its hold, for the doctor to name.
                match runs::find(txn, account, waiting.run) {
                    Ok(Some(run)) => jobs.push(take(txn, &run, boot, now)?),
                    Ok(None) | Err(store::Error::Damaged { .. }) => queue::discard(txn, &waiting)?,
                    Err(error) => return Err(error.into()),
                }
                continue;
            }
        };
        return Ok(Look { account, jobs, left });
    }
}

/// Claims one run.
fn take(txn: &mut Txn<'_>, run: &Run, boot: u64, now: Timestamp) -> Result<(Run, Claim), Error> {
    let mut after = run.clone();
    after.claim(now).map_err(|_| store::Error::Bug("a queued run is not pending"))?;
    let (account, attempt) = (run.account, after.attempts);
    let claim = Claim { account, run: run.id, attempt, boot, claimed_at: now };
    queue::remove(txn, run)?;
    runs::put(txn, run, &after)?;
    queue::insert_claim(txn, &claim)?;
    Ok((after, claim))
}

/// What a claim stands for.
enum Claimed {
    /// A run of the history.
    Run(Run),
    /// A run that was deleted while it was executed.
    Ghost(Run),
    /// A run whose record is damaged.
    Unreadable,
}

/// What a claim stands for.
fn claimed(txn: &Txn<'_>, claim: &Claim) -> Result<Claimed, Error> {
    let found = match runs::find(txn, claim.account, claim.run) {
        Ok(None) => {
            runs::find_ghost(txn, claim.account, claim.run).map(|it| it.map(Claimed::Ghost))
        }
        found => found.map(|it| it.map(Claimed::Run)),
    };
    match found {
        Ok(Some(claimed)) => Ok(claimed),
        Ok(None) => Err(store::Error::Bug("a claim without a run").into()),
        Err(store::Error::Damaged { .. }) => Ok(Claimed::Unreadable),
        Err(error) => Err(error.into()),
    }
}

/// Ends a claim without an outcome.
fn drop_claim(
    txn: &mut Txn<'_>,
    claim: &Claim,
    attempt: Attempt,
    now: Timestamp,
    telling: Telling,
) -> Result<Vec<Fresh>, Error> {
    let claimed = claimed(txn, claim)?;
    queue::remove_claim(txn, claim.run)?;
    match claimed {
        Claimed::Run(run) => settle::lose(txn, &run, attempt, now, telling),
        // Nobody waits for a deleted run: it is not done again, and what was not done is free.
        Claimed::Ghost(ghost) => {
            settle::end_ghost(txn, &ghost, &Ending::Failed(settle::canceled()), None, now)?;
            Ok(Vec::new())
        }
        Claimed::Unreadable => Ok(Vec::new()),
    }
}

/// Whether the claim is still the one on disk.
fn is_mine(txn: &Txn<'_>, claim: &Claim) -> Result<bool, Error> {
    Ok(queue::find_claim(txn, claim.run)?.is_some_and(|it| it == *claim))
}

/// Claims that are recovered in one transaction.
const RECOVER_MAX: usize = 200;
