//! The table of parameters: each is honoured, taken without effect, or refused.
//!
//! Source: the contract, section 5.

use serde_json::{Map, Value};

use crate::domain::chat::fields::{Fields, Range};
use crate::domain::chat::refusal::{Problem, Refusal};
use crate::domain::chat::request::{Reply, Settings, UsagePlace};

/// The form that is asked of an answer.
pub(super) enum Format {
    Text,
    Json(Map<String, Value>),
}

/// The cap of the answer under its old or its new name.
pub(super) fn max_tokens(fields: &mut Fields<'_>) -> Result<Option<u64>, Refusal> {
    let old = fields.count("max_tokens")?;
    let new = fields.count("max_completion_tokens")?;
    if old.is_some() && new.is_some() && old != new {
        let problem = Problem::Value("must be the same as `max_tokens`");
        return Err(fields.refuse("max_completion_tokens", problem));
    }
    Ok(new.or(old))
}

/// Whether a stream is wanted, and where it says what was used.
pub(super) fn reply(fields: &mut Fields<'_>, ignored: &mut Vec<String>) -> Result<Reply, Refusal> {
    let is_stream = fields.flag("stream")?.unwrap_or(false);
    let mut include_usage = false;
    if let Some(options) = fields.object("stream_options")? {
        let mut options = Fields::new(options, "stream_options.");
        include_usage = options.flag("include_usage")?.unwrap_or(false);
        options.any("include_obfuscation");
        ignored.extend(options.rest().map(|it| format!("stream_options.{it}")));
    }
    Ok(match (is_stream, include_usage) {
        (false, _) => Reply::Whole,
        (true, true) => Reply::Stream(UsagePlace::OwnChunk),
        (true, false) => Reply::Stream(UsagePlace::LastChunk),
    })
}

/// Everything that is sent on as it is, apart from the form of the answer.
pub(super) fn settings(fields: &mut Fields<'_>) -> Result<Settings, Refusal> {
    Ok(Settings {
        temperature: fields.number("temperature", &TEMPERATURE)?,
        top_p: fields.number("top_p", &TOP_P)?,
        presence_penalty: fields.number("presence_penalty", &PENALTY)?,
        frequency_penalty: fields.number("frequency_penalty", &PENALTY)?,
        seed: fields.integer("seed")?,
        stop: stop(fields)?,
        response_format: None,
        reasoning_effort: effort(fields)?,
    })
}

fn stop(fields: &mut Fields<'_>) -> Result<Vec<String>, Refusal> {
    let wrong_type = Problem::Type("a string or a list of strings");
    let texts = match fields.any("stop") {
        None => return Ok(Vec::new()),
        Some(Value::String(text)) => Some(vec![text]),
        Some(Value::Array(items)) => {
            items.into_iter().map(|it| it.as_str().map(str::to_owned)).collect()
        }
        Some(_) => None,
    };
    let Some(texts) = texts else { return Err(fields.refuse("stop", wrong_type)) };
    if texts.len() > STOPS_MAX || texts.iter().any(String::is_empty) {
        let problem = Problem::Value("must have at most 4 texts, none of them empty");
        return Err(fields.refuse("stop", problem));
    }
    Ok(texts)
}

fn effort(fields: &mut Fields<'_>) -> Result<Option<String>, Refusal> {
    let effort = fields.text("reasoning_effort")?;
    match &effort {
        Some(word) if !EFFORTS.contains(&word.as_str()) => {
            let problem = Problem::Value("must be none, minimal, low, medium, high or xhigh");
            Err(fields.refuse("reasoning_effort", problem))
        }
        Some(_) | None => Ok(effort),
    }
}

/// The form of the answer.
pub(super) fn format(fields: &mut Fields<'_>) -> Result<Format, Refusal> {
    let Some(format) = fields.object("response_format")? else { return Ok(Format::Text) };
    let mut members = Fields::new(format.clone(), "response_format.");
    match members.required_text("type")?.as_str() {
        "text" => Ok(Format::Text),
        "json_object" => Ok(Format::Json(format)),
        "json_schema" => match members.object("json_schema")? {
            Some(_) => Ok(Format::Json(format)),
            None => Err(members.refuse("json_schema", Problem::Missing)),
        },
        _ => {
            let problem = Problem::Value("must be text, json_object or json_schema");
            Err(members.refuse("type", problem))
        }
    }
}

