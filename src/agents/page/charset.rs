//! Bytes to text: which encoding a page is in, who says so, and whether that is true.
//!
//! A byte order mark beats the header, the header beats the page's own words, and only when all
//! are silent the bytes are guessed from. Source: HTML standard, "Determining the character
//! encoding".

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED,
};

use crate::agents::page::media::Kind;

/// A page as text, and how it became that.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The text, without byte order mark; what could not be decoded is U+FFFD.
    pub text: String,
    /// The encoding that was used.
    pub encoding: &'static Encoding,
    /// Who named it.
    pub named_by: NamedBy,
    /// The label in the header, as written.
    pub header: Option<String>,
    /// The label in the page's first [`DECLARATION_BYTES`] bytes, as written.
    pub page: Option<String>,
    /// The offset of the first byte that is not of this encoding.
    pub bad_at: Option<usize>,
    /// What the bytes look like, when they contradict the encoding.
    pub looks_like: Option<&'static Encoding>,
}

/// Who named an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// A byte order mark.
    Mark,
    /// The `Content-Type` header.
    Header,
    /// A `meta` element, or the XML declaration of XHTML.
    Page,
    /// Nobody in HTML; XHTML is UTF-8 then.
    Default,
    /// Nobody; it was guessed from the bytes.
    Guess,
}

/// Decodes a page. `header` is the label of the `Content-Type` header.
#[must_use]
pub fn decode(bytes: &[u8], header: Option<&str>, kind: Kind) -> Decoded {
    let page = declared_in_page(bytes, kind);
    let label = |it: Option<&str>| it.and_then(|it| Encoding::for_label(it.as_bytes()));
    let marked = Encoding::for_bom(bytes);
    let (encoding, named_by) = match (marked, label(header), label(page.as_deref())) {
        (Some((encoding, _)), _, _) => (encoding, NamedBy::Mark),
        (None, Some(encoding), _) => (encoding, NamedBy::Header),
        (None, None, Some(encoding)) => (readable_by_now(encoding), NamedBy::Page),
        (None, None, None) if kind == Kind::Xhtml => (UTF_8, NamedBy::Default),
        (None, None, None) => (guess(bytes), NamedBy::Guess),
    };
    let content = bytes.get(marked.map_or(0, |(_, length)| length)..).unwrap_or_default();
    let (text, bad_at) = decode_all(content, encoding);
    let looks_like = match named_by {
        NamedBy::Header | NamedBy::Page => contradiction(content, encoding),
        NamedBy::Mark | NamedBy::Default | NamedBy::Guess => None,
    };
    let header = header.map(str::to_owned);
    Decoded { text, encoding, named_by, header, page, bad_at, looks_like }
}

