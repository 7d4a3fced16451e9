//! What kind of document an answer carries: by its header, and by its first bytes when there is
//! no header.

/// A `Content-Type`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// Type and subtype, lower case: `text/html`.
    pub essence: String,
    /// The `charset` parameter as written, without quotes.
    pub charset: Option<String>,
}

/// What an answer is, for a reader of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `text/html`, or something without a type that begins like HTML.
    Html,
    /// `application/xhtml+xml`.
    Xhtml,
    /// Something else.
    Other,
}

impl MediaType {
    /// Reads a header's value; `None` when it is not a type at all.
    ///
    /// Source: WHATWG MIME Sniffing, section 4.4.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let mut parts = value.split(';');
        let essence = parts.next()?.trim().to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        if !is_token(kind) || !is_token(subtype) {
            return None;
        }
        let charset = parts
            .filter_map(|it| it.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, value)| value.trim().trim_matches('"').to_owned())
            .filter(|it| !it.is_empty());
        Some(Self { essence, charset })
    }

    /// Whether the type says nothing, so that the bytes decide.
    ///
    /// Source: WHATWG MIME Sniffing, section 7.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self.essence.as_str(), "unknown/unknown" | "application/unknown" | "*/*")
    }
}

/// Decides what a document is.
#[must_use]
pub fn kind(header: Option<&MediaType>, body: &[u8]) -> Kind {
    match header {
        Some(media) if media.essence == "text/html" => Kind::Html,
        Some(media) if media.essence == "application/xhtml+xml" => Kind::Xhtml,
        Some(media) if !media.is_unknown() => Kind::Other,
        Some(_) | None if begins_like_html(body) => Kind::Html,
        Some(_) | None => Kind::Other,
    }
}

/// Whether the first bytes are those of an HTML document.
///
/// Source: WHATWG MIME Sniffing, section 7.1.
#[must_use]
pub fn begins_like_html(body: &[u8]) -> bool {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    let start = body.trim_ascii_start();
    BEGINNINGS.iter().any(|it| {
        let (head, rest) = start.split_at_checked(it.len()).unwrap_or((start, &[]));
        let ended =
            *it == "<!--" || matches!(rest.first(), Some(b' ' | b'>' | b'\t' | b'\r' | b'\n'));
        head.eq_ignore_ascii_case(it.as_bytes()) && ended
    })
}

fn is_token(text: &str) -> bool {
    let is_token_byte = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// How HTML documents begin; a space, a line end or `>` follows.
const BEGINNINGS: [&str; 17] = [
    "<!doctype html",
    "<html",
    "<head",
    "<script",
    "<iframe",
    "<h1",
    "<div",
    "<font",
    "<table",
    "<a",
    "<style",
    "<title",
    "<b",
    "<body",
    "<br",
    "<p",
    "<!--",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_type(value: &str, expected: Option<(&str, Option<&str>)>) {
        let found = MediaType::parse(value);
        let found = found.as_ref().map(|it| (it.essence.as_str(), it.charset.as_deref()));
        assert_eq!(found, expected, "{value:?}");
    }

    #[test]
    fn a_type_is_read_with_its_charset() {
        check_type("", None);
        check_type("html", None);
        check_type("text/", None);
        check_type("te xt/html", None);
        check_type("Text/HTML", Some(("text/html", None)));
        check_type("text/html; charset=UTF-8", Some(("text/html", Some("UTF-8"))));
        check_type("text/html ;x=1; Charset=\"utf-8\"", Some(("text/html", Some("utf-8"))));
        check_type("text/html;charset=", Some(("text/html", None)));
    }

    #[track_caller]
    fn check_kind(header: Option<&str>, body: &str, expected: Kind) {
        let media = header.and_then(MediaType::parse);
        assert_eq!(kind(media.as_ref(), body.as_bytes()), expected, "{header:?} {body:?}");
    }

    #[test]
    fn the_header_decides_and_the_bytes_only_without_one() {
        check_kind(Some("text/html"), "{}", Kind::Html);
        check_kind(Some("application/xhtml+xml"), "", Kind::Xhtml);
        check_kind(Some("text/plain"), "<html>", Kind::Other);
        check_kind(Some("application/json"), "<html>", Kind::Other);
        check_kind(Some("*/*"), "<html>", Kind::Html);
        check_kind(None, "\u{feff} \n<!DOCTYPE HTML>", Kind::Html);
        check_kind(None, "<!-- hello", Kind::Html);
        check_kind(None, "<article>", Kind::Other);
        check_kind(None, "<html", Kind::Other);
        check_kind(None, "", Kind::Other);
        check_kind(Some("nonsense"), "<p>x", Kind::Html);
    }
}
