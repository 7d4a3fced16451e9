//! `errand key`: what callers show.

use serde_json::{Value, json};

use crate::cli::args::KeyVerb;
use crate::cli::client::Ask;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::reach::{Missing, Reach};
use crate::cli::shown::{field, id, items, time};
use crate::config::parse_duration;
use crate::domain::account::{AccountId, KeyId, Rights};

/// Does what was asked.
pub(super) async fn run(here: &Here, verb: KeyVerb) -> Result<(), Failure> {
    match verb {
        KeyVerb::Create { account, name, rights, expires } => {
            let account = id(&account, "account")?;
            create(here, account, &name, &rights, expires.as_deref()).await
        }
        KeyVerb::List { account } => {
            let account = account.map(|it| id(&it, "account")).transpose()?;
            list(here, account).await
        }
        KeyVerb::Revoke { id: text } => revoke(here, id(&text, "key")?).await,
    }
}

async fn create(
    here: &Here,
    account: AccountId,
    name: &str,
    rights: &str,
    expires: Option<&str>,
) -> Result<(), Failure> {
    let known = Rights::parse(rights).ok_or_else(|| {
        let what = format!("--rights must be models, agents or both with a comma, not {rights:?}");
        Failure::new(Exit::Usage, what)
    })?;
    let lifetime = expires.map(|it| {
        let span = parse_duration(it).filter(|it| it.as_secs() > 0);
        let what = format!("--expires must be a time such as 90d or 12h, not {it:?}");
        span.ok_or_else(|| Failure::new(Exit::Usage, what))
    });
    let lifetime = lifetime.transpose()?.map(|it| it.as_secs());
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let body = json!({
        "account": account.to_string(),
        "name": name,
        "rights": known.names(),
        "expires_in_s": lifetime,
    });
    let made = reach.ask(&Ask::post("/keys", body)).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&made)?;
    } else {
        out.line(out.strong(&field(&made, "key")))?;
        out.line("This is the only time the key is shown: keep it now.")?;
        out.facts(&[
            ("id", field(&made, "id")),
            ("rights", field(&made, "rights")),
            ("expires", expires.map_or_else(|| "never".to_owned(), |it| format!("in {it}"))),
        ])?;
    }
    reach.close(out)
}

async fn list(here: &Here, account: Option<AccountId>) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let path = account.map_or_else(|| "/keys".to_owned(), |it| format!("/keys?account={it}"));
    let found = reach.ask(&Ask::get(path)).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&found)?;
    } else {
        let head = ["ID", "KEY", "NAME", "RIGHTS", "ACCOUNT", "STATE"];
        let row = |it: &Value| {
            let hint = format!("{}…", field(it, "hint"));
            let [id, name, rights, account] =
                ["id", "name", "rights", "account"].map(|name| field(it, name));
            vec![id, hint, name, rights, account, state(it)]
        };
        let rows: Vec<Vec<String>> = items(&found).iter().map(row).collect();
        out.table(&head, &rows, "There is no key: errand key create --account ID --name NAME")?;
    }
    reach.close(out)
}

/// Whether a key opens anything, and until or since when.
fn state(key: &Value) -> String {
    let is_there = |name| key.get(name).is_some_and(|it| !it.is_null());
    if is_there("revoked_at") {
        format!("revoked {}", time(key, "revoked_at"))
    } else if is_there("expires_at") {
        format!("until {}", time(key, "expires_at"))
    } else {
        "good".to_owned()
    }
}

async fn revoke(here: &Here, id: KeyId) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let done = reach.ask(&Ask::post(format!("/keys/{id}/revoke"), json!({}))).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&done)?;
    } else {
        out.line(out.strong("The key opens nothing any more."))?;
        out.facts(&[("id", field(&done, "id")), ("revoked", time(&done, "revoked_at"))])?;
    }
    reach.close(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_good_until_it_is_not() {
        let at = "2026-01-01T00:00:00.000+00:00";
        assert_eq!(state(&json!({ "revoked_at": null, "expires_at": null })), "good");
        assert_eq!(state(&json!({ "expires_at": at })), "until 2026-01-01 00:00:00 UTC");
        let revoked = json!({ "expires_at": at, "revoked_at": at });
        assert_eq!(state(&revoked), "revoked 2026-01-01 00:00:00 UTC");
    }
}
