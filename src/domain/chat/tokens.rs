//! Tokens: how many a request can use at most, and how many it did use.
//!
//! No tokenizer is needed. A byte-level tokenizer makes at most one token of a byte, so bytes,
//! and something for the marks around each message, are a bound that holds for every such model.
//! What was used is what the upstream says, where that can be; else it is estimated from the
//! text that was delivered, and says so.

use crate::domain::chat::Request;

/// How much a model takes and gives, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    context_window: u64,
    max_output_tokens: u64,
    default_max_tokens: u64,
}

/// The most that one request can use, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Of the conversation.
    pub prompt_tokens: u64,
    /// Of the answer; the upstream is told so.
    pub max_tokens: u64,
}

/// What a request used, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the conversation.
    pub prompt_tokens: u64,
    /// Of the answer, thoughts that were not shown included.
    pub completion_tokens: u64,
}

/// What was counted, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The tokens as they were counted; not yet held against a [`Bound`].
    pub usage: Usage,
    /// Who counted.
    pub source: CountSource,
}

/// Who counted tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountSource {
    /// The upstream, in `usage`.
    Upstream,
    /// The upstream, in `timings`, as llama.cpp has it.
    Timings,
    /// Nobody: it follows from the bytes.
    Estimate,
}

impl Sizes {
    /// Sizes of a model; `None` when one is zero, or the default is above the maximum, or the
    /// maximum is above the window.
    #[must_use]
    pub const fn new(
        context_window: u64,
        max_output_tokens: u64,
        default_max_tokens: u64,
    ) -> Option<Self> {
        let in_order =
            default_max_tokens <= max_output_tokens && max_output_tokens <= context_window;
        if default_max_tokens == 0 || !in_order || context_window > WINDOW_TOKENS_MAX {
            return None;
        }
        Some(Self { context_window, max_output_tokens, default_max_tokens })
    }

    /// Tokens of the conversation and the answer together.
    #[must_use]
    pub const fn context_window(&self) -> u64 {
        self.context_window
    }

    /// Tokens that an answer can have.
    #[must_use]
    pub const fn max_output_tokens(&self) -> u64 {
        self.max_output_tokens
    }

    /// Tokens that an answer can have when the caller does not say.
    #[must_use]
    pub const fn default_max_tokens(&self) -> u64 {
        self.default_max_tokens
    }

    /// The most that `request` can use. Source: the contract, section 4.
    #[must_use]
    pub fn bound(&self, request: &Request) -> Bound {
        let marks = MARKS_PER_MESSAGE_MAX.saturating_mul(messages(request));
        let prompt = request.text_bytes().saturating_add(marks).saturating_add(MARKS_MAX);
        let max_tokens = request.max_tokens.unwrap_or(self.default_max_tokens);
        Bound {
            prompt_tokens: prompt.min(self.context_window),
            max_tokens: max_tokens.min(self.max_output_tokens),
        }
    }
}

impl Bound {
    /// What counts of `usage`: no more than the bound.
    #[must_use]
    pub fn clamp(&self, usage: Usage) -> Usage {
        Usage {
            prompt_tokens: usage.prompt_tokens.min(self.prompt_tokens),
            completion_tokens: usage.completion_tokens.min(self.max_tokens),
        }
    }

    /// Bytes of text that an answer within the bound can have, generously.
    #[must_use]
    pub const fn text_bytes(&self) -> u64 {
        self.max_tokens.saturating_mul(BYTES_PER_TOKEN_MAX).saturating_add(BYTES_SPARE)
    }
}

impl Usage {
    /// Both together.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

impl Count {
    /// An estimate for `request` after `delivered_bytes` of text. Source: the contract, section 5.
    #[must_use]
    pub fn estimate(request: &Request, delivered_bytes: u64) -> Self {
        let marks = MARKS_PER_MESSAGE_USUAL.saturating_mul(messages(request));
        let text = request.text_bytes().div_ceil(BYTES_PER_TOKEN);
        let prompt_tokens = text.saturating_add(marks).saturating_add(MARKS_USUAL);
        let completion_tokens = delivered_bytes.div_ceil(BYTES_PER_TOKEN);
        Self { usage: Usage { prompt_tokens, completion_tokens }, source: CountSource::Estimate }
    }
}

impl CountSource {
    /// Everybody who may count.
    pub const ALL: [Self; 3] = [Self::Upstream, Self::Timings, Self::Estimate];

