//! What can be run.
mod agent;
mod bench {
    /// b
    #[derive(Debug)]
    pub struct Bench {}
}
mod input;
pub use agent::{Agent, BoxFuture, Entry, Progress, Step, Task};
pub use bench::Bench;
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
    pub fn with(&self, more: Vec<Arc<dyn Agent>>) -> Result<Self, ()> {
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
