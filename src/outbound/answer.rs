//! What came back: status, headers, body, and how long each stage took.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;

use crate::outbound::TlsFacts;

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status, 200 to 599.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// The body as it is meant: every coding undone.
    pub body: Bytes,
    /// Bytes of the body as it was sent, without the framing of chunks.
    pub wire_bytes: usize,
    /// The codings that were undone, as the other side named them.
    pub content_encoding: Option<String>,
    /// How long it took.
    pub timing: Timing,
    /// What TLS learned; `None` for plain HTTP.
    pub tls: Option<TlsFacts>,
    /// The address that answered.
    pub peer: SocketAddr,
}

/// How long each stage took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Finding the addresses.
    pub dns: Duration,
    /// Opening the connection, the failed first address included.
    pub connect: Duration,
    /// Agreeing on TLS; zero for plain HTTP.
    pub tls: Duration,
    /// From the request until the head was there: the other side's own time.
    pub first_byte: Duration,
    /// All of it so far.
    pub total: Duration,
}

/// The headers of an answer: names in lower case, values as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, Bytes)>);

impl Answer {
    /// The first header with this name, in lower case, if its value is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.first(name)
    }

    /// All headers with this name, in lower case, whose values are text.
    pub fn headers<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.headers.all(name)
    }
}

impl Headers {
    pub(super) fn of(map: &hyper::HeaderMap) -> Self {
        let bytes = |it: &hyper::header::HeaderValue| Bytes::copy_from_slice(it.as_bytes());
        Self(map.iter().map(|(name, value)| (name.as_str().to_owned(), bytes(value))).collect())
    }

    /// The first header with this name, in lower case, if its value is text.
    #[must_use]
    pub fn first(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All headers with this name, in lower case, whose values are text.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(found, _)| found == name);
        named.filter_map(|(_, value)| str::from_utf8(value).ok())
    }

    /// Every header; those with the same name stand together, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), &value[..]))
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderMap, HeaderValue};

    use super::*;

    #[test]
    fn headers_are_found_by_name_and_values_that_are_no_text_only_as_bytes() {
        let mut map = HeaderMap::new();
        map.append("link", HeaderValue::from_static("a"));
        map.append("x-odd", HeaderValue::from_bytes(b"\xFF").unwrap());
        map.append("link", HeaderValue::from_static("b"));
        let headers = Headers::of(&map);
        assert_eq!(headers.first("link"), Some("a"));
        assert_eq!(headers.all("link").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((headers.first("x-odd"), headers.first("none")), (None, None));
        assert!(headers.iter().any(|it| it == ("x-odd", &b"\xFF"[..])));
    }
}
