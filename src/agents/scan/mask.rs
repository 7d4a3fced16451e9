//! Masks what changes by itself: dates, clocks, ages, countdowns, build numbers.
//!
//! Works on tokens, one look at each place, so it is linear in the text.

use crate::agents::scan::calendar::{
    AGO_AFTER, AGO_BEFORE, BUILD, HALVES, MONTHS, NEAR_DAYS, SHORT_WEEKDAYS, UNITS, WEEKDAYS,
};
use crate::agents::scan::token::Token;

/// Puts a mask in the place of everything that changes by itself.
#[must_use]
pub fn mask(tokens: &[Token]) -> Vec<Token> {
    let seen = View(tokens);
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let used = seen.masked_at(at);
        let used = if used == 0 && is_year_of_rights(&out, token) { 1 } else { used };
        if used == 0 {
            out.push(token.clone());
            at += 1;
        } else {
            if out.last() != Some(&Token::Masked) {
                out.push(Token::Masked);
            }
            at += used;
        }
    }
    mask_short_weekdays(&mut out);
    out
}

/// Whether a year follows the sign of copyright, or another such year.
fn is_year_of_rights(before: &[Token], token: &Token) -> bool {
    if !is_year(token) {
        return false;
    }
    let mut near = before.iter().rev().take(4);
    let is_mark = |it: &Token| {
        it.is_sign('©')
            || it.is_sign('℗')
            || matches!(it.word(), Some("copyright" | "c" | "rights"))
    };
    let has_mark = near.clone().any(is_mark);
    let range = before.len() >= 2
        && near.next().is_some_and(|it| it.is_sign('-'))
        && near.next() == Some(&Token::Masked);
    has_mark || range
}

/// `Tue` and the like count as part of the date or clock they stand beside.
fn mask_short_weekdays(out: &mut [Token]) {
    let is_short = |it: &Token| it.word().is_some_and(|it| SHORT_WEEKDAYS.contains(&it));
    let is_glue = |it: &Token| matches!(it, Token::Sign(',' | '.' | '-' | '/' | '&'));
    for at in (0..out.len()).rev() {
        let next = out.iter().skip(at + 1).find(|it| !is_glue(it));
        let beside = next == Some(&Token::Masked);
        if let Some(token) = out.get_mut(at).filter(|it| beside && is_short(it)) {
            *token = Token::Masked;
        }
    }
}

struct View<'a>(&'a [Token]);

