//! One lane of attempts: its places, who has them, and whose turn it is.
//!
//! The accounts take turns, and so do the receivers of an account. No account has more than half
//! of the places. Source: the contract, section 8.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::domain::account::AccountId;
use crate::domain::delivery::Place;
use crate::domain::health::State;
use crate::domain::receiver::ReceiverId;

/// How many attempts may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// To receivers that answer, or of whom nothing is known.
    pub fast: usize,
    /// To receivers that fail, and attempts that take long.
    pub slow: usize,
}

/// The way an attempt takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// To a receiver that answers.
    Fast,
    /// To one that does not.
    Slow,
}

/// A delivery that was taken, to be given back with `Outbox::end`.
#[derive(Clone, Debug)]
pub(in crate::app) struct Taken {
    /// Which.
    pub(in crate::app) place: Place,
    /// Where it has its place.
    pub(in crate::app) lane: Lane,
    /// Lets a few attempts to its receiver through at the same time.
    pub(in crate::app) gate: Arc<Semaphore>,
}

/// How a receiver does, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) struct Pace {
    /// Whether it fails.
    pub(in crate::app) state: State,
    /// Whether the last attempt succeeded at once. Then more is claimed than is sent at the same
    /// time, so that nobody waits for the disk between two attempts.
    pub(in crate::app) is_quick: bool,
}

/// One lane.
pub(in crate::app) struct Traffic {
    pub(in crate::app) places: usize,
    pub(in crate::app) used: usize,
    /// Places that each account has.
    shares: HashMap<AccountId, usize>,
    /// Whose turn it is among the accounts for whom something is due.
    turns: VecDeque<AccountId>,
    /// Their receivers for whom something is due.
    ready: HashMap<AccountId, VecDeque<ReceiverId>>,
}

impl Lanes {
    /// No more than a process can hold that may open so many files, beside everything else.
    #[must_use]
    pub fn within(self, files: usize) -> Self {
        let most = files.saturating_sub(OTHER_FILES).div_euclid(2).max(1);
        Self { fast: self.fast.min(most), slow: self.slow.min(most) }
    }
}

impl Traffic {
    /// An empty lane with so many places.
    pub(in crate::app) fn new(places: usize) -> Self {
        Self {
            places,
            used: 0,
            shares: HashMap::new(),
            turns: VecDeque::new(),
            ready: HashMap::new(),
        }
    }

    /// The receiver whose turn it is, if there is a place for it.
    pub(in crate::app) fn next(&mut self) -> Option<ReceiverId> {
        if self.used >= self.places {
            return None;
        }
        let share = self.places.div_ceil(2);
        for _ in 0..self.turns.len() {
            let account = self.turns.pop_front()?;
            if self.shares.get(&account).is_some_and(|it| *it >= share) {
                self.turns.push_back(account);
                continue;
            }
            let Some(ready) = self.ready.get_mut(&account) else { continue };
            let next = ready.pop_front();
            if ready.is_empty() {
                self.ready.remove(&account);
            } else {
                self.turns.push_back(account);
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Makes a receiver ready.
    pub(in crate::app) fn push(&mut self, account: AccountId, receiver: ReceiverId) {
        let ready = self.ready.entry(account).or_default();
        if ready.is_empty() {
            self.turns.push_back(account);
        }
        ready.push_back(receiver);
    }

    /// Takes a receiver out that was ready.
    pub(in crate::app) fn remove(&mut self, account: AccountId, receiver: ReceiverId) {
        let Some(ready) = self.ready.get_mut(&account) else { return };
        ready.retain(|it| *it != receiver);
        if ready.is_empty() {
            self.ready.remove(&account);
            self.turns.retain(|it| *it != account);
        }
    }

    /// Gives an account a place.
    pub(in crate::app) fn enter(&mut self, account: AccountId) {
        self.used = self.used.saturating_add(1);
        let share = self.shares.entry(account).or_default();
        *share = share.saturating_add(1);
    }

    /// Takes a place back.
    pub(in crate::app) fn leave(&mut self, account: AccountId) {
        self.used = self.used.saturating_sub(1);
        let Some(share) = self.shares.get_mut(&account) else { return };
        *share = share.saturating_sub(1);
        if *share == 0 {
            self.shares.remove(&account);
        }
    }
}

/// Files that are left for requests coming in and for the agents. Source: the contract, section 8.
const OTHER_FILES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lanes_are_no_wider_than_the_open_files_allow() {
        let lanes = Lanes { fast: 512, slow: 2048 };
        assert_eq!(lanes.within(100_000), lanes);
        assert_eq!(lanes.within(1024), Lanes { fast: 384, slow: 384 });
        assert_eq!(lanes.within(10), Lanes { fast: 1, slow: 1 });
    }
}
