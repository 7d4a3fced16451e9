//! The lines of the table that are about the operations: what they say, for the caller.

use serde_json::json;

use crate::api::chat_fault;
use crate::api::row::{INVALID, OVERLOADED, PERMISSION, RATE, Row, bad, field_row, row};
use crate::app;
use crate::domain::cron::CronError;
use crate::domain::money::{Amount, Currency};
use crate::domain::receiver::UrlReason;

/// The line of an operation that was not done.
pub(in crate::api) fn app_row(error: app::Error) -> Row {
    match error {
        app::Error::NotFound => row(404, INVALID, "not_found", "There is nothing of that id."),
        app::Error::UnknownKind => {
            let message = "There is no agent of that kind. GET /v1/agents/ lists the kinds.";
            bad("unknown_kind", message).about("kind")
        }
        app::Error::KindNotAllowed => kind_row(),
        app::Error::Input { param, problem } => field_row(&param, &problem),
        app::Error::Balance { required, available, currency } => {
            balance_row(required, available, currency)
        }
        app::Error::KeyBudget { required, available, currency, resets_at } => {
            chat_fault::budget_row(required, available, currency, resets_at)
        }
        app::Error::ModelNotAllowed => chat_fault::forbidden_row(),
        app::Error::Uncharged => chat_fault::uncharged_row(),
        app::Error::UnknownModel => chat_fault::unknown_row(),
        app::Error::Chat(refusal) => chat_fault::refusal_row(&refusal),
        app::Error::ChatBalance { required, available, currency, affordable } => {
            chat_fault::balance_row(required, available, currency, affordable)
        }
        app::Error::TooManyChats { limit } => chat_fault::crowded_row(limit),
        app::Error::Model(fault) => chat_fault::fault_row(&fault),
        app::Error::QueueFull { limit } => {
            let message =
                format!("{limit} runs wait or run already. Try again when some are over.");
            row(429, RATE, "queue_full", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::RunOver => {
            row(409, INVALID, "run_over", "The run is over and cannot be cancelled.")
        }
        app::Error::NotSchedulable => {
            let message = "The agent cannot be scheduled. GET /v1/agents/ says which can.";
            bad("kind_not_schedulable", message).about("kind")
        }
        app::Error::Cron(error) => cron_row(&error),
        app::Error::TooManySchedules { limit } => {
            let message = format!("The account has {limit} schedules already. Delete one.");
            bad("too_many_schedules", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::ReceiverUrl(reason) => url_row(reason),
        app::Error::TooManyReceivers { limit } => {
            let message = format!("The account has {limit} receivers already. Delete one.");
            bad("too_many_receivers", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::ReceiverDisabled => {
            bad("receiver_disabled", "The receiver is disabled. Connect a new one.")
        }
        app::Error::BacklogFull { limit } => {
            let message =
                format!("{limit} deliveries of the receiver are not over. Try again later.");
            row(429, RATE, "backlog_full", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::TooManyRepeats { limit } => {
            let message = format!("The event was sent to the receiver {limit} times already.");
            bad("too_many_resends", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::TooManyKeys { limit } => {
            bad("too_many_keys", &format!("The account has {limit} live keys already. Revoke one."))
        }
        app::Error::Amount(problem) => bad("invalid_value", &format!("{problem}.")).about("amount"),
        app::Error::StorageFull => later("storage_full", "The server's disk is full."),
        app::Error::Stopping => later("shutting_down", "The server is stopping."),
        app::Error::Overloaded => later("overloaded", "The server is overloaded."),
        app::Error::Internal(_) => internal_row(),
    }
}

/// A kind that the key is not meant for.
fn kind_row() -> Row {
    let message = "The API key is not meant for that kind. GET /v1/agents/ lists its kinds.";
    row(403, PERMISSION, "kind_not_allowed", message).about("kind")
}

/// What went wrong inside.
fn internal_row() -> Row {
    let message = "An internal error occurred. It has been logged with this request id.";
    row(500, "api_error", "internal_error", message)
}

/// A balance that is too low, and by how much.
fn balance_row(required: Amount, available: Amount, currency: Currency) -> Row {
    let message = format!(
        "The balance is too low: {required} {currency} needed, {available} {currency} available."
    );
    let details = json!({
        "required": required.to_string(),
        "available": available.to_string(),
        "currency": currency.as_str(),
    });
    row(402, "billing_error", "insufficient_balance", &message).detailed(details)
}

/// A URL that is refused, and the first rule that it breaks.
fn url_row(reason: UrlReason) -> Row {
    let message = format!(
        "The URL cannot be a receiver: {reason}. It must be https on port 443, with a public host and without user name, password or fragment."
    );
    let details = json!({ "reason": reason.as_str() });
    bad("invalid_receiver_url", &message).about("url").detailed(details)
}

/// An expression that is refused: which field, why, and what to write instead.
fn cron_row(error: &CronError) -> Row {
    let details = json!({
        "field": error.field,
        "reason": error.reason.as_str(),
        "hint": error.hint,
    });
    bad("invalid_cron", &format!("The cron expression cannot be used: {error}."))
        .about("cron")
        .detailed(details)
}

/// A server that cannot now.
fn later(code: &'static str, why: &str) -> Row {
    row(503, OVERLOADED, code, &format!("{why} Nothing was done; try again later."))
}
