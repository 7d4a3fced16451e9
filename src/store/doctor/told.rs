//! The receivers, events and deliveries of the sample, and what the doctor says of their damages.

use std::time::Duration;

use crate::domain::delivery::{self, Attempt, Delivery, Next, Place};
use crate::domain::due::Due;
use crate::domain::event::Event;
use crate::domain::fault::{Fault, Reason};
use crate::domain::id::Id;
use crate::domain::outcome::{Ending, Failure};
use crate::domain::receiver::{Receiver, ReceiverId};
use crate::domain::run::{Run, RunId, Status};
use crate::store::doctor::sample::{BOB, NOW, check_problems, new_run};
use crate::store::outbox::{Claim, Open};
use crate::store::seal::{self, Seal};
use crate::store::tables::Table;
use crate::store::{Error, Txn, deliveries, events, outbox, receivers, runs};

/// Bob's; failed, and two receivers were told.
const TOLD: RunId = Id::from_bytes([0x22; 16]);
/// Bob's; takes events.
const LISTENS: ReceiverId = Id::from_bytes([0x31; 16]);
/// Bob's; disabled.
const DEAF: ReceiverId = Id::from_bytes([0x32; 16]);

/// Writes it all.
pub(super) fn fill(txn: &mut Txn<'_>) -> Result<(), Error> {
    seal::check(txn, &Seal::new(&[1; 32])?, [0; 12])?;
    let sealed = Seal::new(&[1; 32])?.seal(LISTENS.as_bytes(), [1; 12], "whsec_x")?;
    let run = told();
    runs::insert(txn, &run)?;
    let event = event();
    events::insert(txn, &event)?;
    for id in [LISTENS, DEAF] {
        let receiver = Receiver {
            id,
            account: BOB,
            url: "https://hooks.example.org/".into(),
            fingerprint: "0a1b2c3d".into(),
            created_at: NOW,
            disabled_at: (id == DEAF).then_some(NOW),
        };
        receivers::put(txn, &receiver, &sealed)?;
        let before = Delivery::new(&event, id, Duration::ZERO);
        let due = Due::after(Duration::ZERO, NOW, None);
        deliveries::insert(txn, &before, &Open { sent: 0, due, claim: None })?;
        let mut after = before.clone();
        if id == DEAF {
            after.drop_for(Reason::ReceiverDisabled, NOW);
            deliveries::put(txn, &before, &after, None, None)?;
        } else {
            let fault = Some(Fault::of(Reason::HttpStatus));
            let attempt =
                Attempt { number: 1, started_at: NOW, duration_ms: 5, http_code: Some(500), fault };
            after.record(attempt, Next::Retry(Duration::from_mins(1)), NOW);
            let claim = Some(Claim { boot: 1, started_at: NOW });
            deliveries::put(txn, &before, &after, Some(&Open { sent: 2, due, claim }), None)?;
        }
    }
    Ok(())
}

fn told() -> Run {
    let failure = Failure {
        reason: crate::domain::outcome::Reason::Timeout,
        code: String::new(),
        message: String::new(),
    };
    let mut run = new_run(BOB, TOLD);
    run.hold = crate::domain::money::Amount::ZERO;
    run.claim(NOW).unwrap();
    run.finish(Ending::Failed(failure), run.cost, NOW).unwrap();
    assert_eq!(run.status, Status::Failed);
    run
}

fn event() -> Event {
    Event::of(&told(), None, told().finished_at.unwrap()).unwrap()
}

fn place(receiver: ReceiverId) -> Place {
    Delivery::new(&event(), receiver, Duration::ZERO).place()
}

fn words(table: Table, key: &str, fault: &str) -> String {
    format!("{} {key}: {fault}", table.name())
}

fn row(receiver: ReceiverId) -> String {
    let Place { account, receiver, id } = place(receiver);
    format!("{account}/{receiver}/{id}")
}

