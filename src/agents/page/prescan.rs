//! A linear look at a page's source before the parser sees it.
//!
//! The tokenizer compares every attribute of a tag with all before it, so a tag with 60,000
//! attributes would keep it busy for a long time. This pass finds such tags and says which bytes
//! to leave out. It reads tags as the tokenizer does, without its finer points: where the two
//! disagree, the parser's own deadline holds.

use std::ops::Range;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Ranges of bytes to leave out, in order: the attributes past [`ATTRIBUTES_MAX`] of a tag.
    pub cuts: Vec<Range<usize>>,
    /// The most attributes that one tag has.
    pub attributes: usize,
}

/// Looks through the source once.
#[must_use]
pub fn scan(text: &str) -> Scan {
    let mut scan = Scan::default();
    let mut at: usize = 0;
    while let Some(found) = find(text, at, "<") {
        at = match text.as_bytes().get(found.saturating_add(1)) {
            Some(b'!') if text.get(found..).is_some_and(|it| it.starts_with("<!--")) => {
                find(text, found.saturating_add(4), "-->")
                    .map_or(text.len(), |it| it.saturating_add(3))
            }
            Some(b'/') if is_letter(text, found.saturating_add(2)) => {
                tag(text, found.saturating_add(2), &mut scan)
            }
            Some(b'!' | b'?' | b'/') => past(text, found, b'>'),
            Some(it) if it.is_ascii_alphabetic() => {
                let end = tag(text, found.saturating_add(1), &mut scan);
                raw_text_end(text, found, end)
            }
            Some(_) | None => found.saturating_add(1),
        };
    }
    scan
}

/// Reads a tag whose name begins at `at`; answers where it ends, at the latest with the text.
fn tag(text: &str, at: usize, scan: &mut Scan) -> usize {
    let bytes = text.as_bytes();
    let mut at = skip_until(bytes, at, |it| it.is_ascii_whitespace() || matches!(it, b'/' | b'>'));
    let mut count: usize = 0;
    let mut cut_from = None;
    loop {
        at = skip_until(bytes, at, |it| !it.is_ascii_whitespace() && it != b'/');
        if matches!(bytes.get(at), None | Some(b'>')) {
            break;
        }
        if count == ATTRIBUTES_MAX {
            cut_from = Some(at);
        }
        count = count.saturating_add(1);
        at = attribute(bytes, at);
    }
    scan.attributes = scan.attributes.max(count);
    scan.cuts.extend(cut_from.map(|from| from..at));
    at.saturating_add(1).min(bytes.len())
}

/// Where the attribute that begins at `at` ends.
fn attribute(bytes: &[u8], at: usize) -> usize {
    let is_end = |it: u8| it.is_ascii_whitespace() || matches!(it, b'/' | b'>' | b'=');
    // An equals sign at the start is part of the name.
    let name_end = skip_until(bytes, at.saturating_add(1), is_end);
    let equals = skip_until(bytes, name_end, |it| !it.is_ascii_whitespace());
    if bytes.get(equals) != Some(&b'=') {
        return name_end;
    }
    let value = skip_until(bytes, equals.saturating_add(1), |it| !it.is_ascii_whitespace());
    match bytes.get(value) {
        Some(quote @ (b'"' | b'\'')) => {
            let close = skip_until(bytes, value.saturating_add(1), |it| it == *quote);
            close.saturating_add(1).min(bytes.len())
        }
        Some(_) | None => skip_until(bytes, value, |it| it.is_ascii_whitespace() || it == b'>'),
    }
}

/// Where markup goes on after the tag from `start` to `end`: past the text of a `script`.
fn raw_text_end(text: &str, start: usize, end: usize) -> usize {
    let tag = text.get(start.saturating_add(1)..end).unwrap_or_default();
    let is_end = |it: char| it.is_ascii_whitespace() || matches!(it, '/' | '>');
    let name = tag.split(is_end).next().unwrap_or_default();
    let Some(name) = RAW_TEXT.iter().find(|it| it.eq_ignore_ascii_case(name)) else {
        return end;
    };
    let mut at = end;
    while let Some(found) = find(text, at, "</") {
        at = found.saturating_add(2);
        let closing = text.as_bytes().get(at..at.saturating_add(name.len()));
        if closing.is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes())) {
            return found;
        }
    }
    text.len()
}

fn is_letter(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_alphabetic)
}

fn find(text: &str, from: usize, wanted: &str) -> Option<usize> {
    let found = text.get(from..)?.find(wanted)?;
    Some(from.saturating_add(found))
}

fn past(text: &str, from: usize, end: u8) -> usize {
    skip_until(text.as_bytes(), from, |it| it == end).saturating_add(1).min(text.len())
}

fn skip_until(bytes: &[u8], from: usize, is_end: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let length = rest.iter().position(|it| is_end(*it)).unwrap_or(rest.len());
    from.saturating_add(length).min(bytes.len())
}

/// Attributes of a tag that are read; the rest of the tag is left out.
pub const ATTRIBUTES_MAX: usize = 500;
/// Elements whose content is text up to their closing tag.
const RAW_TEXT: [&str; 9] =
    ["script", "style", "textarea", "title", "noscript", "iframe", "noembed", "noframes", "xmp"];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, attributes: usize) {
        let found = scan(text);
        assert_eq!((found.attributes, found.cuts), (attributes, vec![]), "{text:?}");
    }

    #[test]
    fn attributes_are_counted_as_the_tokenizer_reads_them() {
        check("", 0);
        check("a < b and c > d", 0);
        check("<p>", 0);
        check("<p a b=1 c = 'x y > z' d=\"<q r s t u>\"/e>", 5);
        check("<!-- <p a b c> --><p a>", 1);
        check("<!-- <p a b c>", 0);
        check("<!doctype html a b c><?x a b?><p a>", 1);
        check("</p a b>", 2);
        check("<script>if (a<b c d) {}</script ><p a>", 1);
        check("<title><p a b></title>", 0);
        check("<p a b", 2);
        check("<p a='", 1);
        check("<p =a==b>", 1);
    }

    #[test]
    fn what_is_too_much_is_cut_out_of_the_tag() {
        let attributes: String = (0..600).map(|it| format!(" a{it}=1")).collect();
        let text = format!("<p>é</p><div{attributes}>text<p b>");
        let found = scan(&text);
        assert_eq!(found.attributes, 600);
        let [cut] = found.cuts.as_slice() else { panic!("{:?}", found.cuts) };
        assert!(text[cut.clone()].starts_with("a500=1") && text[cut.end..].starts_with(">text"));
        let open = scan(&text[..cut.end]);
        assert_eq!(open.cuts, std::slice::from_ref(cut));
    }

    #[test]
    fn a_megabyte_of_anything_is_looked_through_at_once() {
        for part in ["<", "<a ", "<a b='", "</", "<!--", "<script>", "<title></titl", "<a =", "<?"]
        {
            let text = part.repeat(1_000_000 / part.len());
            let _ = scan(&text);
        }
    }

    proptest! {
        #[test]
        fn cuts_are_in_order_and_between_characters(
            text in "([<>/='\" a-cé]|<script|</|<!--|-->){0,200}",
        ) {
            let found = scan(&text);
            prop_assert!(found.cuts.windows(2).all(|it| it[0].end <= it[1].start));
            prop_assert!(found.cuts.iter().all(|it| text.get(it.clone()).is_some()));
        }
    }
}
