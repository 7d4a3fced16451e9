//! Cuts a text into words, numbers and signs, so that two texts can be compared by what they say.
//!
//! Spelling does not count: upper case, quotes, dashes, full-width letters and white space are
//! brought into one form. Dates, clocks and random strings are masked later, prices read later.

use crate::agents::page::text::printable;
use crate::agents::scan::amount::Scaled;
use crate::agents::scan::price::Price;

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Letters.
    Word {
        /// The word in lower case.
        lower: String,
        /// Whether every letter was a capital.
        is_upper: bool,
    },
    /// Digits.
    Number {
        /// As written, without spaces.
        text: String,
        /// Its value.
        value: Scaled,
    },
    /// Anything else that is not white space.
    Sign(char),
    /// A price that was read.
    Price(Price),
    /// Something that changes by itself: a date, a clock, a random string.
    Masked,
}

impl Token {
    /// The word, in lower case.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word { lower, .. } => Some(lower),
            Self::Number { .. } | Self::Sign(_) | Self::Price(_) | Self::Masked => None,
        }
    }

    /// The digits of a number that has no separators.
    #[must_use]
    pub fn digits(&self) -> Option<&str> {
        match self {
            Self::Number { text, .. } => Some(text).filter(|it| is_digits(it)).map(String::as_str),
            Self::Word { .. } | Self::Sign(_) | Self::Price(_) | Self::Masked => None,
        }
    }

    /// Whether it is this sign.
    #[must_use]
    pub fn is_sign(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }
}

/// A text in one spelling: no unseen characters, plain quotes, dashes and digits.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in printable(text).chars() {
        match it {
            '‘' | '’' | '‚' | '‛' | '′' | '`' | '´' => out.push('\''),
            '“' | '”' | '„' | '‟' | '«' | '»' | '″' => out.push('"'),
            '‐'..='―' | '−' | '﹘' | '－' => out.push('-'),
            '…' => out.push_str("..."),
            'ﬁ' => out.push_str("fi"),
            'ﬂ' => out.push_str("fl"),
            'ﬀ' => out.push_str("ff"),
            '￥' => out.push('¥'),
            '\u{ff01}'..='\u{ff5e}' => out.push(narrow(it)),
            '⁄' | '∕' => out.push('/'),
            _ => out.push(it),
        }
    }
    out
}

/// The ASCII twin of a full-width character.
fn narrow(it: char) -> char {
    let at = u32::from(it).saturating_sub(0xff01).saturating_add(0x21);
    char::from_u32(at).unwrap_or(it)
}

/// Cuts a text that is in one spelling.
#[must_use]
pub fn cut(plain: &str) -> Vec<Token> {
    let mut lexer = Lexer { rest: plain, out: Vec::new() };
    while lexer.step() {}
    lexer.out
}

struct Lexer<'a> {
    rest: &'a str,
    out: Vec<Token>,
}

