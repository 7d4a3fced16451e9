//! The two hands that read pages: CPU work on blocking threads, bounded in number and in time.
//!
//! A parser cannot be stopped from outside. So every piece of work gets a [`Patience`] and asks
//! it between small steps; work whose caller has gone away is told at the next question.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::sys::clock::{Clock, Mark};

/// Runs CPU work, two pieces at a time; cheap to clone.
#[derive(Clone, Debug)]
pub struct Parsers {
    clock: Clock,
    slots: Arc<Semaphore>,
}

/// How long a piece of work may still go on.
#[derive(Clone, Debug)]
pub struct Patience {
    until: Option<Mark>,
    abandoned: Arc<AtomicBool>,
}

/// The work panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl Parsers {
    /// Makes the hands; all clones share them.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, slots: Arc::new(Semaphore::new(PARSES_MAX)) }
    }

    /// Does `work` on a blocking thread as soon as a hand is free.
    ///
    /// The wait for a hand has no deadline of its own; the caller's covers it.
    ///
    /// # Errors
    ///
    /// [`Broken`] when the work panicked.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped work is told through its patience, and keeps its slot until it has ended.
    pub async fn run<T, F>(&self, work: F) -> Result<T, Broken>
    where
        F: FnOnce(&Patience) -> T + Send + 'static,
        T: Send + 'static,
    {
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        let abandoned = Arc::new(AtomicBool::new(false));
        let _leaving = Leaving(Arc::clone(&abandoned));
        let until = self.clock.mark().after(PARSE_TIME_MAX);
        let patience = Patience { until: Some(until), abandoned };
        let done = spawn_blocking(move || {
            let result = work(&patience);
            drop(slot);
            result
        });
        done.await.map_err(|_| Broken)
    }
}

impl Patience {
    /// A patience without end, for work whose size is known to be small.
    #[must_use]
    pub fn endless() -> Self {
        Self { until: None, abandoned: Arc::new(AtomicBool::new(false)) }
    }

    /// A patience that ends at a point of time.
    #[must_use]
    pub fn until(end: Mark) -> Self {
        Self { until: Some(end), ..Self::endless() }
    }

    /// Whether the work should stop now.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || self.until.is_some_and(|it| it.left().is_zero())
    }
}

/// Tells the work that its caller has gone.
struct Leaving(Arc<AtomicBool>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the page broke its reader")
    }
}

impl Error for Broken {}

/// Pieces of work at the same time; more would only take turns on a small machine.
const PARSES_MAX: usize = 2;
/// Time that one piece of work may take.
const PARSE_TIME_MAX: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_and_a_panic_is_an_error() {
        let parsers = Parsers::new(Clock::host());
        assert_eq!(parsers.run(|patience| u32::from(patience.is_over())).await, Ok(0));
        let broken: Result<(), Broken> = parsers.run(|_| panic!("on purpose")).await;
        assert_eq!(broken, Err(Broken));
        assert_eq!(parsers.slots.available_permits(), PARSES_MAX);
    }

    #[tokio::test]
    async fn work_whose_caller_has_gone_stops_and_gives_its_slot_back() {
        let parsers = Parsers::new(Clock::host());
        let (sender, receiver) = std::sync::mpsc::channel();
        let (started, begun) = tokio::sync::oneshot::channel();
        let work = parsers.run(move |patience| {
            let _ = started.send(());
            while !patience.is_over() {
                std::thread::yield_now();
            }
            let _ = sender.send(());
        });
        tokio::select! {
            biased;
            _ = work => panic!("ended without being told"),
            _ = begun => {}
        }
        receiver.recv_timeout(PARSE_TIME_MAX / 2).unwrap();
        while parsers.slots.available_permits() < PARSES_MAX {
            tokio::task::yield_now().await;
        }
    }
}
