//! One caller's write, with its types hidden so that all can stand in one queue.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::store::error::Error;
use crate::store::txn::Txn;

/// A write of any type.
pub(crate) trait Operation: Send {
    /// Runs it once; it may be run again in another transaction.
    fn apply(&mut self, txn: &mut Txn<'_>) -> Applied;
    /// Answers the caller: with what the last run gave, or with why there was none.
    fn answer(self: Box<Self>, end: Result<(), Error>);
}

/// How an operation left its transaction.
pub(crate) enum Applied {
    /// Good for a commit, with or without writes.
    Sound,
    /// Not: the disk failed, or the operation failed after it had written.
    Spoiled(Error),
}

/// A write, what its last run gave, and who waits for it.
pub(crate) struct Write<F, T, E> {
    operation: F,
    outcome: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
    /// Its place among those that wait: it is taken until the write is answered, also when the
    /// caller went away, so that what waits stays bounded.
    _room: OwnedSemaphorePermit,
}

impl<F, T, E> Write<F, T, E> {
    /// A write that did not run yet, and where its answer will arrive.
    pub(crate) fn new(
        operation: F,
        room: OwnedSemaphorePermit,
    ) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (caller, answer) = oneshot::channel();
        (Self { operation, outcome: None, caller, _room: room }, answer)
    }
}

impl<F, T, E> Operation for Write<F, T, E>
where
    F: FnMut(&mut Txn<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<Error> + Send,
{
    fn apply(&mut self, txn: &mut Txn<'_>) -> Applied {
        let before = txn.writes();
        let Ok(outcome) = catch_unwind(AssertUnwindSafe(|| (self.operation)(txn))) else {
            self.outcome = None;
            return Applied::Spoiled(Error::Bug("a write panicked"));
        };
        let refused_late = outcome.is_err() && txn.writes() != before;
        self.outcome = Some(outcome);
        match txn.failure() {
            Some(failure) => Applied::Spoiled(failure),
            None if refused_late => Applied::Spoiled(Error::Bug("refused after its first write")),
            None => Applied::Sound,
        }
    }

    fn answer(self: Box<Self>, end: Result<(), Error>) {
        let outcome = match (end, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            // Refusals keep their meaning even when the batch came to nothing.
            (Err(Error::Bug(_)), Some(Err(refusal))) => Err(refusal),
            (Err(error), _) => Err(error.into()),
            (Ok(()), None) => Err(Error::Bug("a write did not run").into()),
        };
        // The caller may be gone; the write stands all the same.
        let _ = self.caller.send(outcome);
    }
}
