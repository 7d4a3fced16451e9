//! What can be run.
mod agent;
mod bench {
    use crate::domain::receiver::UrlPolicy;
    use crate::sys::clock::Clock;
    use std::time::Duration;
    /// b
    #[derive(Debug)]
    #[expect(missing_docs, reason = "stub")]
    pub struct Bench {
        pub clock: Clock,
        pub client: crate::outbound::Client,
        pub parsers: Parsers,
        pub user_agent: String,
        pub politeness: Duration,
        pub targets: UrlPolicy,
    }
    /// p
    #[derive(Debug)]
    pub struct Parsers;
    impl Parsers {
        /// n
        #[must_use]
        pub fn new(_: Clock) -> Self {
            Self
        }
    }
}
mod input;
pub use agent::{Agent, BoxFuture, Entry, Progress, Step, Task};
pub use bench::{Bench, Parsers};
pub use input::{InputError, Problem};
use std::sync::Arc;
/// c
#[derive(Clone)]
pub struct Catalogue(Arc<[Arc<dyn Agent>]>);
impl Catalogue {
    /// n
    pub fn built_in() -> Self {
        Self(Arc::new([]))
    }
    /// n
    /// # Errors
    /// e
    pub fn with(&self, more: Vec<Arc<dyn Agent>>) -> Result<Self, String> {
        Ok(Self(more.into()))
    }
    /// f
    pub fn find(&self, kind: &str) -> Option<&Arc<dyn Agent>> {
        self.0.iter().find(|it| it.entry().kind == kind)
    }
    /// e
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().map(|it| it.entry())
    }
}
