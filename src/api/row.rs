//! One line of the table of errors, and what its texts are made of.
//!
//! A text of the caller that is repeated here is cut, and anything that looks like a secret is
//! taken out. Source: the contract, section 2.

use serde_json::Value;

use crate::app::InputProblem;
use crate::domain::secret::redact;

/// One line of the table.
pub(in crate::api) struct Row {
    /// The status.
    pub(in crate::api) status: u16,
    /// The type, for programs that know types alone.
    pub(in crate::api) kind: &'static str,
    /// The code.
    pub(in crate::api) code: &'static str,
    /// What the caller can do.
    pub(in crate::api) message: String,
    /// The field that it is about.
    pub(in crate::api) param: Option<String>,
    /// More, for programs.
    pub(in crate::api) details: Option<Value>,
}

impl Row {
    /// The same about a field.
    pub(in crate::api) fn about(self, param: &str) -> Self {
        Self { param: Some(shown(param)), ..self }
    }

    /// The same with more for programs.
    pub(in crate::api) fn detailed(self, details: Value) -> Self {
        Self { details: Some(details), ..self }
    }
}

/// A field that cannot be used.
pub(in crate::api) fn field_row(param: &str, problem: &InputProblem) -> Row {
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
pub(in crate::api) fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    redact(&cut)
}

/// An input that cannot be used.
pub(in crate::api) fn bad(code: &'static str, message: &str) -> Row {
    row(400, INVALID, code, message)
}

/// A line.
pub(in crate::api) fn row(
    status: u16,
    kind: &'static str,
    code: &'static str,
    message: &str,
) -> Row {
    Row { status, kind, code, message: message.to_owned(), param: None, details: None }
}

/// The type of a wrong request.
pub(in crate::api) const INVALID: &str = "invalid_request_error";
/// The type of a key that does not open.
pub(in crate::api) const AUTH: &str = "authentication_error";
/// The type of a right that is missing.
pub(in crate::api) const PERMISSION: &str = "permission_error";
/// The type of too much at once.
pub(in crate::api) const RATE: &str = "rate_limit_error";
/// The type of a server that cannot now.
pub(in crate::api) const OVERLOADED: &str = "overloaded_error";
/// Characters of a caller's text that are repeated.
const SHOWN_CHARS_MAX: usize = 100;
