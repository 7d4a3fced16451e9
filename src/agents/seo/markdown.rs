//! Writing Markdown in which nothing of a page is alive.
//!
//! Text of a page stands in backticks and nowhere else; sentences of ours have everything else
//! escaped. So no link, tag or emphasis of a page survives, whoever shows the report.

use crate::agents::seo::finding::Source;

/// A sentence of ours, in which parts in backticks stay code and the rest is only text.
#[must_use]
pub fn prose(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len().saturating_add(16));
    for (at, part) in sentence.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        if at % 2 == 1 {
            out.push_str(part);
            continue;
        }
        for it in part.chars() {
            if SPECIAL.contains(it) {
                out.push('\\');
            }
            out.push(it);
        }
    }
    out
}

/// A link to the document behind a rule; the addresses are ours.
#[must_use]
pub fn source(source: Source) -> String {
    match source.url {
        Some(url) => format!("[{}]({url})", source.name),
        None => source.name.to_owned(),
    }
}

/// Number and noun: `1 fault`, `2 faults`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Signs that mean something in Markdown.
const SPECIAL: &str = "\\<>[]*_|#~&";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::text::quote;

    #[test]
    fn only_code_survives_in_a_sentence() {
        assert_eq!(prose("a `b_c` d"), "a `b_c` d");
        assert_eq!(prose("<b> [x](y) *z*"), "\\<b\\> \\[x\\](y) \\*z\\*");
        let sly = quote("` <script> [x](javascript:1) `");
        assert_eq!(prose(&format!("It is {sly}.")), "It is `' <script> [x](javascript:1) '`.");
    }

    #[test]
    fn nouns_agree_with_their_numbers() {
        assert_eq!([0, 1, 2].map(|it| count(it, "fault")), ["0 faults", "1 fault", "2 faults"]);
    }
}