/// A page that could be read up to a `meta` cannot be in the encodings that need two bytes for it.
fn readable_by_now(encoding: &'static Encoding) -> &'static Encoding {
    match encoding {
        it if it == UTF_16BE || it == UTF_16LE => UTF_8,
        it if it == X_USER_DEFINED => WINDOWS_1252,
        it => it,
    }
}

fn decode_all(bytes: &[u8], encoding: &'static Encoding) -> (String, Option<usize>) {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(bytes.len().saturating_add(16));
    let mut read: usize = 0;
    let mut bad_at = None;
    loop {
        let rest = bytes.get(read..).unwrap_or_default();
        let (result, used) = decoder.decode_to_string_without_replacement(rest, &mut text, true);
        read = read.saturating_add(used);
        match result {
            DecoderResult::InputEmpty => return (text, bad_at),
            DecoderResult::OutputFull => text.reserve(bytes.len().max(64)),
            DecoderResult::Malformed(length, after) => {
                let bad = usize::from(length).saturating_add(usize::from(after));
                bad_at = bad_at.or_else(|| Some(read.saturating_sub(bad)));
                // The decoder never fills the last three bytes that it was given room for.
                text.push('\u{fffd}');
            }
        }
    }
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    detector(bytes).guess(None, Utf8Detection::Allow)
}

/// What the bytes look like, when that is strong evidence against their label.
///
/// Single-byte encodings are too alike to tell apart in a short text; what can be told is UTF-8
/// under a legacy label, and an encoding of East Asia under a single-byte label.
fn contradiction(bytes: &[u8], encoding: &'static Encoding) -> Option<&'static Encoding> {
    if bytes.is_ascii() || encoding == UTF_16LE || encoding == UTF_16BE {
        return None;
    }
    if encoding == UTF_8 {
        let is_true = std::str::from_utf8(bytes).is_ok();
        return (!is_true).then(|| detector(bytes).guess(None, Utf8Detection::Deny));
    }
    if std::str::from_utf8(bytes).is_ok() {
        return Some(UTF_8);
    }
    let is_enough = bytes.iter().filter(|it| !it.is_ascii()).count() >= EVIDENCE_BYTES_MIN;
    let found = detector(bytes).guess(None, Utf8Detection::Deny);
    (is_enough && encoding.is_single_byte() && !found.is_single_byte()).then_some(found)
}

fn detector(bytes: &[u8]) -> EncodingDetector {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    // Most pages begin with a long head in ASCII; the evidence starts at the first other byte.
    let first = bytes.iter().position(|it| !it.is_ascii()).unwrap_or(0);
    let from = first.saturating_sub(4);
    let sample = bytes.get(from..).unwrap_or_default();
    let sample = sample.get(..SAMPLE_BYTES_MAX).unwrap_or(sample);
    detector.feed(sample, sample.len() < SAMPLE_BYTES_MAX);
    detector
}

/// The label that the page itself gives in its first bytes.
fn declared_in_page(bytes: &[u8], kind: Kind) -> Option<String> {
    let head = bytes.get(..DECLARATION_BYTES).unwrap_or(bytes);
    match kind {
        Kind::Xhtml => xml_declaration(head),
        Kind::Html | Kind::Other => meta_label(head),
    }
}

fn xml_declaration(head: &[u8]) -> Option<String> {
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    let text = head.strip_prefix(b"<?xml")?;
    let end = text.windows(2).position(|it| it == b"?>")?;
    let text = String::from_utf8_lossy(text.get(..end)?).into_owned();
    let (_, after) = text.split_once("encoding")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    value.get(1..)?.split(quote).next().map(str::to_owned)
}

/// The first label in a `meta` element, comments left out.
fn meta_label(head: &[u8]) -> Option<String> {
    let text: String = head.iter().copied().map(char::from).collect();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('<') {
        rest = rest.get(at..)?;
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.get(comment.find("-->")?..)?;
            continue;
        }
        let inner = rest.get(1..)?;
        rest = inner;
        let named = inner.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("meta"));
        let after =
            inner.get(4..).filter(|it| it.starts_with(|c: char| c.is_whitespace() || c == '/'));
        if let (true, Some(attributes)) = (named, after)
            && let Some(label) = label_of_meta(attributes)
        {
            return Some(label);
        }
    }
    None
}

/// The label in a `meta` element, whose attributes begin `text`.
fn label_of_meta(text: &str) -> Option<String> {
    let mut content = None;
    let mut is_pragma = false;
    let mut rest = text;
    while let Some((name, value, after)) = attribute(rest) {
        rest = after;
        match name.to_ascii_lowercase().as_str() {
            "charset" => return Some(value.to_owned()),
            "content" => content = content.or_else(|| label_in_content(value)),
            "http-equiv" => is_pragma |= value.eq_ignore_ascii_case("content-type"),
            _ => {}
        }
    }
    content.filter(|_| is_pragma)
}

/// The next attribute of a tag: name, value, and what follows. `None` at the tag's end.
fn attribute(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim_start_matches(|it: char| it.is_ascii_whitespace() || it == '/');
    let name_end = text.find(|it: char| it.is_ascii_whitespace() || matches!(it, '=' | '>' | '/'));
    let (name, after) = text.split_at_checked(name_end?)?;
    if name.is_empty() && !after.starts_with('=') {
        return None;
    }
    let Some(value) = after.trim_ascii_start().strip_prefix('=') else {
        return Some((name, "", after));
    };
    let value = value.trim_ascii_start();
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let (value, after) = value.get(1..)?.split_once(quote)?;
            Some((name, value, after))
        }
        _ => {
            let end = value.find(|it: char| it.is_ascii_whitespace() || it == '>')?;
            let (value, after) = value.split_at_checked(end)?;
            Some((name, value, after))
        }
    }
}

fn label_in_content(content: &str) -> Option<String> {
    let at = content.to_ascii_lowercase().find("charset")?;
    let value = content.get(at.saturating_add("charset".len())..)?;
    let value = value.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|it: char| it.is_whitespace() || matches!(it, ';' | '"' | '\''));
    value.get(..end.unwrap_or(value.len())).filter(|it| !it.is_empty()).map(str::to_owned)
}

