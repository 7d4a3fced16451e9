//! What is wrong with the settings, and where it stands.

use std::fmt;
use std::path::PathBuf;

/// Settings that cannot be used; nothing was started with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Everything that is wrong; at least one fault.
    pub faults: Vec<Fault>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands.
    pub place: Place,
    /// What it is, with what to do.
    pub what: String,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A flag of the command line, such as `--listen`.
    Flag(&'static str),
    /// A variable of the environment.
    Variable(String),
    /// A line of the settings file, counted from one.
    Line(PathBuf, usize),
    /// A file as a whole.
    File(PathBuf),
}

impl Fault {
    pub(super) fn new(place: Place, what: impl Into<String>) -> Self {
        Self { place, what: what.into() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => f.write_str(name),
            Self::Variable(name) => f.write_str(name),
            Self::Line(path, line) => write!(f, "{}:{line}", path.display()),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, fault) in self.faults.iter().enumerate() {
            let lead = if nth == 0 { "" } else { "\n" };
            write!(f, "{lead}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}
