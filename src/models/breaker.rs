//! Leaves an upstream alone for a while after it has failed again and again.
//!
//! Five failures in a row open the breaker for ten seconds; then one request may try, and closes
//! it or opens it again. Source: the contract, section 5.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::sys::clock::{Clock, Mark};

/// How one upstream does.
#[derive(Debug)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Requests go through; so many failed in a row.
    Closed(u32),
    /// None goes through until then.
    Open(Mark),
    /// One is under way that decides.
    Probing,
}

/// Permission for one request; who drops it without a verdict has learned nothing.
#[derive(Debug)]
pub(super) struct Entry {
    breaker: Arc<Breaker>,
    entered: Mark,
    is_probe: bool,
}

impl Breaker {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State::Closed(0))))
    }

    /// Lets one request through, or says how long it should wait.
    pub(super) fn enter(self: &Arc<Self>, clock: &Clock) -> Result<Entry, Duration> {
        let mut state = self.state();
        let is_probe = match *state {
            State::Closed(_) => false,
            State::Open(until) if until.left().is_zero() => true,
            State::Open(until) => return Err(until.left()),
            State::Probing => return Err(PROBE_PAUSE),
        };
        if is_probe {
            *state = State::Probing;
        }
        Ok(Entry { breaker: Arc::clone(self), entered: clock.mark(), is_probe })
    }

    /// Counts a failure; says whether it opened the breaker.
    pub(super) fn fail(&self, clock: &Clock) -> bool {
        let mut state = self.state();
        let open = State::Open(clock.mark().after(OPEN_SPAN));
        *state = match *state {
            State::Closed(failures) if failures.saturating_add(1) < FAILURES_MAX => {
                State::Closed(failures.saturating_add(1))
            }
            State::Closed(_) | State::Probing => open,
            State::Open(until) => State::Open(until),
        };
        *state == open
    }

    /// Counts a success.
    pub(super) fn succeed(&self) {
        *self.state() = State::Closed(0);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// The upstream has answered, if only to refuse.
    pub(super) fn succeed(mut self) {
        self.is_probe = false;
        self.breaker.succeed();
    }

    /// The upstream has begun to answer; how that ends is told to the breaker later.
    ///
    /// A request that decides lets others through now, but has to end well to count as a success.
    pub(super) fn begin(mut self) -> Arc<Breaker> {
        if std::mem::take(&mut self.is_probe) {
            *self.breaker.state() = State::Closed(FAILURES_MAX.saturating_sub(1));
        }
        Arc::clone(&self.breaker)
    }

    /// The upstream failed; says whether that opened the breaker.
    pub(super) fn fail(mut self, clock: &Clock) -> bool {
        self.is_probe = false;
        self.breaker.fail(clock)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.is_probe {
            let mut state = self.breaker.state();
            if *state == State::Probing {
                *state = State::Open(self.entered);
            }
        }
    }
}

/// Failures in a row that open the breaker.
const FAILURES_MAX: u32 = 5;
/// How long it stays open.
const OPEN_SPAN: Duration = Duration::from_secs(10);
/// What others are told while one request decides.
const PROBE_PAUSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    fn fail(breaker: &Arc<Breaker>, clock: &Clock, times: u32) {
        for _ in 0..times {
            breaker.enter(clock).unwrap().fail(clock);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_fifth_failure_in_a_row_opens_it_for_ten_seconds() {
        let (clock, breaker) = (Clock::simulated(Timestamp::EPOCH), Breaker::new());
        fail(&breaker, &clock, 4);
        breaker.enter(&clock).unwrap().succeed();
        fail(&breaker, &clock, 4);
        assert!(breaker.enter(&clock).unwrap().fail(&clock));
        assert_eq!(breaker.enter(&clock).unwrap_err(), Duration::from_secs(10));
        clock.sleep(Duration::from_secs(9)).await;
        assert_eq!(breaker.enter(&clock).unwrap_err(), Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn then_one_request_decides() {
        let (clock, breaker) = (Clock::simulated(Timestamp::EPOCH), Breaker::new());
        fail(&breaker, &clock, 5);
        clock.sleep(Duration::from_secs(10)).await;
        let probe = breaker.enter(&clock).unwrap();
        assert_eq!(breaker.enter(&clock).unwrap_err(), PROBE_PAUSE);
        assert!(probe.fail(&clock));
        assert_eq!(breaker.enter(&clock).unwrap_err(), OPEN_SPAN);
        clock.sleep(Duration::from_secs(10)).await;
        breaker.enter(&clock).unwrap().succeed();
        fail(&breaker, &clock, 4);
        assert!(breaker.enter(&clock).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn answers_that_begin_well_and_end_badly_open_it_too() {
        let (clock, breaker) = (Clock::simulated(Timestamp::EPOCH), Breaker::new());
        for _ in 0..4 {
            assert!(!breaker.enter(&clock).unwrap().begin().fail(&clock));
        }
        assert!(breaker.enter(&clock).unwrap().begin().fail(&clock));
        clock.sleep(Duration::from_secs(10)).await;
        let probe = breaker.enter(&clock).unwrap().begin();
        drop(breaker.enter(&clock).unwrap());
        assert!(probe.fail(&clock));
        clock.sleep(Duration::from_secs(10)).await;
        breaker.enter(&clock).unwrap().begin().succeed();
        fail(&breaker, &clock, 4);
        assert!(breaker.enter(&clock).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_was_given_up_decides_nothing_and_lets_the_next_try() {
        let (clock, breaker) = (Clock::simulated(Timestamp::EPOCH), Breaker::new());
        fail(&breaker, &clock, 5);
        clock.sleep(Duration::from_secs(10)).await;
        drop(breaker.enter(&clock).unwrap());
        let probe = breaker.enter(&clock).unwrap();
        assert!(breaker.enter(&clock).is_err());
        probe.succeed();
        drop(breaker.enter(&clock).unwrap());
        assert!(breaker.enter(&clock).is_ok());
    }
}
