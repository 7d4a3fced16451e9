//! TLS with real certificates over a network in memory: who is believed, and what is said when
//! nobody is.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::sync::Arc;
use std::time::Duration;

use errand::domain::time::Timestamp;
use errand::outbound::fake::{Internet, Served};
use errand::outbound::{
    Answer, Ask, Client, ConnectError, Error, Guard, GuardConfig, Stage, TlsError, TlsVersion,
    Trust,
};
use errand::sys::clock::Clock;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{HandshakeKind, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

const HOST: &str = "hooks.example.org";
/// 1 June 2026.
const NOW: Timestamp = Timestamp::from_millis(1_780_272_000_000);

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivatePkcs8KeyDer<'static>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Test Authority");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for `name`, valid over these two years.
    fn issue(&self, name: &str, from: i32, until: i32) -> Identity {
        let (params, key) = leaf(name, from, until);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity::new(&certificate, &key)
    }
}

impl Identity {
    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        let chain = vec![certificate.der().clone()];
        Self { chain, key: key.serialize_der().into(), pem: certificate.pem() }
    }

    fn self_signed(name: &str) -> Self {
        let (params, key) = leaf(name, 2026, 2027);
        Self::new(&params.self_signed(&key).unwrap(), &key)
    }
}

fn leaf(name: &str, from: i32, until: i32) -> (CertificateParams, KeyPair) {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    (params, KeyPair::generate().unwrap())
}

