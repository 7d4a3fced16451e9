//! A text in the forms in which it is compared: as shown, as a key, as a template.

use serde::{Deserialize, Serialize};

use crate::agents::page::text::clip;
use crate::agents::scan::amount::Scaled;
use crate::agents::scan::mask::mask;
use crate::agents::scan::price::{Price, read_prices};
use crate::agents::scan::token::{Token, cut, plain};

/// A text, read.
///
/// It is stored as it is shown and read again when it is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Text {
    /// As a reader sees it, in one spelling, not endless.
    pub shown: String,
    /// What is compared: equal for texts that say the same.
    pub key: String,
    /// The key with every number left open.
    pub template: String,
    /// The numbers, in order.
    pub numbers: Vec<Scaled>,
    /// The prices, in order.
    pub prices: Vec<Price>,
}

impl Text {
    /// Reads a text of a page.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let shown = clip(&plain(text), TEXT_CHARS_MAX);
        let tokens = read_prices(mask(&cut(&shown)));
        let mut read = Self { shown, ..Self::default() };
        for token in tokens {
            match token {
                Token::Word { lower, .. } => {
                    push(&mut read.key, &lower);
                    push(&mut read.template, &lower);
                }
                Token::Number { value, .. } => {
                    push(&mut read.key, &value.as_money());
                    push(&mut read.template, "#");
                    read.numbers.push(value);
                }
                Token::Price(price) => {
                    push(&mut read.key, &price.key());
                    push(&mut read.template, "¤");
                    read.prices.push(price);
                }
                Token::Sign(sign) if SIGNS.contains(&sign) => {
                    push(&mut read.key, sign.encode_utf8(&mut [0; 4]));
                    push(&mut read.template, sign.encode_utf8(&mut [0; 4]));
                }
                Token::Sign(_) => {}
                Token::Masked => {
                    if !read.key.ends_with('~') {
                        push(&mut read.key, "~");
                        push(&mut read.template, "~");
                    }
                }
            }
        }
        read
    }

    /// Whether it says nothing but dates and signs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.key.chars().all(|it| !it.is_alphanumeric())
    }

    /// The text in lower case.
    #[must_use]
    pub fn lower(&self) -> String {
        self.shown.to_lowercase()
    }

    /// What stands before the first price.
    #[must_use]
    pub fn before_price(&self) -> String {
        let before = self.template.split('¤').next().unwrap_or_default();
        before.trim().to_owned()
    }
}

impl From<String> for Text {
    fn from(shown: String) -> Self {
        Self::of(&shown)
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.shown
    }
}

fn push(to: &mut String, word: &str) {
    if !to.is_empty() {
        to.push(' ');
    }
    to.push_str(word);
}

/// Signs that mean something by themselves.
const SIGNS: [char; 6] = ['%', '°', '+', '#', '∞', '@'];
/// Characters of one text that are looked at.
const TEXT_CHARS_MAX: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_same(one: &str, other: &str) {
        assert_eq!(Text::of(one).key, Text::of(other).key, "{one:?} and {other:?}");
    }

    #[test]
    fn texts_that_say_the_same_have_the_same_key() {
        check_same("“Calm” screen.", "\"calm\"  screen");
        check_same("$29 / month", "$29.00 /month");
        check_same("Up to 10 boats", "Up\u{a0}to 10 boats");
        check_same("Updated 3 hours ago", "Updated 2 days ago");
        check_same("© 2025 Ltd. build 2026.11.20-4412", "© 2026 Ltd. build 2026.11.21-4430");
        check_same("Open 12 – 18", "open 12 - 18");
    }

    #[test]
    fn numbers_and_prices_are_left_open_in_a_template() {
        let text = Text::of("From $29 / month for 1,204 boats");
        assert_eq!(text.template, "from ¤ month for # boats");
        assert_eq!((text.numbers.len(), text.prices.len()), (1, 1));
        assert_eq!(text.before_price(), "from");
        assert_ne!(text.key, Text::of("From $29 / month for 1,205 boats").key);
        assert_ne!(Text::of("$29 / month").key, Text::of("$29 / year").key);
    }

    #[test]
    fn a_date_says_nothing() {
        assert!(Text::of("20 November 2026").is_empty() && Text::of(" - ").is_empty());
        assert!(!Text::of("24 h").is_empty());
    }
}
