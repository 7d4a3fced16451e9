//! What can go wrong with an exchange: the stage it broke in, and a closed detail.
//!
//! The words are part of the interface: a delivery log shows them. They come from the kinds of
//! lower errors, never from their texts, and name no address, no path and no text of the other
//! side. Since only public addresses are dialled, they are no scanner of the host's network.

use std::fmt;
use std::io;
use std::net::IpAddr;

use crate::outbound::ResolveError;

/// Why there is no answer, or not the whole of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The URL cannot be asked; nothing was looked up.
    Url(BadUrl),
    /// This header is one that the client writes itself, or holds what a header cannot.
    Header(&'static str),
    /// The name has no address.
    Resolve(ResolveError),
    /// The guard refused an address or the port; no packet left.
    Forbidden,
    /// No address took the connection, or it broke before anything was answered.
    Connect(ConnectError),
    /// The other side could not prove who it is, or does not speak our TLS.
    Tls(TlsError),
    /// A stage took too long.
    Timeout(Stage),
    /// What came back is no answer.
    BadResponse(BadResponse),
    /// The answer is larger than the caller takes.
    TooLarge(TooLarge),
    /// The body is not coded as it says, or in a way that is not known here.
    BadEncoding,
}

/// Why a URL cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadUrl {
    /// It is neither `http` nor `https`.
    Scheme,
    /// It carries a user name or a password.
    Credentials,
    /// Its host is absent, or ends with a dot, or is no name that TLS can check.
    Host,
    /// Its path or query holds what a request line cannot.
    Path,
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// The other side said no.
    Refused,
    /// No route leads there, or the host's own firewall forbids it.
    Unreachable,
    /// The other side hung up at once.
    Reset,
    /// This host has no socket, port or memory left: not the other side's fault.
    Exhausted,
}

/// Why there is no TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsError {
    /// The certificate was valid once.
    CertExpired,
    /// The certificate will be valid later.
    CertNotYetValid,
    /// Nobody that is trusted here signed it.
    CertUnknownIssuer,
    /// It is somebody else's.
    CertNameMismatch,
    /// It is wrong in another way.
    CertInvalid,
    /// The two sides did not come to terms, or the other side does not speak TLS.
    Handshake,
    /// The other side speaks older versions only.
    NoCommonVersion,
}

/// The stage that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Opening the connection.
    Connect,
    /// Agreeing on TLS.
    Tls,
    /// From the request to the answer's head.
    Head,
    /// The answer's body.
    Body,
}

/// Why what came back is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadResponse {
    /// It is not HTTP, or a switch to another protocol.
    NotHttp,
    /// Its head is larger than any sensible one.
    HeadTooLarge,
    /// It ended before its end.
    ClosedEarly,
}

/// Which size was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// The body as it was sent.
    Wire,
    /// The body as it was meant.
    Decoded,
    /// The second is more than a hundred times the first: a bomb.
    Ratio,
}

impl Error {
    /// The word for the kind in a delivery log. Source: the contract, section 8.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Url(_) | Self::Header(_) => "internal",
            Self::Resolve(_) => "dns_failed",
            Self::Forbidden => "address_not_allowed",
            Self::Connect(_) => "connect_failed",
            Self::Tls(_) => "tls_failed",
            Self::Timeout(_) => "timeout",
            Self::BadResponse(_) | Self::TooLarge(_) | Self::BadEncoding => "bad_response",
        }
    }

    /// The word for the detail in a delivery log, where there is one.
    #[must_use]
    pub const fn detail(self) -> Option<&'static str> {
        match self {
            Self::Resolve(detail) => Some(detail.as_str()),
            Self::Connect(detail) => detail.as_str(),
            Self::Tls(detail) => Some(detail.as_str()),
            Self::Timeout(stage) => Some(stage.as_str()),
            Self::BadResponse(detail) => Some(detail.as_str()),
            Self::Url(_)
            | Self::Header(_)
            | Self::Forbidden
            | Self::TooLarge(_)
            | Self::BadEncoding => None,
        }
    }
}

impl ConnectError {
    /// Reads the kind of a failed dial to `ip`.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "an open set of the host")]
    pub fn of(error: &io::Error, ip: IpAddr) -> Self {
        use io::ErrorKind as Kind;
        if error.raw_os_error().is_some_and(|it| EXHAUSTED.contains(&it)) {
            return Self::Exhausted;
        }
        match error.kind() {
            Kind::OutOfMemory => Self::Exhausted,
            // No port is left; for IPv6 it is also what a host without IPv6 says.
            Kind::AddrNotAvailable if ip.is_ipv4() => Self::Exhausted,
            Kind::ConnectionRefused => Self::Refused,
            Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => Self::Reset,
            _ => Self::Unreachable,
        }
    }

    /// The word for it; `None` when the fault is on this side.
    #[must_use]
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Refused => Some("refused"),
            Self::Unreachable => Some("unreachable"),
            Self::Reset => Some("reset"),
            Self::Exhausted => None,
        }
    }
}

