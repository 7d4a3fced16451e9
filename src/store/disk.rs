//! The door to the disk: where the bytes of the file are kept.
//!
//! The daemon keeps them in a file. A test keeps them in memory, counts and fails the operations,
//! or plays a power cut. Both give redb a `StorageBackend`; there is no other way to the disk.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Bound;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use redb::BackendError;
pub use redb::StorageBackend;
use redb::backends::FileBackend;

/// Keeps the bytes of one store.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Opens the bytes for one holder; again after the last holder let go.
    ///
    /// # Errors
    ///
    /// The operating system's, when the file cannot be opened.
    fn open(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// What to call it in messages.
    fn path(&self) -> &Path;
}

/// A file of the host.
#[derive(Debug)]
pub struct FileDisk(PathBuf);

impl FileDisk {
    /// The file at `path`, made when it is opened and not there.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    fn file(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&self.0)
    }
}

impl Disk for FileDisk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let backend = FileBackend::new(self.file()?).map_err(io::Error::other)?;
        Ok(Box::new(backend))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

/// A file in memory that outlives its holders, for tests and for `--ephemeral`.
#[cfg(feature = "sim")]
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk(std::sync::Arc<redb::backends::InMemoryBackend>);

#[cfg(feature = "sim")]
impl Disk for MemoryDisk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(SharedMemory(std::sync::Arc::clone(&self.0))))
    }

    fn path(&self) -> &Path {
        Path::new("(memory)")
    }
}

#[cfg(feature = "sim")]
#[derive(Debug)]
struct SharedMemory(std::sync::Arc<redb::backends::InMemoryBackend>);

#[cfg(feature = "sim")]
impl StorageBackend for SharedMemory {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

/// A backend of any kind, in the form that redb takes.
#[derive(Debug)]
pub(crate) struct AnyBackend(pub(crate) Box<dyn StorageBackend>);

impl StorageBackend for AnyBackend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.0.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.query_lock_range(start, end)
    }
}
