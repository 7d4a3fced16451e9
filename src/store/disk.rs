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
use std::sync::Arc;
#[cfg(feature = "sim")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::BackendError;
pub use redb::StorageBackend;
use redb::backends::FileBackend;

use crate::store::key_file;
use crate::store::seal::MasterKey;

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

    /// The master key that lies beside the bytes; `None` when there is none.
    ///
    /// # Errors
    ///
    /// The operating system's; also when the key is not one, or others can read it.
    fn master_key(&self) -> io::Result<Option<MasterKey>>;

    /// Keeps a new master key, for good when this returns.
    ///
    /// # Errors
    ///
    /// The operating system's; also when there is one already.
    fn keep_master_key(&self, key: &MasterKey) -> io::Result<()>;
}

/// A file of the host.
#[derive(Clone, Debug)]
pub struct FileDisk {
    path: PathBuf,
    key_path: PathBuf,
    opened: Arc<AtomicBool>,
}

impl FileDisk {
    /// The file at `path`, made when it is opened and not there; its master key lies beside it.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        let key_path = path.with_file_name(key_file::FILE_NAME);
        Self { path, key_path, opened: Arc::default() }
    }

    /// The same with the master key elsewhere, such as among the credentials of a service.
    #[must_use]
    pub fn with_key_file(self, key_path: PathBuf) -> Self {
        Self { key_path, ..self }
    }

    fn file(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&self.path)
    }
}

impl Disk for FileDisk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let file = self.file()?;
        if self.opened.swap(true, Ordering::Relaxed) {
            forget_pages(&file);
        }
        let backend = FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(backend))
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn master_key(&self) -> io::Result<Option<MasterKey>> {
        key_file::read(&self.key_path)
    }

    fn keep_master_key(&self, key: &MasterKey) -> io::Result<()> {
        key_file::write(&self.key_path, key)
    }
}

/// Makes the kernel read the file from the device again.
///
/// After a failed sync it shows pages that it could not write as if they were on the device, and
/// never tries to write them again.
#[cfg(target_os = "linux")]
fn forget_pages(file: &File) {
    let advice = rustix::fs::Advice::DontNeed;
    if let Err(error) = rustix::fs::fadvise(file, 0, None, advice) {
        tracing::warn!(%error, "the kernel keeps its pages of the file");
    }
}

#[cfg(not(target_os = "linux"))]
fn forget_pages(_file: &File) {}

/// A file in memory that outlives its holders, for tests and for `--ephemeral`.
#[cfg(feature = "sim")]
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    bytes: Arc<redb::backends::InMemoryBackend>,
    held: Arc<AtomicBool>,
    key: Arc<OnceLock<MasterKey>>,
}

#[cfg(feature = "sim")]
impl Disk for MemoryDisk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        if self.held.swap(true, Ordering::AcqRel) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let Self { bytes, held, .. } = self.clone();
        Ok(Box::new(SharedMemory { bytes, held, closed: AtomicBool::new(false) }))
    }

    fn path(&self) -> &Path {
        Path::new("(memory)")
    }

    fn master_key(&self) -> io::Result<Option<MasterKey>> {
        Ok(self.key.get().copied())
    }

    fn keep_master_key(&self, key: &MasterKey) -> io::Result<()> {
        self.key.set(*key).map_err(|_| io::ErrorKind::AlreadyExists.into())
    }
}

#[cfg(feature = "sim")]
#[derive(Debug)]
struct SharedMemory {
    bytes: Arc<redb::backends::InMemoryBackend>,
    held: Arc<AtomicBool>,
    closed: AtomicBool,
}

#[cfg(feature = "sim")]
impl StorageBackend for SharedMemory {
    fn len(&self) -> io::Result<u64> {
        self.bytes.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.bytes.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.bytes.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.bytes.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.bytes.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.held.store(false, Ordering::Release);
        }
        Ok(())
    }
}

#[cfg(feature = "sim")]
impl Drop for SharedMemory {
    fn drop(&mut self) {
        // Whoever never handed it to redb lets go of it here.
        let _ = self.close();
    }
}

/// A backend of any kind, in the form that redb takes, with an eye on failed reads.
#[derive(Debug)]
pub(crate) struct Watched {
    backend: Box<dyn StorageBackend>,
    /// Whether a read failed. redb gives no page any more after that, and says so to readers
    /// only, of whom nobody could tell it to the store.
    read_failed: Arc<AtomicBool>,
}

impl Watched {
    /// Watches `backend`, and where to see what was seen.
    pub(crate) fn new(backend: Box<dyn StorageBackend>) -> (Self, Arc<AtomicBool>) {
        let read_failed = Arc::new(AtomicBool::new(false));
        (Self { backend, read_failed: Arc::clone(&read_failed) }, read_failed)
    }

    fn watch<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            self.read_failed.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl StorageBackend for Watched {
    fn len(&self) -> io::Result<u64> {
        self.watch(self.backend.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.watch(self.backend.read(offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.backend.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.backend.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.backend.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.backend.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.backend.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.query_lock_range(start, end)
    }
}
