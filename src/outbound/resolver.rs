//! Names and their addresses.
//!
//! Answers are hints, never permissions: the guard judges each of them at each use.

use std::fmt;
use std::net::IpAddr;

use crate::outbound::BoxFuture;

/// Answers names: the system's resolver, or a script.
pub trait Resolver: Send + Sync + fmt::Debug {
    /// Finds the addresses of `host`, a name without a trailing dot, which is always complete:
    /// no search list is applied.
    ///
    /// # Errors
    ///
    /// [`ResolveError`]; an answer without addresses is one.
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped look-up leaves nothing behind. Callers give it a deadline.
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>>;
}

/// Why a name has no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// There is no such name.
    NxDomain,
    /// There is the name, but it has no address.
    NoAddress,
    /// The servers do not answer, or not sensibly.
    ServerFailure,
    /// It took too long.
    Timeout,
}

impl ResolveError {
    /// The word for it in a delivery log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NxDomain => "nxdomain",
            Self::NoAddress => "no_address",
            Self::ServerFailure => "server_failure",
            Self::Timeout => "timeout",
        }
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NxDomain => "there is no such name",
            Self::NoAddress => "it has no address",
            Self::ServerFailure => "the servers do not answer",
            Self::Timeout => "it took too long",
        })
    }
}

impl std::error::Error for ResolveError {}
