//! The operator's look at keys: make, list, show, change and revoke them.
//!
//! A restriction that is not named stays, and the word `off` lifts it.

use serde_json::{Map, Value, json};

use crate::api::admin::{body, field, named};
use crate::api::error::Failure;
use crate::api::json::{Fields, required};
use crate::api::paging::Query;
use crate::api::{key_view, view};
use crate::app::keys::NewKey;
use crate::app::{App, keys};
use crate::domain::account::{KeyId, KeyRecord, Right, Rights};
use crate::domain::budget::{Budget, Period};
use crate::domain::money::Amount;
use crate::domain::restrictions::{
    CONCURRENCY_MAX, Change, ITEMS_MAX, KindName, ModelPattern, Only, REQUESTS_PER_MINUTE_MAX,
    Restrictions, Set, origin,
};
use crate::inbound::{Head, Method, Request, Response};

/// Answers what is asked below `/keys`.
pub(in crate::api) async fn call(
    app: &App,
    request: Request,
    path: &[&str],
) -> Result<Response, Failure> {
    match (request.head.method, path) {
        (Method::Get, ["keys"]) => list(app, &request.head),
        (Method::Post, ["keys"]) => create(app, body(request).await?).await,
        (Method::Get, ["keys", id]) => shown(app, &keys::find(app, named(id)?)?),
        (Method::Post, ["keys", id, "update"]) => {
            update(app, named(id)?, body(request).await?).await
        }
        (Method::Post, ["keys", id, "revoke"]) => revoke(app, named(id)?).await,
        _ => Err(Failure::NoRoute),
    }
}

fn list(app: &App, head: &Head) -> Result<Response, Failure> {
    let mut query = Query::of(head)?;
    let account = query.take("account")?.map(|it| named(&it)).transpose()?;
    query.finish()?;
    let (found, now) = (keys::list(app, account), app.clock().now());
    let shown = |it: &KeyRecord| Ok(key_view::of_operator(it, &keys::spend(app, it.id)?, now));
    let data = found.iter().map(shown).collect::<Result<Vec<_>, Failure>>()?;
    Ok(view::json(200, &json!({ "data": data })))
}

async fn create(app: &App, body: Map<String, Value>) -> Result<Response, Failure> {
    let mut fields = Fields::new(body);
    let account = required("account", fields.text("account")?)?;
    let name = required("name", fields.text("name")?)?;
    let rights = required("rights", fields.texts("rights")?)?;
    let rights =
        rights.iter().try_fold(Rights::NONE, |all, it| Right::parse(it).map(|it| all.with(it)));
    let rights = rights.ok_or_else(|| field("rights", "must be a list of models and agents"))?;
    let lifetime = fields.seconds("expires_in_s")?;
    let restrictions = Restrictions::default().changed(&change(&mut fields)?);
    fields.finish()?;
    let account = named(&account)?;
    let new = NewKey { account, name: &name, rights, lifetime, restrictions };
    let (key, record) = keys::create_restricted(app, new).await?;
    let created = json!({
        "id": record.id.to_string(),
        "key": key.reveal(),
        "rights": record.rights.names(),
    });
    Ok(view::json(201, &created))
}

async fn update(app: &App, id: KeyId, body: Map<String, Value>) -> Result<Response, Failure> {
    let mut fields = Fields::new(body);
    let name = fields.text("name")?;
    let change = change(&mut fields)?;
    fields.finish()?;
    shown(app, &keys::update(app, id, name.as_deref(), change).await?)
}

async fn revoke(app: &App, id: KeyId) -> Result<Response, Failure> {
    let record = keys::revoke(app, id).await?;
    let revoked_at = record.revoked_at.map(|it| it.to_string());
    Ok(view::json(200, &json!({ "id": record.id.to_string(), "revoked_at": revoked_at })))
}

fn shown(app: &App, key: &KeyRecord) -> Result<Response, Failure> {
    let spend = keys::spend(app, key.id)?;
    Ok(view::json(200, &key_view::of_operator(key, &spend, app.clock().now())))
}

/// What is to become of the restrictions.
fn change(fields: &mut Fields) -> Result<Change, Failure> {
    let model = |text: &str| {
        ModelPattern::parse(text).ok_or("must be a model such as vendor/name, or vendor/*".into())
    };
    let kind =
        |text: &str| KindName::parse(text).ok_or("must be a kind such as seo_audit".to_owned());
    let network = |text: &str| origin(text).map_err(|it| format!("is {it}"));
    Ok(Change {
        models: list_of(fields, "models", model)?,
        kinds: list_of(fields, "kinds", kind)?,
        networks: list_of(fields, "networks", network)?,
        requests_per_minute: number(fields, "requests_per_minute", REQUESTS_PER_MINUTE_MAX)?,
        concurrency: number(fields, "concurrency", CONCURRENCY_MAX)?,
        strict: fields.flag("strict")?,
        budget: budget(fields)?,
    })
}

/// A list of items, the word `off`, or nothing.
fn list_of<T: PartialEq>(
    fields: &mut Fields,
    name: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Set<Only<T>>, Failure> {
    if fields.take_off(name) {
        return Ok(Set::Off);
    }
    let Some(texts) = fields.texts(name)? else { return Ok(Set::Keep) };
    let item = |(at, text): (usize, &String)| {
        read(text).map_err(|problem| field(&format!("{name}[{at}]"), &problem))
    };
    let items = texts.iter().enumerate().map(item).collect::<Result<Vec<T>, Failure>>()?;
    let wrong = || field(name, &format!("must have 1 to {ITEMS_MAX} items"));
    Only::new(items).map(Set::To).ok_or_else(wrong)
}

/// A number from one, the word `off`, or nothing.
fn number(fields: &mut Fields, name: &str, max: u32) -> Result<Set<u32>, Failure> {
    if fields.take_off(name) {
        return Ok(Set::Off);
    }
    Ok(fields.count(name, 1..=max)?.map_or(Set::Keep, Set::To))
}

/// A budget, the word `off`, or nothing.
fn budget(fields: &mut Fields) -> Result<Set<Budget>, Failure> {
    if fields.take_off("budget") {
        return Ok(Set::Off);
    }
    let Some(object) = fields.object("budget")? else { return Ok(Set::Keep) };
    let budget = budget_of(object).map_err(|failure| {
        if let Failure::Field { param, problem } = failure {
            Failure::Field { param: format!("budget.{param}"), problem }
        } else {
            failure
        }
    });
    Ok(Set::To(budget?))
}

fn budget_of(object: Map<String, Value>) -> Result<Budget, Failure> {
    let mut fields = Fields::new(object);
    let amount = required("amount", fields.text("amount")?)?;
    let period = fields.text("period")?;
    fields.finish()?;
    let amount = Amount::parse(&amount).map_err(|it| field("amount", &format!("is {it}")))?;
    let unknown = || field("period", "must be none, day or month");
    let period = period.map(|it| Period::parse(&it).ok_or_else(unknown)).transpose()?;
    let budget = Budget::new(amount, period.unwrap_or_default());
    budget.ok_or_else(|| field("amount", "must be above zero"))
}
