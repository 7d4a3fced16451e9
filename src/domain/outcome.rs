//! How an execution ends: what an agent gives, and what is recorded of it.
//!
//! An [`Outcome`] is the agent's word; an [`Ending`] is what remains of it in the run's record, when
//! the report has been put beside it.

use crate::domain::run::Status;

/// What one execution leaves: its outcome, and what the next one of its schedule compares with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// How it ended.
    pub outcome: Outcome,
    /// The new baseline of the schedule, in the agent's own form, at most
    /// [`BASELINE_BYTES_MAX`](crate::domain::limits::BASELINE_BYTES_MAX) long; nothing leaves the
    /// earlier one in place.
    ///
    /// It is kept in the commit that ends the run, and only for runs of a schedule.
    pub baseline: Option<Vec<u8>>,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With a report.
    Succeeded(Report),
    /// With nothing to tell; the report says so in one sentence.
    NoSignal(Report),
    /// Not at all.
    Failed(Failure),
}

/// What a run leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The text for people, as Markdown.
    pub output: String,
    /// The same for programs, as JSON text.
    pub result: Option<String>,
}

/// Why a run failed: a reason from a closed list and one sentence for its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub reason: Reason,
    /// A precise code of the agent, such as `dns_error`.
    pub code: String,
    /// One sentence; never a stack, a path or an address inside the host.
    pub message: String,
}

/// Why a run failed. Source: the contract, section 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The agent could not do it.
    AgentError,
    /// It took longer than its kind may.
    Timeout,
    /// The process ended under it, too many times.
    WorkerLost,
    /// Its owner cancelled it.
    Canceled,
    /// Its output is larger than allowed.
    OutputTooLarge,
    /// Its kind does not exist any more.
    KindUnavailable,
}

/// The terminal status of a run, and why when it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Finished with a report.
    Succeeded,
    /// Finished with nothing to tell.
    NoSignal,
    /// Not finished.
    Failed(Failure),
}

impl From<Outcome> for Work {
    /// An execution that leaves the baseline as it was.
    fn from(outcome: Outcome) -> Self {
        Self { outcome, baseline: None }
    }
}

impl Ending {
    /// The status a run has after it.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self {
            Self::Succeeded => Status::Succeeded,
            Self::NoSignal => Status::NoSignal,
            Self::Failed(_) => Status::Failed,
        }
    }
}

impl Reason {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AgentError => "agent_error",
            Self::Timeout => "timeout",
            Self::WorkerLost => "worker_lost",
            Self::Canceled => "canceled",
            Self::OutputTooLarge => "output_too_large",
            Self::KindUnavailable => "kind_unavailable",
        }
    }
}
