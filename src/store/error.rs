//! What can go wrong with the file: the operator's problems, never the caller's.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Why the store did not do what was asked. Nothing was changed, unless a variant says otherwise.
#[derive(Clone, Debug)]
pub enum Error {
    /// Too many writes wait for the disk.
    Busy,
    /// The disk is full. The change may be there after all if its commit had begun.
    Full,
    /// The disk does not do its work. The change may be there after all if its commit had begun.
    Disk(Arc<dyn std::error::Error + Send + Sync>),
    /// A record does not carry its checksum or cannot be read.
    Damaged {
        /// The table it stands in.
        table: &'static str,
    },
    /// The whole file is damaged, or is not a file of ours.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by a newer version.
    Newer {
        /// The format that the file needs.
        found: u32,
        /// The newest format that this version reads.
        known: u32,
    },
    /// Another process works on the file.
    Locked {
        /// The data directory.
        path: PathBuf,
        /// The other process, as far as known.
        pid: Option<u32>,
    },
    /// The data directory cannot be used.
    Directory {
        /// The directory or the file in it.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The secrets in the file were sealed with another master key.
    MasterKey,
    /// A write broke the rules of a transaction; a fault of ours.
    Bug(&'static str),
}

impl Error {
    /// Whether the disk, and not the request, is at fault: reopening the file may help.
    pub(crate) const fn is_disk(&self) -> bool {
        matches!(self, Self::Full | Self::Disk(_))
    }

    /// Tells a full disk from a broken one.
    pub(crate) fn from_redb(error: redb::Error) -> Self {
        if let redb::Error::Io(io) = &error
            && is_full(io)
        {
            return Self::Full;
        }
        Self::Disk(Arc::new(error))
    }
}

/// Whether an operation failed for want of space: disk, quota or file size limit.
fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("too many writes wait for the disk"),
            Self::Full => f.write_str("the disk is full"),
            Self::Disk(_) => f.write_str("the disk does not work"),
            Self::Damaged { table } => write!(f, "a record of the table {table} is damaged"),
            Self::Unreadable { path, reason } => write!(
                f,
                "{} cannot be read: {reason}; restore the newest backup, or run `errand doctor`",
                path.display()
            ),
            Self::Newer { found, known } => write!(
                f,
                "the data file has format {found} and this version reads up to {known}; \
                 use the version that wrote it, or a newer one"
            ),
            Self::Locked { path, pid } => {
                write!(f, "{} is in use", path.display())?;
                match pid {
                    Some(pid) => write!(f, " by process {pid}; stop it first"),
                    None => f.write_str(" by another process; stop it first"),
                }
            }
            Self::Directory { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::MasterKey => f.write_str(
                "the secrets in the data file were sealed with another master key; \
                 put the file master.key back that belongs to it",
            ),
            Self::Bug(what) => write!(f, "a write broke the rules: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Disk(source) => Some(source.as_ref()),
            Self::Busy
            | Self::Full
            | Self::Damaged { .. }
            | Self::Unreadable { .. }
            | Self::Newer { .. }
            | Self::Locked { .. }
            | Self::Directory { .. }
            | Self::MasterKey
            | Self::Bug(_) => None,
        }
    }
}

impl From<redb::StorageError> for Error {
    fn from(error: redb::StorageError) -> Self {
        Self::from_redb(error.into())
    }
}

impl From<redb::TableError> for Error {
    fn from(error: redb::TableError) -> Self {
        Self::from_redb(error.into())
    }
}

impl From<redb::TransactionError> for Error {
    fn from(error: redb::TransactionError) -> Self {
        Self::from_redb(error.into())
    }
}

impl From<redb::CommitError> for Error {
    fn from(error: redb::CommitError) -> Self {
        Self::from_redb(error.into())
    }
}
