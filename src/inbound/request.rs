//! A request as its caller sent it: method, target, headers, and a body that is not read yet.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::http::request::Parts;

use crate::inbound::body::{Body, BodyError};
use crate::inbound::target::{self, BadQuery};
use crate::inbound::watch::Watch;

/// One request.
#[derive(Debug)]
pub struct Request {
    /// Everything before the body.
    pub head: Head,
    /// The body, none of which has been asked for yet.
    pub body: Body,
}

/// Everything before a request's body.
pub struct Head {
    /// The method.
    pub method: Method,
    /// The path as it was sent; begins with a slash.
    pub path: String,
    /// The query as it was sent, without its question mark.
    pub query: Option<String>,
    /// Who sent it.
    pub peer: Peer,
    /// The name of this request in its answer and in the log.
    pub id: RequestId,
    headers: HeaderMap,
    watch: Arc<Watch>,
}

/// The methods that reach a service; every other is refused before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `HEAD`; whatever body its answer has stays here.
    Head,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
    /// `OPTIONS`.
    Options,
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An address; behind a trusted proxy, the one for which the proxy speaks.
    Tcp(IpAddr),
    /// A process of this host, at a Unix socket.
    Local {
        /// The user as whom the process runs.
        uid: u32,
    },
}

impl Peer {
    /// Its address; a process of this host has none.
    #[must_use]
    pub const fn address(self) -> Option<IpAddr> {
        match self {
            Self::Tcp(address) => Some(address),
            Self::Local { .. } => None,
        }
    }
}

/// The name of one request: `req_` and 26 letters and digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RequestId([u8; ID_CHARS]);

impl Request {
    /// Reads the whole body, of at most `max` bytes. See [`Body::read`].
    ///
    /// # Errors
    ///
    /// Those of [`Body::read`].
    ///
    /// # Cancel safety
    ///
    /// Not safe: what was read is lost, and the connection ends with the answer.
    pub async fn read(self, max: usize) -> Result<Bytes, BodyError> {
        self.body.read(max).await
    }

    /// Takes the request apart, so that the head stays when the body is read.
    #[must_use]
    pub fn into_parts(self) -> (Head, Body) {
        (self.head, self.body)
    }
}

impl Head {
    pub(super) fn new(parts: Parts, line: (Method, Peer, RequestId), watch: &Arc<Watch>) -> Self {
        let (method, peer, id) = line;
        Self {
            method,
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().map(str::to_owned),
            peer,
            id,
            headers: parts.headers,
            watch: Arc::clone(watch),
        }
    }

    /// The first value of a header; `None` when it is absent or not text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|it| it.to_str().ok())
    }

    /// All values of a header that are text, in their order.
    pub fn header_values<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.headers.get_all(name).iter().filter_map(|it| it.to_str().ok())
    }

    /// The path's segments, each decoded, none normalised; `/` is one empty segment.
    ///
    /// `None` when a segment has a broken escape, a control character or anything beyond ASCII.
    #[must_use]
    pub fn segments(&self) -> Option<Vec<String>> {
        target::segments(&self.path)
    }

    /// The query's pairs, decoded, with duplicates; empty without a query.
    ///
    /// # Errors
    ///
    /// [`BadQuery`] when an escape is broken or does not give UTF-8.
    pub fn query_pairs(&self) -> Result<Vec<(String, String)>, BadQuery> {
        target::query_pairs(self.query.as_deref().unwrap_or(""))
    }

    /// Gives the answer `span` from now on, in place of what is left of the request's time.
    ///
    /// For work that is known to take long, such as a chat; to be called when the body is there,
    /// because reading it sets the time anew. A span below the shortest deadline of
    /// the [`Config`](crate::inbound::Config) may be noticed late, by as much as that deadline.
    pub fn extend(&self, span: Duration) {
        self.watch.extend(span);
    }
}

/// Shows neither the query nor the headers: both may hold secrets.
impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?} from {:?}", self.id, self.method, self.path, self.peer)
    }
}

impl Method {
    /// Every method, as `Allow` lists them.
    pub(super) const ALL: &'static str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

    pub(super) fn of(method: &hyper::Method) -> Option<Self> {
        match method.as_str() {
            "GET" => Some(Self::Get),
            "HEAD" => Some(Self::Head),
            "POST" => Some(Self::Post),
            "PUT" => Some(Self::Put),
            "PATCH" => Some(Self::Patch),
            "DELETE" => Some(Self::Delete),
            "OPTIONS" => Some(Self::Options),
            _ => None,
        }
    }
}

impl RequestId {
    /// Names the `nth` request of a connection that drew `seed`.
    ///
    /// One draw of randomness serves a whole connection: the numbers of a Weyl sequence differ
    /// from each other for ever, and from those of other connections as their seeds do.
    #[must_use]
    pub fn new(seed: [u8; 16], nth: u64) -> Self {
        let number = u128::from_le_bytes(seed).wrapping_add(STRIDE.wrapping_mul(nth.into()));
        let mut text = [b'0'; ID_CHARS];
        let (prefix, digits) = text.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX);
        for (place, digit) in digits.iter_mut().rev().enumerate() {
            let five_bits = (number >> (5 * place)) & 31;
            let letter = usize::try_from(five_bits).ok().and_then(|it| ALPHABET.get(it));
            *digit = letter.copied().unwrap_or(b'0');
        }
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // The alphabet and the prefix are ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

const PREFIX: &[u8; 4] = b"req_";
/// Characters of an id: the prefix, and 128 bits in base 32.
const ID_CHARS: usize = PREFIX.len() + 26;
/// Base 32 without the letters that look like digits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 2^128 divided by the golden ratio: odd, so the sequence meets every number once.
const STRIDE: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_ids_have_one_form_and_never_repeat_in_a_connection() {
        assert_eq!(RequestId::new([0; 16], 0).as_str(), "req_00000000000000000000000000");
        assert_eq!(RequestId::new([255; 16], 0).as_str(), "req_7zzzzzzzzzzzzzzzzzzzzzzzzz");
        let mut ids: Vec<String> =
            (0..10_000).map(|nth| RequestId::new([7; 16], nth).to_string()).collect();
        assert!(ids.iter().all(|it| it.len() == 30), "{ids:?}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 10_000);
    }

    #[test]
    fn methods_are_written_in_capitals_and_others_are_none() {
        assert_eq!(Method::of(&hyper::Method::PATCH), Some(Method::Patch));
        for other in ["TRACE", "CONNECT", "get", "BREW", "GETS"] {
            let method = hyper::Method::from_bytes(other.as_bytes()).unwrap();
            assert_eq!(Method::of(&method), None, "{other}");
        }
        for listed in Method::ALL.split(", ") {
            let method = hyper::Method::from_bytes(listed.as_bytes()).unwrap();
            assert!(Method::of(&method).is_some(), "{listed}");
        }
    }
}
