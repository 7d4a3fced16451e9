//! `errand balance`: money that was put in, held and spent.

mod args;
mod csv;
mod ledger;

use serde_json::{Map, Value, json};

use crate::cli::client::Ask;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::reach::{Missing, Reach};
use crate::cli::shown::{count, field, id, money};
use crate::domain::account::AccountId;
use crate::domain::money::Amount;

pub(super) use args::BalanceVerb;

/// Does what was asked.
pub(super) async fn run(here: &Here, verb: BalanceVerb) -> Result<(), Failure> {
    match verb {
        BalanceVerb::Credit { id: text, amount, note } => {
            credit(here, id(&text, "account")?, &amount, note).await
        }
        BalanceVerb::Show { id: text } => show(here, id(&text, "account")?).await,
        BalanceVerb::Ledger(args) => ledger::run(here, &args).await,
        BalanceVerb::Verify => verify(here).await,
    }
}

async fn credit(
    here: &Here,
    id: AccountId,
    amount: &str,
    note: Option<String>,
) -> Result<(), Failure> {
    let change = Amount::parse(amount)
        .map_err(|why| Failure::new(Exit::Usage, format!("the amount {amount:?} is {why}")))?;
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let body = json!({ "amount": change.to_string(), "note": note });
    let balance = reach.ask(&Ask::post(format!("/accounts/{id}/credit"), body)).await?;
    let done = if change.is_negative() { "taken out" } else { "put in" };
    let size = change.to_string();
    let title = format!("{} {} {done}", size.trim_start_matches('-'), field(&balance, "currency"));
    print_balance(&here.out, &title, &balance)?;
    reach.close(&here.out)
}

async fn show(here: &Here, id: AccountId) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let account = reach.ask(&Ask::get(format!("/accounts/{id}"))).await?;
    print_balance(&here.out, &field(&account, "name"), &account)?;
    reach.close(&here.out)
}

fn print_balance(out: &Output, title: &str, balance: &Value) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(&only(balance, &["balance", "held", "available", "currency"]));
    }
    let currency = field(balance, "currency");
    out.line(out.strong(title))?;
    let fact = |name| (name, money(balance, name, &currency));
    out.facts(&["balance", "held", "available"].map(fact))
}

async fn verify(here: &Here) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let found = reach.ask(&Ask::slow("/ledger/verify")).await?;
    let number = |name| found.get(name).and_then(Value::as_u64).unwrap_or(0);
    let is_ok = found.get("ok").and_then(Value::as_bool) == Some(true);
    let faults = found.get("faults").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let (accounts, entries) = (count(number("accounts"), "account"), number("entries"));
    let out = &here.out;
    if out.is_json() {
        let names: &[&str] = &["ok", "accounts", "entries", "faults"];
        let shown = if faults.is_empty() { names.split_at(3).0 } else { names };
        out.json(&only(&found, shown))?;
    } else if is_ok {
        out.line(out.strong(&format!("All sums are right: {accounts}, {entries} entries.")))?;
    } else {
        out.line(out.strong(&format!("{} in {accounts}:", count_of(faults, "fault"))))?;
        for fault in faults.iter().filter_map(Value::as_str) {
            out.line(format!("  {fault}"))?;
        }
    }
    reach.close(out)?;
    if is_ok {
        return Ok(());
    }
    let what = format!("the ledger does not add up: {}", count_of(faults, "fault"));
    Err(Failure::new(Exit::Failed, what).then("`errand doctor` looks at the whole file"))
}

fn count_of(items: &[Value], noun: &str) -> String {
    count(u64::try_from(items.len()).unwrap_or(u64::MAX), noun)
}

/// These fields of an answer, in this order.
fn only(value: &Value, names: &[&str]) -> Value {
    let field = |name: &&str| value.get(*name).map(|it| ((*name).to_owned(), it.clone()));
    Value::Object(names.iter().filter_map(field).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_get_the_fields_they_rely_on_and_no_others() {
        let account = json!({ "id": "x", "currency": "EUR", "held": "0", "balance": "5" });
        let shown = only(&account, &["balance", "held", "available", "currency"]);
        assert_eq!(shown.to_string(), r#"{"balance":"5","held":"0","currency":"EUR"}"#);
    }
}
