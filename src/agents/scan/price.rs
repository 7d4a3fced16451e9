//! Reads prices out of running text: amount, currency, period, and what it depends on.
//!
//! Two prices are equal when they mean the same, however they are written: `$29` and `$29.00`.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agents::scan::amount::Scaled;
use crate::agents::scan::lexicon::{
    BILLED_YEARLY, CURRENCY_CODES, CURRENCY_WORDS, FROM, PERIODS, SEATS, has,
};
use crate::agents::scan::token::{Token, cut, plain};

/// A price.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Price {
    /// The amount, in whole units of the currency.
    pub amount: Scaled,
    /// The code of the currency; empty when it is not said.
    pub currency: String,
    /// How often it is paid.
    pub period: Option<Period>,
    /// What it depends on.
    pub terms: BTreeSet<Term>,
}

/// How often a price is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// Every hour.
    Hour,
    /// Every day, or night.
    Day,
    /// Every week.
    Week,
    /// Every month.
    Month,
    /// Every quarter of a year.
    Quarter,
    /// Every year.
    Year,
}

/// What a price depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// It is the lowest of several.
    From,
    /// It is paid for every person.
    PerSeat,
    /// A year is paid at once.
    BilledYearly,
}

impl Price {
    /// An amount of a currency, without a period.
    #[must_use]
    pub fn new(amount: Scaled, currency: &str) -> Self {
        let currency = currency.to_owned();
        Self { amount, currency, period: None, terms: BTreeSet::new() }
    }

    /// The first price in a text that is known to be one, such as the content of a price tag.
    ///
    /// There a number without a currency is a price too.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let tokens = cut(&plain(text));
        let number = tokens.iter().find_map(|it| match it {
            Token::Number { value, .. } => Some(*value),
            Token::Word { .. } | Token::Sign(_) | Token::Price(_) | Token::Masked => None,
        });
        let priced = read_prices(tokens).into_iter().find_map(|it| match it {
            Token::Price(price) => Some(price),
            Token::Word { .. } | Token::Number { .. } | Token::Sign(_) | Token::Masked => None,
        });
        priced.or_else(|| number.map(|it| Self::new(it, "")))
    }

    /// What is paid in a month, when the price says how often it is paid.
    #[must_use]
    pub fn per_month(&self) -> Option<Scaled> {
        let months = match self.period? {
            Period::Month => 1,
            Period::Quarter => 3,
            Period::Year => 12,
            Period::Hour | Period::Day | Period::Week => return None,
        };
        Some(Scaled(self.amount.0 / months))
    }

    /// The form in which prices are compared.
    #[must_use]
    pub fn key(&self) -> String {
        let period = self.period.map(|it| format!("/{}", it.as_str())).unwrap_or_default();
        format!("¤{}{}{period}", self.amount.as_money(), self.currency)
    }
}

impl Period {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.contains(&Term::From) {
            f.write_str("from ")?;
        }
        f.write_str(&self.amount.as_money())?;
        if !self.currency.is_empty() {
            write!(f, " {}", self.currency)?;
        }
        if let Some(period) = self.period {
            write!(f, " / {}", period.as_str())?;
        }
        if self.terms.contains(&Term::PerSeat) {
            f.write_str(" per person")?;
        }
        if self.terms.contains(&Term::BilledYearly) {
            f.write_str(", billed yearly")?;
        }
        Ok(())
    }
}

/// Puts prices in the place of the numbers and currencies that make them.
#[must_use]
pub fn read_prices(tokens: Vec<Token>) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match price_at(&tokens, at) {
            Some((price, used)) => {
                found.push((at, used, price));
                at += used;
            }
            None => at += 1,
        }
    }
    if found.is_empty() {
        return tokens;
    }
    let starts: Vec<usize> = found.iter().map(|it| it.0).chain([tokens.len()]).collect();
    let mut out = Vec::with_capacity(tokens.len());
    let mut from = 0;
    for ((start, used, mut price), next) in found.into_iter().zip(starts.into_iter().skip(1)) {
        let before = tokens.get(from..start).unwrap_or_default();
        let after = tokens.get(start + used..next).unwrap_or_default();
        complete(&mut price, before, after);
        out.extend(before.iter().cloned());
        out.push(Token::Price(price));
        from = start + used;
    }
    out.extend(tokens.into_iter().skip(from));
    out
}

