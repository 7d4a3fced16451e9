//! Signs of life: when each loop last turned.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::sys::clock::{Clock, Mark};

/// When each loop last turned.
#[derive(Debug)]
pub struct Beats {
    clock: Clock,
    last: Mutex<BTreeMap<&'static str, Mark>>,
}

impl Beats {
    /// No loop yet.
    #[must_use]
    pub const fn new(clock: Clock) -> Self {
        Self { clock, last: Mutex::new(BTreeMap::new()) }
    }

    /// Notes that a loop turns.
    pub fn beat(&self, name: &'static str) {
        let now = self.clock.mark();
        self.last.lock().unwrap_or_else(PoisonError::into_inner).insert(name, now);
    }

    /// How long ago each loop turned.
    #[must_use]
    pub fn ages(&self) -> Vec<(&'static str, Duration)> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.iter().map(|(name, mark)| (*name, mark.elapsed())).collect()
    }
}
