//! The five fields: their order, their names and their numbers.

use std::fmt;

use super::set::Set;

/// A field of an expression. `Display` writes its name, such as `day of week`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The minute, 0 to 59.
    Minute,
    /// The hour, 0 to 23.
    Hour,
    /// The day of the month, 1 to 31.
    DayOfMonth,
    /// The month, 1 to 12 or `JAN` to `DEC`.
    Month,
    /// The day of the week, 0 to 7 or `SUN` to `SAT`; 0 and 7 are Sunday.
    DayOfWeek,
}

impl Field {
    /// Every field, in the order of the expression.
    pub const ALL: [Self; 5] =
        [Self::Minute, Self::Hour, Self::DayOfMonth, Self::Month, Self::DayOfWeek];

    /// The field at a place, 1 to 5.
    #[must_use]
    pub fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.number() == number)
    }

    /// The place in the expression, 1 to 5.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Minute => 1,
            Self::Hour => 2,
            Self::DayOfMonth => 3,
            Self::Month => 4,
            Self::DayOfWeek => 5,
        }
    }

    /// The smallest and the largest number that may be written.
    pub(super) const fn bounds(self) -> (u32, u32) {
        match self {
            Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => (0, 7),
        }
    }

    /// What `*` stands for.
    pub(super) const fn everything(self) -> Set {
        let (first, last) = self.bounds();
        self.folded(Set::range(first, last))
    }

    /// The set with one number for Sunday instead of two.
    pub(super) const fn folded(self, set: Set) -> Set {
        match self {
            Self::DayOfWeek if set.has(7) => set.below(7).or(Set::range(0, 0)),
            Self::Minute | Self::Hour | Self::DayOfMonth | Self::Month | Self::DayOfWeek => set,
        }
    }

    /// The number that a name in any case stands for, if this field has such a name.
    pub(super) fn named(self, text: &str) -> Option<u32> {
        let (names, first): (&[&str], u32) = match self {
            Self::Month => (&MONTHS, 1),
            Self::DayOfWeek => (&WEEKDAYS, 0),
            Self::Minute | Self::Hour | Self::DayOfMonth => return None,
        };
        let found = |(name, _): &(&&str, u32)| name.eq_ignore_ascii_case(text);
        names.iter().zip(first..).find(found).map(|it| it.1)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
        })
    }
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_in_its_own_field_only() {
        assert_eq!(Field::DayOfMonth.named("MON"), None);
        assert_eq!(Field::Month.named("MON"), None);
        assert_eq!(Field::DayOfWeek.named("JAN"), None);
        assert_eq!(Field::DayOfWeek.named("MOND"), None);
        assert_eq!(Field::DayOfWeek.named(""), None);
        assert_eq!(Field::DayOfWeek.named("sUn"), Some(0));
        assert_eq!(Field::Month.named("jan"), Some(1));
        assert_eq!(Field::Month.named("DEC"), Some(12));
    }

    #[test]
    fn a_week_has_one_sunday() {
        assert_eq!(Field::DayOfWeek.everything(), Set::range(0, 6));
        assert_eq!(
            Field::DayOfWeek.folded(Set::range(5, 7)),
            Set::range(5, 6).or(Set::range(0, 0))
        );
        assert_eq!(Field::Minute.folded(Set::range(7, 7)), Set::range(7, 7));
    }
}
