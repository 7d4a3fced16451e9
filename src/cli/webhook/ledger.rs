//! What a listening developer's receiver has seen: the newest events, and counts of all.

use std::collections::{HashSet, VecDeque};

use crate::domain::event::EventId;

/// The events that came, the oldest of many forgotten.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    known: HashSet<EventId>,
    order: VecDeque<EventId>,
    /// How many came in all.
    pub(super) count: Count,
}

/// How many deliveries came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct Count {
    /// Believed, and not seen before.
    pub(in crate::cli) new: u64,
    /// Believed, and seen before.
    pub(in crate::cli) again: u64,
    /// Not believed.
    pub(in crate::cli) refused: u64,
}

/// Whether an event came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Seen {
    /// It did not, as far as is remembered.
    New,
    /// It did.
    Again,
}

impl Ledger {
    /// Writes down an event that is believed.
    pub(super) fn believed(&mut self, id: EventId) -> Seen {
        if !self.known.insert(id) {
            self.count.again = self.count.again.saturating_add(1);
            return Seen::Again;
        }
        self.count.new = self.count.new.saturating_add(1);
        self.order.push_back(id);
        if self.order.len() > EVENTS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        Seen::New
    }

    /// Writes down a request that is not believed.
    pub(super) const fn refused(&mut self) {
        self.count.refused = self.count.refused.saturating_add(1);
    }
}

impl Seen {
    /// The word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Again => "again",
        }
    }
}

/// Events that are remembered.
const EVENTS_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;

    fn id(number: usize) -> EventId {
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        Id::from_bytes(bytes)
    }

    #[test]
    fn an_event_is_new_once_and_the_oldest_of_many_are_forgotten() {
        let mut ledger = Ledger::default();
        for number in 0..EVENTS_MAX {
            assert_eq!(ledger.believed(id(number)), Seen::New);
        }
        assert_eq!(ledger.believed(id(0)), Seen::Again);
        assert_eq!(ledger.believed(id(EVENTS_MAX)), Seen::New);
        assert_eq!((ledger.known.len(), ledger.order.len()), (EVENTS_MAX, EVENTS_MAX));
        assert_eq!(ledger.believed(id(1)), Seen::Again);
        assert_eq!(ledger.believed(id(0)), Seen::New);
        ledger.refused();
        let new = u64::try_from(EVENTS_MAX).unwrap() + 2;
        assert_eq!(ledger.count, Count { new, again: 2, refused: 1 });
    }
}
