//! Group commit, and what happens when the disk fails.
//!
//! Whoever wants to write pushes the operation and waits. Who finds nobody at work becomes the
//! *leader*: one blocking task that takes all that waits, runs it in one transaction, commits it
//! with two fsyncs, answers everybody, and goes on until nothing waits. While a commit is on its
//! way to the disk the next batch gathers, so the disk sets the size of the batches and nobody
//! waits for a timer. There is no thread of the writer's own: a simulated clock sees every write.
//!
//! What happens when the disk fails is in `handle`; the tests stand with the callers, in `file`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{Database, Durability};
use tokio::runtime;

use crate::store::error::Error;
use crate::store::handle::Handle;
use crate::store::operation::{Applied, Operation};
use crate::store::till::{Spendable, Till};
use crate::store::txn::Txn;
use crate::sys::clock::Clock;
use crate::sys::metrics::Metrics;

/// Commits what callers ask for, many at a time.
pub(crate) struct Writer {
    handle: Handle,
    queue: Mutex<Queue>,
    clock: Clock,
    metrics: Arc<Metrics>,
    till: Arc<Till>,
}

/// What waits to be written, and whether somebody is writing.
#[derive(Default)]
struct Queue {
    waiting: Vec<Box<dyn Operation>>,
    led: bool,
}

/// The duty to commit what waits. Dropped undone, it lets the next one take over.
struct Leader {
    writer: Arc<Writer>,
    done: bool,
}

/// What a transaction came to.
enum Commit {
    /// Nothing was written.
    Idle,
    /// It is on disk, and the accounts and keys that it changed can spend so much.
    Durable(Spendable),
}

impl Writer {
    /// A writer to the file of `handle`, for which nothing waits yet.
    pub(crate) fn new(handle: Handle, clock: Clock, metrics: Arc<Metrics>) -> Self {
        Self { handle, queue: Mutex::default(), clock, metrics, till: Arc::default() }
    }

    /// The file.
    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What is promised and not on disk.
    pub(crate) const fn till(&self) -> &Arc<Till> {
        &self.till
    }

    /// Adds an operation to those that wait; it is answered after its commit.
    pub(crate) fn push(self: &Arc<Self>, operation: Box<dyn Operation>) {
        self.queue().waiting.push(operation);
        self.wake();
    }

    /// Makes somebody the leader if nobody is.
    pub(crate) fn wake(self: &Arc<Self>) {
        if std::mem::replace(&mut self.queue().led, true) {
            return;
        }
        let leader = Leader { writer: Arc::clone(self), done: false };
        match runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || leader.lead())),
            Err(_) => leader.lead(),
        }
    }

    /// Runs the operations of a spoiled batch each in its own transaction.
    fn commit_singly(&self, batch: Vec<Box<dyn Operation>>) {
        for operation in batch {
            let mut alone = vec![operation];
            let end = self.commit(&mut alone);
            answer_all(alone, &end);
        }
    }

    fn commit(&self, batch: &mut [Box<dyn Operation>]) -> Result<(), Error> {
        let metrics = &self.metrics;
        let start = self.clock.mark();
        match self.handle.write(|database| transact(database, batch, &self.till)) {
            Ok(Commit::Idle) => {
                self.till.committed(Spendable::default());
                Ok(())
            }
            Ok(Commit::Durable(spendable)) => {
                self.till.committed(spendable);
                self.handle.commit_worked();
                metrics.commits.add(1);
                metrics.writes.add(u64::try_from(batch.len()).unwrap_or(0));
                metrics.commit_seconds.observe(start.elapsed());
                Ok(())
            }
            Err(error) => {
                self.till.failed();
                metrics.commit_failures.add(u64::from(error.is_disk()));
                Err(error)
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leader {
    /// Commits what waits until nothing does.
    fn lead(mut self) {
        let writer = Arc::clone(&self.writer);
        loop {
            if writer.handle.needs_mending() {
                writer.handle.mend();
            }
            let mut batch = {
                let mut queue = writer.queue();
                if queue.waiting.is_empty() {
                    queue.led = false;
                    self.done = true;
                    return;
                }
                let some = queue.waiting.len().min(BATCH_MAX);
                queue.waiting.drain(..some).collect::<Vec<_>>()
            };
            match writer.commit(&mut batch) {
                Err(Error::Bug(_)) if batch.len() > 1 => writer.commit_singly(batch),
                end => answer_all(batch, &end),
            }
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // The runtime ended before it began, or it panicked: nobody must wait for it.
        if !self.done {
            let orphans = {
                let mut queue = self.writer.queue();
                queue.led = false;
                std::mem::take(&mut queue.waiting)
            };
            drop(orphans);
        }
    }
}

/// Runs a batch in one transaction and commits it.
fn transact(
    database: &Database,
    batch: &mut [Box<dyn Operation>],
    till: &Till,
) -> Result<Commit, Error> {
    let mut transaction = database.begin_write()?;
    transaction
        .set_durability(Durability::Immediate)
        .map_err(|_| Error::Bug("durability cannot be set"))?;
    transaction.set_two_phase_commit(true);
    let mut txn = Txn::new(&transaction, till);
    for operation in batch {
        if let Applied::Spoiled(error) = operation.apply(&mut txn) {
            return Err(error);
        }
    }
    let idle = txn.writes() == 0;
    let spendable = txn.finish()?;
    drop(txn);
    if idle {
        transaction.abort()?;
        return Ok(Commit::Idle);
    }
    transaction.commit()?;
    Ok(Commit::Durable(spendable))
}

fn answer_all(batch: Vec<Box<dyn Operation>>, end: &Result<(), Error>) {
    for operation in batch {
        operation.answer(end.clone());
    }
}

/// Writes of one commit.
const BATCH_MAX: usize = 256;
