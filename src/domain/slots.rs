//! Which slots of a schedule are due, which of them may still become a run, and which comes next.
//!
//! A slot that was decided before is passed over, wherever the clock was meanwhile. Pure: callers
//! pass `now`, and ask the log about slots that the schedule itself does not know of.
//! Source: the contract, section 7.

use std::time::Duration;

use crate::domain::cron::Cron;
use crate::domain::limits::{LATE_AFTER, MISSED_COUNT_MAX, TICKS_KEPT};
use crate::domain::schedule::{MissedSlots, Schedule};
use crate::domain::slot::{DueSlots, Stretch};
use crate::domain::time::Timestamp;

impl Schedule {
    /// The slots that are due and of which `is_decided` says no; none when it is stopped or the
    /// next one is still to come.
    ///
    /// # Errors
    ///
    /// What `is_decided` says.
    pub fn due<E>(
        &self,
        cron: &Cron,
        now: Timestamp,
        mut is_decided: impl FnMut(Timestamp) -> Result<bool, E>,
    ) -> Result<Option<DueSlots>, E> {
        let Some(next) = self.next_run_at.filter(|it| *it <= now) else { return Ok(None) };
        let earliest = next.before(INSTANT);
        let mut latest = |now| self.latest_undecided(cron, now, earliest, &mut is_decided);
        let Some(slot) = latest(now)? else { return Ok(None) };
        let older = latest(slot.before(INSTANT))?;
        let older = older.map(|it| (it, self.undecided_between(cron, earliest, it)));
        Ok(Some(DueSlots { latest: slot, older }))
    }

    /// Whether a slot that is decided at `now` may still become a run.
    #[must_use]
    pub fn wants(&self, slot: Timestamp, now: Timestamp, window: Duration) -> bool {
        let late = now.since(slot);
        match self.missed {
            MissedSlots::FireOnce => late <= window,
            MissedSlots::Skip => late < LATE_AFTER,
        }
    }

    /// The first slot after `now` of which `is_decided` says no.
    ///
    /// After the clock was set back, slots come again that were decided before.
    ///
    /// # Errors
    ///
    /// What `is_decided` says.
    pub fn next_undecided<E>(
        &self,
        cron: &Cron,
        now: Timestamp,
        mut is_decided: impl FnMut(Timestamp) -> Result<bool, E>,
    ) -> Result<Option<Timestamp>, E> {
        let mut next = cron.next_after(now);
        for _ in 0..LOOKS_MAX {
            let Some(slot) = next else { return Ok(None) };
            if let Some(stretch) = self.stretch_of(slot) {
                next = cron.next_after(stretch.until);
            } else if is_decided(slot)? {
                next = cron.next_after(slot);
            } else {
                return Ok(next);
            }
        }
        Ok(next)
    }

    /// The last slot after `earliest` and not after `now` of which `is_decided` says no.
    fn latest_undecided<E>(
        &self,
        cron: &Cron,
        now: Timestamp,
        earliest: Timestamp,
        is_decided: &mut impl FnMut(Timestamp) -> Result<bool, E>,
    ) -> Result<Option<Timestamp>, E> {
        let mut latest = cron.latest_at_or_before(now, earliest);
        for _ in 0..LOOKS_MAX {
            let Some(slot) = latest else { return Ok(None) };
            let first = if let Some(stretch) = self.stretch_of(slot) {
                stretch.from
            } else if is_decided(slot)? {
                slot
            } else {
                return Ok(latest);
            };
            latest = cron.latest_at_or_before(first.before(INSTANT), earliest);
        }
        Ok(latest)
    }

    /// How many slots after `earliest` and not after `until` are outside of the stretch.
    fn undecided_between(&self, cron: &Cron, earliest: Timestamp, until: Timestamp) -> u32 {
        let all = cron.count_between(earliest, until, u32::MAX);
        let decided = self.decided.map_or(0, |it| {
            let from = earliest.max(it.from.before(INSTANT));
            cron.count_between(from, until.min(it.until), u32::MAX)
        });
        all.saturating_sub(decided).min(MISSED_COUNT_MAX)
    }

    fn stretch_of(&self, slot: Timestamp) -> Option<Stretch> {
        self.decided.filter(|it| it.from <= slot && slot <= it.until)
    }
}

