//! Baselines: what a run of a schedule compares with, and leaves for the next one.
//!
//! They belong to the schedule: a run that somebody asks for directly has none and leaves none.

use crate::app::{App, Error};
use crate::domain::limits::BASELINE_BYTES_MAX;
use crate::domain::run::Run;
use crate::store::{Txn, baselines, schedules};

/// What a run compares with; nothing unless a schedule started it.
///
/// # Errors
///
/// What the store says.
pub fn find(app: &App, run: &Run) -> Result<Option<Vec<u8>>, Error> {
    let Some(schedule) = run.trigger.schedule() else { return Ok(None) };
    app.0.store.read(|view| Ok(baselines::find(view, run.account, schedule)?))
}

/// What of an agent's baseline is kept: one that is too large is not.
pub(in crate::app) fn checked(run: &Run, baseline: Option<Vec<u8>>) -> Option<Vec<u8>> {
    let baseline = baseline?;
    let size = baseline.len();
    if size > BASELINE_BYTES_MAX {
        tracing::error!(run.id = %run.id, run.kind, size, "a baseline is too large to be kept");
        return None;
    }
    Some(baseline)
}

/// Keeps a baseline in the transaction that ends the run, if its schedule is still there.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn keep(
    txn: &mut Txn<'_>,
    run: &Run,
    baseline: Option<&[u8]>,
) -> Result<(), Error> {
    let (Some(schedule), Some(baseline)) = (run.trigger.schedule(), baseline) else {
        return Ok(());
    };
    if schedules::find(txn, run.account, schedule)?.is_some() {
        baselines::put(txn, run.account, schedule, baseline)?;
    }
    Ok(())
}
