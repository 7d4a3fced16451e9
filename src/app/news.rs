//! Telling receivers that a run is over: the event and its deliveries, in the transaction of the
//! end.
//!
//! Who is told is decided there and then: every receiver that is active at that commit, and
//! nobody else. Source: service interface, "Events", rules 1 and 2.

use std::time::Duration;

use crate::app::{App, Error};
use crate::domain::account::AccountId;
use crate::domain::delivery::{Delivery, Place};
use crate::domain::due::{Due, Uptime};
use crate::domain::event::Event;
use crate::domain::fault::Reason;
use crate::domain::health::State;
use crate::domain::limits::BACKLOG_MAX;
use crate::domain::receiver::ReceiverId;
use crate::domain::retry::FirstAttempt;
use crate::domain::run::{Run, RunId};
use crate::domain::time::Timestamp;
use crate::store::outbox::Open;
use crate::store::{self, Txn, deliveries, events, outbox, receivers};

/// What a transaction must be told to make deliveries.
#[derive(Clone, Copy, Debug)]
pub(in crate::app) struct Telling {
    /// When the first attempt is made.
    pub(in crate::app) first: FirstAttempt,
    /// The clock of the running system.
    pub(in crate::app) uptime: Option<Uptime>,
    /// The time in the ids of what is told.
    pub(in crate::app) born_at: Timestamp,
}

/// A delivery that a transaction has made, for the outbox in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) struct Fresh {
    /// Where it stands.
    pub(in crate::app) place: Place,
    /// How long it is until its first attempt.
    pub(in crate::app) pause: Duration,
    /// How its receiver does.
    pub(in crate::app) state: State,
}

/// Makes the event of a run that has ended, and one delivery for every active receiver.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn announce(
    txn: &mut Txn<'_>,
    run: &Run,
    output: Option<&str>,
    telling: Telling,
) -> Result<Vec<Fresh>, Error> {
    let listeners = receivers::active(txn, run.account)?;
    if listeners.is_empty() {
        return Ok(Vec::new());
    }
    let event = Event::of(run, output, telling.born_at)
        .ok_or(store::Error::Bug("an event of a run that is not over"))?;
    events::insert(txn, &event)?;
    let pause = telling.first.pause(event.created_at);
    let told = listeners.into_iter().map(|receiver| {
        let delivery = Delivery::new(&event, receiver, pause);
        post(txn, &delivery, pause, telling.uptime)
    });
    told.collect()
}

/// Keeps a new delivery; when too much waits for its receiver, the oldest is given up.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn post(
    txn: &mut Txn<'_>,
    delivery: &Delivery,
    pause: Duration,
    uptime: Option<Uptime>,
) -> Result<Fresh, Error> {
    let place = delivery.place();
    let standing = receivers::standing_in(txn, place.account, place.receiver)?;
    if standing.backlog() >= BACKLOG_MAX
        && let Some(oldest) = outbox::oldest(txn, place.account, place.receiver)?
    {
        give_up(txn, oldest, Reason::BacklogLimit, delivery.created_at)?;
    }
    let due = Due::after(pause, delivery.created_at, uptime);
    deliveries::insert(txn, delivery, &Open { sent: 0, due, claim: None })?;
    Ok(Fresh { place, pause, state: standing.health.state })
}

/// Ends what waits for a receiver and is not being sent.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn cancel_all(
    txn: &mut Txn<'_>,
    account: AccountId,
    receiver: ReceiverId,
    now: Timestamp,
) -> Result<(), Error> {
    for (place, open) in outbox::of_receiver(txn, account, receiver)? {
        if open.claim.is_none() {
            give_up(txn, place, Reason::ReceiverDisabled, now)?;
        }
    }
    Ok(())
}

/// Forgets the events of a run and all their deliveries, also those that are being sent.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn withdraw(
    txn: &mut Txn<'_>,
    account: AccountId,
    run: RunId,
) -> Result<(), Error> {
    for event in events::of_run(txn, account, run)? {
        for place in deliveries::of_event(txn, account, event)? {
            match deliveries::find(txn, place) {
                Ok(Some(delivery)) => deliveries::remove(txn, &delivery)?,
                Ok(None) => {}
                Err(store::Error::Damaged { .. }) => {
                    deliveries::remove_unreadable(txn, place, event)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        // It went with the last of its deliveries, unless that could not be read.
        events::remove(txn, account, event, run)?;
    }
    Ok(())
}

/// Ends a delivery without another attempt.
///
/// # Errors
///
/// What the disk says.
pub(in crate::app) fn give_up(
    txn: &mut Txn<'_>,
    place: Place,
    reason: Reason,
    now: Timestamp,
) -> Result<(), Error> {
    let found = match deliveries::find(txn, place) {
        Err(store::Error::Damaged { table }) => {
            tracing::error!(table, delivery.id = %place.id, "a damaged delivery is given up");
            return Ok(outbox::remove(txn, place)?);
        }
        found => found?,
    };
    let before = found.ok_or(store::Error::Bug("an open delivery that is not in the log"))?;
    let mut after = before.clone();
    after.drop_for(reason, now);
    Ok(deliveries::put(txn, &before, &after, None, None)?)
}

impl App {
    /// What a transaction that ends a run must be told.
    pub(in crate::app) fn telling(&self) -> Telling {
        Telling {
            first: self.0.settings.webhooks.first_attempt,
            uptime: self.0.clock.uptime(),
            born_at: self.0.entropy.time_of_id(self.0.clock.now()),
        }
    }

    /// Hands deliveries that are on disk to whoever sends them.
    pub(in crate::app) fn post(&self, news: Vec<Fresh>) {
        if news.is_empty() {
            return;
        }
        let now = self.0.clock.mark();
        for Fresh { place, pause, state } in news {
            self.0.outbox.add(place, now.after(pause), state, now);
        }
        self.0.mail.notify_one();
    }
}
