//! Asks a daemon something over a byte stream: a socket, a port, or memory.

use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::Method;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::cli::exit::{Exit, Failure, with_sources};

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    method: Method,
    path: String,
    body: Option<Value>,
    key: Option<String>,
    /// Time for the whole answer.
    pub(super) patience: Duration,
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    /// The HTTP status.
    pub(super) status: u16,
    /// The body; null when it is no JSON.
    pub(super) body: Value,
}

/// There was no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// Nobody took the connection.
    Connect(io::Error),
    /// The connection broke, or what came is not HTTP.
    Broken(hyper::Error),
    /// The answer is larger than any of ours.
    Body(Box<dyn std::error::Error + Send + Sync>),
    /// The request cannot be written; a fault of ours.
    Request(hyper::http::Error),
}

impl Ask {
    /// Asks for what is at a path.
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            body: None,
            key: None,
            patience: ANSWER_WAIT,
        }
    }

    /// Asks for something to be done.
    pub(super) fn post(path: impl Into<String>, body: Value) -> Self {
        Self { method: Method::POST, body: Some(body), ..Self::get(path) }
    }

    /// Asks for something that takes as long as the data is large.
    pub(super) fn slow(path: impl Into<String>) -> Self {
        let nothing = Value::Object(serde_json::Map::new());
        Self { patience: SLOW_ANSWER_WAIT, ..Self::post(path, nothing) }
    }

    /// The same request with an API key.
    pub(super) fn with_key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }
}

impl Answer {
    /// The body of an answer that says yes; the failure that any other stands for.
    pub(super) fn success(self) -> Result<Value, Failure> {
        if (200..300).contains(&self.status) {
            return Ok(self.body);
        }
        let message = self.body.pointer("/error/message").and_then(Value::as_str);
        let told = message.map_or_else(|| format!("the answer was {}", self.status), sentence);
        Err(Failure::of_status(self.status, &told))
    }
}

/// Sends one request and reads the whole answer, of at most [`ANSWER_BYTES_MAX`].
///
/// # Errors
///
/// [`NoAnswer`]; whether the request was acted upon is not known then.
///
/// # Cancel safety
///
/// Not safe: when the future is dropped, the request may have been acted upon.
pub(super) async fn exchange<S>(stream: S, ask: &Ask) -> Result<Answer, NoAnswer>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the sender, and what it has to say the sender says as well.
    let connection = tokio::spawn(connection);
    let mut request = hyper::Request::builder()
        .method(ask.method.clone())
        .uri(&ask.path)
        .header("host", "localhost")
        .header("connection", "close");
    if let Some(key) = &ask.key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let body = match &ask.body {
        Some(json) => {
            request = request.header("content-type", "application/json");
            Bytes::from(json.to_string())
        }
        None => Bytes::new(),
    };
    let request = request.body(Full::new(body)).map_err(NoAnswer::Request)?;
    let answer = sender.send_request(request).await?;
    let status = answer.status().as_u16();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(NoAnswer::Body)?.to_bytes();
    connection.abort();
    Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

/// A sentence of the API in the form of a message: no capital, no full stop.
pub(super) fn sentence(text: &str) -> String {
    let text = text.strip_suffix('.').unwrap_or(text);
    let mut letters = text.chars();
    match letters.next() {
        // A name such as `URL` keeps its letters.
        Some(first) if !letters.as_str().starts_with(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

impl NoAnswer {
    /// The failure of a command that asked `whom`.
    pub(super) fn failure(&self, whom: &str) -> Failure {
        Failure::new(Exit::Failed, format!("{whom} did not answer: {}", with_sources(self)))
    }
}

impl From<hyper::Error> for NoAnswer {
    fn from(error: hyper::Error) -> Self {
        Self::Broken(error)
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect(_) => "no connection",
            Self::Broken(_) => "the connection broke",
            Self::Body(_) => "the answer could not be read",
            Self::Request(_) => "the request could not be written",
        })
    }
}

impl std::error::Error for NoAnswer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connect(error) => Some(error),
            Self::Broken(error) => Some(error),
            Self::Body(error) => Some(error.as_ref()),
            Self::Request(error) => Some(error),
        }
    }
}

/// Time for an answer.
const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// Time for an answer that takes a look at every record.
pub(super) const SLOW_ANSWER_WAIT: Duration = Duration::from_hours(2);
/// Bytes of an answer: a list of many accounts fits.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_api() {
        let body = json!({ "error": { "message": "There is nothing of that id." } });
        let failure = Answer { status: 404, body }.success().unwrap_err();
        assert_eq!(failure, Failure::new(Exit::NotFound, "there is nothing of that id"));
        let failure = Answer { status: 500, body: Value::Null }.success().unwrap_err();
        assert_eq!(failure, Failure::new(Exit::Failed, "the answer was 500"));
        assert_eq!(sentence("URL is wrong."), "URL is wrong");
    }

    #[tokio::test]
    async fn a_request_is_written_and_its_answer_read() {
        let (near, mut far) = duplex(4096);
        let server = tokio::spawn(async move {
            let mut head = vec![0; 1024];
            let length = far.read(&mut head).await.unwrap();
            far.write_all(b"HTTP/1.1 201 Created\r\ncontent-length: 7\r\n\r\n{\"a\":1}")
                .await
                .unwrap();
            String::from_utf8(head[..length].to_vec()).unwrap()
        });
        let ask = Ask::post("/accounts", json!({ "name": "x" })).with_key("service_sk_x");
        let answer = exchange(near, &ask).await.unwrap();
        assert_eq!(answer, Answer { status: 201, body: json!({ "a": 1 }) });
        let head = server.await.unwrap();
        assert!(head.starts_with("POST /accounts HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("authorization: Bearer service_sk_x\r\n"), "{head}");
    }

    #[tokio::test]
    async fn a_stream_that_ends_without_an_answer_is_no_answer() {
        let (near, far) = duplex(4096);
        drop(far);
        let error = exchange(near, &Ask::get("/status")).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Broken(_)), "{error}");
    }
}
