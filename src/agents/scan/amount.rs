//! Numbers as people write them, as exact integers: thousands and decimals in any country's way.

use serde::{Deserialize, Serialize};

/// A number in units of a ten-thousandth, exact.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Scaled(pub i64);

impl Scaled {
    /// Reads digits with separators as people write them; what is too large is the largest.
    ///
    /// With both separators the last one is the decimal one. A single kind of separator means
    /// thousands when the last group has three digits, else decimals: `1.290` is more than a
    /// thousand, `12.90` is not. After a leading zero it is always decimal.
    #[must_use]
    pub fn written(text: &str) -> Self {
        let text: String = text.chars().filter(|it| it.is_ascii_digit() || is_mark(*it)).collect();
        let marks: Vec<char> = text.chars().filter(|it| is_mark(*it)).collect();
        let is_mixed = marks.contains(&'.') && marks.contains(&',');
        let tail = text.rsplit(is_mark).next().unwrap_or_default().len();
        let decimal = match marks.as_slice() {
            [] => None,
            [.., last] if is_mixed => Some(*last),
            [mark] if tail != 3 || text.starts_with("0.") || text.starts_with("0,") => Some(*mark),
            [_, ..] => None,
        };
        match decimal.and_then(|it| text.rsplit_once(it)) {
            Some((whole, fraction)) => Self::of(whole, fraction),
            None => Self::of(&text, ""),
        }
    }

    /// Reads a number as programs write it: the point is decimal, nothing else occurs.
    #[must_use]
    pub fn decimal(text: &str) -> Option<Self> {
        let text = text.trim();
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
        let is_whole = !whole.is_empty() && is_number(whole) && is_number(fraction);
        is_whole.then(|| Self::of(whole, fraction))
    }

    fn of(whole: &str, fraction: &str) -> Self {
        let digits = |it: &str| it.chars().filter(char::is_ascii_digit).collect::<String>();
        let places = digits(fraction).chars().chain("0000".chars()).take(4).collect::<String>();
        let text = digits(whole) + &places;
        Self(text.trim_start_matches('0').parse().unwrap_or(if text.len() > 18 {
            i64::MAX
        } else {
            0
        }))
    }

    /// As a plain decimal with two places, or more when it has more.
    #[must_use]
    pub fn as_money(self) -> String {
        let (whole, places) = (self.0 / UNIT, self.0 % UNIT);
        let places = format!("{places:04}");
        let places = if places.ends_with("00") { places.get(..2) } else { places.get(..) };
        match places.unwrap_or_default() {
            "00" => whole.to_string(),
            places => format!("{whole}.{}", places),
        }
    }

    /// Whether the step to `to` is at least `percent` of this one.
    #[must_use]
    pub const fn moved(self, to: Self, percent: i64) -> bool {
        let step = self.0.abs_diff(to.0) as u128;
        step * 100 >= (self.0.unsigned_abs() as u128) * (percent.unsigned_abs() as u128)
    }

    /// The digits before the decimal point.
    #[must_use]
    pub const fn magnitude(self) -> u32 {
        match (self.0 / UNIT).checked_ilog10() {
            Some(it) => it + 1,
            None => 0,
        }
    }
}

const fn is_mark(it: char) -> bool {
    matches!(it, '.' | ',')
}

/// One whole.
pub const UNIT: i64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_written(text: &str, expected: &str) {
        assert_eq!(Scaled::written(text).as_money(), expected, "{text:?}");
    }

    #[test]
    fn separators_mean_what_they_mean_where_they_are_written() {
        check_written("", "0");
        check_written("29", "29");
        check_written("29.00", "29");
        check_written("2879.2", "2879.20");
        check_written("4,90", "4.90");
        check_written("1.290", "1290");
        check_written("1,299", "1299");
        check_written("1.234.567", "1234567");
        check_written("1.290,50", "1290.50");
        check_written("1,299.95", "1299.95");
        check_written("1'290.50", "1290.50");
        check_written("1,49,999.00", "149999");
        check_written("0.125", "0.1250");
        check_written("0.0004", "0.0004");
        check_written("99999999999999999999", "922337203685477.5807");
    }

    #[test]
    fn programs_write_points_only() {
        assert_eq!(Scaled::decimal("1290.00"), Some(Scaled(1290 * UNIT)));
        assert_eq!(Scaled::decimal("1.290"), Some(Scaled(12_900)));
        for text in ["", "1,2", "x", "-1", ".5"] {
            assert_eq!(Scaled::decimal(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_step_is_measured_against_where_it_began() {
        let of = |it: i64| Scaled(it * UNIT);
        assert!(of(100).moved(of(125), 25) && of(100).moved(of(75), 25));
        assert!(!of(100).moved(of(124), 25));
        assert_eq!([0, 9, 10, 9999].map(|it| of(it).magnitude()), [0, 1, 2, 4]);
    }
}
