//! Group commit, and what happens when the disk fails.
//!
//! Whoever wants to write pushes the operation and waits. Who finds nobody at work becomes the
//! *leader*: one blocking task that takes all that waits, runs it in one transaction, commits it
//! with two fsyncs, answers everybody, and goes on until nothing waits. While a commit is on its
//! way to the disk the next batch gathers, so the disk sets the size of the batches and nobody
//! waits for a timer. There is no thread of the writer's own: a simulated clock sees every write.
//!
//! What happens when the disk fails is in `handle`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redb::{Database, Durability};
use tokio::runtime;
use tokio::sync::Semaphore;

use crate::store::disk::Disk;
use crate::store::error::Error;
use crate::store::handle::{Handle, Health};
use crate::store::open::{self, Options};
use crate::store::operation::{Applied, Operation, Write};
use crate::store::txn::Txn;
use crate::store::view::View;
use crate::sys::clock::Clock;
use crate::sys::metrics::Metrics;

/// The one redb file, open; cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    handle: Handle,
    queue: Mutex<Queue>,
    room: Arc<Semaphore>,
    clock: Clock,
    metrics: Arc<Metrics>,
}

/// What waits to be written, and whether somebody is writing.
#[derive(Default)]
struct Queue {
    waiting: Vec<Box<dyn Operation>>,
    led: bool,
}

/// The duty to commit what waits. Dropped undone, it lets the next one take over.
struct Leader {
    store: Store,
    done: bool,
}

/// What a transaction came to.
enum Commit {
    /// Nothing was written.
    Idle,
    /// It is on disk.
    Durable,
}

impl Store {
    /// Opens the file on `disk`, makes it when it is not there, and checks it.
    ///
    /// It blocks for as long as the check takes: about a second for each gigabyte.
    ///
    /// # Errors
    ///
    /// All of [`Error`] but `Busy` and `Bug`; nothing is changed.
    pub fn open(
        disk: Arc<dyn Disk>,
        options: &Options,
        clock: Clock,
        metrics: Arc<Metrics>,
    ) -> Result<Self, Error> {
        let opened = open::prepared(disk.as_ref(), options)?;
        let handle = Handle::new(opened, disk, options.cache_bytes, clock.clone());
        let room = Arc::new(Semaphore::new(WAITING_MAX));
        Ok(Self(Arc::new(Inner { handle, queue: Mutex::default(), room, clock, metrics })))
    }

    /// Runs `operation` in a transaction and returns when it is on disk.
    ///
    /// The operation refuses before it writes, and may be run more than once: it makes no ids,
    /// reads no clock, logs nothing.
    ///
    /// # Errors
    ///
    /// What the operation says; [`Error::Busy`] when there is no room for five seconds;
    /// [`Error::Full`] and [`Error::Disk`] when the commit fails.
    ///
    /// # Cancel safety
    ///
    /// A dropped future does not take the write back: it is done or not done as a whole.
    pub async fn write<T, E, F>(&self, operation: F) -> Result<T, E>
    where
        F: FnMut(&mut Txn<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let room = Arc::clone(&self.0.room).acquire_owned();
        let Ok(Ok(room)) = self.0.clock.within(ROOM_WAIT, room).await else {
            return Err(Error::Busy.into());
        };
        let (write, answer) = Write::new(operation, room);
        self.queue().waiting.push(Box::new(write));
        self.wake();
        answer.await.unwrap_or_else(|_| Err(Error::Bug("a write was not answered").into()))
    }

    /// Reads one moment of the file. Short reads only: it runs on the caller's thread.
    ///
    /// # Errors
    ///
    /// What `read` says, or what the disk says.
    pub fn read<T, E: From<Error>>(
        &self,
        read: impl FnOnce(&View) -> Result<T, E>,
    ) -> Result<T, E> {
        let outcome = match self.0.handle.view() {
            Ok(view) => read(&view),
            Err(error) => Err(error.into()),
        };
        if self.0.handle.needs_mending() {
            self.wake();
        }
        outcome
    }

    /// Reads one moment of the file on a thread that may block, for reads over many rows.
    ///
    /// # Errors
    ///
    /// What `read` says, or what the disk says.
    pub async fn scan<T, E>(
        &self,
        read: impl FnOnce(&View) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let store = self.clone();
        let task = tokio::task::spawn_blocking(move || store.read(read));
        task.await.unwrap_or_else(|_| Err(Error::Bug("a read panicked").into()))
    }

