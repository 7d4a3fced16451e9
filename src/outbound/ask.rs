//! What is asked of another server, and how long and how large the answer may be.

use std::time::Duration;

use bytes::Bytes;
use url::Url;

/// One request.
#[derive(Clone, Debug)]
pub struct Ask {
    /// What is to be done.
    pub method: Method,
    /// Where; `http` or `https`. A fragment is not sent.
    pub url: Url,
    /// Names in lower case and values, in the order in which they are sent.
    ///
    /// The client itself writes `Host` before them and the framing after them. It does not ask
    /// for a coding: who wants one adds `accept-encoding` with [`ACCEPT_ENCODING`].
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty for none.
    pub body: Bytes,
    /// How long and how large.
    pub limits: Limits,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Give me this.
    Get,
    /// Give me the head of this.
    Head,
    /// Take this.
    Post,
}

/// How long each stage may take and how large the answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Finding the addresses of the name.
    pub dns: Duration,
    /// Opening a connection, for each of at most two addresses.
    pub connect: Duration,
    /// Agreeing on TLS.
    pub tls: Duration,
    /// From the request to the answer's head.
    pub head: Duration,
    /// All of it, from the first look-up to the last byte.
    pub total: Duration,
    /// Bytes of the body as it is sent.
    pub wire_bytes: usize,
    /// Bytes of the body as it is meant.
    pub decoded_bytes: usize,
}

impl Ask {
    /// A request for `url` without headers, with the default limits.
    #[must_use]
    pub fn get(url: Url) -> Self {
        let limits = Limits::default();
        Self { method: Method::Get, url, headers: Vec::new(), body: Bytes::new(), limits }
    }
}

impl Method {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
        }
    }
}

/// The limits of a page. Source: the contract, section 6.
impl Default for Limits {
    fn default() -> Self {
        Self {
            dns: Duration::from_secs(3),
            connect: Duration::from_secs(5),
            tls: Duration::from_secs(5),
            head: Duration::from_secs(15),
            total: Duration::from_secs(30),
            wire_bytes: 4 * 1024 * 1024,
            decoded_bytes: 8 * 1024 * 1024,
        }
    }
}

/// The codings that are understood, for the header `accept-encoding`.
pub const ACCEPT_ENCODING: &str = "gzip, deflate, br, zstd";
