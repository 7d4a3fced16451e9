//! An expression that was read: its text, its five sets and its day rule.

use super::field::Field;
use super::reason::CronError;
use super::set::Set;
use super::warning::{self, Warning};
use super::{read, reading};

/// A cron expression that comes again and again, in UTC.
///
/// Two are equal when they were written with the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: String,
    pub(super) minute: Part,
    pub(super) hour: Part,
    pub(super) day: Part,
    pub(super) month: Part,
    pub(super) weekday: Part,
}

/// One field: which numbers match, and how that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) set: Set,
    pub(super) form: Form,
}

/// How a field was written, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `*`
    Star,
    /// `*` with a step.
    StarStep(u32),
    /// Numbers, names and ranges of them.
    Listed,
}

/// When a day matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DayRule {
    /// When both day fields match it.
    Both,
    /// When one of them does.
    Either,
}

impl Cron {
    /// Reads an expression of five fields.
    ///
    /// # Errors
    ///
    /// [`CronError`] when the text is longer than 256 bytes, is not written as the rules say, or
    /// never comes.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let [minute, hour, day, month, weekday] = read::fields(text)?;
        let cron = Self { text: text.to_owned(), minute, hour, day, month, weekday };
        if cron.comes() { Ok(cron) } else { Err(CronError::never()) }
    }

    /// The text as it was sent, blanks included.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What may surprise whoever wrote it; nothing is wrong with most expressions.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        warning::of(self)
    }

    /// Says it in English, for people: `At 09:00 and 17:00 on Monday to Friday (UTC)`.
    ///
    /// A sentence without its full stop. `(UTC)` is left out where every hour is alike,
    /// as in `Every 15 minutes`.
    #[must_use]
    pub fn describe(&self) -> String {
        reading::of(self)
    }

    /// Whether a day must match both day fields.
    ///
    /// Vixie's rule, which is that of POSIX for whatever POSIX can say: a field counts as
    /// restricted unless its text begins with `*`.
    pub(super) const fn day_rule(&self) -> DayRule {
        match (self.day.form, self.weekday.form) {
            (Form::Listed, Form::Listed) => DayRule::Either,
            (Form::Star | Form::StarStep(_), _) | (_, Form::Star | Form::StarStep(_)) => {
                DayRule::Both
            }
        }
    }

    /// The five fields in their order, each with its name.
    pub(super) const fn parts(&self) -> [(Field, Part); 5] {
        [
            (Field::Minute, self.minute),
            (Field::Hour, self.hour),
            (Field::DayOfMonth, self.day),
            (Field::Month, self.month),
            (Field::DayOfWeek, self.weekday),
        ]
    }

    /// Whether there is a year with such a day.
    ///
    /// Every day of the calendar, the leap day too, falls on every weekday within 400 years, so
    /// only a day that none of the months has can keep an expression from coming.
    fn comes(&self) -> bool {
        let longest = self.month.set.iter().filter_map(|it| MONTH_DAYS_MAX.get(it as usize)).max();
        self.day_rule() == DayRule::Either
            || longest.is_some_and(|it| !self.day.set.below(it.saturating_add(1)).is_empty())
    }
}

/// The days that each month has at most, by its number.
const MONTH_DAYS_MAX: [u32; 13] = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cron::CronReason;
    use crate::domain::time::Timestamp;

    #[test]
    fn what_never_comes_is_refused() {
        let texts = [
            "0 0 30 2 *",
            "0 0 31 2 *",
            "0 0 30,31 FEB *",
            "0 0 31 4,6,9,11 *",
            "0 0 31 2-2 *",
            "0 0 30-31 2 */2",
            "* * 31 2,4 */1",
        ];
        for text in texts {
            let error = Cron::parse(text).unwrap_err();
            assert_eq!((error.reason, error.field), (CronReason::Never, Some(3)), "{text}");
        }
    }

    #[test]
    fn what_comes_rarely_is_taken() {
        let texts = ["0 0 29 2 *", "0 0 29 2 */7", "0 0 30 2,3 *", "0 0 31 2 1", "0 0 31 4,5 *"];
        for text in texts {
            let cron = Cron::parse(text).unwrap();
            assert!(cron.next_after(Timestamp::EPOCH).is_some(), "{text}");
        }
    }

    #[test]
    fn the_text_stays_as_it_was_sent() {
        for text in ["0 9 * * mon", " \t0  9\t* * MON \t", "00 09 * * 1,1"] {
            assert_eq!(Cron::parse(text).unwrap().as_str(), text);
        }
    }
}
