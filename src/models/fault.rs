//! Why a model does not answer, or not to the end: a closed list, fit for the caller.
//!
//! An upstream's own words and numbers end here: its refusal of our key is no refusal of the
//! caller's, and its texts may hold the prompt. Source: the contract, sections 2 and 5.

use std::fmt;
use std::time::Duration;

use crate::outbound::{BadResponse, Error, Stage};

/// Why there is no answer, or not the whole of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The upstream does not take the request; its words, where the operator shows them.
    Rejected(Option<String>),
    /// The conversation and the answer do not fit into the model.
    ContextLength,
    /// Every upstream is asked too often; how long to wait.
    RateLimited(Duration),
    /// The upstream failed, or could not be reached.
    Failed,
    /// What the upstream sent is no answer.
    Invalid,
    /// The upstream does not know our key, our model or our path: the operator must act.
    Misconfigured,
    /// The answer broke off before its end.
    Truncated,
    /// The upstream is still loading the model; how long to wait.
    Loading(Duration),
    /// Every upstream has failed again and again, and is left alone; for how long.
    Unavailable(Duration),
    /// It took too long.
    Timeout,
}

impl Fault {
    /// The word for it in an error body.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Rejected(_) => "upstream_rejected_request",
            Self::ContextLength => "context_length_exceeded",
            Self::RateLimited(_) => "upstream_rate_limited",
            Self::Failed => "upstream_error",
            Self::Invalid => "upstream_invalid_response",
            Self::Misconfigured => "upstream_misconfigured",
            Self::Truncated => "upstream_truncated",
            Self::Loading(_) => "model_loading",
            Self::Unavailable(_) => "upstream_unavailable",
            Self::Timeout => "upstream_timeout",
        }
    }

    /// How long to wait before the same is asked again, where that helps: at most a minute.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited(pause) | Self::Loading(pause) | Self::Unavailable(pause) => {
                Some(*pause)
            }
            Self::Rejected(_)
            | Self::ContextLength
            | Self::Failed
            | Self::Invalid
            | Self::Misconfigured
            | Self::Truncated
            | Self::Timeout => None,
        }
    }

    /// What an error of the connection means before the head of an answer is there.
    pub(in crate::models) const fn of_head(error: Error) -> Self {
        match error {
            Error::Url(_) | Error::Header(_) | Error::Forbidden => Self::Misconfigured,
            Error::Resolve(_)
            | Error::Connect(_)
            | Error::Tls(_)
            | Error::Timeout(Stage::Connect | Stage::Tls)
            | Error::BadResponse(BadResponse::ClosedEarly) => Self::Failed,
            Error::Timeout(Stage::Head | Stage::Body) => Self::Timeout,
            Error::BadResponse(BadResponse::NotHttp | BadResponse::HeadTooLarge)
            | Error::TooLarge(_)
            | Error::BadEncoding => Self::Invalid,
        }
    }

    /// What an error of the connection means in the body of an answer.
    pub(in crate::models) const fn of_body(error: Error) -> Self {
        match error {
            Error::BadResponse(BadResponse::ClosedEarly) | Error::Connect(_) | Error::Tls(_) => {
                Self::Truncated
            }
            Error::Url(_)
            | Error::Header(_)
            | Error::Forbidden
            | Error::Resolve(_)
            | Error::Timeout(_)
            | Error::BadResponse(BadResponse::NotHttp | BadResponse::HeadTooLarge)
            | Error::TooLarge(_)
            | Error::BadEncoding => Self::of_head(error),
        }
    }

    /// Whether another upstream may do better, while nothing was delivered.
    pub(in crate::models) const fn allows_another(&self) -> bool {
        match self {
            Self::RateLimited(_)
            | Self::Failed
            | Self::Invalid
            | Self::Misconfigured
            | Self::Truncated
            | Self::Loading(_)
            | Self::Unavailable(_) => true,
            // Another would say the same, or there is no time left to ask it.
            Self::Rejected(_) | Self::ContextLength | Self::Timeout => false,
        }
    }

    /// Whether the upstream itself is in a bad way.
    pub(in crate::models) const fn is_breakage(&self) -> bool {
        match self {
            Self::Failed | Self::Invalid | Self::Truncated | Self::Timeout => true,
            Self::Rejected(_)
            | Self::ContextLength
            | Self::RateLimited(_)
            | Self::Misconfigured
            | Self::Loading(_)
            | Self::Unavailable(_) => false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rejected(None) => "the model does not take this request",
            Self::Rejected(Some(text)) => {
                return write!(f, "the model does not take this request: {text}");
            }
            Self::ContextLength => "the conversation is too long for the model",
            Self::RateLimited(_) => "the model is asked too often at the moment",
            Self::Failed => "the model failed",
            Self::Invalid => "the model's answer could not be read",
            Self::Misconfigured => "the model is not set up correctly on this instance",
            Self::Truncated => "the model's answer broke off before its end",
            Self::Loading(_) => "the model is being loaded",
            Self::Unavailable(_) => "the model is not available at the moment",
            Self::Timeout => "the model took too long",
        })
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::{BadUrl, ConnectError, ResolveError, TlsError, TooLarge};

    #[test]
    fn an_error_of_the_connection_has_its_fault() {
        for (error, head, body) in [
            (Error::Url(BadUrl::Scheme), Fault::Misconfigured, Fault::Misconfigured),
            (Error::Forbidden, Fault::Misconfigured, Fault::Misconfigured),
            (Error::Resolve(ResolveError::NxDomain), Fault::Failed, Fault::Failed),
            (Error::Connect(ConnectError::Refused), Fault::Failed, Fault::Truncated),
            (Error::Tls(TlsError::CertExpired), Fault::Failed, Fault::Truncated),
            (Error::Timeout(Stage::Connect), Fault::Failed, Fault::Failed),
            (Error::Timeout(Stage::Head), Fault::Timeout, Fault::Timeout),
            (Error::Timeout(Stage::Body), Fault::Timeout, Fault::Timeout),
            (Error::BadResponse(BadResponse::ClosedEarly), Fault::Failed, Fault::Truncated),
            (Error::BadResponse(BadResponse::NotHttp), Fault::Invalid, Fault::Invalid),
            (Error::TooLarge(TooLarge::Wire), Fault::Invalid, Fault::Invalid),
        ] {
            assert_eq!((Fault::of_head(error), Fault::of_body(error)), (head, body), "{error}");
        }
    }

    #[test]
    fn codes_are_those_of_the_contract_and_pauses_go_with_those_that_pass() {
        let pause = Duration::from_secs(7);
        for (fault, code, waits) in [
            (Fault::Rejected(None), "upstream_rejected_request", false),
            (Fault::ContextLength, "context_length_exceeded", false),
            (Fault::RateLimited(pause), "upstream_rate_limited", true),
            (Fault::Failed, "upstream_error", false),
            (Fault::Invalid, "upstream_invalid_response", false),
            (Fault::Misconfigured, "upstream_misconfigured", false),
            (Fault::Truncated, "upstream_truncated", false),
            (Fault::Loading(pause), "model_loading", true),
            (Fault::Unavailable(pause), "upstream_unavailable", true),
            (Fault::Timeout, "upstream_timeout", false),
        ] {
            assert_eq!((fault.code(), fault.retry_after()), (code, waits.then_some(pause)));
            let text = fault.to_string();
            assert!(text.starts_with("the ") && !text.ends_with('.'), "{text}");
        }
    }
}
