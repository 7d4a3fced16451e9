//! How a command ends: its exit code, and what it says when it could not do its work.

use std::fmt;
use std::process::ExitCode;

use crate::app;
use crate::config::Refused;
use crate::daemon::StartError;
use crate::inbound::{BindError, TlsError};
use crate::store;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// It did its work.
    Done,
    /// It did not, for a reason of its own.
    Failed,
    /// It was called wrongly.
    Usage,
    /// There is no daemon to ask.
    NotRunning,
    /// The user may not do this.
    Denied,
    /// What was named does not exist.
    NotFound,
    /// Something is in use or in the way.
    Conflict,
    /// The settings cannot be used.
    BadConfig,
    /// The data is of a newer version.
    Newer,
}

/// A command could not do its work.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// How the command ends.
    pub(super) exit: Exit,
    /// What is wrong. Nothing is said when it is empty.
    pub(super) what: String,
    /// What to do now.
    pub(super) next: Option<String>,
}

impl Exit {
    /// The number for the shell.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotRunning => 3,
            Self::Denied => 4,
            Self::NotFound => 5,
            Self::Conflict => 6,
            Self::BadConfig => 7,
            Self::Newer => 8,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

impl Failure {
    /// A failure that leaves open what to do.
    pub(super) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: what.into(), next: None }
    }

    /// The same failure with what to do now.
    pub(super) fn then(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// The failure that an HTTP status stands for.
    pub(super) fn of_status(status: u16, message: &str) -> Self {
        let exit = match status {
            400 | 405 | 413..=415 | 431 => Exit::Usage,
            401 | 403 => Exit::Denied,
            404 => Exit::NotFound,
            409 | 429 => Exit::Conflict,
            _ => Exit::Failed,
        };
        Self::new(exit, message)
    }
}

/// Writes the failure for people, after the word `error`.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.next {
            Some(next) => write!(f, "\n  {}", next.replace('\n', "\n  ")),
            None => Ok(()),
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let what = match refused.faults.as_slice() {
            [only] => format!("a setting cannot be used\n  {only}"),
            all => {
                let lines: Vec<String> = all.iter().map(|it| format!("\n  {it}")).collect();
                format!("{} settings cannot be used{}", all.len(), lines.concat())
            }
        };
        Self::new(Exit::BadConfig, what)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        let exit = match error {
            store::Error::Locked { .. } => Exit::Conflict,
            store::Error::Newer { .. } => Exit::Newer,
            store::Error::Busy
            | store::Error::Full
            | store::Error::Disk(_)
            | store::Error::Damaged { .. }
            | store::Error::Unreadable { .. }
            | store::Error::Directory { .. }
            | store::Error::MasterKey
            | store::Error::Bug(_) => Exit::Failed,
        };
        Self::new(exit, with_sources(&error))
    }
}

impl From<app::Error> for Failure {
    fn from(error: app::Error) -> Self {
        match error {
            app::Error::Internal(inner) => inner.into(),
            app::Error::NotFound | app::Error::UnknownKind | app::Error::UnknownModel => {
                Self::new(Exit::NotFound, error.to_string())
            }
            app::Error::KindNotAllowed => Self::new(Exit::Denied, error.to_string()),
            app::Error::Input { .. }
            | app::Error::NotSchedulable
            | app::Error::Cron(_)
            | app::Error::Chat(_)
            | app::Error::ReceiverUrl(_) => Self::new(Exit::Usage, error.to_string()),
            app::Error::QueueFull { .. }
            | app::Error::RunOver
            | app::Error::TooManySchedules { .. }
            | app::Error::TooManyReceivers { .. }
            | app::Error::ReceiverDisabled
            | app::Error::BacklogFull { .. }
            | app::Error::TooManyRepeats { .. }
            | app::Error::TooManyKeys { .. }
            | app::Error::Balance { .. }
            | app::Error::ChatBalance { .. }
            | app::Error::KeyBudget { .. }
            | app::Error::ModelNotAllowed
            | app::Error::Uncharged
            | app::Error::Stopping
            | app::Error::TooManyChats { .. }
            | app::Error::Model(_)
            | app::Error::Amount(_)
            | app::Error::StorageFull
            | app::Error::Overloaded => Self::new(Exit::Failed, error.to_string()),
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Store(inner) => inner.into(),
            StartError::App(inner) => inner.into(),
            StartError::Roots(..) | StartError::BadRoots(..) | StartError::MasterKey(_) => {
                Self::new(Exit::BadConfig, with_sources(&error))
            }
            StartError::Model(_) => Self::new(Exit::BadConfig, with_sources(&error)),
            StartError::Kind(_) | StartError::Pulse(_) => {
                Self::new(Exit::Failed, with_sources(&error))
            }
        }
    }
}

impl From<BindError> for Failure {
    fn from(error: BindError) -> Self {
        use std::io::ErrorKind::{AddrInUse, PermissionDenied};
        let exit = match &error {
            BindError::System { cause, .. } if cause.kind() == AddrInUse => Exit::Conflict,
            BindError::System { cause, .. } if cause.kind() == PermissionDenied => Exit::Denied,
            BindError::Taken(_) => Exit::Conflict,
            BindError::System { .. } | BindError::NotASocket(_) => Exit::Failed,
        };
        Self::new(exit, format!("could not {}", with_sources(&error)))
    }
}

impl From<TlsError> for Failure {
    fn from(error: TlsError) -> Self {
        Self::new(Exit::BadConfig, format!("could not {}", with_sources(&error)))
    }
}

/// An error and what it comes from, in one line.
pub(super) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        next = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_number_of_its_own() {
        let all = [
            Exit::Done,
            Exit::Failed,
            Exit::Usage,
            Exit::NotRunning,
            Exit::Denied,
            Exit::NotFound,
            Exit::Conflict,
            Exit::BadConfig,
            Exit::Newer,
        ];
        let numbers: Vec<u8> = all.map(Exit::number).to_vec();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_locked_file_and_a_newer_one_have_their_own_codes() {
        let locked = store::Error::Locked { path: "/data".into(), pid: Some(7) };
        let failure = Failure::from(locked);
        assert_eq!(failure.exit, Exit::Conflict);
        assert!(failure.what.contains("process 7"), "{failure}");
        assert_eq!(Failure::from(store::Error::Newer { found: 2, known: 1 }).exit, Exit::Newer);
        let inside = app::Error::Internal(store::Error::Newer { found: 2, known: 1 });
        assert_eq!(Failure::from(inside).exit, Exit::Newer);
    }

    #[test]
    fn a_failure_reads_as_what_is_wrong_and_what_to_do() {
        let failure = Failure::new(Exit::Failed, "it broke").then("mend it\nthen try again");
        assert_eq!(failure.to_string(), "it broke\n  mend it\n  then try again");
    }
}
