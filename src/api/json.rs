//! Reading JSON strictly: no duplicate keys, bounded depth and size, no unknown fields.

use std::cell::Cell;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::api::error::Failure;
use crate::app::InputProblem;
use crate::domain::limits::{JSON_DEPTH_MAX, JSON_VALUES_MAX};
use crate::domain::secret::redact;

/// Reads a body that is one JSON object.
///
/// # Errors
///
/// [`Failure::BadJson`] says what is wrong and where.
pub(in crate::api) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Failure> {
    if bytes.is_empty() {
        return Err(Failure::BadJson("The body must be a JSON object; it is empty.".to_owned()));
    }
    let left = Cell::new(JSON_VALUES_MAX);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0, left: &left }.deserialize(&mut reader);
    let value = value.and_then(|it| reader.end().map(|()| it));
    match value {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Failure::BadJson("The body must be a JSON object.".to_owned())),
        Err(error) => {
            let text = redact(&error.to_string());
            Err(Failure::BadJson(format!("The body is not JSON that can be used: {text}.")))
        }
    }
}

/// The fields of an object, taken one by one; what is left at the end was not known.
pub(in crate::api) struct Fields(Map<String, Value>);

impl Fields {
    /// Takes an object apart. An explicit `null` is the same as no field.
    pub(in crate::api) fn new(mut object: Map<String, Value>) -> Self {
        object.retain(|_, value| !value.is_null());
        Self(object)
    }

    /// Takes a text that may be absent.
    pub(in crate::api) fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        match self.0.shift_remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(field(name, InputProblem::Type("a string"))),
        }
    }

    /// Takes a yes or no that may be absent.
    pub(in crate::api) fn flag(&mut self, name: &str) -> Result<Option<bool>, Failure> {
        match self.0.shift_remove(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(field(name, InputProblem::Type("true or false"))),
        }
    }

    /// Takes a whole number in a range that may be absent.
    pub(in crate::api) fn count(
        &mut self,
        name: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, Failure> {
        let Some(value) = self.0.shift_remove(name) else { return Ok(None) };
        let count = value.as_u64().and_then(|it| u32::try_from(it).ok());
        match count.filter(|it| range.contains(it)) {
            Some(count) => Ok(Some(count)),
            None => {
                let (min, max) = range.into_inner();
                let problem = format!("must be a whole number from {min} to {max}");
                Err(field(name, InputProblem::Value(problem)))
            }
        }
    }

    /// Takes a field away whose value is the word `off`; whether it was.
    pub(in crate::api) fn take_off(&mut self, name: &str) -> bool {
        let is_off = self.0.get(name).and_then(Value::as_str) == Some("off");
        is_off && self.0.shift_remove(name).is_some()
    }

    /// Whether a field is there.
    pub(in crate::api) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Takes a list of texts that may be absent.
    pub(in crate::api) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Failure> {
        let wrong = || field(name, InputProblem::Type("a list of strings"));
        let Some(value) = self.0.shift_remove(name) else { return Ok(None) };
        let Value::Array(items) = value else { return Err(wrong()) };
        let texts = items.into_iter().map(|it| it.as_str().map(str::to_owned));
        texts.collect::<Option<_>>().map(Some).ok_or_else(wrong)
    }

    /// Takes a number of seconds that may be absent.
    pub(in crate::api) fn seconds(&mut self, name: &str) -> Result<Option<Duration>, Failure> {
        let Some(value) = self.0.shift_remove(name) else { return Ok(None) };
        let seconds = value.as_u64().filter(|it| (1..=SECONDS_MAX).contains(it));
        let seconds =
            seconds.ok_or_else(|| field(name, InputProblem::Type("a number of seconds")))?;
        Ok(Some(Duration::from_secs(seconds)))
    }

    /// Takes an object that may be absent.
    pub(in crate::api) fn object(
        &mut self,
        name: &str,
    ) -> Result<Option<Map<String, Value>>, Failure> {
        match self.0.shift_remove(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(field(name, InputProblem::Type("an object"))),
        }
    }

    /// Refuses what is left.
    pub(in crate::api) fn finish(self) -> Result<(), Failure> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some((name, _)) => Err(field(&name, InputProblem::Unknown)),
        }
    }
}

