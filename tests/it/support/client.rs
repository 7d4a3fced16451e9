//! A client of a daemon: every request on a connection of its own, in memory.

use std::sync::Arc;
use std::time::Duration;

use errand::inbound::{self, Edge, Peer, Service};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::task::JoinHandle;

use super::http::{self, Reply};

/// Sends requests to one service of one daemon; cheap to clone, for many requests at once.
#[derive(Clone)]
pub struct Client {
    pub edge: Edge,
    pub service: Arc<dyn Service>,
    pub door: Door,
    pub peer: Peer,
    /// The key that [`Client::ask`] shows; none when it is empty.
    pub key: String,
}

/// Which of a daemon's services is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The public API.
    Api,
    /// The operator's API.
    Admin,
    /// The page of counters.
    Metrics,
}

/// A connection whose near end the test holds.
pub struct Connection {
    pub stream: DuplexStream,
    server: Option<JoinHandle<()>>,
}

impl Client {
    /// The same client with another key.
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// The same client from another address.
    pub fn at_ip(&self, ip: &str) -> Self {
        Self { peer: Peer::Tcp(ip.parse().unwrap()), ..self.clone() }
    }

    /// Sends a request; a body makes it JSON.
    pub async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        let body = body.map(|it| it.to_string()).unwrap_or_default();
        self.send(http::request(method, path, &self.key, &body).as_bytes()).await
    }

    /// Sends a request without a body.
    pub async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, None).await
    }

    /// Sends bytes and reads the answer, of which every header must be a known one.
    pub async fn send(&self, bytes: &[u8]) -> Reply {
        let reply = http::exchange(&mut self.connect().stream, bytes).await;
        reply.check_headers();
        if self.door == Door::Api {
            // Source: the contract, section 1.
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{}", reply.raw);
        }
        reply
    }

    /// Opens a connection.
    pub fn connect(&self) -> Connection {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let Self { edge, service, peer, .. } = self.clone();
        let server =
            tokio::spawn(async move { inbound::serve_connection(&edge, far, peer, service).await });
        Connection { stream: near, server: Some(server) }
    }

    /// Begins a request and leaves its answer to be read.
    pub async fn begin(&self, method: &str, path: &str, body: &Value) -> Connection {
        self.begin_with(&http::request(method, path, &self.key, &body.to_string())).await
    }

    /// The same with a request as it is.
    pub async fn begin_with(&self, request: &str) -> Connection {
        let mut connection = self.connect();
        connection.stream.write_all(request.as_bytes()).await.unwrap();
        connection
    }
}

impl Connection {
    /// Reads until `text` has come, at most an hour; gives what was read.
    pub async fn read_until(&mut self, text: &str) -> String {
        let mut read = Vec::new();
        loop {
            let so_far = String::from_utf8_lossy(&read);
            if so_far.contains(text) {
                return so_far.into_owned();
            }
            let more = self.stream.read_buf(&mut read);
            let more = tokio::time::timeout(Duration::from_hours(1), more).await;
            assert!(more.is_ok_and(|it| it.unwrap() > 0), "no {text} after {read:?}");
        }
    }

    /// Reads the rest of the answer.
    pub async fn rest(&mut self) -> String {
        let mut read = Vec::new();
        let _ = self.stream.read_to_end(&mut read).await;
        String::from_utf8(read).unwrap()
    }

    /// Hangs up; the daemon's side notices by itself.
    pub fn hang_up(mut self) {
        drop(self.server.take());
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.abort();
        }
    }
}
