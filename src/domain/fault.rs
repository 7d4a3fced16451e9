//! Why a delivery was not made: a reason and a detail, both from closed lists.
//!
//! The words are part of the interface and name no address, no path and no text of the other
//! side. Source: service interface, "Delivery log entry"; the contract, section 8.

/// Why an attempt failed, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reason.
    pub reason: Reason,
    /// More about it, where there is more.
    pub detail: Option<Detail>,
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The name has no address.
    DnsFailed,
    /// An address is not public, or the URL is not allowed any more; nothing was sent.
    AddressNotAllowed,
    /// No connection.
    ConnectFailed,
    /// No agreement on TLS, or a certificate that proves nothing.
    TlsFailed,
    /// A stage took too long.
    Timeout,
    /// An answer other than 2xx.
    HttpStatus,
    /// What came back is no answer.
    BadResponse,
    /// This process died or was stopped during the attempt.
    Interrupted,
    /// The receiver was disabled.
    ReceiverDisabled,
    /// The run was deleted.
    RunDeleted,
    /// Too much waits for the receiver.
    BacklogLimit,
    /// A fault of ours.
    Internal,
}

/// The detail of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// DNS: there is no such name.
    NxDomain,
    /// DNS: the name has no address.
    NoAddress,
    /// DNS: the servers failed.
    ServerFailure,
    /// DNS: no answer in time.
    DnsTimeout,
    /// Connection: the other side said no.
    Refused,
    /// Connection: no route.
    Unreachable,
    /// Connection: the other side hung up.
    Reset,
    /// Certificate: valid once.
    CertExpired,
    /// Certificate: valid later.
    CertNotYetValid,
    /// Certificate: signed by nobody that is trusted here.
    CertUnknownIssuer,
    /// Certificate: somebody else's.
    CertNameMismatch,
    /// Certificate: wrong in another way.
    CertInvalid,
    /// TLS: no agreement, or no TLS at all.
    Handshake,
    /// TLS: older versions only.
    NoCommonVersion,
    /// Too long: opening the connection.
    Connect,
    /// Too long: agreeing on TLS.
    Tls,
    /// Too long: the answer.
    Response,
    /// Answer: not HTTP.
    NotHttp,
    /// Answer: a head larger than any sensible one.
    HeadTooLarge,
    /// Answer: it ended before its end.
    ClosedEarly,
    /// Status: a redirect, which is not followed.
    Redirect,
}

impl Fault {
    /// A fault without a detail.
    #[must_use]
    pub const fn of(reason: Reason) -> Self {
        Self { reason, detail: None }
    }

    /// A fault with a detail.
    #[must_use]
    pub const fn with(reason: Reason, detail: Detail) -> Self {
        Self { reason, detail: Some(detail) }
    }
}

impl Reason {
    /// Every reason. The order is that of the codes on disk: new ones go to the end.
    pub const ALL: [Self; 12] = [
        Self::DnsFailed,
        Self::AddressNotAllowed,
        Self::ConnectFailed,
        Self::TlsFailed,
        Self::Timeout,
        Self::HttpStatus,
        Self::BadResponse,
        Self::Interrupted,
        Self::ReceiverDisabled,
        Self::RunDeleted,
        Self::BacklogLimit,
        Self::Internal,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DnsFailed => "dns_failed",
            Self::AddressNotAllowed => "address_not_allowed",
            Self::ConnectFailed => "connect_failed",
            Self::TlsFailed => "tls_failed",
            Self::Timeout => "timeout",
            Self::HttpStatus => "http_status",
            Self::BadResponse => "bad_response",
            Self::Interrupted => "interrupted",
            Self::ReceiverDisabled => "receiver_disabled",
            Self::RunDeleted => "run_deleted",
            Self::BacklogLimit => "backlog_limit",
            Self::Internal => "internal",
        }
    }
}

impl Detail {
    /// Every detail. The order is that of the codes on disk: new ones go to the end.
    pub const ALL: [Self; 21] = [
        Self::NxDomain,
        Self::NoAddress,
        Self::ServerFailure,
        Self::DnsTimeout,
        Self::Refused,
        Self::Unreachable,
        Self::Reset,
        Self::CertExpired,
        Self::CertNotYetValid,
        Self::CertUnknownIssuer,
        Self::CertNameMismatch,
        Self::CertInvalid,
        Self::Handshake,
        Self::NoCommonVersion,
        Self::Connect,
        Self::Tls,
        Self::Response,
        Self::NotHttp,
        Self::HeadTooLarge,
        Self::ClosedEarly,
        Self::Redirect,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NxDomain => "nxdomain",
            Self::NoAddress => "no_address",
            Self::ServerFailure => "server_failure",
            Self::DnsTimeout => "timeout",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::Reset => "reset",
            Self::CertExpired => "cert_expired",
            Self::CertNotYetValid => "cert_not_yet_valid",
            Self::CertUnknownIssuer => "cert_unknown_issuer",
            Self::CertNameMismatch => "cert_name_mismatch",
            Self::CertInvalid => "cert_invalid",
            Self::Handshake => "handshake",
            Self::NoCommonVersion => "no_common_version",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Response => "response",
            Self::NotHttp => "not_http",
            Self::HeadTooLarge => "head_too_large",
            Self::ClosedEarly => "closed_early",
            Self::Redirect => "redirect",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_and_detail_stands_at_its_number() {
        assert!(Reason::ALL.into_iter().enumerate().all(|(at, it)| it as usize == at));
        assert!(Detail::ALL.into_iter().enumerate().all(|(at, it)| it as usize == at));
    }

    #[test]
    fn no_two_reasons_have_one_word() {
        let mut words = Reason::ALL.map(Reason::as_str);
        words.sort_unstable();
        assert!(words.windows(2).all(|it| it[0] != it[1]));
    }
}
