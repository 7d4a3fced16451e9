//! The history of an account's runs: newest first, filtered, a page at a time.
//!
//! A page of the whole history, or of any choice of kinds and statuses, costs what it shows and
//! what it skips, whatever the size of the history; its total comes from counters. A choice by
//! label or by time counts what it chooses.

use crate::domain::account::AccountId;
use crate::domain::id;
use crate::domain::run::{Run, RunId, ScheduleId, Status};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::runs::{self, CountKey, CountRow, KindCode};
use crate::store::tables::Table;
use crate::store::view::{self, Tables};
use crate::store::walk::{Span, Walk, first_id, last_id};

/// Which runs are wanted.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this kind.
    pub kind: Option<String>,
    /// In one of these statuses; in any when empty.
    pub statuses: Vec<Status>,
    /// With this label.
    pub external_id: Option<String>,
    /// Started by this schedule.
    pub schedule: Option<ScheduleId>,
    /// Accepted at this time or later.
    pub created_after: Option<Timestamp>,
    /// Accepted before this time.
    pub created_before: Option<Timestamp>,
}

/// Which part of them is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Only runs older than this one; it does not change the total.
    pub before: Option<RunId>,
    /// How many of the newest are skipped.
    pub offset: usize,
    /// How many are shown.
    pub limit: usize,
}

/// A page of the history.
#[derive(Clone, Debug)]
pub struct Page {
    /// The runs, newest first.
    pub runs: Vec<Run>,
    /// How many there are on all pages.
    pub total: u64,
    /// Whether there are older ones.
    pub has_more: bool,
}

/// A page of an account's runs.
///
/// # Errors
///
/// What the disk says.
pub fn scan(
    tables: &impl Tables,
    account: AccountId,
    filter: &Filter,
    window: Window,
) -> Result<Page, Error> {
    let Some(sources) = sources(tables, account, filter)? else {
        return Ok(Page { runs: Vec::new(), total: 0, has_more: false });
    };
    let span = Span::of_times(filter.created_after, filter.created_before);
    let total = match filter {
        Filter {
            external_id: None,
            schedule: None,
            created_after: None,
            created_before: None,
            ..
        } => count(tables, account, filter)?,
        Filter { .. } => Walk::new(tables, &sources, span)?.try_fold(0_u64, |sum, id| {
            let id = id?;
            let chosen = is_exact(filter) || choose(tables, account, filter, id)?.is_some();
            Ok::<_, Error>(sum.saturating_add(u64::from(chosen)))
        })?,
    };
    let span = span.before(window.before);
    let mut runs = Vec::with_capacity(window.limit);
    let mut skipped = 0;
    let mut has_more = false;
    for id in Walk::new(tables, &sources, span)? {
        let id = id?;
        if is_exact(filter) && skipped < window.offset {
            skipped = skipped.saturating_add(1);
            continue;
        }
        let Some(run) = choose(tables, account, filter, id)? else { continue };
        if skipped < window.offset {
            skipped = skipped.saturating_add(1);
        } else if runs.len() < window.limit {
            runs.push(run);
        } else {
            has_more = true;
            break;
        }
    }
    Ok(Page { runs, total, has_more })
}

/// Up to `limit` runs of an account that are over and were accepted before `at`, oldest first.
///
/// # Errors
///
/// What the disk says.
pub fn scan_expired(
    tables: &impl Tables,
    account: AccountId,
    at: Timestamp,
    limit: usize,
) -> Result<Vec<Run>, Error> {
    let end = Key::of(account).id(first_id::<id::Run>(at));
    let rows = tables.rows(Table::Runs, Key::of(account).as_slice(), Some(end.as_slice()))?;
    let mut expired = Vec::new();
    for row in rows {
        let (key, value) = row?;
        let id = last_id(key.value(), Table::Runs)?;
        let run = runs::decode(account, id, key.value(), value.value());
        let Some(run) = view::sound(run)? else { continue };
        if run.status.is_over() {
            expired.push(run);
        }
        if expired.len() >= limit {
            break;
        }
    }
    Ok(expired)
}

