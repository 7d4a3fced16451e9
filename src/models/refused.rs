//! What an upstream's refusal means: every server says it in its own way.
//!
//! The status decides; the words are looked at only for a conversation that is too long, a model
//! that is still being loaded and, inside a stream, for a status.

use std::time::Duration;

use serde_json::Value;

use crate::domain::limits::RETRY_AFTER_MAX;
use crate::domain::retry::hint;
use crate::domain::secret::redact;
use crate::domain::time::Timestamp;
use crate::models::{Fault, UpstreamTexts};

/// An upstream's own words for a failure.
#[derive(Debug, Default)]
struct Complaint {
    /// Its number, if it is like a status.
    status: Option<u16>,
    /// Its kind and code, in lower case.
    kind: String,
    message: String,
}

/// What an answer with a status other than 200 means.
pub(super) fn of_answer(
    status: u16,
    body: &[u8],
    retry_after: Option<&str>,
    now: Timestamp,
    texts: UpstreamTexts,
) -> Fault {
    let complaint = match serde_json::from_slice::<Value>(body) {
        Ok(value) => Complaint::of(value.get("error").unwrap_or(&value)),
        Err(_) => Complaint {
            message: String::from_utf8_lossy(body).into_owned(),
            ..Complaint::default()
        },
    };
    complaint.fault(status, pause(retry_after, now), texts)
}

/// What an error inside an answer means.
pub(super) fn of_error(error: &Value, texts: UpstreamTexts) -> Fault {
    let complaint = Complaint::of(error);
    let by_kind = if complaint.kind.contains("rate_limit") { 429 } else { 500 };
    complaint.fault(complaint.status.unwrap_or(by_kind), PAUSE_USUAL, texts)
}

impl Complaint {
    fn of(error: &Value) -> Self {
        if let Some(text) = error.as_str() {
            return Self { message: text.to_owned(), ..Self::default() };
        }
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| {
            let found = error.get(name)?;
            found.as_u64().or_else(|| found.as_str()?.parse().ok())
        };
        let status = number("code").or_else(|| number("status"));
        let status = status.and_then(|it| u16::try_from(it).ok());
        let message = if text("message").is_empty() { text("detail") } else { text("message") };
        Self {
            status: status.filter(|it| (400..=599).contains(it)),
            kind: format!("{} {}", text("type"), text("code")).to_lowercase(),
            message: message.to_owned(),
        }
    }

    fn fault(&self, status: u16, pause: Duration, texts: UpstreamTexts) -> Fault {
        match status {
            400 | 413 | 422 | 500 if self.is_too_long() => Fault::ContextLength,
            400 | 413 | 422 => Fault::Rejected(match texts {
                UpstreamTexts::Hide => None,
                UpstreamTexts::Show => Some(self.shown()).filter(|it| !it.is_empty()),
            }),
            429 => Fault::RateLimited(pause),
            503 if self.is_loading() => Fault::Loading(pause.min(LOADING_PAUSE_MAX)),
            408 | 500..=599 => Fault::Failed,
            200..=299 => Fault::Invalid,
            _ => Fault::Misconfigured,
        }
    }

    fn is_too_long(&self) -> bool {
        let message = self.message.to_lowercase();
        TOO_LONG.iter().any(|it| self.kind.contains(it) || message.contains(it))
    }

    fn is_loading(&self) -> bool {
        self.kind.contains("unavailable_error") || self.message.to_lowercase().contains("loading")
    }

    /// Its words, fit for the caller: short, one line, no secret.
    fn shown(&self) -> String {
        let plain = |it: char| if it.is_control() { ' ' } else { it };
        redact(&self.message).chars().take(SHOWN_CHARS_MAX).map(plain).collect()
    }
}

/// How long an answer asks to wait: at least a second, at most a minute.
fn pause(retry_after: Option<&str>, now: Timestamp) -> Duration {
    let pause = retry_after.and_then(|it| hint(it, now)).unwrap_or(PAUSE_USUAL);
    pause.clamp(PAUSE_MIN, RETRY_AFTER_MAX)
}

