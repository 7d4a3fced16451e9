//! The minute tick: wakes who waits for it, and carries nothing.
//!
//! It comes from `tokio-cron-scheduler`, which is good enough for this and for nothing else here:
//! it drops ticks under load and is silent for a while after the clock was set back. So nobody
//! depends on it: who waits for a tick also has a deadline of its own.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

/// The minute tick; cheap to clone.
#[derive(Clone)]
pub struct Pulse {
    tick: Arc<Notify>,
    /// Keeps the scheduler alive; none in simulated time.
    _scheduler: Option<Arc<JobScheduler>>,
}

impl Pulse {
    /// A tick at each full minute of the host's clock.
    ///
    /// # Errors
    ///
    /// The scheduler's, when it cannot start.
    pub async fn of_host() -> Result<Self, JobSchedulerError> {
        let tick = Arc::new(Notify::new());
        let scheduler = JobScheduler::new().await?;
        let waker = Arc::clone(&tick);
        let job = Job::new_async(EVERY_MINUTE, move |_, _| {
            waker.notify_waiters();
            Box::pin(std::future::ready(()))
        });
        scheduler.add(job?).await?;
        scheduler.start().await?;
        Ok(Self { tick, _scheduler: Some(Arc::new(scheduler)) })
    }

    /// No tick at all, for simulated time.
    #[must_use]
    pub fn none() -> Self {
        Self { tick: Arc::new(Notify::new()), _scheduler: None }
    }

    /// Waits for the next tick.
    ///
    /// # Cancel safety
    ///
    /// Safe: a tick that nobody waits for is gone, as it should be.
    pub async fn beat(&self) {
        self.tick.notified().await;
    }
}

/// Second, minute, hour, day, month, weekday.
const EVERY_MINUTE: &str = "0 * * * * *";