impl TlsError {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CertExpired => "cert_expired",
            Self::CertNotYetValid => "cert_not_yet_valid",
            Self::CertUnknownIssuer => "cert_unknown_issuer",
            Self::CertNameMismatch => "cert_name_mismatch",
            Self::CertInvalid => "cert_invalid",
            Self::Handshake => "handshake",
            Self::NoCommonVersion => "no_common_version",
        }
    }
}

impl Stage {
    /// The word for it: whoever waits for an answer does not care which part is late.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Head | Self::Body => "response",
        }
    }
}

impl BadResponse {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotHttp => "not_http",
            Self::HeadTooLarge => "head_too_large",
            Self::ClosedEarly => "closed_early",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Url(BadUrl::Scheme) => "the scheme is neither http nor https",
            Self::Url(BadUrl::Credentials) => "the URL carries a user name or a password",
            Self::Url(BadUrl::Host) => "the host is not one that can be asked",
            Self::Url(BadUrl::Path) => "the path is not one that can be asked for",
            Self::Header(name) => return write!(f, "the header {name} cannot be sent"),
            Self::Resolve(detail) => return write!(f, "the name was not resolved: {detail}"),
            Self::Forbidden => "the address or the port is not allowed",
            Self::Connect(ConnectError::Refused) => "the connection was refused",
            Self::Connect(ConnectError::Unreachable) => "the address cannot be reached",
            Self::Connect(ConnectError::Reset) => "the connection was reset",
            Self::Connect(ConnectError::Exhausted) => "this host has no socket left",
            Self::Tls(detail) => return write!(f, "no agreement on TLS: {}", detail.as_str()),
            Self::Timeout(stage) => return write!(f, "{} took too long", stage.phrase()),
            Self::BadResponse(BadResponse::NotHttp) => "what came back is not HTTP",
            Self::BadResponse(BadResponse::HeadTooLarge) => "the head is too large",
            Self::BadResponse(BadResponse::ClosedEarly) => "the connection closed too early",
            Self::TooLarge(TooLarge::Wire | TooLarge::Decoded) => "the body is too large",
            Self::TooLarge(TooLarge::Ratio) => "the body is a decompression bomb",
            Self::BadEncoding => "the body is not coded as it says",
        };
        f.write_str(text)
    }
}

impl std::error::Error for Error {}

impl Stage {
    const fn phrase(self) -> &'static str {
        match self {
            Self::Connect => "connecting",
            Self::Tls => "the TLS handshake",
            Self::Head => "the answer's head",
            Self::Body => "the answer's body",
        }
    }
}

/// Numbers of the host's errors for which there is no kind: too many files in the system, too
/// many in the process, no buffer. The last one is Linux's.
const EXHAUSTED: [i32; 3] = [23, 24, 105];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_dial_is_known_by_its_kind() {
        let v4 = IpAddr::from([8, 8, 8, 8]);
        for (error, kind) in [
            (io::Error::from(io::ErrorKind::ConnectionRefused), ConnectError::Refused),
            (io::Error::from(io::ErrorKind::ConnectionReset), ConnectError::Reset),
            (io::Error::from(io::ErrorKind::NetworkUnreachable), ConnectError::Unreachable),
            (io::Error::from(io::ErrorKind::PermissionDenied), ConnectError::Unreachable),
            (io::Error::from(io::ErrorKind::HostUnreachable), ConnectError::Unreachable),
            (io::Error::from_raw_os_error(24), ConnectError::Exhausted),
            (io::Error::from(io::ErrorKind::AddrNotAvailable), ConnectError::Exhausted),
        ] {
            assert_eq!(ConnectError::of(&error, v4), kind, "{error}");
        }
        let taken = io::Error::from(io::ErrorKind::AddrNotAvailable);
        let no_ipv6 = ConnectError::of(&taken, IpAddr::from([0; 16]));
        assert_eq!(no_ipv6, ConnectError::Unreachable);
    }

    #[test]
    fn every_error_has_a_reason_and_reads_as_a_fragment() {
        for (error, reason, detail) in [
            (Error::Url(BadUrl::Scheme), "internal", None),
            (Error::Resolve(ResolveError::NxDomain), "dns_failed", Some("nxdomain")),
            (Error::Forbidden, "address_not_allowed", None),
            (Error::Connect(ConnectError::Reset), "connect_failed", Some("reset")),
            (Error::Connect(ConnectError::Exhausted), "connect_failed", None),
            (Error::Tls(TlsError::CertExpired), "tls_failed", Some("cert_expired")),
            (Error::Timeout(Stage::Head), "timeout", Some("response")),
            (Error::BadResponse(BadResponse::NotHttp), "bad_response", Some("not_http")),
            (Error::TooLarge(TooLarge::Ratio), "bad_response", None),
        ] {
            assert_eq!((error.reason(), error.detail()), (reason, detail));
            let text = error.to_string();
            assert!(text.starts_with(char::is_lowercase) && !text.ends_with('.'), "{text}");
        }
    }
}
