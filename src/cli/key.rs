//! `errand key`: what callers show.

mod args;

use serde_json::{Map, Value, json};

use crate::cli::client::Ask;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::reach::{Missing, Reach};
use crate::cli::shown::{field, id, items, time};
use crate::config::parse_duration;
use crate::domain::account::{AccountId, KeyId, Rights};
use crate::domain::budget::Budget;

pub(super) use args::KeyVerb;
use args::{CreateArgs, RestrictionArgs, UpdateArgs};

/// Does what was asked.
pub(super) async fn run(here: &Here, verb: KeyVerb) -> Result<(), Failure> {
    match verb {
        KeyVerb::Create(args) => create(here, &args).await,
        KeyVerb::List { account } => {
            let account = account.map(|it| id(&it, "account")).transpose()?;
            list(here, account).await
        }
        KeyVerb::Show { id: text } => {
            let id: KeyId = id(&text, "key")?;
            one(here, &Ask::get(format!("/keys/{id}"))).await
        }
        KeyVerb::Update(args) => update(here, &args).await,
        KeyVerb::Revoke { id: text } => revoke(here, id(&text, "key")?).await,
    }
}

async fn create(here: &Here, args: &CreateArgs) -> Result<(), Failure> {
    let account: AccountId = id(&args.account, "account")?;
    let rights = Rights::parse(&args.rights).ok_or_else(|| {
        usage(format!(
            "--rights must be models, agents or both with a comma, not {:?}",
            args.rights
        ))
    })?;
    let lifetime = args.expires.as_deref().map(|it| {
        let span = parse_duration(it).filter(|it| it.as_secs() > 0);
        span.ok_or_else(|| {
            usage(format!("--expires must be a time such as 90d or 12h, not {it:?}"))
        })
    });
    let mut body = restrictions(&args.restrictions)?;
    body.insert("account".to_owned(), json!(account.to_string()));
    body.insert("name".to_owned(), json!(args.name));
    body.insert("rights".to_owned(), json!(rights.names()));
    body.insert("expires_in_s".to_owned(), json!(lifetime.transpose()?.map(|it| it.as_secs())));
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let made = reach.ask(&Ask::post("/keys", Value::Object(body))).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&made)?;
    } else {
        let expires = args.expires.as_ref();
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

async fn update(here: &Here, args: &UpdateArgs) -> Result<(), Failure> {
    let id: KeyId = id(&args.id, "key")?;
    let mut body = restrictions(&args.restrictions)?;
    if let Some(name) = &args.name {
        body.insert("name".to_owned(), json!(name));
    }
    if body.is_empty() {
        return Err(usage("nothing is named that is to change".to_owned()));
    }
    one(here, &Ask::post(format!("/keys/{id}/update"), Value::Object(body))).await
}

/// The fields of the restrictions that were named.
fn restrictions(args: &RestrictionArgs) -> Result<Map<String, Value>, Failure> {
    let fields = [
        ("models", args.models.as_deref().map(list_of)),
        ("kinds", args.kinds.as_deref().map(list_of)),
        ("networks", args.networks.as_deref().map(list_of)),
        ("requests_per_minute", number(args.rpm.as_deref(), "--rpm")?),
        ("concurrency", number(args.concurrency.as_deref(), "--concurrency")?),
        ("strict", args.strict.map(Value::Bool)),
        ("budget", budget(args.budget.as_deref())?),
    ];
    let named = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(named.collect())
}

fn list_of(items: &[String]) -> Value {
    match items {
        [one] if one == OFF => json!(OFF),
        items => json!(items.iter().map(|it| it.trim()).collect::<Vec<_>>()),
    }
}

fn number(text: Option<&str>, flag: &str) -> Result<Option<Value>, Failure> {
    match text {
        None => Ok(None),
        Some(OFF) => Ok(Some(json!(OFF))),
        Some(text) => match text.parse::<u32>() {
            Ok(number) => Ok(Some(json!(number))),
            Err(_) => Err(usage(format!("{flag} must be a whole number or {OFF}, not {text:?}"))),
        },
    }
}

fn budget(text: Option<&str>) -> Result<Option<Value>, Failure> {
    match text {
        None => Ok(None),
        Some(OFF) => Ok(Some(json!(OFF))),
        Some(text) => match Budget::parse(text) {
            Some(budget) => Ok(Some(json!({
                "amount": budget.amount().to_string(),
                "period": budget.period().as_str(),
            }))),
            None => Err(usage(format!(
                "--budget must be an amount above zero such as 10, 10/month or 0.5/day, \
                 or {OFF}, not {text:?}"
            ))),
        },
    }
}

fn usage(what: String) -> Failure {
    Failure::new(Exit::Usage, what)
}

async fn list(here: &Here, account: Option<AccountId>) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let path = account.map_or_else(|| "/keys".to_owned(), |it| format!("/keys?account={it}"));
    let found = reach.ask(&Ask::get(path)).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&found)?;
    } else {
        let head = ["ID", "KEY", "NAME", "RIGHTS", "ACCOUNT", "STATE", "LAST USED", "RESTRICTED"];
        let row = |it: &Value| {
            let [id, name, rights, account] =
                ["id", "name", "rights", "account"].map(|name| field(it, name));
            let used = time(it, "last_used_at");
            vec![id, hint(it), name, rights, account, state(it), used, restricted(it)]
        };
        let rows: Vec<Vec<String>> = items(&found).iter().map(row).collect();
        out.table(&head, &rows, "There is no key: errand key create --account ID --name NAME")?;
    }
    reach.close(out)
}

