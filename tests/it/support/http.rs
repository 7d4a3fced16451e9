//! HTTP by hand, so that a test sees every byte.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

/// An answer as it came.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub text: String,
    /// Whether its end came, where that shows.
    pub is_whole: bool,
    /// Every byte of it.
    pub raw: String,
}

impl Reply {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|it| panic!("{it}: {}", self.raw))
    }

    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// The code of an error.
    #[track_caller]
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or("").to_owned()
    }

    /// Every byte, with the request's id taken out.
    pub fn without_id(&self) -> String {
        self.raw.replace(self.header("x-request-id").unwrap(), "(id)")
    }

    /// Only headers that are meant to be there, each once, and those that every answer has.
    #[track_caller]
    pub fn check_headers(&self) {
        for (at, (name, _)) in self.headers.iter().enumerate() {
            assert!(HEADERS.contains(&name.as_str()), "{name} is new: {}", self.raw);
            let earlier = &self.headers[..at];
            assert!(earlier.iter().all(|it| it.0 != *name), "{name} stands twice: {}", self.raw);
        }
        let id = self.header("x-request-id").unwrap_or_default();
        assert!(id.starts_with("req_") && id.len() == 30, "{}", self.raw);
        assert!(self.header("date").is_some(), "{}", self.raw);
        if self.status >= 400 && self.header("content-type") == Some("application/json") {
            let json = if self.text.is_empty() { Value::Null } else { self.json() };
            let inside = &json["error"]["request_id"];
            // The answer to a HEAD has no body, and readiness is no error body.
            assert!(inside.is_null() || inside == id, "{}", self.raw);
        }
    }
}

/// The text of a request; a body makes it JSON.
pub fn request(method: &str, path: &str, key: &str, body: &str) -> String {
    let mut more = String::new();
    if !key.is_empty() {
        more.push_str(&format!("authorization: Bearer {key}\r\n"));
    }
    if !body.is_empty() {
        more.push_str("content-type: application/json\r\n");
    }
    with_headers(method, path, &more, body)
}

/// The text of a request with header lines of the test's own, each with its end.
pub fn with_headers(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: errand.example\r\nconnection: close\r\n{headers}\
         content-length: {length}\r\n\r\n{body}"
    )
}

/// Sends bytes and reads until the other side closes.
pub async fn exchange(stream: &mut DuplexStream, bytes: &[u8]) -> Reply {
    // The answer may come, and the connection end, before all is sent.
    let _ = stream.write_all(bytes).await;
    read(stream).await
}

/// Reads until the other side closes.
pub async fn read(stream: &mut DuplexStream) -> Reply {
    let mut raw = Vec::new();
    let _ = stream.read_to_end(&mut raw).await;
    parse(&String::from_utf8(raw).unwrap())
}

fn parse(raw: &str) -> Reply {
    let (head, body) = raw.split_once("\r\n\r\n").unwrap_or((raw, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|it| it.split(' ').nth(1)).and_then(|it| it.parse().ok());
    let headers = lines.filter_map(|it| it.split_once(": "));
    let headers: Vec<_> = headers.map(|(a, b)| (a.to_ascii_lowercase(), b.to_owned())).collect();
    let is_chunked = headers.iter().any(|it| it.0 == "transfer-encoding");
    let (text, is_whole) = if is_chunked { unchunked(body) } else { (body.to_owned(), true) };
    Reply {
        status: status.unwrap_or_else(|| panic!("no answer: {raw:?}")),
        headers,
        text,
        is_whole,
        raw: raw.to_owned(),
    }
}

/// A body without the frames of its chunks, and whether the last one came.
pub fn unchunked(body: &str) -> (String, bool) {
    let (mut text, mut rest) = (String::new(), body);
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (text, true);
        }
        let Some(chunk) = more.get(..size) else { break };
        text.push_str(chunk);
        rest = more.get(size + 2..).unwrap_or_default();
    }
    (text, false)
}

/// Every header that an answer may have. `server` is none of them.
const HEADERS: [&str; 18] = [
    "allow",
    "cache-control",
    "connection",
    "content-length",
    "content-type",
    "date",
    "location",
    "retry-after",
    "transfer-encoding",
    "www-authenticate",
    "x-accel-buffering",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-request-id",
    "x-service-cost",
    "x-service-ignored-params",
    "x-should-retry",
];
