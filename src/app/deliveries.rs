//! The work of the deliverer: claim what is due, record what came of it, recover after a crash.
//!
//! An attempt is counted on disk before anything is sent. A claim that is still open when the
//! daemon starts belongs to an attempt that was interrupted: it counts, and the next one comes
//! after its usual pause. So no event is sent more than six times, whatever dies meanwhile.
//! Source: service interface, "Events", rules 7 to 10; the contract, section 8.

use std::time::Duration;

use crate::app::jobs::Landed;
use crate::app::lane::Lane;
use crate::app::news::{Telling, give_up};
use crate::app::{App, Error};
use crate::domain::delivery::{Attempt, Next, Place, Status};
use crate::domain::due::Due;
use crate::domain::event::EventId;
use crate::domain::fault::{Fault, Reason};
use crate::domain::health::State;
use crate::domain::limits::SENDS_MAX;
use crate::domain::retry::Pauses;
use crate::domain::signature::SigningSecret;
use crate::domain::time::Timestamp;
use crate::store::outbox::{Claim, Open};
use crate::store::{self, Txn, deliveries, events, outbox, receivers};
use crate::sys::clock::Mark;

/// The right to send one event to one receiver once.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// Where its delivery stands.
    pub place: Place,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// The lane in which it has a place.
    pub lane: Lane,
}

/// What is sent, and where to.
#[derive(Debug)]
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

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
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
struct Recording {
    place: Place,
    attempt: u32,
    boot: u64,
    started_at: Timestamp,
    tried: Tried,
    pauses: Pauses,
    chance: u64,
    now: Timestamp,
    telling: Telling,
}

/// What a recorded attempt means for the outbox in memory.
#[derive(Clone, Copy)]
struct Recorded {
    status: Status,
    state: State,
    next: Option<Duration>,
}

