//! Cron expressions against the vectors, a scan minute by minute, and a storm of wrong texts.
//!
//! The oracle in `slow_cron` reads expressions and walks the calendar in its own slow way. Random
//! expressions and texts come from a fixed seed, so that a failure is there again on the next run.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod slow_cron;

use std::collections::HashMap;

use errand::domain::cron::{Cron, CronReason};
use errand::domain::time::Timestamp;
use serde::Deserialize;

use slow_cron::dice::Dice;
use slow_cron::{Calendar, DAY_MINUTES, DAYS_BEFORE_EPOCH, MINUTE_MS, Oracle};

#[derive(Deserialize)]
struct Vectors {
    valid: Vec<Valid>,
    invalid: Vec<Invalid>,
}

#[derive(Deserialize)]
struct Valid {
    id: String,
    cron: String,
    from: String,
    next: Vec<String>,
}

#[derive(Deserialize)]
struct Invalid {
    id: String,
    /// Absent where the vector is no text at all, which the room never sees.
    cron: Option<String>,
    class: String,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("vectors/cron.json")).unwrap()
}

#[test]
fn every_wrong_vector_is_refused_for_its_reason() {
    let mut refused = 0;
    for row in vectors().invalid {
        let Some(text) = row.cron else { continue };
        let error = Cron::parse(&text).expect_err(&row.id);
        assert_eq!(error.reason.class(), row.class, "{}: {error}", row.id);
        assert!(error.field.is_none_or(|it| (1..=5).contains(&it)), "{}", row.id);
        refused += 1;
    }
    assert!(refused > 30, "only {refused} rows were found");
}

#[test]
fn every_right_vector_gives_its_instants_forwards_and_backwards() {
    let rows = vectors().valid;
    assert!(rows.len() > 20, "only {} rows were found", rows.len());
    for Valid { id, cron, from, next } in rows {
        let cron = Cron::parse(&cron).expect(&id);
        let from = Timestamp::parse(&from).unwrap();
        let expected: Vec<_> = next.iter().map(|it| Timestamp::parse(it).unwrap()).collect();
        let mut at = from;
        for (number, expected) in (1..).zip(expected) {
            assert_eq!(cron.next_after(at), Some(expected), "{id} after {at}");
            assert_eq!(cron.latest_at_or_before(expected, at), Some(expected), "{id}");
            assert_eq!(cron.count_between(from, expected, 100), number, "{id}");
            at = expected;
        }
    }
}

#[test]
fn a_huge_text_is_refused_unread() {
    for text in ["*", " ", "0,", "* * * * *", "é", "\0", "1-", "@"] {
        let error = Cron::parse(&text.repeat(65_536 / text.len())).unwrap_err();
        assert_eq!((error.reason, error.field), (CronReason::TooLong, None), "{text:?}");
    }
}

const fn minutes(minute: i64) -> Timestamp {
    Timestamp::from_millis(minute * MINUTE_MS)
}

#[track_caller]
fn check_searches(text: &str, calendar: &Calendar, dice: &mut Dice) -> bool {
    let oracle = Oracle::read(text, calendar);
    let cron = Cron::parse(text);
    assert_eq!(cron.is_ok(), oracle.is_some(), "{text:?}: {cron:?}");
    let (Ok(cron), Some(oracle)) = (cron, oracle) else { return false };
    let now = dice.time();
    let (time, minute) = (Timestamp::from_millis(now), now.div_euclid(MINUTE_MS));

    let next = oracle.next(calendar, minute).map(minutes);
    assert_eq!(cron.next_after(time), next, "{text} after {time}");

    let latest = oracle.latest(calendar, minute).map(minutes);
    let beginning = minutes(-DAYS_BEFORE_EPOCH * DAY_MINUTES - 1);
    assert_eq!(cron.latest_at_or_before(time, beginning), latest, "{text} before {time}");
    if let Some(latest) = latest {
        assert_eq!(cron.latest_at_or_before(time, latest), None, "{text} since {latest}");
    }

    let span = i64::try_from(dice.roll(5 * 1_440)).unwrap();
    let count = (minute + 1..=minute + span).filter(|it| oracle.at(calendar, *it)).count();
    let (count, until) = (u32::try_from(count).unwrap(), minutes(minute + span));
    assert_eq!(cron.count_between(time, until, u32::MAX), count, "{text}: {time} to {until}");
    let max = u32::try_from(dice.roll(500)).unwrap();
    assert_eq!(cron.count_between(time, until, max), count.min(max), "{text}: {time}, {max}");
    true
}

#[test]
fn four_thousand_expressions_agree_with_a_scan_minute_by_minute() {
    let (calendar, mut dice) = (Calendar::new(), Dice(0x0e44_a9d1));
    let mut taken = 0;
    for _ in 0..4_000 {
        let text = dice.expression();
        taken += u32::from(check_searches(&text, &calendar, &mut dice));
    }
    assert!(taken > 3_500, "only {taken} expressions came");
}

