//! The history of an account's runs.

use crate::app::runs::FullRun;
use crate::app::{App, Error};
use crate::domain::account::Caller;
use crate::domain::run::Status;
use crate::store::runs::{Part, find_text};
use crate::store::runs_list;

pub use crate::store::runs_list::{Filter, Window};

/// A page of the history.
#[derive(Clone, Debug)]
pub struct Page {
    /// The runs, newest first.
    pub runs: Vec<FullRun>,
    /// How many there are on all pages.
    pub total: u64,
    /// Whether there are older ones.
    pub has_more: bool,
}

/// A page of the caller's runs, newest first.
///
/// # Errors
///
/// [`Error::Internal`] when the store cannot be read.
pub async fn list(
    app: &App,
    caller: &Caller,
    filter: Filter,
    window: Window,
) -> Result<Page, Error> {
    let account = caller.account;
    let scan = app.0.store.scan(move |view| {
        let page = runs_list::scan(view, account, &filter, window)?;
        let full = page.runs.into_iter().map(|run| {
            let output = match run.status {
                Status::Succeeded | Status::NoSignal => {
                    find_text(view, account, run.id, Part::Output)?
                }
                Status::Pending | Status::Running | Status::Failed => None,
            };
            Ok(FullRun { run, output })
        });
        let runs = full.collect::<Result<_, Error>>()?;
        Ok::<_, Error>(Page { runs, total: page.total, has_more: page.has_more })
    });
    scan.await
}
