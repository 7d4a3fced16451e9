//! What may surprise the writer of an expression that is right.

use std::fmt;

use super::expression::{Cron, DayRule, Form};
use super::field::Field;

/// Something worth a second look. `Display` writes a sentence without its full stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Both day fields are restricted, so that either is enough.
    EitherDay,
    /// A step that does not fit into its field, so that one gap is shorter than the others.
    UnevenStep {
        /// The field.
        field: Field,
        /// The step.
        step: u32,
    },
    /// A step in a day field beside another restricted one; other tools read it differently.
    BothDays {
        /// The field with the step.
        field: Field,
    },
    /// A day that some of the months do not have.
    MissingDay {
        /// The day of the month, 29 to 31.
        day: u32,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EitherDay => f.write_str(
                "it runs on days that match the day of month or the day of week, not only on \
                 days that match both",
            ),
            Self::UnevenStep { field, step } => write!(
                f,
                "the step {step} does not divide the {field} evenly: counting starts over, so \
                 one gap is shorter"
            ),
            Self::BothDays { field } => write!(
                f,
                "because the {field} begins with *, it runs only on days that match both day \
                 fields; other tools run on days that match either"
            ),
            Self::MissingDay { day } => write!(
                f,
                "months without a day {day} are skipped; it does not move to their last day"
            ),
        }
    }
}

/// The warnings about an expression.
pub(super) fn of(cron: &Cron) -> Vec<Warning> {
    let either = (cron.day_rule() == DayRule::Either).then_some(Warning::EitherDay);
    let uneven = cron.parts().into_iter().filter_map(|(field, part)| match part.form {
        Form::StarStep(step) if !fits(field, step) => Some(Warning::UnevenStep { field, step }),
        Form::Star | Form::StarStep(_) | Form::Listed => None,
    });
    let both = match (cron.day.form, cron.weekday.form) {
        (Form::StarStep(_), Form::StarStep(_) | Form::Listed) => Some(Field::DayOfMonth),
        (Form::Listed, Form::StarStep(_)) => Some(Field::DayOfWeek),
        (Form::Star, _) | (_, Form::Star) | (Form::Listed, Form::Listed) => None,
    };
    let both = both.map(|field| Warning::BothDays { field });
    let missing = missing_day(cron).map(|day| Warning::MissingDay { day });
    either.into_iter().chain(uneven).chain(both).chain(missing).collect()
}

/// Whether steps from the field's first number end where the field starts over.
///
/// Months differ in length, so over days only a step of one does.
fn fits(field: Field, step: u32) -> bool {
    let numbers = match field {
        Field::DayOfMonth => return step == 1,
        Field::Minute | Field::Hour | Field::Month | Field::DayOfWeek => field.everything().count(),
    };
    numbers.is_multiple_of(step)
}

/// The first listed day that some chosen month does not have.
///
/// Not the end of a range such as `1-31`, which is meant to fill the month.
fn missing_day(cron: &Cron) -> Option<u32> {
    if cron.day.form != Form::Listed {
        return None;
    }
    let lacking = |day: u32| {
        let starts = !cron.day.set.has(day.saturating_sub(1));
        starts && cron.month.set.iter().any(|month| day > shortest(month))
    };
    cron.day.set.iter().find(|day| lacking(*day))
}

/// The days that a month has in every year.
const fn shortest(month: u32) -> u32 {
    crate::domain::time::days_in_month(2001, month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_warnings(text: &str, expected: &[Warning]) {
        assert_eq!(Cron::parse(text).unwrap().warnings(), expected, "{text}");
    }

    #[test]
    fn days_that_only_some_months_have_are_named() {
        for (text, day) in [
            ("0 0 31 * *", 31),
            ("0 0 15,30 * *", 30),
            ("0 0 29-31 * *", 29),
            ("0 0 29 2 *", 29),
            ("0 0 31 1-4 *", 31),
        ] {
            check_warnings(text, &[Warning::MissingDay { day }]);
        }
        for text in ["0 0 1-31 * *", "0 0 28-31 * *", "0 0 30 4 *", "0 0 31 JAN,MAR *"] {
            check_warnings(text, &[]);
        }
    }

    #[test]
    fn steps_that_leave_a_short_gap_are_named() {
        let uneven = |field, step| Warning::UnevenStep { field, step };
        check_warnings("*/7 * * * *", &[uneven(Field::Minute, 7)]);
        check_warnings("*/45 */5 * * *", &[uneven(Field::Minute, 45), uneven(Field::Hour, 5)]);
        check_warnings("0 0 */10 * *", &[uneven(Field::DayOfMonth, 10)]);
        check_warnings("0 0 1 */5 *", &[uneven(Field::Month, 5)]);
        check_warnings("0 0 * * */2", &[uneven(Field::DayOfWeek, 2)]);
        for text in ["*/1 * * * *", "*/30 */6 * */4 *", "0-59/7 * * * *", "0 0 */1 * */7"] {
            let of_steps = |it: &Warning| matches!(it, Warning::UnevenStep { .. });
            assert!(!Cron::parse(text).unwrap().warnings().iter().any(of_steps), "{text}");
        }
    }

    #[test]
    fn two_restricted_day_fields_are_named() {
        check_warnings("0 0 13 * 5", &[Warning::EitherDay]);
        check_warnings("0 0 1-31 * MON", &[Warning::EitherDay]);
        check_warnings("0 0 31 * 5", &[Warning::EitherDay, Warning::MissingDay { day: 31 }]);
    }

    #[test]
    fn a_step_beside_another_day_field_is_named() {
        let both = |field| Warning::BothDays { field };
        check_warnings("0 0 */1 * 1", &[both(Field::DayOfMonth)]);
        check_warnings("0 0 1 * */7", &[both(Field::DayOfWeek)]);
        check_warnings("0 0 */1 * */7", &[both(Field::DayOfMonth)]);
        check_warnings("0 0 */1 * *", &[]);
    }

    #[test]
    fn plain_expressions_have_no_warnings() {
        for text in ["* * * * *", "*/15 * * * *", "0 9 * * MON-FRI", "30 2 1,15 * *"] {
            check_warnings(text, &[]);
        }
    }

    #[test]
    fn a_warning_is_a_sentence() {
        let text = Warning::UnevenStep { field: Field::Minute, step: 7 }.to_string();
        let expected = "the step 7 does not divide the minute evenly: counting starts over, so \
                        one gap is shorter";
        assert_eq!(text, expected);
        let text = Warning::MissingDay { day: 31 }.to_string();
        let expected = "months without a day 31 are skipped; it does not move to their last day";
        assert_eq!(text, expected);
    }
}
