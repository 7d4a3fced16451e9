//! A request as somebody saved it: headers, an empty line, the body byte for byte.
//!
//! Nothing of the body is touched. A first line that is a request line is passed over.

use std::fmt;

/// A saved request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Saved<'a> {
    headers: Vec<(&'a str, &'a str)>,
    /// What stands behind the empty line.
    pub(super) body: &'a [u8],
}

/// Why a text is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Nothing tells the headers from the body.
    NoEmptyLine,
    /// The headers are not text, or a line of them has no name.
    BadHeader,
    /// The body still has the lengths of its chunks in it.
    Chunked,
}

impl<'a> Saved<'a> {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] says what is missing.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let (head, body) = split(bytes).ok_or(Unreadable::NoEmptyLine)?;
        let head = str::from_utf8(head).map_err(|_| Unreadable::BadHeader)?;
        let is_header = |it: &(usize, &str)| it.0 > 0 || !it.1.contains(" HTTP/");
        let lines = head.lines().enumerate().filter(is_header).map(|it| it.1);
        let header = |line: &'a str| line.split_once(':').map(|(name, it)| (name, it.trim()));
        let headers: Option<Vec<_>> = lines.map(header).collect();
        let saved = Self { headers: headers.ok_or(Unreadable::BadHeader)?, body };
        if saved.header("transfer-encoding").is_some() {
            return Err(Unreadable::Chunked);
        }
        Ok(saved)
    }

    /// The first value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&'a str> {
        let mut named = self.headers.iter().filter(|it| it.0.eq_ignore_ascii_case(name));
        named.next().map(|it| it.1)
    }

    /// How many bytes the request says it has, when they are not those that are there.
    pub(super) fn announced(&self) -> Option<usize> {
        let length = self.header("content-length")?.parse().ok()?;
        (length != self.body.len()).then_some(length)
    }
}

/// What stands before the first empty line, and what stands behind it.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut from = 0;
    loop {
        let rest = bytes.get(from..)?;
        let end = rest.iter().position(|it| *it == b'\n')?;
        let line = rest.get(..end)?;
        let next = from.checked_add(end)?.checked_add(1)?;
        if from > 0 && (line.is_empty() || line == b"\r") {
            return Some((bytes.get(..from)?, bytes.get(next..)?));
        }
        from = next;
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoEmptyLine => "there is no empty line between headers and body",
            Self::BadHeader => "a line of the headers is not a name, a colon and a value",
            Self::Chunked => "its body is in chunks; save the body that they make up",
        })
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_what_stands_behind_the_first_empty_line() {
        for (text, body) in [
            (&b"POST /hooks HTTP/1.1\r\nA: 1\r\n\r\n{\"a\":\r\n\r\n1}"[..], "{\"a\":\r\n\r\n1}"),
            (b"a:1\n\n\n", "\n"),
            (b"A : x\r\na:  1 \r\n\n", ""),
        ] {
            let saved = Saved::parse(text).unwrap();
            assert_eq!(saved.body, body.as_bytes());
            assert_eq!(saved.header("a"), Some("1"));
            assert_eq!(saved.header("b"), None);
        }
    }

    #[test]
    fn a_text_that_is_no_request_is_refused_with_its_reason() {
        for (text, why) in [
            (&b""[..], Unreadable::NoEmptyLine),
            (b"{}", Unreadable::NoEmptyLine),
            (b"a: 1\r\nb: 2\r\n", Unreadable::NoEmptyLine),
            (b"{\n}\n\n", Unreadable::BadHeader),
            (b"a: \xff\n\n", Unreadable::BadHeader),
            (b"Transfer-Encoding: chunked\n\n2\r\n{}\r\n0\r\n\r\n", Unreadable::Chunked),
        ] {
            assert_eq!(Saved::parse(text), Err(why), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_length_is_of_interest_when_it_is_another() {
        let announced = |text: &str| Saved::parse(text.as_bytes()).unwrap().announced();
        assert_eq!(announced("content-length: 2\n\n{}"), None);
        assert_eq!(announced("Content-Length: 2\n\n{}\n"), Some(2));
        assert_eq!(announced("content-length: x\n\n{}"), None);
    }
}
