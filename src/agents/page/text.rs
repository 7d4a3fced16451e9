//! Text of a page as a person would see it: white space, width, and what must not be printed.

/// Collapses white space as a browser does and trims it.
#[must_use]
pub fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(256));
    push_squeezed(&mut out, text);
    out.truncate(out.trim_end().len());
    out
}

/// Adds `text` to `out`, white space collapsed, also across the seam.
///
/// Trailing white space stays as one space, because more text may follow.
pub fn push_squeezed(out: &mut String, text: &str) {
    let mut in_space = out.is_empty() || out.ends_with(' ');
    for it in text.chars() {
        if it.is_whitespace() {
            if !in_space {
                out.push(' ');
            }
            in_space = true;
        } else {
            out.push(it);
            in_space = false;
        }
    }
}

/// The first `chars` characters, the last one replaced by `…` when there were more.
#[must_use]
pub fn clip(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The first part of `text` that is at most `columns` wide.
#[must_use]
pub fn clip_columns(text: &str, columns: usize) -> &str {
    let mut used: usize = 0;
    for (at, it) in text.char_indices() {
        used = used.saturating_add(char_columns(it));
        if used > columns {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}

/// Columns that `text` takes where East Asian wide characters take two.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

/// Whether at least half of the characters are wide, as in Chinese, Japanese and Korean.
#[must_use]
pub fn is_mostly_wide(text: &str) -> bool {
    let wide = text.chars().filter(|it| char_columns(*it) == 2).count();
    wide > 0 && wide.saturating_mul(2) >= text.chars().count()
}

/// Removes what a reader cannot see but a terminal, a chat or a model might obey: control
/// characters, direction marks, zero-width characters, tags. White space becomes single spaces.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_space = true;
    for it in text.chars() {
        if it.is_whitespace() {
            if !in_space {
                out.push(' ');
            }
            in_space = true;
        } else if !is_unseen(it) {
            out.push(it);
            in_space = false;
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Text of a page inside a sentence of ours: in backticks, without any of its own, not endless.
///
/// In Markdown that makes it code, where nothing is a link, a tag or emphasis.
#[must_use]
pub fn quote(text: &str) -> String {
    let plain = clip(&printable(text), QUOTED_CHARS_MAX).replace('`', "'");
    format!("`{plain}`")
}

fn is_unseen(it: char) -> bool {
    it.is_control()
        || matches!(
            it,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

fn char_columns(it: char) -> usize {
    match u32::from(it) {
        0..0x300 => 1,
        0x300..0x370 | 0x200b..0x2010 | 0xfe00..0xfe10 => 0,
        at if WIDE.iter().any(|(first, last)| (*first..=*last).contains(&at)) => 2,
        _ => 1,
    }
}

/// Characters of a page's text that a sentence repeats.
const QUOTED_CHARS_MAX: usize = 160;

/// Blocks whose characters take two columns, in order: first and last code point.
///
/// Source: Unicode's East Asian Width, whole blocks only.
const WIDE: [(u32, u32); 13] = [
    (0x1100, 0x115f),
    (0x2e80, 0x303e),
    (0x3041, 0x33ff),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xa000, 0xa4cf),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff00, 0xff60),
    (0xffe0, 0xffe6),
    (0x1f300, 0x1faff),
    (0x20000, 0x3fffd),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_collapses_across_seams() {
        assert_eq!(squeeze("  a\n\t b\u{a0}c  "), "a b c");
        let mut out = String::new();
        for part in [" one ", " two", "\n", "three "] {
            push_squeezed(&mut out, part);
        }
        assert_eq!(out, "one two three ");
    }

    #[test]
    fn a_cut_text_says_so_and_never_grows() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(clip("äöüß", 3), "äö…");
        assert_eq!(clip("ab", 0), "…");
        assert_eq!(clip_columns("水の博物館", 5), "水の");
        assert_eq!(clip_columns("ab", 5), "ab");
    }

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        assert_eq!(columns("Museum"), 6);
        assert_eq!(columns("水の博物館"), 10);
        assert_eq!(columns("e\u{301}"), 1);
        assert!(is_mostly_wide("水の博物館 2026"));
        assert!(!is_mostly_wide("Museum 水"));
        assert!(!is_mostly_wide(""));
    }

    #[test]
    fn quoted_text_cannot_end_its_quotes() {
        assert_eq!(quote("a` <b> `c"), "`a' <b> 'c`");
        assert_eq!(quote(&"x".repeat(500)).chars().count(), QUOTED_CHARS_MAX + 2);
    }

    #[test]
    fn nothing_unseen_is_printed() {
        let sly = "a\u{202e}b\u{200b}\u{feff}c\u{e0041}\u{7}\u{1b}[31m\r\nd\u{2066}";
        assert_eq!(printable(sly), "abc[31m d");
    }
}
