//! One slot of a schedule: an instant that its expression names, and what became of it.
//!
//! Source: the contract, section 7.

use crate::domain::run::RunId;
use crate::domain::time::Timestamp;

/// What became of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A run.
    Fired,
    /// Nothing: an earlier run was not over.
    SkippedOverlap,
    /// Nothing: the balance was too low.
    SkippedBalance,
    /// Nothing: too many runs of the account waited.
    SkippedQueueFull,
    /// Nothing: the disk was full until it was too late.
    SkippedStorage,
    /// Nothing: nobody was there in time.
    Missed,
    /// Nothing: the schedule cannot run.
    Error,
    /// Nothing: the budget of the key that the schedule runs for was used up.
    SkippedBudget,
}

/// One line of a schedule's log: a slot and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The slot.
    pub slot: Timestamp,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// What became of it.
    pub verdict: Verdict,
    /// The run that it became.
    pub run: Option<RunId>,
    /// How many slots this line stands for: more than one only where they were missed together.
    pub slots: u32,
}

/// The slots of a schedule that are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueSlots {
    /// The latest one.
    pub latest: Timestamp,
    /// The latest of those before it, and how many those are.
    pub older: Option<(Timestamp, u32)>,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 8] = [
        Self::Fired,
        Self::SkippedOverlap,
        Self::SkippedBalance,
        Self::SkippedQueueFull,
        Self::SkippedStorage,
        Self::Missed,
        Self::Error,
        Self::SkippedBudget,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::SkippedOverlap => "skipped_overlap",
            Self::SkippedBalance => "skipped_balance",
            Self::SkippedQueueFull => "skipped_queue_full",
            Self::SkippedStorage => "skipped_storage",
            Self::Missed => "missed",
            Self::Error => "error",
            Self::SkippedBudget => "skipped_budget",
        }
    }
}
