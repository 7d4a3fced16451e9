//! Schedules, their slots, their log and their runs: each row is asked for those that belong to it.

use crate::domain::account::AccountId;
use crate::domain::limits::TICKS_KEPT;
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::schedule::Schedule;
use crate::store::doctor::findings::{Fault, Findings};
use crate::store::doctor::look::{Behind, each, is_there};
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::tables::Table;
use crate::store::view::{self, View};
use crate::store::{runs, schedules};

/// Looks at everything that schedules leave on disk.
///
/// # Errors
///
/// What the disk says.
pub(super) fn check(view: &View, findings: &mut Findings) -> Result<(), Error> {
    each(view, Table::Schedules, |key| fault_of_schedule(view, key), findings)?;
    each(view, Table::ScheduleCounts, |key| fault_of_count(view, key), findings)?;
    each(view, Table::DueSchedules, |key| fault_of_slot(view, key), findings)?;
    for table in [Table::Ticks, Table::Baselines] {
        let look = |key: &[u8]| {
            let Some((account, id)) = schedule(key) else { return Ok(None) };
            let found = Behind::of(schedules::find(view, account, id))?;
            Ok((!found.fits(|_| true)).then(|| Fault::stray(Table::Schedules)))
        };
        each(view, table, look, findings)?;
    }
    each(view, Table::ScheduleRuns, |key| fault_of_run(view, key), findings)
}

/// Compares the number of an account's schedules with their rows.
fn fault_of_count(view: &View, key: &[u8]) -> Result<Option<Fault>, Error> {
    let Some(account) = Parts(key).id() else { return Ok(None) };
    let Behind::There(kept) = Behind::of(schedules::count(view, Some(account)).map(Some))? else {
        return Ok(None);
    };
    let mut found = 0_u64;
    for row in view::rows_of(view, Table::Schedules, &Key::of(account))? {
        row?;
        found = found.saturating_add(1);
    }
    Ok(Fault::differs("number of schedules", &kept, &found))
}

/// Compares a schedule with its row in the index and with the length of its log.
fn fault_of_schedule(view: &View, key: &[u8]) -> Result<Option<Fault>, Error> {
    let Some((account, id)) = schedule(key) else { return Ok(None) };
    if !is_there(view, Table::ScheduleCounts, &Key::of(account))? {
        return Ok(Some(Fault::missing(Table::ScheduleCounts)));
    }
    let Behind::There(found) = Behind::of(schedules::find(view, account, id))? else {
        return Ok(None);
    };
    if found.is_enabled() != found.next_run_at.is_some() {
        return Ok(Some(Fault::Rule("it fires without a next slot, or has one and is stopped")));
    }
    if let Some(due) = schedules::due_key(&found)
        && !is_there(view, Table::DueSchedules, &due)?
    {
        return Ok(Some(Fault::missing(Table::DueSchedules)));
    }
    let mut lines = 0_u32;
    for row in view::rows_of(view, Table::Ticks, &schedules::key(account, id))? {
        row?;
        lines = lines.saturating_add(1);
    }
    if lines > TICKS_KEPT {
        return Ok(Some(Fault::Rule("its log is longer than it may be")));
    }
    Ok(Fault::differs("number of log lines", &found.counts.lines, &lines))
}

/// Asks a row of the index of what fires next for its schedule.
fn fault_of_slot(view: &View, key: &[u8]) -> Result<Option<Fault>, Error> {
    let mut parts = Parts(key);
    let Some(at) = parts.take::<8>().map(u64::from_be_bytes) else { return Ok(None) };
    let Some((account, id)) = schedule(parts.0) else { return Ok(None) };
    let found = Behind::of(schedules::find(view, account, id))?;
    let is_then =
        |it: &Schedule| it.next_run_at.and_then(|it| u64::try_from(it.millis()).ok()) == Some(at);
    Ok((!found.fits(is_then)).then(|| Fault::stray(Table::Schedules)))
}

/// Asks a row of the index of runs for its run.
fn fault_of_run(view: &View, key: &[u8]) -> Result<Option<Fault>, Error> {
    let mut parts = Parts(key);
    let (Some(account), Some(id)) = (parts.id(), parts.id::<crate::domain::id::Schedule>()) else {
        return Ok(None);
    };
    let (Some([is_over]), Some(run)) = (parts.take::<1>(), parts.id()) else { return Ok(None) };
    let (account, run): (AccountId, RunId) = (account, run);
    let found = Behind::of(runs::find(view, account, run))?;
    let fits = found
        .fits(|it| it.trigger.schedule() == Some(id) && u8::from(it.status.is_over()) == is_over);
    Ok((!fits).then(|| Fault::stray(Table::Runs)))
}

fn schedule(key: &[u8]) -> Option<(AccountId, ScheduleId)> {
    let mut parts = Parts(key);
    Some((parts.id()?, parts.id()?))
}
