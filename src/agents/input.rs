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

    /// The text of an optional field; null is absence.
    ///
    /// # Errors
    ///
    /// [`Problem::Type`] when it is not a string.
    pub fn optional_text(&mut self, name: &'static str) -> Result<Option<&'a str>, InputError> {
        match self.text(name) {
            Ok(text) => Ok(Some(text)),
            Err(InputError { problem: Problem::Missing, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The texts of a required list.
    ///
    /// # Errors
    ///
    /// [`Problem::Missing`] when it is absent or null, [`Problem::Type`] when it is not an array
    /// or, named with its position, one of its items is not a string.
    pub fn texts(&mut self, name: &'static str) -> Result<Vec<&'a str>, InputError> {
        self.known.insert(name);
        let expected = "an array of strings";
        let items = match self.input.get(name) {
            None | Some(Value::Null) => {
                return Err(InputError { param: path(name), problem: Problem::Missing });
            }
            Some(Value::Array(items)) => items,
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                return Err(InputError { param: path(name), problem: Problem::Type(expected) });
            }
        };
        let text = |(at, item): (usize, &'a Value)| {
            let problem = Problem::Type("a string");
            item.as_str()
                .ok_or_else(|| InputError { param: path(&format!("{name}[{at}]")), problem })
        };
        items.iter().enumerate().map(text).collect()
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
    fn lists_and_optional_fields_are_read_strictly() {
        let read = |input: Value| {
            let map = input.as_object().unwrap().clone();
            let mut fields = Fields::of(&map);
            let list = fields.texts("list").map(|it| it.len());
            (list.map_err(|it| it.to_string()), fields.optional_text("more").is_ok())
        };
        assert_eq!(read(json!({})), (Err("input.list is required".to_owned()), true));
        let not_list = Err("input.list must be an array of strings".to_owned());
        assert_eq!(read(json!({"list": "x", "more": null})), (not_list, true));
        let not_text = Err("input.list[1] must be a string".to_owned());
        assert_eq!(read(json!({"list": ["x", 7], "more": 7})), (not_text, false));
        assert_eq!(read(json!({"list": ["x", "y"], "more": "z"})), (Ok(2), true));
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
