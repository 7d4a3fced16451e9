//! The lines of the table that are about chats: what the request, the balance or the model says.
//!
//! An upstream's own words never come out here, and its refusal of our key is never the caller's.

use serde_json::json;

use crate::api::row::{INVALID, OVERLOADED, PERMISSION, RATE, Row, bad, row};
use crate::domain::chat::Refusal;
use crate::domain::money::{Amount, Currency};
use crate::domain::time::Timestamp;
use crate::models::Fault;

/// A request that is not taken.
pub(in crate::api) fn refusal_row(refusal: &Refusal) -> Row {
    bad(refusal.code(), &refusal.message()).about(&refusal.param)
}

/// A model that nobody knows.
pub(in crate::api) fn unknown_row() -> Row {
    let message = "There is no such model. GET /v1/models lists the models.";
    row(404, INVALID, "model_not_found", message).about("model")
}

/// A model that the key is not meant for.
pub(in crate::api) fn forbidden_row() -> Row {
    let message = "The API key is not meant for that model. GET /v1/models lists its models.";
    row(403, PERMISSION, "model_not_allowed", message).about("model")
}

/// A budget of a key that is used up.
pub(in crate::api) fn budget_row(
    required: Amount,
    available: Amount,
    currency: Currency,
    resets_at: Option<Timestamp>,
) -> Row {
    let message = format!(
        "The budget of the API key is too low: {required} {currency} needed, {available} {currency} left."
    );
    let details = json!({
        "required": required.to_string(),
        "available": available.to_string(),
        "currency": currency.as_str(),
        "resets_at": resets_at.map(|it| it.to_string()),
    });
    row(402, "billing_error", "budget_exceeded", &message).detailed(details)
}

/// An answer that the disk did not let us charge.
pub(in crate::api) fn uncharged_row() -> Row {
    let message = "The answer could not be charged, and so is not given. It costs nothing.";
    row(500, "api_error", "internal_error", message)
}

/// Too many chats of one key.
pub(in crate::api) fn crowded_row(limit: u32) -> Row {
    let message = format!("{limit} chats of this key are under way. Wait until one is over.");
    row(429, RATE, "concurrency_limited", &message).detailed(json!({ "limit": limit }))
}

/// A balance that is too low for the most that a chat can cost.
pub(in crate::api) fn balance_row(
    required: Amount,
    available: Amount,
    currency: Currency,
    affordable: Option<u64>,
) -> Row {
    let message = format!(
        "The balance is too low: this chat can cost {required} {currency}, and {available} {currency} are available."
    );
    let details = json!({
        "required": required.to_string(),
        "available": available.to_string(),
        "currency": currency.as_str(),
        "affordable_max_tokens": affordable,
    });
    row(402, "billing_error", "insufficient_balance", &message).detailed(details)
}

/// A model that does not answer.
pub(in crate::api) fn fault_row(fault: &Fault) -> Row {
    let (status, kind) = match fault {
        Fault::Rejected(_) | Fault::ContextLength => (400, INVALID),
        Fault::RateLimited(_) => (429, RATE),
        Fault::Failed | Fault::Invalid | Fault::Misconfigured | Fault::Truncated => (502, UPSTREAM),
        Fault::Loading(_) | Fault::Unavailable(_) => (503, OVERLOADED),
        Fault::Timeout => (504, UPSTREAM),
    };
    let line = row(status, kind, fault.code(), &sentence(&fault.to_string()));
    if matches!(fault, Fault::ContextLength) { line.about("messages") } else { line }
}

/// Whether a client library should send the request again by itself.
pub(in crate::api) const fn retry(fault: &Fault) -> Option<&'static str> {
    match fault {
        Fault::Loading(_) | Fault::Unavailable(_) => Some("true"),
        Fault::Failed
        | Fault::Invalid
        | Fault::Misconfigured
        | Fault::Truncated
        | Fault::Timeout => Some("false"),
        Fault::Rejected(_) | Fault::ContextLength | Fault::RateLimited(_) => None,
    }
}

/// The error that ends a stream, as an event. Source: the contract, section 5.
pub(in crate::api) fn event(message: &str, kind: &str, code: &str) -> Vec<u8> {
    let body = json!({
        "error": { "message": message, "type": kind, "param": null, "code": code }
    });
    format!("data: {body}\n\n").into_bytes()
}

/// The event of a model that broke off.
pub(in crate::api) fn fault_event(fault: &Fault) -> Vec<u8> {
    let Row { kind, code, message, .. } = fault_row(fault);
    event(&message, kind, code)
}

/// A fragment as a sentence.
fn sentence(fragment: &str) -> String {
    let mut letters = fragment.chars();
    let first = letters.next().map(char::to_uppercase);
    let end = if fragment.ends_with('.') { "" } else { "." };
    first.into_iter().flatten().chain(letters).collect::<String>() + end
}

/// The type of an upstream that failed.
const UPSTREAM: &str = "upstream_error";
