//! Which slots of a schedule are due, which of them may still become a run, and which comes next.
//!
//! A slot that was decided before is passed over, wherever the clock was meanwhile. Pure: callers
//! pass `now`. Source: the contract, section 7.

use std::time::Duration;

use crate::domain::cron::Cron;
use crate::domain::limits::LATE_AFTER;
use crate::domain::schedule::{MissedSlots, Schedule};
use crate::domain::slot::DueSlots;
use crate::domain::time::Timestamp;

impl Schedule {
    /// The slots that are due and were not decided; none when it is stopped or the next one is
    /// still to come.
    #[must_use]
    pub fn due(&self, cron: &Cron, now: Timestamp) -> Option<DueSlots> {
        let earliest = self.next_run_at.filter(|it| *it <= now)?.before(INSTANT);
        let latest = self.latest_undecided(cron, now, earliest)?;
        let older = self.latest_undecided(cron, latest.before(INSTANT), earliest);
        let older = older.map(|it| (it, self.undecided_between(cron, earliest, it)));
        Some(DueSlots { latest, older })
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

    /// The first slot after `now` that was not decided.
    ///
    /// After the clock was set back, slots come again that were decided before.
    #[must_use]
    pub fn next_undecided(&self, cron: &Cron, now: Timestamp) -> Option<Timestamp> {
        let mut next = cron.next_after(now)?;
        // Each look is behind one stretch more.
        while let Some(stretch) = self.decided.covering(next) {
            next = cron.next_after(stretch.until)?;
        }
        Some(next)
    }

    /// The last slot after `earliest` and not after `now` that was not decided.
    fn latest_undecided(
        &self,
        cron: &Cron,
        now: Timestamp,
        earliest: Timestamp,
    ) -> Option<Timestamp> {
        let mut latest = cron.latest_at_or_before(now, earliest)?;
        // Each look is before one stretch more.
        while let Some(stretch) = self.decided.covering(latest) {
            latest = cron.latest_at_or_before(stretch.from.before(INSTANT), earliest)?;
        }
        Some(latest)
    }

    /// How many slots after `earliest` and not after `until` were not decided.
    fn undecided_between(&self, cron: &Cron, earliest: Timestamp, until: Timestamp) -> u32 {
        let count = |from, until| cron.count_between(from, until, u32::MAX);
        let decided = self
            .decided
            .stretches()
            .iter()
            .map(|it| count(earliest.max(it.from.before(INSTANT)), until.min(it.until)));
        decided.fold(count(earliest, until), u32::saturating_sub)
    }
}

/// The smallest difference of two times.
const INSTANT: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::decided::{Decided, Stretch};
    use crate::domain::schedule::tests::{at, every};

    fn decided(stretches: &[(&str, &str)]) -> Decided {
        let stretches = stretches.iter().map(|it| Stretch { from: at(it.0), until: at(it.1) });
        Decided::restore(stretches.collect()).unwrap()
    }

    /// What is due of `* * * * *` whose next slot is 12:00.
    fn due(now: &str, done: &[(&str, &str)]) -> Option<(Timestamp, Option<(Timestamp, u32)>)> {
        let (cron, mut schedule) = every("* * * * *", "11:59:30");
        schedule.decided = decided(done);
        schedule.due(&cron, at(now)).map(|it| (it.latest, it.older))
    }

    #[test]
    fn nothing_is_due_before_the_next_slot_or_when_stopped() {
        assert_eq!(due("11:59:59.999", &[]), None);
        assert_eq!(due("11:00:00", &[]), None);
        let (cron, mut schedule) = every("* * * * *", "11:59:30");
        schedule.stop(crate::domain::schedule::Stopped::User, at("11:59:40"));
        assert_eq!(schedule.due(&cron, at("23:00:00")), None);
    }

    #[test]
    fn the_latest_slot_is_due_and_those_before_it_are_counted() {
        assert_eq!(due("12:00:00", &[]), Some((at("12:00:00"), None)));
        assert_eq!(due("12:00:59.999", &[]), Some((at("12:00:00"), None)));
        assert_eq!(due("12:01:00", &[]), Some((at("12:01:00"), Some((at("12:00:00"), 1)))));
        assert_eq!(due("15:00:30", &[]), Some((at("15:00:00"), Some((at("14:59:00"), 180)))));
    }

    #[test]
    fn slots_that_were_decided_are_neither_due_nor_counted_again() {
        assert_eq!(
            due("12:03:00", &[("12:03:00", "12:03:00")]),
            Some((at("12:02:00"), Some((at("12:01:00"), 2))))
        );
        // The clock had been ahead: from 12:10 to 12:20 all is decided.
        let ahead = [("12:10:00", "12:20:00")];
        assert_eq!(due("12:20:30", &ahead), Some((at("12:09:00"), Some((at("12:08:00"), 9)))));
        assert_eq!(due("12:21:00", &ahead), Some((at("12:21:00"), Some((at("12:09:00"), 10)))));
        assert_eq!(due("12:01:00", &[("11:00:00", "12:10:00")]), None);
        let parts = [("11:00:00", "12:01:00"), ("12:04:00", "12:05:00"), ("12:08:00", "12:30:00")];
        assert_eq!(due("12:10:00", &parts), Some((at("12:07:00"), Some((at("12:06:00"), 3)))));
        assert_eq!(due("12:01:30", &parts), None);
    }

    #[test]
    fn missed_slots_are_counted_exactly_however_many_there_are() {
        let (cron, schedule) = every("* * * * *", "11:59:30");
        let late = at("12:00:00").after(Duration::from_hours(24 * 365));
        let due = schedule.due(&cron, late).unwrap();
        assert_eq!(due.older.map(|it| it.1), Some(365 * 1_440));
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
        schedule.decided = decided(&[("12:20:00", "12:20:00"), ("12:50:00", "12:50:00")]);
        let next = |schedule: &Schedule, now| schedule.next_undecided(&cron, at(now));
        assert_eq!(next(&schedule, "12:00:00"), Some(at("12:10:00")));
        assert_eq!(next(&schedule, "12:10:00"), Some(at("12:30:00")));
        schedule.decided = decided(&[("12:20:00", "12:40:00"), ("12:50:00", "12:50:00")]);
        assert_eq!(next(&schedule, "12:10:00"), Some(at("13:00:00")));
        assert_eq!(next(&schedule, "12:35:00"), Some(at("13:00:00")));
        assert_eq!(next(&schedule, "11:59:59"), Some(at("12:00:00")));
    }
}
