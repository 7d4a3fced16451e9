//! Says an expression in English, so that people can check what they wrote.
//!
//! The sentence is made from the sets and the day rule, not from the text: `0,15,30,45` and
//! `*/15` say the same. It never leaves anything out; what has no short form becomes a list.

use super::expression::{Cron, DayRule};
use super::field::Field;
use super::set::Set;

/// The sentence, without its full stop.
pub(super) fn of(cron: &Cron) -> String {
    let (times, days) = (times(cron.minute.set, cron.hour.set), days(cron));
    match (times, days) {
        (Times::Steady(times), None) => times,
        (Times::Clock(times), None) => format!("{times} every day (UTC)"),
        (Times::Steady(times) | Times::Clock(times), Some(days)) => format!("{times} {days} (UTC)"),
    }
}

/// When on a day.
enum Times {
    /// The same in every hour, such as `Every 15 minutes`.
    Steady(String),
    /// At times of the clock, such as `At 09:00`.
    Clock(String),
}

fn times(minutes: Set, hours: Set) -> Times {
    if minutes.count().saturating_mul(hours.count()) <= CLOCK_TIMES_MAX {
        let pairs = hours.iter().flat_map(|hour| minutes.iter().map(move |it| clock(hour, it)));
        return Times::Clock(format!("At {}", list(&pairs.collect::<Vec<_>>(), "and")));
    }
    let all_hours = hours == Field::Hour.everything();
    if all_hours && minutes == Set::range(0, 0) {
        return Times::Steady("Every hour".to_owned());
    }
    match (pace(minutes), all_hours) {
        (Some(pace), true) => Times::Steady(pace),
        (None, true) => Times::Steady(format!("At {} of every hour", counted("minute", minutes))),
        (Some(pace), false) => Times::Clock(format!("{pace} {}", within(minutes, hours))),
        (None, false) => Times::Clock(within_listed(minutes, hours)),
    }
}

/// The pace of minutes that go on evenly from the first of one hour into the next.
fn pace(minutes: Set) -> Option<String> {
    if minutes == Field::Minute.everything() {
        return Some("Every minute".to_owned());
    }
    let step = minutes.first_from(1).filter(|it| 60_u32.is_multiple_of(*it))?;
    (minutes == Set::stepped(0, 59, step)).then(|| format!("Every {step} minutes"))
}

/// The hours in which a pace is kept: a stretch of the clock, or a list.
fn within(minutes: Set, hours: Set) -> String {
    match Steps::of(hours) {
        Some(Steps { first, step: 0 | 1, last }) => {
            let end = minutes.last_to(59).unwrap_or(59);
            format!("from {} to {}", clock(first, 0), clock(last, end))
        }
        Some(_) | None => format!("in {}", counted("hour", hours)),
    }
}

/// Minutes without a pace in some of the hours.
fn within_listed(minutes: Set, hours: Set) -> String {
    match (Steps::of(hours), Steps::of(minutes)) {
        (Some(Steps { first, step, last }), Some(Steps { first: minute, step: 0, .. })) => {
            let pace = if step == 1 { "hour".to_owned() } else { format!("{step} hours") };
            format!("Every {pace} from {} to {}", clock(first, minute), clock(last, minute))
        }
        (Some(_) | None, Some(_) | None) => {
            format!("At {} of {}", counted("minute", minutes), counted("hour", hours))
        }
    }
}