impl Lexer<'_> {
    /// Takes one piece off the front.
    fn step(&mut self) -> bool {
        let before = self.rest.len();
        self.rest = self.rest.trim_start();
        let is_glued = before == self.rest.len()
            && matches!(self.out.last(), Some(Token::Word { .. } | Token::Number { .. }));
        let Some(first) = self.rest.chars().next() else { return false };
        if first.is_ascii_alphanumeric() && self.random() {
            return true;
        }
        if first.is_ascii_digit() {
            self.number(is_glued);
        } else if first.is_alphanumeric() {
            self.word(first);
        } else {
            self.rest = self.rest.get(first.len_utf8()..).unwrap_or_default();
            self.out.push(Token::Sign(first));
        }
        true
    }

    /// Takes a random string: hexadecimal of seven and more, or a long mixture.
    fn random(&mut self) -> bool {
        let run = self.rest.find(|it: char| !it.is_ascii_alphanumeric());
        let run = self.rest.get(..run.unwrap_or(self.rest.len())).unwrap_or_default();
        let has_both = run.bytes().any(|it| it.is_ascii_digit())
            && run.bytes().any(|it| it.is_ascii_alphabetic());
        let is_hex = run.len() >= HEX_CHARS_MIN && run.bytes().all(|it| it.is_ascii_hexdigit());
        if !has_both || !(is_hex || run.len() >= RANDOM_CHARS_MIN) {
            return false;
        }
        self.rest = self.rest.get(run.len()..).unwrap_or_default();
        self.out.push(Token::Masked);
        true
    }

    /// Takes a number; one that hangs on a word has no groups of thousands.
    fn number(&mut self, is_glued: bool) {
        let bytes = self.rest.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let mut end: usize = 0;
        loop {
            if is_digit(end)
                || (matches!(bytes.get(end), Some(b'.' | b',' | b'\'')) && is_digit(end + 1))
            {
                end += 1;
            } else if !is_glued && bytes.get(end) == Some(&b' ') && self.continues_in_groups(end) {
                end += 4;
            } else {
                break;
            }
        }
        let text: String =
            self.rest.get(..end).unwrap_or_default().chars().filter(|it| *it != ' ').collect();
        self.rest = self.rest.get(end..).unwrap_or_default();
        let value = Scaled::written(&text);
        self.out.push(Token::Number { text, value });
    }

    /// Whether a group of exactly three digits follows the space at `at`, as in `12 431`.
    fn continues_in_groups(&self, at: usize) -> bool {
        let bytes = self.rest.as_bytes();
        let head = self.rest.get(..at).unwrap_or_default();
        let group = bytes.get(at + 1..at + 4).is_some_and(|it| it.iter().all(u8::is_ascii_digit));
        let ends = !bytes.get(at + 4).is_some_and(|it| it.is_ascii_digit() || *it == b':');
        let first = head.split(' ').next().unwrap_or_default();
        let groups = head.split(' ').skip(1).all(|it| it.len() == 3);
        group && ends && groups && is_digits(first) && first.len() <= 3 && !first.starts_with('0')
    }

    fn word(&mut self, first: char) {
        let is_wide = is_east_asian(first);
        let mut end = first.len_utf8();
        let mut rest = self.rest.get(end..).unwrap_or_default().chars().peekable();
        while let Some(it) = rest.next() {
            let joins = it == '\'' && rest.peek().is_some_and(|it| it.is_alphabetic());
            let belongs = is_mark(it)
                || (it.is_alphabetic() && is_east_asian(it) == is_wide)
                || (joins && !is_wide);
            if !belongs {
                break;
            }
            end += it.len_utf8();
        }
        let word = self.rest.get(..end).unwrap_or_default();
        let is_upper = !word.chars().any(char::is_lowercase);
        let token = Token::Word { lower: word.to_lowercase(), is_upper };
        self.rest = self.rest.get(end..).unwrap_or_default();
        self.out.push(token);
    }
}

/// Whether the character is of a script that writes without spaces.
#[must_use]
pub fn is_east_asian(it: char) -> bool {
    matches!(u32::from(it), 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff)
}

fn is_mark(it: char) -> bool {
    matches!(u32::from(it), 0x300..=0x36f)
}

/// Whether the text is digits only.
#[must_use]
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// Words in a text; scripts without spaces have one for every two characters.
#[must_use]
pub fn words(plain: &str) -> usize {
    let wide = plain.chars().filter(|it| is_east_asian(*it)).count();
    let spaced = plain
        .split(|it: char| !it.is_alphanumeric() || is_east_asian(it))
        .filter(|it| it.chars().any(char::is_alphabetic));
    spaced.count().saturating_add(wide / 2)
}

/// Hexadecimal digits that make a hash.
const HEX_CHARS_MIN: usize = 7;
/// Letters and digits mixed that nobody reads as a word.
const RANDOM_CHARS_MIN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_cut(text: &str, expected: &str) {
        let tokens = cut(&plain(text)).into_iter().map(|it| match it {
            Token::Word { lower, .. } => lower,
            Token::Number { text, .. } => format!("#{text}"),
            Token::Sign(it) => it.to_string(),
            Token::Price(_) => "price".to_owned(),
            Token::Masked => "~".to_owned(),
        });
        assert_eq!(tokens.collect::<Vec<_>>().join(" "), expected, "{text:?}");
    }

    #[test]
    fn a_text_is_cut_into_words_numbers_and_signs() {
        check_cut("", "");
        check_cut("Up to 10 boats.", "up to #10 boats .");
        check_cut("“Don’t” — ＡＢ", "\" don't \" - ab");
        check_cut("12 431 crews, 1.290,50 €", "#12431 crews , #1.290,50 €");
        check_cut("p95 212 ms", "p #95 #212 ms");
        check_cut("月額980円から", "月額 #980 円から");
        check_cut("deploy 9f3c21ab at", "deploy ~ at");
        check_cut("in 2026 100 people", "in #2026 #100 people");
        check_cut("10 000 000 x 12 34", "#10000000 x #12 #34");
    }

    #[test]
    fn words_are_counted_in_every_script() {
        assert_eq!(words("One two 3 four's"), 4);
        assert_eq!(words("無料で始める"), 3);
        assert_eq!(words(""), 0);
    }
}
