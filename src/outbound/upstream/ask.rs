//! What is asked of an upstream, where, and with which key.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Uri};
use rustls::pki_types::ServerName;
use url::Url;

use crate::outbound::BadUrl;
use crate::outbound::trust::server_name;
use crate::sys::clock::Mark;

/// One request to an upstream.
#[derive(Clone, Debug)]
pub struct UpstreamAsk<'a> {
    /// Where.
    pub url: &'a UpstreamUrl,
    /// The key, if it wants one.
    pub bearer: Option<&'a Bearer>,
    /// The JSON to post; without one, the request is a `GET`.
    pub body: Option<Bytes>,
    /// How long each stage may take and how large the answer may be.
    pub limits: UpstreamLimits,
    /// The end of it all, whatever the stage.
    pub until: Mark,
}

/// How long each stage may take and how large the answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpstreamLimits {
    /// Finding the address, opening the connection and agreeing on TLS, together.
    pub connect: Duration,
    /// From the request to the first byte of the body.
    pub first_byte: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// Bytes of the body.
    pub body_bytes: usize,
}

/// An address at an upstream: scheme, host, port, path.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamUrl {
    pub(super) origin: Origin,
    /// The name to prove; `None` for plain HTTP.
    pub(super) name: Option<ServerName<'static>>,
    host_header: HeaderValue,
    target: Uri,
}

/// What has connections of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) is_tls: bool,
    pub(super) host: url::Host<String>,
    pub(super) port: u16,
}

/// A key of the operator's for an upstream; never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Bearer(HeaderValue);

impl UpstreamUrl {
    /// The address of `path`, such as `chat/completions`, under a base such as
    /// `http://127.0.0.1:11434/v1`. A query of the base is kept.
    ///
    /// # Errors
    ///
    /// [`BadUrl`] when the base is not http or https, or has a user name, a password, or a host
    /// that TLS cannot check.
    pub fn new(base: &Url, path: &str) -> Result<Self, BadUrl> {
        let is_tls = match base.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(BadUrl::Scheme),
        };
        if !base.username().is_empty() || base.password().is_some() {
            return Err(BadUrl::Credentials);
        }
        let (host, port) = base.host().zip(base.port_or_known_default()).ok_or(BadUrl::Host)?;
        let name = server_name(&host).ok_or(BadUrl::Host)?;
        let mut host_header = host.to_string();
        if let Some(port) = base.port() {
            host_header.push_str(&format!(":{port}"));
        }
        let query = base.query().map_or_else(String::new, |it| format!("?{it}"));
        let target = format!("{}/{path}{query}", base.path().trim_end_matches('/'));
        Ok(Self {
            origin: Origin { is_tls, host: host.to_owned(), port },
            name: Some(name).filter(|_| is_tls),
            host_header: HeaderValue::try_from(host_header).map_err(|_| BadUrl::Host)?,
            target: Uri::try_from(target).map_err(|_| BadUrl::Path)?,
        })
    }
}

impl UpstreamAsk<'_> {
    /// The request as it is sent; it can be made again.
    pub(super) fn request(&self) -> Request<Full<Bytes>> {
        let is_post = self.body.is_some();
        let mut request = Request::new(Full::new(self.body.clone().unwrap_or_default()));
        *request.method_mut() = if is_post { Method::POST } else { Method::GET };
        *request.uri_mut() = self.url.target.clone();
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.url.host_header.clone());
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPT));
        if is_post {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(Bearer(value)) = self.bearer {
            headers.insert(header::AUTHORIZATION, value.clone());
        }
        request
    }
}

impl Bearer {
    /// Takes the text of a key file; blanks and line breaks around the key are dropped.
    ///
    /// `None` when nothing is left, or it has something in it that no header can.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        if key.is_empty() || !key.bytes().all(|it| it.is_ascii_graphic()) {
            return None;
        }
        let mut value = HeaderValue::try_from(format!("Bearer {key}")).ok()?;
        value.set_sensitive(true);
        Some(Self(value))
    }
}

/// The times of a chat; a model that is loaded first may take two minutes to begin.
///
/// Source: the contract, section 5.
impl Default for UpstreamLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_mins(2),
            idle: Duration::from_mins(1),
            body_bytes: 64 * 1024 * 1024,
        }
    }
}

impl fmt::Debug for UpstreamUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.origin.is_tls { "https" } else { "http" };
        let Origin { host, port, .. } = &self.origin;
        write!(f, "{scheme}://{host}:{port}{}", self.target.path())
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(…)")
    }
}

const USER_AGENT: &str = concat!("errand/", env!("CARGO_PKG_VERSION"));
const ACCEPT: &str = "text/event-stream, application/json";

#[cfg(test)]
mod tests {
    use super::*;

    fn url(base: &str) -> Result<UpstreamUrl, BadUrl> {
        UpstreamUrl::new(&base.parse().unwrap(), "chat/completions")
    }

    #[track_caller]
    fn check_url(base: &str, host: &str, target: &str) {
        let url = url(base).unwrap();
        assert_eq!(
            (url.host_header.to_str().unwrap(), url.target.to_string()),
            (host, target.into())
        );
    }

    #[test]
    fn the_path_goes_under_the_base_with_or_without_a_slash_at_its_end() {
        check_url("http://127.0.0.1:11434/v1", "127.0.0.1:11434", "/v1/chat/completions");
        check_url("http://127.0.0.1:11434/v1/", "127.0.0.1:11434", "/v1/chat/completions");
        check_url("https://a.example", "a.example", "/chat/completions");
        check_url("https://[::1]:8443/x?v=1", "[::1]:8443", "/x/chat/completions?v=1");
    }

    #[test]
    fn a_base_that_cannot_be_asked_is_refused() {
        assert_eq!(url("ftp://a.example/v1"), Err(BadUrl::Scheme));
        assert_eq!(url("unix:/run/a.sock"), Err(BadUrl::Scheme));
        assert_eq!(url("http://u:p@a.example/v1"), Err(BadUrl::Credentials));
        let long = format!("http://{}.example/v1", "a".repeat(64));
        assert_eq!(url(&long), Err(BadUrl::Host));
    }

    #[test]
    fn a_key_is_never_shown_and_must_fit_in_a_header() {
        let bearer = Bearer::new(" sk-secret\n").unwrap();
        assert_eq!(bearer.0.to_str().unwrap(), "Bearer sk-secret");
        let url = url("http://a.example/v1?key=hidden").unwrap();
        let (limits, until) = (UpstreamLimits::default(), crate::sys::clock::Clock::host().mark());
        let body = None;
        let ask = UpstreamAsk { url: &url, bearer: Some(&bearer), body, limits, until };
        let shown = format!("{ask:?} {:?}", ask.request());
        assert!(!shown.contains("secret") && !format!("{ask:?}").contains("hidden"), "{shown}");
        for text in ["", " \n", "a b", "a\nb", "é"] {
            assert_eq!(Bearer::new(text), None, "{text:?}");
        }
    }
}
