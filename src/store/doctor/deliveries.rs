//! Receivers, events and deliveries: each row is asked for the rows that belong to it, and each
//! index row for the one behind it.

use crate::domain::account::AccountId;
use crate::domain::delivery::{Delivery, Place, Status};
use crate::domain::event::{Event, EventId};
use crate::domain::limits::SENDS_MAX;
use crate::domain::receiver::ReceiverId;
use crate::domain::run::RunId;
use crate::store::doctor::findings::{Fault, Findings};
use crate::store::doctor::look::{Behind, each, is_there};
use crate::store::error::Error;
use crate::store::key::{Key, Parts};
use crate::store::tables::Table;
use crate::store::view::{self, View};
use crate::store::{deliveries, events, meta, outbox, receivers, runs};

/// Looks at everything that webhooks leave on disk.
///
/// # Errors
///
/// What the disk says.
pub(super) fn check(view: &View, findings: &mut Findings) -> Result<(), Error> {
    check_receivers(view, findings)?;
    check_standings(view, findings)?;
    check_log(view, findings)?;
    check_indexes(view, findings)?;
    check_outbox(view, findings)?;
    check_events(view, findings)
}

fn check_receivers(view: &View, findings: &mut Findings) -> Result<(), Error> {
    each(
        view,
        Table::Receivers,
        |key| {
            let Some((account, id)) = receiver(key) else { return Ok(None) };
            let found = Behind::of(receivers::find(view, account, id))?;
            let is_listed = receivers::is_active(view, account, id)?;
            let fits = found.fits(|(it, _)| it.disabled_at.is_none() == is_listed);
            Ok((!fits).then(|| match is_listed {
                true => Fault::Rule("it is disabled, and stands among the active ones"),
                false => Fault::missing(Table::ActiveReceivers),
            }))
        },
        findings,
    )?;
    each(
        view,
        Table::ActiveReceivers,
        |key| {
            let Some((account, id)) = receiver(key) else { return Ok(None) };
            let found = Behind::of(receivers::find(view, account, id))?;
            Ok((!found.fits(|_| true)).then(|| Fault::stray(Table::Receivers)))
        },
        findings,
    )
}

/// Compares the counts of each receiver with the rows of the index that they count.
fn check_standings(view: &View, findings: &mut Findings) -> Result<(), Error> {
    each(
        view,
        Table::Standings,
        |key| {
            let Some((account, id)) = receiver(key) else { return Ok(None) };
            let Behind::There(standing) =
                Behind::of(receivers::standing(view, account, id).map(Some))?
            else {
                return Ok(None);
            };
            for status in Status::ALL {
                let prefix = receivers::key(account, id).u8(status as u8);
                let mut found = 0_u64;
                for row in view::rows_of(view, Table::DeliveryStates, &prefix)? {
                    row?;
                    found = found.saturating_add(1);
                }
                let fault = Fault::differs("number of deliveries", &standing.count(status), &found);
                if fault.is_some() {
                    return Ok(fault);
                }
            }
            Ok(None)
        },
        findings,
    )
}

/// Asks each delivery for its receiver, its event, and its rows in the indexes and the outbox.
fn check_log(view: &View, findings: &mut Findings) -> Result<(), Error> {
    each(
        view,
        Table::Deliveries,
        |key| {
            let Some(place) = outbox::place(key) else { return Ok(None) };
            let Behind::There(delivery) = Behind::of(deliveries::find(view, place))? else {
                return Ok(None);
            };
            let Place { account, receiver, .. } = place;
            let state = deliveries::state_key(place, delivery.status);
            let event = deliveries::event_key(place, delivery.event);
            let standing = receivers::key(account, receiver);
            for (table, key) in [
                (Table::Receivers, standing),
                (Table::Standings, standing),
                (Table::DeliveryStates, state),
                (Table::EventDeliveries, event),
                (Table::Events, events::key(account, delivery.event)),
            ] {
                if !is_there(view, table, &key)? {
                    return Ok(Some(Fault::missing(table)));
                }
            }
            let is_open = is_there(view, Table::Outbox, &outbox::key(place))?;
            Ok(match (delivery.status.is_over(), is_open) {
                (false, false) => Some(Fault::missing(Table::Outbox)),
                (true, true) => Some(Fault::Rule("it is over, and stands in the outbox")),
                (false, true) | (true, false) => None,
            })
        },
        findings,
    )
}

