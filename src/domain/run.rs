//! One agent run: what it is and which changes of state it allows.
//!
//! ```text
//! pending ──claim──▶ running ──finish──▶ succeeded | no_signal | failed
//!    ▲                  │
//!    └────give back─────┘          pending ──fail──▶ failed
//! ```
//!
//! Anything else is refused. Pure: no clock, no storage, no network; callers pass `now`.
//! Source: service interface, "Run status"; the contract, section 6.

use crate::domain::account::{AccountId, KeyId};
use crate::domain::id::{self, Id};
use crate::domain::limits::{ATTEMPTS_MAX, CLASS_AGE, LATE_AFTER, LOST_RUN_PAUSES};
use crate::domain::money::Amount;
use crate::domain::outcome::{Ending, Failure};
use crate::domain::time::Timestamp;

/// The name of a run.
pub type RunId = Id<id::Run>;
/// The name of a schedule.
pub type ScheduleId = Id<id::Schedule>;

/// One execution of an agent, without its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// Whose it is.
    pub account: AccountId,
    /// The key that started it; none for a schedule.
    pub key: Option<KeyId>,
    /// The agent that does it.
    pub kind: String,
    /// The input as it was accepted, as JSON text.
    pub input: String,
    /// The caller's own name for it.
    pub external_id: Option<String>,
    /// What started it.
    pub trigger: Trigger,
    /// Where it is in its life.
    pub status: Status,
    /// What was set aside for it and not yet captured or released.
    pub hold: Amount,
    /// The part of it that is for a model's narrative, at most; the rest is its price.
    pub model_hold: Amount,
    /// What it cost; zero until it is over.
    pub cost: Amount,
    /// How many times it was started, the present time included.
    pub attempts: u32,
    /// From when on it may be started while it is pending.
    pub due_at: Timestamp,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it was first started.
    pub started_at: Option<Timestamp>,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Whether a caller asked for its end while it was running.
    pub cancel_requested: bool,
}

/// Where a run is in its life. Source: service interface, "Run status".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Waiting for a worker.
    Pending,
    /// Being executed.
    Running,
    /// Finished; the result is in the output.
    Succeeded,
    /// Executed, but nothing worth a notification was found.
    NoSignal,
    /// It could not be done.
    Failed,
}

/// What started a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A request.
    Api,
    /// A slot of a schedule.
    Schedule {
        /// The schedule.
        schedule: ScheduleId,
        /// The slot.
        scheduled_for: Timestamp,
    },
    /// A request to run a schedule now.
    RunNow {
        /// The schedule.
        schedule: ScheduleId,
    },
}

/// How urgent a pending run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Somebody waits for it.
    Asked,
    /// A schedule started it.
    Scheduled,
    /// A schedule started it long after its slot.
    Late,
}

/// The run is not in a state that allows this; it is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAllowed;

impl Run {
    /// Starts an execution and counts the attempt.
    ///
    /// # Errors
    ///
    /// [`NotAllowed`] unless the run is pending.
    pub fn claim(&mut self, now: Timestamp) -> Result<(), NotAllowed> {
        if self.status != Status::Pending {
            return Err(NotAllowed);
        }
        self.attempts = self.attempts.saturating_add(1);
        self.status = Status::Running;
        let now = self.touch(now);
        self.started_at.get_or_insert(now);
        Ok(())
    }

    /// Puts a running run back because its execution ended without an outcome.
    ///
    /// Where that was no fault, the run keeps its place among those that wait.
    ///
    /// # Errors
    ///
    /// [`NotAllowed`] unless the run is running.
    pub fn give_back(&mut self, attempt: Attempt, now: Timestamp) -> Result<(), NotAllowed> {
        if self.status != Status::Running {
            return Err(NotAllowed);
        }
        let now = self.touch(now);
        match attempt {
            Attempt::Forgiven => self.attempts = self.attempts.saturating_sub(1),
            Attempt::Counted => {
                let lost = usize::try_from(self.attempts.saturating_sub(1)).unwrap_or(usize::MAX);
                let pause = LOST_RUN_PAUSES.get(lost).copied().unwrap_or_default();
                self.due_at = now.after(pause);
            }
        }
        self.status = Status::Pending;
        Ok(())
    }

    /// How urgent it is while it is pending.
    #[must_use]
    pub fn class(&self) -> Class {
        match self.trigger {
            Trigger::Api | Trigger::RunNow { .. } => Class::Asked,
            Trigger::Schedule { scheduled_for, .. } => {
                if self.created_at.since(scheduled_for) < LATE_AFTER {
                    Class::Scheduled
                } else {
                    Class::Late
                }
            }
        }
    }

    /// Ends the run; its hold is over, and `cost` of it was taken.
    ///
    /// # Errors
    ///
    /// [`NotAllowed`] when the run is over already, or is pending and did not fail.
    pub fn finish(
        &mut self,
        ending: Ending,
        cost: Amount,
        now: Timestamp,
    ) -> Result<(), NotAllowed> {
        let allowed = match self.status {
            Status::Running => true,
            Status::Pending => matches!(ending, Ending::Failed(_)),
            Status::Succeeded | Status::NoSignal | Status::Failed => false,
        };
        if !allowed {
            return Err(NotAllowed);
        }
        self.status = ending.status();
        if let Ending::Failed(failure) = ending {
            self.failure = Some(failure);
        }
        (self.hold, self.model_hold) = (Amount::ZERO, Amount::ZERO);
        self.cost = cost;
        self.finished_at = Some(self.touch(now));
        Ok(())
    }

    /// Whether another execution is allowed after one that ended without an outcome.
    #[must_use]
    pub const fn may_retry(&self) -> bool {
        self.attempts < ATTEMPTS_MAX
    }

