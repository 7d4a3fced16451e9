//! The work of the deliverer: claim what is due, record what came of it, recover after a crash.
//!
//! An attempt is counted on disk before anything is sent. A claim that is still open when the
//! daemon starts belongs to an attempt that was interrupted: it counts, and the next one comes
//! after its usual pause. So no event is sent more than six times, whatever dies meanwhile.
//! Source: service interface, "Events", rules 7 to 10; the contract, section 8.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, broadcast};

use crate::app::jobs::Landed;
use crate::app::lane::{Lane, Pace, Taken};
use crate::app::news::give_up;
use crate::app::recording::{Recorded, Recording, mine, record_one};
use crate::app::{App, Error};
use crate::domain::delivery::{Place, Status};
use crate::domain::due::Due;
use crate::domain::event::{EventId, EventType};
use crate::domain::fault::{Fault, Reason};
use crate::domain::health::State;
use crate::domain::limits::SENDS_MAX;
use crate::domain::run::RunId;
use crate::domain::signature::SigningSecret;
use crate::domain::time::Timestamp;
use crate::store::outbox::{Claim, Open};
use crate::store::{self, Txn, deliveries, events, outbox, receivers};
use crate::sys::clock::Mark;

pub use crate::app::recording::Tried;

/// The right to send one event to one receiver once.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// Where its delivery stands.
    pub place: Place,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// The lane in which it has a place.
    pub lane: Lane,
    /// Lets a few attempts to its receiver through at the same time.
    pub gate: Arc<Semaphore>,
}

/// What was found for a parcel.
#[derive(Debug)]
pub enum Found {
    /// What is to be sent.
    Letter(Letter),
    /// The receiver was disabled meanwhile, and nothing may be sent to it any more.
    Disabled,
    /// The delivery is gone, and nothing may be sent for it.
    Gone,
}

/// What is sent, and where to.
pub struct Letter {
    /// The receiver's address, as it was taken.
    pub url: String,
    /// The receiver's secret.
    pub secret: SigningSecret,
    /// The event.
    pub event: EventId,
    /// The bytes.
    pub body: String,
}

/// A body is its owner's, and so is no part of what is logged.
impl fmt::Debug for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Letter").field("event", &self.event).finish_non_exhaustive()
    }
}

/// What came of a look for something to send.
#[derive(Debug)]
pub struct Claimed {
    /// The attempts to make.
    pub parcels: Vec<Parcel>,
    /// Whether something was due; it may all have been over already.
    pub was_due: bool,
}

/// An attempt that was recorded, for whoever watches.
#[derive(Clone, Debug)]
pub struct Happened {
    /// Where its delivery stands.
    pub place: Place,
    /// The event.
    pub event: EventId,
    /// The type of the event.
    pub kind: EventType,
    /// The run that it is about.
    pub run: RunId,
    /// The number of the attempt.
    pub attempt: u32,
    /// What came of it.
    pub tried: Tried,
    /// How long it is until the next one, if there is one.
    pub next: Option<Duration>,
}

/// Claims up to `most` deliveries that are due; each attempt counts from here on.
///
/// # Errors
///
/// What the store says; nothing is claimed then.
pub async fn claim(app: &App, most: usize) -> Result<Claimed, Error> {
    let mark = app.0.clock.mark();
    let taken = app.0.outbox.take(most.min(CLAIM_MAX), mark);
    if taken.is_empty() {
        return Ok(Claimed { parcels: Vec::new(), was_due: false });
    }
    let places: Vec<Place> = taken.iter().map(|it| it.place).collect();
    let (boot, now) = (app.0.boot, app.0.clock.now());
    let claim = app.0.store.write(move |txn| {
        let claimed = places.iter().map(|it| claim_one(txn, *it, boot, now));
        claimed.collect::<Result<Vec<_>, Error>>()
    });
    let claimed = match claim.await {
        Ok(claimed) => claimed,
        Err(error) => {
            let later = Some(mark.after(TROUBLE_PAUSE));
            for Taken { place, lane, .. } in taken {
                app.0.outbox.end(place, lane, None, later, mark);
            }
            return Err(error);
        }
    };
    let mut parcels = Vec::with_capacity(claimed.len());
    for (Taken { place, lane, gate }, attempt) in taken.into_iter().zip(claimed) {
        match attempt {
            Some(attempt) => parcels.push(Parcel { place, attempt, claimed_at: now, lane, gate }),
            // It is over since it was noted, or was never there.
            None => app.0.outbox.end(place, lane, None, None, mark),
        }
    }
    Ok(Claimed { parcels, was_due: true })
}