    /// Whether the last commit worked.
    #[must_use]
    pub fn health(&self) -> Health {
        self.0.handle.health()
    }

    /// Closes the file; later reads and writes fail. Waits for a commit under way.
    ///
    /// Dropping the last clone closes it too, but a commit that was just answered may hold one a
    /// moment longer.
    pub fn close(&self) {
        self.0.handle.close();
    }

    /// Makes somebody the leader if nobody is.
    fn wake(&self) {
        if std::mem::replace(&mut self.queue().led, true) {
            return;
        }
        let leader = Leader { store: self.clone(), done: false };
        match runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || leader.lead())),
            Err(_) => leader.lead(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
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
        let metrics = &self.0.metrics;
        let start = self.0.clock.mark();
        match self.0.handle.write(|database| transact(database, batch)) {
            Ok(Commit::Idle) => Ok(()),
            Ok(Commit::Durable) => {
                self.0.handle.commit_worked();
                metrics.commits.add(1);
                metrics.writes.add(u64::try_from(batch.len()).unwrap_or(0));
                metrics.commit_seconds.observe(start.elapsed());
                Ok(())
            }
            Err(error) => {
                metrics.commit_failures.add(u64::from(error.is_disk()));
                Err(error)
            }
        }
    }
}

impl Leader {
    /// Commits what waits until nothing does.
    fn lead(mut self) {
        let store = self.store.clone();
        loop {
            if store.0.handle.needs_mending() {
                store.0.handle.mend();
            }
            let mut batch = {
                let mut queue = store.queue();
                if queue.waiting.is_empty() {
                    queue.led = false;
                    self.done = true;
                    return;
                }
                let some = queue.waiting.len().min(BATCH_MAX);
                queue.waiting.drain(..some).collect::<Vec<_>>()
            };
            match store.commit(&mut batch) {
                Err(Error::Bug(_)) if batch.len() > 1 => store.commit_singly(batch),
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
                let mut queue = self.store.queue();
                queue.led = false;
                std::mem::take(&mut queue.waiting)
            };
            drop(orphans);
        }
    }
}

/// Runs a batch in one transaction and commits it.
fn transact(database: &Database, batch: &mut [Box<dyn Operation>]) -> Result<Commit, Error> {
    let mut transaction = database.begin_write()?;
    transaction
        .set_durability(Durability::Immediate)
        .map_err(|_| Error::Bug("durability cannot be set"))?;
    transaction.set_two_phase_commit(true);
    let mut txn = Txn::new(&transaction);
    for operation in batch {
        if let Applied::Spoiled(error) = operation.apply(&mut txn) {
            return Err(error);
        }
    }
    let idle = txn.writes() == 0;
    txn.finish()?;
    drop(txn);
    if idle {
        transaction.abort()?;
        return Ok(Commit::Idle);
    }
    transaction.commit()?;
    Ok(Commit::Durable)
}

fn answer_all(batch: Vec<Box<dyn Operation>>, end: &Result<(), Error>) {
    for operation in batch {
        operation.answer(end.clone());
    }
}

