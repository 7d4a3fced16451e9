//! A connection whose other end the test holds, and a service that does what its path says.

use std::sync::Arc;
use std::time::Duration;

use errand::domain::time::Timestamp;
use errand::inbound::{
    BoxFuture, Config, Edge, Peer, Refusal, Request, Response, Service, serve_connection,
};
use errand::sys::clock::Clock;
use errand::sys::entropy::Entropy;
use errand::sys::metrics::Metrics;
use errand::sys::shutdown::Shutdown;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::task::JoinHandle;

/// An edge whose doors the test holds.
pub(crate) struct World {
    pub(crate) edge: Edge,
    pub(crate) clock: Clock,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) shutdown: Shutdown,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Config::default())
    }

    pub(crate) fn with(config: Config) -> Self {
        // 2026-01-01T00:00:00Z
        let clock = Clock::simulated(Timestamp::from_millis(1_767_225_600_000));
        let metrics = Arc::new(Metrics::default());
        let shutdown = Shutdown::new();
        let entropy = Entropy::seeded(7);
        let edge =
            Edge::new(config, clock.clone(), entropy, Arc::clone(&metrics), shutdown.clone());
        Self { edge, clock, metrics, shutdown }
    }

    /// A new connection to [`Sample`].
    pub(crate) fn connect(&self) -> Client<DuplexStream> {
        self.connect_as(Peer::Tcp([192, 0, 2, 1].into()), 64 * 1024)
    }

    pub(crate) fn connect_as(&self, peer: Peer, buffer: usize) -> Client<DuplexStream> {
        let (near, far) = tokio::io::duplex(buffer);
        let edge = self.edge.clone();
        let task = tokio::spawn(async move {
            serve_connection(&edge, far, peer, Arc::new(Sample)).await;
        });
        Client { stream: near, input: Vec::new(), task: Some(task) }
    }
}

/// The caller's end of a connection.
pub(crate) struct Client<S> {
    pub(crate) stream: S,
    input: Vec<u8>,
    task: Option<JoinHandle<()>>,
}

/// One answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(crate) fn over(stream: S) -> Self {
        Self { stream, input: Vec::new(), task: None }
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.expect("the connection takes input");
    }

    /// Sends a request without a body and takes its answer.
    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n")).await;
        self.answer().await
    }

    /// Takes an answer with a length.
    pub(crate) async fn answer(&mut self) -> Answer {
        let head = self.head().await;
        let length = header(&head, "content-length").map_or(0, |it| it.parse().unwrap());
        while self.input.len() < length {
            assert!(self.more().await, "the connection ended within a body: {head}");
        }
        let body = self.input.drain(..length).collect();
        let status = head[9..12].parse().unwrap();
        Answer { status, head, body: String::from_utf8(body).unwrap() }
    }

    /// Takes the head of an answer.
    pub(crate) async fn head(&mut self) -> String {
        loop {
            if let Some(at) = self.input.windows(4).position(|it| it == b"\r\n\r\n") {
                let head: Vec<u8> = self.input.drain(..at + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            let so_far = String::from_utf8_lossy(&self.input).into_owned();
            assert!(self.more().await, "the connection ended within a head: {so_far:?}");
        }
    }

    /// Takes the next line with its end.
    pub(crate) async fn line(&mut self) -> String {
        loop {
            if let Some(at) = self.input.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.input.drain(..=at).collect();
                return String::from_utf8(line).unwrap();
            }
            assert!(self.more().await, "the connection ended within a line");
        }
    }

    /// Takes everything up to the end of the connection.
    pub(crate) async fn rest(&mut self) -> String {
        while self.more().await {}
        String::from_utf8(std::mem::take(&mut self.input)).unwrap()
    }

    /// Whether more bytes came.
    pub(crate) async fn more(&mut self) -> bool {
        let mut space = [0; 4096];
        let count = self.stream.read(&mut space).await.unwrap_or(0);
        self.input.extend_from_slice(&space[..count]);
        count > 0
    }

    /// Waits until the daemon's side has ended, cleanly.
    pub(crate) async fn ended(self) {
        drop(self.stream);
        self.task.expect("a connection of this process").await.expect("no panic");
    }
}

/// The value of a header in a head.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|it| it.split_once(": "));
    lines.into_iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1)
}

/// Checks a refusal: its status, its code, and the form that all of them have.
#[track_caller]
pub(crate) fn check_refusal(answer: &Answer, status: u16, code: &str, case: &str) {
    let Answer { head, body, .. } = answer;
    assert_eq!(answer.status, status, "{case}: {head}{body}");
    assert_eq!(header(head, "content-type"), Some("application/json"), "{case}: {head}");
    assert_eq!(header(head, "cache-control"), Some("no-store"), "{case}: {head}");
    assert!(header(head, "date").is_some_and(|it| it.ends_with(" GMT")), "{case}: {head}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["error"]["code"], code, "{case}: {body}");
    let id = header(head, "x-request-id").unwrap_or_default();
    assert!(id.len() == 30 && id.starts_with("req_"), "{case}: {head}");
    assert_eq!(body["error"]["request_id"], id, "{case}: {body}");
}

/// Does what the first segment of the path says.
pub(crate) struct Sample;

impl Service for Sample {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        assert!(request.head.path != "/panic-at-once", "as asked");
        Box::pin(async move {
            let what = request.head.segments().and_then(|it| it.into_iter().next());
            match what.as_deref() {
                Some("echo") => echo(request).await,
                Some("ignore") => Response::text(200, "ignored"),
                Some("large") => Response::text(200, "x".repeat(1024 * 1024)),
                Some("never") => std::future::pending().await,
                Some("patient") => {
                    request.head.extend(Duration::from_mins(5));
                    std::future::pending().await
                }
                Some("panic") => {
                    tokio::task::yield_now().await;
                    panic!("as asked")
                }
                Some("stream") => stream(&request),
                Some("empty") => Response::empty(204),
                _ => show(&request),
            }
        })
    }
}

async fn echo(request: Request) -> Response {
    let (head, body) = request.into_parts();
    match body.read(1_000).await {
        Ok(bytes) => Response::text(200, String::from_utf8(bytes.to_vec()).unwrap()),
        Err(error) => Refusal::from(error).answer(&head.id),
    }
}

/// Streams as many chunks as the query says, one a second, and ends or breaks off.
fn stream(request: &Request) -> Response {
    let count: u32 = request.head.query.as_deref().unwrap_or("3").parse().unwrap();
    let (sender, response) = Response::stream("text/event-stream");
    let breaks_off = request.head.path.ends_with("/broken");
    let clock = Clock::simulated(Timestamp::EPOCH);
    tokio::spawn(async move {
        for number in 0..count {
            if sender.send(format!("data: {number}\n\n")).await.is_err() {
                return;
            }
            clock.sleep(Duration::from_secs(1)).await;
        }
        if !breaks_off {
            let _ = sender.finish().await;
        }
    });
    response
}

fn show(request: &Request) -> Response {
    let head = &request.head;
    let peer = head.peer;
    Response::text(200, format!("{:?} {} {:?} {peer:?}", head.method, head.path, head.query))
}
