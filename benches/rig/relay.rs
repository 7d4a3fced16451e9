//! The least that a paid relay can be: bare hyper reads a body, sends it on over a kept connection,
//! commits one record with two fsyncs, and answers with what came back. It knows no key, no
//! balance, and does not look at what it carries.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::floor::Floor;

struct Relay {
    upstream: SocketAddr,
    floor: Arc<Floor>,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
}

/// Starts one on a loopback port; it lives as long as the process.
pub async fn start(dir: &Path, upstream: SocketAddr) -> SocketAddr {
    let floor = Floor::new(dir, "relay.redb");
    let relay = Arc::new(Relay { upstream, floor, idle: Mutex::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let relay = Arc::clone(&relay);
            tokio::spawn(async move {
                let service = service_fn(move |request| answer(Arc::clone(&relay), request));
                let http = hyper::server::conn::http1::Builder::new();
                let _ = http.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    address
}

async fn answer(
    relay: Arc<Relay>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let mut sender = relay.sender().await;
    let forward = Request::post("/v1/chat/completions").header("host", "localhost");
    let forward = forward.body(Full::new(body)).unwrap();
    let answer = sender.send_request(forward).await.unwrap();
    let said = answer.into_body().collect().await.unwrap().to_bytes();
    relay.idle.lock().unwrap().push(sender);
    relay.floor.keep(Bytes::from_static(&[7; 100])).await;
    Ok(Response::new(Full::new(said)))
}

impl Relay {
    /// A connection that is ready for a request.
    #[expect(clippy::disallowed_methods, reason = "the relay goes its own way")]
    async fn sender(&self) -> SendRequest<Full<Bytes>> {
        let kept = self.idle.lock().unwrap().pop();
        if let Some(mut kept) = kept {
            kept.ready().await.unwrap();
            return kept;
        }
        let stream = TcpStream::connect(self.upstream).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let http = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = http.unwrap();
        tokio::spawn(connection);
        sender
    }
}
