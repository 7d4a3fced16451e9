//! Opening: the data directory, its lock, the check of the file, and its format.
//!
//! A file that was not closed is walked through whole by redb, which compares every page with its
//! checksum; a closed one is checked too while it is small. A damaged file is refused, never
//! served. A file of a newer format is refused with the format it needs.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use redb::{Builder, Database, DatabaseError, Durability};

use crate::domain::id::{Id, Instance};
use crate::domain::time::Timestamp;
use crate::store::disk::{Disk, StorageBackend, Watched};
use crate::store::error::Error;
use crate::store::handle::Opened;
use crate::store::meta;
use crate::store::overlay::Overlay;
use crate::store::tables::Table;
use crate::store::till::Till;
use crate::store::txn::Txn;

/// A directory that holds one store, locked for this process until it is dropped.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of pages that are kept in memory.
    pub cache_bytes: usize,
    /// When the file is checked.
    pub verify: Verify,
    /// The id a new file gets; a file that is there keeps its own.
    pub instance: Id<Instance>,
    /// The name a new file gets.
    pub name: String,
    /// When it is opened.
    pub now: Timestamp,
}

/// When a file that was closed properly is checked; one that was not is checked always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// While it is not larger than a gigabyte.
    Small,
    /// Always.
    Always,
    /// Not now.
    Never,
}

/// What is done with an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everything.
    ReadAndWrite,
    /// Reading only; what redb writes by itself stays in memory.
    ReadOnly,
}

impl DataDir {
    /// Makes the directory if it is not there, checks it, and locks it.
    ///
    /// # Errors
    ///
    /// [`Error::Directory`] when it cannot be used, [`Error::Locked`] when another process does.
    pub fn lock(path: &Path) -> Result<Self, Error> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|it| directory(path, &format!("cannot be made: {it}")))?;
        let found = fs::metadata(path).map_err(|it| directory(path, &it.to_string()))?;
        if !found.is_dir() {
            return Err(directory(path, "is not a directory"));
        }
        refuse_network(path)?;
        if found.permissions().mode() & 0o077 != 0 {
            let private = fs::set_permissions(path, Permissions::from_mode(0o700));
            private.map_err(|it| directory(path, &format!("cannot be made private: {it}")))?;
        }
        let lock = lock_file(path)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the store's file is, after a look at what is there.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] when something else is in its place.
    pub fn file(&self) -> Result<PathBuf, Error> {
        let path = self.path.join(FILE_NAME);
        let unreadable =
            |reason: &str| Error::Unreadable { path: path.clone(), reason: reason.into() };
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A new name is on disk only when its directory is.
                let synced = File::open(&self.path).and_then(|it| it.sync_all());
                synced.map_err(|it| directory(&self.path, &it.to_string()))?;
            }
            Err(error) => return Err(unreadable(&error.to_string())),
            Ok(found) if !found.is_file() => return Err(unreadable("it is not a file")),
            Ok(found) if found.len() > 0 => {
                let mut magic = [0; MAGIC.len()];
                let read = File::open(&path).and_then(|mut it| it.read_exact(&mut magic));
                // A file that was never finished begins with zeros; opening it tells.
                if read.is_err() || (magic != *MAGIC && magic != [0; MAGIC.len()]) {
                    return Err(unreadable("it is not a data file of this program"));
                }
            }
            Ok(_) => {}
        }
        Ok(path)
    }
}

/// Opens the file, makes what is missing in it, and checks that this version can read it.
///
/// # Errors
///
/// All of [`Error`] but `Busy` and `Bug`.
pub(crate) fn prepared(disk: &dyn Disk, options: &Options) -> Result<Opened, Error> {
    caught(disk, || {
        let opened = verified(disk, options.cache_bytes, options.verify, Access::ReadAndWrite)?;
        prepare(&opened.database, options)?;
        Ok(opened)
    })
}

/// Opens a file that was prepared before.
///
/// # Errors
///
/// What is wrong with the file or the disk.
pub(crate) fn database(
    disk: &dyn Disk,
    cache_bytes: usize,
    verify: Verify,
    access: Access,
) -> Result<Opened, Error> {
    caught(disk, || verified(disk, cache_bytes, verify, access))
}