fn acceptor(identity: Identity, versions: &[&'static SupportedProtocolVersion]) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(identity.chain, identity.key.into())
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

fn client(internet: &Internet, roots: &str) -> Client {
    let clock = Clock::simulated(NOW);
    let internet = Arc::new(internet.clone());
    let guard = Guard::new(GuardConfig::public(&[443]));
    let trust = Trust::new(clock.clone(), roots.as_bytes()).unwrap();
    Client::new(clock, guard, internet.clone(), internet, trust, Arc::default())
}

/// Lets `identity` answer for [`HOST`] over `versions`, and asks it.
async fn ask_server(
    identity: Identity,
    versions: &[&'static SupportedProtocolVersion],
    roots: &str,
) -> Result<Answer, Error> {
    let internet = Internet::new();
    let acceptor = acceptor(identity, versions);
    internet.site(HOST, 443, move |stream| answer(acceptor.clone(), stream));
    client(&internet, roots).exchange(&ask(&format!("https://{HOST}/"))).await
}

fn ask(url: &str) -> Ask {
    Ask::get(url.parse().unwrap())
}

/// Answers one request with how the handshake went and which name was asked for.
async fn answer(acceptor: TlsAcceptor, stream: Served) {
    let Ok(mut stream) = acceptor.accept(stream).await else {
        return;
    };
    let session = stream.get_ref().1;
    let resumed = session.handshake_kind() == Some(HandshakeKind::Resumed);
    let name = session.server_name().unwrap_or("none").to_owned();
    let body = format!("{} {name}", if resumed { "resumed" } else { "full" });
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let _ = stream.read(&mut [0; 4096]).await;
    let _ = stream.write_all((head + &body).as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[track_caller]
fn check_refused(found: Result<Answer, Error>, detail: TlsError) {
    assert_eq!(found.unwrap_err(), Error::Tls(detail));
}

#[tokio::test]
async fn a_certificate_of_an_extra_root_is_believed_and_its_facts_are_told() {
    let authority = Authority::new();
    let versions =
        [(&rustls::version::TLS12, TlsVersion::V12), (&rustls::version::TLS13, TlsVersion::V13)];
    for (version, expected) in versions {
        let identity = authority.issue(HOST, 2026, 2027);
        let answer = ask_server(identity, &[version], &authority.pem).await.unwrap();
        let facts = answer.tls.unwrap();
        assert_eq!(facts.version, expected);
        assert_eq!(facts.not_after, Timestamp::parse("2027-01-01T00:00:00Z").unwrap());
        assert_eq!(facts.issuer, "Test Authority");
        assert_eq!(&answer.body[..], format!("full {HOST}").as_bytes());
    }
}

#[tokio::test]
async fn a_certificate_is_refused_with_what_is_wrong_with_it() {
    let authority = Authority::new();
    for (name, from, until, detail) in [
        (HOST, 2024, 2026, TlsError::CertExpired),
        (HOST, 2027, 2028, TlsError::CertNotYetValid),
        ("other.example.org", 2026, 2027, TlsError::CertNameMismatch),
        ("*.org", 2026, 2027, TlsError::CertNameMismatch),
    ] {
        let identity = authority.issue(name, from, until);
        check_refused(ask_server(identity, rustls::ALL_VERSIONS, &authority.pem).await, detail);
    }
    for stranger in [authority.issue(HOST, 2026, 2027), Identity::self_signed(HOST)] {
        let found = ask_server(stranger, rustls::ALL_VERSIONS, "").await;
        check_refused(found, TlsError::CertUnknownIssuer);
    }
    let impostor = Authority::new().issue(HOST, 2026, 2027);
    let found = ask_server(impostor, rustls::ALL_VERSIONS, &authority.pem).await;
    check_refused(found, TlsError::CertInvalid);
}

#[tokio::test]
async fn a_self_signed_certificate_is_believed_when_it_is_an_extra_root() {
    let identity = Identity::self_signed(HOST);
    let roots = identity.pem.clone();
    assert!(ask_server(identity, rustls::ALL_VERSIONS, &roots).await.is_ok());
}

#[tokio::test]
async fn an_authority_does_not_pass_for_a_server() {
    let mut params = CertificateParams::new(vec![HOST.to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let identity = Identity::new(&params.self_signed(&key).unwrap(), &key);
    let roots = identity.pem.clone();
    check_refused(ask_server(identity, rustls::ALL_VERSIONS, &roots).await, TlsError::CertInvalid);
}

#[tokio::test]
async fn an_address_is_proven_by_a_certificate_for_that_address() {
    let authority = Authority::new();
    for (name, expected) in
        [("1.1.1.1", Ok(200)), ("1.1.1.2", Err(Error::Tls(TlsError::CertNameMismatch)))]
    {
        let internet = Internet::new();
        let acceptor = acceptor(authority.issue(name, 2026, 2027), rustls::ALL_VERSIONS);
        internet.serve("1.1.1.1:443", move |stream| answer(acceptor.clone(), stream));
        let found = client(&internet, &authority.pem).exchange(&ask("https://1.1.1.1/")).await;
        assert_eq!(found.map(|it| it.status), expected, "{name}");
    }
}

#[tokio::test]
async fn the_name_that_is_asked_for_is_the_one_that_is_sent_and_proven() {
    let authority = Authority::new();
    let internet = Internet::new();
    let identity = authority.issue("xn--bcher-kva.example.org", 2026, 2027);
    let acceptor = acceptor(identity, rustls::ALL_VERSIONS);
    let host = "xn--bcher-kva.example.org";
    internet.site(host, 443, move |stream| answer(acceptor.clone(), stream));
    let ask = ask("https://BÜCHER.example.org/");
    let answer = client(&internet, &authority.pem).exchange(&ask).await.unwrap();
    assert_eq!(&answer.body[..], format!("full {host}").as_bytes());
    assert_eq!(internet.asked(), [host]);
}

#[tokio::test]
async fn a_second_connection_takes_the_session_up_again_and_tells_the_same_facts() {
    let authority = Authority::new();
    let internet = Internet::new();
    let acceptor = acceptor(authority.issue(HOST, 2026, 2027), rustls::ALL_VERSIONS);
    internet.site(HOST, 443, move |stream| answer(acceptor.clone(), stream));
    let client = client(&internet, &authority.pem);
    let first = client.exchange(&ask(&format!("https://{HOST}/"))).await.unwrap();
    let second = client.exchange(&ask(&format!("https://{HOST}/"))).await.unwrap();
    assert!(first.body.starts_with(b"full") && second.body.starts_with(b"resumed"));
    assert_eq!(first.tls, second.tls);
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_refused_and_never_asked_in_plain_text() {
    for greeting in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"SSH-2.0-OpenSSH_9.9\r\n", b""] {
        let internet = Internet::new();
        internet.site(HOST, 443, move |mut stream| async move {
            let mut heard = [0; 4096];
            let count = stream.read(&mut heard).await.unwrap();
            assert_eq!(heard[..2], [22, 3], "not a TLS handshake: {:?}", &heard[..count]);
            let _ = stream.write_all(greeting).await;
        });
        let found = client(&internet, "").exchange(&ask(&format!("https://{HOST}/"))).await;
        check_refused(found, TlsError::Handshake);
    }
}

#[tokio::test]
async fn a_server_of_an_older_version_has_none_in_common() {
    let internet = Internet::new();
    internet.site(HOST, 443, async |mut stream| {
        let _ = stream.read(&mut [0; 4096]).await;
        // An alert: fatal, protocol version.
        let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, 70]).await;
    });
    let found = client(&internet, "").exchange(&ask(&format!("https://{HOST}/"))).await;
    check_refused(found, TlsError::NoCommonVersion);
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_stalls_ends_after_five_seconds() {
    let internet = Internet::new();
    internet.site(HOST, 443, async |stream| {
        std::future::pending::<()>().await;
        drop(stream);
    });
    let client = client(&internet, "");
    let mark = Clock::host().mark();
    let found = client.exchange(&ask(&format!("https://{HOST}/"))).await;
    assert_eq!(found.unwrap_err(), Error::Timeout(Stage::Tls));
    assert_eq!(mark.elapsed(), Duration::from_secs(5));
}

#[tokio::test]
async fn a_reset_in_the_handshake_is_a_broken_connection() {
    let internet = Internet::new();
    internet.site(HOST, 443, async |stream| stream.reset());
    let found = client(&internet, "").exchange(&ask(&format!("https://{HOST}/"))).await;
    assert_eq!(found.unwrap_err(), Error::Connect(ConnectError::Reset));
}

#[tokio::test]
async fn a_whole_answer_counts_although_the_server_does_not_say_goodbye() {
    let authority = Authority::new();
    for (head, expected) in [
        ("Content-Length: 5\r\n", Ok(5)),
        // Without a length, the end of the connection could have been forged.
        ("", Err(Error::BadResponse(errand::outbound::BadResponse::ClosedEarly))),
    ] {
        let internet = Internet::new();
        let acceptor = acceptor(authority.issue(HOST, 2026, 2027), rustls::ALL_VERSIONS);
        internet.site(HOST, 443, move |stream| {
            let acceptor = acceptor.clone();
            async move {
                let mut stream = acceptor.accept(stream).await.unwrap();
                let _ = stream.read(&mut [0; 4096]).await;
                let text = format!("HTTP/1.1 200 OK\r\n{head}\r\nhello");
                stream.write_all(text.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
            }
        });
        let ask = ask(&format!("https://{HOST}/"));
        let found = client(&internet, &authority.pem).exchange(&ask).await;
        assert_eq!(found.map(|it| it.body.len()), expected);
    }
}

#[tokio::test]
async fn reaching_a_server_tells_its_facts_and_asks_nothing() {
    let authority = Authority::new();
    let internet = Internet::new();
    let acceptor = acceptor(authority.issue(HOST, 2026, 2027), rustls::ALL_VERSIONS);
    let (said, mut heard) = tokio::sync::mpsc::channel(1);
    let ip = internet.site(HOST, 443, move |stream| {
        let (acceptor, said) = (acceptor.clone(), said.clone());
        async move {
            let mut text = Vec::new();
            // The client may be gone before the server has said everything.
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let _ = stream.read_to_end(&mut text).await;
            }
            said.send(text).await.unwrap();
        }
    });
    let ask = ask(&format!("https://{HOST}/"));
    let reached = client(&internet, &authority.pem).reach(&ask.url, &ask.limits).await.unwrap();
    assert_eq!(reached.tls.unwrap().issuer, "Test Authority");
    assert_eq!(reached.peer.ip(), ip);
    assert_eq!(heard.recv().await.unwrap(), b"");
}
