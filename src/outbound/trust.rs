//! Whom a TLS connection trusts, and what it learns about the other side.
//!
//! TLS 1.2 and 1.3 with ring's AEAD suites; Mozilla's roots and the operator's own. Certificates
//! are checked against the daemon's clock and the name in the URL; there is no way to switch
//! that off, and no fallback to plain text. Revocation is not checked.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, PeerIncompatible, ProtocolVersion,
    RootCertStore,
};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::domain::time::Timestamp;
use crate::outbound::certificate;
use crate::outbound::{ByteStream, ConnectError, Error, TlsError};
use crate::sys::clock::Clock;

/// Whom connections trust; cheap to clone, and clones share remembered sessions.
#[derive(Clone)]
pub struct Trust(Arc<ClientConfig>);

/// The version of TLS that both sides agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2.
    V12,
    /// TLS 1.3.
    V13,
}

/// What a TLS connection learned about the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFacts {
    /// The version in use.
    pub version: TlsVersion,
    /// Until when its certificate is valid.
    pub not_after: Timestamp,
    /// Who signed the certificate: a common name, else an organisation, else nothing.
    pub issuer: String,
}

/// The operator's own roots cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRoots {
    /// There is no certificate in the text, or its PEM is broken.
    Pem,
    /// The certificate with this number, counted from one, cannot be a root.
    Certificate(usize),
}

impl Trust {
    /// Trusts Mozilla's roots, and those in `extra_roots`: PEM, any number, nothing is fine too.
    ///
    /// # Errors
    ///
    /// [`BadRoots`] when `extra_roots` is not empty and not entirely certificates of roots.
    ///
    /// # Panics
    ///
    /// Never: ring has suites for both versions.
    pub fn new(clock: Clock, extra_roots: &[u8]) -> Result<Self, BadRoots> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        add_roots(&mut roots, extra_roots)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_details(provider, Arc::new(Now(clock)))
            .with_safe_default_protocol_versions()
            .expect("ring has suites for both versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::in_memory_sessions(SESSIONS_MAX);
        Ok(Self(Arc::new(config)))
    }

    /// Speaks TLS over `stream`, with whoever can prove to be `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Tls`], or [`Error::Connect`] when the other side hung up.
    pub(super) async fn connect(
        &self,
        name: ServerName<'static>,
        stream: Box<dyn ByteStream>,
    ) -> Result<TlsStream<Box<dyn ByteStream>>, Error> {
        let connector = TlsConnector::from(Arc::clone(&self.0));
        connector.connect(name, stream).await.map_err(|it| handshake_error(&it))
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trust")
    }
}

impl TlsFacts {
    /// Reads what the handshake showed; `None` when the certificate cannot be read.
    pub(super) fn of(stream: &TlsStream<Box<dyn ByteStream>>) -> Option<Self> {
        let (_, session) = stream.get_ref();
        let is_older = session.protocol_version()? == ProtocolVersion::TLSv1_2;
        let version = if is_older { TlsVersion::V12 } else { TlsVersion::V13 };
        let found = certificate::read(session.peer_certificates()?.first()?)?;
        Some(Self { version, not_after: found.not_after, issuer: found.issuer })
    }
}

impl TlsVersion {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V12 => "TLS 1.2",
            Self::V13 => "TLS 1.3",
        }
    }
}

impl fmt::Display for BadRoots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pem => f.write_str("no certificate in PEM form was found"),
            Self::Certificate(number) => write!(f, "certificate {number} cannot be a root"),
        }
    }
}

impl std::error::Error for BadRoots {}

/// The daemon's clock, for rustls.
#[derive(Debug)]
struct Now(Clock);

impl TimeProvider for Now {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().seconds()).ok()?;
        Some(UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds)))
    }
}

fn add_roots(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), BadRoots> {
    let mut found = 0;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|_| BadRoots::Pem)?;
        found += 1;
        roots.add(certificate).map_err(|_| BadRoots::Certificate(found))?;
    }
    let is_blank = pem.iter().all(u8::is_ascii_whitespace);
    if found == 0 && !is_blank { Err(BadRoots::Pem) } else { Ok(()) }
}

