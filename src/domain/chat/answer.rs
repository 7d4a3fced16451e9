//! The objects that clients read: a whole completion, or the chunks of a stream.
//!
//! Every member that some client insists on is there. A stream is a chunk with the role, chunks
//! with text, one with the reason of the end, and, if asked for, one with the usage; the usage is
//! in exactly one of them.

use serde::Serialize;

use crate::domain::chat::{CountSource, Reply, Request, Usage, UsagePlace};
use crate::domain::money::{Amount, Currency};
use crate::domain::time::Timestamp;

/// Makes the objects of one answer; all carry the same id, time and model.
#[derive(Clone, Debug)]
pub struct Answering {
    id: String,
    created: i64,
    model: String,
    reply: Reply,
}

/// What was used and what it cost, for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paid {
    /// The tokens that are paid for.
    pub usage: Usage,
    /// Who counted them.
    pub source: CountSource,
    /// What was charged.
    pub cost: Amount,
    /// What that is counted in.
    pub currency: Currency,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model had no more to say, or came to a text of `stop`.
    Stop,
    /// The cap was reached.
    Length,
    /// The upstream held something back.
    ContentFilter,
}

/// A whole answer.
#[derive(Clone, Debug, Serialize)]
pub struct Completion {
    id: String,
    object: &'static str,
    created: i64,
    model: String,
    choices: [WholeChoice; 1],
    usage: Option<PaidUsage>,
}

/// A piece of a streamed answer.
#[derive(Clone, Debug, Serialize)]
pub struct Chunk<'a> {
    id: &'a str,
    object: &'static str,
    created: i64,
    model: &'a str,
    choices: Choices<'a>,
    /// Absent, `null` or there: clients that asked for it want a `null` where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Option<PaidUsage>>,
}

/// One choice, or none beside the usage.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Choices<'a> {
    One([PartChoice<'a>; 1]),
    None([PartChoice<'a>; 0]),
}

#[derive(Clone, Debug, Serialize)]
struct WholeChoice {
    index: u8,
    message: WholeMessage,
    finish_reason: FinishReason,
    logprobs: Option<()>,
}

#[derive(Clone, Debug, Serialize)]
struct WholeMessage {
    role: &'static str,
    content: String,
    refusal: Option<()>,
}

#[derive(Clone, Debug, Serialize)]
struct PartChoice<'a> {
    index: u8,
    delta: Delta<'a>,
    finish_reason: Option<FinishReason>,
    logprobs: Option<()>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

#[derive(Clone, Debug, Serialize)]
struct PaidUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    cost: String,
    currency: String,
    estimated: bool,
}

impl Answering {
    /// Answers `request`; `id` is unique, without a prefix.
    #[must_use]
    pub fn new(request: &Request, id: &str, now: Timestamp) -> Self {
        let (created, model) = (now.seconds(), request.model.clone());
        Self { id: format!("chatcmpl-{id}"), created, model, reply: request.reply }
    }

    /// The id under which the answer goes out.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The whole answer.
    #[must_use]
    pub fn whole(&self, content: String, finish_reason: FinishReason, paid: &Paid) -> Completion {
        let message = WholeMessage { role: ASSISTANT, content, refusal: None };
        Completion {
            id: self.id.clone(),
            object: "chat.completion",
            created: self.created,
            model: self.model.clone(),
            choices: [WholeChoice { index: 0, message, finish_reason, logprobs: None }],
            usage: Some(PaidUsage::of(paid)),
        }
    }

    /// The first chunk of a stream: who speaks.
    #[must_use]
    pub fn first(&self) -> Chunk<'_> {
        self.chunk(Delta { role: Some(ASSISTANT), content: Some("") }, None)
    }

    /// A chunk with text.
    #[must_use]
    pub fn text<'a>(&'a self, text: &'a str) -> Chunk<'a> {
        self.chunk(Delta { role: None, content: Some(text) }, None)
    }

    /// The last chunks of a stream: the reason of the end and the usage, in one or in two.
    #[must_use]
    pub fn last(&self, finish_reason: FinishReason, paid: &Paid) -> Vec<Chunk<'_>> {
        let mut last = self.chunk(Delta::default(), Some(finish_reason));
        if self.place() == UsagePlace::LastChunk {
            last.usage = Some(Some(PaidUsage::of(paid)));
            return vec![last];
        }
        let usage = Some(Some(PaidUsage::of(paid)));
        let own = Chunk { choices: Choices::None([]), usage, ..last.clone() };
        vec![last, own]
    }

    fn chunk<'a>(&'a self, delta: Delta<'a>, finish_reason: Option<FinishReason>) -> Chunk<'a> {
        Chunk {
            id: &self.id,
            object: "chat.completion.chunk",
            created: self.created,
            model: &self.model,
            choices: Choices::One([PartChoice { index: 0, delta, finish_reason, logprobs: None }]),
            usage: (self.place() == UsagePlace::OwnChunk).then_some(None),
        }
    }

    const fn place(&self) -> UsagePlace {
        match self.reply {
            Reply::Stream(place) => place,
            Reply::Whole => UsagePlace::LastChunk,
        }
    }
}

