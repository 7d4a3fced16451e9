//! `errand doctor`: is everything in the data file as it must be?

use serde_json::Value;

use crate::cli::client::Ask;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::reach::{Missing, Reach};
use crate::cli::shown::{count, field};
use crate::store::Verify;

/// Checks the file, through the daemon or by itself.
pub(super) async fn run(here: &Here) -> Result<(), Failure> {
    let mut config = here.load()?.config;
    // Without a daemon, opening the file compares every page with its checksum.
    config.data.verify = Verify::Always;
    let reach = Reach::find(&config, Missing::Refuse).await?;
    let found = reach.ask(&Ask::slow("/doctor")).await?;
    let list = |name: &str| found.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (tables, problems) = (list("tables"), list("problems"));
    let more = found.get("more").and_then(Value::as_u64).unwrap_or(0);
    let all = more.saturating_add(u64::try_from(problems.len()).unwrap_or(u64::MAX));
    let is_ok = found.get("ok").and_then(Value::as_bool) == Some(true);
    let out = &here.out;
    if out.is_json() {
        out.json(&found)?;
    } else {
        let row = |it: &Value| vec![field(it, "name"), field(it, "rows")];
        let rows: Vec<Vec<String>> = tables.iter().map(row).collect();
        out.table(&["TABLE", "ROWS"], &rows, "There are no tables.")?;
        out.line("")?;
        for problem in problems.iter().filter_map(Value::as_str) {
            out.line(format!("  {problem}"))?;
        }
        if more > 0 {
            out.line(format!("  … and {more} more"))?;
        }
        if is_ok {
            let pages = if reach.is_offline() { "every page, " } else { "" };
            let what = format!("All good: {pages}every record, every index and every sum.");
            out.line(out.strong(&what))?;
        }
    }
    reach.close(out)?;
    if is_ok {
        return Ok(());
    }
    let what = format!("{} found", count(all, "problem"));
    Err(Failure::new(Exit::Failed, what).then("restore the newest backup of the data directory"))
}
