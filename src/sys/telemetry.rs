//! Log output: its form and what is let through.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// One line of text an event.
    Text,
    /// One JSON object an event.
    Json,
}

/// The filter is not one that can be read; says which part.
#[derive(Debug)]
pub struct BadFilter(String);

/// Sends the log to standard error from now on, with what `filter` lets through.
///
/// A second call changes nothing, so that many daemons can live in one test process.
///
/// # Errors
///
/// [`BadFilter`] when `filter` is not a level such as `info` or a list such as `info,errand=debug`.
pub fn start(filter: &str, format: Format) -> Result<(), BadFilter> {
    let filter = EnvFilter::try_new(filter).map_err(|it| BadFilter(it.to_string()))?;
    let terminal = std::io::stderr().is_terminal();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let json = match format {
        Format::Auto => !terminal,
        Format::Text => false,
        Format::Json => true,
    };
    // The second start in a process is refused by the library and means nothing here.
    let _ = if json {
        builder.json().flatten_event(true).finish().try_init()
    } else {
        builder.with_target(false).with_ansi(terminal).finish().try_init()
    };
    Ok(())
}

impl std::fmt::Display for BadFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "log filter: {}", self.0)
    }
}

impl std::error::Error for BadFilter {}

impl Format {
    /// Reads `auto`, `text` or `json`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "text" => Some(Self::Text),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}
