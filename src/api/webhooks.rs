//! Receivers and their logs. Source: service interface, "Webhook receivers"; the contract,
//! section 8.

use std::collections::BTreeSet;

use serde_json::json;

use crate::api::error::Failure;
use crate::api::gate::Request;
use crate::api::json::{Fields, required};
use crate::api::paging::{Envelope, Query, wrong};
use crate::api::view;
use crate::api::webhook_view::{DeliveryView, ReceiverView, reached};
use crate::app::delivery_log::{self, LogFilter, Since};
use crate::app::receivers::{self, Connected, Secret, Which};
use crate::app::{App, Error, InputProblem};
use crate::domain::delivery::Status;
use crate::domain::id::Id;
use crate::domain::limits::{RECOVER_SPAN_MAX, URL_BYTES_MAX};
use crate::domain::time::Timestamp;
use crate::inbound::Response;

/// Connects a receiver: 201 with its secret, which is never shown again.
pub(in crate::api) async fn create(app: &App, request: Request) -> Result<Response, Failure> {
    let caller = request.caller.clone();
    let mut fields = Fields::new(request.object(BODY_BYTES_MAX).await?);
    let url = required("url", fields.text("url")?)?;
    fields.finish()?;
    let connected = receivers::connect(app, &caller, &url, Secret::Fresh).await?;
    let Connected { receiver, secret, is_resolved } = connected;
    let shown = json!({
        "id": receiver.id.to_string(),
        "url": receiver.url,
        "secret": secret.reveal(),
        "status": "active",
        "created_at": receiver.created_at.to_string(),
        "warning": (!is_resolved).then_some("dns_unresolved"),
    });
    let location = format!("/v1/webhooks/{}", receiver.id);
    Ok(view::json(201, &shown).with_header("location", &location))
}

/// Lists the receivers, oldest first.
pub(in crate::api) fn list(app: &App, request: &Request) -> Result<Response, Failure> {
    let mut query = Query::of(&request.head)?;
    let page = query.page()?;
    let which = match query.take("include")?.as_deref() {
        None => Which::Active,
        Some("disabled") => Which::All,
        Some(_) => return Err(wrong("include", "must be disabled")),
    };
    query.finish()?;
    let found = receivers::list(app, &request.caller, which)?;
    let views = found.iter().map(ReceiverView::of).collect();
    Ok(view::json(200, &Envelope::cut(views, page)))
}

/// Shows a receiver. An extension of the interface.
pub(in crate::api) fn find(app: &App, request: &Request) -> Result<Response, Failure> {
    let found = receivers::find(app, &request.caller, request.id()?)?;
    Ok(view::json(200, &ReceiverView::of(&found)))
}

/// Disables a receiver: 204, also when it is disabled already.
pub(in crate::api) async fn delete(app: &App, request: &Request) -> Result<Response, Failure> {
    receivers::disable(app, &request.caller, request.id()?).await?;
    Ok(Response::empty(204))
}

/// Tries whether a receiver can be reached, and sends no event. An extension of the interface.
pub(in crate::api) async fn test(app: &App, request: &Request) -> Result<Response, Failure> {
    let outcome = receivers::test(app, &request.caller, request.id()?).await?;
    Ok(view::json(200, &reached(&outcome)))
}

/// Shows the log of a receiver, newest first.
pub(in crate::api) async fn deliveries(app: &App, request: &Request) -> Result<Response, Failure> {
    let receiver = request.id()?;
    let mut query = Query::of(&request.head)?;
    let page = query.page()?;
    let filter = LogFilter {
        statuses: statuses(&query.take_all("status"))?,
        event: match query.take("event_id")? {
            Some(text) => {
                Some(Id::parse(&text).ok_or_else(|| wrong("event_id", "must be an event's id"))?)
            }
            None => None,
        },
        created_after: query.time("created_after")?,
        created_before: query.time("created_before")?,
    };
    let with_attempts = match query.take("include")?.as_deref() {
        None => false,
        Some("attempts") => true,
        Some(_) => return Err(wrong("include", "must be attempts")),
    };
    query.finish()?;
    let window = (page.offset as usize, page.limit as usize);
    let found = delivery_log::list(app, &request.caller, receiver, filter, window).await?;
    let shown = |it| if with_attempts { DeliveryView::whole(it) } else { DeliveryView::of(it) };
    let views = found.deliveries.iter().map(shown).collect();
    Ok(view::json(200, &Envelope::new(views, found.total, page, found.has_more)))
}

/// Sends an event again: 202 with the delivery. An extension of the interface.
pub(in crate::api) async fn resend(app: &App, request: &Request) -> Result<Response, Failure> {
    let (receiver, delivery) = (request.id()?, request.second_id()?);
    let made = delivery_log::resend(app, &request.caller, receiver, delivery).await?;
    Ok(view::json(202, &DeliveryView::of(&made)))
}

/// Sends again what has failed in a span of time: 202 with their number. An extension of the
/// interface.
pub(in crate::api) async fn recover(app: &App, request: Request) -> Result<Response, Failure> {
    let (caller, receiver) = (request.caller.clone(), request.id()?);
    let now = app.clock().now();
    let mut fields = Fields::new(request.object(BODY_BYTES_MAX).await?);
    let since = required("since", time(&mut fields, "since")?)?;
    let until = time(&mut fields, "until")?.unwrap_or(now);
    fields.finish()?;
    if since >= until || until.since(since) > RECOVER_SPAN_MAX {
        let problem = "must be before `until`, by 14 days at most".to_owned();
        return Err(field("since", problem));
    }
    let made = delivery_log::recover(app, &caller, receiver, Since { since, until }).await?;
    Ok(view::json(202, &json!({ "deliveries": made })))
}

/// The statuses that were named, each once.
fn statuses(texts: &[String]) -> Result<Vec<Status>, Failure> {
    let problem = "must be pending, retrying, delivered, failed or cancelled";
    let parsed = texts.iter().map(|it| Status::parse(it).ok_or_else(|| wrong("status", problem)));
    let distinct: BTreeSet<Status> = parsed.collect::<Result<_, _>>()?;
    Ok(distinct.into_iter().collect())
}

fn time(fields: &mut Fields, name: &str) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = fields.text(name)? else { return Ok(None) };
    let problem = "must be a time such as 2026-01-01T00:00:00Z";
    Timestamp::parse(&text).map(Some).ok_or_else(|| field(name, problem.to_owned()))
}

fn field(name: &str, problem: String) -> Failure {
    Failure::App(Error::Input { param: name.to_owned(), problem: InputProblem::Value(problem) })
}

/// Bytes of a body here: a URL and its name.
const BODY_BYTES_MAX: usize = 2 * URL_BYTES_MAX + 1024;
