//! One JSON object of an upstream, whatever its dialect: text, an end, what was used, an error.
//!
//! Nothing is required to be there and nothing unknown matters; what cannot be read is absent.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::chat::{Count, CountSource, FinishReason, Usage};

/// What an object says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A part of an answer, or the whole of it.
    Part(Part),
    /// That it failed.
    Error(Value),
}

/// A part of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) finish: Option<FinishReason>,
    /// What was used so far; later ones replace earlier ones.
    pub(super) count: Option<Count>,
    /// Whether it looks like a part at all.
    pub(super) is_known: bool,
}

/// The usual part of a stream: text and nothing else. Whatever is not exactly that is read as a
/// tree; this way a stream of hundreds of parts builds none.
#[derive(Deserialize)]
struct Usual<'a> {
    #[serde(borrow)]
    choices: (UsualChoice<'a>,),
    #[serde(default, borrow)]
    object: Option<&'a str>,
    #[serde(default, rename = "usage")]
    _usage: (),
    #[serde(default, rename = "timings")]
    _timings: (),
    #[serde(default, rename = "error")]
    _error: (),
}

#[derive(Deserialize)]
struct UsualChoice<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow)]
    delta: UsualDelta<'a>,
    #[serde(default, rename = "finish_reason")]
    _finish_reason: (),
}

#[derive(Deserialize)]
struct UsualDelta<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
}

impl Usual<'_> {
    fn read(json: &[u8]) -> Option<Part> {
        let Usual { choices: (choice,), object, .. } = serde_json::from_slice(json).ok()?;
        let is_usual = object != Some("error") && choice.index.unwrap_or(0) == 0;
        is_usual.then(|| Part {
            text: choice.delta.content.into_owned(),
            finish: None,
            count: None,
            is_known: true,
        })
    }
}

impl Said {
    /// Reads an object; `None` when it is none.
    pub(super) fn read(json: &[u8]) -> Option<Self> {
        Usual::read(json).map(Self::Part).or_else(|| Self::read_tree(json))
    }

    fn read_tree(json: &[u8]) -> Option<Self> {
        let Ok(Value::Object(object)) = serde_json::from_slice(json) else {
            return None;
        };
        if let Some(error) = object.get("error").filter(|it| !it.is_null()) {
            return Some(Self::Error(error.clone()));
        }
        // The flat form of older servers.
        if object.get("object").is_some_and(|it| it == "error") {
            return Some(Self::Error(Value::Object(object)));
        }
        let choices = object.get("choices").and_then(Value::as_array);
        let is_first = |it: &&Value| it.get("index").is_none_or(|it| it == 0 || it.is_null());
        let choice = choices.and_then(|it| it.iter().find(is_first));
        let count = usage(object.get("usage")).or_else(|| timings(object.get("timings")));
        Some(Self::Part(Part {
            text: choice.map(text).unwrap_or_default(),
            finish: choice.and_then(finish),
            is_known: choice.is_some() || count.is_some(),
            count,
        }))
    }
}

