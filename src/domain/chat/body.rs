//! What is sent on to an upstream: the conversation in a form that every server understands.
//!
//! Only what is honoured goes out: no name of the caller, no metadata. The cap is always in it,
//! under the name that all servers know, because without it an answer would cost without end.

use serde::Serialize;

use crate::domain::chat::{Bound, Message, Request, Settings};

/// Whether an upstream is asked for a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpstreamStream {
    /// Always, also for answers in one piece: a stream can be given up and shows where it broke.
    #[default]
    Ask,
    /// Never, for servers that cannot stream.
    Never,
}

/// Writes the JSON body for an upstream that calls the model `upstream_model`.
#[must_use]
pub fn upstream_body(
    request: &Request,
    upstream_model: &str,
    bound: &Bound,
    stream: UpstreamStream,
) -> Vec<u8> {
    let is_stream = stream == UpstreamStream::Ask;
    let body = Body {
        model: upstream_model,
        messages: request.messages.iter().map(Line::of).collect(),
        max_tokens: bound.max_tokens,
        stream: is_stream,
        stream_options: is_stream.then_some(Options { include_usage: true }),
        settings: &request.settings,
    };
    // A struct of texts and numbers always has a JSON form.
    serde_json::to_vec(&body).unwrap_or_default()
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Line<'a>>,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Options>,
    #[serde(flatten)]
    settings: &'a Settings,
}

#[derive(Serialize)]
struct Line<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Options {
    include_usage: bool,
}

impl<'a> Line<'a> {
    fn of(message: &'a Message) -> Self {
        Self { role: message.role.as_str(), content: &message.text }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::chat::{Sizes, UnknownParameters};

    #[track_caller]
    fn check_sent(extra: &Value, stream: UpstreamStream, expected: &Value) {
        let mut body = json!({"model": "ours", "messages": [
            {"role": "developer", "content": "be brief", "name": "n"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        ]});
        let object = body.as_object_mut().unwrap();
        object.extend(extra.as_object().unwrap().clone());
        let request = Request::parse(object.clone(), UnknownParameters::Ignore).unwrap();
        let bound = Sizes::new(4000, 1000, 200).unwrap().bound(&request);
        let sent = upstream_body(&request, "theirs", &bound, stream);
        let mut sent: Value = serde_json::from_slice(&sent).unwrap();
        let messages = sent.as_object_mut().unwrap().shift_remove("messages").unwrap();
        let system = json!({"role": "system", "content": "be brief"});
        assert_eq!(messages, json!([system, {"role": "user", "content": "a\nb"}]));
        assert_eq!(sent, *expected);
    }

    #[test]
    fn a_plain_request_becomes_a_stream_with_a_cap_and_usage() {
        let usage = json!({"include_usage": true});
        let expected = json!({
            "model": "theirs", "max_tokens": 200, "stream": true, "stream_options": usage,
        });
        check_sent(&json!({}), UpstreamStream::Ask, &expected);
        let unasked =
            json!({"user": "u", "metadata": {"a": "b"}, "top_k": 7, "n": 1, "store": false});
        check_sent(&unasked, UpstreamStream::Ask, &expected);
    }

    #[test]
    fn a_server_that_cannot_stream_is_not_asked_to() {
        let expected = json!({"model": "theirs", "max_tokens": 200, "stream": false});
        check_sent(&json!({"stream": true}), UpstreamStream::Never, &expected);
    }

    #[test]
    fn honoured_parameters_go_out_and_the_cap_is_the_models() {
        let extra = json!({
            "max_completion_tokens": 9000, "temperature": 0.5, "top_p": 1, "stop": "x", "seed": 7,
            "presence_penalty": 0, "frequency_penalty": -1.5, "reasoning_effort": "low",
            "response_format": {"type": "json_object"},
        });
        let expected = json!({
            "model": "theirs", "max_tokens": 1000, "stream": false, "temperature": 0.5, "top_p": 1,
            "stop": ["x"], "seed": 7, "presence_penalty": 0, "frequency_penalty": -1.5,
            "reasoning_effort": "low", "response_format": {"type": "json_object"},
        });
        check_sent(&extra, UpstreamStream::Never, &expected);
    }
}
