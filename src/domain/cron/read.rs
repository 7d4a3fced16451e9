//! Reads the text of an expression into five sets.
//!
//! One spelling has one meaning: a number is decimal digits, a name is three letters in any case
//! in its own field, a step follows `*` or a range, and `*` stands alone. Whatever another cron
//! would repair or guess at is refused.

use super::expression::{Form, Part};
use super::field::Field;
use super::reason::{CronError, CronReason};
use super::refusal;
use super::set::Set;

/// Reads the five fields.
pub(super) fn fields(text: &str) -> Result<[Part; 5], CronError> {
    if text.len() > CRON_BYTES_MAX {
        return Err(CronError { field: None, reason: CronReason::TooLong, hint: None });
    }
    let mut words = text.split(BLANKS).filter(|it| !it.is_empty());
    let mut next = || words.next();
    let (Some(minute), Some(hour), Some(day), Some(month), Some(weekday), None) =
        (next(), next(), next(), next(), next(), next())
    else {
        return Err(refusal::whole(text));
    };
    if minute.starts_with('@') || minute.contains('=') {
        return Err(refusal::whole(text));
    }
    Ok([
        part(Field::Minute, minute)?,
        part(Field::Hour, hour)?,
        part(Field::DayOfMonth, day)?,
        part(Field::Month, month)?,
        part(Field::DayOfWeek, weekday)?,
    ])
}

fn part(field: Field, text: &str) -> Result<Part, CronError> {
    if let Some(rest) = text.strip_prefix('*').filter(|it| !it.contains(',')) {
        return star(field, rest);
    }
    if text.split(',').any(str::is_empty) {
        let hint = "write a number on both sides of each comma";
        return Err(CronError::at(field, CronReason::EmptyItem, hint));
    }
    let mut set = Set::EMPTY;
    for text in text.split(',') {
        set = set.or(item(field, text)?);
    }
    Ok(Part { set: field.folded(set), form: Form::Listed })
}

/// Reads what follows a leading `*`.
fn star(field: Field, rest: &str) -> Result<Part, CronError> {
    let (first, last) = field.bounds();
    if rest.is_empty() {
        return Ok(Part { set: field.everything(), form: Form::Star });
    }
    let Some(text) = rest.strip_prefix('/') else {
        return Err(refusal::word(field, rest));
    };
    let step = step(field, text, first, last)?;
    let set = field.folded(Set::stepped(first, last, step));
    Ok(Part { set, form: Form::StarStep(step) })
}

/// Reads a member of a list: a number, a range, or a range with a step.
fn item(field: Field, text: &str) -> Result<Set, CronError> {
    if text.starts_with('*') {
        return Err(CronError::at(field, CronReason::StarInList, "write * alone"));
    }
    let (body, step_text) = match text.split_once('/') {
        Some((body, step)) => (body, Some(step)),
        None => (text, None),
    };
    let Some((from, to)) = body.split_once('-') else {
        let number = number(field, body)?;
        return match step_text {
            None => Ok(Set::range(number, number)),
            Some(text) => Err(step_on_number(field, number, text)),
        };
    };
    let (first, last) = (number(field, from)?, number(field, to)?);
    if first > last {
        return Err(refusal::reversed(field, (first, last), to, step_text));
    }
    let step = step_text.map_or(Ok(1), |it| step(field, it, first, last))?;
    Ok(Set::stepped(first, last, step))
}

/// Reads a number or a name.
fn number(field: Field, text: &str) -> Result<u32, CronError> {
    if !is_digits(text) {
        return field.named(text).ok_or_else(|| refusal::word(field, text));
    }
    let (first, last) = field.bounds();
    // What does not fit is as much out of range as what is one too large.
    let number = text.parse().unwrap_or(u32::MAX);
    if number < first || number > last {
        let hint = format!("use {first} to {last}");
        return Err(CronError::at(field, CronReason::OutOfRange, hint));
    }
    Ok(number)
}

