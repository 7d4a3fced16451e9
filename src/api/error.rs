//! One table for all that is not a success: status, type, code and message.
//!
//! The message says what the caller can do; what happened inside is in the log. A text of the
//! caller that is repeated here is cut, and anything that looks like a secret is taken out.
//! Source: the contract, section 2.

use std::time::Duration;

use serde_json::json;

use crate::api::app_row::app_row;
use crate::api::chat_fault;
use crate::api::row::{AUTH, INVALID, PERMISSION, RATE, Row, bad, field_row, row, shown};
use crate::app::{self, InputProblem};
use crate::domain::account::Right;
use crate::domain::limits::RETRY_AFTER_MAX;
use crate::inbound::{self, BodyError, Method, Refusal, RequestId, Response};

/// Why a request is not a success.
#[derive(Debug)]
pub(in crate::api) enum Failure {
    /// The path has something in it that no path has.
    BadPath,
    /// There is no such path.
    NoRoute,
    /// The path has other methods.
    NoMethod(Vec<Method>),
    /// No key was shown, or not in the way it should be.
    NoKey,
    /// A key stood in the URL.
    KeyInUrl,
    /// The key is not one of this instance.
    UnknownKey,
    /// The key was ended.
    RevokedKey,
    /// The key's time is over.
    ExpiredKey,
    /// The key is not meant for the network of the caller.
    ForeignNetwork,
    /// Too many requests from one address had no valid key.
    TooManyStrangers { retry_after: Duration },
    /// The key does not open this.
    NoRight(Right),
    /// The key or its account asks too often.
    RateLimited { retry_after: Duration },
    /// The body is of another type.
    NotJson,
    /// The body could not be read.
    Body(BodyError),
    /// The body is not a JSON object that can be used; says why.
    BadJson(String),
    /// A field is wrong.
    Field { param: String, problem: InputProblem },
    /// The field exists and cannot be changed.
    NotPatchable(String),
    /// A delivery channel is none.
    Channel,
    /// A parameter of the query is wrong; says why.
    Query { param: String, problem: String },
    /// The operation said so.
    App(app::Error),
}

impl Failure {
    /// The answer to the request of that id.
    pub(in crate::api) fn answer(self, id: &RequestId) -> Response {
        if let Self::Body(error) = self {
            return Refusal::from(error).answer(id);
        }
        if let Self::App(app::Error::Internal(error)) = &self {
            let source = std::error::Error::source(error).map(ToString::to_string);
            tracing::error!(request.id = %id, %error, source, "a request failed inside");
        }
        let (retry_after, retry, allow) = (self.retry_after(), self.retry(), self.allow());
        let is_challenge = matches!(
            self,
            Self::NoKey | Self::KeyInUrl | Self::UnknownKey | Self::RevokedKey | Self::ExpiredKey
        );
        let Row { status, kind, code, message, param, details } = self.row();
        let body = inbound::error_body(&message, kind, code, param.as_deref(), id, details);
        let mut answer = Response::json(status, body).with_header("cache-control", "no-store");
        if let Some(pause) = retry_after {
            let seconds = pause.min(RETRY_AFTER_MAX).as_millis().div_ceil(1000).max(1);
            answer = answer.with_header("retry-after", &seconds.to_string());
        }
        if let Some(retry) = retry {
            answer = answer.with_header("x-should-retry", retry);
        }
        if let Some(allow) = allow {
            answer = answer.with_header("allow", &allow);
        }
        if is_challenge { answer.with_header("www-authenticate", "Bearer") } else { answer }
    }

