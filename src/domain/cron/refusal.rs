//! Finds out why something cannot be read, and what its writer may have meant.
//!
//! Nothing here decides whether a text is refused; it is already. A hint is given only where what
//! was meant is beyond doubt.

use super::field::Field;
use super::read::BLANKS;
use super::reason::{CronError, CronReason};

/// Why a text is not five fields.
pub(super) fn whole(text: &str) -> CronError {
    let text = text.trim_matches(BLANKS);
    if text.starts_with('@') {
        return CronError::whole(CronReason::Nickname, nickname_hint(text));
    }
    let mut words = text.split(BLANKS).filter(|it| !it.is_empty());
    if words.next().is_some_and(|it| it.contains('=')) {
        return CronError::whole(CronReason::TimeZone, "write the five fields alone, in UTC");
    }
    let has_other_blanks = text.chars().any(|it| it.is_whitespace() && !BLANKS.contains(&it));
    let hint = match words.count() {
        0..=4 if has_other_blanks => "separate fields with spaces or tabs",
        5 => "seconds are not supported, leave out the first field",
        6 => "seconds and years are not supported, leave out the first and the last field",
        0..=4 | 7.. => "write minute, hour, day of month, month and day of week",
    };
    CronError::whole(CronReason::FieldCount, hint)
}

fn nickname_hint(text: &str) -> String {
    let known = NICKNAMES.iter().find(|it| it.0.eq_ignore_ascii_case(text));
    match known {
        Some((_, fields)) => format!("write {fields}"),
        None => "write five fields, such as */5 * * * * for every 5 minutes".to_owned(),
    }
}

/// Why a word of a field is neither a number nor a name.
pub(super) fn word(field: Field, text: &str) -> CronError {
    if let Some(sign) = extension(text) {
        let hint =
            if sign == "?" { "write *".to_owned() } else { format!("{sign} is not supported") };
        return CronError::at(field, CronReason::Extension, hint);
    }
    let short = text.get(..3).unwrap_or("");
    let is_word = text.bytes().all(|it| it.is_ascii_alphabetic());
    let other = Field::ALL.into_iter().find(|it| it.named(text).is_some());
    let hint = match other {
        Some(other) => format!("{text} is a {other}, and a name counts in its own field only"),
        None if is_word && field.named(short).is_some() => format!("write {short}"),
        None => format!("write {}", form(field)),
    };
    CronError::at(field, CronReason::Malformed, hint)
}

/// What a field is made of, in words.
fn form(field: Field) -> &'static str {
    match field {
        Field::Minute => "*, numbers from 0 to 59 as in 0,30 or 10-20, or steps as in */15",
        Field::Hour => "*, numbers from 0 to 23 as in 9,17 or 9-17, or steps as in */6",
        Field::DayOfMonth => "*, numbers from 1 to 31 as in 1,15 or 1-7, or steps as in */10",
        Field::Month => "*, numbers from 1 to 12, names as in JAN,JUL, or steps as in */3",
        Field::DayOfWeek => {
            "*, numbers from 0 to 7 with 0 and 7 for Sunday, or names as in MON-FRI"
        }
    }
}

/// The sign of another cron's extension in a word.
fn extension(text: &str) -> Option<&'static str> {
    if let Some(sign) = ["?", "#", "~", "+"].into_iter().find(|it| text.contains(it)) {
        return Some(sign);
    }
    let text = text.to_ascii_uppercase();
    if text == "H" || text.starts_with("H(") {
        return Some("H");
    }
    let before = |sign: char| {
        let rest = text.strip_suffix(sign)?;
        let known = Field::DayOfWeek.named(rest).is_some() || rest == "L";
        (known || rest.bytes().all(|it| it.is_ascii_digit())).then_some(())
    };
    before('L').map(|()| "L").or_else(|| before('W').map(|()| "W"))
}

/// Why a range that ends before it begins is refused; `to` is its end as it was written.
pub(super) fn reversed(
    field: Field,
    (first, last): (u32, u32),
    to: &str,
    step: Option<&str>,
) -> CronError {
    let (lowest, highest) = match field {
        Field::DayOfWeek => (0, 6),
        Field::Minute | Field::Hour | Field::DayOfMonth | Field::Month => field.bounds(),
    };
    let reason = match field.named(to) {
        Some(0) => CronReason::SundayLast,
        Some(_) | None => CronReason::Reversed,
    };
    let range = |first, last| match first == last {
        true => format!("{first}"),
        false => format!("{first}-{last}"),
    };
    let hint = match (field, step) {
        // To Sunday: the week's other end has a number too.
        (Field::DayOfWeek, None) if last == 0 => format!("write {}", range(first, 7)),
        (Field::DayOfWeek, Some(step)) if last == 0 => format!("write {first}-7/{step}"),
        (Field::DayOfWeek, None) if first == 7 => format!("write {}", range(0, last)),
        (_, None) => format!("write {},{}", range(first, highest), range(lowest, last)),
        (_, Some(_)) => "write the smaller number first".to_owned(),
    };
    CronError::at(field, reason, hint)
}

