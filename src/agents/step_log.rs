//! The steps of one execution, with their times.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::domain::time::Timestamp;
use crate::sys::clock::Clock;

/// The steps of one execution so far; at most [`STEPS_MAX`].
#[derive(Debug)]
pub struct StepLog {
    clock: Clock,
    steps: Mutex<Vec<(String, Timestamp)>>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimedStep {
    /// Its number, from 1.
    pub id: usize,
    /// What was done, for people.
    pub name: String,
    /// When it began; RFC 3339.
    pub started_at: String,
    /// When the next one began, or the execution ended; none while it goes on.
    pub finished_at: Option<String>,
    /// `running`, or `done`.
    pub status: &'static str,
}

impl StepLog {
    /// An empty log.
    #[must_use]
    pub const fn new(clock: Clock) -> Self {
        Self { clock, steps: Mutex::new(Vec::new()) }
    }

    /// Notes that a step begins, unless it is the one under way.
    pub fn note(&self, name: &str) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = steps.last().is_some_and(|it| it.0 == name);
        if !is_same && steps.len() < STEPS_MAX {
            let name = name.chars().take(NAME_CHARS_MAX).collect();
            steps.push((name, self.clock.now()));
        }
    }

    /// The steps so far; the last one goes on unless the execution has ended at `end`.
    #[must_use]
    pub fn list(&self, end: Option<Timestamp>) -> Vec<TimedStep> {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = steps.iter().skip(1).map(|it| Some(it.1)).chain([end]);
        let timed = (1..).zip(steps.iter().zip(ends)).map(|(id, ((name, begun), end))| {
            // A clock that was set back makes no step end before it began.
            let end = end.map(|it| it.max(*begun));
            TimedStep {
                id,
                name: name.clone(),
                started_at: begun.to_string(),
                finished_at: end.map(|it| it.to_string()),
                status: if end.is_some() { "done" } else { "running" },
            }
        });
        timed.collect()
    }
}

/// Steps of one execution that are kept. Source: the contract, section 6.
pub const STEPS_MAX: usize = 500;
/// Characters of the name of a step.
const NAME_CHARS_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_step_ends_where_the_next_one_begins() {
        let clock = Clock::simulated(Timestamp::from_millis(1_767_225_600_000));
        let log = StepLog::new(clock.clone());
        assert_eq!(log.list(None), []);
        for name in ["fetch", "fetch", "parse"] {
            log.note(name);
            clock.sleep(Duration::from_secs(1)).await;
        }
        let steps = log.list(None);
        let shown: Vec<_> = steps.iter().map(|it| (it.name.as_str(), it.status)).collect();
        assert_eq!(shown, [("fetch", "done"), ("parse", "running")]);
        assert_eq!(steps[0].finished_at.as_ref(), Some(&steps[1].started_at));
        assert_eq!(steps[1].finished_at, None);
        let over = log.list(Some(clock.now()));
        assert_eq!((over[1].status, over[1].finished_at.is_some()), ("done", true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_is_bounded_in_lines_and_in_their_length() {
        let log = StepLog::new(Clock::simulated(Timestamp::EPOCH));
        for number in 0..2 * STEPS_MAX {
            log.note(&format!("{number}{}", "é".repeat(NAME_CHARS_MAX)));
        }
        let steps = log.list(None);
        assert_eq!(steps.len(), STEPS_MAX);
        assert!(steps.iter().all(|it| it.name.chars().count() == NAME_CHARS_MAX));
    }
}
