//! Models that need no network and no weights, for trials and tests.
//!
//! They follow simple rules, say so at the beginning of every answer, and count tokens exactly:
//! the same request always gets the same answer and the same usage.

mod extract;
mod script;
mod words;

use std::time::Duration;

pub(in crate::models) use script::Script;

use crate::domain::chat::{
    Bound, Capabilities, FinishReason, ModelId, Price, Request, Role, Sizes,
};
use crate::models::offline::words::pieces;
use crate::models::{Fault, Model, Source, Times};

/// A model of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offline {
    /// What it does.
    pub kind: OfflineKind,
    /// Whether its answers say what it is.
    pub label: Label,
}

/// What an offline model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfflineKind {
    /// Says what the user said last.
    Echo,
    /// Picks the three sentences that say most out of what the user said last.
    Extract,
    /// Says as many words as it may, fifty a second.
    Lorem,
}

/// Whether an answer begins with `[offline model]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Label {
    /// It does.
    #[default]
    Shown,
    /// It does not.
    Hidden,
}

/// The three offline models, at `price`.
#[must_use]
pub fn offline_models(label: Label, price: Price) -> Vec<Model> {
    let model = |(kind, id, name, default): (OfflineKind, &str, &str, u64)| {
        Some(Model {
            id: ModelId::parse(id)?,
            name: name.to_owned(),
            owned_by: "offline".to_owned(),
            price,
            sizes: Sizes::new(WINDOW_TOKENS, OUTPUT_TOKENS_MAX, default)?,
            capabilities: Capabilities::default(),
            times: Times::default(),
            source: Source::Offline(Offline { kind, label }),
        })
    };
    KINDS.into_iter().filter_map(model).collect()
}

impl Offline {
    /// Answers `request`.
    pub(in crate::models) fn answer(
        self,
        request: &Request,
        bound: &Bound,
        sizes: &Sizes,
    ) -> Result<Script, Fault> {
        let counted = |it: &str| u64::try_from(pieces(it).len()).unwrap_or(u64::MAX);
        let prompt_tokens = request.messages.iter().map(|it| counted(&it.text)).sum();
        if prompt_tokens > sizes.context_window() {
            return Err(Fault::ContextLength);
        }
        let cap = bound.max_tokens.min(sizes.max_output_tokens());
        let cap = usize::try_from(cap).unwrap_or(usize::MAX);
        let mut text = self.text(request, cap);
        let end = request.settings.stop.iter().filter_map(|it| text.find(it)).min();
        text.truncate(end.unwrap_or(text.len()));
        let mut said = pieces(&text);
        let finish = if said.len() > cap { FinishReason::Length } else { FinishReason::Stop };
        said.truncate(cap);
        let pause = match self.kind {
            OfflineKind::Lorem => LOREM_PAUSE,
            OfflineKind::Echo | OfflineKind::Extract => Duration::ZERO,
        };
        let said = said.into_iter().map(str::to_owned).collect();
        Ok(Script::new(said, pause, finish, prompt_tokens))
    }

