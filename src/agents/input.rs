//! Reads an agent's input strictly: exactly the expected fields, each of the expected type.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};

/// What is wrong with an input, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The field, as a path from the request's body: `input.url`.
    pub param: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is required and absent.
    Missing,
    /// It is not of the type named here.
    Type(&'static str),
    /// Its value is refused, for the reason given here: a fragment after "the value".
    Value(String),
    /// There is no such field.
    Unknown,
}

impl InputError {
    /// The field `name` of the input has a value that is refused because it `reason`.
    #[must_use]
    pub fn value(name: &str, reason: &str) -> Self {
        Self { param: path(name), problem: Problem::Value(reason.to_owned()) }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let param = &self.param;
        match &self.problem {
            Problem::Missing => write!(f, "{param} is required"),
            Problem::Type(expected) => write!(f, "{param} must be {expected}"),
            Problem::Value(reason) => write!(f, "{param} {reason}"),
            Problem::Unknown => write!(f, "{param} is not a field of this agent's input"),
        }
    }
}

impl Error for InputError {}

/// Hands out the fields of an input and remembers which were asked for.
#[derive(Debug)]
pub struct Fields<'a> {
    input: &'a Map<String, Value>,
    known: BTreeSet<&'static str>,
}

impl<'a> Fields<'a> {
    /// Begins to read `input`.
    #[must_use]
    pub const fn of(input: &'a Map<String, Value>) -> Self {
        Self { input, known: BTreeSet::new() }
    }

    /// The text of a required field.
    ///
    /// # Errors
    ///
    /// [`Problem::Missing`] when it is absent or null, [`Problem::Type`] when it is not a string.
    pub fn text(&mut self, name: &'static str) -> Result<&'a str, InputError> {
        self.known.insert(name);
        match self.input.get(name) {
            None | Some(Value::Null) => {
                Err(InputError { param: path(name), problem: Problem::Missing })
            }
            Some(Value::String(text)) => Ok(text),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(InputError { param: path(name), problem: Problem::Type("a string") })
            }
        }
    }

    /// Refuses the first field that nobody asked for.
    ///
    /// # Errors
    ///
    /// [`Problem::Unknown`].
    pub fn finish(self) -> Result<(), InputError> {
        match self.input.keys().find(|name| !self.known.contains(name.as_str())) {
            Some(name) => Err(InputError { param: path(name), problem: Problem::Unknown }),
            None => Ok(()),
        }
    }
}

/// The path of a field from the request's body; a very long name is cut.
fn path(name: &str) -> String {
    let short: String = name.chars().take(NAME_CHARS_MAX).collect();
    format!("input.{short}")
}

/// Characters of a caller's field name that an error repeats.
const NAME_CHARS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check_url(input: &Value, expected: &Result<&str, Problem>) {
        let map = input.as_object().unwrap();
        let mut fields = Fields::of(map);
        let read = fields.text("url").and_then(|url| fields.finish().map(|()| url));
        assert_eq!(read.map_err(|it| it.problem), *expected, "{input}");
    }

    #[test]
    fn exactly_the_expected_fields_are_taken() {
        check_url(&json!({}), &Err(Problem::Missing));
        check_url(&json!({"url": null}), &Err(Problem::Missing));
        check_url(&json!({"url": 7}), &Err(Problem::Type("a string")));
        check_url(&json!({"url": ["https://example.com"]}), &Err(Problem::Type("a string")));
        check_url(&json!({"url": "https://example.com", "depth": 2}), &Err(Problem::Unknown));
        check_url(&json!({"url": "https://example.com"}), &Ok("https://example.com"));
    }

    #[test]
    fn an_error_names_the_field_from_the_body_and_repeats_no_endless_name() {
        let error = InputError::value("url", "is not a web address");
        assert_eq!(error.to_string(), "input.url is not a web address");
        let input = json!({"x".repeat(1000): 1});
        let error = Fields::of(input.as_object().unwrap()).finish().unwrap_err();
        assert_eq!(error.param.len(), "input.".len() + NAME_CHARS_MAX);
    }
}