/// Writes that may wait at the same time.
const WAITING_MAX: usize = 1024;
/// Writes of one commit.
const BATCH_MAX: usize = 256;
/// How long a caller waits for room among them.
const ROOM_WAIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::domain::account::{Account, AccountId};
    use crate::domain::id::Id;
    use crate::domain::money::Currency;
    use crate::domain::time::Timestamp;
    use crate::store::accounts;
    use crate::store::disk::MemoryDisk;
    use crate::store::open::Verify;

    fn open(disk: &MemoryDisk) -> Store {
        let options = Options {
            cache_bytes: 1 << 20,
            verify: Verify::Always,
            instance: Id::from_bytes([9; 16]),
            name: "test".into(),
            now: Timestamp::EPOCH,
        };
        let disk = Arc::new(disk.clone());
        Store::open(disk, &options, Clock::host(), Arc::default()).unwrap()
    }

    fn account(number: u8) -> Account {
        Account {
            id: AccountId::from_bytes([number; 16]),
            name: format!("account {number}"),
            currency: Currency::EUR,
            created_at: Timestamp::EPOCH,
        }
    }

    async fn insert(store: &Store, number: u8) -> Result<(), Error> {
        store.write(move |txn| accounts::insert(txn, &account(number))).await
    }

    fn names(store: &Store) -> Vec<String> {
        let all = store.read(accounts::scan).unwrap();
        all.into_iter().map(|it| it.name).collect()
    }

    #[tokio::test]
    async fn what_was_written_is_there_after_the_file_is_opened_again() {
        let disk = MemoryDisk::default();
        let store = open(&disk);
        insert(&store, 1).await.unwrap();
        store.close();
        assert_eq!(names(&open(&disk)), ["account 1"]);
    }

    #[tokio::test]
    async fn writes_at_the_same_time_share_commits() {
        let store = open(&MemoryDisk::default());
        let writes: Vec<_> = (0..200)
            .map(|number| {
                let store = store.clone();
                tokio::spawn(async move { insert(&store, number).await })
            })
            .collect();
        for write in writes {
            write.await.unwrap().unwrap();
        }
        assert_eq!(names(&store).len(), 200);
        let commits = store.0.metrics.commits.value();
        assert!(commits < 100, "{commits} commits for 200 writes");
    }

    #[tokio::test]
    async fn a_write_that_fails_late_or_panics_takes_nobody_with_it() {
        let store = open(&MemoryDisk::default());
        let good = (0..50).map(|number| {
            let store = store.clone();
            tokio::spawn(async move { insert(&store, number).await })
        });
        let good: Vec<_> = good.collect();
        let late = store
            .write(|txn| {
                accounts::insert(txn, &account(100))?;
                Err::<(), _>(Error::Busy)
            })
            .await;
        assert!(matches!(late, Err(Error::Busy)), "{late:?}");
        let panicking = store.write(|_| -> Result<(), Error> { panic!("on purpose") }).await;
        assert!(matches!(panicking, Err(Error::Bug(_))), "{panicking:?}");
        for write in good {
            write.await.unwrap().unwrap();
        }
        assert_eq!(names(&store).len(), 50);
    }

    #[tokio::test]
    async fn a_refusal_is_answered_without_a_commit() {
        let store = open(&MemoryDisk::default());
        let commits = store.0.metrics.commits.value();
        let refused = store.write(|_| Err::<(), _>(Error::Busy)).await;
        assert!(matches!(refused, Err(Error::Busy)));
        assert_eq!(store.0.metrics.commits.value(), commits);
    }

    #[tokio::test]
    async fn a_closed_store_refuses_and_does_not_hang() {
        let store = open(&MemoryDisk::default());
        store.close();
        assert!(insert(&store, 1).await.is_err());
        assert!(store.read(accounts::scan).is_err());
    }

    #[tokio::test]
    async fn callers_who_went_away_still_take_their_place_among_those_who_wait() {
        let store = open(&MemoryDisk::default());
        let (go, wait) = std::sync::mpsc::channel();
        let blocked = store.clone();
        let slow = tokio::spawn(async move {
            let wait = move |_: &mut Txn<'_>| Ok::<_, Error>(wait.recv().unwrap());
            blocked.write(wait).await
        });
        // The slow write is under way when nothing waits but somebody leads.
        while !(store.queue().led && store.queue().waiting.is_empty()) {
            tokio::task::yield_now().await;
        }
        for _ in 0..2 * WAITING_MAX {
            let mut gone = Box::pin(insert(&store, 1));
            let _ = std::future::poll_fn(|it| Poll::Ready(gone.as_mut().poll(it))).await;
            tokio::task::yield_now().await;
        }
        assert_eq!(store.queue().waiting.len(), WAITING_MAX - 1);
        go.send(()).unwrap();
        slow.await.unwrap().unwrap();
        insert(&store, 2).await.unwrap();
        assert_eq!(names(&store), ["account 1", "account 2"]);
    }

    #[test]
    fn a_runtime_that_ended_leaves_no_leader_behind() {
        let store = open(&MemoryDisk::default());
        let runtime = || runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let ended = runtime();
        let handle = ended.handle().clone();
        drop(ended);
        {
            let _inside = handle.enter();
            let mut write = Box::pin(insert(&store, 1));
            let mut context = Context::from_waker(Waker::noop());
            let answer = write.as_mut().poll(&mut context);
            assert!(matches!(answer, Poll::Ready(Err(Error::Bug(_)))), "{answer:?}");
        }
        runtime().block_on(insert(&store, 2)).unwrap();
        assert_eq!(names(&store), ["account 2"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_stands_still_during_a_write() {
        let store = open(&MemoryDisk::default());
        let start = store.0.clock.mark();
        for number in 0..20 {
            insert(&store, number).await.unwrap();
        }
        assert!(start.elapsed().is_zero(), "{:?}", start.elapsed());
    }
}
