//! Looks after the house: tries the disk again after a fault, forgets old runs and deliveries.

use std::time::Duration;

use crate::app::upkeep::{self, Disk};
use crate::app::{App, keys};
use crate::background::pulse::Pulse;
use crate::background::{BoxFuture, Loop, STEP_MAX};
use crate::sys::clock::Mark;

/// Does what is done for nobody in particular.
pub struct Janitor {
    app: App,
    pulse: Pulse,
    /// When what is old was looked for, if it was.
    expired_at: Option<Mark>,
    /// When the uses of keys were last written down, or when it began.
    saved_at: Mark,
}

impl Janitor {
    /// A janitor who begins at once.
    #[must_use]
    pub fn new(app: App, pulse: Pulse) -> Self {
        let saved_at = app.clock().mark();
        Self { app, pulse, expired_at: None, saved_at }
    }

    async fn tidy(&mut self) {
        let disk = upkeep::look_after_disk(&self.app).await;
        let looked = self.expired_at.is_some_and(|it| it.elapsed() < EXPIRE_PAUSE);
        if disk == Disk::Good && !looked {
            // A long purge is many commits, and a sign of life comes with each.
            let alive = || self.app.beats().beat(NAME);
            match upkeep::expire(&self.app, alive).await {
                Ok(0) => {}
                Ok(gone) => tracing::info!(runs = gone, "{gone} old runs were forgotten"),
                Err(error) => tracing::warn!(%error, "old runs could not be forgotten"),
            }
            match upkeep::expire_deliveries(&self.app, alive).await {
                Ok(0) => {}
                Ok(gone) => {
                    tracing::info!(deliveries = gone, "{gone} old deliveries were forgotten");
                }
                Err(error) => tracing::warn!(%error, "old deliveries could not be forgotten"),
            }
            self.expired_at = Some(self.app.clock().mark());
        }
        if disk == Disk::Good && self.saved_at.elapsed() >= SAVE_PAUSE {
            self.save_uses().await;
        }
        let pause = if disk == Disk::Good { STEP_MAX } else { TROUBLE_PAUSE };
        tokio::select! {
            () = self.app.clock().sleep(pause) => {}
            () = self.pulse.beat() => {}
            // No step comes after this one.
            () = self.app.drains() => self.save_uses().await,
        }
    }

    /// Writes down when keys were last used.
    async fn save_uses(&mut self) {
        self.saved_at = self.app.clock().mark();
        if let Err(error) = keys::save_uses(&self.app).await {
            tracing::warn!(%error, "the last uses of keys could not be written down");
        }
    }
}

impl Loop for Janitor {
    fn name(&self) -> &'static str {
        NAME
    }

    fn step(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.tidy())
    }
}

/// Its name among the signs of life.
const NAME: &str = "janitor";
/// Time between two looks for what is old.
const EXPIRE_PAUSE: Duration = Duration::from_mins(10);
/// Time between two times at which the uses of keys are written down.
const SAVE_PAUSE: Duration = Duration::from_mins(1);
/// Time between two tries of a disk that failed.
const TROUBLE_PAUSE: Duration = Duration::from_secs(2);