/// Turns a panic into an error: redb trusts the pages of a file.
fn caught<T>(disk: &dyn Disk, open: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let opened = catch_unwind(AssertUnwindSafe(open));
    opened.unwrap_or_else(|_| Err(unreadable(disk, "its pages contradict each other")))
}

/// Makes the tables of a new file and checks the format of an old one.
fn prepare(database: &Database, options: &Options) -> Result<(), Error> {
    let mut transaction = database.begin_write()?;
    transaction
        .set_durability(Durability::Immediate)
        .map_err(|_| Error::Bug("durability cannot be set"))?;
    transaction.set_two_phase_commit(true);
    for table in Table::ALL {
        transaction.open_table(table.definition())?;
    }
    let till = Till::default();
    let mut txn = Txn::new(&transaction, &till);
    meta::begin(&mut txn, options)?;
    txn.finish()?;
    drop(txn);
    transaction.commit()?;
    Ok(())
}

fn verified(
    disk: &dyn Disk,
    cache_bytes: usize,
    verify: Verify,
    access: Access,
) -> Result<Opened, Error> {
    let mut backend = disk.open().map_err(|it| cannot_take(disk, &it))?;
    let mut bytes = backend.len().map_err(from_io)?;
    match access {
        Access::ReadOnly if bytes == 0 => return Err(unreadable(disk, "it is empty")),
        Access::ReadOnly => backend = Box::new(Overlay::over(backend).map_err(from_io)?),
        Access::ReadAndWrite if is_unborn(backend.as_ref(), bytes).map_err(from_io)? => {
            backend.set_len(0).map_err(from_io)?;
            bytes = 0;
        }
        Access::ReadAndWrite => {}
    }
    let (backend, read_failed) = Watched::new(backend);
    let opened = Builder::new().set_cache_size(cache_bytes).create_with_backend(backend);
    let mut database = opened.map_err(|it| cannot_open(disk, it))?;
    let check = match verify {
        Verify::Always => true,
        Verify::Small => bytes <= VERIFY_BYTES_MAX,
        Verify::Never => false,
    };
    if check && bytes > 0 {
        // False means that something was repaired, which an unclean end leaves behind.
        database.check_integrity().map_err(|it| cannot_open(disk, it))?;
    }
    Ok(Opened { database, read_failed })
}

/// Whether the power failed while redb made the file, before anything was kept in it.
///
/// redb writes its magic number last, and until then there is nothing behind the first page. A
/// file that lost its first page has something there, and is not touched.
fn is_unborn(backend: &dyn StorageBackend, bytes: u64) -> io::Result<bool> {
    let Some(bytes) = usize::try_from(bytes).ok().filter(|it| (1..=UNBORN_BYTES_MAX).contains(it))
    else {
        return Ok(false);
    };
    let mut all = vec![0; bytes];
    let (magic, _) = all.split_at_mut(bytes.min(MAGIC.len()));
    backend.read(0, magic)?;
    if magic.iter().any(|it| *it != 0) {
        return Ok(false);
    }
    backend.read(0, &mut all)?;
    Ok(all.iter().skip(PAGE_BYTES).all(|it| *it == 0))
}

fn cannot_take(disk: &dyn Disk, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::ResourceBusy {
        return locked(disk);
    }
    directory(disk.path(), &format!("cannot be opened: {error}"))
}

fn cannot_open(disk: &dyn Disk, error: DatabaseError) -> Error {
    if matches!(error, DatabaseError::DatabaseAlreadyOpen) {
        return locked(disk);
    }
    if let DatabaseError::Storage(redb::StorageError::Io(io)) = error {
        return match is_of_the_file(&io) {
            true => unreadable(disk, &io.to_string()),
            false => from_io(io),
        };
    }
    unreadable(disk, &error.to_string())
}

/// Whether the file is at fault, and not the disk: it is not redb's own, or it ends too early.
fn is_of_the_file(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof
    )
}

fn locked(disk: &dyn Disk) -> Error {
    Error::Locked { path: disk.path().into(), pid: None }
}

fn from_io(error: io::Error) -> Error {
    Error::from_redb(redb::Error::Io(error))
}