/// Waits until there may be something to claim: at most for `longest`, and not while draining.
///
/// # Cancel safety
///
/// Safe: a wake-up that is not taken stays for the next wait.
pub async fn wait(app: &App, longest: Duration) {
    let pause = app.0.outbox.next_due().unwrap_or(longest).min(longest);
    tokio::select! {
        () = app.0.mail.notified() => {}
        () = app.drains() => {}
        () = app.0.clock.sleep(pause) => {}
    }
}

/// What is to be sent.
///
/// # Errors
///
/// What the store says; a fault of ours when the secret does not open or the body has changed.
pub fn open(app: &App, parcel: &Parcel) -> Result<Found, Error> {
    let Place { account, receiver, .. } = parcel.place;
    app.0.store.read(|view| {
        let Some(delivery) = deliveries::find(view, parcel.place)? else { return Ok(Found::Gone) };
        let found = receivers::find(view, account, receiver)?;
        let Some((to, sealed)) = found else { return Ok(Found::Gone) };
        // More is claimed than is being sent, so this may have changed since.
        if to.disabled_at.is_some() {
            return Ok(Found::Disabled);
        }
        let found = events::find(view, account, delivery.event)?;
        let Some(event) = found else { return Ok(Found::Gone) };
        if !event.is_whole() {
            return Err(store::Error::Bug("the body of an event has changed").into());
        }
        let secret = app.0.seal.open(receiver.as_bytes(), &sealed);
        let secret = secret.as_deref().and_then(SigningSecret::parse);
        let secret = secret.ok_or(store::Error::Bug("a secret does not open"))?;
        Ok(Found::Letter(Letter { url: to.url, secret, event: event.id, body: event.body }))
    })
}

/// Moves an attempt that takes long out of the way of others.
pub fn move_over(app: &App, parcel: &mut Parcel) {
    if parcel.lane == Lane::Fast && app.0.outbox.move_over(parcel.place.account) {
        parcel.lane = Lane::Slow;
        app.0.mail.notify_one();
    }
}

/// Records what came of an attempt that has just ended.
///
/// # Errors
///
/// What the store says; the claim stands, and the caller may try again with the same words.
pub async fn record(app: &App, parcel: &Parcel, tried: Tried, end: Mark) -> Result<Landed, Error> {
    // With many under way, the commit waits a moment for others to come along.
    let is_busy = app.0.outbox.under_way() > BUSY;
    let pause = if is_busy { app.0.settings.webhooks.gather } else { Duration::ZERO };
    let recording = Recording {
        place: parcel.place,
        attempt: parcel.attempt,
        boot: app.0.boot,
        tried,
        pauses: app.0.settings.webhooks.pauses,
        chance: app.0.entropy.below(u64::from(u32::MAX)),
        now: app.0.clock.now(),
        uptime: app.0.clock.uptime(),
    };
    let recorded = app.0.recorder.record(&app.0.store, &app.0.clock, recording, pause).await?;
    let Some(recorded) = recorded else {
        let next = app.recorded_before(parcel.place)?;
        app.leave(parcel, None, next.map(|it| app.0.clock.mark().after(it)));
        return Ok(Landed::TooLate);
    };
    let is_quick = tried.fault.is_none() && tried.duration <= QUICK;
    let pace = Pace { state: recorded.state, is_quick };
    app.leave(parcel, Some(pace), recorded.next.map(|it| end.after(it)));
    app.count_attempt(tried, recorded.status);
    let Recorded { event, kind, run, next, .. } = recorded;
    let (place, attempt) = (parcel.place, parcel.attempt);
    // Mostly nobody watches.
    let _ = app.0.attempts.send(Happened { place, event, kind, run, attempt, tried, next });
    Ok(Landed::Done)
}

/// Every attempt from now on, as it is recorded. Who looks too rarely misses some.
#[must_use]
pub fn watch(app: &App) -> broadcast::Receiver<Happened> {
    app.0.attempts.subscribe()
}

/// Gives an attempt back that was never made, for want of a socket of ours: it does not count.
///
/// When the receiver was disabled meanwhile, the delivery is over.
///
/// # Errors
///
/// What the store says; the claim stands, and the caller may try again.
pub async fn release(app: &App, parcel: &Parcel) -> Result<(), Error> {
    let (place, attempt, boot) = (parcel.place, parcel.attempt, app.0.boot);
    let now = app.0.clock.now();
    let due = Due::after(TROUBLE_PAUSE, now, app.0.clock.uptime());
    let release = app.0.store.write(move |txn| {
        let Some(open) = mine(txn, place, attempt, boot)? else { return Ok(()) };
        if !receivers::is_active(txn, place.account, place.receiver)? {
            return give_up(txn, place, Reason::ReceiverDisabled, now);
        }
        let sent = open.sent.saturating_sub(1);
        Ok::<_, Error>(outbox::put(txn, place, &Open { sent, due, claim: None })?)
    });
    release.await?;
    let next = app.recorded_before(place)?;
    app.0.outbox.slow_down(place.receiver);
    app.leave(parcel, None, next.map(|it| app.0.clock.mark().after(it)));
    Ok(())
}

