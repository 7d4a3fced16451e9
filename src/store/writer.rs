//! Group commit, and what happens when the disk fails.
//!
//! Whoever wants to write pushes the operation and waits. Who finds nobody at work becomes the
//! *leader*: one blocking task that takes all that waits, runs it in one transaction, commits it
//! with two fsyncs, answers everybody, and goes on until nothing waits. While a commit is on its
//! way to the disk the next batch gathers, so the disk sets the size of the batches and nobody
//! waits for a timer. There is no thread of the writer's own: a simulated clock sees every write.
//!
//! A failed commit is never tried again on the same handle, because the kernel may have dropped
//! the pages it could not write. The file is opened anew, which reads what is really there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use redb::{Database, Durability, ReadableDatabase as _};
use tokio::sync::Semaphore;

use crate::store::disk::Disk;
use crate::store::error::Error;
use crate::store::open::{self, Options};
use crate::store::operation::{Applied, Operation, Write};
use crate::store::txn::Txn;
use crate::store::view::View;
use crate::sys::clock::{Clock, Mark};
use crate::sys::metrics::Metrics;

/// The one redb file, open; cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    database: RwLock<Option<Database>>,
    queue: Mutex<Queue>,
    room: Semaphore,
    trouble: Mutex<Option<Trouble>>,
    disk: Arc<dyn Disk>,
    cache_bytes: usize,
    clock: Clock,
    metrics: Arc<Metrics>,
}

/// What waits to be written, and whether somebody is writing.
#[derive(Default)]
struct Queue {
    waiting: Vec<Box<dyn Operation>>,
    led: bool,
}

/// The disk failed, and no commit has worked since.
struct Trouble {
    error: Error,
    tried_at: Mark,
}

/// Whether the file can be read and written.
#[derive(Clone, Debug)]
pub enum Health {
    /// Yes.
    Good,
    /// The last commit failed; reads may work.
    Failing(Error),
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
        let database = open::database(disk.as_ref(), options.cache_bytes, options.verify)?;
        open::prepare(&database, options)?;
        Ok(Self(Arc::new(Inner {
            database: RwLock::new(Some(database)),
            queue: Mutex::default(),
            room: Semaphore::new(WAITING_MAX),
            trouble: Mutex::default(),
            disk,
            cache_bytes: options.cache_bytes,
            clock,
            metrics,
        })))
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
        let room = self.0.clock.within(ROOM_WAIT, self.0.room.acquire()).await;
        let Ok(Ok(_room)) = room else {
            return Err(Error::Busy.into());
        };
        let (write, answer) = Write::new(operation);
        let must_lead = {
            let mut queue = self.queue();
            queue.waiting.push(Box::new(write));
            !std::mem::replace(&mut queue.led, true)
        };
        if must_lead {
            let store = self.clone();
            drop(tokio::task::spawn_blocking(move || store.lead()));
        }
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
        let view = self.view()?;
        read(&view)
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
        match &*lock(&self.0.trouble) {
            Some(trouble) => Health::Failing(trouble.error.clone()),
            None => Health::Good,
        }
    }

    /// Closes the file; later reads and writes fail. Waits for a commit under way.
    pub fn close(&self) {
        let mut database = self.0.database.write().unwrap_or_else(PoisonError::into_inner);
        drop(database.take());
    }

    fn view(&self) -> Result<View, Error> {
        let database = self.0.database.read().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = &*database else {
            return Err(self.current_trouble());
        };
        Ok(View::new(database.begin_read()?))
    }

    /// Commits what waits until nothing does.
    fn lead(&self) {
        loop {
            let mut batch = {
                let mut queue = self.queue();
                if queue.waiting.is_empty() {
                    queue.led = false;
                    return;
                }
                let some = queue.waiting.len().min(BATCH_MAX);
                queue.waiting.drain(..some).collect::<Vec<_>>()
            };
            let end = self.commit(&mut batch);
            match end {
                Err(Error::Bug(_)) if batch.len() > 1 => self.commit_singly(batch),
                end => answer_all(batch, &end),
            }
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

    /// Commits a batch, and opens the file anew when the disk failed.
    fn commit(&self, batch: &mut [Box<dyn Operation>]) -> Result<(), Error> {
        self.wait_out_trouble()?;
        let start = self.0.clock.mark();
        // redb can panic on a disk that lies; the file is then opened anew like after any fault.
        let end = catch_unwind(AssertUnwindSafe(|| self.transact(batch)))
            .unwrap_or_else(|_| Err(Error::Disk(Arc::from(Box::from("redb panicked")))));
        match &end {
            Ok(Commit::Idle) => {}
            Ok(Commit::Durable) => {
                self.0.metrics.commits.add(1);
                self.0.metrics.writes.add(u64::try_from(batch.len()).unwrap_or(0));
                self.0.metrics.commit_seconds.observe(start.elapsed());
                *lock(&self.0.trouble) = None;
            }
            Err(error) if error.is_disk() => self.reopen(error),
            Err(_) => {}
        }
        end.map(|_| ())
    }

    fn transact(&self, batch: &mut [Box<dyn Operation>]) -> Result<Commit, Error> {
        let database = self.0.database.read().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = &*database else {
            return Err(self.current_trouble());
        };
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

    /// Refuses at once for a while after a failure, so that a full disk is not hammered.
    fn wait_out_trouble(&self) -> Result<(), Error> {
        let Some((error, tried_at)) =
            lock(&self.0.trouble).as_ref().map(|it| (it.error.clone(), it.tried_at))
        else {
            return Ok(());
        };
        if tried_at.elapsed() < TROUBLE_PAUSE {
            return Err(error);
        }
        let is_open = self.0.database.read().is_ok_and(|it| it.is_some());
        if !is_open {
            self.reopen(&error);
        }
        Ok(())
    }

    /// Lets go of the file and opens what is really on the disk.
    fn reopen(&self, error: &Error) {
        self.0.metrics.commit_failures.add(1);
        tracing::error!(error = %error, "a commit failed; opening the file anew");
        let mut database = self.0.database.write().unwrap_or_else(PoisonError::into_inner);
        drop(database.take());
        match open::database(self.0.disk.as_ref(), self.0.cache_bytes, open::Verify::Never) {
            Ok(opened) => *database = Some(opened),
            Err(error) => tracing::error!(%error, "the file cannot be opened; trying again"),
        }
        let tried_at = self.0.clock.mark();
        *lock(&self.0.trouble) = Some(Trouble { error: error.clone(), tried_at });
    }

    fn current_trouble(&self) -> Error {
        let trouble = lock(&self.0.trouble);
        trouble.as_ref().map_or(Error::Bug("the store is closed"), |it| it.error.clone())
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.0.queue)
    }
}

fn answer_all(batch: Vec<Box<dyn Operation>>, end: &Result<(), Error>) {
    for operation in batch {
        operation.answer(end.clone());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes that may wait at the same time.
const WAITING_MAX: usize = 1024;
/// Writes of one commit.
const BATCH_MAX: usize = 256;
/// How long a caller waits for room among them.
const ROOM_WAIT: Duration = Duration::from_secs(5);
/// How long writes are refused at once after a failed commit.
const TROUBLE_PAUSE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
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
        drop(store);
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