/// Why a handshake failed: what rustls says, else what the connection says.
fn handshake_error(error: &io::Error) -> Error {
    tracing::debug!(%error, "could not agree on TLS");
    match tls_error(error) {
        Some(detail) => Error::Tls(detail),
        None if error.kind() == io::ErrorKind::ConnectionReset => {
            Error::Connect(ConnectError::Reset)
        }
        None => Error::Tls(TlsError::Handshake),
    }
}

/// What rustls says about a failed read or write; `None` when it says nothing.
#[expect(clippy::wildcard_enum_match_arm, reason = "an open set of the library")]
pub(super) fn tls_error(error: &io::Error) -> Option<TlsError> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match error {
        rustls::Error::InvalidCertificate(certificate) => certificate_error(certificate),
        rustls::Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        )
        | rustls::Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            TlsError::NoCommonVersion
        }
        _ => TlsError::Handshake,
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "an open set of the library")]
const fn certificate_error(error: &CertificateError) -> TlsError {
    use CertificateError as Bad;
    match error {
        Bad::Expired | Bad::ExpiredContext { .. } => TlsError::CertExpired,
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => TlsError::CertNotYetValid,
        Bad::UnknownIssuer => TlsError::CertUnknownIssuer,
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => TlsError::CertNameMismatch,
        _ => TlsError::CertInvalid,
    }
}

/// The name that the other side must prove: an A-label, or an address.
pub(super) fn server_name(host: &url::Host<&str>) -> Option<ServerName<'static>> {
    match host {
        url::Host::Domain(name) => ServerName::try_from((*name).to_owned()).ok(),
        url::Host::Ipv4(ip) => Some(std::net::IpAddr::from(*ip).into()),
        url::Host::Ipv6(ip) => Some(std::net::IpAddr::from(*ip).into()),
    }
}

/// Sessions that are remembered, so that a second connection to a host needs less work.
const SESSIONS_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_that_cannot_be_used_are_found_at_once() {
        let new = |pem: &[u8]| Trust::new(Clock::host(), pem).map(|_| ());
        assert_eq!(new(b""), Ok(()));
        assert_eq!(new(b"\n \n"), Ok(()));
        assert_eq!(new(b"not pem"), Err(BadRoots::Pem));
        assert_eq!(
            new(b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"),
            Err(BadRoots::Pem)
        );
        let key = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(new(key), Err(BadRoots::Pem));
        let empty = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(new(empty), Err(BadRoots::Certificate(1)));
        let good = rcgen::generate_simple_self_signed(vec!["a.example".into()]).unwrap().cert.pem();
        assert_eq!(new(good.as_bytes()), Ok(()));
        let mixed = [good.as_bytes(), empty].concat();
        assert_eq!(new(&mixed), Err(BadRoots::Certificate(2)));
    }

    #[test]
    fn errors_of_rustls_are_told_apart_by_their_kind() {
        let check = |error: rustls::Error, detail| {
            let error = io::Error::new(io::ErrorKind::InvalidData, error);
            assert_eq!(tls_error(&error), Some(detail), "{error}");
        };
        use rustls::Error::{AlertReceived, InvalidCertificate, PeerIncompatible as Incompatible};
        check(InvalidCertificate(CertificateError::Expired), TlsError::CertExpired);
        check(InvalidCertificate(CertificateError::NotValidYet), TlsError::CertNotYetValid);
        check(InvalidCertificate(CertificateError::UnknownIssuer), TlsError::CertUnknownIssuer);
        check(InvalidCertificate(CertificateError::NotValidForName), TlsError::CertNameMismatch);
        check(InvalidCertificate(CertificateError::BadSignature), TlsError::CertInvalid);
        check(
            Incompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13),
            TlsError::NoCommonVersion,
        );
        check(AlertReceived(AlertDescription::ProtocolVersion), TlsError::NoCommonVersion);
        check(AlertReceived(AlertDescription::HandshakeFailure), TlsError::Handshake);
        assert_eq!(tls_error(&io::ErrorKind::UnexpectedEof.into()), None);
    }
}
