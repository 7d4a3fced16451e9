//! What is done for nobody in particular: forgetting what is old, looking after the disk.

use crate::app::{App, Error, runs};
use crate::domain::account::Account;
use crate::store::meta::{self, Identity};
use crate::store::{self, Health, Store, accounts, runs_list};

/// How the disk does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// The last commit worked.
    Good,
    /// The last commit failed, because the disk is full.
    Full,
    /// The last commit failed for another reason.
    Failing,
}

/// Forgets runs that are older than the operator wants to keep; how many went.
///
/// Each transaction takes few, so that nobody waits long behind it.
///
/// # Errors
///
/// What the store says; what went before is gone.
pub async fn expire(app: &App) -> Result<usize, Error> {
    let Some(retention) = app.0.settings.retention else { return Ok(0) };
    let before = app.0.clock.now().before(retention);
    let mut gone = 0_usize;
    for Account { id, .. } in app.0.store.read(accounts::scan)? {
        loop {
            let scan = move |view: &_| runs_list::scan_expired(view, id, before, EXPIRE_MAX);
            let expired = app.0.store.scan(scan).await?;
            let found = expired.len();
            gone = gone.saturating_add(runs::forget(app, expired).await?);
            if found < EXPIRE_MAX {
                break;
            }
        }
    }
    Ok(gone)
}

/// Whether the last commit worked; when it did not, tries another one.
pub async fn look_after_disk(app: &App) -> Disk {
    if matches!(app.0.store.health(), Health::Failing(_)) {
        let probe = app.0.store.write(|txn| Ok::<_, Error>(meta::probe(txn)?));
        // The store keeps what became of it.
        let _ = probe.await;
    }
    disk(app)
}

/// Whether the last commit worked.
#[must_use]
pub fn disk(app: &App) -> Disk {
    match app.0.store.health() {
        Health::Good => Disk::Good,
        Health::Failing(store::Error::Full) => Disk::Full,
        Health::Failing(_) => Disk::Failing,
    }
}

/// Who this instance is.
///
/// # Errors
///
/// What the store says.
pub fn identity(app: &App) -> Result<Identity, Error> {
    Ok(app.0.store.read(meta::identity)?)
}

/// The store, for the doctor.
#[must_use]
pub fn store(app: &App) -> Store {
    app.0.store.clone()
}

/// Runs that are forgotten in one transaction.
const EXPIRE_MAX: usize = 200;
