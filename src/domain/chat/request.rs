//! A request for a chat, read once; afterwards nothing checks it again.
//!
//! What a text model can do is honoured, what cannot hurt is taken without effect, what would
//! need more than text is refused, and what nobody knows is ignored and reported.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::domain::chat::Message;
use crate::domain::chat::fields::Fields;
use crate::domain::chat::parameters::{self, Format};
use crate::domain::chat::refusal::{Problem, Refusal, shown};

/// What is asked of a model; nothing that the caller wrote shows in a log.
#[derive(Clone)]
pub struct Request {
    /// The model's id as the caller wrote it; not looked up yet.
    pub model: String,
    /// The conversation; at least one message.
    pub messages: Vec<Message>,
    /// Tokens that the answer may have at most, as far as the caller says; at least one.
    pub max_tokens: Option<u64>,
    /// How the answer is wanted.
    pub reply: Reply,
    /// What is sent on as it was written.
    pub settings: Settings,
    ignored: Vec<String>,
}

/// How an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// In one piece.
    Whole,
    /// As a stream of chunks.
    Stream(UsagePlace),
}

/// Where a stream says what was used; it does so once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsagePlace {
    /// In the chunk with the reason of the end.
    LastChunk,
    /// In a chunk of its own after it, because `stream_options.include_usage` asks for it.
    OwnChunk,
}

/// Parameters that a model honours, as the caller wrote them; checked for their ranges.
#[derive(Clone, Default, Serialize)]
pub struct Settings {
    /// 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Number>,
    /// 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<Number>,
    /// -2 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<Number>,
    /// -2 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<Number>,
    /// Any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Texts before which the answer ends: at most four, none of them empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The form of the answer; only for models with [`Capabilities::json`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<Map<String, Value>>,
    /// How much to think; only for models with [`Capabilities::reasoning`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
}

/// What a model can do beyond text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It keeps to `response_format`.
    pub json: bool,
    /// It understands `reasoning_effort`.
    pub reasoning: bool,
}

/// What happens to parameters that nobody knows; the key says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownParameters {
    /// They are reported and change nothing.
    Ignore,
    /// They are refused.
    Refuse,
}

impl Request {
    /// Reads the object of a request body.
    ///
    /// # Errors
    ///
    /// [`Refusal`] names the first thing that is wrong.
    pub fn parse(object: Map<String, Value>, unknown: UnknownParameters) -> Result<Self, Refusal> {
        let mut fields = Fields::new(object, "");
        let mut ignored = Vec::new();
        let model = fields.required_text("model")?;
        let messages = Message::parse_all(fields.list("messages")?, &mut ignored)?;
        let max_tokens = parameters::max_tokens(&mut fields)?;
        let reply = parameters::reply(&mut fields, &mut ignored)?;
        let mut settings = parameters::settings(&mut fields)?;
        if let Format::Json(format) = parameters::format(&mut fields)? {
            settings.response_format = Some(format);
        }
        parameters::without_effect(&mut fields)?;
        ignored.extend(fields.rest());
        let ignored = named(&ignored);
        match (unknown, ignored.first()) {
            (UnknownParameters::Refuse, Some(name)) => Err(Refusal::new(name, Problem::Unknown)),
            _ => Ok(Self { model, messages, max_tokens, reply, settings, ignored }),
        }
    }

    /// Checks that a model can do what is asked.
    ///
    /// # Errors
    ///
    /// [`Problem::Unsupported`] for the parameter that it cannot honour.
    pub fn check(&self, capabilities: Capabilities) -> Result<(), Refusal> {
        let Settings { response_format, reasoning_effort, .. } = &self.settings;
        if response_format.is_some() && !capabilities.json {
            return Err(Refusal::new("response_format", Problem::Unsupported));
        }
        if reasoning_effort.is_some() && !capabilities.reasoning {
            return Err(Refusal::new("reasoning_effort", Problem::Unsupported));
        }
        Ok(())
    }

    /// The names of parameters that were ignored: at most 32, each fit for a header.
    #[must_use]
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Bytes of everything that a model reads.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        let texts = self.messages.iter().map(|it| it.text.len());
        let format = self.settings.response_format.as_ref();
        let format = format.map_or(0, |it| serde_json::to_vec(it).map_or(0, |it| it.len()));
        let bytes = texts.fold(format, usize::saturating_add);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, max_tokens, reply, .. } = self;
        write!(f, "Request({messages:?}, {max_tokens:?}, {reply:?})")
    }
}

