//! An inbox: takes deliveries, judges them, answers as a receiver should, and tells of each.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::cli::webhook::judge::{
    Believed, Delivery, Doubt, EVENT_ID, Receiver, SIGNATURE, TIMESTAMP,
};
use crate::cli::webhook::ledger::{Count, Ledger, Seen};
use crate::domain::limits::{BODY_BYTES_MAX, SIGNATURE_SKEW_MAX};
use crate::domain::signature::SigningSecret;
use crate::domain::time::Timestamp;
use crate::inbound::{BodyError, BoxFuture, Head, Method, Request, Response, Service};
use crate::sys::clock::Clock;

/// Takes deliveries.
pub(in crate::cli) struct Inbox {
    secret: SigningSecret,
    /// What every delivery is answered, when somebody wants it so.
    status: Option<u16>,
    clock: Clock,
    ledger: SharedLedger,
    arrivals: mpsc::Sender<Arrival>,
}

/// One delivery, and what was made of it.
pub(in crate::cli) struct Arrival {
    /// When it came.
    pub(in crate::cli) at: Timestamp,
    /// The number of the attempt, as the request says.
    pub(in crate::cli) attempt: Option<u32>,
    /// The event, or why it is not believed.
    pub(in crate::cli) verdict: Result<(Believed, Seen), String>,
    /// What was answered.
    pub(in crate::cli) status: u16,
}

impl Service for Inbox {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(self.take(request))
    }
}

/// What an inbox has seen; clones share it.
#[derive(Clone, Default)]
pub(in crate::cli) struct SharedLedger(Arc<Mutex<Ledger>>);

impl SharedLedger {
    /// How many deliveries came.
    pub(in crate::cli) fn count(&self) -> Count {
        self.lock().count
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbox {
    /// An inbox, and where its arrivals are told. With `status` every delivery is answered so.
    pub(in crate::cli) fn new(
        secret: SigningSecret,
        status: Option<u16>,
        clock: Clock,
    ) -> (Self, mpsc::Receiver<Arrival>) {
        let (arrivals, told) = mpsc::channel(ARRIVALS_MAX);
        (Self { secret, status, clock, ledger: SharedLedger::default(), arrivals }, told)
    }

    /// What it has seen.
    pub(in crate::cli) fn ledger(&self) -> SharedLedger {
        self.ledger.clone()
    }

    async fn take(&self, request: Request) -> Response {
        if request.head.method != Method::Post {
            return Response::empty(405).with_header("allow", "POST");
        }
        let (head, body) = request.into_parts();
        let (verdict, usual) = match body.read(BODY_BYTES_MAX).await {
            Ok(body) => self.judge(&head, &body),
            Err(why) => {
                self.ledger.lock().refused();
                (Err(why.to_string()), status_of(why))
            }
        };
        let status = self.status.unwrap_or(usual);
        let attempt = head.header("x-service-attempt").and_then(|it| it.parse().ok());
        let arrival = Arrival { at: self.clock.now(), attempt, verdict, status };
        // At the end nobody looks any more.
        let _ = self.arrivals.send(arrival).await;
        Response::empty(status)
    }

    fn judge(&self, head: &Head, body: &[u8]) -> (Result<(Believed, Seen), String>, u16) {
        let receiver =
            Receiver { secret: &self.secret, now: self.clock.now(), skew: SIGNATURE_SKEW_MAX };
        let header = |name| head.header(name).unwrap_or_default();
        let verdict = receiver.judge(&Delivery {
            event_id: Some(header(EVENT_ID)),
            timestamp: header(TIMESTAMP),
            signature: header(SIGNATURE),
            body,
        });
        match verdict {
            Ok(believed) => (Ok((believed, self.ledger.lock().believed(believed.id))), STORED),
            Err(doubt) => {
                self.ledger.lock().refused();
                (Err(told(&doubt)), doubt.status())
            }
        }
    }
}

/// A doubt in one line.
fn told(doubt: &Doubt) -> String {
    doubt.more().map_or_else(|| doubt.to_string(), |more| format!("{doubt} ({more})"))
}

const fn status_of(error: BodyError) -> u16 {
    match error {
        BodyError::TooLarge => 413,
        BodyError::Timeout => 408,
        BodyError::Closed => 400,
        BodyError::Encoded => 415,
    }
}

/// The answer of a receiver that has stored an event. Source: service interface, "Errors".
const STORED: u16 = 204;
/// Deliveries that wait to be shown.
const ARRIVALS_MAX: usize = 64;