/// Asks for one key and shows it.
async fn one(here: &Here, ask: &Ask) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let key = reach.ask(ask).await?;
    print_key(&here.out, &key)?;
    reach.close(&here.out)
}

fn print_key(out: &Output, key: &Value) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(key);
    }
    out.line(out.strong(&field(key, "name")))?;
    out.facts(&[
        ("id", field(key, "id")),
        ("key", hint(key)),
        ("account", field(key, "account")),
        ("rights", field(key, "rights")),
        ("state", state(key)),
        ("created", time(key, "created_at")),
        ("last used", time(key, "last_used_at")),
        ("models", field(key, "models")),
        ("kinds", field(key, "kinds")),
        ("networks", field(key, "networks")),
        ("rpm", field(key, "requests_per_minute")),
        ("chats", field(key, "concurrency")),
        ("strict", field(key, "strict")),
        ("budget", spent(key).unwrap_or_else(|| "-".to_owned())),
    ])
}

/// The beginning of a key.
fn hint(key: &Value) -> String {
    format!("{}…", field(key, "hint"))
}

/// What a key is restricted to, in few words.
fn restricted(key: &Value) -> String {
    let is_there =
        |name: &&&str| key.get(**name).is_some_and(|it| !it.is_null() && *it != Value::Bool(false));
    let names = ["models", "kinds", "networks", "requests_per_minute", "concurrency", "strict"];
    let mut words: Vec<String> = names.iter().filter(is_there).map(short).collect();
    words.extend(spendable(key));
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

/// A restriction by the name of its flag.
fn short(name: &&str) -> String {
    if *name == "requests_per_minute" { "rpm".to_owned() } else { (*name).to_owned() }
}

/// A budget as it is typed.
fn spendable(key: &Value) -> Option<String> {
    let budget = key.get("budget").filter(|it| !it.is_null())?;
    let (amount, period) = (field(budget, "amount"), field(budget, "period"));
    Some(if period == "none" { amount } else { format!("{amount}/{period}") })
}

/// A budget as it is typed, and how much of it is gone.
fn spent(key: &Value) -> Option<String> {
    let used = field(key.get("budget")?, "used");
    spendable(key).map(|it| format!("{it}, {used} used"))
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

/// The word that lifts a restriction.
const OFF: &str = "off";

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

    #[test]
    fn a_flag_that_cannot_be_meant_is_refused() {
        for text in ["", "x", "-1", "1.5", "4294967296", "Off"] {
            number(Some(text), "--rpm").unwrap_err();
        }
        for text in ["", "x", "-1", "0", "10/", "10/year", "Off"] {
            budget(Some(text)).unwrap_err();
        }
    }

    #[test]
    fn only_what_was_named_is_sent() {
        let text = |it: &str| Some(it.to_owned());
        let args = RestrictionArgs {
            models: Some(vec!["a".to_owned(), " b".to_owned()]),
            kinds: Some(vec!["off".to_owned()]),
            rpm: text("60"),
            concurrency: text("off"),
            budget: text("10.50/month"),
            strict: Some(false),
            ..RestrictionArgs::default()
        };
        let sent = json!({
            "models": ["a", "b"], "kinds": "off", "requests_per_minute": 60,
            "concurrency": "off", "strict": false,
            "budget": { "amount": "10.5", "period": "month" },
        });
        assert_eq!(Value::Object(restrictions(&args).unwrap()), sent);
        assert!(restrictions(&RestrictionArgs::default()).unwrap().is_empty());
    }

    #[test]
    fn restrictions_are_told_in_few_words() {
        let free = json!({ "models": null, "strict": false, "budget": null });
        assert_eq!(restricted(&free), "-");
        let bound = json!({
            "models": ["a"], "requests_per_minute": 5, "strict": true,
            "budget": { "amount": "10", "period": "none" },
        });
        assert_eq!(restricted(&bound), "models, rpm, strict, 10");
    }
}
