//! The logs of the receivers, as they are kept: the record, its indexes and its counts.
//!
//! Every change goes through [`insert`], [`put`] and [`remove`], which keep the indexes, the counts
//! and the outbox in step with the record.

use crate::domain::account::AccountId;
use crate::domain::delivery::{Delivery, DeliveryId, Place, Status};
use crate::domain::event::EventId;
use crate::domain::health::Health;
use crate::domain::receiver::ReceiverId;
use crate::domain::time::Timestamp;
use crate::store::codec;
use crate::store::delivery_row::{self, DeliveryRow};
use crate::store::error::Error;
use crate::store::events;
use crate::store::key::{Key, Parts};
use crate::store::outbox::{self, Open};
use crate::store::receivers;
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables, View};
use crate::store::walk::{Span, Walk, first_id, last_id};

/// Which deliveries are wanted.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// In one of these statuses; in any when empty.
    pub statuses: Vec<Status>,
    /// Of this event.
    pub event: Option<EventId>,
    /// Made at this time or later.
    pub created_after: Option<Timestamp>,
    /// Made before this time.
    pub created_before: Option<Timestamp>,
}

/// A page of a log.
#[derive(Clone, Debug)]
pub struct Page {
    /// The deliveries, newest first.
    pub deliveries: Vec<Delivery>,
    /// How many there are on all pages.
    pub total: u64,
    /// Whether there are older ones.
    pub has_more: bool,
}

/// Keeps a new delivery, whose first attempt is due as `open` says.
///
/// # Errors
///
/// What the disk says.
pub fn insert(txn: &mut Txn<'_>, delivery: &Delivery, open: &Open) -> Result<(), Error> {
    let place = delivery.place();
    txn.put(Table::Deliveries, &outbox::key(place), &delivery_row::of(delivery))?;
    txn.mark(Table::DeliveryStates, &state_key(place, delivery.status))?;
    txn.mark(Table::EventDeliveries, &event_key(place, delivery.event))?;
    outbox::put(txn, place, open)?;
    let mut standing = receivers::standing_in(txn, place.account, place.receiver)?;
    standing.add(delivery.status);
    receivers::put_standing(txn, place.account, place.receiver, &standing);
    Ok(())
}

/// Changes a delivery from `before` to `after`; with `open` it goes on, without it is over.
///
/// `health` is how its receiver does after an attempt, when there was one.
///
/// # Errors
///
/// What the disk says.
pub fn put(
    txn: &mut Txn<'_>,
    before: &Delivery,
    after: &Delivery,
    open: Option<&Open>,
    health: Option<Health>,
) -> Result<(), Error> {
    let place = after.place();
    txn.put(Table::Deliveries, &outbox::key(place), &delivery_row::of(after))?;
    match open {
        Some(open) => outbox::put(txn, place, open)?,
        None => outbox::remove(txn, place)?,
    }
    if before.status == after.status && health.is_none() {
        return Ok(());
    }
    let mut standing = receivers::standing_in(txn, place.account, place.receiver)?;
    standing.health = health.unwrap_or(standing.health);
    if before.status != after.status {
        txn.remove(Table::DeliveryStates, &state_key(place, before.status))?;
        txn.mark(Table::DeliveryStates, &state_key(place, after.status))?;
        standing.take(before.status);
        standing.add(after.status);
    }
    receivers::put_standing(txn, place.account, place.receiver, &standing);
    Ok(())
}

/// Forgets a delivery, and its event with the last of its deliveries.
///
/// # Errors
///
/// What the disk says.
pub fn remove(txn: &mut Txn<'_>, delivery: &Delivery) -> Result<(), Error> {
    let place = delivery.place();
    txn.remove(Table::Deliveries, &outbox::key(place))?;
    txn.remove(Table::DeliveryStates, &state_key(place, delivery.status))?;
    txn.remove(Table::EventDeliveries, &event_key(place, delivery.event))?;
    outbox::remove(txn, place)?;
    let mut standing = receivers::standing_in(txn, place.account, place.receiver)?;
    standing.take(delivery.status);
    receivers::put_standing(txn, place.account, place.receiver, &standing);
    if of_event(txn, place.account, delivery.event)?.is_empty() {
        events::remove(txn, place.account, delivery.event, delivery.run)?;
    }
    Ok(())
}

/// Forgets a delivery of `event` whose record cannot be read, and all rows that belong to it.
///
/// # Errors
///
/// What the disk says.
pub fn remove_unreadable(txn: &mut Txn<'_>, place: Place, event: EventId) -> Result<(), Error> {
    tracing::error!(delivery.id = %place.id, "a damaged delivery was forgotten");
    txn.remove(Table::Deliveries, &outbox::key(place))?;
    let mut standing = receivers::standing_in(txn, place.account, place.receiver)?;
    for status in Status::ALL {
        if txn.remove(Table::DeliveryStates, &state_key(place, status))? {
            standing.take(status);
        }
    }
    receivers::put_standing(txn, place.account, place.receiver, &standing);
    txn.remove(Table::EventDeliveries, &event_key(place, event))?;
    outbox::remove(txn, place)
}

/// The delivery of that place.
///
/// # Errors
///
/// What the disk says.
pub fn find(tables: &impl Tables, place: Place) -> Result<Option<Delivery>, Error> {
    let row: Option<DeliveryRow> = view::record(tables, Table::Deliveries, &outbox::key(place))?;
    Ok(row.map(|it| delivery_row::delivery(place, it)))
}

