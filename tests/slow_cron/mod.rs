//! A cron that is slow and plain: the oracle for the fast one.
//!
//! It reads and walks the calendar as the rules in `vectors/cron.json` say, and shares nothing
//! with the room it judges: a table of every day, a flag for every number, one minute at a time.
#![expect(clippy::indexing_slicing, reason = "the tables are as long as the calendar")]

pub(crate) mod dice;

/// A day of the calendar: month, day, weekday.
#[derive(Clone, Copy)]
pub(crate) struct Day(usize, usize, usize);

/// Every day from 1960 on for 500 years.
pub(crate) struct Calendar(pub(crate) Vec<Day>);

/// Days from 1960-01-01, a Friday, to 1970-01-01.
pub(crate) const DAYS_BEFORE_EPOCH: i64 = 3_653;
pub(crate) const MINUTE_MS: i64 = 60_000;
pub(crate) const DAY_MINUTES: i64 = 1_440;

impl Calendar {
    pub(crate) fn new() -> Self {
        let (mut days, mut weekday) = (Vec::new(), 5);
        for year in 1960..2460 {
            let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            let february = if leap { 29 } else { 28 };
            let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(lengths) {
                for day in 1..=length {
                    days.push(Day(month, day, weekday));
                    weekday = (weekday + 1) % 7;
                }
            }
        }
        Self(days)
    }

    /// The last minute that has a day.
    fn last_minute(&self) -> i64 {
        (i64::try_from(self.0.len()).unwrap() - DAYS_BEFORE_EPOCH) * DAY_MINUTES - 1
    }

    fn day(&self, minute: i64) -> Day {
        let number = minute.div_euclid(DAY_MINUTES) + DAYS_BEFORE_EPOCH;
        self.0[usize::try_from(number).unwrap()]
    }
}

/// An expression as the rules read it: one flag for each number of each field.
pub(crate) struct Oracle {
    pub(crate) fields: [Vec<bool>; 5],
    both: bool,
}

pub(crate) const BOUNDS: [(usize, usize); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)];
pub(crate) const MONTHS: &str = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC";
pub(crate) const WEEKDAYS: &str = "SUN MON TUE WED THU FRI SAT";

impl Oracle {
    /// `None` for what the rules refuse.
    pub(crate) fn read(text: &str, calendar: &Calendar) -> Option<Self> {
        let words: Vec<&str> = text.split([' ', '\t']).filter(|it| !it.is_empty()).collect();
        if text.len() > 256 || !text.is_ascii() || words.len() != 5 {
            return None;
        }
        let mut fields = [const { Vec::new() }; 5];
        for (number, word) in words.iter().enumerate() {
            fields[number] = Self::field(number, word)?;
        }
        let both = words[2].starts_with('*') || words[4].starts_with('*');
        let oracle = Self { fields, both };
        calendar.0.iter().any(|it| oracle.on(*it)).then_some(oracle)
    }

    fn field(number: usize, word: &str) -> Option<Vec<bool>> {
        let mut flags = vec![false; 64];
        for item in word.split(',') {
            if item.starts_with('*') && item.len() != word.len() {
                return None;
            }
            let pieces: Vec<&str> = item.split('/').collect();
            let ends: Vec<&str> = pieces[0].split('-').collect();
            let (from, to) = match ends[..] {
                ["*"] => BOUNDS[number],
                [one] if pieces.len() == 1 => {
                    (Self::value(number, one)?, Self::value(number, one)?)
                }
                [from, to] => (Self::value(number, from)?, Self::value(number, to)?),
                _ => return None,
            };
            let step = match pieces[..] {
                [_] => 1,
                [_, step] => Self::digits(step)?,
                _ => return None,
            };
            if from > to || step < 1 || (step > to - from && step != 1) {
                return None;
            }
            (from..=to).step_by(step).for_each(|it| flags[it] = true);
        }
        flags[0] |= number == 4 && flags[7];
        Some(flags)
    }

    fn value(number: usize, text: &str) -> Option<usize> {
        let (first, last) = BOUNDS[number];
        let upper = text.to_uppercase();
        let named = |names: &str| names.split(' ').position(|it| it == upper);
        let named = match number {
            3 => named(MONTHS).map(|it| it + 1),
            4 => named(WEEKDAYS),
            _ => None,
        };
        named.or_else(|| Self::digits(text)).filter(|it| (first..=last).contains(it))
    }

    fn digits(text: &str) -> Option<usize> {
        let plain = !text.is_empty() && text.chars().all(|it| it.is_ascii_digit());
        let short = text.trim_start_matches('0');
        (plain && short.len() < 6).then(|| format!("0{short}").parse().unwrap())
    }

    pub(crate) fn on(&self, Day(month, day, weekday): Day) -> bool {
        let (by_day, by_weekday) = (self.fields[2][day], self.fields[4][weekday]);
        let day_matches = if self.both { by_day && by_weekday } else { by_day || by_weekday };
        self.fields[3][month] && day_matches
    }

    /// Whether it comes in a minute of Unix time.
    pub(crate) fn at(&self, calendar: &Calendar, minute: i64) -> bool {
        let of_day = usize::try_from(minute.rem_euclid(DAY_MINUTES)).unwrap();
        self.fields[0][of_day % 60] && self.fields[1][of_day / 60] && self.on(calendar.day(minute))
    }

    /// The first minute after `minute`, looking at one after the other; whole days that do not
    /// match are passed over.
    pub(crate) fn next(&self, calendar: &Calendar, mut minute: i64) -> Option<i64> {
        minute += 1;
        while minute <= calendar.last_minute() {
            if self.at(calendar, minute) {
                return Some(minute);
            }
            let whole = minute.rem_euclid(DAY_MINUTES) == 0 && !self.on(calendar.day(minute));
            minute += if whole { DAY_MINUTES } else { 1 };
        }
        None
    }

    /// The last minute that is not after `minute`.
    pub(crate) fn latest(&self, calendar: &Calendar, mut minute: i64) -> Option<i64> {
        while minute >= -DAYS_BEFORE_EPOCH * DAY_MINUTES {
            if self.at(calendar, minute) {
                return Some(minute);
            }
            let whole =
                minute.rem_euclid(DAY_MINUTES) == DAY_MINUTES - 1 && !self.on(calendar.day(minute));
            minute -= if whole { DAY_MINUTES } else { 1 };
        }
        None
    }
}