/// The text of a choice: of a stream, or of a whole answer.
fn text(choice: &Value) -> String {
    let said = choice.get("delta").filter(|it| !it.is_null()).or_else(|| choice.get("message"));
    match said.and_then(|it| it.get("content")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|it| it.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

fn finish(choice: &Value) -> Option<FinishReason> {
    let word = choice.get("finish_reason")?.as_str().filter(|it| !it.is_empty())?;
    Some(FinishReason::of_upstream(word))
}

/// What the upstream counted; zero is a number like any other.
fn usage(found: Option<&Value>) -> Option<Count> {
    let number = |name| found?.get(name)?.as_u64();
    let usage = Usage {
        prompt_tokens: number("prompt_tokens")?,
        completion_tokens: number("completion_tokens")?,
    };
    Some(Count { usage, source: CountSource::Upstream })
}

/// What llama.cpp counted: tokens that it read now, had read before, and wrote.
fn timings(found: Option<&Value>) -> Option<Count> {
    let number = |name| found?.get(name)?.as_u64();
    let usage = Usage {
        prompt_tokens: number("prompt_n")?.saturating_add(number("cache_n").unwrap_or(0)),
        completion_tokens: number("predicted_n")?,
    };
    Some(Count { usage, source: CountSource::Timings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_says_what_the_long_way_says() {
        let text = r#"{"content":"a \"b\" \u00e9"}"#;
        for (json, is_usual) in [
            (format!(r#"{{"choices":[{{"delta":{text}}}]}}"#), true),
            (
                format!(
                    r#"{{"object":"chat.completion.chunk","choices":[{{"index":0,"delta":{text},"finish_reason":null,"logprobs":{{}}}}],"usage":null,"x":[1]}}"#
                ),
                true,
            ),
            (
                r#"{"choices":[{"index":null,"delta":{"role":"assistant","content":""}}]}"#
                    .to_owned(),
                true,
            ),
            (format!(r#"{{"choices":[{{"index":1,"delta":{text}}}]}}"#), false),
            (format!(r#"{{"choices":[{{"delta":{text}}},{{"delta":{text}}}]}}"#), false),
            (format!(r#"{{"choices":[{{"delta":{text},"finish_reason":"stop"}}]}}"#), false),
            (
                format!(
                    r#"{{"choices":[{{"delta":{text}}}],"usage":{{"prompt_tokens":1,"completion_tokens":2}}}}"#
                ),
                false,
            ),
            (
                format!(
                    r#"{{"choices":[{{"delta":{text}}}],"timings":{{"prompt_n":1,"predicted_n":2}}}}"#
                ),
                false,
            ),
            (format!(r#"{{"choices":[{{"delta":{text}}}],"error":"no"}}"#), false),
            (format!(r#"{{"object":"error","choices":[{{"delta":{text}}}]}}"#), false),
            (format!(r#"{{"choices":[{{"delta":{text},"delta":{{"content":"b"}}}}]}}"#), false),
            (r#"{"choices":[{"delta":{"content":null}}]}"#.to_owned(), false),
            (r#"{"choices":[{"delta":{"content":[{"text":"a"}]}}]}"#.to_owned(), false),
            (r#"{"choices":[{"message":{"content":"a"}}]}"#.to_owned(), false),
            (r#"{"choices":[]}"#.to_owned(), false),
            ("[1]".to_owned(), false),
        ] {
            let short = Usual::read(json.as_bytes());
            assert_eq!(short.is_some(), is_usual, "{json}");
            let long = Said::read_tree(json.as_bytes());
            assert!(short.is_none_or(|it| Some(Said::Part(it)) == long), "{json}");
            assert_eq!(Said::read(json.as_bytes()), long, "{json}");
        }
    }

    fn part(json: &str) -> Part {
        match Said::read(json.as_bytes()) {
            Some(Said::Part(part)) => part,
            other => panic!("{json}: {other:?}"),
        }
    }

    fn count(json: &str) -> Option<(u64, u64, CountSource)> {
        part(json).count.map(|it| (it.usage.prompt_tokens, it.usage.completion_tokens, it.source))
    }

    #[test]
    fn text_is_found_in_every_form() {
        for json in [
            r#"{"choices":[{"delta":{"content":"hi"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"logprobs":null}]}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"hi"}}]}"#,
            r#"{"choices":[{"message":{"role":"assistant","content":"hi"}}]}"#,
            r#"{"choices":[{"delta":null,"message":{"content":"hi"}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]}}]}"#,
            r#"{"error":null,"choices":[{"delta":{"content":"hi","reasoning_content":"hm"}}]}"#,
        ] {
            assert_eq!((part(json).text.as_str(), part(json).is_known), ("hi", true), "{json}");
        }
    }

    #[test]
    fn what_is_no_text_is_nothing() {
        for json in [
            r#"{"choices":[{"delta":{}}]}"#,
            r#"{"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"content":7}}]}"#,
            r#"{"choices":[{}]}"#,
            r#"{"choices":[{"delta":{"content":""},"finish_reason":""}]}"#,
        ] {
            assert_eq!(part(json), Part { is_known: true, ..Part::default() }, "{json}");
        }
        for json in ["{}", r#"{"choices":null}"#, r#"{"choices":[]}"#, r#"{"choices":7,"id":""}"#] {
            assert_eq!(part(json), Part::default(), "{json}");
        }
    }

    #[test]
    fn an_end_has_a_reason() {
        let end = |word: &str| {
            part(&format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":{word}}}]}}"#)).finish
        };
        assert_eq!(end("\"stop\""), Some(FinishReason::Stop));
        assert_eq!(end("\"length\""), Some(FinishReason::Length));
        assert_eq!(end("\"eos_token\""), Some(FinishReason::Stop));
        assert_eq!((end("null"), end("\"\""), end("7")), (None, None, None));
    }

    #[test]
    fn usage_is_whole_numbers_and_explicit_zeros_count() {
        let upstream = CountSource::Upstream;
        let usage = r#"{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2}}"#;
        assert_eq!(count(usage), Some((8, 2, upstream)));
        let zero = r#"{"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}"#;
        assert_eq!(count(zero), Some((0, 0, upstream)));
        for usage in [
            "null",
            "7",
            r#"{"prompt_tokens":8}"#,
            r#"{"prompt_tokens":-8,"completion_tokens":2}"#,
            r#"{"prompt_tokens":8,"completion_tokens":2.5}"#,
            r#"{"prompt_tokens":"8","completion_tokens":"2"}"#,
        ] {
            assert_eq!(count(&format!(r#"{{"usage":{usage}}}"#)), None, "{usage}");
            let both = r#""timings":{"cache_n":3,"prompt_n":5,"predicted_n":2}"#;
            let timings = count(&format!(r#"{{"usage":{usage},{both}}}"#));
            assert_eq!(timings, Some((8, 2, CountSource::Timings)), "{usage}");
        }
    }

    #[test]
    fn errors_come_in_an_object_in_a_text_and_flat() {
        for json in [
            r#"{"error":{"message":"no"}}"#,
            r#"{"error":"no"}"#,
            r#"{"object":"error","message":"no","code":400}"#,
        ] {
            assert!(matches!(Said::read(json.as_bytes()), Some(Said::Error(_))), "{json}");
        }
        for json in ["", "[DONE]", "[]", "null", "{\"a\":", "{} {}"] {
            assert_eq!(Said::read(json.as_bytes()), None, "{json}");
        }
    }
}