/// What is required must be there.
pub(in crate::api) fn required<T>(name: &str, found: Option<T>) -> Result<T, Failure> {
    found.ok_or_else(|| field(name, InputProblem::Missing))
}

fn field(name: &str, problem: InputProblem) -> Failure {
    Failure::Field { param: name.to_owned(), problem }
}

/// Reads one value at a depth, while the number of values lasts.
#[derive(Clone, Copy)]
struct Strict<'a> {
    depth: usize,
    left: &'a Cell<usize>,
}

impl Strict<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= JSON_DEPTH_MAX {
            return Err(E::custom(format_args!(
                "it is nested deeper than {JSON_DEPTH_MAX} levels"
            )));
        }
        Ok(Self { depth: self.depth.saturating_add(1), ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let Some(left) = self.left.get().checked_sub(1) else {
            let text = format_args!("it has more than {JSON_VALUES_MAX} values");
            return Err(D::Error::custom(text));
        };
        self.left.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inside = self.deeper()?;
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom("an object has the same key twice"));
            }
            let value = entries.next_value_seed(inside)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

/// The longest span that a field may give: a hundred years.
const SECONDS_MAX: u64 = 100 * 366 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, reason: &str) {
        match object(text.as_bytes()) {
            Err(Failure::BadJson(message)) => assert!(message.contains(reason), "{message}"),
            other => panic!("{text:.80}: {other:?}"),
        }
    }

    #[test]
    fn an_object_is_read_with_everything_in_it() {
        let text = r#"{"a":1,"b":[true,null,-2,1.5,"é\n"],"c":{"d":{}}}"#;
        let read = object(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn what_is_not_one_object_is_refused() {
        check_refused("", "it is empty");
        check_refused("[]", "must be a JSON object");
        check_refused("\"text\"", "must be a JSON object");
        check_refused("{", "EOF");
        check_refused("{}{}", "trailing");
        check_refused("{'a':1}", "key must be a string");
        check_refused("{\"a\":01}", "invalid number");
        check_refused("{\"a\":1e999}", "out of range");
        check_refused("{\"a\":\"\\ud800\"}", "hex escape");
        check_refused("{\"a\":\"\u{1}\"}", "control character");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused() {
        let read = object(b"{\"a\":\"\xff\"}");
        assert!(matches!(read, Err(Failure::BadJson(_))), "{read:?}");
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        check_refused(r#"{"a":1,"a":2}"#, "the same key twice");
        check_refused(r#"{"a":[{"b":1,"b":1}]}"#, "the same key twice");
        check_refused(r#"{"a":1,"\u0061":2}"#, "the same key twice");
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(object(nested(JSON_DEPTH_MAX).as_bytes()).is_ok());
        check_refused(&nested(JSON_DEPTH_MAX + 1), "deeper than 64 levels");
        check_refused(&format!("{{\"a\":{}", "[".repeat(100_000)), "deeper than 64 levels");
        let wide = |values: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(values));
        assert!(object(wide(9_000).as_bytes()).is_ok());
        check_refused(&wide(10_000), "more than 10000 values");
    }

    #[test]
    fn a_null_is_no_field_and_an_unknown_field_is_named() {
        let read = object(br#"{"kind":null,"x":1}"#).unwrap();
        let mut fields = Fields::new(read);
        assert_eq!(fields.text("kind").unwrap(), None);
        match fields.finish() {
            Err(Failure::Field { param, problem: InputProblem::Unknown }) => assert_eq!(param, "x"),
            other => panic!("{other:?}"),
        }
    }
}
