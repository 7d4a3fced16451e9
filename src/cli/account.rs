//! `errand account`: who owns and pays.

use serde_json::{Value, json};

use crate::cli::args::AccountVerb;
use crate::cli::client::Ask;
use crate::cli::command::Here;
use crate::cli::exit::Failure;
use crate::cli::reach::{Missing, Reach};
use crate::cli::shown::{field, id, items, time};
use crate::domain::account::AccountId;

/// Does what was asked.
pub(super) async fn run(here: &Here, verb: AccountVerb) -> Result<(), Failure> {
    match verb {
        AccountVerb::Create { name, currency } => create(here, &name, currency).await,
        AccountVerb::List => list(here).await,
        AccountVerb::Show { id: text } => show(here, id(&text, "account")?).await,
    }
}

async fn create(here: &Here, name: &str, currency: Option<String>) -> Result<(), Failure> {
    let loaded = here.load()?;
    let currency = currency.unwrap_or_else(|| loaded.config.billing.currency.to_string());
    let reach = Reach::find(&loaded.config, Missing::Begin).await?;
    let body = json!({ "name": name, "currency": currency });
    let made = reach.ask(&Ask::post("/accounts", body)).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&made)?;
    } else {
        let (id, data) = (field(&made, "id"), here.same_data());
        out.line(out.strong(&format!("account {} made", field(&made, "name"))))?;
        out.facts(&[
            ("id", id.clone()),
            ("currency", field(&made, "currency")),
            (
                "next",
                format!(
                    "errand balance credit {id} 10{data}\n\
                     errand key create --account {id} --name NAME{data}"
                ),
            ),
        ])?;
    }
    reach.close(out)
}

async fn list(here: &Here) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let found = reach.ask(&Ask::get("/accounts")).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&found)?;
    } else {
        let head = ["ID", "NAME", "CURRENCY", "BALANCE", "HELD", "AVAILABLE"];
        let names = ["id", "name", "currency", "balance", "held", "available"];
        let row = |it: &Value| names.map(|name| field(it, name)).to_vec();
        let rows: Vec<Vec<String>> = items(&found).iter().map(row).collect();
        out.table(&head, &rows, "There is no account yet: errand account create --name NAME")?;
    }
    reach.close(out)
}

async fn show(here: &Here, id: AccountId) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let found = reach.ask(&Ask::get(format!("/accounts/{id}"))).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&found)?;
    } else {
        let money = |name| format!("{} {}", field(&found, name), field(&found, "currency"));
        out.line(out.strong(&field(&found, "name")))?;
        out.facts(&[
            ("id", field(&found, "id")),
            ("balance", money("balance")),
            ("held", money("held")),
            ("available", money("available")),
            ("created", time(&found, "created_at")),
        ])?;
    }
    reach.close(out)
}