/// Asks each row of the indexes for its delivery, or its event.
fn check_indexes(view: &View, findings: &mut Findings) -> Result<(), Error> {
    each(
        view,
        Table::DeliveryStates,
        |key| {
            let mut parts = Parts(key);
            let (Some(account), Some(receiver)) = (parts.id(), parts.id()) else { return Ok(None) };
            let (Some([status]), Some(id)) = (parts.take::<1>(), parts.id()) else {
                return Ok(None);
            };
            let found = Behind::of(deliveries::find(view, Place { account, receiver, id }))?;
            let fits = found.fits(|it| it.status as u8 == status);
            Ok((!fits).then(|| Fault::stray(Table::Deliveries)))
        },
        findings,
    )?;
    each(
        view,
        Table::EventDeliveries,
        |key| {
            let mut parts = Parts(key);
            let (Some(account), Some(event)) = (parts.id(), parts.id::<crate::domain::id::Event>())
            else {
                return Ok(None);
            };
            let (Some(receiver), Some(id)) = (parts.id(), parts.id()) else { return Ok(None) };
            let found = Behind::of(deliveries::find(view, Place { account, receiver, id }))?;
            let fits = found.fits(|it: &Delivery| it.event == event);
            Ok((!fits).then(|| Fault::stray(Table::Deliveries)))
        },
        findings,
    )?;
    each(
        view,
        Table::RunEvents,
        |key| {
            let mut parts = Parts(key);
            let (Some(account), Some(run)) = (parts.id(), parts.id()) else { return Ok(None) };
            let run: RunId = run;
            let Some(id) = parts.id() else { return Ok(None) };
            let found = Behind::of(events::find(view, account, id))?;
            Ok((!found.fits(|it| it.run == run)).then(|| Fault::stray(Table::Events)))
        },
        findings,
    )
}

fn check_outbox(view: &View, findings: &mut Findings) -> Result<(), Error> {
    let boot = meta::identity(view).map_or(u64::MAX, |it| it.boot);
    each(
        view,
        Table::Outbox,
        |key| {
            let Some(place) = outbox::place(key) else { return Ok(None) };
            let Behind::There(open) = Behind::of(outbox::find(view, place))? else {
                return Ok(None);
            };
            let found = Behind::of(deliveries::find(view, place))?;
            if !found.fits(|_| true) {
                return Ok(Some(Fault::stray(Table::Deliveries)));
            }
            let begun = |it: &Delivery| it.attempts.last().is_none_or(|it| it.number <= open.sent);
            Ok(if open.sent > SENDS_MAX {
                Some(Fault::Rule("it was sent more than six times"))
            } else if !found.fits(begun) {
                Some(Fault::Rule("the log has more attempts than were begun"))
            } else if open.claim.is_some_and(|it| it.boot > boot) {
                Some(Fault::Rule("it was claimed by a start that has not been"))
            } else {
                None
            })
        },
        findings,
    )
}

/// Asks each event for its run, its deliveries, its index row, and whether its body is whole.
fn check_events(view: &View, findings: &mut Findings) -> Result<(), Error> {
    each(
        view,
        Table::Events,
        |key| {
            let mut parts = Parts(key);
            let (Some(account), Some(id)) = (parts.id(), parts.id()) else { return Ok(None) };
            let (account, id): (AccountId, EventId) = (account, id);
            let Behind::There(event) = Behind::of(events::find(view, account, id))? else {
                return Ok(None);
            };
            fault_of_event(view, &event)
        },
        findings,
    )
}

fn fault_of_event(view: &View, event: &Event) -> Result<Option<Fault>, Error> {
    if !event.is_whole() {
        return Ok(Some(Fault::Rule("its body is not the one that was made")));
    }
    let place = events::run_key(event.account, event.run).id(event.id);
    if !is_there(view, Table::RunEvents, &place)? {
        return Ok(Some(Fault::missing(Table::RunEvents)));
    }
    let run = Behind::of(runs::find(view, event.account, event.run))?;
    if !run.fits(|it| it.status == event.kind.status()) {
        return Ok(Some(Fault::stray(Table::Runs)));
    }
    let told = Key::of(event.account).id(event.id);
    let first = view::rows_of(view, Table::EventDeliveries, &told)?.next().transpose()?;
    Ok(first.is_none().then(|| Fault::missing(Table::EventDeliveries)))
}

fn receiver(key: &[u8]) -> Option<(AccountId, ReceiverId)> {
    let mut parts = Parts(key);
    Some((parts.id()?, parts.id()?))
}
