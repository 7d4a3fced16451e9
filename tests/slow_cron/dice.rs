//! Random expressions from a fixed seed.

use super::{BOUNDS, MONTHS, WEEKDAYS};

/// A fixed sequence of numbers that look random (`SplitMix64`).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(sides).unwrap()).unwrap()
    }

    pub(crate) fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.roll(last - first + 1)
    }

    fn number(&mut self, field: usize, value: usize) -> String {
        let name = match field {
            3 => MONTHS.split(' ').nth(value - 1),
            4 => WEEKDAYS.split(' ').nth(value),
            _ => None,
        };
        match (self.roll(4), name) {
            (0, Some(name)) => name.to_lowercase(),
            (1, Some(name)) => name.to_owned(),
            (2, _) => format!("{value:02}"),
            _ => value.to_string(),
        }
    }

    pub(crate) fn item(&mut self, field: usize) -> String {
        let (first, last) = BOUNDS[field];
        let from = self.between(first, last);
        let kind = self.roll(3);
        if kind == 0 {
            return self.number(field, from);
        }
        let to = self.between(from, last);
        let step = self.between(1, (to - from).max(1));
        // Sunday has no name at a range's end.
        let (from, to) = (self.number(field, from), to.to_string());
        if kind == 1 { format!("{from}-{to}") } else { format!("{from}-{to}/{step}") }
    }

    pub(crate) fn field(&mut self, field: usize) -> String {
        let (first, last) = BOUNDS[field];
        match self.roll(10) {
            0..=3 => "*".to_owned(),
            4 | 5 => format!("*/{}", self.between(1, last - first)),
            _ => {
                let items = self.between(1, 4);
                (0..items).map(|_| self.item(field)).collect::<Vec<_>>().join(",")
            }
        }
    }

    /// An expression that follows the grammar; a few of them never come.
    pub(crate) fn expression(&mut self) -> String {
        let blank = if self.roll(20) == 0 { "\t " } else { " " };
        (0..5).map(|it| self.field(it)).collect::<Vec<_>>().join(blank)
    }

    /// A time from 1970 to 2040, to the millisecond.
    pub(crate) fn time(&mut self) -> i64 {
        i64::try_from(self.roll(70 * 365 * 86_400_000)).unwrap()
    }
}
