//! One table for all that is not a success: status, type, code and message.
//!
//! The message says what the caller can do; what happened inside is in the log. A text of the
//! caller that is repeated here is cut, and anything that looks like a secret is taken out.
//! Source: the contract, section 2.

use std::time::Duration;

use serde_json::{Value, json};

use crate::app::{self, InputProblem};
use crate::domain::account::Right;
use crate::domain::cron::CronError;
use crate::domain::limits::RETRY_AFTER_MAX;
use crate::domain::receiver::UrlReason;
use crate::domain::secret::redact;
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

/// One line of the table.
struct Row {
    status: u16,
    kind: &'static str,
    code: &'static str,
    message: String,
    param: Option<String>,
    details: Option<Value>,
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
            Self::App(app::Error::StorageFull) => Some(Duration::from_secs(10)),
            Self::App(app::Error::Overloaded) => Some(Duration::from_secs(1)),
            Self::BadPath
            | Self::NoRoute
            | Self::NoMethod(_)
            | Self::NoKey
            | Self::KeyInUrl
            | Self::UnknownKey
            | Self::RevokedKey
            | Self::ExpiredKey
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
            Self::App(app::Error::StorageFull | app::Error::Overloaded) => Some("true"),
            // Something may have been.
            Self::App(app::Error::Internal(_) | app::Error::RunOver) => Some("false"),
            Self::BadPath
            | Self::NoRoute
            | Self::NoMethod(_)
            | Self::NoKey
            | Self::KeyInUrl
            | Self::UnknownKey
            | Self::RevokedKey
            | Self::ExpiredKey
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

impl Row {
    fn about(self, param: &str) -> Self {
        Self { param: Some(shown(param)), ..self }
    }

    fn detailed(self, details: Value) -> Self {
        Self { details: Some(details), ..self }
    }
}

impl From<app::Error> for Failure {
    fn from(error: app::Error) -> Self {
        Self::App(error)
    }
}

fn app_row(error: app::Error) -> Row {
    match error {
        app::Error::NotFound => row(404, INVALID, "not_found", "There is nothing of that id."),
        app::Error::UnknownKind => {
            let message = "There is no agent of that kind. GET /v1/agents/ lists the kinds.";
            bad("unknown_kind", message).about("kind")
        }
        app::Error::Input { param, problem } => field_row(&param, &problem),
        app::Error::Balance { required, available, currency } => {
            let message = format!(
                "The balance is too low: {required} {currency} needed, {available} {currency} available."
            );
            let details = json!({
                "required": required.to_string(),
                "available": available.to_string(),
                "currency": currency.as_str(),
            });
            row(402, "billing_error", "insufficient_balance", &message).detailed(details)
        }
        app::Error::QueueFull { limit } => {
            let message =
                format!("{limit} runs wait or run already. Try again when some are over.");
            row(429, RATE, "queue_full", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::RunOver => {
            row(409, INVALID, "run_over", "The run is over and cannot be cancelled.")
        }
        app::Error::NotSchedulable => {
            let message = "The agent cannot be scheduled. GET /v1/agents/ says which can.";
            bad("kind_not_schedulable", message).about("kind")
        }
        app::Error::Cron(error) => cron_row(&error),
        app::Error::TooManySchedules { limit } => {
            let message = format!("The account has {limit} schedules already. Delete one.");
            bad("too_many_schedules", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::ReceiverUrl(reason) => url_row(reason),
        app::Error::TooManyReceivers { limit } => {
            let message = format!("The account has {limit} receivers already. Delete one.");
            bad("too_many_receivers", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::ReceiverDisabled => {
            bad("receiver_disabled", "The receiver is disabled. Connect a new one.")
        }
        app::Error::BacklogFull { limit } => {
            let message =
                format!("{limit} deliveries of the receiver are not over. Try again later.");
            row(429, RATE, "backlog_full", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::TooManyRepeats { limit } => {
            let message = format!("The event was sent to the receiver {limit} times already.");
            bad("too_many_resends", &message).detailed(json!({ "limit": limit }))
        }
        app::Error::TooManyKeys { limit } => {
            bad("too_many_keys", &format!("The account has {limit} live keys already. Revoke one."))
        }
        app::Error::Amount(problem) => bad("invalid_value", &format!("{problem}.")).about("amount"),
        app::Error::StorageFull => row(
            503,
            OVERLOADED,
            "storage_full",
            "The server's disk is full. Nothing was done; try again later.",
        ),
        app::Error::Overloaded => row(
            503,
            OVERLOADED,
            "overloaded",
            "The server is overloaded. Nothing was done; try again later.",
        ),
        app::Error::Internal(_) => row(
            500,
            "api_error",
            "internal_error",
            "An internal error occurred. It has been logged with this request id.",
        ),
    }
}

/// A URL that is refused, and the first rule that it breaks.
fn url_row(reason: UrlReason) -> Row {
    let message = format!(
        "The URL cannot be a receiver: {reason}. It must be https on port 443, with a public host and without user name, password or fragment."
    );
    let details = json!({ "reason": reason.as_str() });
    bad("invalid_receiver_url", &message).about("url").detailed(details)
}

/// An expression that is refused: which field, why, and what to write instead.
fn cron_row(error: &CronError) -> Row {
    let details = json!({
        "field": error.field,
        "reason": error.reason.as_str(),
        "hint": error.hint,
    });
    bad("invalid_cron", &format!("The cron expression cannot be used: {error}."))
        .about("cron")
        .detailed(details)
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

fn field_row(param: &str, problem: &InputProblem) -> Row {
    let of_input = param.starts_with("input.") || param.starts_with("input[");
    let code = match problem {
        InputProblem::Unknown => "unknown_parameter",
        _ if of_input => "invalid_input",
        InputProblem::Missing => "missing_field",
        InputProblem::Type(_) => "invalid_type",
        InputProblem::Value(_) => "invalid_value",
    };
    bad(code, &format!("`{}` {}.", shown(param), redact(&problem.to_string()))).about(param)
}

/// A caller's own text, fit to be repeated to the caller.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    redact(&cut)
}

fn bad(code: &'static str, message: &str) -> Row {
    row(400, INVALID, code, message)
}

fn row(status: u16, kind: &'static str, code: &'static str, message: &str) -> Row {
    Row { status, kind, code, message: message.to_owned(), param: None, details: None }
}

const INVALID: &str = "invalid_request_error";
const AUTH: &str = "authentication_error";
const PERMISSION: &str = "permission_error";
const RATE: &str = "rate_limit_error";
const OVERLOADED: &str = "overloaded_error";
/// Characters of a caller's text that are repeated.
const SHOWN_CHARS_MAX: usize = 100;
