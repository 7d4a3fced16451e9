//! Which receiver is sent to next: what is due, in two lanes, fairly.
//!
//! A receiver that answers never waits for one that does not. Receivers that fail are sent to in
//! the slow lane, all others in the fast one, and an attempt that takes long moves over, so that
//! the places of the fast lane come free again. In each lane the accounts take turns, and so do
//! the receivers of an account; nobody has more than half of a lane, and no receiver more than a
//! few places.
//!
//! All of this is in memory, on the clock that never steps, and is made again from the file at
//! every start. An entry whose delivery is over does no harm: the file is asked before anything is
//! sent. Source: the contract, section 8.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::app::lane::{Lane, Lanes, Pace, Taken, Traffic};
use crate::app::waiting::{IN_FLIGHT_MAX, Receiver, Standing};
use crate::domain::account::AccountId;
use crate::domain::delivery::Place;
use crate::domain::health::State;
use crate::domain::receiver::ReceiverId;
use crate::sys::clock::Mark;

/// What is due, and who is sent to.
pub(in crate::app) struct Outbox(Mutex<Inner>);

struct Inner {
    fast: Traffic,
    slow: Traffic,
    receivers: HashMap<ReceiverId, Receiver>,
    /// When something will be due for those who have nothing due.
    wheel: BTreeSet<(Mark, ReceiverId)>,
}

impl Outbox {
    /// An empty one.
    pub(in crate::app) fn new(lanes: Lanes) -> Self {
        Self(Mutex::new(Inner {
            fast: Traffic::new(lanes.fast),
            slow: Traffic::new(lanes.slow),
            receivers: HashMap::new(),
            wheel: BTreeSet::new(),
        }))
    }

    /// Notes that a delivery is due at `at`, to a receiver that does as `state` says.
    ///
    /// One that waits already, or is under way, stays as it is.
    pub(in crate::app) fn add(&self, place: Place, at: Mark, state: State, now: Mark) {
        let mut inner = self.inner();
        let receiver = inner.receivers.entry(place.receiver).or_insert_with(|| Receiver {
            account: place.account,
            pace: Pace { state, is_quick: false },
            gate: Arc::new(Semaphore::new(IN_FLIGHT_MAX)),
            waiting: BTreeSet::new(),
            known: HashSet::new(),
            in_flight: 0,
            standing: Standing::Aside,
        });
        if receiver.known.insert(place.id) {
            receiver.waiting.insert((at, place.id));
        }
        inner.reschedule(place.receiver, now);
    }

    /// Takes up to `most` deliveries that are due and have a place.
    pub(in crate::app) fn take(&self, most: usize, now: Mark) -> Vec<Taken> {
        let mut inner = self.inner();
        inner.turn_wheel(now);
        let mut taken = Vec::new();
        for lane in [Lane::Fast, Lane::Slow] {
            while taken.len() < most {
                let Some(receiver) = inner.lane(lane).next() else { break };
                taken.extend(inner.begin(receiver, lane, now));
            }
        }
        taken
    }

    /// Moves an attempt that takes long into the slow lane, if there is a place; whether it did.
    pub(in crate::app) fn move_over(&self, account: AccountId) -> bool {
        let mut inner = self.inner();
        if inner.slow.used >= inner.slow.places {
            return false;
        }
        inner.fast.leave(account);
        inner.slow.enter(account);
        true
    }

    /// Notes that an attempt has ended: how its receiver does now, if that is known, and when the
    /// next attempt of the delivery is due, if there is one.
    pub(in crate::app) fn end(
        &self,
        place: Place,
        lane: Lane,
        pace: Option<Pace>,
        next: Option<Mark>,
        now: Mark,
    ) {
        let mut inner = self.inner();
        inner.lane(lane).leave(place.account);
        let Some(receiver) = inner.receivers.get_mut(&place.receiver) else { return };
        receiver.in_flight = receiver.in_flight.saturating_sub(1);
        receiver.pace = pace.unwrap_or(receiver.pace);
        match next {
            Some(at) => drop(receiver.waiting.insert((at, place.id))),
            None => drop(receiver.known.remove(&place.id)),
        }
        inner.reschedule(place.receiver, now);
    }

    /// Notes that a receiver does not answer at once any more, so that nothing more is claimed for
    /// it than is sent at the same time.
    pub(in crate::app) fn slow_down(&self, receiver: ReceiverId) {
        if let Some(found) = self.inner().receivers.get_mut(&receiver) {
            found.pace.is_quick = false;
        }
    }

    /// Forgets what waits for a receiver.
    pub(in crate::app) fn clear(&self, receiver: ReceiverId, now: Mark) {
        let mut inner = self.inner();
        if let Some(found) = inner.receivers.get_mut(&receiver) {
            for (_, id) in std::mem::take(&mut found.waiting) {
                found.known.remove(&id);
            }
            inner.reschedule(receiver, now);
        }
    }

