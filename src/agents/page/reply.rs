//! What a server answered, in the form in which the agents look at it.

use bytes::Bytes;

use crate::outbound::{Answer, Headers, Opened, Timing, TlsFacts};

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Names in lower case and values as text, in order.
    pub headers: Vec<(String, String)>,
    /// The body, every coding undone.
    pub body: Bytes,
    /// Bytes of the body as it was sent.
    pub wire_bytes: usize,
    /// The codings that were undone.
    pub coding: Option<String>,
    /// How long it took.
    pub timing: Timing,
    /// What TLS learned; none for plain HTTP.
    pub tls: Option<TlsFacts>,
}

impl Reply {
    /// An answer of which only the head is there.
    #[must_use]
    pub fn from_head(answer: &Opened) -> Self {
        Self {
            status: answer.status,
            headers: as_text(&answer.headers),
            timing: answer.timing,
            tls: answer.tls.clone(),
            ..Self::default()
        }
    }

    /// The first header of this name, in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// All headers of this name, in lower case.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self {
            status: answer.status,
            headers: as_text(&answer.headers),
            body: answer.body,
            wire_bytes: answer.wire_bytes,
            coding: answer.content_encoding,
            timing: answer.timing,
            tls: answer.tls,
        }
    }
}

fn as_text(headers: &Headers) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).trim().to_owned();
    headers.iter().map(|(name, value)| (name.to_owned(), text(value))).collect()
}
