//! Looks after the house: tries the disk again after a fault, forgets old runs.

use std::time::Duration;

use crate::app::App;
use crate::app::upkeep::{self, Disk};
use crate::background::pulse::Pulse;
use crate::background::{BoxFuture, Loop, STEP_MAX};
use crate::domain::time::Timestamp;

/// Does what is done for nobody in particular.
pub struct Janitor {
    app: App,
    pulse: Pulse,
    /// When old runs are looked for next.
    expire_at: Timestamp,
}

impl Janitor {
    /// A janitor who begins at once.
    #[must_use]
    pub const fn new(app: App, pulse: Pulse) -> Self {
        Self { app, pulse, expire_at: Timestamp::EPOCH }
    }

    async fn tidy(&mut self) {
        let now = self.app.clock().now();
        let disk = upkeep::look_after_disk(&self.app).await;
        if disk == Disk::Good && now >= self.expire_at {
            match upkeep::expire(&self.app).await {
                Ok(0) => {}
                Ok(gone) => tracing::info!(runs = gone, "{gone} old runs were forgotten"),
                Err(error) => tracing::warn!(%error, "old runs could not be forgotten"),
            }
            self.expire_at = now.after(EXPIRE_PAUSE);
        }
        let pause = if disk == Disk::Good { STEP_MAX } else { TROUBLE_PAUSE };
        tokio::select! {
            () = self.app.clock().sleep(pause) => {}
            () = self.pulse.beat() => {}
        }
    }
}

impl Loop for Janitor {
    fn name(&self) -> &'static str {
        "janitor"
    }

    fn step(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.tidy())
    }
}

/// Time between two looks for old runs.
const EXPIRE_PAUSE: Duration = Duration::from_mins(10);
/// Time between two tries of a disk that failed.
const TROUBLE_PAUSE: Duration = Duration::from_secs(2);
