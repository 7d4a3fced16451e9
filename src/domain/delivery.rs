//! The delivery of one event to one receiver: its states, its attempts and why they failed.
//!
//! ```text
//! pending ──attempt──▶ retrying ──attempt──▶ … ──sixth──▶ failed
//!    │                    │
//!    ├───── any 2xx ──────┴──▶ delivered
//!    └───── receiver disabled, backlog full ──▶ cancelled, failed
//! ```
//!
//! Pure: no clock, no storage, no network; callers pass `now`.
//! Source: service interface, "Webhook delivery of one event"; the contract, section 8.

use std::time::Duration;

use crate::domain::account::AccountId;
use crate::domain::event::{Event, EventId, EventType};
use crate::domain::fault::{Fault, Reason};
use crate::domain::id::{self, Id};
use crate::domain::limits::SENDS_MAX;
use crate::domain::receiver::ReceiverId;
use crate::domain::run::RunId;
use crate::domain::time::Timestamp;

/// The name of a delivery.
pub type DeliveryId = Id<id::Delivery>;

/// Where a delivery stands: whose it is, to whom, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Whose it is.
    pub account: AccountId,
    /// To whom.
    pub receiver: ReceiverId,
    /// Which.
    pub id: DeliveryId,
}

/// One line of a receiver's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its name.
    pub id: DeliveryId,
    /// Whose it is.
    pub account: AccountId,
    /// To whom.
    pub receiver: ReceiverId,
    /// What.
    pub event: EventId,
    /// The type of the event.
    pub event_type: EventType,
    /// The run that the event is about.
    pub run: RunId,
    /// Where it is.
    pub status: Status,
    /// The attempts that have ended, in their order; at most six.
    pub attempts: Vec<Attempt>,
    /// Why the last attempt failed, or why there will be no other; none once delivered.
    pub fault: Option<Fault>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
    /// The delivery that this one repeats on somebody's demand.
    pub resend_of: Option<DeliveryId>,
}

/// Where a delivery is. Source: the contract, section 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// No attempt has ended.
    Pending,
    /// One to five attempts have failed; there will be more.
    Retrying,
    /// An attempt was answered with 2xx.
    Delivered,
    /// Six attempts have failed, or the backlog was full.
    Failed,
    /// There is no need for it any more.
    Cancelled,
}

/// One attempt that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// The code of the answer, if there was one.
    pub http_code: Option<u16>,
    /// Why it failed; none when it was answered with 2xx.
    pub fault: Option<Fault>,
}

/// What an attempt leads to when it has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another one after this pause.
    Retry(Duration),
    /// None, because that was the last.
    GiveUp,
    /// None, because nobody wants it any more.
    Cancel(Reason),
}

impl Delivery {
    /// The delivery of an event to a receiver, with the first attempt due after `pause`.
    ///
    /// Its id follows from the two, so an end that is written twice makes the same deliveries.
    #[must_use]
    pub fn new(event: &Event, receiver: ReceiverId, pause: Duration) -> Self {
        let parts = [*event.id.as_bytes(), *receiver.as_bytes()];
        // The id of the event goes forward also when the clock was set back.
        let id = DeliveryId::derived(event.id.born_at(), &parts);
        Self::fresh(id, event, receiver, event.created_at, pause)
    }

    /// The repetition of this delivery, with attempts of its own; due at once.
    #[must_use]
    pub fn resend(&self, id: DeliveryId, now: Timestamp) -> Self {
        Self {
            id,
            status: Status::Pending,
            attempts: Vec::new(),
            fault: None,
            created_at: now,
            next_attempt_at: Some(now),
            finished_at: None,
            resend_of: Some(self.id),
            ..self.clone()
        }
    }

    /// Where it stands.
    #[must_use]
    pub const fn place(&self) -> Place {
        Place { account: self.account, receiver: self.receiver, id: self.id }
    }

    /// Notes an attempt that was answered with 2xx, or failed and leads to `next`.
    ///
    /// Nothing changes when the delivery is over.
    pub fn record(&mut self, attempt: Attempt, next: Next, now: Timestamp) {
        if self.status.is_over() {
            return;
        }
        self.fault = attempt.fault;
        self.attempts.push(attempt);
        match (self.fault, next) {
            (None, _) => self.finish(Status::Delivered, now),
            (Some(_), Next::Retry(pause)) if self.may_retry() => {
                self.status = Status::Retrying;
                self.next_attempt_at = Some(now.after(pause));
            }
            (Some(_), Next::Cancel(reason)) => {
                self.fault = Some(Fault::of(reason));
                self.finish(Status::Cancelled, now);
            }
            (Some(_), Next::Retry(_) | Next::GiveUp) => self.finish(Status::Failed, now),
        }
    }

    /// Ends a delivery without another attempt: it is over because of `reason`.
    pub fn drop_for(&mut self, reason: Reason, now: Timestamp) {
        if self.status.is_over() {
            return;
        }
        self.fault = Some(Fault::of(reason));
        let is_lost = reason == Reason::BacklogLimit;
        self.finish(if is_lost { Status::Failed } else { Status::Cancelled }, now);
    }