/// On which days; `None` for every day.
fn days(cron: &Cron) -> Option<String> {
    let every_day = cron.day.set == Field::DayOfMonth.everything();
    let every_weekday = cron.weekday.set == Field::DayOfWeek.everything();
    let months = (cron.month.set != Field::Month.everything()).then(|| months(cron.month.set));
    let any = match cron.day_rule() {
        DayRule::Both => every_day && every_weekday,
        DayRule::Either => every_day || every_weekday,
    };
    if any {
        return months.map(|months| format!("every day in {months}"));
    }
    let of_month = format!(" of {}", months.as_deref().unwrap_or("the month"));
    let in_months = months.map(|months| format!(" in {months}")).unwrap_or_default();
    let dates = counted("day", cron.day.set);
    let weekdays = cron.weekday.set;
    Some(match (every_day, every_weekday, cron.day_rule()) {
        (true, _, _) => format!("on {}{in_months}", weekday_names(weekdays, "and")),
        (_, true, _) => format!("on {dates}{of_month}"),
        (false, false, DayRule::Both) => {
            format!("on {dates}{of_month} if it is a {}", weekday_names(weekdays, "or"))
        }
        (false, false, DayRule::Either) => {
            format!("on {dates} and on every {}{of_month}", weekday_names(weekdays, "and"))
        }
    })
}

/// Numbers at even distances.
struct Steps {
    first: u32,
    /// Zero when there is one number only.
    step: u32,
    last: u32,
}

impl Steps {
    /// `None` when the distances differ, or when there is no number.
    fn of(set: Set) -> Option<Self> {
        let (first, last) = (set.first_from(0)?, set.last_to(63)?);
        let second = set.first_from(first.saturating_add(1)).unwrap_or(first);
        let step = second.saturating_sub(first);
        (set == Set::stepped(first, last, step)).then_some(Self { first, step, last })
    }
}

/// A noun and its numbers: `day 1`, `days 1, 2 and 9 to 12`, `minutes 1, 3, 5 and so on to 59`.
fn counted(noun: &str, numbers: Set) -> String {
    let plural = if numbers.count() == 1 { "" } else { "s" };
    let listed = match Steps::of(numbers) {
        Some(Steps { first, step: step @ 2.., last }) if numbers.count() > STEPS_SHOWN_MAX => {
            let second = first.saturating_add(step);
            let third = second.saturating_add(step);
            format!("{first}, {second}, {third} and so on to {last}")
        }
        Some(_) | None => list(&stretches(numbers, |it| it.to_string()), "and"),
    };
    format!("{noun}{plural} {listed}")
}

/// The members of a set by name, three or more in a row as `a to b`.
fn stretches(set: Set, name: impl Fn(u32) -> String) -> Vec<String> {
    let mut texts = Vec::new();
    let mut next = set.first_from(0);
    while let Some(first) = next {
        let end = (first..=63).find(|it| !set.has(it.saturating_add(1))).unwrap_or(63);
        match end.saturating_sub(first) {
            0 | 1 => texts.extend((first..=end).map(&name)),
            2.. => texts.push(format!("{} to {}", name(first), name(end))),
        }
        next = set.first_from(end.saturating_add(1));
    }
    texts
}

/// Weekdays by name, from Monday to Sunday; those for "or" one by one.
fn weekday_names(set: Set, word: &str) -> String {
    let from_monday = if set.has(0) { set.lowered(1).or(Set::range(6, 6)) } else { set.lowered(1) };
    let name = |it: u32| WEEKDAYS.get(it as usize).copied().unwrap_or_default().to_owned();
    if word == "or" {
        return list(&from_monday.iter().map(name).collect::<Vec<_>>(), word);
    }
    list(&stretches(from_monday, name), word)
}

fn months(set: Set) -> String {
    let name = |it: u32| {
        let month = it.checked_sub(1).and_then(|it| MONTHS.get(it as usize));
        month.copied().unwrap_or_default().to_owned()
    };
    list(&stretches(set, name), "and")
}

