//! The headers by which a receiver can tell that a request is ours, as the daemon sends them.

use serde_json::Value;

use crate::cli::webhook::judge::{EVENT_ID, SIGNATURE, TIMESTAMP};
use crate::domain::event::EventId;
use crate::domain::id::Id;
use crate::domain::signature::SigningSecret;

/// The headers of a body that is signed at `timestamp`, in seconds since 1970.
///
/// A body without an id gets neither the header of the id nor those of Standard Webhooks, whose
/// signature covers it.
pub(super) fn headers(
    secret: &SigningSecret,
    id: Option<EventId>,
    timestamp: i64,
    body: &[u8],
) -> Vec<(&'static str, String)> {
    let mut headers: Vec<_> = id.map(|it| (EVENT_ID, it.to_string())).into_iter().collect();
    headers.push((TIMESTAMP, timestamp.to_string()));
    headers.push((SIGNATURE, secret.sign(timestamp, body)));
    if let Some(id) = id {
        headers.push(("webhook-id", id.to_string()));
        headers.push(("webhook-timestamp", timestamp.to_string()));
        headers.push(("webhook-signature", secret.sign_standard(id, timestamp, body)));
    }
    headers
}

/// The id in a body; `None` when there is none.
pub(super) fn id(body: &[u8]) -> Option<EventId> {
    let event: Value = serde_json::from_slice(body).ok()?;
    event.get("id").and_then(Value::as_str).and_then(Id::parse)
}
