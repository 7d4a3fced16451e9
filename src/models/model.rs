//! A model: what it is called, what it can do, what it costs, and who answers for it.

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::domain::chat::{Capabilities, ModelId, Price, Reply, Sizes, UpstreamStream};
use crate::models::Offline;
use crate::models::breaker::Breaker;
use crate::outbound::{BadUrl, Bearer, UpstreamLimits, UpstreamUrl};

/// A model that is offered.
#[derive(Debug)]
pub struct Model {
    /// What callers call it.
    pub id: ModelId,
    /// Its title for people.
    pub name: String,
    /// Who runs it, for people.
    pub owned_by: String,
    /// What it costs, in the currency of the prices.
    pub price: Price,
    /// How much it takes and gives.
    pub sizes: Sizes,
    /// What it can do beyond text.
    pub capabilities: Capabilities,
    /// How long its answers may take.
    pub times: Times,
    /// Who answers.
    pub source: Source,
}

/// Who answers for a model.
#[derive(Debug)]
pub enum Source {
    /// This process, by a simple rule.
    Offline(Offline),
    /// These servers, the first that can.
    Upstreams(Vec<Upstream>),
}

/// A server that answers for a model.
#[derive(Debug)]
pub struct Upstream {
    pub(in crate::models) url: UpstreamUrl,
    /// What the server calls the model.
    pub(in crate::models) model: String,
    pub(in crate::models) bearer: Option<Bearer>,
    pub(in crate::models) stream: UpstreamStream,
    pub(in crate::models) breaker: Arc<Breaker>,
}

/// How long the answers of a model may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Connecting to an upstream.
    pub connect: Duration,
    /// From the request to the first byte of an answer.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
    /// An answer in one piece, every attempt included.
    pub whole: Duration,
    /// A streamed answer, every attempt included.
    pub stream: Duration,
}

impl Model {
    /// Whether it needs no network.
    #[must_use]
    pub const fn is_offline(&self) -> bool {
        matches!(self.source, Source::Offline(_))
    }
}

impl Upstream {
    /// The server under `base_url`, such as `http://127.0.0.1:11434/v1`, which calls the model
    /// `model`.
    ///
    /// # Errors
    ///
    /// [`BadUrl`] when the base cannot be asked.
    pub fn new(
        base_url: &Url,
        model: &str,
        bearer: Option<Bearer>,
        stream: UpstreamStream,
    ) -> Result<Self, BadUrl> {
        let url = UpstreamUrl::new(base_url, "chat/completions")?;
        Ok(Self { url, model: model.to_owned(), bearer, stream, breaker: Breaker::new() })
    }
}

impl Times {
    /// How long one answer may take, where the caller itself waits for `client`.
    ///
    /// A whole answer ends before the caller gives up, so that it is told and not charged. A caller
    /// who waits for no time at all means to wait for ever. Of a stream, client libraries wait for
    /// the head or for the next bytes, not for the end; so their time does not shorten it.
    #[must_use]
    pub fn total(&self, reply: Reply, client: Option<Duration>) -> Duration {
        let client = client.filter(|it| !it.is_zero());
        let client = client.map(|it| it.saturating_sub(CLIENT_MARGIN).max(it / 2));
        match reply {
            Reply::Whole => client.map_or(self.whole, |it| it.min(self.whole)),
            Reply::Stream(_) => self.stream,
        }
    }

    pub(in crate::models) fn limits(&self) -> UpstreamLimits {
        let Self { connect, first_byte, idle, .. } = *self;
        UpstreamLimits { connect, first_byte, idle, ..UpstreamLimits::default() }
    }
}

/// The times of the contract, section 5.
impl Default for Times {
    fn default() -> Self {
        let UpstreamLimits { connect, first_byte, idle, .. } = UpstreamLimits::default();
        let (whole, stream) = (Duration::from_mins(4), Duration::from_mins(30));
        Self { connect, first_byte, idle, whole, stream }
    }
}

/// How long before its caller gives up an answer ends. Source: the contract, section 5.
const CLIENT_MARGIN: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chat::UsagePlace;

    #[test]
    fn an_answer_ends_before_its_caller_gives_up() {
        let seconds = Duration::from_secs;
        let stream = Reply::Stream(UsagePlace::LastChunk);
        for (reply, client, total) in [
            (Reply::Whole, None, 240),
            (stream, None, 1800),
            (Reply::Whole, Some(seconds(600)), 240),
            (stream, Some(seconds(600)), 1800),
            (Reply::Whole, Some(seconds(10)), 8),
            (Reply::Whole, Some(seconds(2)), 1),
            (Reply::Whole, Some(Duration::ZERO), 240),
        ] {
            assert_eq!(Times::default().total(reply, client), seconds(total), "{client:?}");
        }
    }
}
