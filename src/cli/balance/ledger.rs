//! `errand balance ledger`: every change of a balance, as a table, as JSON or as CSV.

use serde_json::{Value, json};

use crate::cli::balance::args::LedgerArgs;
use crate::cli::balance::csv::{self, Cell};
use crate::cli::client::Ask;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::reach::{Missing, Reach};
use crate::cli::shown::{field, id, items, time};
use crate::domain::account::{AccountId, KeyId};
use crate::domain::limits::PAGE_ITEMS_MAX;
use crate::domain::time::Timestamp;

/// What is left to ask for.
struct Wanted {
    /// The path and the filters.
    path: String,
    /// Where the next page begins; at the end of the ledger when `None`.
    before: Option<u64>,
    /// Lines that are still wanted.
    left: usize,
}

/// Shows the lines that are wanted.
pub(super) async fn run(here: &Here, args: &LedgerArgs) -> Result<(), Failure> {
    let account: AccountId = id(&args.id, "account")?;
    let path = format!("/accounts/{account}/ledger?{}", filters(args)?);
    let left = if args.all { usize::MAX } else { args.limit as usize };
    let mut wanted = Wanted { path, before: args.before, left };
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let out = &here.out;
    if out.is_csv() {
        print_csv(out, &reach, &mut wanted).await?;
    } else {
        let mut rows = Vec::new();
        while let Some(mut page) = wanted.next(&reach).await? {
            rows.append(&mut page);
        }
        if out.is_json() {
            out.json(&json!({ "data": rows, "next_before": wanted.before }))?;
        } else {
            print_table(out, &rows, wanted.before)?;
        }
    }
    reach.close(out)
}

impl Wanted {
    /// The next page; `None` when there is none or enough was seen.
    async fn next(&mut self, reach: &Reach) -> Result<Option<Vec<Value>>, Failure> {
        if self.left == 0 {
            return Ok(None);
        }
        let limit = self.left.min(PAGE_ITEMS_MAX as usize);
        let before = self.before.map_or_else(String::new, |it| format!("&before={it}"));
        let ask = Ask::get(format!("{}limit={limit}{before}", self.path));
        let found = reach.ask(&ask).await?;
        self.before = found.get("next_before").and_then(Value::as_u64);
        let page = items(&found).to_vec();
        self.left = self.left.saturating_sub(page.len());
        if self.before.is_none() {
            self.left = 0;
        }
        Ok(Some(page))
    }
}

fn print_table(out: &Output, rows: &[Value], before: Option<u64>) -> Result<(), Failure> {
    let head = ["SEQ", "AT", "KIND", "AMOUNT", "BALANCE", "REFERENCE", "KEY", "NOTE"];
    let names = ["seq", "kind", "amount", "balance_after", "reference", "key_id", "note"];
    let row = |it: &Value| {
        let [seq, kind, amount, after, reference, key, note] = names.map(|name| field(it, name));
        vec![seq, time(it, "at"), kind, amount, after, reference, key, note]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    out.table(&head, &rows, "No such line was booked.")?;
    match before {
        Some(before) => out.facts(&[("more", format!("--before {before}, or --all"))]),
        None => Ok(()),
    }
}

/// Prints page after page, so that a long ledger needs no memory.
async fn print_csv(out: &Output, reach: &Reach, wanted: &mut Wanted) -> Result<(), Failure> {
    // The first page comes before the head: a refusal prints nothing.
    let mut page = wanted.next(reach).await?;
    out.text(&csv::line(&COLUMNS.map(Cell::Ours)))?;
    while let Some(rows) = page {
        out.text(&rows.iter().map(csv_line).collect::<String>())?;
        page = wanted.next(reach).await?;
    }
    Ok(())
}

fn csv_line(row: &Value) -> String {
    let cells = COLUMNS.map(|name| match row.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => {
            other.to_string()
        }
    });
    let cell = |(name, text): (&&str, _)| {
        if *name == "note" { Cell::Theirs(text) } else { Cell::Ours(text) }
    };
    let texts = cells.iter().map(String::as_str);
    csv::line(&COLUMNS.iter().zip(texts).map(cell).collect::<Vec<_>>())
}

/// The filters as a query; ends so that another parameter can follow.
fn filters(args: &LedgerArgs) -> Result<String, Failure> {
    let mut query = String::new();
    let mut add = |name: &str, value: &str| query.push_str(&format!("{name}={value}&"));
    if let Some(kind) = &args.kind {
        add("kind", kind);
    }
    if let Some(key) = &args.key {
        let key: KeyId = id(key, "key")?;
        add("key", &key.to_string());
    }
    for (name, text) in [("since", &args.since), ("until", &args.until)] {
        if let Some(text) = text {
            let wrong = || {
                let what = format!(
                    "--{name} must be a day or a time such as 2026-01-31 or \
                     2026-01-31T12:00:00Z, not {text:?}"
                );
                Failure::new(Exit::Usage, what)
            };
            let at = moment(text).ok_or_else(wrong)?;
            add(name, &at.to_string().replace('+', "%2B"));
        }
    }
    Ok(query)
}

/// A time, or the beginning of a day in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}T00:00:00Z")))
}

/// The columns of the CSV, named as the fields of the answer.
const COLUMNS: [&str; 8] =
    ["seq", "at", "kind", "amount", "balance_after", "reference", "key_id", "note"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_first_moment() {
        assert_eq!(moment("2026-01-31"), Timestamp::parse("2026-01-31T00:00:00Z"));
        assert_eq!(moment("2026-01-31T01:00:00+01:00"), moment("2026-01-31"));
        for text in ["", "yesterday", "2026-02-30", "2026-1-1", "2026-01-31T", "30d"] {
            assert_eq!(moment(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_line_has_every_column_and_only_the_note_is_somebodys() {
        let row = json!({
            "seq": 7, "at": "t", "kind": "debit", "amount": "-1", "balance_after": "0",
            "reference": null, "key_id": null, "note": "-1, \"back\"",
        });
        assert_eq!(csv_line(&row), "7,t,debit,-1,0,,,\"'-1, \"\"back\"\"\"\r\n");
    }
}