/// Takes what changes nothing here, and refuses what would have to.
pub(super) fn without_effect(fields: &mut Fields<'_>) -> Result<(), Refusal> {
    for name in HARMLESS {
        fields.any(name);
    }
    for name in REFUSED {
        if fields.any(name).is_some() {
            return Err(fields.refuse(name, Problem::Unsupported));
        }
    }
    for name in ["store", "logprobs"] {
        if fields.flag(name)? == Some(true) {
            return Err(fields.refuse(name, Problem::Unsupported));
        }
    }
    if fields.count("n")?.is_some_and(|it| it > 1) {
        return Err(fields.refuse("n", Problem::Unsupported));
    }
    for name in ["tools", "functions"] {
        if fields.list(name)?.is_some_and(|it| !it.is_empty()) {
            return Err(fields.refuse(name, Problem::Unsupported));
        }
    }
    if fields.object("logit_bias")?.is_some_and(|it| !it.is_empty()) {
        return Err(fields.refuse("logit_bias", Problem::Unsupported));
    }
    if fields.list("modalities")?.is_some_and(|it| it.iter().any(|it| it != "text")) {
        return Err(fields.refuse("modalities", Problem::Unsupported));
    }
    for (name, words) in WORDS {
        let is_other = |it: &Value| !it.as_str().is_some_and(|it| words.contains(&it));
        if fields.any(name).as_ref().is_some_and(is_other) {
            return Err(fields.refuse(name, Problem::Unsupported));
        }
    }
    Ok(())
}

const TEMPERATURE: Range = Range { from: 0, to: 2, expected: "must be from 0 to 2" };
const TOP_P: Range = Range { from: 0, to: 1, expected: "must be from 0 to 1" };
const PENALTY: Range = Range { from: -2, to: 2, expected: "must be from -2 to 2" };
/// Texts before which an answer ends.
const STOPS_MAX: usize = 4;
/// Words for how much to think.
const EFFORTS: [&str; 6] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/// Taken whatever they hold, never sent on and never logged.
const HARMLESS: [&str; 6] = [
    "user",
    "safety_identifier",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "parallel_tool_calls",
];
/// Refused whatever they hold.
const REFUSED: [&str; 5] =
    ["top_logprobs", "audio", "prediction", "web_search_options", "moderation"];
