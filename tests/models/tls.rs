//! Upstreams behind TLS: a certificate proves the name, and the connection is kept.

use std::sync::Arc;
use std::time::Duration;

use errand::domain::time::Timestamp;
use errand::outbound::fake::Internet;
use errand::outbound::{
    Error, TlsError, Trust, UpstreamAsk, UpstreamLimits, UpstreamUrl, Upstreams,
};
use errand::sys::clock::Clock;
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;

use crate::support::read_request;

/// 1 June 2026.
const NOW: Timestamp = Timestamp::from_millis(1_780_272_000_000);

#[tokio::test(start_paused = true)]
async fn a_trusted_name_is_asked_again_over_the_same_connection_and_another_is_not_asked() {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let mut params = CertificateParams::new(vec!["a.example".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2027, 1, 1));
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let chain = vec![certificate.der().clone()];
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            chain,
            rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));

    let internet = Internet::new();
    for host in ["a.example", "b.example"] {
        let acceptor = acceptor.clone();
        internet.site(host, 443, move |stream| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                while read_request(&mut stream).await.is_some() {
                    let _ =
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                }
            }
        });
    }
    let clock = Clock::simulated(NOW);
    let trust = Trust::new(clock.clone(), issuer.pem().as_bytes()).unwrap();
    let shared = Arc::new(internet.clone());
    let upstreams = Upstreams::new(clock.clone(), shared.clone(), shared, trust);
    let ask = async |host: &str| {
        let base = format!("https://{host}/v1").parse().unwrap();
        let url = UpstreamUrl::new(&base, "models").unwrap();
        let (limits, until) =
            (UpstreamLimits::default(), clock.mark().after(Duration::from_mins(1)));
        let ask = UpstreamAsk { url: &url, bearer: None, body: None, limits, until };
        upstreams.ask(&ask).await?.read(100).await
    };
    assert_eq!(ask("a.example").await.unwrap(), "ok");
    assert_eq!(ask("a.example").await.unwrap(), "ok");
    assert_eq!(internet.dialled().len(), 1);
    assert_eq!(ask("b.example").await, Err(Error::Tls(TlsError::CertNameMismatch)));
}
