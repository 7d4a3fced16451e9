//! Sends events: claims what is due, posts it, records what came of it.
//!
//! Each attempt is a task of its own, so a receiver that hangs takes nobody with it. The answer's
//! head decides; what is left of the answer is thrown away afterwards, within limits. What was
//! decided is recorded for as long as it takes, and never sent again meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;

use crate::app::deliveries::{self, Claimed, Found, Parcel, Tried};
use crate::app::stranded;
use crate::app::{App, clock_health};
use crate::background::pulse::Pulse;
use crate::background::{BoxFuture, Loop, STEP_MAX};
use crate::delivery::{Post, Rest, Sender, Sent, Verdict};
use crate::domain::fault::{Fault, Reason};
use crate::domain::time::Timestamp;
use crate::sys::clock::Mark;
use crate::sys::shutdown::{Phase, Shutdown};

/// Claims deliveries and sends them.
pub struct Deliverer {
    shared: Arc<Shared>,
    pulse: Pulse,
}

struct Shared {
    app: App,
    sender: Sender,
    shutdown: Shutdown,
    busy: AtomicUsize,
}

/// How many attempts are under way; cheap to clone.
#[derive(Clone)]
pub struct InFlight(Arc<Shared>);

/// One attempt under way, for as long as this lives.
struct Slot(Arc<Shared>);

/// What came of an attempt, and what is left of its answer.
enum Came {
    /// It was decided.
    Decided(Tried, Option<Box<Rest>>),
    /// Nothing was sent, through a fault of ours; it does not count.
    NotSent,
    /// Its delivery is gone.
    Gone,
    /// Something of ours is broken.
    Broken,
}

impl Deliverer {
    /// A deliverer that posts with `sender`.
    #[must_use]
    pub fn new(app: App, sender: Sender, shutdown: Shutdown, pulse: Pulse) -> Self {
        let shared = Shared { app, sender, shutdown, busy: AtomicUsize::new(0) };
        Self { shared: Arc::new(shared), pulse }
    }

    /// A look at how many attempts are under way.
    #[must_use]
    pub fn in_flight(&self) -> InFlight {
        InFlight(Arc::clone(&self.shared))
    }

    async fn claim_and_send(&self) {
        let app = &self.shared.app;
        if let Err(error) = stranded::find(app).await {
            tracing::warn!(%error, "the deliveries on disk could not be looked at again");
        }
        match deliveries::claim(app, CLAIM_MAX).await {
            Ok(Claimed { was_due: false, .. }) => {
                tokio::select! {
                    () = deliveries::wait(app, STEP_MAX) => {}
                    () = self.pulse.beat() => {}
                }
            }
            Ok(Claimed { parcels, .. }) => {
                for parcel in parcels {
                    let slot = Slot::take(&self.shared);
                    tokio::spawn(async move { attempt(&slot.0, parcel).await });
                }
            }
            Err(error) => {
                tracing::warn!(%error, "deliveries could not be claimed; trying again");
                app.clock().sleep(TROUBLE_PAUSE).await;
            }
        }
    }
}

impl Loop for Deliverer {
    fn name(&self) -> &'static str {
        "deliverer"
    }

    fn step(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.claim_and_send())
    }
}

impl InFlight {
    /// How many attempts are under way.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.busy.load(Ordering::Acquire)
    }
}