/// Where the deliveries of an event stand.
///
/// # Errors
///
/// What the disk says.
pub fn of_event(
    tables: &impl Tables,
    account: AccountId,
    event: EventId,
) -> Result<Vec<Place>, Error> {
    let rows = view::rows_of(tables, Table::EventDeliveries, &Key::of(account).id(event))?;
    let places = rows.map(|row| {
        let (key, _) = row?;
        let mut parts = Parts(key.value());
        let place = parts
            .take::<32>()
            .and_then(|_| Some(Place { account, receiver: parts.id()?, id: parts.id()? }));
        place.ok_or(Error::Damaged { table: Table::EventDeliveries.name() })
    });
    places.collect()
}

/// A page of a receiver's log, newest first.
///
/// Without a time or an event it costs what it shows and skips; the total comes from counters.
///
/// # Errors
///
/// What the disk says.
pub fn scan(
    tables: &View,
    account: AccountId,
    receiver: ReceiverId,
    filter: &Filter,
    (offset, limit): (usize, usize),
) -> Result<Page, Error> {
    let sources = sources(account, receiver, filter);
    let span = Span::of_times(filter.created_after, filter.created_before);
    let choose = |id| choose(tables, Place { account, receiver, id }, filter);
    let mut page = Page { deliveries: Vec::with_capacity(limit), total: 0, has_more: false };
    let mut skipped = 0;
    for id in Walk::new(tables, &sources, span)? {
        let Some(delivery) = choose(id?)? else { continue };
        if skipped < offset {
            skipped = skipped.saturating_add(1);
        } else if page.deliveries.len() < limit {
            page.deliveries.push(delivery);
        } else {
            page.has_more = true;
            break;
        }
    }
    page.total = match filter {
        Filter { event: None, created_after: None, created_before: None, statuses } => {
            let standing = receivers::standing(tables, account, receiver)?;
            let wanted = |it: &Status| statuses.is_empty() || statuses.contains(it);
            Status::ALL.into_iter().filter(wanted).map(|it| standing.count(it)).sum()
        }
        Filter { .. } => Walk::new(tables, &sources, span)?.try_fold(0_u64, |sum, id| {
            let id = id?;
            let chosen = filter.event.is_none() || choose(id)?.is_some();
            Ok::<_, Error>(sum.saturating_add(u64::from(chosen)))
        })?,
    };
    Ok(page)
}

/// Up to `limit` deliveries of a receiver that were over before `at`, oldest first.
///
/// # Errors
///
/// What the disk says.
pub fn scan_expired(
    tables: &impl Tables,
    account: AccountId,
    receiver: ReceiverId,
    at: Timestamp,
    limit: usize,
) -> Result<Vec<Delivery>, Error> {
    let prefix = receivers::key(account, receiver);
    let end = prefix.id(first_id::<crate::domain::id::Delivery>(at));
    let mut expired = Vec::new();
    for row in tables.rows(Table::Deliveries, prefix.as_slice(), Some(end.as_slice()))? {
        let (key, value) = row?;
        let id: DeliveryId = last_id(key.value(), Table::Deliveries)?;
        // One that cannot be read goes with its run.
        let row = codec::decode(Table::Deliveries, key.value(), value.value());
        let Some(row) = view::sound(row)? else { continue };
        let delivery = delivery_row::delivery(Place { account, receiver, id }, row);
        if delivery.finished_at.is_some_and(|it| it < at) {
            expired.push(delivery);
        }
        if expired.len() >= limit {
            break;
        }
    }
    Ok(expired)
}

/// The newest delivery of a receiver, for the ids of the next ones.
///
/// # Errors
///
/// What the disk says.
pub fn newest(
    tables: &impl Tables,
    account: AccountId,
    receiver: ReceiverId,
) -> Result<Option<DeliveryId>, Error> {
    let prefix = receivers::key(account, receiver);
    let row = view::rows_of(tables, Table::Deliveries, &prefix)?.next_back();
    row.map(|it| last_id(it?.0.value(), Table::Deliveries)).transpose()
}

/// Whether a receiver has no deliveries.
///
/// # Errors
///
/// What the disk says.
pub fn is_empty(
    tables: &impl Tables,
    account: AccountId,
    receiver: ReceiverId,
) -> Result<bool, Error> {
    let prefix = receivers::key(account, receiver);
    let first = view::rows_of(tables, Table::Deliveries, &prefix)?.next();
    Ok(first.transpose()?.is_none())
}

/// The key of a delivery in the index of states.
pub(crate) fn state_key(place: Place, status: Status) -> Key {
    receivers::key(place.account, place.receiver).u8(status as u8).id(place.id)
}

/// The key of a delivery in the index of events.
pub(crate) fn event_key(place: Place, event: EventId) -> Key {
    Key::of(place.account).id(event).id(place.receiver).id(place.id)
}

/// Where the ids of the wanted deliveries stand: tables and the beginnings of their keys.
fn sources(account: AccountId, receiver: ReceiverId, filter: &Filter) -> Vec<(Table, Key)> {
    let prefix = receivers::key(account, receiver);
    if let Some(event) = filter.event {
        return vec![(Table::EventDeliveries, Key::of(account).id(event).id(receiver))];
    }
    if filter.statuses.is_empty() {
        return vec![(Table::Deliveries, prefix)];
    }
    let states = Status::ALL.into_iter().filter(|it| filter.statuses.contains(it));
    states.map(|it| (Table::DeliveryStates, prefix.u8(it as u8))).collect()
}

/// The delivery of that place if the filter wants it and its record is sound.
fn choose(tables: &impl Tables, place: Place, filter: &Filter) -> Result<Option<Delivery>, Error> {
    let missing = Error::Damaged { table: Table::Deliveries.name() };
    let found = find(tables, place).and_then(|it| it.ok_or(missing));
    let Some(delivery) = view::sound(found)? else { return Ok(None) };
    let fits = filter.statuses.is_empty() || filter.statuses.contains(&delivery.status);
    Ok(fits.then_some(delivery))
}