/// A price that begins at `at`, and how many tokens it takes.
fn price_at(tokens: &[Token], at: usize) -> Option<(Price, usize)> {
    let token = |it: usize| tokens.get(it);
    if let Some((currency, used)) = currency_at(tokens, at)
        && let Some(Token::Number { value, .. }) = token(at + used)
    {
        let used = used + 1;
        return Some((Price::new(*value, currency), used + dash_after(tokens, at + used)));
    }
    let Some(Token::Number { value, .. }) = token(at) else { return None };
    let dash = dash_after(tokens, at + 1);
    match currency_at(tokens, at + 1 + dash) {
        Some((currency, used)) => Some((Price::new(*value, currency), 1 + dash + used)),
        None if dash > 0 => Some((Price::new(*value, ""), 1 + dash)),
        None => None,
    }
}

/// Tokens of the `,-` or `.-` that stands for no cents.
fn dash_after(tokens: &[Token], at: usize) -> usize {
    let is = |at: usize, sign| tokens.get(at).is_some_and(|it| it.is_sign(sign));
    if (is(at, ',') || is(at, '.')) && is(at + 1, '-') {
        2 + usize::from(is(at + 2, '-'))
    } else {
        0
    }
}

/// A currency at `at`, and how many tokens it takes.
fn currency_at(tokens: &[Token], at: usize) -> Option<(&'static str, usize)> {
    match tokens.get(at)? {
        Token::Sign(sign) => currency_of_sign(*sign).map(|it| (it, 1)),
        Token::Word { lower, is_upper } => {
            let dollar = tokens.get(at + 1).is_some_and(|it| it.is_sign('$'));
            if let Some((_, code)) = DOLLARS.iter().find(|it| dollar && it.0 == lower) {
                return Some((code, 2));
            }
            let code = CURRENCY_CODES.iter().find(|it| *is_upper && it.eq_ignore_ascii_case(lower));
            if let Some(code) = code {
                return Some((code, 1));
            }
            let is_word = |word: &str| {
                lower == word || (!word.is_ascii() && word.len() == 3 && lower.starts_with(word))
            };
            CURRENCY_WORDS.iter().find(|(word, _)| is_word(word)).map(|(_, code)| (*code, 1))
        }
        Token::Number { .. } | Token::Price(_) | Token::Masked => None,
    }
}

/// Whether a piece of text could be a price or a part of one, at a glance.
#[must_use]
pub fn may_name_price(text: &str) -> bool {
    if text.chars().any(|it| currency_of_sign(it).is_some()) {
        return true;
    }
    let is_short = text.len() < GLANCE_BYTES_MAX && text.contains(|it: char| it.is_numeric());
    let lower = if is_short { text.to_lowercase() } else { return false };
    CURRENCY_CODES.iter().any(|it| text.contains(it))
        || CURRENCY_WORDS.iter().any(|(word, _)| has(&lower, word))
}

const fn currency_of_sign(sign: char) -> Option<&'static str> {
    Some(match sign {
        '$' => "USD",
        '€' => "EUR",
        '£' => "GBP",
        '¥' => "JPY",
        '₹' => "INR",
        '₽' => "RUB",
        '₩' => "KRW",
        '₺' => "TRY",
        '₪' => "ILS",
        '₫' => "VND",
        '₴' => "UAH",
        '฿' => "THB",
        '₦' => "NGN",
        _ => return None,
    })
}

