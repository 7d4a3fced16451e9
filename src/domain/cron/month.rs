//! A month of the calendar, with what is needed to lay weekdays over its days.

use crate::domain::time::{Civil, days_in_month};

/// A month of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Month {
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) number: u32,
    /// The weekday of its first day, 0 for Sunday.
    pub(super) first_weekday: u32,
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "months, days and weekdays are small; years are those of timestamps, far from the end"
)]
impl Month {
    /// The month of a day.
    pub(super) const fn of(civil: &Civil) -> Self {
        // 35 is a number of whole weeks that no day of a month exceeds.
        let first_weekday = (civil.weekday + 36 - civil.day) % 7;
        Self { year: civil.year, number: civil.month, first_weekday }
    }

    /// The number of its days.
    pub(super) const fn days(self) -> u32 {
        days_in_month(self.year, self.number)
    }

    /// The month after it.
    pub(super) const fn next(self) -> Self {
        let first_weekday = (self.first_weekday + self.days()) % 7;
        match self.number {
            12 => Self { year: self.year + 1, number: 1, first_weekday },
            number => Self { year: self.year, number: number + 1, first_weekday },
        }
    }

    /// The month before it.
    pub(super) const fn previous(self) -> Self {
        let (year, number) = match self.number {
            1 => (self.year - 1, 12),
            number => (self.year, number - 1),
        };
        let first_weekday = (self.first_weekday + 35 - days_in_month(year, number)) % 7;
        Self { year, number, first_weekday }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    #[test]
    fn months_follow_each_other_over_four_centuries_and_back() {
        let mut month = Month::of(&Timestamp::parse("1890-01-31T23:59:00Z").unwrap().civil());
        for _ in 0..4_812 {
            let next = month.next();
            assert_eq!(next.previous(), month);
            let Month { year, number, .. } = next;
            let text = format!("{year}-{number:02}-17T12:00:00Z");
            assert_eq!(Month::of(&Timestamp::parse(&text).unwrap().civil()), next);
            month = next;
        }
        assert_eq!((month.year, month.number), (2291, 1));
    }
}
