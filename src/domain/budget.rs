//! What a key may spend: an amount, once or in every day or month of UTC.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::money::Amount;
use crate::domain::time::{Civil, Timestamp};

/// What a key may spend in a period. Invariant: the amount is above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    amount: Amount,
    period: Period,
}

/// When a budget begins anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Period {
    /// Never: the amount is all there will be.
    #[default]
    None,
    /// At midnight, UTC.
    Day,
    /// On the first of the month at midnight, UTC.
    Month,
}

impl Budget {
    /// A budget; `None` when the amount is not above zero.
    #[must_use]
    pub fn new(amount: Amount, period: Period) -> Option<Self> {
        (amount > Amount::ZERO).then_some(Self { amount, period })
    }

    /// Reads `10/month`, `0.5/day`, or `10`, which never begins anew.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (amount, period) = match text.split_once('/') {
            Some((amount, period)) => (amount, Period::parse(period)?),
            None => (text, Period::None),
        };
        Self::new(Amount::parse(amount).ok()?, period)
    }

    /// How much, in the account's currency.
    #[must_use]
    pub const fn amount(self) -> Amount {
        self.amount
    }

    /// When it begins anew.
    #[must_use]
    pub const fn period(self) -> Period {
        self.period
    }
}

impl Period {
    /// Every period, from the longest to the shortest word of the interface.
    pub const ALL: [Self; 3] = [Self::None, Self::Day, Self::Month];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// When the period began in which `now` is; `None` when there is only one.
    #[must_use]
    pub fn started_at(self, now: Timestamp) -> Option<Timestamp> {
        let today = now.civil();
        let day = match self {
            Self::None => return None,
            Self::Day => today.day,
            Self::Month => 1,
        };
        Timestamp::of_civil(&midnight(today.year, today.month, day))
    }

    /// When the next period begins; `None` when there is none.
    #[must_use]
    pub fn resets_at(self, now: Timestamp) -> Option<Timestamp> {
        let started_at = self.started_at(now)?;
        let Civil { year, month, .. } = started_at.civil();
        match (self, month) {
            (Self::None, _) => None,
            (Self::Day, _) => Some(started_at.after(DAY)),
            (Self::Month, 12) => Timestamp::of_civil(&midnight(year.checked_add(1)?, 1, 1)),
            (Self::Month, _) => Timestamp::of_civil(&midnight(year, month.checked_add(1)?, 1)),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.period {
            Period::None => write!(f, "{}", self.amount),
            Period::Day | Period::Month => write!(f, "{}/{}", self.amount, self.period.as_str()),
        }
    }
}

/// The beginning of a day.
const fn midnight(year: i64, month: u32, day: u32) -> Civil {
    Civil { year, month, day, hour: 0, minute: 0, second: 0, millis: 0, weekday: 0 }
}

/// A day of the calendar, which knows no leap seconds.
const DAY: std::time::Duration = std::time::Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_budget_is_refused() {
        for text in [
            "",
            "/",
            "10/",
            "/month",
            "0",
            "0/day",
            "-1",
            "-1/day",
            "10/year",
            "10/Month",
            "10 / month",
            "10/month/day",
            "1e3/day",
            "1,5",
            "0.0000000001",
        ] {
            assert_eq!(Budget::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_budget_is_read_and_written() {
        for (text, period) in
            [("10", Period::None), ("0.5/day", Period::Day), ("10/month", Period::Month)]
        {
            let budget = Budget::parse(text).unwrap();
            assert_eq!((budget.period(), budget.to_string().as_str()), (period, text));
        }
        assert_eq!(Budget::parse("10.50/none").unwrap().to_string(), "10.5");
    }

    #[track_caller]
    fn check(period: Period, now: &str, started_at: Option<&str>, resets_at: Option<&str>) {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        assert_eq!(period.started_at(at(now)), started_at.map(at), "start of {now}");
        assert_eq!(period.resets_at(at(now)), resets_at.map(at), "end of {now}");
    }

    #[test]
    fn days_and_months_are_those_of_utc() {
        let (leap, march) = (Some("2028-02-29T00:00:00Z"), Some("2028-03-01T00:00:00Z"));
        check(Period::Day, "2028-02-29T23:59:59.999Z", leap, march);
        check(Period::Day, "2028-02-29T00:00:00Z", leap, march);
        check(Period::Month, "2028-02-29T12:00:00Z", Some("2028-02-01T00:00:00Z"), march);
        let (december, january) = (Some("2026-12-01T00:00:00Z"), Some("2027-01-01T00:00:00Z"));
        check(Period::Month, "2026-12-31T23:59:59.999Z", december, january);
        check(Period::Month, "2027-01-01T00:30:00+01:00", december, january);
        check(Period::None, "2026-12-31T00:00:00Z", None, None);
    }
}
