//! Finds instants: the next one, the latest one, and how many lie between.
//!
//! A month is one step: the days of the two day fields are laid over each other as bits, and what
//! is left is the month's days. Most searches take one or two steps; the longest, for a leap day
//! on a Sunday, takes 480.

use super::expression::{Cron, DayRule};
use super::month::Month;
use super::set::Set;
use crate::domain::time::{Civil, Timestamp};

impl Cron {
    /// The first instant strictly after `now`: a full minute in UTC.
    ///
    /// `None` only where time itself ends; an expression that was read comes within 400 years.
    #[must_use]
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let from = now.next_minute().civil();
        let mut month = Month::of(&from);
        if self.days_of(month).has(from.day)
            && let Some(time) = self.time_from(from.hour, from.minute)
        {
            return at(month, from.day, time).filter(|it| *it > now);
        }
        let time = self.time_from(0, 0)?;
        let mut first = from.day.saturating_add(1);
        for _ in 0..=ERA_MONTHS {
            if let Some(day) = self.days_of(month).first_from(first) {
                return at(month, day, time);
            }
            (month, first) = (month.next(), 1);
        }
        None
    }

    /// The latest instant that is after `earliest` and not after `now`.
    ///
    /// After downtime this is the one that is made up for; those before it are only counted.
    #[must_use]
    pub fn latest_at_or_before(&self, now: Timestamp, earliest: Timestamp) -> Option<Timestamp> {
        self.last_to(&now.civil()).filter(|it| *it > earliest)
    }

    /// The number of instants after `after` and not after `until`, or `max` if there are more.
    #[must_use]
    pub fn count_between(&self, after: Timestamp, until: Timestamp, max: u32) -> u32 {
        if until <= after {
            return 0;
        }
        // Whole rounds of the calendar are alike; only what is left of the last is laid out.
        let rounds = until.millis().abs_diff(after.millis()) / ERA_MS;
        let max = u64::from(max);
        let known = if rounds == 0 { 0 } else { rounds.saturating_mul(self.runs_per_day().runs()) };
        let skipped = rounds.saturating_mul(ERA_MS);
        let after = Timestamp::from_millis(after.millis().saturating_add_unsigned(skipped));
        let rest = if known < max { self.count_in_era(after, until, max) } else { 0 };
        u32::try_from(known.saturating_add(rest).min(max)).unwrap_or(u32::MAX)
    }

    /// Counts as [`Cron::count_between`], over no more than 400 years.
    ///
    /// May stop counting once there are `max`.
    fn count_in_era(&self, after: Timestamp, until: Timestamp, max: u64) -> u64 {
        let start = after.next_minute();
        if start > until {
            return 0;
        }
        let (from, to) = (start.civil(), until.civil());
        let (mut month, end) = (Month::of(&from), Month::of(&to));
        let day_runs = self.times_before(24, 0);
        let mut runs = 0_u64;
        let first_days = self.days_of(month);
        // Whole days are counted; what the first and the last of them have too much is taken off.
        let mut extra =
            if first_days.has(from.day) { self.times_before(from.hour, from.minute) } else { 0 };
        let mut days = first_days.and(Set::range(from.day, DAYS_MAX));
        for _ in 0..=ERA_MONTHS {
            if month == end || runs >= max.saturating_add(extra) {
                break;
            }
            runs = runs.saturating_add(u64::from(days.count()).saturating_mul(day_runs));
            month = month.next();
            days = self.days_of(month);
        }
        if month == end {
            if days.has(to.day) {
                let before = self.times_before(to.hour, to.minute.saturating_add(1));
                extra = extra.saturating_add(day_runs.saturating_sub(before));
            }
            let days = u64::from(days.below(to.day.saturating_add(1)).count());
            runs = runs.saturating_add(days.saturating_mul(day_runs));
        }
        runs.saturating_sub(extra)
    }

    /// The last instant that is not after a minute.
    fn last_to(&self, until: &Civil) -> Option<Timestamp> {
        let mut month = Month::of(until);
        if self.days_of(month).has(until.day)
            && let Some(time) = self.time_to(until.hour, until.minute)
        {
            return at(month, until.day, time);
        }
        let time = self.time_to(23, 59)?;
        let mut last = until.day.saturating_sub(1);
        for _ in 0..=ERA_MONTHS {
            if let Some(day) = self.days_of(month).last_to(last) {
                return at(month, day, time);
            }
            (month, last) = (month.previous(), DAYS_MAX);
        }
        None
    }

    /// The days of a month that match.
    pub(super) const fn days_of(&self, month: Month) -> Set {
        if !self.month.set.has(month.number) {
            return Set::EMPTY;
        }
        // Bit `n` of the weeks is the day `n` after a Sunday; day 1 of the month shall be bit 1.
        let weeks = self.weekday.set.for_six_weeks();
        let by_weekday = weeks.lowered(month.first_weekday).raised(1);
        let days = match self.day_rule() {
            DayRule::Both => self.day.set.and(by_weekday),
            DayRule::Either => self.day.set.or(by_weekday),
        };
        days.and(Set::range(1, month.days()))
    }

    /// The first time of a day, as hour and minute, that is not before the given one.
    fn time_from(&self, hour: u32, minute: u32) -> Option<(u32, u32)> {
        if self.hour.set.has(hour)
            && let Some(minute) = self.minute.set.first_from(minute)
        {
            return Some((hour, minute));
        }
        let hour = self.hour.set.first_from(hour.saturating_add(1))?;
        Some((hour, self.minute.set.first_from(0)?))
    }

    /// The last time of a day that is not after the given one.
    fn time_to(&self, hour: u32, minute: u32) -> Option<(u32, u32)> {
        if self.hour.set.has(hour)
            && let Some(minute) = self.minute.set.last_to(minute)
        {
            return Some((hour, minute));
        }
        let hour = self.hour.set.last_to(hour.checked_sub(1)?)?;
        Some((hour, self.minute.set.last_to(59)?))
    }

    /// The number of times of a day before the given one.
    pub(super) fn times_before(&self, hour: u32, minute: u32) -> u64 {
        let whole = self.hour.set.below(hour).count();
        let of_hour = match self.hour.set.has(hour) {
            true => self.minute.set.below(minute).count(),
            false => 0,
        };
        u64::from(whole.saturating_mul(self.minute.set.count()).saturating_add(of_hour))
    }
}