impl Slot {
    fn take(shared: &Arc<Shared>) -> Self {
        shared.busy.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(shared))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Makes one attempt and records it.
async fn attempt(shared: &Arc<Shared>, mut parcel: Parcel) {
    let app = &shared.app;
    // Others are on their way to the same receiver, and answer quickly, or did until now.
    let gate = tokio::select! {
        gate = app.clock().within(GATE_WAIT, Arc::clone(&parcel.gate).acquire_owned()) => gate.ok(),
        () = shared.shutdown.reached(Phase::Stopping) => None,
    };
    let Some(Ok(gate)) = gate else { return give_back(shared, &parcel).await };
    let start = (app.clock().now(), app.clock().mark());
    let came = made(shared, &mut parcel, start.0).await;
    let end = app.clock().mark();
    drop(gate);
    let wrong = |reason| failed(start.0, end.since(start.1), reason);
    match came {
        Some(Came::Decided(tried, rest)) => {
            let discard = async {
                if let Some(rest) = rest {
                    rest.discard().await;
                }
            };
            tokio::join!(record(shared, &parcel, tried, end), discard);
        }
        Some(Came::NotSent) => give_back(shared, &parcel).await,
        // The recording finds nothing, and makes the place free.
        Some(Came::Gone) => record(shared, &parcel, wrong(Reason::RunDeleted), end).await,
        Some(Came::Broken) => record(shared, &parcel, wrong(Reason::Internal), end).await,
        // The claim stays open, and the next start counts it as interrupted.
        None => {}
    }
}

/// Sends in a task of its own; `None` when the daemon stops meanwhile.
async fn made(shared: &Arc<Shared>, parcel: &mut Parcel, now: Timestamp) -> Option<Came> {
    let app = &shared.app;
    let (inside, sent) = (Arc::clone(shared), parcel.clone());
    let mut sending = tokio::spawn(async move { send(&inside, &sent, now).await });
    let whole = async {
        let mut pause = MOVE_OVER_AFTER;
        loop {
            match app.clock().within(pause, &mut sending).await {
                Ok(came) => break came,
                Err(_) => deliveries::move_over(app, parcel),
            }
            // The slow lane may have been full.
            pause = MOVE_OVER_AGAIN;
        }
    };
    let came = tokio::select! {
        came = whole => came,
        () = shared.shutdown.reached(Phase::Stopping) => {
            sending.abort();
            return None;
        }
    };
    Some(came.unwrap_or_else(|error| {
        app.metrics().panics.add(1);
        tracing::error!(delivery.id = %parcel.place.id, %error, "an attempt panicked");
        Came::Broken
    }))
}

/// Sends what a parcel stands for, once.
async fn send(shared: &Arc<Shared>, parcel: &Parcel, started_at: Timestamp) -> Came {
    let letter = match deliveries::open(&shared.app, parcel) {
        Ok(Found::Letter(letter)) => letter,
        Ok(Found::Gone) => return Came::Gone,
        Ok(Found::Disabled) => return Came::NotSent,
        Err(error) if error.is_passing() => {
            tracing::warn!(delivery.id = %parcel.place.id, %error, "an event could not be read");
            return Came::NotSent;
        }
        Err(error) => {
            tracing::error!(delivery.id = %parcel.place.id, %error, "an event cannot be sent");
            return Came::Broken;
        }
    };
    let post = Post {
        receiver: parcel.place.receiver,
        url: &letter.url,
        secret: &letter.secret,
        event: letter.event,
        body: Bytes::from(letter.body),
        attempt: parcel.attempt,
    };
    let Sent { verdict, duration, rest, date } = shared.sender.send(&post).await;
    if let Some(date) = date {
        clock_health::note(&shared.app, parcel.place.receiver, date);
    }
    let tried = match verdict {
        Verdict::Delivered { http_code } => {
            let http_code = Some(http_code);
            Tried { started_at, duration, http_code, fault: None, retry_after: None }
        }
        Verdict::Failed { http_code, fault, retry_after } => {
            Tried { started_at, duration, http_code, fault: Some(fault), retry_after }
        }
        Verdict::NotSent => return Came::NotSent,
    };
    tracing::debug!(
        delivery.id = %parcel.place.id,
        event.id = %post.event,
        attempt = parcel.attempt,
        http_code = tried.http_code,
        reason = tried.fault.map(|it| it.reason.as_str()),
        duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        "an attempt ended"
    );
    Came::Decided(tried, rest.map(Box::new))
}

/// Records an attempt, and tries again for as long as the disk refuses it.
async fn record(shared: &Arc<Shared>, parcel: &Parcel, tried: Tried, end: Mark) {
    while let Err(error) = deliveries::record(&shared.app, parcel, tried, end).await {
        tracing::warn!(delivery.id = %parcel.place.id, %error, "an attempt could not be recorded");
        if is_stopping(shared).await {
            return;
        }
    }
}

/// Gives an attempt back that was not made, and tries again for as long as the disk refuses it.
async fn give_back(shared: &Arc<Shared>, parcel: &Parcel) {
    while let Err(error) = deliveries::release(&shared.app, parcel).await {
        tracing::warn!(delivery.id = %parcel.place.id, %error, "an attempt could not be given back");
        if is_stopping(shared).await {
            return;
        }
    }
}

/// Waits a little; whether the daemon stops meanwhile.
async fn is_stopping(shared: &Arc<Shared>) -> bool {
    tokio::select! {
        () = shared.app.clock().sleep(TROUBLE_PAUSE) => false,
        () = shared.shutdown.reached(Phase::Stopping) => true,
    }
}

const fn failed(started_at: Timestamp, duration: Duration, reason: Reason) -> Tried {
    let fault = Some(Fault::of(reason));
    Tried { started_at, duration, http_code: None, fault, retry_after: None }
}

/// Deliveries that are claimed at once.
const CLAIM_MAX: usize = 256;
/// The pause after the store refused something.
const TROUBLE_PAUSE: Duration = Duration::from_secs(1);
/// After this time an attempt makes way for others. Source: the contract, section 8.
const MOVE_OVER_AFTER: Duration = Duration::from_millis(250);
/// And after this time again, when there was no room for it.
const MOVE_OVER_AGAIN: Duration = Duration::from_secs(1);
/// Time that a claimed attempt waits for the others to its receiver; then it is given back.
const GATE_WAIT: Duration = Duration::from_secs(1);