    /// The code of the last answer, whatever came of later attempts.
    #[must_use]
    pub fn http_code(&self) -> Option<u16> {
        self.attempts.iter().rev().find_map(|it| it.http_code)
    }

    fn may_retry(&self) -> bool {
        self.attempts.last().is_some_and(|it| it.number < SENDS_MAX)
    }

    fn finish(&mut self, status: Status, now: Timestamp) {
        self.status = status;
        self.next_attempt_at = None;
        self.finished_at = Some(now.max(self.created_at));
    }

    fn fresh(
        id: DeliveryId,
        event: &Event,
        receiver: ReceiverId,
        created_at: Timestamp,
        pause: Duration,
    ) -> Self {
        Self {
            id,
            account: event.account,
            receiver,
            event: event.id,
            event_type: event.kind,
            run: event.run,
            status: Status::Pending,
            attempts: Vec::new(),
            fault: None,
            created_at,
            next_attempt_at: Some(created_at.after(pause)),
            finished_at: None,
            resend_of: None,
        }
    }
}

impl Status {
    /// Every status, in the order of a delivery's life.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Retrying, Self::Delivered, Self::Failed, Self::Cancelled];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Retrying => "retrying",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads the word for a status.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// Whether there will be no more attempts.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Delivered | Self::Failed | Self::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(60_000);
    const PAUSE: Duration = Duration::from_mins(1);

    fn delivery() -> Delivery {
        let event = Event {
            id: Id::new(NOW, 0, [1; 8]),
            account: Id::from_bytes([2; 16]),
            run: Id::from_bytes([3; 16]),
            kind: EventType::Succeeded,
            created_at: NOW,
            body: "{}".into(),
            sha256: [0; 32],
        };
        Delivery::new(&event, Id::from_bytes([4; 16]), Duration::ZERO)
    }

    fn attempt(number: u32, http_code: Option<u16>) -> Attempt {
        let is_success = http_code.is_some_and(|it| (200..300).contains(&it));
        let fault = (!is_success).then_some(Fault::of(Reason::HttpStatus));
        Attempt { number, started_at: NOW, duration_ms: 5, http_code, fault }
    }

    /// Source: service interface, "Events", rules 7 and 10.
    #[test]
    fn six_failed_attempts_are_a_failed_delivery() {
        let mut it = delivery();
        for number in 1..6 {
            it.record(attempt(number, Some(500)), Next::Retry(PAUSE), NOW);
            assert_eq!(it.status, Status::Retrying);
            assert_eq!(it.next_attempt_at, Some(NOW.after(PAUSE)));
        }
        it.record(attempt(6, None), Next::Retry(PAUSE), NOW);
        assert_eq!((it.status, it.next_attempt_at), (Status::Failed, None));
        assert_eq!(it.http_code(), Some(500));
        let over = it.clone();
        it.record(attempt(7, Some(200)), Next::Retry(PAUSE), NOW);
        assert_eq!(it, over);
    }

    #[test]
    fn an_answer_of_2xx_is_the_end_at_any_attempt() {
        for number in 1..=6 {
            let mut it = delivery();
            for failed in 1..number {
                it.record(attempt(failed, Some(503)), Next::Retry(PAUSE), NOW);
            }
            it.record(attempt(number, Some(204)), Next::Cancel(Reason::ReceiverDisabled), NOW);
            assert_eq!((it.status, it.fault), (Status::Delivered, None));
            assert_eq!(it.finished_at, Some(NOW));
        }
    }

    #[test]
    fn a_failed_attempt_for_a_disabled_receiver_is_the_last() {
        let mut it = delivery();
        it.record(attempt(1, Some(500)), Next::Cancel(Reason::ReceiverDisabled), NOW);
        assert_eq!(it.status, Status::Cancelled);
        assert_eq!(it.fault, Some(Fault::of(Reason::ReceiverDisabled)));
    }

    #[test]
    fn what_is_dropped_says_why_and_a_full_backlog_is_a_failure() {
        for (reason, status) in
            [(Reason::BacklogLimit, Status::Failed), (Reason::ReceiverDisabled, Status::Cancelled)]
        {
            let mut it = delivery();
            it.drop_for(reason, NOW);
            assert_eq!((it.status, it.fault), (status, Some(Fault::of(reason))));
        }
    }

    /// Source: service interface, "Events", rules 8 and 9.
    #[test]
    fn a_repetition_has_its_own_attempts_and_the_same_event() {
        let mut first = delivery();
        first.drop_for(Reason::BacklogLimit, NOW);
        let again = first.resend(Id::from_bytes([9; 16]), NOW.after(PAUSE));
        assert_eq!((again.event, again.resend_of), (first.event, Some(first.id)));
        assert_eq!((again.status, again.attempts.len()), (Status::Pending, 0));
    }

    #[test]
    fn the_same_event_and_receiver_make_the_same_delivery() {
        assert_eq!(delivery(), delivery());
        assert_eq!(delivery().id.born_at(), NOW);
    }
}
