//! The operator's look at schedules: the same operations as the public ones, for any account.

use serde_json::{Map, Value, json};

use crate::api::error::Failure;
use crate::api::json;
use crate::api::paging::Query;
use crate::api::schedule_view::{ScheduleView, TickView};
use crate::api::{schedules, view};
use crate::app::{App, Error, accounts, schedules as kept};
use crate::domain::account::{AccountId, Owner};
use crate::domain::id::Id;
use crate::domain::limits::BODY_BYTES_MAX;
use crate::domain::run::ScheduleId;
use crate::inbound::{Head, Method, Request, Response};

/// Answers what is asked below `/schedules` and `/accounts/ID/schedules`.
pub(in crate::api) async fn call(
    app: &App,
    request: Request,
    path: &[&str],
) -> Result<Response, Failure> {
    match (request.head.method, path) {
        (Method::Get, ["schedules"]) => list(app, &request.head),
        (Method::Post, ["accounts", account, "schedules"]) => {
            let (account, _) = accounts::find(app, named(account)?)?;
            let owner = Owner { account: account.id, key: None, currency: account.currency };
            schedules::create_for(app, owner, body(request).await?).await
        }
        (Method::Get, ["schedules", id]) => {
            let (owner, id) = owned(app, id)?;
            schedules::find_for(app, owner, id)
        }
        (Method::Get, ["schedules", id, "ticks"]) => {
            let (owner, id) = owned(app, id)?;
            let log = kept::log(app, owner, id, 0, TICKS_SHOWN)?;
            let ticks: Vec<_> = log.ticks.iter().map(TickView::of).collect();
            Ok(view::json(200, &json!({ "data": ticks, "total": log.total })))
        }
        (Method::Post, ["schedules", id, "change"]) => {
            let (owner, id) = owned(app, id)?;
            schedules::patch_for(app, owner, id, body(request).await?).await
        }
        (Method::Post, ["schedules", id, "run"]) => {
            let (owner, id) = owned(app, id)?;
            schedules::run_for(app, owner, id).await
        }
        (Method::Post, ["schedules", id, "delete"]) => {
            let (owner, id) = owned(app, id)?;
            kept::delete(app, owner, id).await?;
            Ok(view::json(200, &json!({ "id": id.to_string(), "deleted": true })))
        }
        _ => Err(Failure::NoRoute),
    }
}

/// All schedules, or those of one account.
fn list(app: &App, head: &Head) -> Result<Response, Failure> {
    let mut query = Query::of(head)?;
    let only = query.take("account")?.map(|it| named::<_>(&it)).transpose()?;
    query.finish()?;
    let only: Option<AccountId> = only;
    let mut data = Vec::new();
    for account in accounts::list(app)? {
        if only.is_some_and(|it| it != account.id) {
            continue;
        }
        let owner = Owner { account: account.id, key: None, currency: account.currency };
        for found in kept::list(app, owner)? {
            let mut shown = serde_json::to_value(ScheduleView::of(&found, &account.currency))
                .unwrap_or(Value::Null);
            if let Some(shown) = shown.as_object_mut() {
                shown.insert("account".to_owned(), account.id.to_string().into());
            }
            data.push(shown);
        }
    }
    Ok(view::json(200, &json!({ "data": data })))
}

/// A schedule by its id alone, and whose it is.
fn owned(app: &App, id: &str) -> Result<(Owner, ScheduleId), Failure> {
    let id = named(id)?;
    Ok((kept::owner_of(app, id)?, id))
}

async fn body(request: Request) -> Result<Map<String, Value>, Failure> {
    let bytes = request.read(BODY_BYTES_MAX).await.map_err(Failure::Body)?;
    json::object(&bytes)
}

fn named<T>(id: &str) -> Result<Id<T>, Failure> {
    Id::parse(id).ok_or(Failure::App(Error::NotFound))
}

/// Lines of a log that the operator sees.
const TICKS_SHOWN: usize = 20;
