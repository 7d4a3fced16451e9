//! Executes runs: claims what is due, lets the agents work, ends what they have done.
//!
//! Each execution is a task of its own, so an agent that panics or hangs takes nobody with it.
//! An execution ends in one of five ways: its agent is done, its time is over, its owner stops it,
//! the daemon stops, or the agent panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::agents::{Agent, Bench, Progress, Task};
use crate::app::jobs::{self, Job};
use crate::app::{App, baselines, narratives, stranded};
use crate::background::{BoxFuture, Loop, STEP_MAX};
use crate::domain::ledger::ChatUsage;
use crate::domain::outcome::{Failure, Outcome, Reason, Work};
use crate::domain::run::Attempt;
use crate::sys::shutdown::{Phase, Shutdown};

/// Claims runs and executes them, a fixed number at a time.
pub struct Worker {
    shared: Arc<Shared>,
    workers: usize,
}

struct Shared {
    app: App,
    bench: Bench,
    shutdown: Shutdown,
    busy: AtomicUsize,
}

/// How an execution ended.
enum End {
    /// With an outcome, and with what a model has used for it.
    Done(Work, Option<ChatUsage>),
    /// Without one, through a fault.
    Lost,
    /// Without one, because the daemon stops.
    Stopped,
}

/// How many executions are under way; cheap to clone.
#[derive(Clone)]
pub struct Busy(Arc<Shared>);

/// One of the workers, busy for as long as this lives.
struct Slot(Arc<Shared>);

impl Worker {
    /// A worker that executes up to `workers` runs at the same time.
    #[must_use]
    pub fn new(app: App, bench: Bench, shutdown: Shutdown, workers: usize) -> Self {
        let shared = Shared { app, bench, shutdown, busy: AtomicUsize::new(0) };
        Self { shared: Arc::new(shared), workers }
    }

    /// A look at how many executions are under way.
    #[must_use]
    pub fn busy(&self) -> Busy {
        Busy(Arc::clone(&self.shared))
    }

    async fn claim_and_begin(&self) {
        let app = &self.shared.app;
        match stranded::find_runs(app).await {
            Ok(0) => {}
            Ok(runs) => tracing::warn!(runs, "{runs} runs had nobody and were given back"),
            Err(error) => tracing::warn!(%error, "the runs on disk could not be looked at again"),
        }
        let free = self.workers.saturating_sub(self.shared.busy.load(Ordering::Acquire));
        let claimed = if free == 0 { Ok(Vec::new()) } else { jobs::claim(app, free).await };
        match claimed {
            Ok(jobs) if jobs.is_empty() => {
                jobs::wait(app, free, STEP_MAX).await;
            }
            Ok(jobs) => {
                for job in jobs {
                    let slot = Slot::take(&self.shared);
                    tokio::spawn(async move { execute(&slot.0, job).await });
                }
            }
            Err(error) => {
                tracing::warn!(%error, "runs could not be claimed; trying again");
                app.clock().sleep(TROUBLE_PAUSE).await;
            }
        }
    }
}

impl Loop for Worker {
    fn name(&self) -> &'static str {
        "worker"
    }

    fn step(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.claim_and_begin())
    }
}

impl Busy {
    /// How many executions are under way.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.busy.load(Ordering::Acquire)
    }
}

impl Slot {
    fn take(shared: &Arc<Shared>) -> Self {
        shared.busy.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(shared))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
        // The end of the run has woken the loop too, but it may have looked before this line.
        jobs::wake(&self.0.app);
    }
}

/// Executes one claimed run and records how it ended.
async fn execute(shared: &Arc<Shared>, job: Job) {
    let start = shared.app.clock().mark();
    let end = match shared.app.catalogue().find(&job.run.kind) {
        Some(agent) => work(shared, &job, Arc::clone(agent)).await,
        None => failed(
            Reason::KindUnavailable,
            "kind_unavailable",
            "There is no agent of this kind any more.",
        ),
    };
    tracing::debug!(
        run.id = %job.run.id,
        run.kind = job.run.kind,
        attempt = job.claim.attempt,
        duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        "an execution ended"
    );
    record(shared, &job, end).await;
}

/// Lets the agent work until one of the five ends.
async fn work(shared: &Arc<Shared>, job: &Job, agent: Arc<dyn Agent>) -> End {
    let timeout = agent.entry().timeout;
    let baseline = match baselines::find(&shared.app, &job.run) {
        Ok(baseline) => baseline,
        Err(error) => {
            // A comparison that cannot be made is begun anew; the report says so.
            tracing::warn!(run.id = %job.run.id, %error, "the baseline could not be read");
            None
        }
    };
    let task = Task {
        run: job.run.id,
        input: job.run.input.clone(),
        trigger: job.run.trigger,
        baseline,
        progress: Progress::into_channel(job.progress.clone()).with_log(Arc::clone(&job.log)),
    };
    let inside = Arc::clone(shared);
    let (run, start) = (job.run.clone(), shared.app.clock().mark());
    let mut execution = tokio::spawn(async move {
        let work = agent.run(&task, &inside.bench).await;
        // Words that take too long must not cost the report.
        let left = timeout.saturating_sub(start.elapsed()) / 2;
        narratives::add(&inside.app, &run, work, left).await
    });
    let mut stop = job.stop.clone();
    let end = tokio::select! {
        done = &mut execution => {
            return match done {
                Ok((work, usage)) => End::Done(work, usage),
                Err(error) => {
                    shared.app.metrics().panics.add(1);
                    tracing::error!(run.id = %job.run.id, %error, "an agent panicked");
                    End::Lost
                }
            };
        }
        () = shared.app.clock().sleep(timeout) => failed(
            Reason::Timeout,
            "timeout",
            &format!("The run took longer than {} seconds.", timeout.as_secs()),
        ),
        // The run is recorded as cancelled whatever outcome is given here.
        _ = stop.wait_for(|it| *it) => {
            failed(Reason::Canceled, "canceled", "The run was cancelled.")
        }
        () = shared.shutdown.reached(Phase::Stopping) => End::Stopped,
    };
    execution.abort();
    end
}

/// Records the end, and tries again for as long as the disk refuses it.
async fn record(shared: &Arc<Shared>, job: &Job, end: End) {
    loop {
        let app = &shared.app;
        let recorded = match &end {
            End::Done(work, usage) => jobs::finish(app, job, work.clone(), *usage).await,
            End::Lost => jobs::give_back(app, job, Attempt::Counted).await,
            End::Stopped => jobs::give_back(app, job, Attempt::Forgiven).await,
        };
        let Err(error) = recorded else { return };
        tracing::warn!(run.id = %job.run.id, %error, "an end could not be recorded; trying again");
        // What is still claimed when the process ends is given back at the next start.
        tokio::select! {
            () = app.clock().sleep(TROUBLE_PAUSE) => {}
            () = shared.shutdown.reached(Phase::Stopping) => return,
        }
    }
}

fn failed(reason: Reason, code: &str, message: &str) -> End {
    let failure = Failure { reason, code: code.to_owned(), message: message.to_owned() };
    End::Done(Work::from(Outcome::Failed(failure)), None)
}

/// The pause after the store refused something.
const TROUBLE_PAUSE: Duration = Duration::from_secs(1);