/// Bytes in which a page must name its encoding. Source: HTML standard, section 4.2.5.4.
pub const DECLARATION_BYTES: usize = 1024;
/// Bytes that a guess is made from.
const SAMPLE_BYTES_MAX: usize = 64 * 1024;
/// Bytes outside ASCII below which a guess is no evidence.
const EVIDENCE_BYTES_MIN: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_label(head: &str, expected: Option<&str>) {
        let found = declared_in_page(head.as_bytes(), Kind::Html);
        assert_eq!(found.as_deref(), expected, "{head:?}");
    }

    #[test]
    fn a_page_names_its_encoding_in_a_meta_element() {
        check_label("", None);
        check_label("<meta charset=utf-8>", Some("utf-8"));
        check_label("<META CharSet = 'Shift_JIS' >", Some("Shift_JIS"));
        check_label("<meta name=x content=y><meta charset=\"utf-8\">", Some("utf-8"));
        check_label("<!-- <meta charset=x> --><meta charset=utf-8>", Some("utf-8"));
        check_label("<metadata charset=x>", None);
        check_label("<meta charset=utf-8", None);
        let pragma = "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>";
        check_label(pragma, Some("koi8-r"));
        check_label("<meta content='text/html; charset=koi8-r'>", None);
        check_label(&format!("{}<meta charset=utf-8>", " ".repeat(1024)), None);
    }

    #[test]
    fn xhtml_names_it_in_its_declaration() {
        let found = |it: &str| declared_in_page(it.as_bytes(), Kind::Xhtml);
        assert_eq!(found("<?xml version='1.0' encoding='UTF-8'?>").as_deref(), Some("UTF-8"));
        assert_eq!(found("<?xml version=\"1.0\"?><meta charset=x>"), None);
        let decoded = decode(b"<html/>", None, Kind::Xhtml);
        assert_eq!((decoded.encoding, decoded.named_by), (UTF_8, NamedBy::Default));
    }

    #[track_caller]
    fn check_decode(bytes: &[u8], header: Option<&str>, text: &str, by: NamedBy) {
        let decoded = decode(bytes, header, Kind::Html);
        assert_eq!((decoded.text.as_str(), decoded.named_by), (text, by));
    }

    #[test]
    fn a_mark_beats_the_header_and_the_header_beats_the_page() {
        check_decode(b"\xff\xfea\0", Some("utf-8"), "a", NamedBy::Mark);
        check_decode("\u{feff}é".as_bytes(), Some("windows-1252"), "é", NamedBy::Mark);
        check_decode(b"\xe9", Some("iso-8859-1"), "é", NamedBy::Header);
        let both = b"<meta charset=utf-8>\xe9";
        check_decode(both, Some("windows-1252"), "<meta charset=utf-8>é", NamedBy::Header);
        check_decode(both, Some("no-such"), "<meta charset=utf-8>\u{fffd}", NamedBy::Page);
        check_decode("<p>é".as_bytes(), None, "<p>é", NamedBy::Guess);
        let wide = b"<meta charset=utf-16le>x";
        check_decode(wide, None, "<meta charset=utf-16le>x", NamedBy::Page);
    }

    #[test]
    fn the_first_wrong_byte_is_found() {
        let bytes = "éé".bytes().chain([0xff, b'x', 0xc3]).collect::<Vec<_>>();
        let decoded = decode(&bytes, Some("utf-8"), Kind::Html);
        assert_eq!(decoded.text, "éé\u{fffd}x\u{fffd}");
        assert_eq!(decoded.bad_at, Some(4));
    }

    #[test]
    fn a_label_that_the_bytes_contradict_is_noticed() {
        let text = "Café à la crème, musée de l'eau";
        let decoded = decode(text.as_bytes(), Some("iso-8859-1"), Kind::Html);
        assert_eq!(decoded.looks_like, Some(UTF_8));
        assert!(decoded.text.contains("CafÃ©"));
        let (legacy, _, _) = WINDOWS_1252.encode(text);
        let decoded = decode(&legacy, Some("utf-8"), Kind::Html);
        assert!(decoded.bad_at.is_some() && decoded.looks_like.is_some());
        let decoded = decode(&legacy, Some("iso-8859-1"), Kind::Html);
        assert_eq!((decoded.bad_at, decoded.looks_like), (None, None));
        let japanese = "こちらは水の博物館です。".repeat(4);
        let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(&japanese);
        let decoded = decode(&bytes, Some("iso-8859-1"), Kind::Html);
        assert_eq!(decoded.looks_like, Some(encoding_rs::SHIFT_JIS));
    }
}