/// Each name once, fit to be repeated.
fn named(ignored: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for name in ignored.iter().map(|it| shown(it)) {
        if names.len() < IGNORED_MAX && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Names of ignored parameters that are reported.
const IGNORED_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(extra: &Value) -> Result<Request, Refusal> {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hé"}]});
        let object = body.as_object_mut().unwrap();
        object.extend(extra.as_object().unwrap().clone());
        Request::parse(object.clone(), UnknownParameters::Ignore)
    }

    #[test]
    fn a_request_needs_a_model_and_messages() {
        for (body, code, param) in [
            (json!({}), "missing_field", "model"),
            (json!({"model": null}), "missing_field", "model"),
            (json!({"model": 7}), "invalid_type", "model"),
            (json!({"model": "m"}), "missing_field", "messages"),
            (json!({"model": "m", "messages": "hi"}), "invalid_type", "messages"),
            (json!({"model": "m", "messages": {}}), "invalid_type", "messages"),
        ] {
            let object = body.as_object().unwrap().clone();
            let refusal = Request::parse(object, UnknownParameters::Ignore).unwrap_err();
            assert_eq!((refusal.code(), refusal.param.as_str()), (code, param), "{body}");
        }
    }

    #[test]
    fn a_plain_request_asks_for_nothing_special() {
        let request = parse(&json!({})).unwrap();
        assert_eq!((request.model.as_str(), request.max_tokens), ("m", None));
        assert_eq!((request.reply, request.text_bytes()), (Reply::Whole, 3));
        assert!(request.ignored().is_empty());
        assert_eq!(serde_json::to_value(&request.settings).unwrap(), json!({}));
    }

    #[test]
    fn unknown_parameters_are_named_once_and_refused_by_a_strict_key() {
        let extra = json!({"top_k": 7, "a\r\nb": 1, "service_sk_secret": 1, "min_p": null});
        let request = parse(&extra).unwrap();
        assert_eq!(request.ignored(), ["top_k", "a??b", "service_sk_..."]);
        let mut object = Map::new();
        object.insert("model".to_owned(), json!("m"));
        object.insert("messages".to_owned(), json!([{"role": "user", "content": "a", "x": 1}]));
        object.insert("top_k".to_owned(), json!(7));
        let refusal = Request::parse(object, UnknownParameters::Refuse).unwrap_err();
        assert_eq!((refusal.code(), refusal.param.as_str()), ("unknown_parameter", "messages[].x"));
    }

    #[test]
    fn debugging_a_request_does_not_show_what_the_caller_wrote() {
        let request = parse(&json!({"stop": "hidden", "user": "hidden"})).unwrap();
        assert_eq!(format!("{request:?}"), "Request([user (3 bytes)], None, Whole)");
    }

    #[test]
    fn whatever_a_parameter_holds_it_is_taken_or_refused_by_its_name() {
        let values = [
            json!(true),
            json!(false),
            json!(0),
            json!(-1),
            json!(1e300),
            json!(u64::MAX),
            json!(""),
            json!("auto"),
            json!([]),
            json!([[]]),
            json!(["text"]),
            json!({}),
            json!({"type": {}}),
            json!({"include_usage": []}),
            json!([{"type": "text"}]),
        ];
        for name in [
            "model",
            "messages",
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
            "user",
            "metadata",
            "store",
            "service_tier",
            "n",
            "logprobs",
            "tools",
            "functions",
            "tool_choice",
            "modalities",
            "response_format",
            "logit_bias",
            "reasoning_effort",
            "top_logprobs",
            "audio",
            "prediction",
            "moderation",
        ] {
            for value in &values {
                if let Err(refusal) = parse(&json!({ name: value })) {
                    assert!(refusal.param.starts_with(name), "{name}: {value}: {refusal}");
                }
            }
        }
    }

    #[test]
    fn a_flood_of_unknown_parameters_is_reported_in_part() {
        let names = (0..1000).map(|it| (format!("p{it}"), json!(1)));
        let request = parse(&Value::Object(names.collect())).unwrap();
        assert_eq!(request.ignored().len(), IGNORED_MAX);
    }

    #[test]
    fn what_a_model_cannot_do_is_refused_before_anything_is_held() {
        let all = Capabilities { json: true, reasoning: true };
        for (extra, param) in [
            (json!({"response_format": {"type": "json_object"}}), "response_format"),
            (json!({"reasoning_effort": "low"}), "reasoning_effort"),
        ] {
            let request = parse(&extra).unwrap();
            let refusal = request.check(Capabilities::default()).unwrap_err();
            assert_eq!((refusal.code(), refusal.param.as_str()), ("unsupported_parameter", param));
            assert_eq!(request.check(all), Ok(()));
        }
    }
}