/// Taken with these words only.
const WORDS: [(&str, &[&str]); 3] = [
    ("service_tier", &["auto", "default"]),
    ("tool_choice", &["none", "auto"]),
    ("function_call", &["none", "auto"]),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::chat::{Request, UnknownParameters};

    fn parse(extra: &Value) -> Result<Request, Refusal> {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "a"}]});
        let object = body.as_object_mut().unwrap();
        object.extend(extra.as_object().unwrap().clone());
        Request::parse(object.clone(), UnknownParameters::Refuse)
    }

    #[track_caller]
    fn check_sent_on(extra: &Value, settings: &Value) {
        let request = parse(extra).unwrap();
        assert_eq!(serde_json::to_value(&request.settings).unwrap(), *settings, "{extra}");
    }

    #[track_caller]
    fn check_refused(code: &str, param: &str, extra: &Value) {
        let refusal = parse(extra).expect_err(&extra.to_string());
        assert_eq!((refusal.code(), refusal.param.as_str()), (code, param), "{extra}");
    }

    #[test]
    fn honoured_parameters_are_sent_on_as_they_were_written() {
        for extra in [
            json!({"temperature": 0}),
            json!({"temperature": 0.7}),
            json!({"temperature": 2.0}),
            json!({"top_p": 1}),
            json!({"presence_penalty": -2, "frequency_penalty": 2}),
            json!({"seed": -9_223_372_036_854_775_808_i64}),
            json!({"stop": ["a", "b", "c", "d"]}),
            json!({"reasoning_effort": "low"}),
            json!({"response_format": {"type": "json_object"}}),
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}}),
        ] {
            check_sent_on(&extra, &extra);
        }
        check_sent_on(&json!({"stop": "end"}), &json!({"stop": ["end"]}));
        check_sent_on(&json!({"stop": []}), &json!({}));
        check_sent_on(&json!({"response_format": {"type": "text"}}), &json!({}));
    }

    #[test]
    fn parameters_without_effect_are_taken_and_not_sent_on() {
        for extra in [
            json!({"user": "u", "safety_identifier": "s", "metadata": {"a": "b"}}),
            json!({"prompt_cache_key": "k", "prompt_cache_retention": "24h"}),
            json!({"store": false, "n": 1, "logprobs": false, "parallel_tool_calls": true}),
            json!({"service_tier": "auto"}),
            json!({"service_tier": "default"}),
            json!({"tools": [], "functions": [], "tool_choice": "none", "function_call": "auto"}),
            json!({"tool_choice": "auto", "modalities": ["text"], "logit_bias": {}}),
            json!({"stream": false, "stream_options": {"include_usage": true}}),
        ] {
            check_sent_on(&extra, &json!({}));
        }
    }

    #[test]
    fn null_is_no_parameter() {
        let names = [
            "max_tokens",
            "max_completion_tokens",
            "stream",
            "stream_options",
            "temperature",
            "top_p",
            "stop",
            "seed",
            "presence_penalty",
            "frequency_penalty",
            "n",
            "logprobs",
            "top_logprobs",
            "tools",
            "functions",
            "tool_choice",
            "audio",
            "prediction",
            "web_search_options",
            "store",
            "logit_bias",
            "moderation",
            "modalities",
            "response_format",
            "reasoning_effort",
            "service_tier",
            "unheard_of",
        ];
        let extra = names.iter().map(|it| ((*it).to_owned(), Value::Null)).collect();
        check_sent_on(&Value::Object(extra), &json!({}));
    }

    #[test]
    fn what_needs_more_than_text_is_refused_by_name() {
        for (param, value) in [
            ("n", json!(2)),
            ("logprobs", json!(true)),
            ("top_logprobs", json!(0)),
            ("tools", json!([{"type": "function"}])),
            ("functions", json!([{"name": "f"}])),
            ("tool_choice", json!("required")),
            ("tool_choice", json!({"type": "function"})),
            ("function_call", json!({"name": "f"})),
            ("audio", json!({"voice": "v"})),
            ("modalities", json!(["text", "audio"])),
            ("prediction", json!({"type": "content"})),
            ("web_search_options", json!({})),
            ("store", json!(true)),
            ("logit_bias", json!({"1": 2})),
            ("moderation", json!({})),
            ("service_tier", json!("priority")),
        ] {
            check_refused("unsupported_parameter", param, &json!({ param: value }));
        }
    }

    #[test]
    fn a_value_outside_its_range_is_refused() {
        for (param, value) in [
            ("temperature", json!(-0.1)),
            ("temperature", json!(2.000_001)),
            ("top_p", json!(1.01)),
            ("top_p", json!(-1)),
            ("presence_penalty", json!(2.1)),
            ("frequency_penalty", json!(-2.1)),
            ("max_tokens", json!(0)),
            ("max_tokens", json!(-1)),
            ("max_completion_tokens", json!(0)),
            ("n", json!(0)),
            ("seed", json!(18_446_744_073_709_551_615_u64)),
            ("stop", json!(["a", "b", "c", "d", "e"])),
            ("stop", json!("")),
            ("reasoning_effort", json!("a lot")),
        ] {
            check_refused("invalid_value", param, &json!({ param: value }));
        }
        let format = json!({"response_format": {"type": "xml"}});
        check_refused("invalid_value", "response_format.type", &format);
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        for (param, value) in [
            ("temperature", json!("0.5")),
            ("top_p", json!(true)),
            ("presence_penalty", json!([])),
            ("frequency_penalty", json!({})),
            ("max_tokens", json!("x")),
            ("max_tokens", json!(1.5)),
            ("max_tokens", json!(16.0)),
            ("max_completion_tokens", json!([1])),
            ("stream", json!("true")),
            ("stream", json!(1)),
            ("stream_options", json!(true)),
            ("stop", json!(7)),
            ("stop", json!(["a", 7])),
            ("seed", json!(0.5)),
            ("n", json!("1")),
            ("logprobs", json!("no")),
            ("tools", json!({})),
            ("store", json!(0)),
            ("logit_bias", json!([])),
            ("modalities", json!("text")),
            ("response_format", json!("json")),
            ("reasoning_effort", json!(3)),
        ] {
            check_refused("invalid_type", param, &json!({ param: value }));
        }
        let usage = json!({"stream": true, "stream_options": {"include_usage": "yes"}});
        check_refused("invalid_type", "stream_options.include_usage", &usage);
        check_refused("missing_field", "response_format.type", &json!({"response_format": {}}));
        let format = json!({"response_format": {"type": "json_schema"}});
        check_refused("missing_field", "response_format.json_schema", &format);
        let options = json!({"stream_options": {"every": 1}});
        check_refused("unknown_parameter", "stream_options.every", &options);
    }

    #[test]
    fn both_names_of_the_cap_mean_the_same() {
        let cap = |extra: Value| parse(&extra).unwrap().max_tokens;
        assert_eq!(cap(json!({"max_tokens": 7})), Some(7));
        assert_eq!(cap(json!({"max_completion_tokens": 7})), Some(7));
        assert_eq!(cap(json!({"max_completion_tokens": 7, "max_tokens": 7})), Some(7));
        assert_eq!(cap(json!({"max_completion_tokens": 7, "max_tokens": null})), Some(7));
        let both = json!({"max_completion_tokens": 7, "max_tokens": 8});
        check_refused("invalid_value", "max_completion_tokens", &both);
    }

    #[test]
    fn a_stream_says_what_was_used_where_the_caller_wants_it() {
        let reply = |extra: Value| parse(&extra).unwrap().reply;
        let (last, own) = (UsagePlace::LastChunk, UsagePlace::OwnChunk);
        assert_eq!(reply(json!({"stream": true})), Reply::Stream(last));
        let options = |it: Value| json!({"stream": true, "stream_options": it});
        assert_eq!(reply(options(json!({"include_usage": true}))), Reply::Stream(own));
        assert_eq!(reply(options(json!({"include_usage": false}))), Reply::Stream(last));
        assert_eq!(reply(options(json!({"include_obfuscation": false}))), Reply::Stream(last));
    }
}
