//! The JSON forms of receivers and their logs. Source: the contract, section 8.

use serde::Serialize;
use serde_json::{Value, json};

use crate::api::view::{text, text_or_null};
use crate::app::receivers::FullReceiver;
use crate::domain::delivery::{Attempt, Delivery, DeliveryId};
use crate::domain::event::EventId;
use crate::domain::fault::Fault;
use crate::domain::limits::SENDS_MAX;
use crate::domain::receiver::ReceiverId;
use crate::domain::run::RunId;
use crate::domain::time::Timestamp;
use crate::outbound::Reached;

/// A receiver; its secret is never among this.
#[derive(Serialize)]
pub(in crate::api) struct ReceiverView<'a> {
    #[serde(serialize_with = "text")]
    id: ReceiverId,
    url: &'a str,
    status: &'static str,
    #[serde(serialize_with = "text")]
    created_at: Timestamp,
    #[serde(serialize_with = "text_or_null")]
    disabled_at: Option<Timestamp>,
    secret_fingerprint: &'a str,
    health: &'static str,
    consecutive_failures: u32,
    #[serde(serialize_with = "text_or_null")]
    last_attempt_at: Option<Timestamp>,
    #[serde(serialize_with = "text_or_null")]
    last_success_at: Option<Timestamp>,
    pending: u64,
}

/// One line of a receiver's log. Source: service interface, "Delivery log entry".
#[derive(Serialize)]
pub(in crate::api) struct DeliveryView<'a> {
    #[serde(serialize_with = "text")]
    id: DeliveryId,
    #[serde(serialize_with = "text")]
    webhook_id: ReceiverId,
    #[serde(serialize_with = "text")]
    event_id: EventId,
    event_type: &'static str,
    #[serde(serialize_with = "text")]
    run_id: RunId,
    status: &'static str,
    #[serde(rename = "attempts")]
    count: u32,
    max_attempts: u32,
    http_code: Option<u16>,
    error_reason: Option<&'static str>,
    error_detail: Option<&'static str>,
    #[serde(serialize_with = "text")]
    created_at: Timestamp,
    #[serde(serialize_with = "text_or_null")]
    last_attempt_at: Option<Timestamp>,
    #[serde(serialize_with = "text_or_null")]
    next_attempt_at: Option<Timestamp>,
    #[serde(serialize_with = "text_or_null")]
    finished_at: Option<Timestamp>,
    duration_ms: Option<u32>,
    #[serde(serialize_with = "text_or_null")]
    resend_of: Option<DeliveryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt_log: Option<Vec<AttemptView<'a>>>,
}

/// One attempt.
#[derive(Serialize)]
struct AttemptView<'a> {
    n: u32,
    #[serde(serialize_with = "text")]
    started_at: &'a Timestamp,
    duration_ms: u32,
    http_code: Option<u16>,
    error_reason: Option<&'static str>,
    error_detail: Option<&'static str>,
}

impl<'a> ReceiverView<'a> {
    /// The form of a receiver.
    pub(in crate::api) fn of(full: &'a FullReceiver) -> Self {
        let FullReceiver { receiver, standing } = full;
        let health = standing.health;
        Self {
            id: receiver.id,
            url: &receiver.url,
            status: if receiver.disabled_at.is_none() { "active" } else { "disabled" },
            created_at: receiver.created_at,
            disabled_at: receiver.disabled_at,
            secret_fingerprint: &receiver.fingerprint,
            health: health.state.as_str(),
            consecutive_failures: health.failures,
            last_attempt_at: health.last_attempt_at,
            last_success_at: health.last_success_at,
            pending: standing.backlog(),
        }
    }
}

impl<'a> DeliveryView<'a> {
    /// The form of a delivery.
    pub(in crate::api) fn of(delivery: &'a Delivery) -> Self {
        let (reason, detail) = words(delivery.fault);
        let last = delivery.attempts.last();
        Self {
            id: delivery.id,
            webhook_id: delivery.receiver,
            event_id: delivery.event,
            event_type: delivery.event_type.as_str(),
            run_id: delivery.run,
            status: delivery.status.as_str(),
            count: last.map_or(0, |it| it.number),
            max_attempts: SENDS_MAX,
            http_code: delivery.http_code(),
            error_reason: reason,
            error_detail: detail,
            created_at: delivery.created_at,
            last_attempt_at: last.map(|it| it.started_at),
            next_attempt_at: delivery.next_attempt_at,
            finished_at: delivery.finished_at,
            duration_ms: last.map(|it| it.duration_ms),
            resend_of: delivery.resend_of,
            attempt_log: None,
        }
    }

    /// The same with every attempt.
    pub(in crate::api) fn whole(delivery: &'a Delivery) -> Self {
        let attempts = delivery.attempts.iter().map(AttemptView::of).collect();
        Self { attempt_log: Some(attempts), ..Self::of(delivery) }
    }
}

impl<'a> AttemptView<'a> {
    fn of(attempt: &'a Attempt) -> Self {
        let (error_reason, error_detail) = words(attempt.fault);
        Self {
            n: attempt.number,
            started_at: &attempt.started_at,
            duration_ms: attempt.duration_ms,
            http_code: attempt.http_code,
            error_reason,
            error_detail,
        }
    }
}

/// The form of a try to reach a receiver.
pub(in crate::api) fn reached(outcome: &Result<Reached, Fault>) -> Value {
    match outcome {
        Ok(reached) => {
            let millis =
                |it: std::time::Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
            json!({
                "ok": true,
                "error_reason": null,
                "error_detail": null,
                "dns_ms": millis(reached.timing.dns),
                "connect_ms": millis(reached.timing.connect),
                "tls_ms": reached.tls.as_ref().map(|_| millis(reached.timing.tls)),
                "certificate_expires_at":
                    reached.tls.as_ref().map(|it| it.not_after.to_string()),
            })
        }
        Err(fault) => {
            let (reason, detail) = words(Some(*fault));
            json!({ "ok": false, "error_reason": reason, "error_detail": detail })
        }
    }
}

/// The words for a fault.
fn words(fault: Option<Fault>) -> (Option<&'static str>, Option<&'static str>) {
    let detail = fault.and_then(|it| it.detail).map(crate::domain::fault::Detail::as_str);
    (fault.map(|it| it.reason.as_str()), detail)
}
