//! The JSON forms of what the API shows.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::agents::Entry;
use crate::app::App;
use crate::app::runs::FullRun;
use crate::domain::money::{Amount, Currency};
use crate::domain::run::{Run, RunId, ScheduleId, Status, Trigger};
use crate::domain::time::Timestamp;
use crate::inbound::Response;

/// A run. Source: service interface, "Run"; the contract, section 6.
#[derive(Serialize)]
pub(in crate::api) struct RunView<'a> {
    #[serde(serialize_with = "text")]
    id: RunId,
    kind: &'a str,
    input: &'a RawValue,
    status: &'static str,
    output: Option<&'a str>,
    error: Option<&'static str>,
    #[serde(serialize_with = "text")]
    cost: Amount,
    #[serde(serialize_with = "text")]
    created_at: Timestamp,
    #[serde(serialize_with = "text_or_null")]
    started_at: Option<Timestamp>,
    #[serde(serialize_with = "text_or_null")]
    finished_at: Option<Timestamp>,
    #[serde(serialize_with = "text")]
    updated_at: Timestamp,
    #[serde(serialize_with = "text_or_null")]
    expires_at: Option<Timestamp>,
    attempts: u32,
    error_detail: Option<ErrorDetail<'a>>,
    #[serde(serialize_with = "text")]
    cost_reserved: Amount,
    currency: &'a str,
    trigger: &'static str,
    #[serde(serialize_with = "text_or_null")]
    schedule_id: Option<ScheduleId>,
    #[serde(serialize_with = "text_or_null")]
    scheduled_for: Option<Timestamp>,
    external_id: Option<&'a str>,
    cancel_requested: bool,
    progress: Option<ProgressView>,
}

/// How far a run is. An extension of the interface.
#[derive(Serialize)]
struct ProgressView {
    done: u32,
    total: u32,
    message: String,
}

#[derive(Serialize)]
struct ErrorDetail<'a> {
    reason: &'static str,
    code: &'a str,
    message: &'a str,
    attempt: u32,
}

/// An agent type. Source: service interface, "Agent type"; the contract, section 6.
#[derive(Serialize)]
pub(in crate::api) struct AgentView<'a> {
    kind: &'a str,
    name: &'a str,
    description: &'a str,
    schedulable: bool,
    price: String,
    currency: &'a str,
    timeout_s: u64,
    input_schema: &'a serde_json::Value,
}

impl<'a> RunView<'a> {
    /// The form of a run with its output.
    pub(in crate::api) fn new(full: &'a FullRun, currency: &'a Currency, app: &App) -> Self {
        Self::of(&full.run, full.output.as_deref(), currency, app)
    }

    /// The form of a run that has no output.
    pub(in crate::api) fn bare(run: &'a Run, currency: &'a Currency, app: &App) -> Self {
        Self::of(run, None, currency, app)
    }

    fn of(run: &'a Run, output: Option<&'a str>, currency: &'a Currency, app: &App) -> Self {
        let (trigger, schedule_id, scheduled_for) = match run.trigger {
            Trigger::Api => ("api", None, None),
            Trigger::Schedule { schedule, scheduled_for } => {
                ("schedule", Some(schedule), Some(scheduled_for))
            }
            Trigger::RunNow { schedule } => ("run_now", Some(schedule), None),
        };
        Self {
            id: run.id,
            kind: &run.kind,
            // What was stored is the text of a JSON object.
            input: serde_json::from_str(&run.input).unwrap_or(RawValue::NULL),
            status: run.status.as_str(),
            output,
            // Source: service interface, "Errors": one generic code, no internal stack.
            error: (run.status == Status::Failed).then_some("agent_failed"),
            cost: run.cost,
            created_at: run.created_at,
            started_at: run.started_at,
            finished_at: run.finished_at,
            updated_at: run.updated_at,
            expires_at: app.expires_at(run),
            attempts: run.attempts,
            error_detail: run.failure.as_ref().map(|it| ErrorDetail {
                reason: it.reason.as_str(),
                code: &it.code,
                message: &it.message,
                attempt: run.attempts,
            }),
            cost_reserved: run.hold,
            currency: currency.as_str(),
            trigger,
            schedule_id,
            scheduled_for,
            external_id: run.external_id.as_deref(),
            cancel_requested: run.cancel_requested,
            progress: app.progress(run).map(|it| ProgressView {
                done: it.done,
                total: it.total,
                message: it.message,
            }),
        }
    }
}

impl<'a> AgentView<'a> {
    /// The form of a catalogue entry for an account that pays `price`.
    pub(in crate::api) fn new(entry: &'a Entry, price: Amount, currency: &'a Currency) -> Self {
        Self {
            kind: &entry.kind,
            name: &entry.name,
            description: &entry.description,
            schedulable: entry.schedulable,
            price: price.to_string(),
            currency: currency.as_str(),
            timeout_s: entry.timeout.as_secs(),
            input_schema: &entry.input_schema,
        }
    }
}

/// An answer with the JSON text of a view.
pub(in crate::api) fn json<T: Serialize>(status: u16, view: &T) -> Response {
    // The views are structs, lists and strings, which always have a JSON text.
    Response::json(status, serde_json::to_vec(view).unwrap_or_default())
}

/// Writes what has a text as a string.
pub(in crate::api) fn text<T: fmt::Display, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Writes what may be absent as a string or as `null`.
pub(in crate::api) fn text_or_null<T: fmt::Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}
