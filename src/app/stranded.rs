//! Deliveries that are on disk and that nobody in memory knows.
//!
//! A commit that failed may be on disk all the same: the last sync broke, and what it should have
//! made sure of was there already. Whoever asked for it was told that it failed, so the deliveries
//! of that commit were handed to nobody. After every commit that failed the file is read again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::app::{App, Error};
use crate::domain::delivery::Place;
use crate::store::{Health, outbox, receivers};

/// Hands deliveries that nobody sends to the outbox, if a commit has failed since the last look.
///
/// # Errors
///
/// What the store says; the next call looks again.
pub async fn find(app: &App) -> Result<(), Error> {
    let failures = app.0.metrics.commit_failures.value();
    let is_seen = app.0.failures_seen.load(Ordering::Relaxed) == failures;
    if is_seen || !matches!(app.0.store.health(), Health::Good) {
        return Ok(());
    }
    let scan = app.0.store.scan(|view| {
        let mut found = Vec::new();
        for (place, open) in outbox::scan(view)? {
            if open.claim.is_none() {
                let standing = receivers::standing(view, place.account, place.receiver)?;
                found.push((place, open.due, standing.health.state));
            }
        }
        Ok::<_, Error>(found)
    });
    let found = scan.await?;
    let (now, uptime, mark) = (app.0.clock.now(), app.0.clock.uptime(), app.0.clock.mark());
    for (place, due, state) in found {
        // What is known already stays as it is.
        app.0.outbox.add(place, mark.after(due.left(now, uptime)), state, mark);
    }
    app.0.failures_seen.store(failures, Ordering::Relaxed);
    Ok(())
}

impl App {
    /// How long it is until the next attempt of a delivery whose claim is gone; `None` when it is
    /// over.
    ///
    /// So it is when what could not be recorded was recorded by a commit that seemed to fail.
    pub(in crate::app) fn recorded_before(&self, place: Place) -> Result<Option<Duration>, Error> {
        let open = self.0.store.read(|view| Ok::<_, Error>(outbox::find(view, place)?))?;
        let due = open.filter(|it| it.claim.is_none()).map(|it| it.due);
        Ok(due.map(|it| it.left(self.0.clock.now(), self.0.clock.uptime())))
    }
}
