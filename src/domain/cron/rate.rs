//! How often an expression comes, on average over the whole calendar.

use std::fmt;

use super::expression::Cron;
use super::month::Month;

/// Runs per day, as an exact fraction: the runs of 400 years by their days.
///
/// The calendar repeats after 400 years, so this is the true average and no estimate. `Display`
/// writes it with at most three decimals, such as `1440`, `0.143` or `0.003`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

impl Rate {
    /// The days of 400 years.
    pub const DAYS: u64 = 146_097;

    /// The runs of [`Rate::DAYS`] days.
    #[must_use]
    pub const fn runs(self) -> u64 {
        self.0
    }

    /// Runs per 1,000 days, to the nearest whole number.
    #[must_use]
    pub const fn per_thousand_days(self) -> u64 {
        self.0.saturating_mul(1_000).saturating_add(Self::DAYS / 2) / Self::DAYS
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thousandths = self.per_thousand_days();
        let text = format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Cron {
    /// How often it comes on average.
    ///
    /// Of the 400 years only 14 kinds differ, so this lays out 168 months and not 4,800.
    #[must_use]
    pub fn runs_per_day(&self) -> Rate {
        let mut days = 0_u64;
        for (leap, by_weekday) in year_kinds().into_iter().enumerate() {
            for (first_weekday, years) in (0..).zip(by_weekday) {
                let year = if leap == 1 { 2000 } else { 2001 };
                let mut month = Month { year, number: 1, first_weekday };
                for _ in 0..12 {
                    let found = u64::from(self.days_of(month).count());
                    days = days.saturating_add(found.saturating_mul(years));
                    month = month.next();
                }
            }
        }
        Rate(days.saturating_mul(self.times_before(24, 0)))
    }
}

/// The number of years of 400 by whether they are leap years and by their first weekday.
fn year_kinds() -> [[u64; 7]; 2] {
    let mut kinds = [[0_u64; 7]; 2];
    // The first day of 2000 was a Saturday.
    let mut first = 6_usize;
    for year in 2000..2400_u32 {
        let leap = usize::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
        if let Some(years) = kinds.get_mut(leap).and_then(|it| it.get_mut(first)) {
            *years = years.saturating_add(1);
        }
        // 365 days are 52 weeks and a day.
        first = first.saturating_add(1).saturating_add(leap) % 7;
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    #[track_caller]
    fn check_rate(text: &str, runs: u64, written: &str) {
        let rate = Cron::parse(text).unwrap().runs_per_day();
        assert_eq!((rate.runs(), rate.to_string().as_str()), (runs, written), "{text}");
    }

    #[test]
    fn rates_are_exact_and_written_short() {
        check_rate("* * * * *", 1_440 * 146_097, "1440");
        check_rate("*/15 * * * *", 96 * 146_097, "96");
        check_rate("0 9,17 * * *", 2 * 146_097, "2");
        check_rate("0 0 * * 0", 20_871, "0.143");
        check_rate("0 0 1 * *", 4_800, "0.033");
        check_rate("0 0 1 1 *", 400, "0.003");
        check_rate("0 0 29 2 *", 97, "0.001");
        // Friday or the 13th: every Friday and the 13ths that are none.
        check_rate("0 0 13 * 5", 20_871 + 4_800 - 688, "0.171");
    }

    #[test]
    fn fourteen_kinds_of_months_are_all_the_calendar_has() {
        let day = |text| Timestamp::parse(text).unwrap();
        let (after, until) = (day("1999-12-31T23:59:00Z"), day("2399-12-31T23:59:00Z"));
        for text in ["0 0 29 2 */7", "0 0 13 * 5", "*/7 3 31 * *", "0 0 */2 */5 1"] {
            let cron = Cron::parse(text).unwrap();
            let mut runs = 0;
            let mut at = after;
            while let Some(next) = cron.next_after(at).filter(|it| *it <= until) {
                (at, runs) = (next, runs + 1);
            }
            assert_eq!(cron.runs_per_day().runs(), runs, "{text}");
        }
    }
}
