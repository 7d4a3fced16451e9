//! When an event is sent again: pauses that grow, chance that only adds, hints that only lengthen.
//!
//! Source: service interface, "Events", rule 7; the contract, section 8.

use std::time::Duration;

use crate::domain::limits::{PAUSE_JITTER_MAX, RETRY_HINT_MAX, SEND_PAUSES};
use crate::domain::time::{Civil, Timestamp};

/// How long the pauses between attempts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pauses {
    /// 1, 2, 4, 8 and 16 minutes, at least.
    Minutes,
    /// 1, 2, 4, 8 and 16 seconds, for somebody who waits at a keyboard.
    Seconds,
}

/// When the first attempt is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstAttempt {
    /// At the next full minute. Source: service interface, "Events", rule 7.
    Tick,
    /// As soon as the event is on disk.
    Commit,
}

impl Pauses {
    /// The pause after the failed attempt `attempt`, counted from 1, from its end on.
    ///
    /// `chance` is a random number; up to a tenth is added by it. `hint` is what the receiver
    /// asked for. `None` when the attempt was the last.
    #[must_use]
    pub fn after(self, attempt: u32, chance: u64, hint: Option<Duration>) -> Option<Duration> {
        let index = usize::try_from(attempt.checked_sub(1)?).ok()?;
        let minutes = *SEND_PAUSES.get(index)?;
        let pause = match self {
            Self::Minutes => minutes,
            Self::Seconds => minutes.checked_div(60).unwrap_or(minutes),
        };
        let room = pause.checked_div(10).unwrap_or_default().min(PAUSE_JITTER_MAX);
        let room = u64::try_from(room.as_millis()).unwrap_or(u64::MAX);
        let extra = Duration::from_millis(chance.checked_rem(room.saturating_add(1)).unwrap_or(0));
        let hint = hint.unwrap_or_default().min(RETRY_HINT_MAX);
        Some(pause.saturating_add(extra).max(hint))
    }
}

impl FirstAttempt {
    /// How long after `now` the first attempt is due.
    #[must_use]
    pub fn pause(self, now: Timestamp) -> Duration {
        match self {
            Self::Tick => now.next_minute().since(now),
            Self::Commit => Duration::ZERO,
        }
    }
}

/// Reads the value of `Retry-After`: whole seconds, or a date of HTTP.
///
/// `None` for anything else, so that a wrong hint is as good as none.
#[must_use]
pub fn hint(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit()) {
        // A number too large for us is longer than the longest hint in any case.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    http_date(value).map(|it| it.since(now))
}

/// Reads `Thu, 01 Jan 1970 00:00:00 GMT`. Source: RFC 9110, section 5.6.7, the preferred form.
///
/// The day of the week must be the right one.
#[must_use]
pub fn http_date(text: &str) -> Option<Timestamp> {
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let mut clock = words.next()?.split(':');
    let month = MONTHS.iter().position(|it| *it == month)?.checked_add(1)?;
    let civil = Civil {
        year: year.parse().ok()?,
        month: u32::try_from(month).ok()?,
        day: day.parse().ok()?,
        hour: clock.next()?.parse().ok()?,
        minute: clock.next()?.parse().ok()?,
        second: clock.next()?.parse().ok()?,
        millis: 0,
        weekday: 0,
    };
    // Written again it must be the same text, the day of the week and all zeros included.
    Timestamp::of_civil(&civil).filter(|it| it.to_http_date() == text)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    /// Source: service interface, "Events", rule 7.
    #[test]
    fn the_pauses_are_at_least_those_of_the_interface_and_the_sixth_attempt_is_the_last() {
        let seconds = [60, 120, 240, 480, 960];
        for (attempt, least) in (1..).zip(seconds) {
            let pause = Pauses::Minutes.after(attempt, 0, None).unwrap();
            assert_eq!(pause, Duration::from_secs(least));
            let pause = Pauses::Seconds.after(attempt, 0, None).unwrap();
            assert_eq!(pause, Duration::from_secs(least) / 60);
        }
        assert_eq!(Pauses::Minutes.after(6, 0, None), None);
        assert_eq!(Pauses::Minutes.after(0, 0, None), None);
    }

    #[test]
    fn a_hint_only_lengthens_and_by_no_more_than_an_hour() {
        let after = |hint: &str| Pauses::Minutes.after(1, 0, super::hint(hint, NOW)).unwrap();
        for (hint, seconds) in [
            ("0", 60),
            ("30", 60),
            ("61", 61),
            ("7200", 3600),
            ("999999999999", 3600),
            ("99999999999999999999999999", 3600),
            ("-1", 60),
            ("1.5", 60),
            ("", 60),
            ("soon", 60),
            ("Wed, 31 Dec 2025 23:59:00 GMT", 60),
            ("Thu, 01 Jan 2026 00:02:00 GMT", 120),
            ("Thu, 01 Jan 2036 00:02:00 GMT", 60),
            ("Tue, 01 Jan 2036 00:02:00 GMT", 3600),
            ("Thu, 1 Jan 2026 00:02:00 GMT", 60),
        ] {
            assert_eq!(after(hint), Duration::from_secs(seconds), "{hint}");
        }
    }

    #[test]
    fn the_first_attempt_is_due_at_once_or_at_the_next_full_minute() {
        let late = NOW.after(Duration::from_millis(59_999));
        assert_eq!(FirstAttempt::Tick.pause(late), Duration::from_millis(1));
        assert_eq!(FirstAttempt::Tick.pause(NOW), Duration::from_mins(1));
        assert_eq!(FirstAttempt::Commit.pause(late), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn chance_only_adds_and_at_most_a_tenth(attempt in 1_u32..6, chance: u64) {
            let least = Pauses::Minutes.after(attempt, 0, None).unwrap();
            let pause = Pauses::Minutes.after(attempt, chance, None).unwrap();
            prop_assert!(pause >= least && pause <= least + (least / 10).min(PAUSE_JITTER_MAX));
        }

        #[test]
        fn no_header_panics(value in any::<String>()) {
            let _ = hint(&value, NOW);
        }
    }
}
