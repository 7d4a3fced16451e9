//! What a key has spent: in all, today and this month, and what is held for its runs.
//!
//! All three are counted whatever the key's budget is, so a budget that is set later begins with
//! what was spent. Days and months are those of UTC. Source: the contract, section 3.

use crate::domain::budget::{Budget, Period};
use crate::domain::money::Amount;
use crate::domain::time::Timestamp;

/// What a key has spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spend {
    /// Held for its runs that are not over.
    pub held: Amount,
    /// Spent in all.
    pub total: Amount,
    /// Spent on the day that began then.
    pub day: (Timestamp, Amount),
    /// Spent in the month that began then.
    pub month: (Timestamp, Amount),
}

impl Default for Spend {
    fn default() -> Self {
        let none = (Timestamp::EPOCH, Amount::ZERO);
        Self { held: Amount::ZERO, total: Amount::ZERO, day: none, month: none }
    }
}

impl Spend {
    /// Sets the price of a run aside.
    #[must_use]
    pub fn hold(self, price: Amount) -> Self {
        Self { held: plus(self.held, price), ..self }
    }

    /// Ends a hold, of which `charge` was taken at `now`.
    #[must_use]
    pub fn capture(self, hold: Amount, charge: Amount, now: Timestamp) -> Self {
        let held = self.held.minus(hold).unwrap_or(Amount::ZERO).max(Amount::ZERO);
        Self { held, ..self }.charge(charge, now)
    }

    /// Counts what was spent at `now`.
    #[must_use]
    pub fn charge(self, charge: Amount, now: Timestamp) -> Self {
        // What is noted late, or by a clock that went back, counts in the period that has begun.
        let part = |period: Period, (begun, spent): (Timestamp, Amount)| {
            let start = period.started_at(now).unwrap_or(Timestamp::EPOCH);
            if start > begun { (start, charge) } else { (begun, plus(spent, charge)) }
        };
        Self {
            total: plus(self.total, charge),
            day: part(Period::Day, self.day),
            month: part(Period::Month, self.month),
            ..self
        }
    }

    /// What is spent or held in the period of a budget in which `now` is.
    #[must_use]
    pub fn used(&self, budget: Budget, now: Timestamp) -> Amount {
        let part = |(begun, spent): (Timestamp, Amount)| {
            if budget.period().started_at(now) == Some(begun) { spent } else { Amount::ZERO }
        };
        let spent = match budget.period() {
            Period::None => self.total,
            Period::Day => part(self.day),
            Period::Month => part(self.month),
        };
        plus(spent, self.held)
    }
}

fn plus(a: Amount, b: Amount) -> Amount {
    a.plus(b).unwrap_or(Amount::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    const fn nanos(nanos: i64) -> Amount {
        Amount::from_nanos(nanos)
    }

    fn budget(period: Period) -> Budget {
        Budget::new(nanos(100), period).unwrap()
    }

    #[test]
    fn what_was_spent_counts_for_its_day_its_month_and_for_ever() {
        // The last day of January.
        let now = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let spend = Spend::default().hold(nanos(10)).capture(nanos(10), nanos(7), now);
        let used =
            |spend: &Spend, at| Period::ALL.map(|period| spend.used(budget(period), at).nanos());
        assert_eq!(used(&spend, now), [7, 7, 7]);
        assert_eq!(used(&spend, now.after(DAY)), [7, 0, 0]);
        let spend = spend.charge(nanos(5), now.after(DAY));
        assert_eq!(used(&spend, now.after(DAY)), [12, 5, 5]);
        assert_eq!(used(&spend, now.after(2 * DAY)), [12, 0, 5]);
    }

    #[test]
    fn what_is_noted_late_counts_in_the_period_that_has_begun() {
        let midnight = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
        let late = Timestamp::from_millis(midnight.millis() - 1);
        for early in [late, Timestamp::EPOCH] {
            let spend = Spend::default().charge(nanos(5), midnight).charge(nanos(2), early);
            let used = Period::ALL.map(|period| spend.used(budget(period), midnight).nanos());
            assert_eq!(used, [7, 7, 7], "{early}");
        }
    }

    #[test]
    fn what_is_held_counts_in_every_period() {
        let spend = Spend::default().hold(nanos(10)).hold(nanos(5));
        for period in Period::ALL {
            assert_eq!(spend.used(budget(period), Timestamp::EPOCH), nanos(15));
        }
        let spend = spend.capture(nanos(10), Amount::ZERO, Timestamp::EPOCH);
        assert_eq!(spend.used(budget(Period::None), Timestamp::EPOCH), nanos(5));
    }
}
