//! The runs under way, in memory: they can be told to stop, and tell how far they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::agents::{Step, StepLog, TimedStep};
use crate::app::jobs::Job;
use crate::domain::run::{Run, RunId};
use crate::store::queue::Claim;
use crate::sys::clock::Clock;

/// The runs under way: they can be told to stop, and tell how far they are.
#[derive(Debug, Default)]
pub(in crate::app) struct UnderWay(Mutex<HashMap<RunId, Ends>>);

/// This side's ends of a job's two channels.
#[derive(Debug)]
struct Ends {
    stop: watch::Sender<bool>,
    progress: watch::Receiver<Step>,
    log: Arc<StepLog>,
}

impl UnderWay {
    /// Tells a run to stop.
    pub(in crate::app) fn stop(&self, run: RunId) {
        if let Some(ends) = self.lock().get(&run) {
            ends.stop.send_replace(true);
        }
    }

    /// How far a run is; `None` when it is not under way or has not told yet.
    pub(in crate::app) fn progress(&self, run: RunId) -> Option<Step> {
        let told = self.lock().get(&run).map(|it| it.progress.borrow().clone());
        told.filter(|it| it.total > 0)
    }

    /// The steps of a run so far; `None` when it is not under way.
    pub(in crate::app) fn steps(&self, run: RunId) -> Option<Vec<TimedStep>> {
        self.lock().get(&run).map(|it| it.log.list(None))
    }

    /// Notes that a claimed run is under way.
    pub(in crate::app) fn begin(&self, run: Run, claim: Claim, clock: &Clock) -> Job {
        let (stop, told) = watch::channel(false);
        let (teller, progress) = watch::channel(Step::default());
        let log = Arc::new(StepLog::new(clock.clone()));
        self.lock().insert(run.id, Ends { stop, progress, log: Arc::clone(&log) });
        Job { run, claim, stop: told, progress: teller, log }
    }

    /// Whether a run is under way.
    pub(in crate::app) fn contains(&self, run: RunId) -> bool {
        self.lock().contains_key(&run)
    }

    /// Notes that a run is not under way any more.
    pub(in crate::app) fn end(&self, run: RunId) {
        self.lock().remove(&run);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Ends>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
