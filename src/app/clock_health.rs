//! Whether our clock is right, judged by what others say the time is.
//!
//! A receiver refuses a signature whose time is five minutes off, so a wrong clock looks as if all
//! receivers were broken. Most answers carry the time of whoever answers; when several receivers
//! agree that ours is wrong, it probably is. Source: the contract, section 8.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::app::App;
use crate::domain::receiver::ReceiverId;
use crate::domain::time::Timestamp;

/// How far our clock is from those of the receivers, as they said last.
#[derive(Debug, Default)]
pub(in crate::app) struct ClockHealth(Mutex<HashMap<ReceiverId, Side>>);

/// How a receiver's time differs from ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Not by much.
    Near,
    /// It is earlier.
    Behind,
    /// It is later.
    Ahead,
}

impl ClockHealth {
    /// Notes what a receiver says the time is; whether our clock is suspected from now on.
    fn note(&self, receiver: ReceiverId, theirs: Timestamp, ours: Timestamp) -> bool {
        let side = if theirs.since(ours).as_secs() > SKEW_SECONDS {
            Side::Ahead
        } else if ours.since(theirs).as_secs() > SKEW_SECONDS {
            Side::Behind
        } else {
            Side::Near
        };
        let mut sides = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sides.len() >= RECEIVERS_KEPT && !sides.contains_key(&receiver) {
            sides.clear();
        }
        sides.insert(receiver, side);
        let count = |wanted| sides.values().filter(|it| **it == wanted).count();
        let (ahead, behind) = (count(Side::Ahead), count(Side::Behind));
        let (most, least) = (ahead.max(behind), ahead.min(behind));
        // Most say it, and hardly anybody says the opposite.
        let is_common = most.saturating_mul(2) > sides.len() && most > least.saturating_mul(2);
        most >= WITNESSES && is_common
    }
}

/// Notes what a receiver says the time is, and tells the operator when our clock seems wrong.
pub fn note(app: &App, receiver: ReceiverId, theirs: Timestamp) {
    let is_suspected = app.0.clock_health.note(receiver, theirs, app.0.clock.now());
    let was = app.0.metrics.clock_skew_suspected.value();
    app.0.metrics.clock_skew_suspected.set(u64::from(is_suspected));
    if is_suspected && was == 0 {
        tracing::warn!(
            "clock_skew_suspected: several receivers agree that our clock is wrong by more than \
             two minutes; receivers refuse signatures of another time"
        );
    }
}

/// A difference that is no delay any more.
const SKEW_SECONDS: u64 = 120;
/// Receivers that must agree.
const WITNESSES: usize = 3;
/// Receivers whose word is kept; then it begins anew.
const RECEIVERS_KEPT: usize = 256;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::id::Id;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn note(health: &ClockHealth, receiver: u8, theirs: Timestamp) -> bool {
        health.note(Id::from_bytes([receiver; 16]), theirs, NOW)
    }

    #[test]
    fn three_receivers_that_agree_make_our_clock_suspected() {
        let (health, wrong) = (ClockHealth::default(), NOW.after(Duration::from_mins(10)));
        assert!(!note(&health, 1, wrong) && !note(&health, 2, wrong) && !note(&health, 2, wrong));
        assert!(note(&health, 3, wrong));
        // As many who say that it is right leave it to the others.
        assert!(note(&health, 4, NOW) && note(&health, 5, NOW));
        assert!(!note(&health, 6, NOW.after(Duration::from_secs(SKEW_SECONDS))));
    }

    #[test]
    fn receivers_that_contradict_each_other_say_nothing() {
        let health = ClockHealth::default();
        for receiver in 0..8 {
            let theirs = NOW.after(Duration::from_hours(1));
            let theirs =
                if receiver % 2 == 0 { theirs } else { NOW.before(Duration::from_hours(1)) };
            assert!(!note(&health, receiver, theirs), "{receiver}");
        }
    }

    #[test]
    fn no_more_is_kept_than_has_room() {
        let health = ClockHealth::default();
        for receiver in 0..600_u64 {
            health.note(Id::from_bytes(u128::from(receiver).to_be_bytes()), NOW, NOW);
        }
        assert!(health.0.lock().unwrap().len() <= RECEIVERS_KEPT);
    }
}
