//! `/agents/schedules`: create, list, look at, change, run now and delete schedules.
//!
//! Source: service interface, "Schedule"; the contract, section 7.

use serde_json::{Map, Value};

use crate::api::error::Failure;
use crate::api::gate::Request;
use crate::api::json::{Fields, required};
use crate::api::paging::{Envelope, Query};
use crate::api::schedule_view::{ScheduleView, TickView, preview as preview_view};
use crate::api::view::{self, RunView};
use crate::app::schedules::{self, Change, FullSchedule, NewSchedule};
use crate::app::{App, Error, InputProblem};
use crate::domain::account::Owner;
use crate::domain::cron::Cron;
use crate::domain::limits::{BODY_BYTES_MAX, SLOTS_SHOWN_MAX};
use crate::domain::run::ScheduleId;
use crate::domain::schedule::{Channel, MissedSlots, Overlap, Repeat};
use crate::inbound::{Head, Response};

/// Accepts a schedule: 201 with the record.
pub(in crate::api) async fn create(app: &App, request: Request) -> Result<Response, Failure> {
    let owner = Owner::from(&request.caller);
    create_for(app, owner, request.object(BODY_BYTES_MAX).await?).await
}

/// The same for an account.
pub(in crate::api) async fn create_for(
    app: &App,
    owner: Owner,
    body: Map<String, Value>,
) -> Result<Response, Failure> {
    let mut fields = Fields::new(body);
    let new = NewSchedule {
        kind: required("kind", fields.text("kind")?)?,
        input: required("input", fields.object("input")?)?,
        cron: required("cron", fields.text("cron")?)?,
        channels: channels(fields.texts("delivery_channels")?)?,
        repeat: match fields.flag("one_shot")? {
            Some(true) => Repeat::Once,
            Some(false) | None => Repeat::Always,
        },
        enabled: fields.flag("enabled")?.unwrap_or(true),
        overlap: word(&mut fields, "overlap", "skip, queue_one or allow", Overlap::parse)?,
        missed: word(&mut fields, "missed", "fire_once or skip", MissedSlots::parse)?,
    };
    fields.finish()?;
    let made = schedules::create(app, owner, new).await?;
    let location = format!("/v1/agents/schedules/{}", made.schedule.id);
    Ok(shown(201, &made).with_header("location", &location))
}

/// Lists the schedules, oldest first.
pub(in crate::api) fn list(app: &App, request: &Request) -> Result<Response, Failure> {
    list_for(app, Owner::from(&request.caller), &request.head)
}

/// The same for an account.
pub(in crate::api) fn list_for(app: &App, owner: Owner, head: &Head) -> Result<Response, Failure> {
    let mut query = Query::of(head)?;
    let page = query.page()?;
    query.finish()?;
    let found = schedules::list(app, owner, page.offset as usize, page.limit as usize)?;
    let views = found.schedules.iter().map(ScheduleView::of).collect();
    Ok(view::json(200, &Envelope::new(views, found.total, page, page.goes_on(found.total))))
}

/// Shows a schedule. An extension of the interface.
pub(in crate::api) fn find(app: &App, request: &Request) -> Result<Response, Failure> {
    find_for(app, Owner::from(&request.caller), request.id()?)
}

/// The same for an account.
pub(in crate::api) fn find_for(
    app: &App,
    owner: Owner,
    id: ScheduleId,
) -> Result<Response, Failure> {
    Ok(shown(200, &schedules::find(app, owner, id)?))
}

/// Changes a schedule: all that was named, or nothing.
pub(in crate::api) async fn patch(app: &App, request: Request) -> Result<Response, Failure> {
    let (owner, id) = (Owner::from(&request.caller), request.id()?);
    patch_for(app, owner, id, request.object(BODY_BYTES_MAX).await?).await
}

