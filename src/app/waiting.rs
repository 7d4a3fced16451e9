//! One receiver in the outbox: what waits for it, what is under way, and where it stands.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::app::lane::{Lane, Pace};
use crate::domain::account::AccountId;
use crate::domain::delivery::DeliveryId;
use crate::domain::health::State;
use crate::sys::clock::Mark;

/// What waits for a receiver.
pub(in crate::app) struct Receiver {
    pub(in crate::app) account: AccountId,
    pub(in crate::app) pace: Pace,
    /// Lets a few attempts through at the same time.
    pub(in crate::app) gate: Arc<Semaphore>,
    pub(in crate::app) waiting: BTreeSet<(Mark, DeliveryId)>,
    /// Those that wait and those that are under way; none stands here twice.
    pub(in crate::app) known: HashSet<DeliveryId>,
    pub(in crate::app) in_flight: usize,
    pub(in crate::app) standing: Standing,
}

/// Where a receiver stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Standing {
    /// Nowhere: it has as many attempts under way as it may have, or nothing waits for it.
    Aside,
    /// On the wheel, until this moment.
    Later(Mark),
    /// Among those who are ready, in this lane.
    Ready(Lane),
}

impl Receiver {
    /// Where it belongs now.
    pub(in crate::app) fn belongs(&self, now: Mark) -> Standing {
        let (lane, most) = match self.pace {
            Pace { state: State::Failing, .. } => (Lane::Slow, IN_FLIGHT_FAILING_MAX),
            Pace { state: State::Ok, is_quick: true } => (Lane::Fast, CLAIMED_MAX),
            Pace { state: State::Unknown | State::Ok, .. } => (Lane::Fast, IN_FLIGHT_MAX),
        };
        match self.waiting.first() {
            Some(_) if self.in_flight >= most => Standing::Aside,
            Some((at, _)) if *at > now => Standing::Later(*at),
            Some(_) => Standing::Ready(lane),
            None => Standing::Aside,
        }
    }
}

/// Attempts under way to one receiver. Source: the contract, section 8.
pub(in crate::app) const IN_FLIGHT_MAX: usize = 4;
/// Attempts that are claimed for a receiver that answers at once, those under way included.
/// Source: the contract, section 8.
pub(in crate::app) const CLAIMED_MAX: usize = 256;
/// The same while it fails. Source: the contract, section 8.
pub(in crate::app) const IN_FLIGHT_FAILING_MAX: usize = 1;
