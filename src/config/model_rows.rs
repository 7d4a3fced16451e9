//! The rows of `[[models]]`: what can be said of one model, and of one of its upstreams.

use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::config::kind::Kind;
use crate::domain::chat::{ModelId, UpstreamStream};
use crate::domain::money::Amount;
use crate::models::Times;

/// A key of `[[models]]`.
pub(super) struct Row<C: 'static> {
    pub(super) name: &'static str,
    pub(super) kind: Kind<C>,
    /// What holds without it, for people.
    pub(super) default: &'static str,
    pub(super) meaning: &'static str,
}

/// What a settings file says of a model.
pub(super) struct Draft {
    pub(super) id: Option<ModelId>,
    pub(super) name: Option<String>,
    pub(super) owned_by: Option<String>,
    pub(super) is_free: bool,
    pub(super) input: Option<Amount>,
    pub(super) output: Option<Amount>,
    pub(super) request: Option<Amount>,
    pub(super) context_window: u32,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) default_max_tokens: Option<u32>,
    pub(super) capabilities: Vec<&'static str>,
    pub(super) times: Times,
}

/// What a settings file says of an upstream.
#[derive(Default)]
pub(super) struct UpstreamDraft {
    pub(super) base_url: Option<Url>,
    pub(super) model: Option<String>,
    pub(super) key_file: Option<PathBuf>,
    pub(super) stream: UpstreamStream,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            id: None,
            name: None,
            owned_by: None,
            is_free: false,
            input: None,
            output: None,
            request: None,
            context_window: WINDOW_TOKENS,
            max_output_tokens: None,
            default_max_tokens: None,
            capabilities: Vec::new(),
            times: Times::default(),
        }
    }
}

const fn row<C>(
    name: &'static str,
    kind: Kind<C>,
    default: &'static str,
    meaning: &'static str,
) -> Row<C> {
    Row { name, kind, default, meaning }
}

/// What can be said of a model.
pub(super) static MODEL_ROWS: [Row<Draft>; 16] = [
    row(
        "id",
        Kind::Model(|it, id| it.id = Some(id)),
        "must be set",
        "What callers call the model; names that begin with offline/ are taken.",
    ),
    row(
        "name",
        Kind::Line(100, |it, name| it.name = Some(name)),
        "the id",
        "Its title for people.",
    ),
    row(
        "owned_by",
        Kind::Line(100, |it, name| it.owned_by = Some(name)),
        OWNED_BY,
        "Who runs it, for people.",
    ),
    row(
        "free",
        Kind::Truth(|it, is_free| it.is_free = is_free),
        "false",
        "Whether it costs nothing; without a price, a model must say so.",
    ),
    row(
        "input_per_million",
        Kind::Money(|it, price| it.input = Some(price)),
        "must be set, or free",
        "What a million tokens of a conversation cost, in billing.currency.",
    ),
    row(
        "output_per_million",
        Kind::Money(|it, price| it.output = Some(price)),
        "must be set, or free",
        "What a million tokens of an answer cost, in billing.currency.",
    ),
    row(
        "per_request",
        Kind::Money(|it, price| it.request = Some(price)),
        "0",
        "What a request costs on top.",
    ),
    row(
        "context_window",
        Kind::Count(1, TOKENS_MAX, |it, count| it.context_window = count),
        "131072",
        "Tokens of a conversation and its answer together; more than the upstream takes makes holds \
         too high, less makes the operator pay for what a caller used.",
    ),
    row(
        "max_output_tokens",
        Kind::Count(1, TOKENS_MAX, |it, count| it.max_output_tokens = Some(count)),
        "16384, or context_window",
        "Tokens that an answer can have.",
    ),
    row(
        "default_max_tokens",
        Kind::Count(1, TOKENS_MAX, |it, count| it.default_max_tokens = Some(count)),
        "4096, or max_output_tokens",
        "Tokens that an answer can have when the caller does not say; a request holds their price.",
    ),
    row(
        "capabilities",
        Kind::Words(&CAPABILITIES, |it, words| it.capabilities = words),
        "none",
        "What it can do beyond text: keep to response_format, understand reasoning_effort.",
    ),
    row(
        "timeout",
        Kind::Span(SECOND, DAY, |it, span| it.times.whole = span),
        "4m",
        "Time for an answer in one piece, every attempt included.",
    ),
    row(
        "stream_timeout",
        Kind::Span(SECOND, DAY, |it, span| it.times.stream = span),
        "30m",
        "Time for a streamed answer, every attempt included.",
    ),
    row(
        "first_byte_timeout",
        Kind::Span(SECOND, DAY, |it, span| it.times.first_byte = span),
        "2m",
        "Time until an upstream begins to answer; a local one may have to load the model first.",
    ),
    row(
        "idle_timeout",
        Kind::Span(SECOND, DAY, |it, span| it.times.idle = span),
        "1m",
        "Time between two pieces of an answer.",
    ),
    row(
        "connect_timeout",
        Kind::Span(SECOND, DAY, |it, span| it.times.connect = span),
        "5s",
        "Time for connecting to an upstream.",
    ),
];

/// What can be said of an upstream.
pub(super) static UPSTREAM_ROWS: [Row<UpstreamDraft>; 4] = [
    row(
        "base_url",
        Kind::BaseUrl(|it, url| it.base_url = Some(url)),
        "must be set",
        "Where a server is that speaks Chat Completions, up to its version.",
    ),
    row(
        "upstream_model",
        Kind::Line(200, |it, name| it.model = Some(name)),
        "the id",
        "What that server calls the model.",
    ),
    row(
        "api_key_file",
        Kind::Path(|it, path| it.key_file = Some(path)),
        "none",
        "The file with the key for that server, readable for its owner alone.",
    ),
    row(
        "stream",
        Kind::Word(&["on", "off"], |it, word| {
            it.stream = match word {
                "off" => UpstreamStream::Never,
                _ => UpstreamStream::Ask,
            };
        }),
        "on",
        "Whether the server is asked for streams; off is for one that cannot.",
    ),
];

/// The words for [`Capabilities`](crate::domain::chat::Capabilities).
pub(super) const CAPABILITIES: [&str; 2] = ["json", "reasoning"];
/// Who runs a model of which nobody says.
pub(super) const OWNED_BY: &str = "operator";
/// Tokens of a window of which nobody says.
pub(super) const WINDOW_TOKENS: u32 = 131_072;
/// Tokens of an answer of which nobody says.
pub(super) const OUTPUT_TOKENS: u32 = 16_384;
/// Tokens of an answer of which neither the operator nor the caller says.
pub(super) const DEFAULT_TOKENS: u32 = 4_096;
/// Tokens of the largest window.
const TOKENS_MAX: u32 = 100_000_000;
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_hours(24);