impl View<'_> {
    /// How many tokens from `at` on are to be masked.
    fn masked_at(&self, at: usize) -> usize {
        let rules = [
            Self::iso_date,
            Self::countdown,
            Self::clock,
            Self::ago,
            Self::date,
            Self::month_and_year,
            Self::east_asian_date,
            Self::build,
            Self::dotted_date,
            Self::near_day,
        ];
        rules.iter().map(|rule| rule(self, at)).find(|it| *it > 0).unwrap_or(0)
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.0.get(at).and_then(Token::word)
    }

    fn is_word(&self, at: usize, list: &[&str]) -> bool {
        self.word(at).is_some_and(|it| list.contains(&it))
    }

    fn sign(&self, at: usize, signs: &[char]) -> bool {
        matches!(self.0.get(at), Some(Token::Sign(it)) if signs.contains(it))
    }

    /// Whether there are digits at `at`, at most so many.
    fn digits(&self, at: usize, most: usize) -> bool {
        self.0.get(at).and_then(Token::digits).is_some_and(|it| it.len() <= most)
    }

    fn year(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(is_year)
    }

    /// `2026-11-20`, and a time after it.
    fn iso_date(&self, at: usize) -> usize {
        let marks = ['-', '/'];
        let is_date = self.year(at)
            && self.sign(at + 1, &marks)
            && self.digits(at + 2, 2)
            && self.sign(at + 3, &marks)
            && self.digits(at + 4, 2);
        if !is_date {
            return 0;
        }
        let t = usize::from(self.is_word(at + 5, &["t"]));
        let clock = self.clock(at + 5 + t);
        if clock > 0 { 5 + t + clock } else { 5 }
    }

    /// `21:44:07`, `14 h 30`, `14 Uhr`, `9 am`.
    fn clock(&self, at: usize) -> usize {
        if !self.digits(at, 2) {
            return 0;
        }
        let mut used = 1;
        if self.sign(at + 1, &[':']) && self.digits(at + 2, 2) {
            used = 3;
            if self.sign(at + 3, &[':']) {
                used = 5;
            }
            if let Some(Token::Number { text, .. }) = self.0.get(at + 4)
                && used == 5
                && !text.starts_with(|it: char| it.is_ascii_digit())
            {
                used = 3;
            }
        } else if self.is_word(at + 1, &["h"]) && self.digits(at + 2, 2) {
            used = 3;
        }
        if self.is_word(at + used, HALVES) {
            return used + 1;
        }
        if used > 1 { used } else { 0 }
    }

    /// `2 h 13 min 5 s`: at least two numbers with different units.
    fn countdown(&self, at: usize) -> usize {
        let mut used = 0;
        let mut parts = 0;
        while self.digits(at + used, 3) && self.is_word(at + used + 1, UNITS) {
            parts += 1;
            used += 2;
            if self.is_word(at + used, &["and", "und", "et", "y", "e", "en"])
                || self.sign(at + used, &[',', ':'])
            {
                used += 1;
            }
        }
        if parts >= 2 { used } else { 0 }
    }

    /// `3 hours ago`, `vor 3 Stunden`, `il y a 2 jours`, `3日前`.
    fn ago(&self, at: usize) -> usize {
        let is_count = |at: usize| {
            self.digits(at, 3)
                || self.is_word(at, &["a", "an", "one", "einer", "einem", "un", "une", "una"])
        };
        let is_unit = |at: usize| self.is_word(at, UNITS);
        if is_count(at) && is_unit(at + 1) && self.is_word(at + 2, AGO_AFTER) {
            return 3;
        }
        if self.digits(at, 3)
            && self.word(at + 1).is_some_and(|it| {
                it.contains('前')
                    && it.starts_with(['秒', '分', '時', '日', '週', 'か', 'ヶ', '年'])
            })
        {
            return 2;
        }
        let before = if self.is_word(at, AGO_BEFORE) {
            1
        } else if self.is_word(at, &["il"]) && self.is_word(at + 1, &["y"]) {
            3
        } else {
            return 0;
        };
        let about = usize::from(self.is_word(at + before, &["etwa", "ca", "environ"]));
        if is_count(at + before + about) && is_unit(at + before + about + 1) {
            before + about + 2
        } else {
            0
        }
    }

    /// `20 November 2026`, `24. November`, `Nov 20, 2026`, `20 de noviembre de 2026`.
    fn date(&self, at: usize) -> usize {
        let day = |at: usize| {
            if !self.digits(at, 2) {
                return 0;
            }
            let mark = self.sign(at + 1, &['.'])
                || self.is_word(at + 1, &["st", "nd", "rd", "th", "er", "º"]);
            1 + usize::from(mark)
        };
        let of = |at: usize| usize::from(self.is_word(at, &["de", "of", "di"]));
        let mut used = day(at);
        if used > 0 {
            used += of(at + used);
            if !self.is_word(at + used, MONTHS) {
                return 0;
            }
            used += 1;
        } else if self.is_word(at, MONTHS) {
            used = 1 + usize::from(self.sign(at + 1, &['.']));
            match day(at + used) {
                0 => return 0,
                more => used += more,
            }
        } else {
            return 0;
        }
        let glue = usize::from(self.sign(at + used, &[',', '.'])) + of(at + used);
        if self.year(at + used + glue) { used + glue + 1 } else { used }
    }

    /// `November 2026`.
    fn month_and_year(&self, at: usize) -> usize {
        let of = usize::from(self.is_word(at + 1, &["de"]) || self.sign(at + 1, &['.']));
        let is_one = self.is_word(at, MONTHS) && self.year(at + 1 + of);
        if is_one { 2 + of } else { 0 }
    }

    /// `2026年11月20日`, `11月20日`, `21時30分`.
    fn east_asian_date(&self, at: usize) -> usize {
        let unit = |at: usize, unit: char| self.word(at).is_some_and(|it| it.starts_with(unit));
        let pair = |at: usize, first: char, second: char| {
            self.digits(at, 4)
                && unit(at + 1, first)
                && self.digits(at + 2, 2)
                && unit(at + 3, second)
        };
        if pair(at, '年', '月') && self.digits(at + 4, 2) && unit(at + 5, '日') {
            6
        } else if pair(at, '年', '月') || pair(at, '月', '日') || pair(at, '時', '分') {
            4
        } else {
            0
        }
    }

    /// `build 2026.11.20-4412`, `deploy 9f3c21ab`.
    fn build(&self, at: usize) -> usize {
        if !self.is_word(at, BUILD) {
            return 0;
        }
        let mut used = 1;
        let mut has_number = false;
        while used < BUILD_TOKENS_MAX {
            match self.0.get(at + used) {
                Some(Token::Masked | Token::Number { .. }) => has_number = true,
                Some(Token::Sign('.' | '-' | '_' | '#' | ':' | '+')) => {}
                Some(Token::Word { lower, .. }) if lower.len() <= 1 && has_number => {}
                Some(_) | None => break,
            }
            used += 1;
        }
        if has_number { used } else { 0 }
    }

    /// `20.11.2026`, `11/20/2026`.
    fn dotted_date(&self, at: usize) -> usize {
        if let Some(Token::Number { text, .. }) = self.0.get(at) {
            let parts: Vec<&str> = text.split('.').collect();
            let lengths: Vec<usize> = parts.iter().map(|it| it.len()).collect();
            let is_date = matches!(lengths.as_slice(), [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2]);
            let is_day = |it: &str| it.parse().is_ok_and(|it: u32| (1..=31).contains(&it));
            let days = parts.iter().filter(|it| it.len() <= 2 && is_day(it)).count();
            if is_date && days >= 2 && lengths.contains(&4) {
                return 1;
            }
        }
        let is_slashed = self.digits(at, 2)
            && self.sign(at + 1, &['/', '-'])
            && self.digits(at + 2, 2)
            && self.sign(at + 3, &['/', '-'])
            && self.year(at + 4);
        if is_slashed { 5 } else { 0 }
    }

    /// `today`, `Tuesday`.
    fn near_day(&self, at: usize) -> usize {
        usize::from(self.is_word(at, NEAR_DAYS) || self.is_word(at, WEEKDAYS))
    }
}

