//! The record of a delivery: the layout on disk, apart from the type that the rules are about.

use serde::{Deserialize, Serialize};

use crate::domain::delivery::{Attempt, Delivery, DeliveryId, Place, Status};
use crate::domain::event::EventId;
use crate::domain::fault::{Detail, Fault, Reason};
use crate::domain::run::RunId;
use crate::domain::time::Timestamp;
use crate::store::codec::Record;
use crate::store::events::EventTypeRow;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DeliveryRow {
    pub(in crate::store) event: EventId,
    event_type: EventTypeRow,
    pub(in crate::store) run: RunId,
    pub(in crate::store) status: u8,
    attempts: Vec<AttemptRow>,
    fault: Option<FaultRow>,
    created_at: Timestamp,
    next_attempt_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
    resend_of: Option<DeliveryId>,
}

impl Record for DeliveryRow {}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct AttemptRow {
    number: u32,
    started_at: Timestamp,
    duration_ms: u32,
    http_code: Option<u16>,
    fault: Option<FaultRow>,
}

/// The numbers of a reason and a detail.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FaultRow(u8, Option<u8>);

/// The record of a delivery.
pub(crate) fn of(delivery: &Delivery) -> DeliveryRow {
    let attempts = delivery.attempts.iter().map(|it| AttemptRow {
        number: it.number,
        started_at: it.started_at,
        duration_ms: it.duration_ms,
        http_code: it.http_code,
        fault: it.fault.map(fault_row),
    });
    DeliveryRow {
        event: delivery.event,
        event_type: delivery.event_type.into(),
        run: delivery.run,
        status: delivery.status as u8,
        attempts: attempts.collect(),
        fault: delivery.fault.map(fault_row),
        created_at: delivery.created_at,
        next_attempt_at: delivery.next_attempt_at,
        finished_at: delivery.finished_at,
        resend_of: delivery.resend_of,
    }
}

/// The delivery of a record, whose key has the rest.
pub(crate) fn delivery(place: Place, row: DeliveryRow) -> Delivery {
    let attempts = row.attempts.into_iter().map(|it| Attempt {
        number: it.number,
        started_at: it.started_at,
        duration_ms: it.duration_ms,
        http_code: it.http_code,
        fault: it.fault.map(fault),
    });
    Delivery {
        id: place.id,
        account: place.account,
        receiver: place.receiver,
        event: row.event,
        event_type: row.event_type.into(),
        run: row.run,
        // A status of a later version counts as over: nothing is sent for it.
        status: status(row.status).unwrap_or(Status::Cancelled),
        attempts: attempts.collect(),
        fault: row.fault.map(fault),
        created_at: row.created_at,
        next_attempt_at: row.next_attempt_at,
        finished_at: row.finished_at,
        resend_of: row.resend_of,
    }
}

/// The status of a number.
pub(crate) fn status(number: u8) -> Option<Status> {
    Status::ALL.get(usize::from(number)).copied()
}

const fn fault_row(fault: Fault) -> FaultRow {
    let detail = match fault.detail {
        Some(detail) => Some(detail as u8),
        None => None,
    };
    FaultRow(fault.reason as u8, detail)
}

/// A reason of a later version is shown as an internal one.
fn fault(FaultRow(reason, detail): FaultRow) -> Fault {
    Fault {
        reason: Reason::ALL.get(usize::from(reason)).copied().unwrap_or(Reason::Internal),
        detail: detail.and_then(|it| Detail::ALL.get(usize::from(it)).copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::EventType;
    use crate::domain::id::Id;

    #[test]
    fn every_status_stands_at_its_number() {
        assert!(Status::ALL.into_iter().all(|it| status(it as u8) == Some(it)));
        assert_eq!(status(5), None);
    }

    #[test]
    fn a_delivery_comes_back_out_of_its_record() {
        let place = Place {
            account: Id::from_bytes([1; 16]),
            receiver: Id::from_bytes([2; 16]),
            id: Id::from_bytes([3; 16]),
        };
        let faults = Reason::ALL
            .into_iter()
            .map(Fault::of)
            .chain(Detail::ALL.into_iter().map(|detail| Fault::with(Reason::DnsFailed, detail)));
        for fault in faults {
            let attempt = Attempt {
                number: 2,
                started_at: Timestamp::from_millis(5),
                duration_ms: 7,
                http_code: Some(503),
                fault: Some(fault),
            };
            let before = Delivery {
                id: place.id,
                account: place.account,
                receiver: place.receiver,
                event: Id::from_bytes([4; 16]),
                event_type: EventType::NoSignal,
                run: Id::from_bytes([5; 16]),
                status: Status::Retrying,
                attempts: vec![attempt],
                fault: Some(fault),
                created_at: Timestamp::from_millis(1),
                next_attempt_at: Some(Timestamp::from_millis(9)),
                finished_at: None,
                resend_of: Some(Id::from_bytes([6; 16])),
            };
            assert_eq!(delivery(place, of(&before)), before);
        }
    }

    #[test]
    fn a_reason_of_a_later_version_is_an_internal_one() {
        assert_eq!(fault(FaultRow(200, Some(200))), Fault::of(Reason::Internal));
    }
}
