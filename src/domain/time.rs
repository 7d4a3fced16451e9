//! Points in time: whole milliseconds in UTC, and their texts.
//!
//! A [`Timestamp`] is a number with a unit. It never reads a clock. The calendar is the proleptic
//! Gregorian one without leap seconds, as RFC 3339 and Unix time have it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00 UTC; negative before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(i64);

/// A calendar day and the time in it, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year, as written: 1970 is 1970.
    pub year: i64,
    /// The month, 1 to 12.
    pub month: u32,
    /// The day of the month, 1 to 31.
    pub day: u32,
    /// The hour, 0 to 23.
    pub hour: u32,
    /// The minute, 0 to 59.
    pub minute: u32,
    /// The second, 0 to 59.
    pub second: u32,
    /// The millisecond, 0 to 999.
    pub millis: u32,
    /// The day of the week, 0 for Sunday.
    pub weekday: u32,
}

impl Timestamp {
    /// The beginning of Unix time.
    pub const EPOCH: Self = Self(0);

    /// Takes milliseconds since 1970 UTC.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970 UTC.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970 UTC, rounded down.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The time `span` later, or the last one there is.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The time `span` earlier, or the first one there is.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long it is from `earlier` until this time; zero when it is not later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The start of the next full minute, strictly later.
    #[must_use]
    pub const fn next_minute(self) -> Self {
        Self(self.0.div_euclid(60_000).saturating_add(1).saturating_mul(60_000))
    }

    /// The calendar day and time.
    #[must_use]
    pub fn civil(self) -> Civil {
        let days = self.0.div_euclid(DAY_MS);
        let in_day = u32::try_from(self.0.rem_euclid(DAY_MS)).unwrap_or(0);
        let (year, month, day) = civil_of_days(days);
        Civil {
            year,
            month,
            day,
            hour: in_day / 3_600_000,
            minute: in_day / 60_000 % 60,
            second: in_day / 1000 % 60,
            millis: in_day % 1000,
            // Day 0 was a Thursday.
            weekday: u32::try_from(days.saturating_add(4).rem_euclid(7)).unwrap_or(0),
        }
    }

    /// The time of a calendar day and clock; `None` when the day or the clock does not exist.
    #[must_use]
    pub fn of_civil(civil: &Civil) -> Option<Self> {
        let valid = (1..=12).contains(&civil.month)
            && civil.day >= 1
            && civil.day <= days_in_month(civil.year, civil.month)
            && civil.hour < 24
            && civil.minute < 60
            && civil.second < 60
            && civil.millis < 1000;
        if !valid {
            return None;
        }
        let clock = i64::from(civil.hour)
            .checked_mul(3_600_000)?
            .checked_add(i64::from(civil.minute).checked_mul(60_000)?)?
            .checked_add(i64::from(civil.second).checked_mul(1000)?)?
            .checked_add(i64::from(civil.millis))?;
        let days = days_of_civil(civil.year, civil.month, civil.day)?;
        days.checked_mul(DAY_MS)?.checked_add(clock).map(Self)
    }

    /// Reads RFC 3339, such as `2026-01-01T00:00:00Z` or `2026-01-01T02:00:00.5+02:00`.
    ///
    /// Fractions beyond milliseconds are cut. `None` for anything else, a leap second included.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (date, rest) = text.split_once(['T', 't', ' '])?;
        let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
        let offset_at = rest.find(['Z', 'z', '+', '-'])?;
        let (clock, offset) = rest.split_at(offset_at);
        let (whole, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let [hour, minute, second] = numbers(whole, ':', [2, 2, 2])?;
        let all_digits = fraction.bytes().all(|it| it.is_ascii_digit());
        if fraction.is_empty() || fraction.len() > 9 || !all_digits {
            return None;
        }
        let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
        let millis = digits.parse().ok()?;
        let year = i64::from(year);
        let civil = Civil { year, month, day, hour, minute, second, millis, weekday: 0 };
        let local = Self::of_civil(&civil)?;
        local.0.checked_sub(offset_millis(offset)?).map(Self)
    }

    /// Writes `2026-01-01T00:00:00.000000+00:00`, the form of an event's `created_at`.
    #[must_use]
    pub fn to_micros_text(self) -> String {
        let text = self.to_string();
        text.replacen("+00:00", "000+00:00", 1)
    }

