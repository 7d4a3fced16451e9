//! Deliveries and runs that are on disk and that nobody in memory knows.
//!
//! A commit that failed may be on disk all the same: the last sync broke, and what it should have
//! made sure of was there already. Whoever asked for it was told that it failed, so the deliveries
//! of that commit were handed to nobody, and the runs that it claimed are executed by nobody.
//! After every commit that failed the file is read again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::app::{App, Error, jobs};
use crate::domain::delivery::Place;
use crate::domain::run::Attempt;
use crate::store::{self, Health, outbox, queue, receivers};

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

/// Gives back runs that are claimed and that nobody executes, and puts everybody in line who has
/// waiting runs, if a commit has failed since the last look; how many were given back.
///
/// # Errors
///
/// What the store says; the next call looks again.
pub async fn find_runs(app: &App) -> Result<usize, Error> {
    let failures = app.0.metrics.commit_failures.value();
    let is_seen = app.0.failures_seen_of_runs.load(Ordering::Relaxed) == failures;
    if is_seen || !matches!(app.0.store.health(), Health::Good) {
        return Ok(0);
    }
    let boot = app.0.boot;
    let mut lost = app.0.store.scan(queue::scan_claims).await?;
    // A run that has ended meanwhile has no claim any more, and is left alone.
    lost.retain(|it| it.boot == boot && !app.0.under_way.contains(it.run));
    let given_back = jobs::give_back_all(app, &lost, Attempt::Forgiven).await?;
    for account in app.0.store.scan(queue::accounts).await? {
        app.0.line.join(account);
    }
    app.0.failures_seen_of_runs.store(failures, Ordering::Relaxed);
    Ok(given_back)
}

impl App {
    /// How long it is until the next attempt of a delivery whose claim is gone; `None` when it is
    /// over.
    ///
    /// So it is when what could not be recorded was recorded by a commit that seemed to fail.
    pub(in crate::app) fn recorded_before(&self, place: Place) -> Result<Option<Duration>, Error> {
        let open = self.0.store.read(|view| match outbox::find(view, place) {
            // Nobody can say when it is due, so it is left to the doctor.
            Err(store::Error::Damaged { .. }) => Ok(None),
            open => Ok::<_, Error>(open?),
        })?;
        let due = open.filter(|it| it.claim.is_none()).map(|it| it.due);
        Ok(due.map(|it| it.left(self.0.clock.now(), self.0.clock.uptime())))
    }
}
