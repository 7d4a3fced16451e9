//! What the next run of each schedule compares with, in the form of its agent.

use serde::{Deserialize, Serialize};

use crate::domain::account::AccountId;
use crate::domain::run::ScheduleId;
use crate::store::codec::Record;
use crate::store::error::Error;
use crate::store::schedules::key;
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BaselineRow(Vec<u8>);

impl Record for BaselineRow {}

/// Keeps the baseline of a schedule in place of the earlier one.
///
/// # Errors
///
/// What the disk says.
pub fn put(
    txn: &mut Txn<'_>,
    account: AccountId,
    id: ScheduleId,
    baseline: &[u8],
) -> Result<(), Error> {
    txn.put(Table::Baselines, &key(account, id), &BaselineRow(baseline.to_owned()))
}

/// The baseline of a schedule.
///
/// # Errors
///
/// What the disk says.
pub fn find(
    tables: &impl Tables,
    account: AccountId,
    id: ScheduleId,
) -> Result<Option<Vec<u8>>, Error> {
    let row: Option<BaselineRow> = view::record(tables, Table::Baselines, &key(account, id))?;
    Ok(row.map(|it| it.0))
}

/// Forgets the baseline of a schedule.
pub(crate) fn remove(txn: &mut Txn<'_>, account: AccountId, id: ScheduleId) -> Result<(), Error> {
    txn.remove(Table::Baselines, &key(account, id)).map(|_| ())
}
