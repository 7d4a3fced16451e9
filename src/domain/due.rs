//! When something is due, in two clocks: the wall clock, which an operator or NTP may set, and the
//! clock of the running system, which only goes forward.
//!
//! While the system runs, its own clock decides, so a stepped wall clock makes nothing early.
//! After a restart of the system only the wall clock is left, and nothing waits longer than it
//! was meant to. Source: the contract, section 8.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// A moment in the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// On the wall clock.
    pub at: Timestamp,
    /// How long it was away when it was set, in milliseconds.
    pub pause_ms: u64,
    /// On the clock of the running system, where there is one.
    pub uptime: Option<Uptime>,
}

/// A moment on the clock of one run of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uptime {
    /// Which run of the system; no two have the same number.
    pub boot: u64,
    /// Milliseconds since its start, times of sleep included.
    pub millis: u64,
}

impl Due {
    /// A moment `pause` after now.
    #[must_use]
    pub fn after(pause: Duration, now: Timestamp, uptime: Option<Uptime>) -> Self {
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let later = |it: Uptime| Uptime { millis: it.millis.saturating_add(pause_ms), ..it };
        Self { at: now.after(pause), pause_ms, uptime: uptime.map(later) }
    }

    /// How long it is until then; zero when it has passed.
    #[must_use]
    pub fn left(self, now: Timestamp, uptime: Option<Uptime>) -> Duration {
        match (self.uptime, uptime) {
            (Some(due), Some(now)) if due.boot == now.boot => {
                Duration::from_millis(due.millis.saturating_sub(now.millis))
            }
            _ => self.at.since(now).min(Duration::from_millis(self.pause_ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const MINUTE: Duration = Duration::from_mins(1);
    const YEARS: Duration = Duration::from_hours(24 * 3650);

    fn uptime(boot: u64, millis: u64) -> Option<Uptime> {
        Some(Uptime { boot, millis })
    }

    #[test]
    fn a_stepped_wall_clock_changes_nothing_while_the_system_runs() {
        let due = Due::after(MINUTE, NOW, uptime(1, 500));
        for now in [NOW, NOW.after(YEARS), NOW.before(YEARS), Timestamp::EPOCH] {
            assert_eq!(due.left(now, uptime(1, 10_500)), Duration::from_secs(50));
            assert_eq!(due.left(now, uptime(1, 99_999)), Duration::ZERO);
        }
    }

    #[test]
    fn after_a_restart_of_the_system_the_wall_clock_decides_up_to_the_pause() {
        for (set, found) in [(uptime(1, 500), uptime(2, 500)), (None, None), (uptime(1, 0), None)] {
            let due = Due::after(MINUTE, NOW, set);
            assert_eq!(due.left(NOW.after(MINUTE / 2), found), MINUTE / 2);
            assert_eq!(due.left(NOW.after(YEARS), found), Duration::ZERO);
            assert_eq!(due.left(NOW.before(YEARS), found), MINUTE);
        }
    }
}
