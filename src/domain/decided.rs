//! Which slots of a schedule were decided, in a few words: stretches of time and not one by one.
//!
//! What was decided is never forgotten, wherever the clock goes, so no slot is decided twice. The
//! list is short: when there are too many gaps, one is closed, and slots in it count as decided. A
//! slot that was passed over must rather never come again than a run be paid for twice.

use crate::domain::cron::Cron;
use crate::domain::time::Timestamp;

/// A span of time between two slots, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first of them.
    pub from: Timestamp,
    /// The last of them.
    pub until: Timestamp,
}

/// The slots that were decided: at most [`STRETCHES_MAX`] stretches, in order and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided(Vec<Stretch>);

impl Decided {
    /// What was kept; `None` when it is too long, out of order or not apart.
    #[must_use]
    pub fn restore(stretches: Vec<Stretch>) -> Option<Self> {
        let is_forward = stretches.iter().all(|it| it.from <= it.until);
        let is_apart = stretches.is_sorted_by(|a, b| a.until < b.from);
        (is_forward && is_apart && stretches.len() <= STRETCHES_MAX).then_some(Self(stretches))
    }

    /// The stretches, in order.
    #[must_use]
    pub fn stretches(&self) -> &[Stretch] {
        &self.0
    }

    /// The stretch that a slot lies in; `None` when it was not decided.
    #[must_use]
    pub fn covering(&self, slot: Timestamp) -> Option<Stretch> {
        let at = self.0.partition_point(|it| it.until < slot);
        self.0.get(at).copied().filter(|it| it.from <= slot)
    }

    /// Adds a slot of an expression; the gap that had to be closed for it, if any.
    ///
    /// Stretches between which the expression has no slot become one; without an expression, none
    /// do.
    pub fn add(&mut self, cron: Option<&Cron>, slot: Timestamp) -> Option<Stretch> {
        if self.covering(slot).is_some() {
            return None;
        }
        let follows = |early: Timestamp, late: Timestamp| {
            cron.and_then(|it| it.next_after(early)).is_some_and(|it| it >= late)
        };
        let at = self.0.partition_point(|it| it.until < slot);
        let mut new = Stretch { from: slot, until: slot };
        let (mut start, mut end) = (at, at);
        if let Some(after) = self.0.get(at).filter(|it| follows(slot, it.from)) {
            new.until = after.until;
            end = at.saturating_add(1);
        }
        if let Some(place) = at.checked_sub(1)
            && let Some(before) = self.0.get(place).filter(|it| follows(it.until, slot))
        {
            new.from = before.from;
            start = place;
        }
        self.0.splice(start..end, [new]);
        if self.0.len() > STRETCHES_MAX { self.close_gap(slot) } else { None }
    }

    /// Closes the shortest of the gaps that lie behind `now`, or the shortest of all.
    ///
    /// Those behind come again only if the clock is set back.
    fn close_gap(&mut self, now: Timestamp) -> Option<Stretch> {
        let gaps = self.0.windows(2).enumerate().filter_map(|(at, it)| match it {
            [early, late] => Some((at, Stretch { from: early.until, until: late.from })),
            _ => None,
        });
        let (at, gap) = gaps.min_by_key(|(_, it)| (it.until > now, it.until.since(it.from)))?;
        let late = self.0.remove(at.saturating_add(1));
        self.0.get_mut(at)?.until = late.until;
        Some(gap)
    }
}

/// Stretches that are kept for each schedule.
pub const STRETCHES_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::schedule::tests::at;

    fn cron(text: &str) -> Cron {
        Cron::parse(text).unwrap()
    }

    fn stretch(from: &str, until: &str) -> Stretch {
        Stretch { from: at(from), until: at(until) }
    }

    #[track_caller]
    fn check(decided: &Decided, stretches: &[(&str, &str)]) {
        let expected: Vec<_> = stretches.iter().map(|it| stretch(it.0, it.1)).collect();
        assert_eq!(decided.stretches(), expected);
        assert_eq!(Decided::restore(expected).as_ref(), Some(decided));
    }

    #[test]
    fn stretches_that_are_too_many_or_out_of_order_are_not_taken_back() {
        let (a, b) = (stretch("10:00:00", "11:00:00"), stretch("12:00:00", "13:00:00"));
        assert!(Decided::restore(vec![a, b]).is_some());
        assert_eq!(Decided::restore(vec![b, a]), None);
        assert_eq!(Decided::restore(vec![a, a]), None);
        assert_eq!(Decided::restore(vec![stretch("11:00:00", "10:00:00")]), None);
        let many = (0..=STRETCHES_MAX).map(|it| {
            let slot = Timestamp::from_millis(i64::try_from(it).unwrap() * 1_000);
            Stretch { from: slot, until: slot }
        });
        assert_eq!(Decided::restore(many.collect()), None);
    }

    #[test]
    fn slots_without_another_between_them_become_one_stretch() {
        let (hourly, mut decided) = (cron("0 * * * *"), Decided::default());
        for slot in ["12:00:00", "13:00:00", "16:00:00", "18:00:00"] {
            assert_eq!(decided.add(Some(&hourly), at(slot)), None);
        }
        let apart = [("12:00:00", "13:00:00"), ("16:00:00", "16:00:00"), ("18:00:00", "18:00:00")];
        check(&decided, &apart);
        decided.add(Some(&hourly), at("17:00:00"));
        check(&decided, &[("12:00:00", "13:00:00"), ("16:00:00", "18:00:00")]);
        // What is in a stretch changes nothing, whatever expression has it.
        decided.add(Some(&cron("30 * * * *")), at("16:30:00"));
        decided.add(Some(&hourly), at("14:00:00"));
        decided.add(Some(&hourly), at("11:00:00"));
        check(&decided, &[("11:00:00", "14:00:00"), ("16:00:00", "18:00:00")]);
        // Without an expression nobody knows what lies between.
        decided.add(None, at("15:00:00"));
        assert_eq!(decided.stretches().len(), 3);
        assert_eq!(decided.covering(at("14:30:00")), None);
        assert_eq!(decided.covering(at("12:00:00")), Some(stretch("11:00:00", "14:00:00")));
    }

    #[test]
    fn the_shortest_gap_behind_is_closed_when_there_are_too_many() {
        let (minutely, mut decided) = (cron("* * * * *"), Decided::default());
        // The clock was ahead for a while, and a short gap is still to come.
        for slot in ["23:00:00", "23:02:00"] {
            decided.add(Some(&minutely), at(slot));
        }
        for hour in 0..14 {
            assert_eq!(decided.add(Some(&minutely), at(&format!("{hour:02}:00:00"))), None);
        }
        assert_eq!(decided.stretches().len(), STRETCHES_MAX);
        let closed = decided.add(Some(&minutely), at("13:05:00"));
        assert_eq!(closed, Some(stretch("13:00:00", "13:05:00")));
        assert_eq!(decided.stretches().len(), STRETCHES_MAX);
        assert_eq!(decided.covering(at("13:03:00")), Some(stretch("13:00:00", "13:05:00")));
        assert_eq!(decided.covering(at("23:01:00")), None);
    }
}
