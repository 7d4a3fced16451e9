//! The logs of receivers, as their owner handles them: read, send again.
//!
//! Source: service interface, "Delivery log entry"; the contract, section 8.

use crate::app::news::{Fresh, post};
use crate::app::{App, Error};
use crate::domain::account::{AccountId, Caller};
use crate::domain::delivery::{Delivery, DeliveryId, Place, Status};
use crate::domain::limits::BACKLOG_MAX;
use crate::domain::receiver::ReceiverId;
use crate::domain::time::Timestamp;
use crate::store::deliveries::{self, Filter, Page};
use crate::store::{Txn, events, receivers};

pub use crate::store::deliveries::Filter as LogFilter;
pub use crate::store::deliveries::Page as LogPage;

/// A page of the log of the caller's receiver, newest first.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such receiver.
pub async fn list(
    app: &App,
    caller: &Caller,
    receiver: ReceiverId,
    filter: Filter,
    (offset, limit): (usize, usize),
) -> Result<Page, Error> {
    let account = caller.account;
    let scan = move |view: &_| {
        receivers::find(view, account, receiver)?.ok_or(Error::NotFound)?;
        Ok(deliveries::scan(view, account, receiver, &filter, (offset, limit))?)
    };
    app.0.store.scan(scan).await
}

/// Sends an event again to the caller's receiver: a delivery of its own, with six attempts.
///
/// While another delivery of the event to the receiver is not over, that one is the answer.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such delivery; [`Error::ReceiverDisabled`];
/// [`Error::TooManyRepeats`] and [`Error::BacklogFull`], so that what is still being tried keeps
/// its attempts.
pub async fn resend(
    app: &App,
    caller: &Caller,
    receiver: ReceiverId,
    id: DeliveryId,
) -> Result<Delivery, Error> {
    let (account, now) = (caller.account, app.0.clock.now());
    let (fresh, uptime) = (app.0.entropy.id(now), app.0.clock.uptime());
    let resend = app.0.store.write(move |txn| {
        receivers::find(txn, account, receiver)?.ok_or(Error::NotFound)?;
        let found = deliveries::find(txn, Place { account, receiver, id })?;
        let delivery = found.ok_or(Error::NotFound)?;
        if !receivers::is_active(txn, account, receiver)? {
            return Err(Error::ReceiverDisabled);
        }
        let siblings = siblings(txn, &delivery)?;
        if let Some(open) = siblings.iter().find(|it| !it.status.is_over()) {
            return Ok((open.clone(), None));
        }
        if siblings.len() >= REPEATS_MAX {
            return Err(Error::TooManyRepeats { limit: REPEATS_MAX });
        }
        if !has_room(txn, account, receiver)? {
            return Err(Error::BacklogFull { limit: BACKLOG_MAX });
        }
        let again = delivery.resend(fresh, now);
        let news = post(txn, &again, std::time::Duration::ZERO, uptime)?;
        Ok((again, Some(news)))
    });
    let (delivery, news): (Delivery, Option<Fresh>) = resend.await?;
    app.post(news.into_iter().collect());
    Ok(delivery)
}

/// A span of time in which failed deliveries were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// From here on.
    pub since: Timestamp,
    /// Up to, and without, this.
    pub until: Timestamp,
}

/// Sends again what has failed in a span of time; how many deliveries were made.
///
/// Only events that the receiver should have had are sent: nothing older than the receiver.
/// What is being delivered, or was delivered since, is left alone, so asking twice changes
/// nothing. When the backlog is full the rest stays failed, and can be asked for later.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such receiver; [`Error::ReceiverDisabled`].
pub async fn recover(
    app: &App,
    caller: &Caller,
    receiver: ReceiverId,
    span: Since,
) -> Result<usize, Error> {
    let account = caller.account;
    let filter = Filter {
        statuses: vec![Status::Failed],
        created_after: Some(span.since),
        created_before: Some(span.until),
        ..Filter::default()
    };
    let scan = move |view: &_| {
        receivers::find(view, account, receiver)?.ok_or(Error::NotFound)?;
        if !receivers::is_active(view, account, receiver)? {
            return Err(Error::ReceiverDisabled);
        }
        Ok(deliveries::scan(view, account, receiver, &filter, (0, RECOVER_MAX))?)
    };
    let failed = app.0.store.scan(scan).await?.deliveries;
    let mut made = 0_usize;
    for some in failed.chunks(BATCH_MAX) {
        let (now, uptime) = (app.0.clock.now(), app.0.clock.uptime());
        let some: Vec<_> = some.iter().map(|it| (it.place(), app.0.entropy.id(now))).collect();
        let recover = app.0.store.write(move |txn| {
            let mut news = Vec::new();
            for (place, fresh) in &some {
                let Some(delivery) = deliveries::find(txn, *place)? else { continue };
                let is_wanted = receivers::is_active(txn, account, receiver)?
                    && has_room(txn, account, receiver)?;
                if is_wanted && may_repeat(&siblings(txn, &delivery)?) {
                    let again = delivery.resend(*fresh, now);
                    news.push(post(txn, &again, std::time::Duration::ZERO, uptime)?);
                }
            }
            Ok::<_, Error>(news)
        });
        let news = recover.await?;
        made = made.saturating_add(news.len());
        app.post(news);
    }
    Ok(made)
}

/// Whether an event with these deliveries may be sent again: it neither reached the receiver nor
/// is on its way, and was not sent too often.
fn may_repeat(siblings: &[Delivery]) -> bool {
    let settled = |it: &Delivery| !it.status.is_over() || it.status == Status::Delivered;
    siblings.len() < REPEATS_MAX && !siblings.iter().any(settled)
}

/// Whether one more delivery can wait for a receiver without pushing another one out.
fn has_room(txn: &Txn<'_>, account: AccountId, receiver: ReceiverId) -> Result<bool, Error> {
    Ok(receivers::standing_in(txn, account, receiver)?.backlog() < BACKLOG_MAX)
}

/// All deliveries of the same event to the same receiver.
fn siblings(txn: &Txn<'_>, delivery: &Delivery) -> Result<Vec<Delivery>, Error> {
    // The event is kept as long as its deliveries are.
    events::find(txn, delivery.account, delivery.event)?.ok_or(Error::NotFound)?;
    let mut found = Vec::new();
    for place in deliveries::of_event(txn, delivery.account, delivery.event)? {
        if place.receiver == delivery.receiver {
            found.extend(deliveries::find(txn, place)?);
        }
    }
    Ok(found)
}

/// Deliveries of one event to one receiver, so that a look at them stays short.
const REPEATS_MAX: usize = 20;
/// Failed deliveries that one request sends again. Source: the contract, section 8.
const RECOVER_MAX: usize = 10_000;
/// Deliveries that are made in one transaction.
const BATCH_MAX: usize = 200;