/// Words by which servers say that a conversation does not fit.
const TOO_LONG: [&str; 9] = [
    "context_length",
    "context length",
    "exceed_context",
    "context size",
    "context window",
    "maximum context",
    "prompt is too long",
    "prompt too long",
    "too many tokens",
];
/// How long to wait when an upstream does not say.
const PAUSE_USUAL: Duration = Duration::from_secs(5);
/// The shortest pause.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The longest pause for a model that is being loaded.
const LOADING_PAUSE_MAX: Duration = Duration::from_secs(30);
/// Characters of an upstream's words that are shown.
const SHOWN_CHARS_MAX: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::EPOCH;
    const USUAL: Fault = Fault::RateLimited(PAUSE_USUAL);

    fn answer(status: u16, body: &str, texts: UpstreamTexts) -> Fault {
        of_answer(status, body.as_bytes(), None, NOW, texts)
    }

    #[track_caller]
    fn check_answer(status: u16, body: &str, fault: &Fault) {
        assert_eq!(answer(status, body, UpstreamTexts::Hide), *fault, "{status} {body}");
    }

    #[test]
    fn the_status_of_a_refusal_decides() {
        for (status, fault) in [
            (400, Fault::Rejected(None)),
            (401, Fault::Misconfigured),
            (402, Fault::Misconfigured),
            (403, Fault::Misconfigured),
            (404, Fault::Misconfigured),
            (405, Fault::Misconfigured),
            (408, Fault::Failed),
            (413, Fault::Rejected(None)),
            (422, Fault::Rejected(None)),
            (429, USUAL),
            (500, Fault::Failed),
            (502, Fault::Failed),
            (503, Fault::Failed),
            (504, Fault::Failed),
            (301, Fault::Misconfigured),
            (204, Fault::Invalid),
        ] {
            for body in ["", "{}", "[]", "<html>", "{\"error\":{\"message\":\"no\"}}"] {
                check_answer(status, body, &fault);
            }
        }
    }

    #[test]
    fn a_conversation_that_is_too_long_is_known_by_the_words_of_each_server() {
        for (status, body) in [
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 8 tokens.","type":"BadRequestError","code":400}"#,
            ),
            (500, r#"{"error":"input is longer than the context window"}"#),
            (413, "prompt is too long"),
        ] {
            check_answer(status, body, &Fault::ContextLength);
        }
        check_answer(401, "maximum context length", &Fault::Misconfigured);
    }

    #[test]
    fn a_model_that_is_being_loaded_is_no_failure() {
        let body = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
        check_answer(503, body, &Fault::Loading(PAUSE_USUAL));
    }

    #[test]
    fn an_error_inside_a_stream_is_known_by_its_number_or_its_kind() {
        for (error, fault) in [
            (r#"{"code":429,"message":"slow down"}"#, USUAL),
            (r#"{"type":"rate_limit_error","code":null}"#, USUAL),
            (r#"{"code":"401","message":"bad key"}"#, Fault::Misconfigured),
            (r#"{"code":500,"message":"out of memory"}"#, Fault::Failed),
            (r#"{"code":7}"#, Fault::Failed),
            (r#"{"type":"exceed_context_size_error","code":400}"#, Fault::ContextLength),
            (r#""it broke""#, Fault::Failed),
            ("true", Fault::Failed),
            ("{}", Fault::Failed),
        ] {
            let value = serde_json::from_str(error).unwrap();
            assert_eq!(of_error(&value, UpstreamTexts::Hide), fault, "{error}");
        }
    }

    #[test]
    fn an_upstreams_words_are_shown_only_if_the_operator_says_so_and_without_secrets() {
        let body = r#"{"error":{"message":"bad\nservice_sk_abc value"}}"#;
        assert_eq!(answer(400, body, UpstreamTexts::Hide), Fault::Rejected(None));
        let shown = Fault::Rejected(Some("bad service_sk_… value".to_owned()));
        assert_eq!(answer(400, body, UpstreamTexts::Show), shown);
        let long = "x".repeat(1000);
        let shown = Fault::Rejected(Some("x".repeat(SHOWN_CHARS_MAX)));
        assert_eq!(answer(400, &long, UpstreamTexts::Show), shown);
        assert_eq!(answer(400, "", UpstreamTexts::Show), Fault::Rejected(None));
    }

    #[test]
    fn a_pause_is_seconds_or_a_date_and_at_most_a_minute() {
        for (text, seconds) in [
            (None, 5),
            (Some("7"), 7),
            (Some("0"), 1),
            (Some("86400"), 60),
            (Some("Thu, 01 Jan 1970 00:00:09 GMT"), 9),
            (Some("soon"), 5),
            (Some("-1"), 5),
        ] {
            assert_eq!(pause(text, NOW), Duration::from_secs(seconds), "{text:?}");
        }
    }
}
