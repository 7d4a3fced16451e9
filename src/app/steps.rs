//! The steps of runs: in memory while they are executed, beside their output afterwards.

use serde_json::{Value, json};

use crate::app::jobs::Job;
use crate::app::{App, Error};
use crate::domain::account::Caller;
use crate::domain::run::RunId;
use crate::domain::time::Timestamp;
use crate::store::runs::{self, Part, find_text};

/// The steps of the caller's run, oldest first; none before it is begun.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such run.
pub fn list(app: &App, caller: &Caller, id: RunId) -> Result<Vec<Value>, Error> {
    let kept = app.0.store.read(|view| {
        runs::find(view, caller.account, id)?.ok_or(Error::NotFound)?;
        Ok::<_, Error>(find_text(view, caller.account, id, Part::Steps)?)
    })?;
    if let Some(text) = kept {
        return Ok(serde_json::from_str(&text).unwrap_or_default());
    }
    let told = app.0.under_way.steps(id).unwrap_or_default();
    Ok(told.iter().map(|it| json!(it)).collect())
}

/// The steps of a job that ends at `now`, as JSON text; `None` when its agent has told none.
pub(in crate::app) fn text(job: &Job, now: Timestamp) -> Option<String> {
    let steps = job.log.list(Some(now));
    if steps.is_empty() { None } else { serde_json::to_string(&steps).ok() }
}
