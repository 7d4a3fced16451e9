//! A table as comma-separated values, for spreadsheets. Source: RFC 4180.
//!
//! A text that a spreadsheet would take for a formula gets an apostrophe in front, so that nobody's
//! words are calculated with. Source: OWASP, "CSV Injection".

use std::borrow::Cow;

/// One cell of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    /// What we made: a number, a time, an id.
    Ours(&'a str),
    /// What somebody wrote.
    Theirs(&'a str),
}

/// A line with its end.
pub(super) fn line(cells: &[Cell<'_>]) -> String {
    let cells: Vec<Cow<'_, str>> = cells.iter().map(|it| written(*it)).collect();
    cells.join(",") + "\r\n"
}

fn written(cell: Cell<'_>) -> Cow<'_, str> {
    let text = match cell {
        Cell::Ours(text) => Cow::Borrowed(text),
        Cell::Theirs(text) if is_formula(text) => Cow::Owned(format!("'{text}")),
        Cell::Theirs(text) => Cow::Borrowed(text),
    };
    if text.contains([',', '"', '\r', '\n']) {
        return Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")));
    }
    text
}

/// Whether a spreadsheet may calculate with a text.
fn is_formula(text: &str) -> bool {
    // Some take the wide forms of the signs as well, and some skip spaces.
    text.starts_with(['\t', '\r', '\n']) || text.trim_start().starts_with(FORMULA_SIGNS)
}

/// With what a formula begins.
const FORMULA_SIGNS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(line(&[Cell::Theirs(text)]), format!("{expected}\r\n"), "{text:?}");
    }

    #[test]
    fn a_formula_is_a_text() {
        check("=1+1", "'=1+1");
        check("+1", "'+1");
        check("-1", "'-1");
        check("@SUM(A1)", "'@SUM(A1)");
        check("  =1", "'  =1");
        check("\t=1", "'\t=1");
        check("\tx", "'\tx");
        check("＝1", "'＝1");
        check("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
        check("a=1", "a=1");
        check("", "");
    }

    #[test]
    fn signs_of_the_form_are_quoted() {
        check("a,b", "\"a,b\"");
        check("say \"hi\"", "\"say \"\"hi\"\"\"");
        check("two\nlines", "\"two\nlines\"");
        check("two\r\nlines", "\"two\r\nlines\"");
        check("plain ü", "plain ü");
    }

    #[test]
    fn our_own_numbers_stay_numbers() {
        assert_eq!(line(&[Cell::Ours("7"), Cell::Ours("-0.02"), Cell::Ours("")]), "7,-0.02,\r\n");
    }
}
