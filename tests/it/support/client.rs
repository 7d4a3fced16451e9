//! A client of a daemon: every request on a connection of its own, in memory.

use std::sync::Arc;

use errand::inbound::{self, Edge, Peer, Service};
use serde_json::Value;
use tokio::io::DuplexStream;
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
    server: JoinHandle<()>,
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
        Connection { stream: near, server }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.server.abort();
    }
}
