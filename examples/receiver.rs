//! A receiver of webhooks, with hyper and ring.
//!
//! ```text
//! WEBHOOK_SECRET=whsec_... PORT=3000 cargo run --example receiver
//! ```
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own, outside the rooms of this crate"
)]

use std::collections::HashSet;
use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{ALLOW, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use ring::hmac;
use serde_json::Value;
use tokio::net::TcpListener;

const BODY_BYTES_MAX: usize = 256 * 1024;
const SKEW_SECONDS_MAX: u64 = 300;
/// Time for a request to come.
const PATIENCE: Duration = Duration::from_secs(10);

struct Receiver {
    /// The whole text of the secret, `whsec_` included.
    key: hmac::Key,
    /// In earnest a table with a unique key: it must outlive the process, and be written in the
    /// same transaction as what the event leads to.
    seen: Mutex<HashSet<String>>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let secret = std::env::var("WEBHOOK_SECRET")?;
    let port: u16 = std::env::var("PORT").unwrap_or_else(|_| "0".to_owned()).parse()?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let receiver = Arc::new(Receiver { key, seen: Mutex::default() });
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        // Somebody who hung up before it was their turn is nobody's loss.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let receiver = Arc::clone(&receiver);
        tokio::spawn(async move {
            let service = service_fn(move |it| answer(Arc::clone(&receiver), it));
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // Whoever hangs up will send the event again.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    receiver: Arc<Receiver>,
    request: Request<Incoming>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let mut response = Response::new(Empty::new());
    let announced = usize::try_from(request.body().size_hint().lower()).unwrap_or(usize::MAX);
    *response.status_mut() = if request.method() != Method::POST {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        StatusCode::METHOD_NOT_ALLOWED
    } else if announced > BODY_BYTES_MAX {
        StatusCode::PAYLOAD_TOO_LARGE
    } else {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, BODY_BYTES_MAX).collect();
        match tokio::time::timeout(PATIENCE, body).await {
            Ok(Ok(body)) => receiver.take(&head.headers, &body.to_bytes()),
            Ok(Err(why)) if why.is::<LengthLimitError>() => StatusCode::PAYLOAD_TOO_LARGE,
            Ok(Err(_)) => StatusCode::BAD_REQUEST,
            Err(_) => StatusCode::REQUEST_TIMEOUT,
        }
    };
    Ok(response)
}

impl Receiver {
    /// Takes one delivery; the status to answer.
    fn take(&self, headers: &HeaderMap, body: &[u8]) -> StatusCode {
        if self.believes(headers, body).is_none() {
            return StatusCode::UNAUTHORIZED;
        }
        let event: Value = serde_json::from_slice(body).unwrap_or_default();
        let id = event.get("id").and_then(Value::as_str);
        let Some(id) = id.filter(|it| header(headers, "x-service-event-id") == Some(*it)) else {
            return StatusCode::BAD_REQUEST;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.insert(id.to_owned()) {
            act(id, &event);
        }
        StatusCode::NO_CONTENT
    }

    /// Whether the body is signed with our secret, and that not long ago.
    fn believes(&self, headers: &HeaderMap, body: &[u8]) -> Option<()> {
        let timestamp = header(headers, "x-service-timestamp")?;
        let signature = unhex(header(headers, "x-service-signature")?.strip_prefix("v1=")?)?;
        // The bytes as they came, before any parser. `verify` takes the same time for all tags.
        let signed = [timestamp.as_bytes(), b".", body].concat();
        hmac::verify(&self.key, &signed, &signature).ok()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        let is_fresh = timestamp.parse::<u64>().ok()?.abs_diff(now) <= SKEW_SECONDS_MAX;
        is_fresh.then_some(())
    }
}

/// What the event is for. It happens once, however often the event comes.
fn act(id: &str, event: &Value) {
    println!("acted on {id}: {}", event.get("type").and_then(Value::as_str).unwrap_or_default());
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|it| u8::try_from(it.to_digit(16)?).ok()).collect();
    digits
        .filter(|it| it.len() == 64)?
        .chunks(2)
        .map(|it| Some(it.first()? * 16 + it.get(1)?))
        .collect()
}
