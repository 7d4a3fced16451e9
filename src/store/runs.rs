//! Runs, as they are kept: the record, what it left behind, its indexes and their counts.
//!
//! Every change goes through [`insert`], [`put`] and [`remove`], which keep the indexes and the
//! counts in step with the record.

use serde::{Deserialize, Serialize};

use crate::domain::account::AccountId;
use crate::domain::outcome::Report;
use crate::domain::run::{Run, RunId, ScheduleId, Status};
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::run_row::{self, RunRow};
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TextRow(String);

impl Record for TextRow {}

/// The number that stands for the name of a kind in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KindCode(pub(crate) u16);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KindRow(pub(crate) KindCode);

impl Record for KindRow {}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountRow(pub(crate) u64);

impl Record for CountRow {}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CountKey {
    pub(crate) account: AccountId,
    pub(crate) kind: KindCode,
    pub(crate) status: Status,
}

impl CountKey {
    /// Also the beginning of the keys of the runs that are counted, in their index.
    pub(crate) fn key(self) -> Key {
        Key::of(self.account).u16(self.kind.0).u8(status_code(self.status))
    }
}

/// Which of the texts a run left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The report for people.
    Output,
    /// The result for programs.
    Result,
    /// The steps of the execution, as JSON text.
    Steps,
}

/// Keeps a new run.
///
/// # Errors
///
/// What the disk says.
pub fn insert(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    txn.put(Table::Runs, &run_key(run.account, run.id), &run_row::of(run))?;
    if let Some(label) = label_key(run) {
        txn.mark(Table::RunLabels, &label)?;
    }
    enter(txn, run)
}

/// Changes a run from `before` to `after`.
///
/// # Errors
///
/// What the disk says.
pub fn put(txn: &mut Txn<'_>, before: &Run, after: &Run) -> Result<(), Error> {
    txn.put(Table::Runs, &run_key(after.account, after.id), &run_row::of(after))?;
    if before.status != after.status {
        leave(txn, before)?;
        enter(txn, after)?;
    }
    Ok(())
}

/// Forgets a run and what it left behind.
///
/// # Errors
///
/// What the disk says.
pub fn remove(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    txn.remove(Table::Runs, &run_key(run.account, run.id))?;
    if let Some(label) = label_key(run) {
        txn.remove(Table::RunLabels, &label)?;
    }
    if run.status.is_over() {
        for part in [Part::Output, Part::Result, Part::Steps] {
            txn.remove(Table::Outputs, &text_key(run.account, run.id, part))?;
        }
    }
    leave(txn, run)
}

/// The run of that account and id.
///
/// # Errors
///
/// What the disk says.
pub fn find(tables: &impl Tables, account: AccountId, id: RunId) -> Result<Option<Run>, Error> {
    let found: Option<RunRow<'_>> = view::record(tables, Table::Runs, &run_key(account, id))?;
    Ok(found.map(|it| run_row::run(account, id, it)))
}

/// Keeps a run that was deleted while it is executed, so that its hold can be settled.
///
/// # Errors
///
/// What the disk says.
pub fn put_ghost(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    txn.put(Table::Ghosts, &run_key(run.account, run.id), &run_row::of(run))
}

/// The deleted run of that account and id.
///
/// # Errors
///
/// What the disk says.
pub fn find_ghost(
    tables: &impl Tables,
    account: AccountId,
    id: RunId,
) -> Result<Option<Run>, Error> {
    let found: Option<RunRow<'_>> = view::record(tables, Table::Ghosts, &run_key(account, id))?;
    Ok(found.map(|it| run_row::run(account, id, it)))
}

/// Forgets a deleted run for good.
///
/// # Errors
///
/// What the disk says.
pub fn remove_ghost(txn: &mut Txn<'_>, account: AccountId, id: RunId) -> Result<(), Error> {
    txn.remove(Table::Ghosts, &run_key(account, id)).map(|_| ())
}

/// Keeps what a run left behind.
///
/// # Errors
///
/// What the disk says.
pub fn insert_report(txn: &mut Txn<'_>, run: &Run, report: &Report) -> Result<(), Error> {
    let output = TextRow(report.output.clone());
    txn.put(Table::Outputs, &text_key(run.account, run.id, Part::Output), &output)?;
    if let Some(result) = &report.result {
        let result = TextRow(result.clone());
        txn.put(Table::Outputs, &text_key(run.account, run.id, Part::Result), &result)?;
    }
    Ok(())
}

/// Keeps the steps of a run that ends, if there are any.
///
/// # Errors
///
/// What the disk says.
pub fn insert_steps(txn: &mut Txn<'_>, run: &Run, steps: Option<&str>) -> Result<(), Error> {
    let Some(steps) = steps else { return Ok(()) };
    let text = TextRow(steps.to_owned());
    txn.put(Table::Outputs, &text_key(run.account, run.id, Part::Steps), &text)
}

/// A text that a run left behind.
///
/// # Errors
///
/// What the disk says.
pub fn find_text(
    tables: &impl Tables,
    account: AccountId,
    id: RunId,
    part: Part,
) -> Result<Option<String>, Error> {
    let text: Option<TextRow> = view::record(tables, Table::Outputs, &text_key(account, id, part))?;
    Ok(text.map(|it| it.0))
}

