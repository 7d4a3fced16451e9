//! Dates as authors write them in robots directives.
//!
//! Source: Google, robots meta tag, `unavailable_after`: "RFC 822, RFC 850, and ISO 8601".

use crate::domain::time::{Civil, Timestamp};

/// Reads a date, with or without a time; without a zone it is UTC. `None` when it is no date.
#[must_use]
pub fn read(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    Timestamp::parse(text).or_else(|| iso_day(text)).or_else(|| day_month_year(text))
}

/// `2026-06-25`, perhaps with a time that has no zone or one without a colon.
fn iso_day(text: &str) -> Option<Timestamp> {
    let (day, rest) = text.split_at_checked(10)?;
    if rest.is_empty() {
        return Timestamp::parse(&format!("{day}T00:00:00Z"));
    }
    let clock = rest.get(1..9).or_else(|| rest.get(1..6));
    let seconds = clock.map(|it| if it.len() == 5 { format!("{it}:00") } else { it.to_owned() })?;
    Timestamp::parse(&format!("{day}T{seconds}Z"))
}

/// `Wed, 25 Jun 2026 15:00:00 GMT`, `Wednesday, 25-Jun-26 15:00:00 GMT`, `25 Jun 2026`.
fn day_month_year(text: &str) -> Option<Timestamp> {
    let is_gap = |it: char| it.is_whitespace() || matches!(it, ',' | '-');
    let mut words = text.split(is_gap).filter(|it| !it.is_empty()).peekable();
    words.next_if(|it| it.chars().all(char::is_alphabetic));
    let day = words.next()?.parse().ok()?;
    let name = words.next()?.get(..3)?.to_ascii_lowercase();
    let month = MONTHS.iter().zip(1..).find(|(it, _)| **it == name)?.1;
    let year = match words.next()?.parse().ok()? {
        short @ 0..70 => short + 2000,
        short @ 70..100 => short + 1900,
        year => year,
    };
    let mut clock = words.next().unwrap_or("0:0:0").split(':').map(|it| it.parse().ok());
    let hour = clock.next()??;
    let minute = clock.next()??;
    let second = clock.next().unwrap_or(Some(0))?;
    let civil = Civil { year, month, day, hour, minute, second, millis: 0, weekday: 0 };
    Timestamp::of_civil(&civil)
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(read(text), expected.and_then(Timestamp::parse), "{text:?}");
    }

    #[test]
    fn every_form_that_is_documented_is_read() {
        check("2020-01-01", Some("2020-01-01T00:00:00Z"));
        check("2020-01-01T00:00:00Z", Some("2020-01-01T00:00:00Z"));
        check("2020-01-01T12:30", Some("2020-01-01T12:30:00Z"));
        check("2020-01-01 12:30:15+0000", Some("2020-01-01T12:30:15Z"));
        check("25 Jun 2010 15:00:00 PST", Some("2010-06-25T15:00:00Z"));
        check("Wed, 25 Jun 2010 15:00:00 GMT", Some("2010-06-25T15:00:00Z"));
        check("Wednesday, 25-Jun-10 15:00 UTC", Some("2010-06-25T15:00:00Z"));
        check("1-January-99", Some("1999-01-01T00:00:00Z"));
    }

    #[test]
    fn anything_else_is_no_date() {
        for text in ["", "soon", "2020", "2020-13-01", "31 Feb 2020", "25 Foo 2020", "1 é 2"] {
            check(text, None);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_date_or_not(text in "[0-9A-Za-z ,:é-]{0,30}") {
            let _ = read(&text);
        }
    }
}
