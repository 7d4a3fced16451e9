//! What the caller can do about it.

use std::fmt;

use crate::domain::chat::Refusal;
use crate::domain::cron::CronError;
use crate::domain::limits::NAME_CHARS_MAX;
use crate::domain::money::{Amount, Currency};
use crate::domain::receiver::UrlReason;
use crate::domain::time::Timestamp;
use crate::models::Fault;
use crate::store;

/// Why an operation was not done; nothing was changed.
#[derive(Clone, Debug)]
pub enum Error {
    /// There is no such thing, or it is somebody else's.
    NotFound,
    /// There is no agent of that kind, or it has no price in the account's currency.
    UnknownKind,
    /// The key is not meant for that kind of agent.
    KindNotAllowed,
    /// A field of the input is wrong.
    Input {
        /// The field, as a path such as `input.url`.
        param: String,
        /// What is wrong with it.
        problem: InputProblem,
    },
    /// There is not enough money that is not held already.
    Balance {
        /// What is needed.
        required: Amount,
        /// What is there.
        available: Amount,
        /// What both are counted in.
        currency: Currency,
    },
    /// The budget of the key does not allow it.
    KeyBudget {
        /// What is needed.
        required: Amount,
        /// What is left of the budget.
        available: Amount,
        /// What both are counted in.
        currency: Currency,
        /// When the budget begins anew; never when `None`.
        resets_at: Option<Timestamp>,
    },
    /// The key is not meant for that model.
    ModelNotAllowed,
    /// An answer of a model is there and could not be charged; it costs nothing and is not given.
    Uncharged,
    /// The daemon stops.
    Stopping,
    /// There is no such model, or it has no price in the account's currency.
    UnknownModel,
    /// A chat asks for something that is not taken.
    Chat(Refusal),
    /// There is not enough money for the most that a chat can cost.
    ChatBalance {
        /// What is needed.
        required: Amount,
        /// What is there.
        available: Amount,
        /// What both are counted in.
        currency: Currency,
        /// The most tokens of an answer that can be paid, if any.
        affordable: Option<u64>,
    },
    /// Too many chats of the key are under way.
    TooManyChats {
        /// How many may be.
        limit: u32,
    },
    /// The model does not answer.
    Model(Fault),
    /// Too many runs of the account wait.
    QueueFull {
        /// How many may.
        limit: u32,
    },
    /// The run is over and cannot be cancelled.
    RunOver,
    /// The agent may not be used in a schedule.
    NotSchedulable,
    /// The cron expression cannot be used.
    Cron(CronError),
    /// The account has too many schedules.
    TooManySchedules {
        /// How many it may have.
        limit: u32,
    },
    /// The URL of a receiver breaks a rule; the first one.
    ReceiverUrl(UrlReason),
    /// The account has too many receivers.
    TooManyReceivers {
        /// How many it may have.
        limit: u32,
    },
    /// The receiver is disabled, and nothing is sent to it.
    ReceiverDisabled,
    /// Too many deliveries of the receiver are not over.
    BacklogFull {
        /// How many may be.
        limit: u64,
    },
    /// The event was sent again to the receiver too often.
    TooManyRepeats {
        /// How often it may be.
        limit: usize,
    },
    /// The account has too many live keys.
    TooManyKeys {
        /// How many it may have.
        limit: usize,
    },
    /// The balance cannot be changed so.
    Amount(&'static str),
    /// The disk is full.
    StorageFull,
    /// Too much waits for the disk.
    Overloaded,
    /// A fault of ours or of the disk; the log says which.
    Internal(store::Error),
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputProblem {
    /// It is not there.
    Missing,
    /// It is of another type than the one named.
    Type(&'static str),
    /// Its value cannot be used; says why.
    Value(String),
    /// Nobody knows it.
    Unknown,
}

impl Error {
    /// Whether the same may work in a moment: the disk was at fault, and nothing that was asked.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::StorageFull | Self::Overloaded => true,
            Self::Internal(error) => error.is_disk(),
            Self::NotFound
            | Self::UnknownKind
            | Self::KindNotAllowed
            | Self::Input { .. }
            | Self::Balance { .. }
            | Self::KeyBudget { .. }
            | Self::ModelNotAllowed
            | Self::Uncharged
            | Self::Stopping
            | Self::UnknownModel
            | Self::Chat(_)
            | Self::ChatBalance { .. }
            | Self::TooManyChats { .. }
            | Self::Model(_)
            | Self::QueueFull { .. }
            | Self::RunOver
            | Self::NotSchedulable
            | Self::Cron(_)
            | Self::TooManySchedules { .. }
            | Self::ReceiverUrl(_)
            | Self::TooManyReceivers { .. }
            | Self::ReceiverDisabled
            | Self::BacklogFull { .. }
            | Self::TooManyRepeats { .. }
            | Self::TooManyKeys { .. }
            | Self::Amount(_) => false,
        }
    }

    /// A wrong value of a field.
    pub(in crate::app) fn value(param: &str, problem: &str) -> Self {
        let problem = InputProblem::Value(problem.to_owned());
        Self::Input { param: param.to_owned(), problem }
    }
}

/// Reads the name of an account or a key.
///
/// # Errors
///
/// [`Error::Input`] when it is empty, too long, or has control characters in it.
pub(in crate::app) fn checked_name(name: &str) -> Result<String, Error> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
        return Err(Error::value("name", "must have 1 to 100 characters"));
    }
    if name.chars().any(char::is_control) {
        return Err(Error::value("name", "must not have control characters"));
    }
    Ok(name.to_owned())
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Full => Self::StorageFull,
            store::Error::Busy => Self::Overloaded,
            store::Error::Disk(_)
            | store::Error::Damaged { .. }
            | store::Error::Unreadable { .. }
            | store::Error::Newer { .. }
            | store::Error::Locked { .. }
            | store::Error::Directory { .. }
            | store::Error::MasterKey
            | store::Error::Bug(_) => Self::Internal(error),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("there is nothing of that id"),
            Self::UnknownKind => f.write_str("there is no agent of that kind"),
            Self::KindNotAllowed => f.write_str("the key is not meant for that kind of agent"),
            Self::Input { param, problem } => write!(f, "{param}: {problem}"),
            Self::Balance { required, available, currency } => {
                write!(
                    f,
                    "the balance is too low: {required} {currency} needed, {available} available"
                )
            }
            Self::KeyBudget { required, available, currency, .. } => write!(
                f,
                "the key's budget is too low: {required} {currency} needed, {available} left"
            ),
            Self::ModelNotAllowed => f.write_str("the key is not meant for that model"),
            Self::Uncharged => f.write_str("the answer could not be charged"),
            Self::Stopping => f.write_str("the daemon stops"),
            Self::UnknownModel => f.write_str("there is no model of that name"),
            Self::Chat(refusal) => write!(f, "{refusal}"),
            Self::ChatBalance { required, available, currency, .. } => write!(
                f,
                "the balance is too low: {required} {currency} needed, {available} available"
            ),
            Self::TooManyChats { limit } => write!(f, "{limit} chats are under way already"),
            Self::Model(fault) => write!(f, "{fault}"),
            Self::QueueFull { limit } => write!(f, "{limit} runs wait or run already"),
            Self::RunOver => f.write_str("the run is over"),
            Self::NotSchedulable => f.write_str("the agent cannot be scheduled"),
            Self::Cron(error) => write!(f, "the cron expression cannot be used: {error}"),
            Self::TooManySchedules { limit } => {
                write!(f, "the account has {limit} schedules already")
            }
            Self::ReceiverUrl(reason) => write!(f, "the URL cannot be a receiver: {reason}"),
            Self::TooManyReceivers { limit } => {
                write!(f, "the account has {limit} receivers already")
            }
            Self::ReceiverDisabled => f.write_str("the receiver is disabled"),
            Self::BacklogFull { limit } => {
                write!(f, "{limit} deliveries of the receiver are not over")
            }
            Self::TooManyRepeats { limit } => {
                write!(f, "the event was sent to the receiver {limit} times already")
            }
            Self::TooManyKeys { limit } => write!(f, "the account has {limit} live keys already"),
            Self::Amount(what) => f.write_str(what),
            Self::StorageFull => f.write_str("the disk is full"),
            Self::Overloaded => f.write_str("too much waits for the disk"),
            Self::Internal(_) => f.write_str("something went wrong inside"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Internal(error) => Some(error),
            Self::NotFound
            | Self::UnknownKind
            | Self::KindNotAllowed
            | Self::Input { .. }
            | Self::Balance { .. }
            | Self::KeyBudget { .. }
            | Self::ModelNotAllowed
            | Self::Uncharged
            | Self::Stopping
            | Self::UnknownModel
            | Self::Chat(_)
            | Self::ChatBalance { .. }
            | Self::TooManyChats { .. }
            | Self::Model(_)
            | Self::QueueFull { .. }
            | Self::RunOver
            | Self::NotSchedulable
            | Self::Cron(_)
            | Self::TooManySchedules { .. }
            | Self::ReceiverUrl(_)
            | Self::TooManyReceivers { .. }
            | Self::ReceiverDisabled
            | Self::BacklogFull { .. }
            | Self::TooManyRepeats { .. }
            | Self::TooManyKeys { .. }
            | Self::Amount(_)
            | Self::StorageFull
            | Self::Overloaded => None,
        }
    }
}

impl fmt::Display for InputProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is required"),
            Self::Type(expected) => write!(f, "must be {expected}"),
            Self::Value(problem) => f.write_str(problem),
            Self::Unknown => f.write_str("is not known"),
        }
    }
}
