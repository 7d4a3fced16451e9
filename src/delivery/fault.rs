//! What a broken exchange means for a delivery: from closed lists to closed lists.

use crate::domain::fault::{Detail, Fault, Reason};
use crate::outbound::{BadResponse, ConnectError, Error, ResolveError, Stage, TlsError};

/// The fault of a receiver; `None` when this host is at fault and nothing was sent.
pub(super) const fn of(error: Error) -> Option<Fault> {
    Some(match error {
        Error::Url(_) | Error::Header(_) => Fault::of(Reason::Internal),
        Error::Resolve(error) => Fault::with(Reason::DnsFailed, resolve(error)),
        Error::Forbidden => Fault::of(Reason::AddressNotAllowed),
        Error::Connect(ConnectError::Refused) => connect(Detail::Refused),
        Error::Connect(ConnectError::Unreachable) => connect(Detail::Unreachable),
        Error::Connect(ConnectError::Reset) => connect(Detail::Reset),
        Error::Connect(ConnectError::Exhausted) => return None,
        Error::Tls(error) => Fault::with(Reason::TlsFailed, tls(error)),
        Error::Timeout(Stage::Connect) => Fault::with(Reason::Timeout, Detail::Connect),
        Error::Timeout(Stage::Tls) => Fault::with(Reason::Timeout, Detail::Tls),
        Error::Timeout(Stage::Head | Stage::Body) => Fault::with(Reason::Timeout, Detail::Response),
        Error::BadResponse(BadResponse::NotHttp) => bad(Detail::NotHttp),
        Error::BadResponse(BadResponse::HeadTooLarge) => bad(Detail::HeadTooLarge),
        Error::BadResponse(BadResponse::ClosedEarly) => bad(Detail::ClosedEarly),
        Error::TooLarge(_) | Error::BadEncoding => Fault::of(Reason::BadResponse),
    })
}

const fn connect(detail: Detail) -> Fault {
    Fault::with(Reason::ConnectFailed, detail)
}

const fn bad(detail: Detail) -> Fault {
    Fault::with(Reason::BadResponse, detail)
}

const fn resolve(error: ResolveError) -> Detail {
    match error {
        ResolveError::NxDomain => Detail::NxDomain,
        ResolveError::NoAddress => Detail::NoAddress,
        ResolveError::ServerFailure => Detail::ServerFailure,
        ResolveError::Timeout => Detail::DnsTimeout,
    }
}

const fn tls(error: TlsError) -> Detail {
    match error {
        TlsError::CertExpired => Detail::CertExpired,
        TlsError::CertNotYetValid => Detail::CertNotYetValid,
        TlsError::CertUnknownIssuer => Detail::CertUnknownIssuer,
        TlsError::CertNameMismatch => Detail::CertNameMismatch,
        TlsError::CertInvalid => Detail::CertInvalid,
        TlsError::Handshake => Detail::Handshake,
        TlsError::NoCommonVersion => Detail::NoCommonVersion,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::BadUrl;

    #[test]
    fn the_words_of_a_fault_are_those_of_the_broken_exchange() {
        for error in [
            Error::Url(BadUrl::Scheme),
            Error::Resolve(ResolveError::NxDomain),
            Error::Resolve(ResolveError::Timeout),
            Error::Forbidden,
            Error::Connect(ConnectError::Refused),
            Error::Connect(ConnectError::Reset),
            Error::Tls(TlsError::CertNameMismatch),
            Error::Timeout(Stage::Tls),
            Error::Timeout(Stage::Head),
            Error::BadResponse(BadResponse::HeadTooLarge),
            Error::BadEncoding,
        ] {
            let fault = of(error).unwrap();
            assert_eq!(fault.reason.as_str(), error.reason());
            assert_eq!(fault.detail.map(Detail::as_str), error.detail());
        }
    }

    #[test]
    fn a_host_without_sockets_is_no_fault_of_the_receiver() {
        assert_eq!(of(Error::Connect(ConnectError::Exhausted)), None);
    }
}
