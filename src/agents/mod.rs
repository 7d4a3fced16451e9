//! What can be run.
use crate::domain::run::{Outcome, RunId, Trigger};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
/// f
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// a
pub trait Agent: Send + Sync + 'static {
    /// e
    fn entry(&self) -> &Entry;
    /// a
    /// # Errors
    /// e
    fn accept(
        &self,
        input: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<String, InputError>;
    /// r
    fn run<'a>(&'a self, task: &'a Task, bench: &'a Bench) -> BoxFuture<'a, Outcome>;
}
/// e
#[derive(Clone, Debug)]
pub struct Entry {
    /// k
    pub kind: String,
    /// n
    pub name: String,
    /// d
    pub description: String,
    /// s
    pub schedulable: bool,
    /// t
    pub timeout: Duration,
    /// i
    pub input_schema: serde_json::Value,
}
/// i
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// p
    pub param: String,
    /// p
    pub problem: Problem,
}
/// p
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// m
    Missing,
    /// t
    Type(&'static str),
    /// v
    Value(String),
    /// u
    Unknown,
}
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
/// t
#[derive(Debug)]
pub struct Task {
    /// r
    pub run: RunId,
    /// i
    pub input: String,
    /// t
    pub trigger: Trigger,
}
/// b
#[derive(Debug)]
pub struct Bench {}
/// c
#[derive(Clone)]
pub struct Catalogue(Vec<Arc<dyn Agent>>);
impl Catalogue {
    /// n
    pub fn new(agents: Vec<Arc<dyn Agent>>) -> Self {
        Self(agents)
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
