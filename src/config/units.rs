//! How durations and sizes are written in settings: `90s`, `64MiB`.
//!
//! A text has one whole number and one unit, so that it can be read in one way only. What is
//! written is the largest unit that fits without a rest.

use std::time::Duration;

/// Reads `250ms`, `90s`, `15m`, `24h` or `30d`; `None` for anything else.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let (_, millis) = SPANS.iter().find(|(name, _)| *name == unit)?;
    Some(Duration::from_millis(number.checked_mul(*millis)?))
}

/// Writes a duration so that [`parse_duration`] reads it back; what is below milliseconds is cut.
#[must_use]
pub fn show_duration(span: Duration) -> String {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    if millis == 0 { "0s".to_owned() } else { show(millis, &SPANS) }
}

/// Reads `512B`, `64KiB`, `10MiB` or `2GiB`; `None` for anything else.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(*bytes)
}

/// Writes a size so that [`parse_size`] reads it back.
pub(super) fn show_size(bytes: u64) -> String {
    show(bytes, &SIZES)
}

fn split(text: &str) -> Option<(u64, &str)> {
    let at = text.find(|it: char| !it.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    Some((number.parse().ok()?, unit))
}

fn show(number: u64, units: &[(&str, u64)]) -> String {
    let fits = |it: &&(&str, u64)| it.1 <= number.max(1) && number.is_multiple_of(it.1);
    // The last unit is one, which always fits.
    let (name, one) = units.iter().find(fits).copied().unwrap_or(("", 1));
    format!("{}{name}", number / one)
}

/// Units of time in milliseconds, largest first.
const SPANS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// Units of size in bytes, largest first.
const SIZES: [(&str, u64); 4] =
    [("GiB", 1024 * 1024 * 1024), ("MiB", 1024 * 1024), ("KiB", 1024), ("B", 1)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_one_number_and_one_unit_and_read_back() {
        for (text, millis) in
            [("250ms", 250), ("90s", 90_000), ("15m", 900_000), ("30d", 2_592_000_000), ("0s", 0)]
        {
            let span = Duration::from_millis(millis);
            assert_eq!(parse_duration(text), Some(span), "{text}");
            assert_eq!(parse_duration(&show_duration(span)), Some(span));
        }
        assert_eq!(show_duration(Duration::from_secs(120)), "2m");
        assert_eq!(show_duration(Duration::from_secs(90)), "90s");
    }

    #[test]
    fn sizes_are_binary_and_read_back() {
        assert_eq!(parse_size("64KiB"), Some(65_536));
        assert_eq!(show_size(64 * 1024 * 1024), "64MiB");
        assert_eq!(show_size(1_500), "1500B");
        assert_eq!(show_size(0), "0B");
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for text in ["", "90", "s", "1.5h", "-1s", "1h30m", "1 s", "1S", "99999999999999999999d"] {
            assert_eq!(parse_duration(text), None, "{text:?}");
        }
        for text in ["", "64", "64MB", "64kb", "1,5GiB", "18446744073709551615GiB"] {
            assert_eq!(parse_size(text), None, "{text:?}");
        }
    }
}
