//! Lets due slots become runs, and rests until the next one.

use std::time::Duration;

use crate::app::ticks::{self, Cause, Progress, Reckoning};
use crate::app::{App, Error};
use crate::background::{BoxFuture, Loop, STEP_MAX};

/// Decides what is due, whenever something is.
pub struct Scheduler {
    app: App,
    cause: Cause,
    reckoning: Reckoning,
}

impl Scheduler {
    /// A scheduler that begins at once with what was missed.
    #[must_use]
    pub fn new(app: App) -> Self {
        Self { app, cause: Cause::Absence, reckoning: Reckoning::default() }
    }

    async fn look(&mut self) {
        let pause = match ticks::fire(&self.app, self.cause, &mut self.reckoning).await {
            // A look that has written nothing has not let anybody else run.
            Ok(Progress::More) => return tokio::task::yield_now().await,
            Ok(Progress::Until(pause)) => {
                self.cause = Cause::Absence;
                pause.min(LOOK_PAUSE)
            }
            Ok(Progress::Idle) => {
                self.cause = Cause::Absence;
                STEP_MAX
            }
            Err(error) => {
                if matches!(error, Error::StorageFull) {
                    self.cause = Cause::FullDisk;
                }
                tracing::warn!(%error, "schedules could not be looked at; trying again");
                TROUBLE_PAUSE
            }
        };
        ticks::wait(&self.app, pause).await;
    }
}

impl Loop for Scheduler {
    fn name(&self) -> &'static str {
        "scheduler"
    }

    fn step(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.look())
    }
}

/// The longest rest while something will be due: a clock that was set is noticed so soon.
const LOOK_PAUSE: Duration = Duration::from_secs(1);
/// The pause after the store refused something.
const TROUBLE_PAUSE: Duration = Duration::from_secs(1);
