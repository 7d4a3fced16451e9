//! Recording what came of attempts: their deliveries, their receivers, and many in one commit.
//!
//! A verdict waits for nobody, and nobody waits for its commit but the place that the attempt has.
//! So while many are under way the first result waits a moment, and takes along what comes
//! meanwhile: one commit costs about as much as thirty results.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::app::Error;
use crate::domain::delivery::{Attempt, Delivery, Next, Place, Status};
use crate::domain::due::{Due, Uptime};
use crate::domain::event::{EventId, EventType};
use crate::domain::fault::{Fault, Reason};
use crate::domain::health::State;
use crate::domain::retry::Pauses;
use crate::domain::run::RunId;
use crate::domain::time::Timestamp;
use crate::store::outbox::Open;
use crate::store::{self, Store, Txn, deliveries, outbox, receivers};
use crate::sys::clock::Clock;

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took until it was decided.
    pub duration: Duration,
    /// The code of the answer, if there was one.
    pub http_code: Option<u16>,
    /// Why it failed; none when it was answered with 2xx.
    pub fault: Option<Fault>,
    /// How long the receiver wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// What a transaction must know to record an attempt.
#[derive(Clone, Copy)]
pub(in crate::app) struct Recording {
    pub(in crate::app) place: Place,
    pub(in crate::app) attempt: u32,
    pub(in crate::app) boot: u64,
    pub(in crate::app) tried: Tried,
    pub(in crate::app) pauses: Pauses,
    pub(in crate::app) chance: u64,
    pub(in crate::app) now: Timestamp,
    pub(in crate::app) uptime: Option<Uptime>,
}

/// What a recorded attempt means for the outbox in memory.
#[derive(Clone, Copy)]
pub(in crate::app) struct Recorded {
    pub(in crate::app) event: EventId,
    pub(in crate::app) kind: EventType,
    pub(in crate::app) run: RunId,
    pub(in crate::app) status: Status,
    pub(in crate::app) state: State,
    pub(in crate::app) next: Option<Duration>,
}

/// Gathers results that are recorded together.
#[derive(Default)]
pub(in crate::app) struct Recorder(Mutex<Vec<Waiting>>);

/// A result, and who waits for it.
struct Waiting {
    recording: Recording,
    done: oneshot::Sender<Result<Option<Recorded>, Error>>,
}

impl Recorder {
    /// Records an attempt, after `pause` together with what came meanwhile.
    ///
    /// # Errors
    ///
    /// What the store says; nothing of what was gathered is recorded then.
    pub(in crate::app) async fn record(
        &self,
        store: &Store,
        clock: &Clock,
        recording: Recording,
        pause: Duration,
    ) -> Result<Option<Recorded>, Error> {
        let (done, answer) = oneshot::channel();
        let is_first = {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.push(Waiting { recording, done });
            waiting.len() == 1
        };
        if is_first {
            if !pause.is_zero() {
                clock.sleep(pause).await;
            }
            self.flush(store).await;
        }
        answer.await.unwrap_or(Err(Error::Overloaded))
    }

    /// Records what was gathered.
    async fn flush(&self, store: &Store) {
        let gathered = {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *waiting)
        };
        let recordings: Arc<[Recording]> = gathered.iter().map(|it| it.recording).collect();
        let write = store.write(move |txn| {
            let recorded = recordings.iter().map(|it| record_one(txn, it));
            recorded.collect::<Result<Vec<_>, Error>>()
        });
        // Who was aborted meanwhile does not wait any more.
        match write.await {
            Ok(recorded) => {
                for (waiting, recorded) in gathered.into_iter().zip(recorded) {
                    let _ = waiting.done.send(Ok(recorded));
                }
            }
            Err(error) => {
                for waiting in gathered {
                    let _ = waiting.done.send(Err(error.clone()));
                }
            }
        }
    }
}

/// Records one attempt; `None` when its delivery is gone.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn record_one(
    txn: &mut Txn<'_>,
    recording: &Recording,
) -> Result<Option<Recorded>, Error> {
    let Recording { place, attempt, boot, tried, pauses, chance, now, uptime } = *recording;
    if mine(txn, place, attempt, boot)?.is_none() {
        return Ok(None);
    }
    // Many are recorded in one commit, and a record that cannot be read must not keep the others
    // from it. The doctor names it.
    let found = match deliveries::find(txn, place) {
        Err(store::Error::Damaged { table }) => {
            tracing::error!(table, delivery.id = %place.id, "a damaged delivery is given up");
            outbox::remove(txn, place)?;
            return Ok(None);
        }
        found => found?,
    };
    let Some(before) = found else { return Ok(None) };
    let is_active = receivers::is_active(txn, place.account, place.receiver)?;
    let next = match pauses.after(attempt, chance, tried.retry_after) {
        _ if !is_active => Next::Cancel(Reason::ReceiverDisabled),
        Some(pause) => Next::Retry(pause),
        None => Next::GiveUp,
    };
    let mut after = before.clone();
    let duration_ms = u32::try_from(tried.duration.as_millis()).unwrap_or(u32::MAX);
    let Tried { started_at, http_code, fault, .. } = tried;
    let ended = Attempt { number: attempt, started_at, duration_ms, http_code, fault };
    after.record(ended, next, now);
    let pause = match next {
        Next::Retry(pause) if after.status == Status::Retrying => Some(pause),
        Next::Retry(_) | Next::GiveUp | Next::Cancel(_) => None,
    };
    let due = pause.map(|it| Due::after(it, now, uptime));
    let open = due.map(|due| Open { sent: attempt, due, claim: None });
    let health = receivers::standing_in(txn, place.account, place.receiver)?.health;
    // A death of ours says nothing of the receiver.
    let health = match fault.map(|it| it.reason) {
        Some(Reason::Interrupted | Reason::Internal) => health,
        Some(_) | None => health.after(fault.is_none(), tried.duration, now),
    };
    deliveries::put(txn, &before, &after, open.as_ref(), Some(health))?;
    let Delivery { event, event_type: kind, run, status, .. } = after;
    Ok(Some(Recorded { event, kind, run, status, state: health.state, next: pause }))
}

/// The open delivery, if the attempt is the one that is under way.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn mine(
    txn: &Txn<'_>,
    place: Place,
    attempt: u32,
    boot: u64,
) -> Result<Option<Open>, Error> {
    let open = match outbox::find(txn, place) {
        Err(store::Error::Damaged { .. }) => None,
        open => open?,
    };
    Ok(open.filter(|it| it.sent == attempt && it.claim.is_some_and(|it| it.boot == boot)))
}