/// Reads what is to be delivered, and counts the attempts that an earlier process had begun; how
/// many there were.
///
/// # Errors
///
/// What the store says.
pub async fn recover(app: &App) -> Result<usize, Error> {
    let open = app.0.store.scan(outbox::scan).await?;
    let (begun, waiting): (Vec<_>, Vec<_>) = open.into_iter().partition(|it| it.1.claim.is_some());
    let (now, uptime, mark) = (app.0.clock.now(), app.0.clock.uptime(), app.0.clock.mark());
    let mut states = std::collections::HashMap::new();
    for (place, open) in waiting {
        let state = match states.get(&place.receiver) {
            Some(state) => *state,
            None => app.health(place)?,
        };
        states.insert(place.receiver, state);
        app.0.outbox.add(place, mark.after(open.due.left(now, uptime)), state, mark);
    }
    let interrupted = begun.len();
    for some in begun.chunks(RECOVER_MAX) {
        let recordings: Vec<_> = some.iter().filter_map(|it| app.interrupted(it.0, it.1)).collect();
        let recorded = app.0.store.write(move |txn| {
            let recorded = recordings.iter().map(|it| Ok((it.place, record_one(txn, it)?)));
            recorded.collect::<Result<Vec<_>, Error>>()
        });
        for (place, recorded) in recorded.await? {
            let Some(Recorded { state, next: Some(next), .. }) = recorded else { continue };
            app.0.outbox.add(place, mark.after(next), state, mark);
        }
    }
    app.0.mail.notify_one();
    Ok(interrupted)
}

impl App {
    /// An attempt of an earlier process, as one that has ended now.
    fn interrupted(&self, place: Place, open: Open) -> Option<Recording> {
        let claim = open.claim?;
        let fault = Some(Fault::of(Reason::Interrupted));
        Some(Recording {
            place,
            attempt: open.sent,
            boot: claim.boot,
            tried: Tried {
                started_at: claim.started_at,
                duration: Duration::ZERO,
                http_code: None,
                fault,
                retry_after: None,
            },
            pauses: self.0.settings.webhooks.pauses,
            chance: self.0.entropy.below(u64::from(u32::MAX)),
            now: self.0.clock.now(),
            uptime: self.0.clock.uptime(),
        })
    }

    fn health(&self, place: Place) -> Result<State, Error> {
        self.0
            .store
            .read(|view| Ok(receivers::standing(view, place.account, place.receiver)?.health.state))
    }

    /// Takes an attempt out of the outbox in memory.
    fn leave(&self, parcel: &Parcel, pace: Option<Pace>, next: Option<Mark>) {
        let now = self.0.clock.mark();
        self.0.outbox.end(parcel.place, parcel.lane, pace, next, now);
        self.0.mail.notify_one();
    }

    fn count_attempt(&self, tried: Tried, status: Status) {
        let metrics = &self.0.metrics;
        metrics.attempt_seconds.observe(tried.duration);
        let [delivered, failed] = &metrics.attempts;
        if tried.fault.is_none() {
            delivered.add(1)
        } else {
            failed.add(1)
        }
        if status == Status::Failed {
            metrics.deliveries_failed.add(1);
        }
    }
}

/// Claims one delivery; the number of the attempt, or `None` when there is nothing to be sent.
fn claim_one(
    txn: &mut Txn<'_>,
    place: Place,
    boot: u64,
    now: Timestamp,
) -> Result<Option<u32>, Error> {
    let open = match outbox::find(txn, place) {
        // A row that cannot be read must not keep the others waiting; the doctor names it.
        Err(store::Error::Damaged { .. }) => return Ok(None),
        open => open?,
    };
    let Some(open) = open else { return Ok(None) };
    let sent = match open.claim {
        // Nobody else takes this place, so it was claimed by a commit that seemed to fail.
        Some(claim) if claim.boot == boot => open.sent,
        None if open.sent < SENDS_MAX => open.sent.saturating_add(1),
        Some(_) | None => return Ok(None),
    };
    let claim = Some(Claim { boot, started_at: now });
    outbox::put(txn, place, &Open { sent, claim, ..open })?;
    Ok(Some(sent))
}

/// Deliveries that are claimed in one transaction. Source: the contract, section 8.
const CLAIM_MAX: usize = 256;
/// An attempt that takes no longer is answered at once. As many as are claimed for one receiver
/// are then made within a second.
const QUICK: Duration = Duration::from_millis(10);
/// Attempts under way from which on results are gathered for a moment.
const BUSY: usize = 8;
/// Interrupted attempts that are recorded in one transaction.
const RECOVER_MAX: usize = 200;
/// The pause after something went wrong on our side.
const TROUBLE_PAUSE: Duration = Duration::from_secs(1);