    /// How long it is until something will be due that is not due yet.
    pub(in crate::app) fn next_due(&self) -> Option<Duration> {
        self.inner().wheel.first().map(|(at, _)| at.left())
    }

    /// How many attempts are claimed.
    pub(in crate::app) fn under_way(&self) -> usize {
        let inner = self.inner();
        inner.fast.used.saturating_add(inner.slow.used)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    const fn lane(&mut self, lane: Lane) -> &mut Traffic {
        match lane {
            Lane::Fast => &mut self.fast,
            Lane::Slow => &mut self.slow,
        }
    }

    /// Makes those ready for whom something has become due.
    fn turn_wheel(&mut self, now: Mark) {
        while let Some((at, receiver)) = self.wheel.first().copied().filter(|(at, _)| *at <= now) {
            self.wheel.remove(&(at, receiver));
            if let Some(found) = self.receivers.get_mut(&receiver) {
                found.standing = Standing::Aside;
            }
            self.reschedule(receiver, now);
        }
    }

    /// Takes the first delivery of a receiver whose turn it was.
    fn begin(&mut self, receiver: ReceiverId, lane: Lane, now: Mark) -> Option<Taken> {
        let found = self.receivers.get_mut(&receiver)?;
        found.standing = Standing::Aside;
        let (_, id) = found.waiting.pop_first()?;
        found.in_flight = found.in_flight.saturating_add(1);
        let place = Place { account: found.account, receiver, id };
        let gate = Arc::clone(&found.gate);
        self.lane(lane).enter(place.account);
        self.reschedule(receiver, now);
        Some(Taken { place, lane, gate })
    }

    /// Puts a receiver where it belongs.
    fn reschedule(&mut self, id: ReceiverId, now: Mark) {
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        let (account, was) = (receiver.account, receiver.standing);
        let belongs = receiver.belongs(now);
        let is_over = receiver.waiting.is_empty() && receiver.in_flight == 0;
        if was == belongs && !is_over {
            return;
        }
        receiver.standing = belongs;
        match was {
            Standing::Aside => {}
            Standing::Later(at) => drop(self.wheel.remove(&(at, id))),
            Standing::Ready(lane) => self.lane(lane).remove(account, id),
        }
        match belongs {
            Standing::Aside if is_over => drop(self.receivers.remove(&id)),
            Standing::Aside => {}
            Standing::Later(at) => drop(self.wheel.insert((at, id))),
            Standing::Ready(lane) => self.lane(lane).push(account, id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::waiting::IN_FLIGHT_FAILING_MAX;
    use crate::domain::id::Id;
    use crate::domain::time::Timestamp;
    use crate::sys::clock::Clock;

    fn place(account: u64, receiver: u64, id: u64) -> Place {
        let bytes = |it: u64| u128::from(it).to_be_bytes();
        let (account, receiver) = (Id::from_bytes(bytes(account)), Id::from_bytes(bytes(receiver)));
        Place { account, receiver, id: Id::from_bytes(bytes(id)) }
    }

    struct Bench {
        outbox: Outbox,
        now: Mark,
    }

    impl Bench {
        fn new(fast: usize, slow: usize) -> Self {
            let now = Clock::simulated(Timestamp::EPOCH).mark();
            Self { outbox: Outbox::new(Lanes { fast, slow }), now }
        }

        fn add(&self, place: Place, state: State) {
            self.outbox.add(place, self.now, state, self.now);
        }

        fn take(&self, most: usize) -> Vec<Place> {
            self.outbox.take(most, self.now).into_iter().map(|it| it.place).collect()
        }

        fn end(&self, place: Place, lane: Lane, state: State) {
            let pace = Pace { state, is_quick: false };
            self.outbox.end(place, lane, Some(pace), None, self.now);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn accounts_take_turns_and_so_do_their_receivers() {
        let bench = Bench::new(8, 8);
        for id in 1..=3 {
            bench.add(place(1, 10, id), State::Ok);
            bench.add(place(1, 11, 10 + id), State::Ok);
        }
        bench.add(place(2, 20, 21), State::Ok);
        let order: Vec<_> = bench.take(4).into_iter().map(|it| it.id).collect();
        let expected = [place(1, 10, 1), place(2, 20, 21), place(1, 11, 11), place(1, 10, 2)];
        assert_eq!(order, expected.map(|it| it.id));
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_has_few_places_and_a_failing_one_a_single_one() {
        let bench = Bench::new(100, 100);
        for id in 1..=9 {
            bench.add(place(1, 10, id), State::Ok);
            bench.add(place(2, 20, 20 + id), State::Failing);
        }
        assert_eq!(bench.take(100).len(), IN_FLIGHT_MAX + IN_FLIGHT_FAILING_MAX);
        assert!(bench.take(100).is_empty());
        bench.end(place(1, 10, 1), Lane::Fast, State::Ok);
        assert_eq!(bench.take(100), [place(1, 10, 5)]);
    }

    #[tokio::test(start_paused = true)]
    async fn more_is_claimed_for_a_receiver_that_answers_at_once() {
        let bench = Bench::new(600, 600);
        for id in 1..=255 {
            bench.add(place(1, 10, id), State::Ok);
        }
        assert_eq!(bench.take(100).len(), IN_FLIGHT_MAX);
        let quick = Pace { state: State::Ok, is_quick: true };
        bench.outbox.end(place(1, 10, 1), Lane::Fast, Some(quick), None, bench.now);
        let more = bench.outbox.take(100, bench.now);
        assert_eq!(more.len(), 100);
        let more = [more, bench.outbox.take(500, bench.now)].concat();
        assert_eq!(more.len(), 255 - IN_FLIGHT_MAX);
        assert_eq!(more[0].gate.available_permits(), IN_FLIGHT_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn no_account_has_more_than_half_of_a_lane() {
        let bench = Bench::new(4, 4);
        for receiver in 10..20 {
            bench.add(place(1, receiver, receiver), State::Ok);
        }
        assert_eq!(bench.take(100).len(), 2);
        bench.add(place(2, 20, 20), State::Ok);
        assert_eq!(bench.take(100), [place(2, 20, 20)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_slow_lane_does_not_stop_the_fast_one() {
        let bench = Bench::new(4, 2);
        for receiver in 10..20 {
            bench.add(place(receiver, receiver, receiver), State::Failing);
        }
        assert_eq!(bench.take(100).len(), 2);
        bench.add(place(1, 1, 1), State::Unknown);
        assert_eq!(bench.take(100), [place(1, 1, 1)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_attempt_gives_its_place_in_the_fast_lane_to_another() {
        let bench = Bench::new(1, 1);
        bench.add(place(1, 10, 1), State::Unknown);
        bench.add(place(2, 20, 2), State::Unknown);
        assert_eq!(bench.take(100), [place(1, 10, 1)]);
        assert!(bench.outbox.move_over(place(1, 10, 1).account));
        assert_eq!(bench.take(100), [place(2, 20, 2)]);
        assert!(!bench.outbox.move_over(place(2, 20, 2).account));
        assert_eq!(bench.outbox.under_way(), 2);
        bench.end(place(1, 10, 1), Lane::Slow, State::Failing);
        bench.end(place(2, 20, 2), Lane::Fast, State::Ok);
        assert_eq!(bench.outbox.under_way(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_due_later_waits_and_is_announced() {
        let bench = Bench::new(4, 4);
        let later = bench.now.after(Duration::from_mins(1));
        bench.outbox.add(place(1, 10, 1), later, State::Ok, bench.now);
        assert!(bench.take(100).is_empty());
        assert_eq!(bench.outbox.next_due(), Some(Duration::from_mins(1)));
        // Something earlier comes before it.
        bench.add(place(1, 10, 2), State::Ok);
        assert_eq!(bench.take(100), [place(1, 10, 2)]);
        assert_eq!(bench.outbox.take(100, later)[0].place, place(1, 10, 1));
        assert_eq!(bench.outbox.next_due(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_is_cleared_is_forgotten_when_its_attempts_have_ended() {
        let bench = Bench::new(4, 4);
        for id in 1..=9 {
            bench.add(place(1, 10, id), State::Ok);
        }
        let taken = bench.take(100);
        bench.outbox.clear(place(1, 10, 1).receiver, bench.now);
        for place in taken {
            bench.end(place, Lane::Fast, State::Ok);
        }
        assert!(bench.take(100).is_empty() && bench.outbox.inner().receivers.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_added_twice_is_sent_once() {
        let bench = Bench::new(4, 4);
        let (first, later) = (place(1, 10, 1), bench.now.after(Duration::from_mins(1)));
        bench.add(first, State::Ok);
        bench.outbox.add(first, later, State::Ok, bench.now);
        assert_eq!(bench.take(100), [first]);
        bench.add(first, State::Ok);
        assert!(bench.take(100).is_empty());
        bench.end(first, Lane::Fast, State::Ok);
        bench.add(first, State::Ok);
        assert_eq!(bench.take(100), [first]);
    }

    /// With 80 ms for an answer this is less than a second.
    #[tokio::test(start_paused = true)]
    async fn five_thousand_black_holes_keep_five_thousand_others_waiting_for_ten_rounds() {
        let bench = Bench::new(512, 2_048);
        for number in 0..10_000_u64 {
            let state = if number % 2 == 0 { State::Ok } else { State::Failing };
            bench.add(place(number / 100, number, number), state);
        }
        let (mut healthy, mut rounds) = (0, 0);
        while healthy < 5_000 {
            let mut answered = bench.outbox.take(10_000, bench.now);
            answered.retain(|it| it.lane == Lane::Fast);
            healthy += answered.len();
            answered.into_iter().for_each(|it| bench.end(it.place, it.lane, State::Ok));
            rounds += 1;
        }
        assert_eq!((rounds, bench.outbox.under_way()), (10, 2_048));
    }
}