    fn row(self) -> Row {
        match self {
            Self::BadPath => bad("invalid_path", "The path must be ASCII with valid escapes."),
            Self::NoRoute => row(404, INVALID, "route_not_found", "There is no such path."),
            Self::NoMethod(_) => {
                row(405, INVALID, "method_not_allowed", "The path does not have this method.")
            }
            Self::NoKey => row(
                401,
                AUTH,
                "missing_api_key",
                "Send the header `Authorization: Bearer <API_KEY>`.",
            ),
            Self::KeyInUrl => row(
                401,
                AUTH,
                "missing_api_key",
                "A key must not stand in a URL. Send it in the header `Authorization: Bearer <API_KEY>`, and replace this one: it may be in logs.",
            ),
            Self::UnknownKey => {
                row(401, AUTH, "invalid_api_key", "The API key is not one of this instance.")
            }
            Self::RevokedKey => row(401, AUTH, "api_key_revoked", "The API key was revoked."),
            Self::ExpiredKey => row(401, AUTH, "api_key_expired", "The API key has expired."),
            Self::ForeignNetwork => row(
                403,
                PERMISSION,
                "ip_not_allowed",
                "The API key must not be used from this address.",
            ),
            Self::TooManyStrangers { .. } => row(
                429,
                RATE,
                "too_many_auth_failures",
                "Too many requests without a valid API key. Wait, then send a valid one.",
            ),
            Self::NoRight(right) => {
                let message = format!("The API key does not have the right `{}`.", right.as_str());
                let details = json!({ "required_right": right.as_str() });
                row(403, PERMISSION, "insufficient_rights", &message).detailed(details)
            }
            Self::RateLimited { .. } => row(
                429,
                RATE,
                "rate_limited",
                "Too many requests. Wait as long as Retry-After says.",
            ),
            Self::NotJson => {
                row(415, INVALID, "unsupported_media_type", "Send the body as application/json.")
            }
            // Answered before the table is asked.
            Self::Body(_) => bad("invalid_request", "The body could not be read."),
            Self::BadJson(problem) => bad("invalid_json", &problem),
            Self::Field { param, problem } => field_row(&param, &problem),
            Self::NotPatchable(param) => {
                let message =
                    format!("`{}` cannot be changed; make another schedule.", shown(&param));
                bad("not_patchable", &message).about(&param)
            }
            Self::Channel => {
                let message = "A delivery channel must be email, telegram or slack.";
                bad("invalid_channel", message).about("delivery_channels")
            }
            Self::Query { param, problem } => {
                let message = format!("`{}` {problem}.", shown(&param));
                bad("invalid_query", &message).about(&param)
            }
            Self::App(error) => app_row(error),
        }
    }

    /// How long the caller should wait.
    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooManyStrangers { retry_after } | Self::RateLimited { retry_after } => {
                Some(*retry_after)
            }
            Self::App(app::Error::QueueFull { .. }) => Some(Duration::from_secs(5)),
            Self::App(app::Error::BacklogFull { .. }) => Some(Duration::from_mins(1)),
            Self::App(app::Error::TooManyChats { .. }) => Some(Duration::from_secs(1)),
            Self::App(app::Error::Model(fault)) => fault.retry_after(),
            Self::App(app::Error::StorageFull) => Some(Duration::from_secs(10)),
            Self::App(app::Error::Overloaded | app::Error::Stopping) => {
                Some(Duration::from_secs(1))
            }
            Self::BadPath
            | Self::NoRoute
            | Self::NoMethod(_)
            | Self::NoKey
            | Self::KeyInUrl
            | Self::UnknownKey
            | Self::RevokedKey
            | Self::ExpiredKey
            | Self::ForeignNetwork
            | Self::NoRight(_)
            | Self::NotJson
            | Self::Body(_)
            | Self::BadJson(_)
            | Self::Field { .. }
            | Self::NotPatchable(_)
            | Self::Channel
            | Self::Query { .. }
            | Self::App(_) => None,
        }
    }

    /// Whether a client library should send the request again by itself.
    fn retry(&self) -> Option<&'static str> {
        match self {
            // Nothing was begun.
            Self::App(app::Error::StorageFull | app::Error::Overloaded | app::Error::Stopping) => {
                Some("true")
            }
            Self::App(app::Error::Model(fault)) => chat_fault::retry(fault),
            // Something may have been.
            Self::App(app::Error::Internal(_) | app::Error::Uncharged | app::Error::RunOver) => {
                Some("false")
            }
            Self::BadPath
            | Self::NoRoute
            | Self::NoMethod(_)
            | Self::NoKey
            | Self::KeyInUrl
            | Self::UnknownKey
            | Self::RevokedKey
            | Self::ExpiredKey
            | Self::ForeignNetwork
            | Self::TooManyStrangers { .. }
            | Self::NoRight(_)
            | Self::RateLimited { .. }
            | Self::NotJson
            | Self::Body(_)
            | Self::BadJson(_)
            | Self::Field { .. }
            | Self::NotPatchable(_)
            | Self::Channel
            | Self::Query { .. }
            | Self::App(_) => None,
        }
    }

    fn allow(&self) -> Option<String> {
        let Self::NoMethod(methods) = self else { return None };
        let mut names = Vec::new();
        for method in methods {
            names.push(name(*method));
            if *method == Method::Get {
                names.push(name(Method::Head));
            }
        }
        names.dedup();
        Some(names.join(", "))
    }
}

impl From<app::Error> for Failure {
    fn from(error: app::Error) -> Self {
        Self::App(error)
    }
}

/// A method, as HTTP writes it.
const fn name(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
        Method::Options => "OPTIONS",
    }
}