/// How many runs of an account are in one status.
///
/// # Errors
///
/// What the disk says.
pub fn count_status(
    tables: &impl Tables,
    account: AccountId,
    status: Status,
) -> Result<u64, Error> {
    count(tables, account, &Filter { statuses: vec![status], ..Filter::default() })
}

/// The newest run there is, for the ids of the next ones.
///
/// # Errors
///
/// What the disk says.
pub fn newest(tables: &impl Tables, account: AccountId) -> Result<Option<RunId>, Error> {
    let row = view::rows_of(tables, Table::Runs, &Key::of(account))?.next_back();
    row.map(|it| last_id(it?.0.value(), Table::Runs)).transpose()
}

/// Where the ids of the wanted runs stand: tables and the beginnings of their keys.
///
/// `None` when there can be no such run.
fn sources(
    tables: &impl Tables,
    account: AccountId,
    filter: &Filter,
) -> Result<Option<Vec<(Table, Key)>>, Error> {
    if let Some(label) = &filter.external_id {
        return Ok(Some(vec![(Table::RunLabels, runs::label_prefix(account, label))]));
    }
    if let Some(schedule) = filter.schedule {
        let part = |is_over| runs::schedule_prefix(account, schedule, is_over);
        return Ok(Some([false, true].map(|it| (Table::ScheduleRuns, part(it))).into()));
    }
    if filter.kind.is_none() && filter.statuses.is_empty() {
        return Ok(Some(vec![(Table::Runs, Key::of(account))]));
    }
    let Some(kinds) = kinds(tables, filter)? else { return Ok(None) };
    let keys = kinds
        .into_iter()
        .flat_map(|kind| statuses(filter).map(move |status| CountKey { account, kind, status }));
    Ok(Some(keys.map(|it| (Table::RunStates, it.key())).collect()))
}

/// The run of that id if the filter wants it.
fn choose(
    tables: &impl Tables,
    account: AccountId,
    filter: &Filter,
    id: RunId,
) -> Result<Option<Run>, Error> {
    let missing = Error::Damaged { table: Table::RunStates.name() };
    let found = runs::find(tables, account, id).and_then(|it| it.ok_or(missing));
    let Some(run) = view::sound(found)? else { return Ok(None) };
    let kind_fits = filter.kind.as_ref().is_none_or(|it| *it == run.kind);
    let schedule_fits = filter.schedule.is_none_or(|it| run.trigger.schedule() == Some(it));
    Ok((kind_fits && schedule_fits && wants(filter, run.status)).then_some(run))
}

/// Whether every id of the walk is chosen, so that its record need not be read.
const fn is_exact(filter: &Filter) -> bool {
    filter.external_id.is_none() && filter.schedule.is_none()
}

fn count(tables: &impl Tables, account: AccountId, filter: &Filter) -> Result<u64, Error> {
    let mut sum = 0_u64;
    for kind in kinds(tables, filter)?.unwrap_or_default() {
        for status in statuses(filter) {
            let key = CountKey { account, kind, status }.key();
            let row: Option<CountRow> = view::record(tables, Table::RunCounts, &key)?;
            sum = sum.saturating_add(row.unwrap_or_default().0);
        }
    }
    Ok(sum)
}

fn kinds(tables: &impl Tables, filter: &Filter) -> Result<Option<Vec<KindCode>>, Error> {
    match &filter.kind {
        Some(kind) => Ok(runs::find_kind(tables, kind)?.map(|it| vec![it])),
        None => runs::scan_kinds(tables).map(Some),
    }
}

/// The wanted statuses, each once, however often the filter names it.
fn statuses(filter: &Filter) -> impl Iterator<Item = Status> {
    Status::ALL.into_iter().filter(|it| wants(filter, *it))
}

fn wants(filter: &Filter, status: Status) -> bool {
    filter.statuses.is_empty() || filter.statuses.contains(&status)
}