/// `a`, `a and b`, `a, b and c`.
fn list(texts: &[String], word: &str) -> String {
    match texts {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}

fn clock(hour: u32, minute: u32) -> String {
    format!("{hour:02}:{minute:02}")
}

/// Times of a day that are listed one by one.
const CLOCK_TIMES_MAX: u32 = 6;
/// Numbers at even distances that are listed one by one.
const STEPS_SHOWN_MAX: u32 = 5;
const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_reading(text: &str, reading: &str) {
        assert_eq!(of(&Cron::parse(text).unwrap()), reading, "{text}");
    }

    #[test]
    fn a_steady_pace_needs_no_zone() {
        check_reading("* * * * *", "Every minute");
        check_reading("*/15 * * * *", "Every 15 minutes");
        check_reading("0,15,30,45 * * * *", "Every 15 minutes");
        check_reading("0 * * * *", "Every hour");
        check_reading("30 * * * *", "At minute 30 of every hour");
        check_reading("*/1 */1 */1 */1 */1", "Every minute");
        check_reading("* * 1-31 * 1", "Every minute");
    }

    #[test]
    fn uneven_minutes_are_listed() {
        check_reading("*/7 * * * *", "At minutes 0, 7, 14 and so on to 56 of every hour");
        check_reading("*/45 * * * *", "At minutes 0 and 45 of every hour");
        check_reading("10-50/20 * * * *", "At minutes 10, 30 and 50 of every hour");
        check_reading("0,10-12,59 * * * *", "At minutes 0, 10 to 12 and 59 of every hour");
    }

    #[test]
    fn times_of_the_clock_are_in_utc() {
        check_reading("30 2 * * *", "At 02:30 every day (UTC)");
        check_reading("0 9,17 * * MON-FRI", "At 09:00 and 17:00 on Monday to Friday (UTC)");
        check_reading("0 */6 * * *", "At 00:00, 06:00, 12:00 and 18:00 every day (UTC)");
        check_reading("5 */2 * * *", "Every 2 hours from 00:05 to 22:05 every day (UTC)");
        check_reading("0 9-17 * * *", "Every hour from 09:00 to 17:00 every day (UTC)");
        check_reading("*/20 9-17 * * *", "Every 20 minutes from 09:00 to 17:40 every day (UTC)");
        check_reading("* 9 * * *", "Every minute from 09:00 to 09:59 every day (UTC)");
        check_reading("* 9,12 * * *", "Every minute in hours 9 and 12 every day (UTC)");
        check_reading("1,2,9 9-17 * * *", "At minutes 1, 2 and 9 of hours 9 to 17 every day (UTC)");
    }

    #[test]
    fn days_and_months_are_named() {
        check_reading("0 0 1 * *", "At 00:00 on day 1 of the month (UTC)");
        check_reading("0 0 1,15 * *", "At 00:00 on days 1 and 15 of the month (UTC)");
        check_reading("0 0 29 2 *", "At 00:00 on day 29 of February (UTC)");
        let reading = "At 00:00 on day 1 of January, April to July and December (UTC)";
        check_reading("0 0 1 1,4-7,12 *", reading);
        check_reading("0 0 * 2 *", "At 00:00 every day in February (UTC)");
        check_reading("* * * 6-8 0", "Every minute on Sunday in June to August (UTC)");
        check_reading("0 0 * * 5-7", "At 00:00 on Friday to Sunday (UTC)");
        check_reading("0 0 * * SAT,SUN", "At 00:00 on Saturday and Sunday (UTC)");
        let reading = "At 00:00 on days 1, 3, 5 and so on to 31 of the month (UTC)";
        check_reading("0 0 */2 * *", reading);
    }

    #[test]
    fn either_day_and_both_days_are_told_apart() {
        let reading = "At 00:00 on day 13 and on every Friday of the month (UTC)";
        check_reading("0 0 13 * 5", reading);
        let reading = "At 00:00 on days 1 to 7 and on every Monday to Friday of May (UTC)";
        check_reading("0 0 1-7 5 1-5", reading);
        let reading = "At 00:00 on day 1 of the month if it is a Tuesday, Thursday, Saturday or \
                       Sunday (UTC)";
        check_reading("0 0 1 * */2", reading);
        let reading = "At 00:00 on days 1, 11, 21 and 31 of May if it is a Monday (UTC)";
        check_reading("0 0 */10 5 1", reading);
        check_reading("0 0 1-31 * 1", "At 00:00 every day (UTC)");
        check_reading("0 0 */1 * 1", "At 00:00 on Monday (UTC)");
    }
}