/// Claims up to `most` deliveries that are due; each attempt counts from here on.
///
/// # Errors
///
/// What the store says; nothing is claimed then.
pub async fn claim(app: &App, most: usize) -> Result<Vec<Parcel>, Error> {
    let mark = app.0.clock.mark();
    let taken = app.0.outbox.take(most.min(CLAIM_MAX), mark);
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let (places, boot, now) = (taken.clone(), app.0.boot, app.0.clock.now());
    let claim = app.0.store.write(move |txn| {
        let claimed = places.iter().map(|(place, _)| claim_one(txn, *place, boot, now));
        claimed.collect::<Result<Vec<_>, Error>>()
    });
    let claimed = match claim.await {
        Ok(claimed) => claimed,
        Err(error) => {
            let later = Some(mark.after(TROUBLE_PAUSE));
            taken.iter().for_each(|(it, lane)| app.0.outbox.end(*it, *lane, None, later, mark));
            return Err(error);
        }
    };
    let mut parcels = Vec::with_capacity(claimed.len());
    for ((place, lane), attempt) in taken.into_iter().zip(claimed) {
        match attempt {
            Some(attempt) => parcels.push(Parcel { place, attempt, started_at: now, lane }),
            // It is over since it was noted, or was never there.
            None => app.0.outbox.end(place, lane, None, None, mark),
        }
    }
    Ok(parcels)
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

/// What is to be sent; `None` when the delivery is gone, and nothing may be sent for it.
///
/// # Errors
///
/// What the store says; a fault of ours when the secret does not open or the body has changed.
pub fn open(app: &App, parcel: &Parcel) -> Result<Option<Letter>, Error> {
    let Place { account, receiver, .. } = parcel.place;
    app.0.store.read(|view| {
        let Some(delivery) = deliveries::find(view, parcel.place)? else { return Ok(None) };
        let Some((to, sealed)) = receivers::find(view, account, receiver)? else { return Ok(None) };
        let Some(event) = events::find(view, account, delivery.event)? else { return Ok(None) };
        if !event.is_whole() {
            return Err(store::Error::Bug("the body of an event has changed").into());
        }
        let secret = app.0.seal.open(receiver.as_bytes(), &sealed);
        let secret = secret.as_deref().and_then(SigningSecret::parse);
        let secret = secret.ok_or(store::Error::Bug("a secret does not open"))?;
        Ok(Some(Letter { url: to.url, secret, event: event.id, body: event.body }))
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
    let recording = Recording {
        place: parcel.place,
        attempt: parcel.attempt,
        boot: app.0.boot,
        started_at: parcel.started_at,
        tried,
        pauses: app.0.settings.webhooks.pauses,
        chance: app.0.entropy.below(u64::from(u32::MAX)),
        now: app.0.clock.now(),
        telling: app.telling(),
    };
    let recorded = app.0.store.write(move |txn| record_one(txn, &recording)).await?;
    let Some(recorded) = recorded else {
        let next = app.recorded_before(parcel.place)?;
        app.leave(parcel, None, next.map(|it| app.0.clock.mark().after(it)));
        return Ok(Landed::TooLate);
    };
    app.leave(parcel, Some(recorded.state), recorded.next.map(|it| end.after(it)));
    app.count_attempt(tried, recorded.status);
    Ok(Landed::Done)
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
            started_at: claim.started_at,
            tried: Tried { duration: Duration::ZERO, http_code: None, fault, retry_after: None },
            pauses: self.0.settings.webhooks.pauses,
            chance: self.0.entropy.below(u64::from(u32::MAX)),
            now: self.0.clock.now(),
            telling: self.telling(),
        })
    }

    fn health(&self, place: Place) -> Result<State, Error> {
        self.0
            .store
            .read(|view| Ok(receivers::standing(view, place.account, place.receiver)?.health.state))
    }

    /// Takes an attempt out of the outbox in memory.
    fn leave(&self, parcel: &Parcel, state: Option<State>, next: Option<Mark>) {
        let now = self.0.clock.mark();
        self.0.outbox.end(parcel.place, parcel.lane, state, next, now);
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

/// The open delivery, if the attempt is the one that is under way.
fn mine(txn: &Txn<'_>, place: Place, attempt: u32, boot: u64) -> Result<Option<Open>, Error> {
    let open = outbox::find(txn, place)?;
    Ok(open.filter(|it| it.sent == attempt && it.claim.is_some_and(|it| it.boot == boot)))
}

/// Records one attempt; `None` when its delivery is gone.
fn record_one(txn: &mut Txn<'_>, recording: &Recording) -> Result<Option<Recorded>, Error> {
    let Recording { place, attempt, boot, started_at, tried, pauses, chance, now, telling } =
        *recording;
    if mine(txn, place, attempt, boot)?.is_none() {
        return Ok(None);
    }
    let Some(before) = deliveries::find(txn, place)? else { return Ok(None) };
    let is_active = receivers::is_active(txn, place.account, place.receiver)?;
    let next = match pauses.after(attempt, chance, tried.retry_after) {
        _ if !is_active => Next::Cancel(Reason::ReceiverDisabled),
        Some(pause) => Next::Retry(pause),
        None => Next::GiveUp,
    };
    let mut after = before.clone();
    let duration_ms = u32::try_from(tried.duration.as_millis()).unwrap_or(u32::MAX);
    let Tried { http_code, fault, .. } = tried;
    let ended = Attempt { number: attempt, started_at, duration_ms, http_code, fault };
    after.record(ended, next, now);
    let pause = match next {
        Next::Retry(pause) if after.status == Status::Retrying => Some(pause),
        Next::Retry(_) | Next::GiveUp | Next::Cancel(_) => None,
    };
    let due = pause.map(|it| Due::after(it, now, telling.uptime));
    let open = due.map(|due| Open { sent: attempt, due, claim: None });
    let health = receivers::standing(txn, place.account, place.receiver)?.health;
    // A death of ours says nothing of the receiver.
    let health = match fault.map(|it| it.reason) {
        Some(Reason::Interrupted | Reason::Internal) => health,
        Some(_) | None => health.after(fault.is_none(), tried.duration, now),
    };
    deliveries::put(txn, &before, &after, open.as_ref(), Some(health))?;
    Ok(Some(Recorded { status: after.status, state: health.state, next: pause }))
}

/// Deliveries that are claimed in one transaction. Source: the contract, section 8.
const CLAIM_MAX: usize = 256;
/// Interrupted attempts that are recorded in one transaction.
const RECOVER_MAX: usize = 200;
/// The pause after something went wrong on our side.
const TROUBLE_PAUSE: Duration = Duration::from_secs(1);
