//! The parameters of a JSON object, taken one by one and judged by type and range.
//!
//! An explicit `null` is the same as no parameter: typed clients send them unasked.

use serde_json::{Map, Number, Value};

use crate::domain::chat::refusal::{Problem, Refusal};

/// The parameters that were not taken yet.
pub(super) struct Fields<'a> {
    object: Map<String, Value>,
    /// The path of the object with a dot at its end; empty for the request itself.
    path: &'a str,
}

/// A range of numbers, both ends in it, and its text.
pub(super) struct Range {
    pub(super) from: i32,
    pub(super) to: i32,
    pub(super) expected: &'static str,
}

impl<'a> Fields<'a> {
    /// Takes an object apart.
    pub(super) fn new(mut object: Map<String, Value>, path: &'a str) -> Self {
        object.retain(|_, value| !value.is_null());
        Self { object, path }
    }

    /// A refusal of what has `name`.
    pub(super) fn refuse(&self, name: &str, problem: Problem) -> Refusal {
        Refusal::new(&format!("{}{name}", self.path), problem)
    }

    /// Takes what is there, whatever it is.
    pub(super) fn any(&mut self, name: &str) -> Option<Value> {
        self.object.shift_remove(name)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.refuse(name, Problem::Type("a string"))),
        }
    }

    pub(super) fn required_text(&mut self, name: &str) -> Result<String, Refusal> {
        self.text(name)?.ok_or_else(|| self.refuse(name, Problem::Missing))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.refuse(name, Problem::Type("true or false"))),
        }
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, Refusal> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(self.refuse(name, Problem::Type("an object"))),
        }
    }

    pub(super) fn list(&mut self, name: &str) -> Result<Option<Vec<Value>>, Refusal> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(self.refuse(name, Problem::Type("a list"))),
        }
    }

    /// Takes a number of at least one.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<u64>, Refusal> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::Number(number)) if !number.is_f64() => match number.as_u64() {
                Some(count) if count >= 1 => Ok(Some(count)),
                Some(_) | None => Err(self.refuse(name, Problem::Value("must be at least 1"))),
            },
            Some(_) => Err(self.refuse(name, Problem::Type("an integer"))),
        }
    }

    /// Takes a whole number of 64 bits.
    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>, Refusal> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::Number(number)) if !number.is_f64() => match number.as_i64() {
                Some(integer) => Ok(Some(integer)),
                None => Err(self.refuse(name, Problem::Value("must fit in 64 bits with a sign"))),
            },
            Some(_) => Err(self.refuse(name, Problem::Type("an integer"))),
        }
    }

    /// Takes a number of a range; it is kept as it was written.
    pub(super) fn number(&mut self, name: &str, range: &Range) -> Result<Option<Number>, Refusal> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::Number(number)) if range.has(&number) => Ok(Some(number)),
            Some(Value::Number(_)) => Err(self.refuse(name, Problem::Value(range.expected))),
            Some(_) => Err(self.refuse(name, Problem::Type("a number"))),
        }
    }

    /// The names of what is left.
    pub(super) fn rest(self) -> impl Iterator<Item = String> {
        self.object.into_iter().map(|(name, _)| name)
    }
}

impl Range {
    fn has(&self, number: &Number) -> bool {
        // Compared as it was read, and never computed with: it goes on as it was written.
        let range = f64::from(self.from)..=f64::from(self.to);
        number.as_f64().is_some_and(|it| range.contains(&it))
    }
}
