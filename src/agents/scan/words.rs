//! Writing text of a page into Markdown: as code, so that nothing of it is alive.

use crate::agents::page::text::{clip, quote};

/// Text of a page in a sentence, at most `chars` characters.
#[must_use]
pub fn said(text: &str, chars: usize) -> String {
    quote(&clip(text, chars))
}

/// Text of a page in a cell of a table; a dash for nothing.
#[must_use]
pub fn cell(text: &str, chars: usize) -> String {
    if text.trim().is_empty() { "–".to_owned() } else { said(text, chars).replace('|', "\\|") }
}

/// Words in a cell, each as code; a dash for none.
#[must_use]
pub fn cells<'a>(texts: impl Iterator<Item = &'a str>, most: usize) -> String {
    list(texts, most).replace('|', "\\|")
}

/// Words in a line, each as code; a dash for none.
#[must_use]
pub fn list<'a>(texts: impl Iterator<Item = &'a str>, most: usize) -> String {
    let all: Vec<&str> = texts.filter(|it| !it.trim().is_empty()).collect();
    let shown: Vec<String> = all.iter().take(most).map(|it| said(it, WORD_CHARS_MAX)).collect();
    match all.len().saturating_sub(most) {
        _ if all.is_empty() => "–".to_owned(),
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A row of a table.
#[must_use]
pub fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The line under the head of a table.
#[must_use]
pub fn rule(columns: usize) -> String {
    format!("|{}\n", " --- |".repeat(columns))
}

/// Characters of a word in a list.
const WORD_CHARS_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_page_is_alive_in_a_table() {
        assert_eq!(cell("a | `b` <i>", 40), "`a \\| 'b' <i>`");
        assert_eq!(cell(" ", 40), "–");
        assert_eq!(cells(["a", "b", "c"].into_iter(), 2), "`a`, `b` and 1 more");
        assert_eq!(cells(["a | b"].into_iter(), 2), "`a \\| b`");
        assert_eq!(list(["a | b"].into_iter(), 2), "`a | b`");
        assert_eq!(row(["x".to_owned(), "y".to_owned()]) + &rule(2), "| x | y |\n| --- | --- |\n");
    }
}