fn at(month: Month, day: u32, (hour, minute): (u32, u32)) -> Option<Timestamp> {
    let Month { year, number, .. } = month;
    let (second, millis, weekday) = (0, 0, 0);
    Timestamp::of_civil(&Civil { year, month: number, day, hour, minute, second, millis, weekday })
}

/// Months after which the calendar repeats, weekdays included: 400 years.
const ERA_MONTHS: u32 = 4_800;
/// Milliseconds of 400 years.
const ERA_MS: u64 = 146_097 * 86_400_000;
/// Days of the longest month.
const DAYS_MAX: u32 = 31;

#[cfg(test)]
mod tests {
    use super::*;

    fn cron(text: &str) -> Cron {
        Cron::parse(text).unwrap()
    }

    fn day(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[track_caller]
    fn check_next(text: &str, now: &str, next: &str) {
        assert_eq!(cron(text).next_after(day(now)), Some(day(next)), "{text} after {now}");
    }

    #[track_caller]
    fn check_latest(text: &str, now: &str, latest: &str) {
        let found = cron(text).latest_at_or_before(day(now), Timestamp::from_millis(i64::MIN));
        assert_eq!(found, Some(day(latest)), "{text} before {now}");
    }

    #[test]
    fn at_the_ends_of_time_there_is_no_instant() {
        let ends = [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX].map(Timestamp::from_millis);
        for text in ["* * * * *", "0 0 29 2 */7", "59 23 31 12 *"] {
            let cron = cron(text);
            for now in ends {
                assert!(cron.next_after(now).is_none_or(|it| it > now), "{text} {now:?}");
                let found = cron.latest_at_or_before(now, ends[0]);
                assert!(found.is_none_or(|it| it <= now), "{text} {now:?}");
            }
            assert_eq!(cron.next_after(ends[3]), None);
            assert_eq!(cron.latest_at_or_before(ends[0], ends[0]), None);
            assert_eq!(cron.count_between(ends[3], ends[0], u32::MAX), 0);
        }
    }

    #[test]
    fn all_of_time_can_be_counted() {
        let [first, last] = [i64::MIN, i64::MAX].map(Timestamp::from_millis);
        assert_eq!(cron("0 0 * * *").count_between(first, last, u32::MAX), u32::MAX);
        let rare = cron("0 0 29 2 */7");
        let rounds = u32::try_from(u64::MAX / ERA_MS).unwrap();
        let per_round = u32::try_from(rare.runs_per_day().runs()).unwrap();
        let found = rare.count_between(first, last, u32::MAX);
        assert!((rounds * per_round..=(rounds + 1) * per_round).contains(&found), "{found}");
    }

    #[test]
    fn the_next_instant_is_strictly_later_and_a_full_minute() {
        check_next("* * * * *", "2026-11-20T12:34:59.999Z", "2026-11-20T12:35:00Z");
        check_next("* * * * *", "2026-11-20T12:35:00Z", "2026-11-20T12:36:00Z");
        check_next("* * * * *", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z");
        check_next("59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z");
        check_next("30 9 * * *", "2026-11-20T09:30:00Z", "2026-11-21T09:30:00Z");
        check_next("30 9,17 * * *", "2026-11-20T09:31:00Z", "2026-11-20T17:30:00Z");
    }

    #[test]
    fn the_search_crosses_years_without_the_day() {
        check_next("0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z");
        // The longest wait there is: the leap days on a Sunday around 1900.
        check_next("0 0 29 2 */7", "1880-02-29T00:00:00Z", "1920-02-29T00:00:00Z");
        check_latest("0 0 29 2 */7", "1920-02-28T23:59:00Z", "1880-02-29T00:00:00Z");
    }

    #[test]
    fn the_day_rule_is_vixies() {
        check_next("0 0 13 * 5", "2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z");
        check_next("0 0 1 * */2", "2026-12-02T00:00:00Z", "2027-04-01T00:00:00Z");
        check_next("0 0 */2 * 1", "2026-11-20T00:00:00Z", "2026-11-23T00:00:00Z");
        check_next("0 0 1-31 * 1", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z");
    }

    #[test]
    fn the_latest_instant_may_be_now_but_not_the_earliest() {
        check_latest("*/5 * * * *", "2026-11-20T12:35:59.999Z", "2026-11-20T12:35:00Z");
        check_latest("*/5 * * * *", "2026-11-20T12:35:00Z", "2026-11-20T12:35:00Z");
        check_latest("59 23 * * *", "2027-01-01T00:00:00Z", "2026-12-31T23:59:00Z");
        check_latest("0 0 31 * *", "2027-03-30T12:00:00Z", "2027-01-31T00:00:00Z");
        let (noon, cron) = (day("2026-11-20T12:00:00Z"), cron("0 12 * * *"));
        assert_eq!(cron.latest_at_or_before(noon, noon), None);
        assert_eq!(cron.latest_at_or_before(day("2026-11-21T11:59:59Z"), noon), None);
        assert_eq!(cron.latest_at_or_before(noon, day("2027-01-01T00:00:00Z")), None);
    }

    #[track_caller]
    fn check_count(text: &str, after: &str, until: &str, count: u32) {
        let (after, until) = (day(after), day(until));
        assert_eq!(cron(text).count_between(after, until, u32::MAX), count, "{text}");
        assert_eq!(cron(text).count_between(after, until, count), count, "{text}");
        let fewer = count.saturating_sub(1);
        assert_eq!(cron(text).count_between(after, until, fewer), fewer, "{text}");
    }

    #[test]
    fn instants_are_counted_after_the_first_end_and_up_to_the_last() {
        check_count("* * * * *", "2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z", 0);
        check_count("* * * * *", "2026-11-20T12:00:59Z", "2026-11-20T12:00:00Z", 0);
        check_count("* * * * *", "2026-11-20T12:00:00Z", "2026-11-20T12:00:59.999Z", 0);
        check_count("* * * * *", "2026-11-20T12:00:00Z", "2026-11-20T12:01:00Z", 1);
        check_count("* * * * *", "2026-11-20T11:59:59.999Z", "2026-11-20T12:00:00Z", 1);
        check_count("*/5 * * * *", "2026-11-17T12:00:00Z", "2026-11-20T12:00:00Z", 864);
        check_count("0 9 * * 1-5", "2026-11-20T09:00:00Z", "2027-01-01T00:00:00Z", 29);
        check_count("0 0 29 2 *", "2026-01-01T00:00:00Z", "2426-01-01T00:00:00Z", 97);
        check_count("0 0 29 2 *", "2026-01-01T00:00:00Z", "2828-03-01T00:00:00Z", 195);
    }
}
