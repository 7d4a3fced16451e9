//! Why a daemon did not start.

use std::fmt;
use std::path::PathBuf;

use crate::outbound::BadRoots;
use crate::store;

/// Why a daemon did not start; nothing runs, and the file is as it was.
#[derive(Debug)]
pub enum StartError {
    /// The file cannot be used.
    Store(store::Error),
    /// The operations cannot be opened on it.
    App(crate::app::Error),
    /// The file of extra roots cannot be read.
    Roots(PathBuf, std::io::Error),
    /// The file of extra roots is not one.
    BadRoots(PathBuf, BadRoots),
    /// Two agents have the same kind.
    Kind(String),
    /// Two models have one name, or one cannot be asked.
    Model(String),
    /// The minute tick cannot start.
    Pulse(String),
    /// The master key cannot be read, or not be written.
    MasterKey(std::io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "{error}"),
            Self::App(error) => write!(f, "{error}"),
            Self::Roots(path, error) => {
                write!(f, "outbound.extra_roots: {}: {error}", path.display())
            }
            Self::BadRoots(path, error) => {
                write!(f, "outbound.extra_roots: {}: {error}", path.display())
            }
            Self::Kind(error) => write!(f, "{error}"),
            Self::Model(error) => write!(f, "{error}"),
            Self::Pulse(error) => write!(f, "the minute tick cannot start: {error}"),
            Self::MasterKey(error) => write!(f, "the master key: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::App(error) => Some(error),
            Self::Roots(_, error) | Self::MasterKey(error) => Some(error),
            Self::BadRoots(_, error) => Some(error),
            Self::Kind(_) | Self::Model(_) | Self::Pulse(_) => None,
        }
    }
}
