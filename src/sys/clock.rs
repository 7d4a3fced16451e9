//! The one door to time.
//!
//! A [`Clock`] has two states: the host's, or an epoch plus the runtime's own time, which a test
//! pauses and moves. Rules never ask it; they take `now` as an argument.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::domain::due::Uptime;
use crate::domain::time::Timestamp;

/// Tells the time and waits for a time; cheap to clone.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    Host {
        /// The system's own number for its present run.
        boot: Option<u64>,
    },
    Simulated {
        epoch_ms: Arc<AtomicI64>,
        start: Instant,
    },
}

/// A point on the clock that never steps, for measuring how long something took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(Instant);

/// What was waited for did not happen in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl Clock {
    /// The host's clock.
    #[must_use]
    pub fn host() -> Self {
        Self(Source::Host { boot: host_boot() })
    }

    /// A clock that starts at `epoch` and goes as the runtime's time goes.
    ///
    /// With a paused runtime that is only as far as the tasks sleep. Must be called inside one.
    #[must_use]
    pub fn simulated(epoch: Timestamp) -> Self {
        let epoch_ms = Arc::new(AtomicI64::new(epoch.millis()));
        Self(Source::Simulated { epoch_ms, start: instant() })
    }

    /// Whether this is the host's clock.
    #[must_use]
    pub const fn is_host(&self) -> bool {
        matches!(self.0, Source::Host { .. })
    }

    /// The wall clock's time, in UTC.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::Host { .. } => host_now(),
            Source::Simulated { epoch_ms, start } => {
                let epoch = Timestamp::from_millis(epoch_ms.load(Ordering::Relaxed));
                epoch.after(instant().saturating_duration_since(*start))
            }
        }
    }

    /// How long the system has been running, sleep included; `None` where it cannot be told.
    ///
    /// It outlives this process and no restart of the system.
    #[must_use]
    pub fn uptime(&self) -> Option<Uptime> {
        match &self.0 {
            Source::Host { boot } => host_uptime(*boot),
            Source::Simulated { start, .. } => {
                let millis = instant().saturating_duration_since(*start).as_millis();
                Some(Uptime { boot: 1, millis: u64::try_from(millis).unwrap_or(u64::MAX) })
            }
        }
    }

    /// A point on the clock that never steps.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark(instant())
    }

    /// Moves a simulated wall clock by `millis`, as an operator or NTP would; the host's stays.
    pub fn step(&self, millis: i64) {
        if let Source::Simulated { epoch_ms, .. } = &self.0 {
            epoch_ms.fetch_add(millis, Ordering::Relaxed);
        }
    }

    /// Waits until the wall clock shows `at`.
    ///
    /// The clock is looked at again every minute, so a stepped clock is noticed.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when the future is dropped.
    pub async fn sleep_until(&self, at: Timestamp) {
        loop {
            let left = at.since(self.now());
            if left.is_zero() {
                return;
            }
            self.sleep(left.min(LOOK_AGAIN)).await;
        }
    }

    /// Waits for `span` on the clock that never steps.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when the future is dropped.
    pub async fn sleep(&self, span: Duration) {
        #[expect(clippy::disallowed_methods, reason = "this is the door")]
        tokio::time::sleep(span).await;
    }

    /// Gives `work` at most `span`.
    ///
    /// # Errors
    ///
    /// [`Elapsed`] when it took longer; the work is dropped.
    pub async fn within<F: Future>(&self, span: Duration, work: F) -> Result<F::Output, Elapsed> {
        tokio::time::timeout(span, work).await.map_err(|_| Elapsed)
    }
}

impl Mark {
    /// How long it is since this point.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        instant().saturating_duration_since(self.0)
    }

    /// The point `span` later.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.checked_add(span).unwrap_or(self.0))
    }

    /// How long it is until this point; zero when it has passed.
    #[must_use]
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(instant())
    }

    /// How long it is from `earlier` to this point; zero when it is not later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn instant() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn host_now() -> Timestamp {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => Timestamp::EPOCH.after(since),
        Err(before) => Timestamp::EPOCH.before(before.duration()),
    }
}

/// The system's own number for its present run.
fn host_boot() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    u64::from_str_radix(text.trim().replace('-', "").get(..16)?, 16).ok()
}

/// The clock of the system that counts its sleep too.
#[cfg(target_os = "linux")]
fn host_uptime(boot: Option<u64>) -> Option<Uptime> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let millis = u64::try_from(time.tv_nsec).ok()? / 1_000_000;
    Some(Uptime { boot: boot?, millis: seconds.checked_mul(1000)?.checked_add(millis)? })
}

#[cfg(not(target_os = "linux"))]
const fn host_uptime(_boot: Option<u64>) -> Option<Uptime> {
    None
}

/// The longest sleep before the wall clock is looked at again.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_simulated_clock_goes_as_far_as_the_tasks_sleep() {
        let epoch = Timestamp::from_millis(1_767_225_600_000);
        let clock = Clock::simulated(epoch);
        let target = epoch.after(Duration::from_hours(31));
        clock.sleep_until(target).await;
        assert_eq!(clock.now(), target);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleeper_notices_within_a_minute_that_the_clock_was_set_forward() {
        let clock = Clock::simulated(Timestamp::EPOCH);
        let start = clock.mark();
        let sleeper = clock.clone();
        let task = tokio::spawn(async move {
            sleeper.sleep_until(Timestamp::EPOCH.after(Duration::from_hours(2))).await;
        });
        clock.sleep(Duration::from_secs(90)).await;
        clock.step(2 * 3_600_000);
        task.await.unwrap();
        assert!(start.elapsed() <= Duration::from_secs(150), "{:?}", start.elapsed());
    }

    #[test]
    fn the_uptime_of_the_host_goes_forward_in_one_run_of_the_system() {
        let (first, second) = (Clock::host().uptime(), Clock::host().uptime());
        assert_eq!(first.is_some(), cfg!(target_os = "linux"));
        assert_eq!(first.map(|it| it.boot), second.map(|it| it.boot));
        assert!(first.map(|it| it.millis) <= second.map(|it| it.millis));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_takes_too_long_is_given_up() {
        let clock = Clock::simulated(Timestamp::EPOCH);
        let never = std::future::pending::<()>();
        assert_eq!(clock.within(Duration::from_secs(5), never).await, Err(Elapsed));
        assert_eq!(clock.within(Duration::from_secs(5), async { 7 }).await, Ok(7));
    }
}