    /// Notes a change at `now`, or at the last change when the clock went back.
    fn touch(&mut self, now: Timestamp) -> Timestamp {
        self.updated_at = self.updated_at.max(now);
        self.updated_at
    }
}

/// Whether an execution that ended without an outcome counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It counts: the run may be what killed the process.
    Counted,
    /// It does not: the daemon was stopped on purpose.
    Forgiven,
}

impl Trigger {
    /// The schedule that it belongs to.
    #[must_use]
    pub const fn schedule(self) -> Option<ScheduleId> {
        match self {
            Self::Api => None,
            Self::Schedule { schedule, .. } | Self::RunNow { schedule } => Some(schedule),
        }
    }
}

impl Class {
    /// Every class, the most urgent first.
    pub const ALL: [Self; 3] = [Self::Asked, Self::Scheduled, Self::Late];

    /// When a run that is due at `due_at` stands in the queue with those that are asked for.
    ///
    /// A scheduled run stands behind the asked ones of its first minute and before all later ones,
    /// a late one behind those of two minutes, so both wait, but not for ever.
    #[must_use]
    pub fn rank(self, due_at: Timestamp) -> Timestamp {
        match self {
            Self::Asked => due_at,
            Self::Scheduled => due_at.after(CLASS_AGE),
            Self::Late => due_at.after(CLASS_AGE.saturating_mul(2)),
        }
    }
}

impl Status {
    /// Every status, in the order of a run's life.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Running, Self::Succeeded, Self::NoSignal, Self::Failed];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::NoSignal => "no_signal",
            Self::Failed => "failed",
        }
    }

    /// Reads the word for a status.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// Whether the run can never change again.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::NoSignal | Self::Failed)
    }

    /// Whether a run that ended so is paid. Source: the contract, section 4.
    #[must_use]
    pub const fn is_charged(self) -> bool {
        matches!(self, Self::Succeeded | Self::NoSignal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::Reason;

    const NOW: Timestamp = Timestamp::from_millis(1_000);
    const LATER: Timestamp = Timestamp::from_millis(2_000);
    const EARLIER: Timestamp = Timestamp::from_millis(500);

    fn pending() -> Run {
        Run {
            id: Id::from_bytes([1; 16]),
            account: Id::from_bytes([2; 16]),
            key: None,
            kind: "seo_audit".into(),
            input: "{}".into(),
            external_id: None,
            trigger: Trigger::Api,
            status: Status::Pending,
            hold: Amount::from_nanos(5),
            model_hold: Amount::ZERO,
            cost: Amount::ZERO,
            attempts: 0,
            due_at: NOW,
            created_at: NOW,
            started_at: None,
            finished_at: None,
            updated_at: NOW,
            failure: None,
            cancel_requested: false,
        }
    }

    fn running() -> Run {
        let mut run = pending();
        run.claim(NOW).unwrap();
        run
    }

    fn canceled() -> Ending {
        Ending::Failed(Failure {
            reason: Reason::Canceled,
            code: "canceled".into(),
            message: String::new(),
        })
    }

    #[test]
    fn a_run_goes_from_pending_to_running_to_its_end() {
        let mut run = running();
        assert_eq!((run.status, run.attempts, run.started_at), (Status::Running, 1, Some(NOW)));
        run.finish(Ending::Succeeded, Amount::from_nanos(5), LATER).unwrap();
        assert_eq!(run.status, Status::Succeeded);
        assert_eq!((run.hold, run.cost), (Amount::ZERO, Amount::from_nanos(5)));
        assert_eq!(run.finished_at, Some(LATER));
    }

    #[test]
    fn a_finished_run_stays_finished() {
        let mut run = running();
        run.finish(Ending::NoSignal, Amount::ZERO, LATER).unwrap();
        let over = run.clone();
        assert_eq!(run.claim(LATER), Err(NotAllowed));
        assert_eq!(run.give_back(Attempt::Counted, LATER), Err(NotAllowed));
        assert_eq!(run.finish(canceled(), Amount::ZERO, LATER), Err(NotAllowed));
        assert_eq!(run, over);
    }

    #[test]
    fn a_pending_run_can_fail_but_not_succeed() {
        let mut run = pending();
        assert_eq!(run.finish(Ending::Succeeded, Amount::ZERO, LATER), Err(NotAllowed));
        assert_eq!(run, pending());
        run.finish(canceled(), Amount::ZERO, LATER).unwrap();
        assert_eq!(run.status, Status::Failed);
    }

    #[test]
    fn three_executions_without_an_outcome_are_the_last() {
        let mut run = pending();
        for left in [true, true, false] {
            run.claim(NOW).unwrap();
            assert_eq!(run.may_retry(), left, "after {} attempts", run.attempts);
            run.give_back(Attempt::Counted, NOW).unwrap();
        }
        run.claim(NOW).unwrap();
        run.give_back(Attempt::Forgiven, NOW).unwrap();
        assert_eq!(run.attempts, 3);
    }

    #[test]
    fn stamps_never_go_back_even_when_the_clock_does() {
        let mut run = pending();
        run.claim(EARLIER).unwrap();
        assert_eq!(run.started_at, Some(NOW));
        run.finish(Ending::Succeeded, Amount::ZERO, EARLIER).unwrap();
        assert_eq!(run.finished_at, Some(NOW));
    }

    #[test]
    fn only_what_was_done_is_charged() {
        let charged: Vec<_> = Status::ALL.into_iter().filter(|it| it.is_charged()).collect();
        assert_eq!(charged, [Status::Succeeded, Status::NoSignal]);
    }
}
