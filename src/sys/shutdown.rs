//! Stopping: first drain, then stop.
//!
//! *Draining* means: accept nothing new and finish what is held. *Stopping* means: give back what
//! is held, now. Both are one-way.

use tokio::sync::watch;

/// Tells every loop how far the end is; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Sender<Phase>);

/// How far the end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Not in sight.
    Running,
    /// Nothing new is begun.
    Draining,
    /// Everything is given back.
    Stopping,
}

impl Shutdown {
    /// A daemon that runs.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(Phase::Running))
    }

    /// How far the end is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    /// Whether nothing new may begin.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.phase() >= Phase::Draining
    }

    /// Goes on to `phase`; never back.
    pub fn advance(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let later = phase > *now;
            if later {
                *now = phase;
            }
            later
        });
    }

    /// Waits until the end is at least as near as `phase`.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when the future is dropped.
    pub async fn reached(&self, phase: Phase) {
        let mut seen = self.0.subscribe();
        // The sender is held by `self`, so the wait ends only when the phase is there.
        let _ = seen.wait_for(|now| *now >= phase).await;
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_comes_nearer_and_never_goes_away() {
        let shutdown = Shutdown::new();
        shutdown.advance(Phase::Stopping);
        shutdown.advance(Phase::Draining);
        assert_eq!(shutdown.phase(), Phase::Stopping);
        shutdown.clone().reached(Phase::Draining).await;
    }
}