/// The smallest difference of two times.
const INSTANT: Duration = Duration::from_millis(1);
/// Slots that are looked at one by one: every line of a log, the stretch, and one more.
const LOOKS_MAX: u32 = TICKS_KEPT.saturating_add(2);

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::domain::schedule::tests::{at, every};

    /// What is due of `* * * * *` whose next slot is 12:00.
    fn due(
        now: &str,
        decided: Option<(&str, &str)>,
        lines: &[&str],
    ) -> Option<(Timestamp, Option<(Timestamp, u32)>)> {
        let decided = decided.map(|(from, until)| Stretch { from: at(from), until: at(until) });
        let (cron, mut schedule) = every("* * * * *", "11:59:30");
        schedule.decided = decided;
        let lines: Vec<_> = lines.iter().map(|it| at(it)).collect();
        let is_decided = |slot| Ok::<_, Infallible>(lines.contains(&slot));
        let due = schedule.due(&cron, at(now), is_decided).unwrap();
        due.map(|it| (it.latest, it.older))
    }

    #[test]
    fn nothing_is_due_before_the_next_slot_or_when_stopped() {
        assert_eq!(due("11:59:59.999", None, &[]), None);
        assert_eq!(due("11:00:00", None, &[]), None);
        let (cron, mut schedule) = every("* * * * *", "11:59:30");
        schedule.stop(crate::domain::schedule::Stopped::User, at("11:59:40"));
        let due = schedule.due(&cron, at("23:00:00"), |_| Ok::<_, Infallible>(false));
        assert_eq!(due, Ok(None));
    }

    #[test]
    fn the_latest_slot_is_due_and_those_before_it_are_counted() {
        assert_eq!(due("12:00:00", None, &[]), Some((at("12:00:00"), None)));
        assert_eq!(due("12:00:59.999", None, &[]), Some((at("12:00:00"), None)));
        assert_eq!(due("12:01:00", None, &[]), Some((at("12:01:00"), Some((at("12:00:00"), 1)))));
        assert_eq!(due("15:00:30", None, &[]), Some((at("15:00:00"), Some((at("14:59:00"), 180)))));
    }

    #[test]
    fn slots_that_were_decided_are_not_due_again() {
        // The latest one has a line.
        assert_eq!(
            due("12:03:00", None, &["12:03:00"]),
            Some((at("12:02:00"), Some((at("12:01:00"), 2))))
        );
        // The clock had been ahead: from 12:10 to 12:20 all is decided.
        assert_eq!(
            due("12:20:30", Some(("12:10:00", "12:20:00")), &[]),
            Some((at("12:09:00"), Some((at("12:08:00"), 9))))
        );
        assert_eq!(
            due("12:21:00", Some(("12:10:00", "12:20:00")), &[]),
            Some((at("12:21:00"), Some((at("12:09:00"), 10))))
        );
        assert_eq!(due("12:01:00", Some(("11:00:00", "12:10:00")), &[]), None);
        assert_eq!(due("12:01:00", None, &["12:00:00", "12:01:00"]), None);
    }

    #[test]
    fn more_missed_slots_than_are_counted_count_as_so_many() {
        let (cron, schedule) = every("* * * * *", "11:59:30");
        let late = at("12:00:00").after(Duration::from_hours(24 * 365));
        let due = schedule.due(&cron, late, |_| Ok::<_, Infallible>(false)).unwrap().unwrap();
        assert_eq!(due.older.map(|it| it.1), Some(MISSED_COUNT_MAX));
    }

    #[test]
    fn a_slot_may_be_as_late_as_the_window_or_not_late_at_all() {
        let (_, mut schedule) = every("* * * * *", "11:59:30");
        let window = Duration::from_hours(1);
        let mut wants = |missed, now| {
            schedule.missed = missed;
            schedule.wants(at("12:00:00"), at(now), window)
        };
        assert!(wants(MissedSlots::FireOnce, "13:00:00"));
        assert!(!wants(MissedSlots::FireOnce, "13:00:00.001"));
        assert!(wants(MissedSlots::Skip, "12:00:59.999"));
        assert!(!wants(MissedSlots::Skip, "12:01:00"));
        // A clock that was set back makes nothing late.
        assert!(wants(MissedSlots::Skip, "11:00:00"));
    }

    #[test]
    fn the_next_slot_is_the_first_that_was_not_decided() {
        let (cron, mut schedule) = every("*/10 * * * *", "11:59:30");
        let lines = [at("12:20:00"), at("12:50:00")];
        let is_decided = |slot| Ok::<_, Infallible>(lines.contains(&slot));
        let next = |schedule: &Schedule, now| schedule.next_undecided(&cron, at(now), is_decided);
        assert_eq!(next(&schedule, "12:00:00"), Ok(Some(at("12:10:00"))));
        assert_eq!(next(&schedule, "12:10:00"), Ok(Some(at("12:30:00"))));
        schedule.decided = Some(Stretch { from: at("12:30:00"), until: at("12:40:00") });
        assert_eq!(next(&schedule, "12:10:00"), Ok(Some(at("13:00:00"))));
        assert_eq!(next(&schedule, "12:35:00"), Ok(Some(at("13:00:00"))));
        assert_eq!(next(&schedule, "11:59:59"), Ok(Some(at("12:00:00"))));
    }

    #[test]
    fn the_search_gives_up_where_no_log_can_reach() {
        let (cron, schedule) = every("* * * * *", "11:59:30");
        let mut looks = 0;
        let next = schedule.next_undecided(&cron, at("12:00:00"), |_| {
            looks += 1;
            Ok::<_, Infallible>(true)
        });
        assert_eq!((next.unwrap().is_some(), looks), (true, LOOKS_MAX));
    }
}