fn unreadable(disk: &dyn Disk, reason: &str) -> Error {
    Error::Unreadable { path: disk.path().into(), reason: reason.into() }
}

fn directory(path: &Path, reason: &str) -> Error {
    Error::Directory { path: path.into(), reason: reason.into() }
}

/// Takes the lock and writes this process into it, so that a second one can name the first.
fn lock_file(dir: &Path) -> Result<File, Error> {
    let path = dir.join(LOCK_NAME);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(&path).map_err(|it| directory(&path, &it.to_string()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // A lock whose holder cannot be read is still a lock.
            let _ = file.read_to_string(&mut holder);
            return Err(Error::Locked { path: dir.into(), pid: holder.trim().parse().ok() });
        }
        Err(TryLockError::Error(error)) => {
            return Err(directory(&path, &format!("cannot be locked: {error}")));
        }
    }
    let written = file
        .set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| write!(file, "{}", std::process::id()));
    written.map_err(|it| directory(&path, &it.to_string()))?;
    Ok(file)
}

/// Refuses file systems whose locks and flushes cannot be trusted.
#[cfg(target_os = "linux")]
fn refuse_network(path: &Path) -> Result<(), Error> {
    let found = rustix::fs::statfs(path).map_err(|it| directory(path, &it.to_string()))?;
    let kind = u32::try_from(found.f_type).unwrap_or(0);
    if NETWORK_FILE_SYSTEMS.contains(&kind) {
        let reason = "is on a network file system, which loses data under a database; \
                      choose a directory on a local disk";
        return Err(directory(path, reason));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn refuse_network(_path: &Path) -> Result<(), Error> {
    Ok(())
}

/// NFS, SMB, CIFS, SMB2 and AFS, by their magic numbers. Source: statfs(2).
#[cfg(target_os = "linux")]
const NETWORK_FILE_SYSTEMS: [u32; 5] = [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x5346_414F];
/// The store's file in its directory.
const FILE_NAME: &str = "errand.redb";
/// The lock's file in its directory; it stays when the lock is gone.
const LOCK_NAME: &str = "LOCK";
/// What a redb file begins with. Source: redb's design document, "Super header".
const MAGIC: &[u8; 4] = b"redb";
/// Bytes of a page of redb.
const PAGE_BYTES: usize = 4096;
/// More bytes than a new file of redb has.
const UNBORN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The largest file that is checked at each start: about a second and a half.
const VERIFY_BYTES_MAX: u64 = 1024 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::disk::FileDisk;

    #[track_caller]
    fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
        result.expect_err("this must be refused").to_string()
    }

    #[test]
    fn a_new_directory_is_private_and_belongs_to_one_process() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b");
        let held = DataDir::lock(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        let second = refusal(DataDir::lock(&path));
        assert!(second.contains(&format!("process {}", std::process::id())), "{second}");
        drop(held);
        DataDir::lock(&path).unwrap();
    }

    #[test]
    fn a_file_of_something_else_is_refused_and_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::lock(temp.path()).unwrap();
        let path = temp.path().join("errand.redb");
        fs::write(&path, "SQLite format 3").unwrap();
        let text = refusal(dir.file());
        assert!(text.contains("not a data file of this program"), "{text}");
        assert_eq!(fs::read(&path).unwrap(), b"SQLite format 3");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(refusal(dir.file()).contains("it is not a file"));
    }

    #[test]
    fn a_path_that_is_not_a_directory_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("file");
        fs::write(&path, "").unwrap();
        let text = refusal(DataDir::lock(&path));
        assert!(text.contains("file"), "{text}");
    }

    #[test]
    fn a_file_that_was_never_finished_is_made_anew() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::lock(temp.path()).unwrap();
        let path = temp.path().join("errand.redb");
        fs::write(&path, vec![0; 1024 * 1024]).unwrap();
        let disk = FileDisk::new(dir.file().unwrap());
        database(&disk, 1 << 20, Verify::Small, Access::ReadAndWrite).map(drop).unwrap();
        assert_eq!(fs::read(&path).unwrap().get(..4), Some(MAGIC.as_slice()));
    }
}
