//! What a model said through the API: streamed or whole, with its end and its cost.
//!
//! A stream that ends without a reason for its end has broken off, and is told so: a part is
//! never taken for the whole.

use serde_json::Value;

use crate::cli::access::Access;
use crate::cli::client::sentence;
use crate::cli::exit::{Exit, Failure};
use crate::cli::shown::field;
use crate::models::EventReader;
use crate::outbound::UpstreamAnswer;

/// What a model said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    /// The text, fit for a terminal.
    pub(super) text: String,
    /// Why it ended.
    pub(super) finish: Option<String>,
    /// Tokens and cost.
    pub(super) usage: Option<Value>,
    is_done: bool,
}

impl Reply {
    /// Reads a whole answer.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub(super) fn whole(answer: &Value) -> Result<Self, Failure> {
        let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
        let text =
            text.ok_or_else(|| Failure::new(Exit::Failed, "the answer has no text in it"))?;
        let finish = answer.pointer("/choices/0/finish_reason").and_then(Value::as_str);
        Ok(Self {
            text: plain(text),
            finish: finish.map(str::to_owned),
            usage: answer.get("usage").filter(|it| it.is_object()).cloned(),
            is_done: true,
        })
    }

    /// What it used and cost, for people.
    pub(super) fn cost(&self) -> Option<String> {
        let usage = self.usage.as_ref()?;
        let [input, output, cost, currency] =
            ["prompt_tokens", "completion_tokens", "cost", "currency"].map(|it| field(usage, it));
        let is_estimated = usage.get("estimated").and_then(Value::as_bool).unwrap_or(false);
        let estimated = if is_estimated { " (estimated)" } else { "" };
        Some(format!("{cost} {currency} for {input} + {output} tokens{estimated}"))
    }

    /// Takes one event of a stream; the new text in it.
    fn take(&mut self, data: &[u8]) -> Result<Option<String>, Failure> {
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(None);
        }
        let event: Value = serde_json::from_slice(data).map_err(|_| {
            Failure::new(Exit::Failed, "the stream has something in it that is no JSON")
        })?;
        if let Some(error) = event.get("error").filter(|it| !it.is_null()) {
            let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given");
            let what = format!("the answer broke off: {}", sentence(message));
            return Err(Failure::new(Exit::Failed, what));
        }
        if let Some(usage) = event.get("usage").filter(|it| it.is_object()) {
            self.usage = Some(usage.clone());
        }
        if let Some(finish) = event.pointer("/choices/0/finish_reason").and_then(Value::as_str) {
            self.finish = Some(finish.to_owned());
        }
        let text = event.pointer("/choices/0/delta/content").and_then(Value::as_str);
        Ok(text.map(plain).filter(|it| !it.is_empty()))
    }
}

/// Reads a streamed answer and gives every piece of text to `told` as it comes.
///
/// # Errors
///
/// When it breaks off, says that something went wrong, or `told` fails.
///
/// # Cancel safety
///
/// Not safe: what was read is lost; the connection closes with `answer`.
pub(super) async fn stream(
    access: &Access,
    answer: &mut UpstreamAnswer,
    mut told: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<Reply, Failure> {
    let too_long = |_| Failure::new(Exit::Failed, "the stream has a line that is too long");
    let (mut reader, mut reply) = (EventReader::new(), Reply::default());
    while !reply.is_done {
        let bytes = answer.chunk().await.map_err(|it| access.broken(it))?;
        match &bytes {
            Some(bytes) => reader.feed(bytes).map_err(too_long)?,
            None => reader.end().map_err(too_long)?,
        }
        while let Some(event) = reader.next_event() {
            if let Some(text) = reply.take(&event.data)? {
                told(&text)?;
                reply.text.push_str(&text);
            }
        }
        if bytes.is_none() {
            break;
        }
    }
    if reply.is_done || reply.finish.is_some() {
        return Ok(reply);
    }
    Err(Failure::new(Exit::Failed, "the answer broke off: the stream ended before its end"))
}

/// The text without what steers a terminal.
fn plain(text: &str) -> String {
    text.chars().filter(|it| !it.is_control() || matches!(it, '\n' | '\t')).collect()
}

/// Where a chat is asked for, below the base URL.
pub(super) const PATH: &str = "chat/completions";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_make_a_text_with_an_end_and_a_cost() {
        let mut reply = Reply::default();
        let mut said = String::new();
        for event in [
            json!({"choices":[{"delta":{"role":"assistant","content":""}}],"usage":null}),
            json!({"choices":[{"delta":{"content":"a\u{1b}[2J"}}]}),
            json!({"choices":[{"delta":{"content":"\nb"},"finish_reason":null}]}),
            json!({"choices":[{"delta":{},"finish_reason":"stop"}]}),
            json!({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"cost":"0.1",
                   "currency":"EUR","estimated":true}}),
        ] {
            said.extend(reply.take(event.to_string().as_bytes()).unwrap());
            assert!(!reply.is_done);
        }
        assert_eq!(reply.take(b"[DONE]"), Ok(None));
        assert_eq!((said.as_str(), reply.is_done), ("a[2J\nb", true));
        assert_eq!(reply.finish.as_deref(), Some("stop"));
        assert_eq!(reply.cost().unwrap(), "0.1 EUR for 3 + 2 tokens (estimated)");
    }

    #[test]
    fn an_error_in_a_stream_is_a_failure_in_its_own_words() {
        let event = json!({"error": {"message": "The upstream went away.", "code": "x"}});
        let failure = Reply::default().take(event.to_string().as_bytes()).unwrap_err();
        assert_eq!(failure.what, "the answer broke off: the upstream went away");
        assert!(Reply::default().take(b"{").is_err());
    }

    #[test]
    fn a_whole_answer_without_text_is_none() {
        for answer in [json!({}), json!({"choices": []}), json!({"choices": [{"message": {}}]})] {
            assert!(Reply::whole(&answer).is_err(), "{answer}");
        }
        let answer = json!({"choices":[{"message":{"content":"hi"},"finish_reason":"length"}]});
        let reply = Reply::whole(&answer).unwrap();
        assert_eq!((reply.text.as_str(), reply.finish.as_deref()), ("hi", Some("length")));
        assert_eq!(reply.cost(), None);
    }
}
