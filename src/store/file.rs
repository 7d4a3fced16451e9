//! The face of the room: one file, open for reads and writes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::domain::account::AccountId;
use crate::domain::money::Amount;
use crate::store::disk::Disk;
use crate::store::error::Error;
use crate::store::handle::{Handle, Health};
use crate::store::ledger;
use crate::store::open::{self, Options};
use crate::store::operation::Write;
use crate::store::spends;
use crate::store::till::{NotReserved, Reservation, Spender};
use crate::store::txn::Txn;
use crate::store::view::View;
use crate::store::writer::Writer;
use crate::sys::clock::Clock;
use crate::sys::metrics::Metrics;

/// The one redb file, open; cheap to clone.
#[derive(Clone)]
pub struct Store {
    writer: Arc<Writer>,
    /// Places for writes that wait.
    room: Arc<Semaphore>,
    clock: Clock,
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
        let writer = Arc::new(Writer::new(handle, clock.clone(), metrics));
        Ok(Self { writer, room: Arc::new(Semaphore::new(WAITING_MAX)), clock })
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
        let room = Arc::clone(&self.room).acquire_owned();
        let Ok(Ok(room)) = self.clock.within(ROOM_WAIT, room).await else {
            return Err(Error::Busy.into());
        };
        let (write, answer) = Write::new(operation, room);
        self.writer.push(Box::new(write));
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
        let outcome = match self.writer.handle().view() {
            Ok(view) => read(&view),
            Err(error) => Err(error.into()),
        };
        if self.writer.handle().needs_mending() {
            self.writer.wake();
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

    /// Promises `amount` of an account's balance and of its key's budget, until the reservation is
    /// dropped.
    ///
    /// What is promised is not there for anybody else, and is forgotten with the process.
    ///
    /// # Errors
    ///
    /// [`NotReserved`] says how much there is.
    pub fn reserve(&self, spender: Spender, amount: Amount) -> Result<Reservation, NotReserved> {
        self.writer.till().reserve(
            spender,
            amount,
            || self.read(|view| Ok(ledger::find(view, spender.account)?.balance.available())),
            || self.read(|view| spends::find(view, spender.key)),
        )
    }

    /// What is promised of an account's balance now.
    #[must_use]
    pub fn promised(&self, account: AccountId) -> Amount {
        self.writer.till().open().promised(account)
    }

    /// Whether the last commit worked.
    #[must_use]
    pub fn health(&self) -> Health {
        self.writer.handle().health()
    }

    /// Closes the file; later reads and writes fail. Waits for a commit under way.
    ///
    /// Dropping the last clone closes it too, but a commit that was just answered may hold one a
    /// moment longer.
    pub fn close(&self) {
        self.writer.handle().close();
    }
}

/// Writes that may wait at the same time.
const WAITING_MAX: usize = 1024;
/// How long a caller waits for room among them.
const ROOM_WAIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;
    use tokio::runtime;

    use crate::domain::account::{Account, AccountId};
    use crate::domain::id::Id;
    use crate::domain::money::Currency;
    use crate::domain::time::Timestamp;
    use crate::store::accounts;
    use crate::store::disk::MemoryDisk;
    use crate::store::open::Verify;

    fn open(disk: &MemoryDisk) -> Store {
        open_counted(disk, Arc::default())
    }

    fn open_counted(disk: &MemoryDisk, metrics: Arc<Metrics>) -> Store {
        let options = Options {
            cache_bytes: 1 << 20,
            verify: Verify::Always,
            instance: Id::from_bytes([9; 16]),
            name: "test".into(),
            now: Timestamp::EPOCH,
        };
        let disk = Arc::new(disk.clone());
        Store::open(disk, &options, Clock::host(), metrics).unwrap()
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
        let metrics = Arc::<Metrics>::default();
        let store = open_counted(&MemoryDisk::default(), Arc::clone(&metrics));
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
        let commits = metrics.commits.value();
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
        let metrics = Arc::<Metrics>::default();
        let store = open_counted(&MemoryDisk::default(), Arc::clone(&metrics));
        let refused = store.write(|_| Err::<(), _>(Error::Busy)).await;
        assert!(matches!(refused, Err(Error::Busy)));
        assert_eq!(metrics.commits.value(), 0);
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
            let wait = move |_: &mut Txn<'_>| wait.recv().map_err(|_| Error::Busy);
            blocked.write(wait).await
        });
        for _ in 0..2 * WAITING_MAX {
            let mut gone = Box::pin(insert(&store, 1));
            let _ = std::future::poll_fn(|it| Poll::Ready(gone.as_mut().poll(it))).await;
            tokio::task::yield_now().await;
        }
        assert_eq!(store.room.available_permits(), 0);
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
        let start = store.clock.mark();
        for number in 0..20 {
            insert(&store, number).await.unwrap();
        }
        assert!(start.elapsed().is_zero(), "{:?}", start.elapsed());
    }
}