fn is_year(token: &Token) -> bool {
    let year = token.digits().filter(|it| it.len() == 4);
    year.and_then(|it| it.parse().ok()).is_some_and(|it: u32| (1990..=2100).contains(&it))
}

/// Tokens of a build number.
const BUILD_TOKENS_MAX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::scan::token::{cut, plain};

    fn shown(text: &str) -> String {
        let words = mask(&cut(&plain(text))).into_iter().map(|it| match it {
            Token::Word { lower, .. } => lower,
            Token::Number { text, .. } => text,
            Token::Sign(it) => it.to_string(),
            Token::Price(it) => it.to_string(),
            Token::Masked => "~".to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check_mask(text: &str, expected: &str) {
        assert_eq!(shown(text), expected, "{text:?}");
    }

    #[test]
    fn dates_and_clocks_are_masked() {
        check_mask("Friday, 20 November 2026 21:44:07", "~ , ~");
        check_mask("Next demo: Tue 24 Nov, 10:00", "next demo : ~ ~ , ~");
        check_mask("Lieferung am Dienstag, 24. November.", "lieferung am ~ , ~ .");
        check_mask("2026-11-20T21:40:11Z", "~");
        check_mask("Nov 20th, 2026 at 9 am", "~ at ~");
        check_mask("le 3 décembre 2026 à 14 h 30", "le ~ à ~");
        check_mask("20.11.2026 and 11/20/2026", "~ and ~");
        check_mask("2026年11月20日更新", "~");
        check_mask("el 20 de noviembre de 2026", "el ~");
    }

    #[test]
    fn ages_and_countdowns_are_masked() {
        check_mask("posted 3 hours ago", "posted ~");
        check_mask("an hour ago", "~");
        check_mask("vor etwa 5 Stunden", "~");
        check_mask("il y a 2 jours", "~");
        check_mask("3日前に公開", "~");
        check_mask("ends in 2 h 13 min 5 s", "ends in ~");
        check_mask("© 2019-2026 Boats", "© ~ - ~ boats");
        check_mask("build 2026.11.20-4412", "~");
        check_mask("Last deploy 9f3c21ab at 2026-11-20", "last ~ at ~");
    }

    #[test]
    fn what_an_offer_says_is_not_masked() {
        for text in ["14-day free trial", "within 30 days", "24 h support", "open 7 days", "v2.3.1"]
        {
            assert!(!shown(text).contains('~'), "{text}: {}", shown(text));
        }
    }
}
