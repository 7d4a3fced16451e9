//! `/agents/runs`: create, list, look at, cancel and delete runs.

use std::collections::BTreeSet;

use crate::api::error::Failure;
use crate::api::gate::Request;
use crate::api::json::{Fields, required};
use crate::api::paging::{Envelope, Query, wrong};
use crate::api::view::{self, RunView};
use crate::app::history::{self, Filter, Window};
use crate::app::runs::{self, NewRun};
use crate::app::{App, Error, steps};
use crate::domain::id::Id;
use crate::domain::limits::BODY_BYTES_MAX;
use crate::domain::run::Status;
use crate::inbound::Response;

/// Accepts a run: 201 with the record, which is then on disk.
pub(in crate::api) async fn create(app: &App, request: Request) -> Result<Response, Failure> {
    let caller = request.caller.clone();
    let mut fields = Fields::new(request.object(BODY_BYTES_MAX).await?);
    let new = NewRun {
        kind: required("kind", fields.text("kind")?)?,
        input: required("input", fields.object("input")?)?,
        external_id: fields.text("external_id")?,
    };
    fields.finish()?;
    let run = runs::create(app, &caller, new).await?;
    let location = format!("/v1/agents/runs/{}", run.id);
    let answer = view::json(201, &RunView::bare(&run, &caller.currency, app));
    Ok(answer.with_header("location", &location).with_header("retry-after", POLL_SECONDS))
}

/// Lists the history, newest first.
pub(in crate::api) async fn list(app: &App, request: &Request) -> Result<Response, Failure> {
    let mut query = Query::of(&request.head)?;
    let page = query.page()?;
    let filter = Filter {
        kind: query.take("kind")?,
        statuses: statuses(&query.take_all("status"))?,
        external_id: query.take("external_id")?,
        schedule: match query.take("schedule_id")? {
            Some(text) => Some(
                Id::parse(&text).ok_or_else(|| wrong("schedule_id", "must be a schedule's id"))?,
            ),
            None => None,
        },
        created_after: query.time("created_after")?,
        created_before: query.time("created_before")?,
    };
    let before = match query.take("before")? {
        Some(text) => Some(Id::parse(&text).ok_or_else(|| wrong("before", "must be a run's id"))?),
        None => None,
    };
    query.finish()?;
    let window = Window { before, offset: page.offset as usize, limit: page.limit as usize };
    let found = history::list(app, &request.caller, filter, window).await?;
    let currency = request.caller.currency;
    let views = found.runs.iter().map(|it| RunView::new(it, &currency, app)).collect();
    Ok(view::json(200, &Envelope::new(views, found.total, page, found.has_more)))
}

/// Shows a run.
pub(in crate::api) fn find(app: &App, request: &Request) -> Result<Response, Failure> {
    let full = runs::find(app, &request.caller, request.id()?)?;
    let answer = view::json(200, &RunView::new(&full, &request.caller.currency, app));
    // Source: service interface, "Recommended client behaviour".
    Ok(if full.run.status.is_over() {
        answer
    } else {
        answer.with_header("retry-after", POLL_SECONDS)
    })
}

/// Shows what a run has for programs. An extension of the interface.
pub(in crate::api) fn find_result(app: &App, request: &Request) -> Result<Response, Failure> {
    let result = runs::find_result(app, &request.caller, request.id()?)?;
    let result = result.ok_or(Failure::App(Error::NotFound))?;
    Ok(Response::json(200, result.into_bytes()))
}

/// Shows the steps of a run, oldest first. An extension of the interface.
pub(in crate::api) fn steps(app: &App, request: &Request) -> Result<Response, Failure> {
    let id = request.id()?;
    let mut query = Query::of(&request.head)?;
    let page = query.page()?;
    query.finish()?;
    let found = steps::list(app, &request.caller, id)?;
    Ok(view::json(200, &Envelope::cut(found, page)))
}

/// Cancels a run: 202 with the record as it is now. An extension of the interface.
pub(in crate::api) async fn cancel(app: &App, request: &Request) -> Result<Response, Failure> {
    let run = runs::cancel(app, &request.caller, request.id()?).await?;
    Ok(view::json(202, &RunView::bare(&run, &request.caller.currency, app)))
}

/// Deletes a run: 204. Source: service interface, "Agents".
pub(in crate::api) async fn delete(app: &App, request: &Request) -> Result<Response, Failure> {
    runs::delete(app, &request.caller, request.id()?).await?;
    Ok(Response::empty(204))
}

/// The statuses that were named, each once.
fn statuses(texts: &[String]) -> Result<Vec<Status>, Failure> {
    let problem = "must be pending, running, succeeded, no_signal or failed";
    let parsed = texts.iter().map(|it| Status::parse(it).ok_or_else(|| wrong("status", problem)));
    let distinct: BTreeSet<Status> = parsed.collect::<Result<_, _>>()?;
    Ok(distinct.into_iter().collect())
}

/// When a client should look again. Source: service interface, "Limits".
const POLL_SECONDS: &str = "5";
