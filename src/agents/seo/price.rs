//! Prices in a text, as far as an audit must tell whether two of them are the same.

use std::fmt;

/// An amount of money: hundredths and a currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// Hundredths.
    pub minor: u64,
    /// The currency, by its three letters.
    pub currency: String,
}

impl Price {
    /// Reads a price as structured data names it.
    #[must_use]
    pub fn of(amount: &str, currency: &str) -> Option<Self> {
        let currency = currency.trim().to_ascii_uppercase();
        let is_code = currency.len() == 3 && currency.bytes().all(|it| it.is_ascii_uppercase());
        let minor = amount_of(amount.trim())?;
        is_code.then_some(Self { minor, currency })
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02} {}", self.minor / 100, self.minor % 100, self.currency)
    }
}

/// The prices of a text in one currency, each once: numbers with its name or sign beside them.
#[must_use]
pub fn in_text(text: &str, currency: &str) -> Vec<Price> {
    let sign = SIGNS.iter().find(|(code, _)| *code == currency).map(|(_, sign)| *sign);
    let marks: Vec<&str> = sign.into_iter().chain([currency]).collect();
    let mut found: Vec<Price> = Vec::new();
    for mark in marks {
        for (at, _) in text.match_indices(mark).take(MARKS_MAX) {
            let before = text.get(..at).unwrap_or_default().trim_end();
            let after = text.get(at.saturating_add(mark.len())..).unwrap_or_default().trim_start();
            let is_number = |it: char| it.is_ascii_digit() || SEPARATORS.contains(it);
            let end = after.find(|it| !is_number(it)).unwrap_or(after.len());
            let start = before.rfind(|it| !is_number(it));
            let start = start.map_or(0, |it| it.saturating_add(width(before, it)));
            for number in [after.get(..end), before.get(start..)].into_iter().flatten() {
                let price =
                    amount_of(number).map(|minor| Price { minor, currency: currency.to_owned() });
                found.extend(price.filter(|it| !found.contains(it)));
            }
        }
    }
    found
}

fn width(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|it| it.chars().next()).map_or(1, char::len_utf8)
}

/// Hundredths of a number as people write it: `1.290`, `1,299.00`, `149,5`, `29`.
///
/// Of two kinds of sign the last is the decimal one; a single one before three digits parts
/// thousands.
fn amount_of(text: &str) -> Option<u64> {
    let text: String =
        text.chars().filter(|it| !matches!(it, '\u{a0}' | '\u{202f}' | '\'' | ' ')).collect();
    let text = text.trim_matches(['.', ',', '-']);
    let is_plain = |it: u8| it.is_ascii_digit() || matches!(it, b'.' | b',');
    if text.is_empty() || text.len() > DIGITS_MAX || !text.bytes().all(is_plain) {
        return None;
    }
    let last = text.rfind(['.', ',']);
    let decimals = last.and_then(|at| {
        let (whole, rest) = text.split_at_checked(at)?;
        let digits = rest.get(1..)?;
        let sign = rest.get(..1)?;
        let is_repeated = whole.contains(sign);
        let is_mixed = whole.contains(['.', ',']) && !is_repeated;
        (!is_repeated && (is_mixed || digits.len() != 3)).then_some((whole, digits))
    });
    let (whole, digits) = decimals.unwrap_or((text, ""));
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    let cents: String = digits.chars().chain("00".chars()).take(2).collect();
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    whole.checked_mul(100)?.checked_add(cents.parse().ok()?)
}

/// Currencies with a sign of their own.
const SIGNS: [(&str, &str); 9] = [
    ("EUR", "€"),
    ("USD", "$"),
    ("GBP", "£"),
    ("JPY", "¥"),
    ("INR", "₹"),
    ("PLN", "zł"),
    ("TRY", "₺"),
    ("UAH", "₴"),
    ("BRL", "R$"),
];
/// Signs inside of numbers.
const SEPARATORS: &str = ".,'\u{a0}\u{202f}-";
/// Digits and signs of a number.
const DIGITS_MAX: usize = 15;
/// Signs of a currency in a text that are looked at.
const MARKS_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, minor) in [
            ("29", 2_900),
            ("29.9", 2_990),
            ("2879.20", 287_920),
            ("1.290", 129_000),
            ("1,299", 129_900),
            ("1.234.567", 123_456_700),
            ("1,299.00", 129_900),
            ("1.299,5", 129_950),
            ("1'299", 129_900),
            ("149,00", 14_900),
            ("1.290,-", 129_000),
        ] {
            assert_eq!(amount_of(text), Some(minor), "{text}");
        }
        for text in ["", "abc", "1e5", "12345678901234567890"] {
            assert_eq!(amount_of(text), None, "{text}");
        }
    }

    #[test]
    fn prices_stand_beside_their_currency() {
        let shown = |text: &str, currency: &str| {
            in_text(text, currency).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            shown("from €29 or 1.290 € a year; 17 boats", "EUR"),
            ["29.00 EUR", "1290.00 EUR"]
        );
        assert_eq!(shown("149,00 EUR", "EUR"), ["149.00 EUR"]);
        assert_eq!(shown("ab é$5.", "USD"), ["5.00 USD"]);
        assert!(shown("$5", "EUR").is_empty());
    }
}