/// The code of a kind, given when the kind is first seen.
///
/// # Errors
///
/// What the disk says.
pub(crate) fn kind_code(txn: &mut Txn<'_>, kind: &str) -> Result<KindCode, Error> {
    if let Some(code) = txn.kinds.get(kind) {
        return Ok(*code);
    }
    let code = if let Some(code) = find_kind(txn, kind)? {
        code
    } else {
        let taken = u16::try_from(view::rows_of(txn, Table::Kinds, &Key::new())?.count());
        let code = KindCode(taken.map_err(|_| Error::Bug("too many kinds"))?);
        txn.put(Table::Kinds, &kind_key(kind), &KindRow(code))?;
        code
    };
    txn.kinds.insert(kind.to_owned(), code);
    Ok(code)
}

/// The code of a kind that some run has or had.
pub(crate) fn find_kind(tables: &impl Tables, kind: &str) -> Result<Option<KindCode>, Error> {
    let row: Option<KindRow> = view::record(tables, Table::Kinds, &kind_key(kind))?;
    Ok(row.map(|it| it.0))
}

/// The codes of all kinds.
pub(crate) fn scan_kinds(tables: &impl Tables) -> Result<Vec<KindCode>, Error> {
    let rows = view::rows_of(tables, Table::Kinds, &Key::new())?;
    let codes = rows.map(|row| {
        let (key, value) = row?;
        codec::decode::<KindRow>(Table::Kinds, key.value(), value.value()).map(|it| it.0)
    });
    codes.collect()
}

/// The key of a run.
pub(crate) fn run_key(account: AccountId, id: RunId) -> Key {
    Key::of(account).id(id)
}

/// The key under which a run stands in the index of states.
pub(crate) fn state_key(txn: &mut Txn<'_>, run: &Run) -> Result<(CountKey, Key), Error> {
    let kind = kind_code(txn, &run.kind)?;
    let count = CountKey { account: run.account, kind, status: run.status };
    Ok((count, count.key().id(run.id)))
}

/// The key under which a run stands in the index of labels, if it has one.
pub(crate) fn label_key(run: &Run) -> Option<Key> {
    let label = run.external_id.as_deref()?;
    Some(label_prefix(run.account, label).id(run.id))
}

/// The beginning of the keys of all runs with that label. A label has no zero byte in it.
pub(crate) fn label_prefix(account: AccountId, label: &str) -> Key {
    Key::of(account).bytes(label.as_bytes()).u8(0)
}

/// The key under which a run stands in the index of its schedule, if it has one.
pub(crate) fn schedule_key(run: &Run) -> Option<Key> {
    let schedule = run.trigger.schedule()?;
    Some(schedule_prefix(run.account, schedule, run.status.is_over()).id(run.id))
}

/// The beginning of the keys of all runs of a schedule that are over, or that are not.
pub(crate) fn schedule_prefix(account: AccountId, schedule: ScheduleId, is_over: bool) -> Key {
    Key::of(account).id(schedule).u8(u8::from(is_over))
}

/// How many runs of a schedule are pending or running; not more than `limit` are counted.
///
/// # Errors
///
/// What the disk says.
pub fn count_active(
    tables: &impl Tables,
    account: AccountId,
    schedule: ScheduleId,
    limit: usize,
) -> Result<usize, Error> {
    let prefix = schedule_prefix(account, schedule, false);
    Ok(view::rows_of(tables, Table::ScheduleRuns, &prefix)?.take(limit).count())
}

/// Reads a run from its row.
pub(crate) fn decode(
    account: AccountId,
    id: RunId,
    key: &[u8],
    value: &[u8],
) -> Result<Run, Error> {
    codec::decode(Table::Runs, key, value).map(|it| run_row::run(account, id, it))
}

/// The number that stands for a status in keys.
pub(crate) const fn status_code(status: Status) -> u8 {
    match status {
        Status::Pending => 0,
        Status::Running => 1,
        Status::Succeeded => 2,
        Status::NoSignal => 3,
        Status::Failed => 4,
    }
}

fn enter(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    let (count, key) = state_key(txn, run)?;
    txn.mark(Table::RunStates, &key)?;
    if let Some(key) = schedule_key(run) {
        txn.mark(Table::ScheduleRuns, &key)?;
    }
    let more = txn.count(count)?.0.saturating_add(1);
    txn.put_count(count, CountRow(more));
    Ok(())
}

fn leave(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    let (count, key) = state_key(txn, run)?;
    txn.remove(Table::RunStates, &key)?;
    if let Some(key) = schedule_key(run) {
        txn.remove(Table::ScheduleRuns, &key)?;
    }
    let fewer = txn.count(count)?.0.saturating_sub(1);
    txn.put_count(count, CountRow(fewer));
    Ok(())
}

/// The key of a text that a run left behind.
pub(crate) fn text_key(account: AccountId, id: RunId, part: Part) -> Key {
    run_key(account, id).u8(match part {
        Part::Output => 0,
        Part::Result => 1,
        Part::Steps => 2,
    })
}

/// The key of a kind.
pub(crate) fn kind_key(kind: &str) -> Key {
    Key::new().bytes(kind.as_bytes())
}