impl Completion {
    /// Its JSON text.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        // A struct of texts and numbers always has a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Chunk<'_> {
    /// Its event, as it goes out.
    #[must_use]
    pub fn to_event(&self) -> Vec<u8> {
        let mut event = Vec::new();
        self.write_event(&mut event);
        event
    }

    /// Writes its event after others.
    pub fn write_event(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(b"data: ");
        // A struct of texts and numbers always has a JSON form.
        match serde_json::to_writer(&mut *out, self) {
            Ok(()) => out.extend_from_slice(b"\n\n"),
            Err(_) => out.truncate(start),
        }
    }
}

impl FinishReason {
    /// Reads an upstream's word; what is not known is a stop. Source: the contract, section 5.
    #[must_use]
    pub fn of_upstream(word: &str) -> Self {
        match word {
            "length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            _ => Self::Stop,
        }
    }
}

impl PaidUsage {
    fn of(paid: &Paid) -> Self {
        Self {
            prompt_tokens: paid.usage.prompt_tokens,
            completion_tokens: paid.usage.completion_tokens,
            total_tokens: paid.usage.total(),
            cost: paid.cost.to_string(),
            currency: paid.currency.to_string(),
            estimated: paid.source == CountSource::Estimate,
        }
    }
}

const ASSISTANT: &str = "assistant";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::chat::UnknownParameters;

    fn answering(extra: &Value) -> Answering {
        let mut body = json!({"model": "a/b:c", "messages": [{"role": "user", "content": "a"}]});
        let object = body.as_object_mut().unwrap();
        object.extend(extra.as_object().unwrap().clone());
        let request = Request::parse(object.clone(), UnknownParameters::Refuse).unwrap();
        Answering::new(&request, "0001", Timestamp::from_millis(1_763_600_000_999))
    }

    fn paid() -> Paid {
        Paid {
            usage: Usage { prompt_tokens: 8, completion_tokens: 2 },
            source: CountSource::Estimate,
            cost: Amount::parse("0.0000123").unwrap(),
            currency: Currency::EUR,
        }
    }

    fn usage() -> Value {
        json!({
            "prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10,
            "cost": "0.0000123", "currency": "EUR", "estimated": true,
        })
    }

    fn chunk(choices: &Value) -> Value {
        json!({
            "id": "chatcmpl-0001", "object": "chat.completion.chunk", "created": 1_763_600_000,
            "model": "a/b:c", "choices": choices,
        })
    }

    fn choice(delta: &Value, finish_reason: &Value) -> Value {
        json!([{"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": null}])
    }

    fn stream(answering: &Answering) -> Vec<Value> {
        let mut chunks = vec![answering.first(), answering.text("hé")];
        chunks.extend(answering.last(FinishReason::Length, &paid()));
        let parsed = chunks.iter().map(|it| {
            let event = String::from_utf8(it.to_event()).unwrap();
            let json = event.strip_prefix("data: ").unwrap().strip_suffix("\n\n").unwrap();
            assert!(!json.contains('\n'));
            serde_json::from_str(json).unwrap()
        });
        parsed.collect()
    }

    #[test]
    fn a_whole_answer_has_every_member_that_some_client_insists_on() {
        let whole = answering(&json!({})).whole("hi".to_owned(), FinishReason::Stop, &paid());
        let message = json!({"role": "assistant", "content": "hi", "refusal": null});
        let expected = json!({
            "id": "chatcmpl-0001", "object": "chat.completion", "created": 1_763_600_000,
            "model": "a/b:c",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": null}],
            "usage": usage(),
        });
        assert_eq!(serde_json::from_slice::<Value>(&whole.to_json()).unwrap(), expected);
    }

    #[test]
    fn usage_that_nobody_asked_for_is_on_the_last_chunk() {
        let role = json!({"role": "assistant", "content": ""});
        let mut last = chunk(&choice(&json!({}), &json!("length")));
        last["usage"] = usage();
        let expected = vec![
            chunk(&choice(&role, &Value::Null)),
            chunk(&choice(&json!({"content": "hé"}), &Value::Null)),
            last,
        ];
        assert_eq!(stream(&answering(&json!({"stream": true}))), expected);
    }

    #[test]
    fn usage_that_was_asked_for_is_in_a_chunk_of_its_own_and_null_in_the_others() {
        let options = json!({"stream": true, "stream_options": {"include_usage": true}});
        let chunks = stream(&answering(&options));
        assert_eq!(chunks.len(), 4);
        let (own, others) = chunks.split_last().unwrap();
        assert!(others.iter().all(|it| it.get("usage") == Some(&Value::Null)));
        let mut expected = chunk(&json!([]));
        expected["usage"] = usage();
        assert_eq!(own, &expected);
    }

    #[test]
    fn an_unknown_reason_is_a_stop() {
        for (word, reason) in [
            ("stop", FinishReason::Stop),
            ("length", FinishReason::Length),
            ("content_filter", FinishReason::ContentFilter),
            ("tool_calls", FinishReason::Stop),
            ("", FinishReason::Stop),
        ] {
            assert_eq!(FinishReason::of_upstream(word), reason, "{word}");
        }
    }
}