/// Reads a step over `first` to `last`.
///
/// It must reach a second number, or nothing is stepped over: `*/60` says less than `0`. The step
/// 1 is always fine, as it changes nothing.
fn step(field: Field, text: &str, first: u32, last: u32) -> Result<u32, CronError> {
    if !is_digits(text) {
        return Err(refusal::word(field, text));
    }
    let step = text.parse().unwrap_or(u32::MAX);
    let largest = last.saturating_sub(first).max(1);
    let reason = match step {
        0 => CronReason::StepZero,
        _ if step > largest => CronReason::StepTooLarge,
        _ => return Ok(step),
    };
    Err(CronError::at(field, reason, format!("use a step of 1 to {largest}")))
}

/// Refuses a step after a single number, which some crons read as a range to the end.
fn step_on_number(field: Field, first: u32, text: &str) -> CronError {
    let (_, last) = field.bounds();
    match step(field, text, first, last) {
        Ok(step) => {
            let hint = format!("write {first}-{last}/{step}");
            CronError::at(field, CronReason::StepOnNumber, hint)
        }
        Err(error) if error.reason == CronReason::StepTooLarge => {
            CronError::at(field, CronReason::StepOnNumber, format!("write {first}"))
        }
        Err(error) => error,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// What separates fields: nothing else does, not even a line's end.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];
/// Bytes of an expression. Source: the rules of the dialect.
const CRON_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `text` is refused in `field`, 0 for the whole of it.
    #[track_caller]
    fn check_refused(text: &str, field: u8, reason: CronReason) {
        let error = fields(text).map(|_| ()).unwrap_err();
        assert_eq!((error.field.unwrap_or(0), error.reason), (field, reason), "{text:?}");
    }

    #[track_caller]
    fn check_numbers(field: Field, text: &str, numbers: &[u32]) {
        let found = part(field, text).map(|it| it.set.iter().collect::<Vec<_>>());
        assert_eq!(found.as_deref(), Ok(numbers), "{text:?}");
    }

    #[test]
    fn a_long_text_is_refused_before_it_is_read() {
        check_refused(&"x".repeat(65_536), 0, CronReason::TooLong);
        check_refused(&format!("* * * * *{}", " ".repeat(248)), 0, CronReason::TooLong);
        assert!(fields(&format!("* * * * *{}", " ".repeat(247))).is_ok());
    }

    #[test]
    fn anything_but_five_fields_is_refused() {
        let texts = ["", " ", "\t \t", "*", "* * * *", "* * * * * *", "0 0 0 1 1 ? 2027", "*****"];
        for text in texts {
            check_refused(text, 0, CronReason::FieldCount);
        }
        // Other blanks separate nothing.
        for text in ["0\u{a0}0 * * *", "0\n0 * * *", "0\u{b}0 * * *", "0\u{3000}0 * * *"] {
            check_refused(text, 0, CronReason::FieldCount);
        }
    }

    #[test]
    fn signs_fractions_other_digits_and_stray_characters_are_refused() {
        let texts = [
            "-1",
            "1.5",
            "1e1",
            "0x1",
            "\u{ff10}",
            "\u{660}",
            "a",
            "1a",
            "'1'",
            "1;2",
            "%",
            "\0",
            "0\0",
            "1\r",
            "1\n",
            "\u{feff}1",
            "MON",
            "JAN",
            "*1",
            "**",
            "*-5",
            "*\u{200b}",
            "!5",
        ];
        for text in texts {
            check_refused(&format!("{text} * * * *"), 1, CronReason::Malformed);
        }
        check_refused("* * * * *\0", 5, CronReason::Malformed);
        check_refused("* * * * *\n", 5, CronReason::Malformed);
    }

    #[test]
    fn missing_pieces_are_refused() {
        for text in ["1-", "-", "1-5-7", "1--5", "/", "/5", "*/", "1-5/", "1-/5", "*/5/5", "*/x"] {
            check_refused(&format!("* {text} * * *"), 2, CronReason::Malformed);
        }
        for text in [",", "1,", ",1", "1,,2", "*,", ",*"] {
            check_refused(&format!("* {text} * * *"), 2, CronReason::EmptyItem);
        }
    }

    #[test]
    fn numbers_that_a_field_does_not_have_are_refused() {
        for (field, text) in [
            (1, "60 * * * *"),
            (1, "0-60 * * * *"),
            (1, "99999999999999999999 * * * *"),
            (2, "0 24 * * *"),
            (3, "0 0 0 * *"),
            (3, "0 0 32 * *"),
            (3, "0 0 0-5 * *"),
            (4, "0 0 * 0 *"),
            (4, "0 0 * 13 *"),
            (5, "0 0 * * 8"),
            (5, "0 0 * * 5-8"),
        ] {
            check_refused(text, field, CronReason::OutOfRange);
        }
    }

    #[test]
    fn names_of_another_field_and_whole_words_are_refused() {
        for (field, text) in [
            (3, "0 0 MON * *"),
            (4, "0 0 1 MON *"),
            (5, "0 0 * * JAN"),
            (5, "0 0 * * MONDAY"),
            (5, "0 0 * * M"),
            (5, "0 0 * * m\u{3bf}n"),
        ] {
            check_refused(text, field, CronReason::Malformed);
        }
    }

    #[test]
    fn steps_that_step_over_nothing_are_refused() {
        check_refused("*/0 * * * *", 1, CronReason::StepZero);
        check_refused("1-5/00 * * * *", 1, CronReason::StepZero);
        for text in ["*/60", "*/99999999999", "1-5/5", "5-5/2", "0-59/60"] {
            check_refused(&format!("{text} * * * *"), 1, CronReason::StepTooLarge);
        }
        check_refused("* */24 * * *", 2, CronReason::StepTooLarge);
        check_refused("5/15 * * * *", 1, CronReason::StepOnNumber);
        check_refused("50/15 * * * *", 1, CronReason::StepOnNumber);
        check_refused("5/0 * * * *", 1, CronReason::StepZero);
        check_refused("5/x * * * *", 1, CronReason::Malformed);
        check_refused("* * * * MON/2", 5, CronReason::StepOnNumber);
    }

    #[test]
    fn a_star_stands_alone() {
        for text in ["*,5", "5,*", "*,*", "*/5,7", "7,*/5"] {
            check_refused(&format!("{text} * * * *"), 1, CronReason::StarInList);
        }
    }

    #[test]
    fn every_form_gives_its_numbers() {
        check_numbers(Field::Minute, "7", &[7]);
        check_numbers(Field::Minute, "007", &[7]);
        check_numbers(Field::Minute, "5,5,5", &[5]);
        check_numbers(Field::Minute, "59,0,10-12", &[0, 10, 11, 12, 59]);
        check_numbers(Field::Minute, "*/20", &[0, 20, 40]);
        check_numbers(Field::Minute, "*/59", &[0, 59]);
        check_numbers(Field::Minute, "5-20/7,30", &[5, 12, 19, 30]);
        check_numbers(Field::Minute, "9-9/1", &[9]);
        check_numbers(Field::DayOfMonth, "*/10", &[1, 11, 21, 31]);
        check_numbers(Field::Month, "feb,Apr-JUN", &[2, 4, 5, 6]);
        check_numbers(Field::Month, "*", &(1..=12).collect::<Vec<_>>());
    }

    #[test]
    fn sunday_is_zero_and_seven() {
        check_numbers(Field::DayOfWeek, "0", &[0]);
        check_numbers(Field::DayOfWeek, "7", &[0]);
        check_numbers(Field::DayOfWeek, "0,7", &[0]);
        check_numbers(Field::DayOfWeek, "5-7", &[0, 5, 6]);
        check_numbers(Field::DayOfWeek, "1-7/2", &[0, 1, 3, 5]);
        check_numbers(Field::DayOfWeek, "SUN-TUE", &[0, 1, 2]);
        check_numbers(Field::DayOfWeek, "sat-7", &[0, 6]);
        check_numbers(Field::DayOfWeek, "*/7", &[0]);
        check_numbers(Field::DayOfWeek, "*", &[0, 1, 2, 3, 4, 5, 6]);
    }
}