/// The same for an account.
pub(in crate::api) async fn patch_for(
    app: &App,
    owner: Owner,
    id: ScheduleId,
    body: Map<String, Value>,
) -> Result<Response, Failure> {
    let mut fields = Fields::new(body);
    let change = Change {
        cron: fields.text("cron")?,
        input: fields.object("input")?,
        enabled: fields.flag("enabled")?,
    };
    if let Some(fixed) = FIXED.iter().find(|it| fields.has(it)) {
        return Err(Failure::NotPatchable((*fixed).to_owned()));
    }
    fields.finish()?;
    Ok(shown(200, &schedules::change(app, owner, id, change).await?))
}

/// Deletes a schedule: 204. Its runs stay.
pub(in crate::api) async fn delete(app: &App, request: &Request) -> Result<Response, Failure> {
    schedules::delete(app, Owner::from(&request.caller), request.id()?).await?;
    Ok(Response::empty(204))
}

/// Runs a schedule now: 201 with the run. An extension of the interface.
pub(in crate::api) async fn run(app: &App, request: &Request) -> Result<Response, Failure> {
    run_for(app, Owner::from(&request.caller), request.id()?).await
}

/// The same for an account.
pub(in crate::api) async fn run_for(
    app: &App,
    owner: Owner,
    id: ScheduleId,
) -> Result<Response, Failure> {
    let run = schedules::run_now(app, owner, id).await?;
    let location = format!("/v1/agents/runs/{}", run.id);
    let answer = view::json(201, &RunView::bare(&run, &owner.currency, app));
    Ok(answer.with_header("location", &location))
}

/// Shows what became of the last slots, what was decided last first. An extension of the interface.
pub(in crate::api) fn ticks(app: &App, request: &Request) -> Result<Response, Failure> {
    ticks_for(app, Owner::from(&request.caller), request.id()?, &request.head)
}

/// The same for an account.
pub(in crate::api) fn ticks_for(
    app: &App,
    owner: Owner,
    id: ScheduleId,
    head: &Head,
) -> Result<Response, Failure> {
    let mut query = Query::of(head)?;
    let page = query.page()?;
    query.finish()?;
    let log = schedules::log(app, owner, id, page.offset as usize, page.limit as usize)?;
    let views: Vec<_> = log.ticks.iter().map(TickView::of).collect();
    let total = u64::from(log.total);
    Ok(view::json(200, &Envelope::new(views, total, page, page.goes_on(total))))
}

/// Shows what an expression means; nothing is kept. An extension of the interface.
pub(in crate::api) async fn preview(app: &App, request: Request) -> Result<Response, Failure> {
    let body = request.object(BODY_BYTES_MAX).await?;
    preview_of(app, body)
}

/// The same for the operator.
pub(in crate::api) fn preview_of(app: &App, body: Map<String, Value>) -> Result<Response, Failure> {
    let mut fields = Fields::new(body);
    let text = required("cron", fields.text("cron")?)?;
    let count = fields.count("count", 1..=SLOTS_SHOWN_MAX)?.unwrap_or(PREVIEW_SLOTS);
    fields.finish()?;
    let cron = Cron::parse(&text).map_err(|it| Failure::App(Error::Cron(it)))?;
    Ok(view::json(200, &preview_view(&text, &cron, app.clock().now(), count)))
}

fn shown(status: u16, full: &FullSchedule) -> Response {
    view::json(status, &ScheduleView::of(full))
}

fn channels(texts: Option<Vec<String>>) -> Result<Vec<Channel>, Failure> {
    let parsed = texts.unwrap_or_default();
    let parsed = parsed.iter().map(|it| Channel::parse(it).ok_or(Failure::Channel));
    parsed.collect()
}

/// One of a few words that may be absent.
fn word<T: Default>(
    fields: &mut Fields,
    name: &str,
    known: &str,
    parse: fn(&str) -> Option<T>,
) -> Result<T, Failure> {
    let Some(text) = fields.text(name)? else { return Ok(T::default()) };
    parse(&text).ok_or_else(|| Failure::Field {
        param: name.to_owned(),
        problem: InputProblem::Value(format!("must be {known}")),
    })
}

/// Fields of a schedule that PATCH does not change.
const FIXED: [&str; 6] = ["kind", "delivery_channels", "one_shot", "overlap", "missed", "id"];
/// Slots that a look at an expression shows when nobody says how many.
const PREVIEW_SLOTS: u32 = 5;
