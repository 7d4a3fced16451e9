//! Money: exact integers inside, plain decimal strings outside.
//!
//! An [`Amount`] counts billionths of a currency unit. There are no floats anywhere: amounts are
//! read from and written to decimal strings, and arithmetic is checked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Billionths (1e-9) of a unit of some account's currency; may be negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Amount(i64);

/// What an account counts in: three capital letters as in ISO 4217, or `CREDIT`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Currency([u8; 6]);

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountError {
    /// It is not a plain decimal number such as `12` or `0.02`.
    NotDecimal,
    /// It has more than nine digits after the point.
    TooFine,
    /// It does not fit: at most 9,223,372,036 units.
    TooLarge,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount.
    pub const MAX: Self = Self(i64::MAX);

    /// Takes billionths of a unit.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Billionths of a unit.
    #[must_use]
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The sum; `None` when it does not fit.
    #[must_use]
    pub fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference; `None` when it does not fit. It may be negative.
    #[must_use]
    pub fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Whether it is below zero.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// This amount in another currency, at `factor` units of it for one of ours, rounded up.
    ///
    /// `None` when the result does not fit.
    #[must_use]
    pub fn converted(self, factor: Self) -> Option<Self> {
        let product = i128::from(self.0).checked_mul(i128::from(factor.0))?;
        let up =
            product.checked_add(i128::from(UNIT).checked_sub(1)?)?.div_euclid(i128::from(UNIT));
        i64::try_from(up).ok().map(Self)
    }

    /// `parts` of `of` times the amount, rounded down; `None` when it does not fit.
    #[must_use]
    pub fn times(self, parts: u64, of: u64) -> Option<Self> {
        let product = i128::from(self.0).checked_mul(i128::from(parts))?;
        i64::try_from(product.checked_div(i128::from(of))?).ok().map(Self)
    }

    /// Reads a plain decimal such as `12`, `0.02` or `-3.5`: no exponent, no sign `+`, no spaces.
    ///
    /// # Errors
    ///
    /// [`AmountError`] says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, AmountError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) {
            return Err(AmountError::NotDecimal);
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > DECIMALS {
            return Err(AmountError::TooFine);
        }
        let mut nanos: i64 = 0;
        let padding = std::iter::repeat_n(b'0', DECIMALS.saturating_sub(fraction.len()));
        for digit in whole.bytes().chain(fraction.bytes()).chain(padding) {
            let digit = i64::from(digit.saturating_sub(b'0'));
            nanos = nanos
                .checked_mul(10)
                .and_then(|it| it.checked_add(digit))
                .ok_or(AmountError::TooLarge)?;
        }
        Ok(Self(if negative { nanos.saturating_neg() } else { nanos }))
    }
}

/// Writes a plain decimal with the trailing zeros gone: `0.02`, `12`, `0`.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative() { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        const UNIT_ABS: u64 = UNIT.unsigned_abs();
        let (whole, fraction) = (nanos / UNIT_ABS, nanos % UNIT_ABS);
        if fraction == 0 {
            return write!(f, "{sign}{whole}");
        }
        let fraction = format!("{fraction:0DECIMALS$}");
        write!(f, "{sign}{whole}.{}", fraction.trim_end_matches('0'))
    }
}

impl Currency {
    /// The euro, in which prices are written when nothing else is configured.
    pub const EUR: Self = Self(*b"EUR\0\0\0");

    /// Reads `EUR`, `USD`, … or `CREDIT`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_code = text.len() == 3 && text.bytes().all(|it| it.is_ascii_uppercase());
        if !is_code && text != "CREDIT" {
            return None;
        }
        let mut bytes = [0; 6];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self(bytes))
    }

    /// The code, such as `EUR`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let text = std::str::from_utf8(&self.0).unwrap_or("");
        text.trim_end_matches('\0')
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotDecimal => "not a plain decimal number such as \"0.02\"",
            Self::TooFine => "more than nine digits after the point",
            Self::TooLarge => "more than 9223372036 units",
        })
    }
}

impl std::error::Error for AmountError {}

/// Digits after the point.
const DECIMALS: usize = 9;
/// One unit of a currency in billionths.
const UNIT: i64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_amount(text: &str, nanos: i64, written: &str) {
        assert_eq!(Amount::parse(text), Ok(Amount(nanos)), "{text}");
        assert_eq!(Amount(nanos).to_string(), written);
    }

    #[test]
    fn amounts_are_plain_decimals_without_trailing_zeros() {
        check_amount("0", 0, "0");
        check_amount("0.00", 0, "0");
        check_amount("0.02", 20_000_000, "0.02");
        check_amount("12.50", 12_500_000_000, "12.5");
        check_amount("-3.5", -3_500_000_000, "-3.5");
        check_amount("0.000000001", 1, "0.000000001");
        check_amount("9223372036.854775807", i64::MAX, "9223372036.854775807");
        check_amount("1.0000000000000", 1_000_000_000, "1");
    }

    #[test]
    fn what_is_not_an_amount_is_refused_with_the_reason() {
        for text in ["", ".", "1.", ".5", "+1", "1e3", " 1", "1,5", "0x1", "--1", "١", "NaN"] {
            assert_eq!(Amount::parse(text), Err(AmountError::NotDecimal), "{text:?}");
        }
        assert_eq!(Amount::parse("0.0000000001"), Err(AmountError::TooFine));
        assert_eq!(Amount::parse("9223372036.854775808"), Err(AmountError::TooLarge));
    }

    #[test]
    fn conversion_rounds_up_so_that_nothing_is_given_away() {
        let price = Amount(1);
        assert_eq!(price.converted(Amount(1_080_000_000)), Some(Amount(2)));
        assert_eq!(Amount(100).converted(Amount(1_080_000_000)), Some(Amount(108)));
        assert_eq!(Amount::MAX.converted(Amount::MAX), None);
    }

    #[test]
    fn a_currency_is_three_capitals_or_credit() {
        for text in ["EUR", "USD", "CREDIT"] {
            assert_eq!(Currency::parse(text).map(|it| it.to_string()), Some(text.into()));
        }
        for text in ["", "eur", "EURO", "E1R", "CREDITS", "€"] {
            assert_eq!(Currency::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_amount_reads_back_from_its_text(nanos: i64) {
            prop_assume!(nanos != i64::MIN);
            prop_assert_eq!(Amount::parse(&Amount(nanos).to_string()), Ok(Amount(nanos)));
        }
    }
}
