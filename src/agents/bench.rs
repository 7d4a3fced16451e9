//! What an agent may use, and nothing else.

use std::time::Duration;

use crate::agents::parsers::Parsers;
use crate::domain::receiver::UrlPolicy;
use crate::outbound::Client;
use crate::sys::clock::Clock;

/// The tools that lie ready for every execution; cheap to clone.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The time.
    pub clock: Clock,
    /// The way out; every address that is asked passes its guard.
    pub client: Client,
    /// The hands that read pages.
    pub parsers: Parsers,
    /// Who asks, as servers see it: `Errand/1.0 (+https://example.com)`.
    pub user_agent: String,
    /// The pause between two requests to one host; zero in development.
    pub politeness: Duration,
    /// The pause before a change is looked at a second time.
    pub confirm_pause: Duration,
    /// Which pages may be fetched.
    pub targets: UrlPolicy,
}
