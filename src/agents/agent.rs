//! What an agent is: a kind of work with a description, an input and an execution.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::agents::bench::Bench;
use crate::agents::input::InputError;
use crate::agents::step_log::StepLog;
use crate::domain::outcome::Work;
use crate::domain::run::{RunId, Trigger};
use crate::outbound::BoxFuture;

/// A kind of background work.
pub trait Agent: Send + Sync + 'static {
    /// What the catalogue shows of it.
    fn entry(&self) -> &Entry;

    /// Checks an input and brings it into the form that is stored with the run, as JSON text.
    ///
    /// # Errors
    ///
    /// [`InputError`] names the first field that is missing, wrong or unknown.
    fn accept(&self, input: &Map<String, Value>) -> Result<String, InputError>;

    /// Does the work once. It always ends with an outcome; a panic is the caller's to catch.
    ///
    /// # Cancel safety
    ///
    /// Safe: an execution leaves nothing behind but its outcome.
    fn run<'a>(&'a self, task: &'a Task, bench: &'a Bench) -> BoxFuture<'a, Work>;
}

/// What the catalogue shows of an agent. Source: the contract, section 6.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The identifier used in runs and schedules.
    pub kind: String,
    /// The title for people.
    pub name: String,
    /// What it does, in a sentence or two.
    pub description: String,
    /// Whether a schedule may use it.
    pub schedulable: bool,
    /// The time that one execution may take.
    pub timeout: Duration,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}

/// One execution to do.
#[derive(Debug)]
pub struct Task {
    /// The run it belongs to.
    pub run: RunId,
    /// The input that [`Agent::accept`] returned.
    pub input: String,
    /// What started the run.
    pub trigger: Trigger,
    /// What the last execution for the same schedule left to compare with, in the agent's own form.
    pub baseline: Option<Vec<u8>>,
    /// Where to tell how far it is.
    pub progress: Progress,
}

/// How far an execution is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Steps done.
    pub done: u32,
    /// Steps in all.
    pub total: u32,
    /// What is being done now, for people.
    pub message: String,
}

/// Takes word of how far an execution is; the default one drops it.
#[derive(Clone, Default)]
pub struct Progress {
    channel: Option<watch::Sender<Step>>,
    log: Option<Arc<StepLog>>,
}

impl Progress {
    /// Sends every step into `channel`, where the latest one replaces the others.
    #[must_use]
    pub const fn into_channel(channel: watch::Sender<Step>) -> Self {
        Self { channel: Some(channel), log: None }
    }

    /// The same, and notes every step in `log`.
    #[must_use]
    pub fn with_log(self, log: Arc<StepLog>) -> Self {
        Self { log: Some(log), ..self }
    }

    /// Tells that `done` of `total` steps are done and what comes now.
    pub fn report(&self, done: u32, total: u32, message: &str) {
        if let Some(log) = self.log.as_ref().filter(|_| done < total) {
            log.note(message);
        }
        if let Some(channel) = &self.channel {
            channel.send_replace(Step { done, total, message: message.to_owned() });
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.channel.is_some() { "Progress(told)" } else { "Progress(dropped)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_step_replaces_the_others_and_nobody_has_to_listen() {
        Progress::default().report(1, 2, "unheard");
        let (sender, receiver) = watch::channel(Step::default());
        let progress = Progress::into_channel(sender);
        progress.report(1, 3, "first");
        progress.report(2, 3, "second");
        let latest = Step { done: 2, total: 3, message: "second".to_owned() };
        assert_eq!(*receiver.borrow(), latest);
        drop(receiver);
        progress.report(3, 3, "to nobody");
    }
}