#[test]
fn a_receiver_stands_among_the_active_ones_unless_it_is_disabled() {
    let key = |it| receivers::key(BOB, it);
    check_problems(
        move |txn| txn.remove(Table::ActiveReceivers, &key(LISTENS)).map(|_| ()),
        &[words(
            Table::Receivers,
            &format!("{BOB}/{LISTENS}"),
            "it has no row in active-receivers-1",
        )],
    );
    check_problems(
        move |txn| txn.mark(Table::ActiveReceivers, &key(DEAF)),
        &[words(
            Table::Receivers,
            &format!("{BOB}/{DEAF}"),
            "it is disabled, and stands among the active ones",
        )],
    );
    check_problems(
        move |txn| txn.mark(Table::ActiveReceivers, &key(Id::from_bytes([9; 16]))),
        &[words(
            Table::ActiveReceivers,
            &format!("{BOB}/{}", ReceiverId::from_bytes([9; 16])),
            "no row of receivers-1 stands behind it",
        )],
    );
}

#[test]
fn a_delivery_has_its_rows_and_a_place_in_the_outbox_while_it_is_open() {
    check_problems(
        |txn| outbox::remove(txn, place(LISTENS)),
        &[words(Table::Deliveries, &row(LISTENS), "it has no row in outbox-1")],
    );
    check_problems(
        |txn| {
            let due = Due::after(Duration::ZERO, NOW, None);
            outbox::put(txn, place(DEAF), &Open { sent: 0, due, claim: None })
        },
        &[words(Table::Deliveries, &row(DEAF), "it is over, and stands in the outbox")],
    );
    check_problems(
        |txn| {
            let key = deliveries::event_key(place(DEAF), event().id);
            txn.remove(Table::EventDeliveries, &key).map(|_| ())
        },
        &[words(Table::Deliveries, &row(DEAF), "it has no row in event-deliveries-1")],
    );
    check_problems(
        |txn| {
            let key = deliveries::state_key(place(LISTENS), delivery::Status::Delivered);
            txn.mark(Table::DeliveryStates, &key)
        },
        &[
            words(
                Table::Standings,
                &format!("{BOB}/{LISTENS}"),
                "its number of deliveries is 0, and should be 1",
            ),
            words(
                Table::DeliveryStates,
                &format!("{BOB}/{LISTENS}/2/{}", place(LISTENS).id),
                "no row of deliveries-1 stands behind it",
            ),
        ],
    );
}

#[test]
fn the_outbox_says_how_often_and_by_whom_something_was_sent() {
    for (sent, boot, fault) in [
        (7, 1, "it was sent more than six times"),
        (0, 1, "the log has more attempts than were begun"),
        (2, 99, "it was claimed by a start that has not been"),
    ] {
        check_problems(
            move |txn| {
                let due = Due::after(Duration::ZERO, NOW, None);
                let claim = Some(Claim { boot, started_at: NOW });
                outbox::put(txn, place(LISTENS), &Open { sent, due, claim })
            },
            &[words(Table::Outbox, &row(LISTENS), fault)],
        );
    }
}

#[test]
fn an_event_is_whole_and_goes_back_to_a_run_that_is_over() {
    let key = format!("{BOB}/{}", event().id);
    check_problems(
        |txn| events::insert(txn, &Event { body: "{}".into(), ..event() }),
        &[words(Table::Events, &key, "its body is not the one that was made")],
    );
    check_problems(
        |txn| {
            let run = runs::find(txn, BOB, TOLD)?.unwrap();
            runs::remove(txn, &run)
        },
        &[words(Table::Events, &key, "no row of runs-1 stands behind it")],
    );
    check_problems(
        |txn| {
            let row = events::run_key(BOB, TOLD).id(event().id);
            txn.remove(Table::RunEvents, &row).map(|_| ())
        },
        &[words(Table::Events, &key, "it has no row in run-events-1")],
    );
}