    /// The answer, if it had no end.
    fn text(self, request: &Request, cap: usize) -> String {
        let label = match self.label {
            Label::Shown => LABEL,
            Label::Hidden => "",
        };
        let mut by_user = request.messages.iter().rev().filter(|it| it.role == Role::User);
        let asked = by_user.next().map_or("", |it| it.text.as_str());
        match self.kind {
            OfflineKind::Echo => format!("{label}{asked}"),
            OfflineKind::Extract => format!("{label}{}", extract::summary(asked)),
            OfflineKind::Lorem => {
                let words = LOREM.split(' ').cycle().take(cap.saturating_add(1));
                format!("{label}{}", words.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// What every answer begins with. Source: the contract, section 5.
const LABEL: &str = "[offline model] ";
/// Tokens of a conversation and its answer.
const WINDOW_TOKENS: u64 = 131_072;
/// Tokens of an answer.
const OUTPUT_TOKENS_MAX: u64 = 16_384;
/// Time between two words of `offline/lorem-stream`.
const LOREM_PAUSE: Duration = Duration::from_millis(20);
/// The models, and the cap of each when the caller does not say.
const KINDS: [(OfflineKind, &str, &str, u64); 3] = [
    (OfflineKind::Echo, "offline/echo", "Echo", 4096),
    (OfflineKind::Extract, "offline/extract", "Extractive summary", 4096),
    (OfflineKind::Lorem, "offline/lorem-stream", "Words at a steady pace", 200),
];
const LOREM: &str = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor \
    incididunt ut labore et dolore magna aliqua";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::chat::UnknownParameters;
    use crate::domain::time::Timestamp;
    use crate::models::{End, Piece};
    use crate::sys::clock::Clock;

    fn request(asked: &str, extra: &Value) -> Request {
        let mut body = json!({"model": "m", "messages": [
            {"role": "user", "content": "earlier"},
            {"role": "user", "content": asked},
            {"role": "assistant", "content": "never"},
        ]});
        let object = body.as_object_mut().unwrap();
        object.extend(extra.as_object().unwrap().clone());
        Request::parse(object.clone(), UnknownParameters::Refuse).unwrap()
    }

    async fn said(kind: OfflineKind, request: &Request) -> (String, usize, End) {
        let models = offline_models(Label::Shown, Price::FREE);
        let offline = |it: &Model| match it.source {
            Source::Offline(offline) if offline.kind == kind => Some(it.sizes),
            Source::Offline(_) | Source::Upstreams(_) => None,
        };
        let sizes = models.iter().find_map(offline).unwrap();
        let answer = Offline { kind, label: Label::Shown };
        let mut script = answer.answer(request, &sizes.bound(request), &sizes).unwrap();
        let (clock, mut text, mut parts) = (Clock::simulated(Timestamp::EPOCH), String::new(), 0);
        loop {
            match script.next(&clock).await {
                Some(Piece::Text(more)) => {
                    text.push_str(&more);
                    parts += 1;
                }
                Some(Piece::End(end)) => return (text, parts, end),
                None => panic!("there is an end"),
            }
        }
    }

    fn used(end: &End) -> (u64, u64) {
        let usage = end.count.unwrap().usage;
        (usage.prompt_tokens, usage.completion_tokens)
    }

    #[tokio::test(start_paused = true)]
    async fn the_echo_says_what_the_user_said_last_and_what_it_is() {
        let (text, _, end) = said(OfflineKind::Echo, &request("Hi, you!", &json!({}))).await;
        assert_eq!(text, "[offline model] Hi, you!");
        // "earlier", "Hi", ",", "you", "!", "never" in; "[", "offline", "model", "]" more out.
        assert_eq!((used(&end), end.finish), ((6, 8), FinishReason::Stop));
        assert_eq!(said(OfflineKind::Echo, &request("", &json!({}))).await.0, "[offline model] ");
    }

    #[tokio::test(start_paused = true)]
    async fn the_cap_and_the_texts_of_stop_are_honoured() {
        let capped = request("one two three", &json!({"max_tokens": 5}));
        let (text, _, end) = said(OfflineKind::Echo, &capped).await;
        assert_eq!(text, "[offline model] one");
        assert_eq!((used(&end).1, end.finish), (5, FinishReason::Length));
        let exact = request("one two three", &json!({"max_tokens": 7}));
        assert_eq!(said(OfflineKind::Echo, &exact).await.2.finish, FinishReason::Stop);
        let stop = request("one two three", &json!({"stop": ["three", " two"]}));
        let (text, _, end) = said(OfflineKind::Echo, &stop).await;
        assert_eq!((text.as_str(), end.finish), ("[offline model] one", FinishReason::Stop));
    }

    #[tokio::test(start_paused = true)]
    async fn the_stream_has_as_many_pieces_as_tokens_at_a_steady_pace() {
        let start = Clock::simulated(Timestamp::EPOCH).mark();
        let (_, parts, end) = said(OfflineKind::Lorem, &request("go", &json!({}))).await;
        assert_eq!((parts, used(&end).1, end.finish), (200, 200, FinishReason::Length));
        assert_eq!(start.elapsed(), LOREM_PAUSE * 200);
        let short = request("go", &json!({"max_tokens": 6}));
        let (text, parts, _) = said(OfflineKind::Lorem, &short).await;
        assert_eq!((text.as_str(), parts), ("[offline model] lorem ipsum", 6));
    }

    #[test]
    fn a_conversation_that_does_not_fit_is_refused() {
        let sizes = Sizes::new(10, 5, 5).unwrap();
        let offline = Offline { kind: OfflineKind::Echo, label: Label::Hidden };
        let long = request(&"a ".repeat(9), &json!({}));
        let found = offline.answer(&long, &sizes.bound(&long), &sizes);
        assert_eq!(found.err(), Some(Fault::ContextLength));
    }

    #[test]
    fn there_are_three_of_them_and_they_cost_what_is_said() {
        let price = Price::FREE;
        let models = offline_models(Label::Hidden, price);
        let ids: Vec<_> = models.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["offline/echo", "offline/extract", "offline/lorem-stream"]);
        assert!(models.iter().all(|it| it.is_offline() && it.price == price));
    }
}