#[test]
fn long_spans_are_counted_as_one_instant_after_the_other() {
    let (calendar, mut dice) = (Calendar::new(), Dice(0x51de));
    for _ in 0..300 {
        let times = format!("{} {}", dice.item(0), dice.item(1));
        let days = (2..5).map(|it| dice.field(it)).collect::<Vec<_>>().join(" ");
        let text = format!("{times} {days}");
        let Some(oracle) = Oracle::read(&text, &calendar) else { continue };
        let cron = Cron::parse(&text).unwrap();
        let start = dice.time() / MINUTE_MS;
        let (mut at, mut count) = (start, 0);
        while let Some(next) = oracle.next(&calendar, at).filter(|_| count < 40) {
            (at, count) = (next, count + 1);
            assert_eq!(cron.count_between(minutes(start), minutes(at), 1_000), count, "{text}");
            assert_eq!(cron.count_between(minutes(start), minutes(at - 1), 1_000), count - 1);
        }
    }
}

#[test]
fn one_sentence_never_stands_for_two_schedules() {
    let (calendar, mut dice) = (Calendar::new(), Dice(0x7e11));
    let mut said: HashMap<String, (String, [Vec<bool>; 5])> = HashMap::new();
    let mut again = 0;
    for _ in 0..20_000 {
        // Small fields, so that the same schedule is met in several spellings.
        let days = (2..5).map(|it| dice.field(it)).collect::<Vec<_>>().join(" ");
        let text = format!("*/15 {} {days}", dice.roll(2));
        let Some(oracle) = Oracle::read(&text, &calendar) else { continue };
        let reading = Cron::parse(&text).unwrap().describe();
        let dates = dates(&oracle, &calendar);
        if let Some((other, known)) = said.get(&reading) {
            assert_eq!(&dates, known, "{text:?} and {other:?} are both said as {reading:?}");
            again += 1;
        } else {
            said.insert(reading, (text, dates));
        }
    }
    assert!(again > 100, "only {again} sentences were met twice");
}

/// What an expression means: its times, and its days over a few years.
fn dates(oracle: &Oracle, calendar: &Calendar) -> [Vec<bool>; 5] {
    let mut meaning = oracle.fields.clone();
    let days = calendar.0.iter().take(3 * 366).map(|it| oracle.on(*it)).collect();
    meaning[2] = days;
    meaning[3] = Vec::new();
    meaning[4] = Vec::new();
    meaning
}

/// Characters that expressions are made of, and their neighbours.
const LETTERS: [&str; 40] = [
    "0", "1", "2", "3", "5", "7", "9", "*", "*", "*", ",", "-", "/", " ", " ", " ", " ", "\t",
    "SUN", "mon", "Fri", "JAN", "dec", "?", "L", "W", "#", "H", "@", "~", "+", ".", "=", "\0",
    "\n", "é", "\u{a0}", "\u{ff10}", "o", "%",
];

/// The first of them, which an expression can hardly do without.
const USUAL_LETTERS: usize = 18;

#[track_caller]
fn check_verdict(text: &str, calendar: &Calendar) -> bool {
    let cron = Cron::parse(text);
    assert_eq!(cron.is_ok(), Oracle::read(text, calendar).is_some(), "{text:?}: {cron:?}");
    match cron {
        Ok(cron) => {
            assert!(cron.next_after(Timestamp::EPOCH).is_some(), "{text:?}");
            assert!(!cron.describe().is_empty() && cron.runs_per_day().runs() > 0, "{text:?}");
            assert!(cron.warnings().len() <= 8, "{text:?}");
            true
        }
        Err(error) => {
            let said = error.to_string();
            assert!(said.starts_with("the ") && !said.ends_with('.'), "{text:?}: {said}");
            false
        }
    }
}

#[test]
fn two_hundred_thousand_texts_are_taken_or_refused_as_the_rules_say() {
    let (calendar, mut dice) = (Calendar::new(), Dice(0xf022));
    let mut taken = 0;
    for _ in 0..100_000 {
        let letters = dice.roll(24);
        let text: String = (0..letters).map(|_| LETTERS[dice.roll(LETTERS.len())]).collect();
        taken += u32::from(check_verdict(&text, &calendar));
    }
    for _ in 0..100_000 {
        let mut text: Vec<String> = dice.expression().chars().map(String::from).collect();
        for _ in 0..dice.between(1, 2) {
            let at = dice.roll(text.len());
            // Half of the letters are digits, stars and separators, and may fit.
            let choice = if dice.roll(2) == 0 { LETTERS.len() } else { USUAL_LETTERS };
            let letter = LETTERS[dice.roll(choice)].to_owned();
            match dice.roll(3) {
                0 => text[at] = letter,
                1 => text.insert(at, letter),
                _ => text[at].clear(),
            }
        }
        taken += u32::from(check_verdict(&text.concat(), &calendar));
    }
    assert!((5_000..150_000).contains(&taken), "{taken} texts were taken");
}