    /// Writes the form that HTTP headers use, `Thu, 01 Jan 1970 00:00:00 GMT`.
    ///
    /// Source: RFC 9110, section 5.6.7.
    #[must_use]
    pub fn to_http_date(self) -> String {
        let it = self.civil();
        let day = WEEKDAYS.get(it.weekday as usize).copied().unwrap_or("Sun");
        let month = MONTHS.get((it.month as usize).saturating_sub(1)).copied().unwrap_or("Jan");
        let Civil { year, day: of_month, hour, minute, second, .. } = it;
        format!("{day}, {of_month:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }
}

/// Writes RFC 3339 with milliseconds and `+00:00`. Source: the contract, section 1.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, millis, .. } = self.civil();
        let Some(year) = u32::try_from(year).ok().filter(|it| *it < 10_000) else {
            return write!(f, "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
        };
        // Every record that is shown has some of these, so the digits are put in place by hand.
        let mut text = *b"0000-00-00T00:00:00.000+00:00";
        let numbers = [
            (year, 4),
            (month, 7),
            (day, 10),
            (hour, 13),
            (minute, 16),
            (second, 19),
            (millis, 23),
        ];
        for (mut number, end) in numbers {
            for digit in text.iter_mut().take(end).rev() {
                if number == 0 || !digit.is_ascii_digit() {
                    break;
                }
                *digit = b'0'.saturating_add(u8::try_from(number % 10).unwrap_or(0));
                number /= 10;
            }
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

/// The number of days in a month of the Gregorian calendar; zero when there is no such month.
#[must_use]
pub const fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 0,
    }
}

const fn is_leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

/// Days since 1970-01-01 of a day that exists.
///
/// Years are counted from March, so that the leap day is the last of its year and a month's
/// first day is a linear function of its number.
fn days_of_civil(year: i64, month: u32, day: u32) -> Option<i64> {
    let (year, month) = if month > 2 {
        (year, month.checked_sub(3)?)
    } else {
        (year.checked_sub(1)?, month.checked_add(9)?)
    };
    let era = year.div_euclid(400);
    let in_era = year.rem_euclid(400);
    let in_year =
        i64::from(month.checked_mul(153)?.checked_add(2)? / 5).checked_add(i64::from(day))?;
    let leaps = (in_era / 4).checked_sub(in_era / 100)?;
    let day_of_era = in_era.checked_mul(365)?.checked_add(leaps)?.checked_add(in_year)?;
    era.checked_mul(DAYS_PER_ERA)?.checked_add(day_of_era)?.checked_sub(DAYS_BEFORE_1970)
}

#[expect(clippy::arithmetic_side_effects, reason = "days are at most 2^63 / 86,400,000 from zero")]
fn civil_of_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + DAYS_BEFORE_1970 - 1;
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let of_era = shifted.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
}

fn offset_millis(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let [hours, minutes] = numbers(text.get(1..)?, ':', [2, 2])?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let minutes = i64::from(hours).checked_mul(60)?.checked_add(i64::from(minutes))?;
    minutes.checked_mul(60_000)?.checked_mul(sign)
}

/// Reads `N` numbers of fixed widths with one separator between them.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut out = [0; N];
    for (slot, width) in out.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        *slot = part.parse().ok()?;
    }
    parts.next().is_none().then_some(out)
}

const DAY_MS: i64 = 86_400_000;
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-02-29 to 1970-01-01, so that day 1 of the shifted year 0 is 0000-03-01.
const DAYS_BEFORE_1970: i64 = 719_469;
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(millis: i64, text: &str) {
        assert_eq!(Timestamp(millis).to_string(), text);
        assert_eq!(Timestamp::parse(text), Some(Timestamp(millis)), "{text}");
    }

    #[test]
    fn a_time_is_written_with_milliseconds_and_offset_and_reads_back() {
        check_text(0, "1970-01-01T00:00:00.000+00:00");
        check_text(951_782_400_000, "2000-02-29T00:00:00.000+00:00");
        check_text(1_767_225_600_123, "2026-01-01T00:00:00.123+00:00");
        check_text(-1, "1969-12-31T23:59:59.999+00:00");
        check_text(4_107_542_399_999, "2100-02-28T23:59:59.999+00:00");
        check_text(4_107_542_400_000, "2100-03-01T00:00:00.000+00:00");
    }

    #[test]
    fn every_day_of_eight_centuries_survives_the_calendar() {
        for day in -200_000..100_000 {
            let time = Timestamp(day * DAY_MS);
            assert_eq!(Timestamp::of_civil(&time.civil()), Some(time), "day {day}");
        }
    }

    #[test]
    fn offsets_and_fractions_are_understood() {
        let noon = Timestamp::parse("2026-06-01T12:00:00Z");
        assert_eq!(Timestamp::parse("2026-06-01t14:00:00.000+02:00"), noon);
        assert_eq!(Timestamp::parse("2026-06-01 06:30:00-05:30"), noon);
        let half = Timestamp::parse("2026-06-01T12:00:00.5004999Z");
        assert_eq!(half, noon.map(|it| it.after(Duration::from_millis(500))));
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        let texts = [
            "",
            "now",
            "2026-06-01",
            "2026-06-01T12:00:00",
            "2026-06-31T12:00:00Z",
            "2025-02-29T00:00:00Z",
            "2026-06-01T24:00:00Z",
            "2026-06-01T12:00:60Z",
            "2026-6-1T12:00:00Z",
            "2026-06-01T12:00:00+0200",
            "2026-06-01T12:00:00+25:00",
            "2026-06-01T12:00:00.Z",
            "2026-06-01T12:00:00é",
            "+999999-01-01T00:00:00Z",
        ];
        for text in texts {
            assert_eq!(Timestamp::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_other_forms_follow_their_standards() {
        let time = Timestamp(784_111_777_000);
        assert_eq!(time.to_http_date(), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(time.to_micros_text(), "1994-11-06T08:49:37.000000+00:00");
    }

    #[test]
    fn the_next_minute_is_strictly_later() {
        assert_eq!(Timestamp(0).next_minute(), Timestamp(60_000));
        assert_eq!(Timestamp(59_999).next_minute(), Timestamp(60_000));
        assert_eq!(Timestamp(-1).next_minute(), Timestamp(0));
    }
}