    /// The word for it in a ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Timings => "timings",
            Self::Estimate => "estimated",
        }
    }
}

fn messages(request: &Request) -> u64 {
    u64::try_from(request.messages.len()).unwrap_or(u64::MAX)
}

/// The largest window that a model can have, in tokens; far above any that exists.
const WINDOW_TOKENS_MAX: u64 = 1 << 40;
/// Tokens that a model's own form puts around one message, at most.
const MARKS_PER_MESSAGE_MAX: u64 = 16;
/// Tokens that a model's own form puts around a conversation, at most.
const MARKS_MAX: u64 = 64;
/// Tokens around one message, usually.
const MARKS_PER_MESSAGE_USUAL: u64 = 4;
/// Tokens around a conversation, usually.
const MARKS_USUAL: u64 = 3;
/// Bytes of text that one token stands for, usually.
const BYTES_PER_TOKEN: u64 = 4;
/// Bytes of text that one token stands for at most, on the average of a long answer.
const BYTES_PER_TOKEN_MAX: u64 = 64;
/// Bytes that a short answer may have beyond that, for tokens that are runs of one character.
const BYTES_SPARE: u64 = 4096;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::chat::UnknownParameters;

    fn request(body: &Value) -> Request {
        let object = body.as_object().unwrap().clone();
        Request::parse(object, UnknownParameters::Refuse).unwrap()
    }

    fn asking(bytes: usize, max_tokens: Option<u64>) -> Request {
        let messages = json!([{"role": "user", "content": "x".repeat(bytes)}]);
        request(&json!({"model": "m", "messages": messages, "max_tokens": max_tokens}))
    }

    #[test]
    fn sizes_that_contradict_each_other_are_refused() {
        assert!(Sizes::new(100, 50, 20).is_some());
        assert!(Sizes::new(100, 100, 100).is_some());
        for (window, output, default) in
            [(0, 0, 0), (100, 101, 20), (100, 50, 51), (100, 50, 0), (u64::MAX, 1, 1)]
        {
            assert_eq!(Sizes::new(window, output, default), None, "{window} {output} {default}");
        }
    }

    #[test]
    fn a_byte_is_at_most_a_token_and_the_window_is_the_end() {
        let sizes = Sizes::new(1000, 500, 200).unwrap();
        let bound = |bytes, max| sizes.bound(&asking(bytes, max));
        assert_eq!(bound(10, None), Bound { prompt_tokens: 90, max_tokens: 200 });
        assert_eq!(bound(10, Some(1)).max_tokens, 1);
        assert_eq!(bound(10, Some(501)).max_tokens, 500);
        assert_eq!(bound(5000, Some(u64::MAX)), Bound { prompt_tokens: 1000, max_tokens: 500 });
    }

    #[test]
    fn the_form_of_the_answer_counts_as_read() {
        let body = json!({
            "model": "m",
            "messages": [{"role": "user", "content": "a"}],
            "response_format": {"type": "json_object"},
        });
        let bytes = r#"a{"type":"json_object"}"#.len();
        assert_eq!(request(&body).text_bytes(), u64::try_from(bytes).unwrap());
    }

    #[test]
    fn an_estimate_rounds_up_and_counts_any_text_as_a_token() {
        let count = |bytes, delivered| Count::estimate(&asking(bytes, None), delivered).usage;
        assert_eq!(count(0, 0), Usage { prompt_tokens: 7, completion_tokens: 0 });
        assert_eq!(count(1, 1), Usage { prompt_tokens: 8, completion_tokens: 1 });
        assert_eq!(count(8, 9), Usage { prompt_tokens: 9, completion_tokens: 3 });
        assert_eq!(count(8, 9).total(), 12);
    }

    #[test]
    fn what_is_above_the_bound_does_not_count() {
        let bound = Bound { prompt_tokens: 90, max_tokens: 20 };
        let within = Usage { prompt_tokens: 0, completion_tokens: 20 };
        assert_eq!(bound.clamp(within), within);
        let above = Usage { prompt_tokens: 91, completion_tokens: u64::MAX };
        assert_eq!(bound.clamp(above), Usage { prompt_tokens: 90, completion_tokens: 20 });
    }
}
