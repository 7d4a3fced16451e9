//! Certificates for the hosts of a test, and the authority that vouches for them.

use std::sync::Arc;

use errand::outbound::fake::Served;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Encrypts what hosts of a test say.
#[derive(Clone)]
pub(crate) struct Encryption {
    acceptor: TlsAcceptor,
    /// The authority, for those who should believe it.
    pub(crate) root: String,
}

impl Encryption {
    /// For hosts of these names.
    pub(crate) fn new(names: &[&str]) -> Self {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = KeyPair::generate().unwrap();
        let root = authority.self_signed(&authority_key).unwrap().pem();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(2028, 1, 1);
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::new(authority, authority_key);
        let chain = vec![params.signed_by(&key, &issuer).unwrap().der().clone()];
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
        Self { acceptor: TlsAcceptor::from(Arc::new(config)), root }
    }

    /// Agrees with whoever has connected.
    pub(crate) async fn accept(&self, stream: Served) -> Option<TlsStream<Served>> {
        self.acceptor.accept(stream).await.ok()
    }
}
