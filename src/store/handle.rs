//! The open file: lent to reads and commits, and opened anew when the disk failed.
//!
//! Nothing is tried again on a handle that failed, because the kernel may have dropped the pages
//! it could not write. The file is opened anew, which reads what is really there. A disk that
//! takes no writes, not even those of a recovery, still gives reads: the recovery then happens in
//! memory (`Overlay`), until a later write finds the disk well.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use redb::{Database, ReadableDatabase as _};

use crate::store::disk::Disk;
use crate::store::error::Error;
use crate::store::open::{self, Access, Verify};
use crate::store::view::View;
use crate::sys::clock::{Clock, Mark};

/// The file, in whatever state it is.
pub(crate) struct Handle {
    state: RwLock<State>,
    trouble: Mutex<Option<Trouble>>,
    disk: Arc<dyn Disk>,
    cache_bytes: usize,
    clock: Clock,
}

/// A file that redb has opened.
pub(crate) struct Opened {
    pub(crate) database: Database,
    /// Whether the disk failed to give bytes; redb gives none any more after that.
    pub(crate) read_failed: Arc<AtomicBool>,
}

enum State {
    /// For reads and writes.
    Open(Opened),
    /// For reads only: the disk takes no writes.
    Reading(Opened),
    /// It could not be opened after the disk had failed.
    Lost,
    /// Somebody has closed it.
    Closed,
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
    /// The disk failed, and no commit has worked since; reads may work.
    Failing(Error),
}

impl Handle {
    /// Takes a file that was opened from `disk`.
    pub(crate) fn new(
        opened: Opened,
        disk: Arc<dyn Disk>,
        cache_bytes: usize,
        clock: Clock,
    ) -> Self {
        let state = RwLock::new(State::Open(opened));
        Self { state, trouble: Mutex::default(), disk, cache_bytes, clock }
    }

    /// Begins to read.
    ///
    /// # Errors
    ///
    /// What the disk says, or said last; [`Error::Bug`] when the file is closed.
    pub(crate) fn view(&self) -> Result<View, Error> {
        match &*self.state() {
            State::Open(file) | State::Reading(file) => Ok(View::new(file.database.begin_read()?)),
            State::Lost => Err(self.last_error()),
            State::Closed => Err(CLOSED),
        }
    }

    /// Lends the file to `work`, and opens it anew when the disk failed under it.
    ///
    /// For a while after a failure it refuses at once, so that a full disk is not hammered.
    ///
    /// # Errors
    ///
    /// What `work` says; the last failure while the disk is not tried again.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.wait_out_trouble()?;
        let end = match &*self.state() {
            // redb can panic on a disk that lies; the file is opened anew like after any fault.
            State::Open(file) => catch_unwind(AssertUnwindSafe(|| work(&file.database)))
                .unwrap_or_else(|_| Err(failure("redb panicked"))),
            State::Reading(_) | State::Lost => return Err(self.last_error()),
            State::Closed => return Err(CLOSED),
        };
        if let Err(error) = &end
            && error.is_disk()
        {
            self.reopen(error);
        }
        end
    }

    /// Notes that a commit worked.
    pub(crate) fn commit_worked(&self) {
        *lock(&self.trouble) = None;
    }

    /// Whether reads fail that may work after [`Handle::mend`].
    pub(crate) fn needs_mending(&self) -> bool {
        let sick = match &*self.state() {
            State::Open(file) | State::Reading(file) => file.read_failed.load(Ordering::Relaxed),
            State::Lost => true,
            State::Closed => false,
        };
        sick && lock(&self.trouble).as_ref().is_none_or(Trouble::is_past)
    }

    /// Opens the file anew because reads fail.
    pub(crate) fn mend(&self) {
        self.reopen(&failure("a read failed"));
    }

    /// Whether the last commit worked.
    pub(crate) fn health(&self) -> Health {
        match &*lock(&self.trouble) {
            Some(trouble) => Health::Failing(trouble.error.clone()),
            None => Health::Good,
        }
    }

    /// Closes the file for good. Waits for a commit under way.
    pub(crate) fn close(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        discard(std::mem::replace(&mut *state, State::Closed));
    }

    fn wait_out_trouble(&self) -> Result<(), Error> {
        let error = match &*lock(&self.trouble) {
            None => return Ok(()),
            Some(trouble) if !trouble.is_past() => return Err(trouble.error.clone()),
            Some(trouble) => trouble.error.clone(),
        };
        if !matches!(&*self.state(), State::Open(_)) {
            self.reopen(&error);
        }
        Ok(())
    }

    /// Lets go of the file and opens what is really on the disk.
    fn reopen(&self, error: &Error) {
        tracing::error!(%error, "the disk failed; opening the file anew");
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Closed) {
            return;
        }
        discard(std::mem::replace(&mut *state, State::Lost));
        *state = match self.open(Access::ReadAndWrite) {
            Ok(file) => State::Open(file),
            Err(error) => {
                tracing::error!(%error, "the file cannot be opened for writing; trying again");
                self.open(Access::ReadOnly).map_or(State::Lost, State::Reading)
            }
        };
        let tried_at = self.clock.mark();
        *lock(&self.trouble) = Some(Trouble { error: error.clone(), tried_at });
    }

    fn open(&self, access: Access) -> Result<Opened, Error> {
        open::database(self.disk.as_ref(), self.cache_bytes, Verify::Never, access)
    }

    fn last_error(&self) -> Error {
        let trouble = lock(&self.trouble);
        trouble.as_ref().map_or_else(|| failure("the file is lost"), |it| it.error.clone())
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Trouble {
    /// Whether the disk may be tried again.
    fn is_past(&self) -> bool {
        self.tried_at.elapsed() >= TROUBLE_PAUSE
    }
}

/// Closes a file; redb can panic when it does so on a disk that lies.
fn discard(state: State) {
    if catch_unwind(AssertUnwindSafe(|| drop(state))).is_err() {
        tracing::error!("redb panicked when it closed the file");
    }
}

fn failure(what: &'static str) -> Error {
    Error::Disk(Arc::from(Box::from(what)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const CLOSED: Error = Error::Bug("the store is closed");
/// How long writes are refused at once after a failure.
const TROUBLE_PAUSE: Duration = Duration::from_secs(2);
