//! How a receiver does: whether its attempts may keep others waiting.
//!
//! Nobody is disabled for failing. A failing receiver is sent to in a lane of its own, a little at
//! a time, until it answers again. Source: the contract, section 8.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// How a receiver does, as far as its last attempts tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The verdict.
    pub state: State,
    /// Failed attempts since the last success.
    pub failures: u32,
    /// Attempts in a row that took long.
    pub slow: u32,
    /// When the last attempt ended.
    pub last_attempt_at: Option<Timestamp>,
    /// When the last attempt succeeded.
    pub last_success_at: Option<Timestamp>,
}

/// What is known of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing yet.
    #[default]
    Unknown,
    /// Its last attempt succeeded, in time.
    Ok,
    /// It fails, or is slow, again and again.
    Failing,
}

impl Health {
    /// How it does after an attempt that took `duration` and ended at `now`.
    #[must_use]
    pub fn after(self, is_success: bool, duration: Duration, now: Timestamp) -> Self {
        let slow = if duration > SLOW { self.slow.saturating_add(1) } else { 0 };
        let failures = if is_success { 0 } else { self.failures.saturating_add(1) };
        let state = if slow >= SLOW_MAX || failures >= FAILURES_MAX {
            State::Failing
        } else if is_success {
            State::Ok
        } else {
            self.state
        };
        let last_success_at = if is_success { Some(now) } else { self.last_success_at };
        Self { state, failures, slow, last_attempt_at: Some(now), last_success_at }
    }
}

impl State {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Ok => "ok",
            Self::Failing => "failing",
        }
    }
}

/// An attempt that takes longer is slow.
const SLOW: Duration = Duration::from_secs(5);
/// Slow attempts in a row that make a receiver a failing one.
const SLOW_MAX: u32 = 2;
/// Failed attempts in a row that make a receiver a failing one.
const FAILURES_MAX: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1);
    const QUICK: Duration = Duration::from_millis(80);
    const LONG: Duration = Duration::from_secs(6);

    fn after(attempts: &[(bool, Duration)]) -> State {
        let start = Health::default();
        attempts.iter().fold(start, |it, (ok, took)| it.after(*ok, *took, NOW)).state
    }

    #[test]
    fn five_failures_in_a_row_or_two_slow_attempts_are_failing() {
        assert_eq!(after(&[(false, QUICK); 4]), State::Unknown);
        assert_eq!(after(&[(false, QUICK); 5]), State::Failing);
        assert_eq!(after(&[(false, LONG); 2]), State::Failing);
        assert_eq!(after(&[(true, LONG); 2]), State::Failing);
        assert_eq!(after(&[(true, LONG), (true, QUICK), (true, LONG)]), State::Ok);
    }

    #[test]
    fn one_success_is_enough_to_be_well_again() {
        let mut attempts = vec![(false, QUICK); 50];
        attempts.push((true, QUICK));
        assert_eq!(after(&attempts), State::Ok);
    }
}
