//! Real sockets: one TCP port, one Unix socket, one TLS handshake.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use errand::inbound::{Acceptor, BindError, Config, Listener, TlsFiles};
use errand::sys::shutdown::Phase;
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;

use crate::support::{Client, Sample, World, check_refusal};

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn run(listener: Listener, world: &World) -> JoinHandle<()> {
    tokio::spawn(listener.run(world.edge.clone(), Arc::new(Sample)))
}

async fn dial(address: SocketAddr) -> TcpStream {
    #[expect(clippy::disallowed_methods, reason = "the test is the caller here")]
    let stream = TcpStream::connect(address).await;
    stream.expect("the port is open")
}

#[tokio::test]
async fn a_tcp_port_answers_refuses_above_its_places_and_closes_at_the_end() {
    let world = World::with(Config { max_connections: 2, ..Config::default() });
    let listener = Listener::tcp(LOOPBACK).await.unwrap();
    let address = listener.local_addr().unwrap();
    assert!(matches!(Listener::tcp(address).await, Err(BindError::System { .. })));
    let running = run(listener, &world);

    let mut first = Client::over(dial(address).await);
    assert!(first.get("/").await.body.ends_with("Tcp(127.0.0.1)"));
    let mut second = Client::over(dial(address).await);
    assert_eq!(second.get("/").await.status, 200);
    let mut third = Client::over(dial(address).await);
    check_refusal(&third.answer().await, 503, "overloaded", "the third");
    assert_eq!(third.rest().await, "");
    assert_eq!(world.metrics.connections_refused.value(), 1);

    first.send("BAD\r\n\r\n").await;
    check_refusal(&first.answer().await, 400, "invalid_request", "malformed");
    assert_eq!(first.rest().await, "");
    drop(first);
    while world.metrics.connections.value() > 1 {
        tokio::task::yield_now().await;
    }
    let mut fourth = Client::over(dial(address).await);
    assert_eq!(fourth.get("/").await.status, 200);

    world.shutdown.advance(Phase::Draining);
    running.await.unwrap();
    assert_eq!(fourth.rest().await, "");
    let again = Listener::tcp(address).await;
    assert!(again.is_ok(), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn what_hangs_is_broken_off_after_the_drain_or_when_the_daemon_must_stop() {
    for phase in [Phase::Draining, Phase::Stopping] {
        let world = World::new();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let running = run(Listener::unix(&path).await.unwrap(), &world);
        let mut client = Client::over(UnixStream::connect(&path).await.unwrap());
        client.send("GET /patient HTTP/1.1\r\nHost: h\r\n\r\n").await;
        while world.metrics.connections.value() == 0 {
            tokio::task::yield_now().await;
        }
        world.clock.sleep(Duration::from_secs(1)).await;
        let begun = world.clock.mark();
        world.shutdown.advance(phase);
        running.await.unwrap();
        let expected = if phase == Phase::Draining { 30 } else { 0 };
        assert_eq!(begun.elapsed(), Duration::from_secs(expected));
        assert_eq!(world.metrics.connections.value(), 0);
        assert_eq!(client.rest().await, "");
    }
}

#[tokio::test]
async fn a_unix_socket_is_its_owner_s_alone_and_names_who_connects() {
    let world = World::new();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let running = run(Listener::unix(&path).await.unwrap(), &world);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut client = Client::over(UnixStream::connect(&path).await.unwrap());
    let uid = rustix::process::getuid().as_raw();
    let body = client.get("/").await.body;
    assert!(body.ends_with(&format!("Local {{ uid: {uid} }}")), "{body}");
    assert!(matches!(Listener::unix(&path).await, Err(BindError::Taken(_))));
    world.shutdown.advance(Phase::Draining);
    running.await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_socket_that_nobody_answers_is_replaced_and_other_files_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    assert!(Listener::unix(&path).await.is_ok());
    let file = dir.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    assert!(matches!(Listener::unix(&file).await, Err(BindError::NotASocket(_))));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let long = dir.path().join("x".repeat(200));
    assert!(matches!(Listener::unix(&long).await, Err(BindError::System { .. })));
}

#[tokio::test]
async fn a_port_with_tls_speaks_it_and_nothing_else() {
    let world = World::new();
    let dir = tempfile::tempdir().unwrap();
    let (files, root) = certificate(dir.path());
    let acceptor = Acceptor::load(files).unwrap();
    let listener = Listener::tcp(LOOPBACK).await.unwrap().with_tls(acceptor);
    let address = listener.local_addr().unwrap();
    let running = run(listener, &world);

    let mut plain = Client::over(dial(address).await);
    plain.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").await;
    while plain.more().await {}

    let mut roots = rustls::RootCertStore::empty();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let name = "localhost".try_into().unwrap();
    let stream = connector.connect(name, dial(address).await).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"http/1.1".as_slice()));
    let mut client = Client::over(stream);
    assert!(client.get("/").await.body.ends_with("Tcp(127.0.0.1)"));
    assert_eq!(client.get("/large").await.body.len(), 1024 * 1024);

    world.shutdown.advance(Phase::Draining);
    running.await.unwrap();
}

fn certificate(dir: &Path) -> (TlsFiles, rustls::pki_types::CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let files = TlsFiles { cert: dir.join("cert.pem"), key: dir.join("key.pem") };
    std::fs::write(&files.cert, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    (files, made.cert.der().clone())
}
