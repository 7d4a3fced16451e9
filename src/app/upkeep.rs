//! What is done for nobody in particular: forgetting what is old, looking after the disk.

use crate::app::{App, Error, runs};
use crate::domain::account::Account;
use crate::domain::receiver::Receiver;
use crate::domain::run::Status;
use crate::domain::time::Timestamp;
use crate::store::doctor::{self, Findings, LedgerSums};
use crate::store::meta::{self, Identity};
use crate::store::{self, Health, Store, accounts, deliveries, receivers, runs_list};

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
/// Each transaction takes few, so that nobody waits long behind it; `alive` is called with each.
///
/// # Errors
///
/// What the store says; what went before is gone.
pub async fn expire(app: &App, alive: impl Fn()) -> Result<usize, Error> {
    let Some(retention) = app.0.settings.retention else { return Ok(0) };
    let before = app.aging_now().before(retention);
    let mut gone = 0_usize;
    for Account { id, .. } in app.0.store.read(accounts::scan)? {
        loop {
            let scan = move |view: &_| runs_list::scan_expired(view, id, before, EXPIRE_MAX);
            let expired = app.0.store.scan(scan).await?;
            let found = expired.len();
            alive();
            gone = gone.saturating_add(runs::forget(app, expired).await?);
            if found < EXPIRE_MAX {
                break;
            }
            if app.is_draining() {
                return Ok(gone);
            }
        }
    }
    Ok(gone)
}

/// Forgets deliveries that were over long ago, and receivers that were disabled long ago and have
/// none left; how many deliveries went.
///
/// Each transaction takes few, so that nobody waits long behind it; `alive` is called with each.
///
/// # Errors
///
/// What the store says; what went before is gone.
pub async fn expire_deliveries(app: &App, alive: impl Fn()) -> Result<usize, Error> {
    let before = app.aging_now().before(app.0.settings.webhooks.retention);
    let mut gone = 0_usize;
    for Account { id, .. } in app.0.store.read(accounts::scan)? {
        for receiver in app.0.store.read(|view| receivers::scan(view, id))? {
            loop {
                let forgotten = forget_some(app, &receiver, before).await?;
                alive();
                gone = gone.saturating_add(forgotten);
                if app.is_draining() {
                    return Ok(gone);
                }
                if forgotten < EXPIRE_MAX {
                    break;
                }
            }
        }
    }
    Ok(gone)
}

/// Forgets the oldest deliveries of a receiver that were over before `before`, and the receiver
/// itself when it was disabled before that and has no others.
async fn forget_some(app: &App, receiver: &Receiver, before: Timestamp) -> Result<usize, Error> {
    let (account, id) = (receiver.account, receiver.id);
    let scan = move |view: &_| deliveries::scan_expired(view, account, id, before, EXPIRE_MAX);
    let expired = app.0.store.scan(scan).await?;
    let is_old = receiver.disabled_at.is_some_and(|it| it < before);
    if expired.is_empty() && !is_old {
        return Ok(0);
    }
    let forget = app.0.store.write(move |txn| {
        let mut gone = 0_usize;
        for delivery in &expired {
            // It may have gone with its run meanwhile.
            if let Some(delivery) = deliveries::find(txn, delivery.place())? {
                deliveries::remove(txn, &delivery)?;
                gone = gone.saturating_add(1);
            }
        }
        let is_empty = deliveries::is_empty(txn, account, id)?;
        if is_old && is_empty && receivers::find(txn, account, id)?.is_some() {
            receivers::remove(txn, account, id)?;
        }
        Ok::<_, Error>(gone)
    });
    forget.await
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

/// How much there is and is under way, over all accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Accounts.
    pub accounts: usize,
    /// Runs that wait for a worker.
    pub pending: u64,
    /// Runs under way.
    pub running: u64,
}

/// Counts accounts and the runs that are not over.
///
/// # Errors
///
/// What the store says.
pub fn census(app: &App) -> Result<Census, Error> {
    app.0.store.read(|view| {
        let accounts = accounts::scan(view)?;
        let mut census = Census { accounts: accounts.len(), ..Census::default() };
        for account in accounts {
            let of = |status| runs_list::count_status(view, account.id, status);
            census.pending = census.pending.saturating_add(of(Status::Pending)?);
            census.running = census.running.saturating_add(of(Status::Running)?);
        }
        Ok(census)
    })
}

/// Who this instance is.
///
/// # Errors
///
/// What the store says.
pub fn identity(app: &App) -> Result<Identity, Error> {
    Ok(app.0.store.read(meta::identity)?)
}

/// Looks at every row of the file for what does not fit together.
///
/// # Errors
///
/// What the store says.
pub async fn examine(app: &App) -> Result<Findings, Error> {
    on_own_thread(app, |store| Ok(doctor::examine(store)?)).await
}

/// Adds up every ledger again and compares it with the balances.
///
/// # Errors
///
/// What the store says.
pub async fn verify_ledger(app: &App) -> Result<LedgerSums, Error> {
    on_own_thread(app, |store| Ok(doctor::verify_ledger(store)?)).await
}

/// Runs a look at the whole store on a thread that may block.
async fn on_own_thread<T: Send + 'static>(
    app: &App,
    look: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let store = app.0.store.clone();
    let task = tokio::task::spawn_blocking(move || look(&store));
    task.await.unwrap_or(Err(Error::Internal(store::Error::Bug("a look panicked"))))
}

/// Runs that are forgotten in one transaction.
const EXPIRE_MAX: usize = 200;
