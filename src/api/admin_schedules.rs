//! The operator's look at schedules: the same operations as the public ones, for any account.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::error::Failure;
use crate::api::json;
use crate::api::paging::{Envelope, Query};
use crate::api::schedule_view::ScheduleView;
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
            schedules::ticks_for(app, owner, id, &request.head)
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
    let only = query.take("account")?.map(|it| named(&it)).transpose()?;
    let page = query.page()?;
    query.finish()?;
    let (offset, limit) = (page.offset as usize, page.limit as usize);
    let found = match only {
        Some(id) => {
            let (account, _) = accounts::find(app, id)?;
            let owner = Owner { account: account.id, key: None, currency: account.currency };
            kept::list(app, owner, offset, limit)?
        }
        None => kept::list_all(app, offset, limit)?,
    };
    let views = found
        .schedules
        .iter()
        .map(|it| OwnedView { account: it.schedule.account, schedule: ScheduleView::of(it) });
    let envelope = Envelope::new(views.collect(), found.total, page, page.goes_on(found.total));
    Ok(view::json(200, &envelope))
}

/// A schedule, and whose it is.
#[derive(Serialize)]
struct OwnedView<'a> {
    #[serde(flatten)]
    schedule: ScheduleView<'a>,
    #[serde(serialize_with = "view::text")]
    account: AccountId,
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
