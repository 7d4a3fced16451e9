//! What people see of the answers of the control socket, and what they type of it.

use serde_json::Value;

use crate::cli::exit::{Exit, Failure};
use crate::domain::id::Id;
use crate::domain::secret::redact;

/// A field as text: strings as they are, lists with commas, nothing as a dash.
pub(super) fn field(value: &Value, name: &str) -> String {
    match value.get(name) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            texts.join(", ")
        }
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Object(_))) => other.to_string(),
    }
}

/// A field that is a time, without fractions of seconds.
pub(super) fn time(value: &Value, name: &str) -> String {
    let text = field(value, name);
    match text.split_once('.') {
        Some((whole, _)) => whole.replace('T', " ") + " UTC",
        None => text,
    }
}

/// An amount with what it is counted in.
pub(super) fn money(value: &Value, name: &str, currency: &str) -> String {
    format!("{} {currency}", field(value, name))
}

/// The items of a list answer.
pub(super) fn items(value: &Value) -> &[Value] {
    value.get("data").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// `1 run`, `2 runs`.
pub(super) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Reads an id that somebody typed.
///
/// # Errors
///
/// [`Exit::NotFound`]: nothing can have a malformed id.
pub(super) fn id<T>(text: &str, what: &str) -> Result<Id<T>, Failure> {
    Id::parse(text).ok_or_else(|| {
        let problem = format!("no {what} has the id {:?}", redact(text));
        let next = format!(
            "ids look like {}; `errand {what} list` shows them",
            Id::<T>::from_bytes([0; 16])
        );
        Failure::new(Exit::NotFound, problem).then(next)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_read_for_people() {
        let value = json!({
            "at": "2026-01-01T00:00:00.123+00:00", "none": null, "list": ["a", "b"], "n": 7, "": "",
        });
        assert_eq!(time(&value, "at"), "2026-01-01 00:00:00 UTC");
        assert_eq!(time(&value, "none"), "-");
        assert_eq!(field(&value, "list"), "a, b");
        assert_eq!(field(&value, "n"), "7");
        assert_eq!(field(&value, "absent"), "-");
        assert_eq!(field(&value, ""), "-");
        assert_eq!(count(1, "run") + " " + &count(0, "run"), "1 run 0 runs");
    }
}
