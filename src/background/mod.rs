//! Work that time starts: loops that look into the store, do one thing, and look again.
//!
//! A [`Loop`] takes no input: what it does next stands in the store, so the step after a crash is
//! the same as any other. A wake-up says "look again" and nothing else. [`drive`] is the only loop
//! statement of the room; it also notes signs of life and survives panics.

mod deliverer;
mod janitor;
mod pulse;
mod scheduler;
mod worker;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::app::App;

pub use deliverer::{Deliverer, InFlight};
pub use janitor::Janitor;
pub use pulse::Pulse;
pub use scheduler::Scheduler;
pub use worker::{Busy, Worker};

/// A future whose type is not named.
pub(in crate::background) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A kind of work, one unit at a time.
pub trait Loop: Send + 'static {
    /// Its name among the signs of life.
    fn name(&self) -> &'static str;

    /// Does one unit of work, or waits for one: at most a few seconds, and not while draining.
    fn step(&mut self) -> BoxFuture<'_, ()>;
}

/// Runs a loop until the daemon drains; a panic ends the step and not the loop.
///
/// A step is never broken off: what it has begun to write would be done without it, and a run that
/// was claimed so would have nobody who executes it.
pub async fn drive(mut work: impl Loop, app: App) {
    while !app.is_draining() {
        app.beats().beat(work.name());
        if Caught(work.step()).await.is_err() {
            app.metrics().panics.add(1);
            tracing::error!(name = work.name(), "a loop panicked; it goes on");
            app.clock().sleep(PANIC_PAUSE).await;
        }
    }
}

/// A future whose panic is its result.
struct Caught<'a, T>(BoxFuture<'a, T>);

/// There was a panic; its message is on standard error.
struct Panicked;

impl<T> Future for Caught<'_, T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let inner = self.0.as_mut();
        match std::panic::catch_unwind(AssertUnwindSafe(|| inner.poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }
}

/// The longest that a step may wait, so that signs of life keep coming.
const STEP_MAX: Duration = Duration::from_secs(5);
/// The pause after a panic, so that a fault that stays does not fill the log.
const PANIC_PAUSE: Duration = Duration::from_secs(1);
