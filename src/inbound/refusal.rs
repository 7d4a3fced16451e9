//! The one error body, and what this room refuses by itself.

use hyper::StatusCode;
use serde::Serialize;
use serde_json::Value;

use crate::inbound::body::BodyError;
use crate::inbound::request::{Method, RequestId};
use crate::inbound::response::Response;

/// Writes the error body of every answer that is not a success.
///
/// `{"error":{"message","type","param","code","request_id","details"?}}`, with its keys in this
/// order. Source: the contract, section 2.
#[must_use]
pub fn error_body(
    message: &str,
    kind: &str,
    code: &str,
    param: Option<&str>,
    request_id: &RequestId,
    details: Option<Value>,
) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        error: Error<'a>,
    }
    #[derive(Serialize)]
    struct Error<'a> {
        message: &'a str,
        r#type: &'a str,
        param: Option<&'a str>,
        code: &'a str,
        request_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    }
    let request_id = request_id.as_str();
    let error = Error { message, r#type: kind, param, code, request_id, details };
    // Strings and a tree of JSON values always have a JSON text.
    serde_json::to_vec(&Body { error }).unwrap_or_default()
}

/// Why a request never reached its service, or the service never answered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The head is not HTTP/1.1.
    Malformed,
    /// The body has a length and chunks, and two programs could disagree about its end.
    TwoLengths,
    /// The body is transferred in another way than by a length or in chunks.
    TransferCoding,
    /// There is no `Host`, or more than one.
    Host,
    /// The target does not begin with a slash.
    Target,
    /// No resource has this method.
    Method,
    /// The target is too long.
    LongTarget,
    /// The head is too large, or has too many lines.
    LargeHead,
    /// The body ended early, or its chunks are malformed.
    BrokenBody,
    /// The body did not come in time.
    LateBody,
    /// The body is too large.
    LargeBody,
    /// The body is compressed.
    EncodedBody,
    /// The service did not answer in time; what it did meanwhile is not known.
    LateAnswer,
    /// The service panicked.
    Panic,
    /// Too many connections are open.
    Full,
}

/// One line of the table of refusals.
struct Row {
    status: u16,
    code: &'static str,
    kind: &'static str,
    message: &'static str,
}

impl Refusal {
    /// The answer of this refusal.
    #[must_use]
    pub fn answer(self, id: &RequestId) -> Response {
        let Row { status, code, kind, message } = self.row();
        let body = error_body(message, kind, code, None, id, None);
        let response = Response::json(status, body).with_header("cache-control", "no-store");
        match self {
            Self::Method => response.with_header("allow", Method::ALL),
            Self::LateAnswer => {
                response.with_header("retry-after", "1").with_header("x-should-retry", "false")
            }
            Self::Full => {
                response.with_header("retry-after", "1").with_header("x-should-retry", "true")
            }
            Self::Malformed
            | Self::TwoLengths
            | Self::TransferCoding
            | Self::Host
            | Self::Target
            | Self::LongTarget
            | Self::LargeHead
            | Self::BrokenBody
            | Self::LateBody
            | Self::LargeBody
            | Self::EncodedBody
            | Self::Panic => response,
        }
    }

    /// Its HTTP status.
    pub(super) const fn status(self) -> u16 {
        self.row().status
    }

    /// The bytes of this refusal as the last answer of a connection, where hyper writes none.
    pub(super) fn to_wire(self, id: &RequestId, date: &str) -> Vec<u8> {
        let Row { status, code, kind, message } = self.row();
        let body = error_body(message, kind, code, None, id, None);
        let reason = StatusCode::from_u16(status).ok().and_then(|it| it.canonical_reason());
        let pause =
            if self == Self::Full { "retry-after: 1\r\nx-should-retry: true\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncache-control: no-store\r\n\
             {pause}x-request-id: {id}\r\ndate: {date}\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n",
            reason.unwrap_or(""),
            body.len(),
        );
        [head.into_bytes(), body].concat()
    }

    /// Source: the contract's error table, except `invalid_request` and `headers_too_large`.
    const fn row(self) -> Row {
        match self {
            Self::Malformed => bad("The request is not valid HTTP/1.1."),
            Self::TwoLengths => bad("Send either Content-Length or Transfer-Encoding, not both."),
            Self::TransferCoding => bad("The only Transfer-Encoding of this server is chunked."),
            Self::Host => bad("Send exactly one Host header."),
            Self::Target => bad("The request target must be a path that begins with a slash."),
            Self::BrokenBody => bad("The request body ended early or is malformed."),
            Self::Method => {
                invalid(405, "method_not_allowed", "No resource of this server has this method.")
            }
            Self::LongTarget => invalid(414, "uri_too_long", "The URL is too long."),
            Self::LargeHead => {
                invalid(431, "headers_too_large", "The request headers are too large.")
            }
            Self::LateBody => {
                invalid(408, "request_timeout", "The request body did not arrive in time.")
            }
            Self::LargeBody => invalid(413, "payload_too_large", "The request body is too large."),
            Self::EncodedBody => invalid(
                415,
                "unsupported_media_type",
                "Send the request body without Content-Encoding.",
            ),
            Self::LateAnswer => overloaded("The request took too long. Try again later."),
            Self::Full => overloaded("Too many connections are open. Try again later."),
            Self::Panic => Row {
                status: 500,
                code: "internal_error",
                kind: "api_error",
                message: "An internal error occurred. It has been logged with this request id.",
            },
        }
    }
}

impl From<BodyError> for Refusal {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::LargeBody,
            BodyError::Timeout => Self::LateBody,
            BodyError::Closed => Self::BrokenBody,
            BodyError::Encoded => Self::EncodedBody,
        }
    }
}

const fn bad(message: &'static str) -> Row {
    invalid(400, "invalid_request", message)
}

const fn invalid(status: u16, code: &'static str, message: &'static str) -> Row {
    Row { status, code, kind: "invalid_request_error", message }
}

const fn overloaded(message: &'static str) -> Row {
    Row { status: 503, code: "overloaded", kind: "overloaded_error", message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> RequestId {
        RequestId::new([0; 16], 0)
    }

    #[test]
    fn the_error_body_has_its_keys_in_one_order_and_details_only_when_there_are_some() {
        let plain = error_body("No \"x\".", "t", "c", None, &id(), None);
        let expected = r#"{"error":{"message":"No \"x\".","type":"t","param":null,"code":"c","#;
        let expected = format!(r#"{expected}"request_id":"req_00000000000000000000000000"}}}}"#);
        assert_eq!(String::from_utf8(plain).unwrap(), expected);
        let details = serde_json::json!({ "b": 1, "a": 2 });
        let full = error_body("m", "t", "c", Some("limit"), &id(), Some(details));
        let text = String::from_utf8(full).unwrap();
        assert!(text.ends_with(r#","details":{"b":1,"a":2}}}"#), "{text}");
        assert!(text.contains(r#""param":"limit","code":"c""#), "{text}");
    }

    #[test]
    fn a_refusal_on_the_wire_is_a_whole_http_answer() {
        let bytes = Refusal::Full.to_wire(&id(), "Thu, 01 Jan 1970 00:00:00 GMT");
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{head}");
        assert!(head.contains("\r\nretry-after: 1\r\n"), "{head}");
        assert!(head.ends_with(&format!("\r\ncontent-length: {}", body.len())), "{head}");
        assert!(body.contains("\"code\":\"overloaded\""), "{body}");
    }
}
