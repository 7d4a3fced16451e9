//! The target of a request, decoded: path segments and query pairs.
//!
//! Nothing is normalised. `..` is a segment like any other, `%2F` never separates, and what could
//! be read in two ways is not read at all.

use std::fmt;

/// A query holds an escape that cannot be read, or one that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadQuery;

/// Splits a path at its slashes and decodes each part.
///
/// `/v1/agents/` has three segments, of which the last is empty. `None` when the path does not
/// begin with a slash, or when a segment is not printable ASCII after decoding.
pub(super) fn segments(path: &str) -> Option<Vec<String>> {
    path.strip_prefix('/')?.split('/').map(segment).collect()
}

/// Splits a query into pairs and decodes both sides, with `+` for a space.
///
/// Pairs stay in their order, and duplicates stay visible. A name without `=` has an empty value.
pub(super) fn query_pairs(query: &str) -> Result<Vec<(String, String)>, BadQuery> {
    let parts = query.split('&').filter(|it| !it.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((query_text(name)?, query_text(value)?))
        })
        .collect()
}

fn segment(text: &str) -> Option<String> {
    let text = String::from_utf8(unescape(text.bytes())?).ok()?;
    text.bytes().all(|it| (b' '..=b'~').contains(&it)).then_some(text)
}

fn query_text(text: &str) -> Result<String, BadQuery> {
    let spaced = text.bytes().map(|it| if it == b'+' { b' ' } else { it });
    unescape(spaced).and_then(|it| String::from_utf8(it).ok()).ok_or(BadQuery)
}

fn unescape(mut bytes: impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.size_hint().1.unwrap_or(0));
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            out.push(hex(bytes.next()?)? << 4 | hex(bytes.next()?)?);
        } else {
            out.push(byte);
        }
    }
    Some(out)
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

impl fmt::Display for BadQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the query holds an escape that cannot be read")
    }
}

impl std::error::Error for BadQuery {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_segments(path: &str, expected: Option<&[&str]>) {
        let found = segments(path);
        let found: Option<Vec<&str>> =
            found.as_ref().map(|it| it.iter().map(String::as_str).collect());
        assert_eq!(found.as_deref(), expected, "{path}");
    }

    #[test]
    fn a_path_that_could_be_read_in_two_ways_is_not_read() {
        let paths =
            ["", "v1", "*", "/%", "/%2", "/%zz", "/a%00b", "/%0a", "/%7f", "/é", "/%C3%A9", "/%ff"];
        for path in paths {
            check_segments(path, None);
        }
    }

    #[test]
    fn segments_are_decoded_one_by_one_and_never_normalised() {
        check_segments("/", Some(&[""]));
        check_segments("/v1/agents/", Some(&["v1", "agents", ""]));
        check_segments("//v1", Some(&["", "v1"]));
        check_segments("/v1/../admin", Some(&["v1", "..", "admin"]));
        check_segments("/%2e%2e/%2F", Some(&["..", "/"]));
        check_segments("/models/vendor%2Fname:tag", Some(&["models", "vendor/name:tag"]));
        check_segments("/a+b%20c", Some(&["a+b c"]));
        check_segments("/%2561", Some(&["%61"]));
    }

    #[test]
    fn query_pairs_keep_their_order_and_their_duplicates() {
        let pairs = query_pairs("limit=2&&q=a+b%2Bc&limit=3&flag&e=%C3%A9=").unwrap();
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|it| (&*it.0, &*it.1)).collect();
        let expected = [("limit", "2"), ("q", "a b+c"), ("limit", "3"), ("flag", ""), ("e", "é=")];
        assert_eq!(pairs, expected);
        assert_eq!(query_pairs(""), Ok(Vec::new()));
        for bad in ["a=%", "%2=b", "a=%zz", "a=%ff"] {
            assert_eq!(query_pairs(bad), Err(BadQuery), "{bad}");
        }
    }
}
