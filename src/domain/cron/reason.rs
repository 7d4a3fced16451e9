//! Why a text is no cron expression: a field, a reason from a closed list, and a hint.
//!
//! The words of the reasons are part of the interface. A hint says what to write instead, where
//! that can be known.

use std::error::Error;
use std::fmt;

use super::field::Field;

/// A refused expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronError {
    /// The field it is about, 1 to 5; `None` when it is about the whole text.
    pub field: Option<u8>,
    /// What is wrong.
    pub reason: CronReason,
    /// What to write instead: a fragment in lower case without a full stop.
    pub hint: Option<String>,
}

/// What is wrong with an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CronReason {
    /// It is longer than 256 bytes.
    TooLong,
    /// It has fewer or more than five fields.
    FieldCount,
    /// It is a nickname such as `@daily`.
    Nickname,
    /// It names a time zone.
    TimeZone,
    /// It uses what only other crons know, such as `L`, `W`, `#` or `?`.
    Extension,
    /// It has something that is neither a number nor a name, or a piece is missing.
    Malformed,
    /// It has a comma with nothing before or after it.
    EmptyItem,
    /// It has a number that the field does not have.
    OutOfRange,
    /// It has a range that ends before it begins.
    Reversed,
    /// It has a range of names that ends with Sunday, which is the first day.
    SundayLast,
    /// It has a step of zero.
    StepZero,
    /// It has a step that is larger than what it steps over.
    StepTooLarge,
    /// It has a step after a single number.
    StepOnNumber,
    /// It has `*` in a list.
    StarInList,
    /// No year has such a day.
    Never,
}

impl CronReason {
    /// Every reason.
    pub const ALL: [Self; 15] = [
        Self::TooLong,
        Self::FieldCount,
        Self::Nickname,
        Self::TimeZone,
        Self::Extension,
        Self::Malformed,
        Self::EmptyItem,
        Self::OutOfRange,
        Self::Reversed,
        Self::SundayLast,
        Self::StepZero,
        Self::StepTooLarge,
        Self::StepOnNumber,
        Self::StarInList,
        Self::Never,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::FieldCount => "field_count",
            Self::Nickname => "nickname",
            Self::TimeZone => "time_zone",
            Self::Extension => "extension",
            Self::Malformed => "malformed",
            Self::EmptyItem => "empty_item",
            Self::OutOfRange => "out_of_range",
            Self::Reversed => "reversed_range",
            Self::SundayLast => "sunday_last",
            Self::StepZero => "step_zero",
            Self::StepTooLarge => "step_too_large",
            Self::StepOnNumber => "step_on_number",
            Self::StarInList => "star_in_list",
            Self::Never => "never",
        }
    }

    /// The word for its kind, of which there are six.
    ///
    /// `policy` is what some crons take and this one refuses because it is guesswork.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::FieldCount => "field-count",
            Self::Nickname | Self::TimeZone | Self::Extension => "extension",
            Self::Malformed | Self::EmptyItem => "grammar",
            Self::OutOfRange | Self::Reversed | Self::StepZero => "range",
            Self::TooLong
            | Self::SundayLast
            | Self::StepTooLarge
            | Self::StepOnNumber
            | Self::StarInList => "policy",
            Self::Never => "never",
        }
    }
}

impl CronError {
    /// An error about the whole text.
    pub(super) fn whole(reason: CronReason, hint: impl Into<String>) -> Self {
        Self { field: None, reason, hint: Some(hint.into()) }
    }

    /// An error about one field.
    pub(super) fn at(field: Field, reason: CronReason, hint: impl Into<String>) -> Self {
        Self { field: Some(field.number()), reason, hint: Some(hint.into()) }
    }

    /// The error about a day that no year has.
    pub(super) fn never() -> Self {
        Self::at(Field::DayOfMonth, CronReason::Never, "use a day that one of the months has")
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.and_then(Field::numbered) {
            Some(field) => write!(f, "the {field} (field {}) {}", field.number(), self.reason)?,
            None => write!(f, "the expression {}", self.reason)?,
        }
        self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

impl Error for CronError {}

/// What follows the name of the field.
impl fmt::Display for CronReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "is longer than 256 bytes",
            Self::FieldCount => "does not have exactly five fields",
            Self::Nickname => "is a nickname",
            Self::TimeZone => "names a time zone",
            Self::Extension => "uses what only other crons know",
            Self::Malformed => "has a part that cannot be read",
            Self::EmptyItem => "has a comma with nothing beside it",
            Self::OutOfRange => "has a number that is out of range",
            Self::Reversed => "has a range that ends before it begins",
            Self::SundayLast => "has a range that ends with SUN, which is the first day",
            Self::StepZero => "has a step of zero",
            Self::StepTooLarge => "has a step larger than what it steps over",
            Self::StepOnNumber => "has a step after a single number",
            Self::StarInList => "has * in a list",
            Self::Never => "never comes in the chosen months",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_reasons_have_one_word() {
        let mut words = CronReason::ALL.map(CronReason::as_str);
        words.sort_unstable();
        assert!(words.windows(2).all(|it| it[0] != it[1]));
    }

    #[test]
    fn every_reason_stands_at_its_number() {
        assert!(CronReason::ALL.into_iter().enumerate().all(|(at, it)| it as usize == at));
    }

    #[test]
    fn an_error_reads_as_the_end_of_a_sentence() {
        let error = CronError::at(Field::DayOfWeek, CronReason::SundayLast, "write 5-7");
        assert_eq!(
            error.to_string(),
            "the day of week (field 5) has a range that ends with SUN, which is the first day; \
             write 5-7"
        );
        let error = CronError { field: None, reason: CronReason::TooLong, hint: None };
        assert_eq!(error.to_string(), "the expression is longer than 256 bytes");
    }
}
