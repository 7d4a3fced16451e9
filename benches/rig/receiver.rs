//! A receiver of webhooks that does as little as one can: reads the body, counts, answers 204.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A receiver; clones share what came.
#[derive(Clone)]
pub struct Receiver {
    pub address: SocketAddr,
    /// The certificate that it shows, as PEM, when it speaks TLS.
    pub pem: Option<String>,
    /// What trusts it.
    pub trust: Option<Arc<ClientConfig>>,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    count: AtomicUsize,
    first: OnceLock<Instant>,
}

/// How a receiver speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    Plain,
    Tls,
}

/// Starts one on a loopback port; it lives as long as the process.
pub async fn start(speech: Speech) -> Receiver {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (acceptor, pem, trust) = match speech {
        Speech::Plain => (None, None, None),
        Speech::Tls => {
            let (acceptor, pem, trust) = tls();
            (Some(acceptor), Some(pem), Some(trust))
        }
    };
    let seen = Arc::new(Seen::default());
    let counted = Arc::clone(&seen);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let (acceptor, seen) = (acceptor.clone(), Arc::clone(&counted));
            tokio::spawn(async move {
                match acceptor {
                    None => serve(stream, seen).await,
                    Some(acceptor) => {
                        if let Ok(stream) = acceptor.accept(stream).await {
                            serve(stream, seen).await;
                        }
                    }
                }
            });
        }
    });
    Receiver { address, pem, trust, seen }
}

impl Receiver {
    /// How many requests came.
    pub fn count(&self) -> usize {
        self.seen.count.load(Ordering::Acquire)
    }

    /// When the first of them came.
    pub fn first(&self) -> Option<Instant> {
        self.seen.first.get().copied()
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, seen: Arc<Seen>) {
    let service = service_fn(|request: Request<Incoming>| {
        let seen = Arc::clone(&seen);
        async move {
            request.into_body().collect().await.unwrap();
            #[expect(clippy::disallowed_methods, reason = "a bench measures the host")]
            seen.first.get_or_init(Instant::now);
            seen.count.fetch_add(1, Ordering::AcqRel);
            let answer = Response::builder().status(204).body(Full::new(Bytes::new()));
            Ok::<_, Infallible>(answer.unwrap())
        }
    });
    let http = hyper::server::conn::http1::Builder::new();
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

fn tls() -> (TlsAcceptor, String, Arc<ClientConfig>) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let der = certificate.der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![der.clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(der).unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (TlsAcceptor::from(Arc::new(server)), certificate.pem(), Arc::new(client))
}
