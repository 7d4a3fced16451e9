//! Why an audit could not be done: precise codes, and one sentence each for the owner of the run.

use crate::agents::page::fetch::{Trouble, Unfetched};
use crate::agents::page::text::quote;
use crate::agents::page::trail::Astray;
use crate::domain::outcome::{Failure, Reason};
use crate::outbound::Error;

/// A code. Source: the contract, section 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The address is not one that is fetched.
    UrlInvalid,
    /// The name leads to an address that is not public.
    AddressForbidden,
    /// The name has no address.
    DnsError,
    /// There is no connection, or it broke before the answer was whole.
    ConnectError,
    /// There is no agreement on TLS.
    TlsError,
    /// It took too long.
    Timeout,
    /// The page is too large.
    TooLarge,
    /// The page is not compressed as it says.
    BadEncoding,
    /// The redirects lead in a circle.
    RedirectLoop,
    /// There are too many redirects.
    TooManyRedirects,
    /// A redirect leads to an address that is not fetched.
    RedirectForbidden,
    /// What came back is not a page.
    NotHtml,
    /// A firewall wants to see a browser.
    BotChallenge,
    /// The fault is on this side.
    Internal,
}

/// An audit that could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The code.
    pub code: Code,
    /// A sentence for the owner of the run.
    pub message: String,
}

impl Undone {
    /// An audit that could not be done for a reason.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl Code {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UrlInvalid => "url_invalid",
            Self::AddressForbidden => "address_forbidden",
            Self::DnsError => "dns_error",
            Self::ConnectError => "connect_error",
            Self::TlsError => "tls_error",
            Self::Timeout => "timeout",
            Self::TooLarge => "too_large",
            Self::BadEncoding => "bad_encoding",
            Self::RedirectLoop => "redirect_loop",
            Self::TooManyRedirects => "too_many_redirects",
            Self::RedirectForbidden => "redirect_forbidden",
            Self::NotHtml => "not_html",
            Self::BotChallenge => "bot_challenge",
            Self::Internal => "internal",
        }
    }
}

impl From<Undone> for Failure {
    fn from(undone: Undone) -> Self {
        let (code, message) = (undone.code.as_str().to_owned(), undone.message);
        Self { reason: Reason::AgentError, code, message }
    }
}

impl From<Unfetched> for Undone {
    fn from(it: Unfetched) -> Self {
        let code = match &it.why {
            Trouble::Exchange(error) => of_exchange(*error, it.was_redirected),
            Trouble::Astray(Astray::Loop) => Code::RedirectLoop,
            Trouble::Astray(Astray::TooLong) => Code::TooManyRedirects,
            Trouble::Astray(Astray::Forbidden) => Code::RedirectForbidden,
            Trouble::Astray(Astray::Nowhere(_)) => Code::NotHtml,
        };
        let host = quote(it.url.host_str().unwrap_or_default());
        Self { code, message: format!("Could not fetch the page from {host}: {}.", it.why) }
    }
}

const fn of_exchange(error: Error, was_redirected: bool) -> Code {
    match error {
        Error::Url(_) if was_redirected => Code::RedirectForbidden,
        Error::Url(_) => Code::UrlInvalid,
        Error::Header(_) => Code::Internal,
        Error::Resolve(_) => Code::DnsError,
        Error::Forbidden if was_redirected => Code::RedirectForbidden,
        Error::Forbidden => Code::AddressForbidden,
        Error::Connect(_) | Error::BadResponse(_) => Code::ConnectError,
        Error::Tls(_) => Code::TlsError,
        Error::Timeout(_) => Code::Timeout,
        Error::TooLarge(_) => Code::TooLarge,
        Error::BadEncoding => Code::BadEncoding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::{
        BadResponse, BadUrl, ConnectError, ResolveError, Stage, TlsError, TooLarge,
    };

    #[track_caller]
    fn check_code(why: Trouble, was_redirected: bool, code: &str) {
        let url = url::Url::parse("https://example.com/secret?x=1").unwrap();
        let undone = Undone::from(Unfetched { url, was_redirected, why });
        assert_eq!(undone.code.as_str(), code, "{}", undone.message);
        assert!(undone.message.contains("`example.com`") && !undone.message.contains("secret"));
        assert!(undone.message.ends_with('.'), "{}", undone.message);
    }

    #[test]
    fn every_trouble_has_its_code() {
        let exchange =
            |error, redirected, code| check_code(Trouble::Exchange(error), redirected, code);
        exchange(Error::Url(BadUrl::Host), false, "url_invalid");
        exchange(Error::Resolve(ResolveError::NxDomain), false, "dns_error");
        exchange(Error::Forbidden, false, "address_forbidden");
        exchange(Error::Forbidden, true, "redirect_forbidden");
        exchange(Error::Connect(ConnectError::Refused), true, "connect_error");
        exchange(Error::BadResponse(BadResponse::ClosedEarly), false, "connect_error");
        exchange(Error::Tls(TlsError::CertExpired), false, "tls_error");
        exchange(Error::Timeout(Stage::Body), false, "timeout");
        exchange(Error::TooLarge(TooLarge::Ratio), false, "too_large");
        exchange(Error::BadEncoding, false, "bad_encoding");
        exchange(Error::Header("x"), false, "internal");
        let astray = |astray, code| check_code(Trouble::Astray(astray), true, code);
        astray(Astray::Loop, "redirect_loop");
        astray(Astray::TooLong, "too_many_redirects");
        astray(Astray::Forbidden, "redirect_forbidden");
        astray(Astray::Nowhere(302), "not_html");
    }
}
