//! A set of small numbers as bits, so that "the next one" is one instruction.

/// A set of numbers from 0 to 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Set(u64);

impl Set {
    /// The set of nothing.
    pub(super) const EMPTY: Self = Self(0);

    /// The numbers from `first` to `last`, both included.
    pub(super) const fn range(first: u32, last: u32) -> Self {
        Self(lower(last.saturating_add(1)) & !lower(first))
    }

    /// Every `step`th number from `first` on, up to `last`.
    pub(super) fn stepped(first: u32, last: u32, step: u32) -> Self {
        let step = usize::try_from(step).unwrap_or(usize::MAX).max(1);
        (first..=last).step_by(step).fold(Self::EMPTY, |set, it| set.or(Self::range(it, it)))
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set without the numbers from `end` on.
    pub(super) const fn below(self, end: u32) -> Self {
        Self(self.0 & lower(end))
    }

    /// The set with every number made smaller by `by`; those smaller than `by` fall out.
    pub(super) const fn lowered(self, by: u32) -> Self {
        Self(self.0.unbounded_shr(by))
    }

    /// The set with every number made larger by `by`.
    pub(super) const fn raised(self, by: u32) -> Self {
        Self(self.0.unbounded_shl(by))
    }

    /// A set of weekdays, 0 to 6, once for each of six weeks in a row.
    pub(super) const fn for_six_weeks(self) -> Self {
        // Seven bits times a one in every seventh place: no two products meet.
        Self((self.0 & lower(7)).wrapping_mul(WEEK_STARTS))
    }

    pub(super) const fn has(self, number: u32) -> bool {
        self.0.unbounded_shr(number) & 1 == 1
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The smallest number that is not smaller than `number`.
    pub(super) const fn first_from(self, number: u32) -> Option<u32> {
        match self.0 & !lower(number) {
            0 => None,
            rest => Some(rest.trailing_zeros()),
        }
    }

    /// The largest number that is not larger than `number`.
    pub(super) const fn last_to(self, number: u32) -> Option<u32> {
        self.below(number.saturating_add(1)).0.checked_ilog2()
    }

    /// The numbers, smallest first.
    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |it| self.has(*it))
    }
}

/// The bits of all numbers smaller than `end`.
const fn lower(end: u32) -> u64 {
    !u64::MAX.unbounded_shl(end)
}

/// The first day of each of six weeks.
const WEEK_STARTS: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28 | 1 << 35;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_neighbours() {
        assert!(Set::EMPTY.is_empty() && Set::range(5, 4).is_empty());
        assert_eq!(Set::EMPTY.first_from(0), None);
        assert_eq!(Set::EMPTY.last_to(63), None);
        assert!(!Set::range(0, 63).has(64), "a number that does not fit is in no set");
    }

    #[test]
    fn neighbours_are_found_from_every_number_of_every_small_set() {
        for bits in 0..512 {
            let set = Set(bits);
            for number in 0..12 {
                let next = (number..12).find(|it| bits >> it & 1 == 1);
                let last = (0..=number).rev().find(|it| bits >> it & 1 == 1);
                assert_eq!(set.first_from(number), next, "{bits:b} from {number}");
                assert_eq!(set.last_to(number), last, "{bits:b} to {number}");
            }
        }
    }

    #[test]
    fn both_ends_of_the_word_can_be_used() {
        let set = Set::stepped(0, 63, 63);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63]);
        assert_eq!(
            (set.first_from(1), set.last_to(62), set.last_to(63)),
            (Some(63), Some(0), Some(63))
        );
        assert_eq!(Set::range(0, 63).count(), 64);
    }

    #[test]
    fn weeks_repeat_without_a_gap() {
        let weeks = Set::stepped(1, 5, 4).for_six_weeks();
        for day in 0..42 {
            assert_eq!(weeks.has(day), matches!(day % 7, 1 | 5), "day {day}");
        }
    }
}