/// Names that other crons give to whole expressions.
const NICKNAMES: [(&str, &str); 8] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@every_minute", "* * * * *"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cron::Cron;

    #[track_caller]
    fn check_hint(text: &str, reason: CronReason, hint: &str) {
        let error = Cron::parse(text).unwrap_err();
        assert_eq!((error.reason, error.hint.as_deref()), (reason, Some(hint)), "{text:?}");
    }

    #[test]
    fn nicknames_are_spelled_out() {
        for (name, fields) in NICKNAMES {
            check_hint(name, CronReason::Nickname, &format!("write {fields}"));
            assert!(Cron::parse(fields).is_ok(), "{fields}");
        }
        check_hint(" @Daily\t", CronReason::Nickname, "write 0 0 * * *");
        for text in ["@", "@reboot", "@every 5m", "@daily * * * *", "@daily x"] {
            assert_eq!(Cron::parse(text).unwrap_err().reason, CronReason::Nickname, "{text}");
        }
    }

    #[test]
    fn zones_seconds_and_years_are_named() {
        let utc = "write the five fields alone, in UTC";
        for text in ["TZ=Europe/Paris 0 9 * * *", "CRON_TZ=UTC 0 9 * * *", "TZ=UTC 9 * * *"] {
            check_hint(text, CronReason::TimeZone, utc);
        }
        let hint = "seconds are not supported, leave out the first field";
        check_hint("0 0 9 * * *", CronReason::FieldCount, hint);
        let hint = "seconds and years are not supported, leave out the first and the last field";
        check_hint("0 0 9 * * * 2027", CronReason::FieldCount, hint);
        let hint = "separate fields with spaces or tabs";
        check_hint("0\u{a0}9 * * *", CronReason::FieldCount, hint);
    }

    #[test]
    fn extensions_of_other_crons_are_named() {
        for (text, sign) in [
            ("0 0 L * *", "L"),
            ("0 0 L-3 * *", "L"),
            ("0 0 LW * *", "W"),
            ("0 0 15W * *", "W"),
            ("0 0 * * 5L", "L"),
            ("0 0 * * friL", "L"),
            ("0 0 * * 5#2", "#"),
            ("0 0 * * MON#1", "#"),
            ("0 0 * * +MON", "+"),
            ("H * * * *", "H"),
            ("H/15 * * * *", "H"),
            ("H(0-29)/10 * * * *", "H"),
            ("0~30 * * * *", "~"),
            ("*#2 * * * *", "#"),
        ] {
            check_hint(text, CronReason::Extension, &format!("{sign} is not supported"));
        }
        check_hint("0 0 ? * 1", CronReason::Extension, "write *");
    }

    #[test]
    fn a_reversed_range_is_written_in_two() {
        check_hint("0 22-2 * * *", CronReason::Reversed, "write 22-23,0-2");
        check_hint("0 23-0 * * *", CronReason::Reversed, "write 23,0");
        check_hint("0 22-2/2 * * *", CronReason::Reversed, "write the smaller number first");
        check_hint("0 0 * 11-2 *", CronReason::Reversed, "write 11-12,1-2");
        check_hint("0 0 * * FRI-MON", CronReason::Reversed, "write 5-6,0-1");
        check_hint("0 0 * * 5-0", CronReason::Reversed, "write 5-7");
        check_hint("0 0 * * 7-2", CronReason::Reversed, "write 0-2");
        check_hint("0 0 * * FRI-SUN", CronReason::SundayLast, "write 5-7");
        check_hint("0 0 * * mon-sun/2", CronReason::SundayLast, "write 1-7/2");
    }

    #[test]
    fn a_word_gets_the_nearest_spelling() {
        check_hint("0 0 * * MONDAY", CronReason::Malformed, "write MON");
        check_hint("0 0 * January *", CronReason::Malformed, "write Jan");
        let hint = "MON is a day of week, and a name counts in its own field only";
        check_hint("0 0 1 MON *", CronReason::Malformed, hint);
        check_hint("5/15 * * * *", CronReason::StepOnNumber, "write 5-59/15");
        check_hint("50/15 * * * *", CronReason::StepOnNumber, "write 50");
        check_hint("60 * * * *", CronReason::OutOfRange, "use 0 to 59");
        check_hint("*/60 * * * *", CronReason::StepTooLarge, "use a step of 1 to 59");
    }
}
