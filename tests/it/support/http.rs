//! HTTP by hand, so that a test sees every byte.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

/// An answer as it came.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub text: String,
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
}

/// The text of a request; a body makes it JSON.
pub fn request(method: &str, path: &str, key: &str, body: &str) -> String {
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nhost: errand.example\r\nconnection: close\r\n");
    if !key.is_empty() {
        text.push_str(&format!("authorization: Bearer {key}\r\n"));
    }
    if !body.is_empty() {
        text.push_str("content-type: application/json\r\n");
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    text
}

/// Sends bytes and reads until the other side closes.
pub async fn exchange(mut stream: DuplexStream, bytes: &[u8]) -> Reply {
    // The answer may come, and the connection end, before all is sent.
    let _ = stream.write_all(bytes).await;
    let mut raw = Vec::new();
    let _ = stream.read_to_end(&mut raw).await;
    parse(&String::from_utf8(raw).unwrap())
}

fn parse(raw: &str) -> Reply {
    let (head, body) = raw.split_once("\r\n\r\n").unwrap_or((raw, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|it| it.split(' ').nth(1)).and_then(|it| it.parse().ok());
    let headers = lines.filter_map(|it| it.split_once(": "));
    Reply {
        status: status.unwrap_or_else(|| panic!("no answer: {raw:?}")),
        headers: headers.map(|(a, b)| (a.to_ascii_lowercase(), b.to_owned())).collect(),
        text: body.to_owned(),
        raw: raw.to_owned(),
    }
}