/// Adds what the words around a price say about it.
fn complete(price: &mut Price, before: &[Token], after: &[Token]) {
    let near = before.len().saturating_sub(WORDS_BEFORE);
    let before: Vec<&str> = before.iter().skip(near).filter_map(Token::word).collect();
    let after: Vec<&str> = after.iter().take(WORDS_AFTER).filter_map(Token::word).collect();
    price.period = after.iter().find_map(|it| period_of(it));
    if price.period.is_none() {
        price.period = before.iter().find_map(|it| period_of(it));
    }
    if before.iter().any(|it| FROM.contains(it))
        || after.first().is_some_and(|it| it.contains("から"))
    {
        price.terms.insert(Term::From);
    }
    if after.iter().any(|it| SEATS.contains(it)) {
        price.terms.insert(Term::PerSeat);
    }
    if after.iter().any(|it| BILLED_YEARLY.contains(it)) && price.period != Some(Period::Year)
        || after.windows(2).any(|it| matches!(it, ["billed" | "paid", "yearly" | "annually"]))
    {
        price.terms.insert(Term::BilledYearly);
    }
}

/// The period that a word names.
#[must_use]
pub fn period_of(word: &str) -> Option<Period> {
    PERIODS.iter().find(|(_, words)| words.contains(&word)).map(|(period, _)| *period)
}

/// Words that make a dollar somebody's.
const DOLLARS: [(&str, &str); 12] = [
    ("us", "USD"),
    ("r", "BRL"),
    ("a", "AUD"),
    ("au", "AUD"),
    ("c", "CAD"),
    ("ca", "CAD"),
    ("hk", "HKD"),
    ("nz", "NZD"),
    ("s", "SGD"),
    ("sg", "SGD"),
    ("mx", "MXN"),
    ("nt", "TWD"),
];
/// Bytes of a text that is looked at for the name of a currency.
const GLANCE_BYTES_MAX: usize = 200;
/// Tokens before a price that may belong to it.
const WORDS_BEFORE: usize = 4;
/// Tokens after a price that may belong to it.
const WORDS_AFTER: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_parse(text: &str, expected: &str) {
        let found = Price::parse(text).map(|it| it.to_string());
        assert_eq!(found.as_deref(), Some(expected).filter(|it| !it.is_empty()), "{text:?}");
    }

    #[test]
    fn prices_are_read_in_every_way_they_are_written() {
        check_parse("free", "");
        check_parse("$29", "29 USD");
        check_parse("$29.00", "29 USD");
        check_parse("29 €", "29 EUR");
        check_parse("4,90\u{a0}€", "4.90 EUR");
        check_parse("1.290 €", "1290 EUR");
        check_parse("1.290,00 EUR", "1290 EUR");
        check_parse("1\u{202f}290,50 €", "1290.50 EUR");
        check_parse("€1,299.95", "1299.95 EUR");
        check_parse("1.290,-", "1290");
        check_parse("€ 49,--", "49 EUR");
        check_parse("1.234.567", "1234567");
        check_parse("CHF 1'290.50", "1290.50 CHF");
        check_parse("R$ 49,90", "49.90 BRL");
        check_parse("US$2,879.2", "2879.20 USD");
        check_parse("¥1,480", "1480 JPY");
        check_parse("９８０円", "980 JPY");
        check_parse("₹1,49,999", "149999 INR");
        check_parse("1 299 kr", "1299 kr");
        check_parse("49,99 zł", "49.99 PLN");
        check_parse("£0.0004", "0.0004 GBP");
        check_parse("249 SEK", "249 SEK");
    }

    #[test]
    fn periods_and_terms_are_read_in_many_languages() {
        check_parse("$29 / month", "29 USD / month");
        check_parse("$29/mo", "29 USD / month");
        check_parse(
            "from $8 per user per month, billed yearly",
            "from 8 USD / month per person, billed yearly",
        );
        check_parse("1.290,00 € / Jahr", "1290 EUR / year");
        check_parse("ab 4,90 € pro Monat", "from 4.90 EUR / month");
        check_parse("à partir de 12 € par mois", "from 12 EUR / month");
        check_parse("月額980円", "980 JPY / month");
        check_parse("1,480円/月（税込）", "1480 JPY / month");
        check_parse("12 € la nuit", "12 EUR / day");
    }

    #[test]
    fn not_every_number_is_a_price() {
        for text in ["PHP 8.2", "try 3 plans", "10 boats", "40% off", "all 5"] {
            let prices = read_prices(cut(text));
            assert!(prices.iter().all(|it| !matches!(it, Token::Price(_))), "{text}: {prices:?}");
        }
    }
}
