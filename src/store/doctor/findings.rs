//! What an examination found, in words for the operator.

use std::fmt;

use crate::store::doctor::keys;
use crate::store::tables::Table;

/// What an examination found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The rows of each table, by its name.
    pub tables: Vec<(&'static str, u64)>,
    /// Accounts.
    pub accounts: u64,
    /// Entries of all ledgers.
    pub entries: u64,
    /// What is wrong: the first [`PROBLEMS_MAX`] problems.
    pub problems: Vec<Problem>,
    /// How many problems there are.
    pub problem_count: u64,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The table of the row.
    pub table: &'static str,
    /// The row's key, in words.
    pub row: String,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its key does not have the form of its table.
    Key,
    /// It does not carry its checksum.
    Checksum,
    /// It carries its checksum and is no record of its table.
    Unreadable,
    /// It was written by a newer version.
    Newer {
        /// The version of the record.
        found: u32,
        /// The newest one that is read here.
        known: u32,
    },
    /// It has a value in a table that has none.
    Value,
    /// It belongs to an account that is not there.
    Account,
    /// Another table should have a row for it.
    Missing {
        /// That table.
        table: &'static str,
    },
    /// Another table should have a row that it goes back to.
    Stray {
        /// That table.
        table: &'static str,
    },
    /// It says something that the other rows contradict.
    Differs {
        /// What it says.
        what: &'static str,
        /// What is in the row.
        kept: String,
        /// What the other rows say.
        found: String,
    },
    /// It breaks a rule by itself; the words say which.
    Rule(&'static str),
}

impl Findings {
    /// Whether nothing is wrong.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.problem_count == 0
    }

    /// Notes a problem of the row at `key`.
    pub(in crate::store) fn note(&mut self, table: Table, key: &[u8], fault: Fault) {
        self.problem_count = self.problem_count.saturating_add(1);
        if self.problems.len() < PROBLEMS_MAX {
            let row = keys::describe(table, key);
            self.problems.push(Problem { table: table.name(), row, fault });
        }
    }
}

impl Fault {
    /// A row that another table should have.
    pub(in crate::store) const fn missing(table: Table) -> Self {
        Self::Missing { table: table.name() }
    }

    /// A row that goes back to nothing in another table.
    pub(in crate::store) const fn stray(table: Table) -> Self {
        Self::Stray { table: table.name() }
    }

    /// A number or an amount that the other rows contradict; `None` when they do not.
    pub(in crate::store) fn differs<T: PartialEq + fmt::Display>(
        what: &'static str,
        kept: &T,
        found: &T,
    ) -> Option<Self> {
        let (kept_text, found_text) = (kept.to_string(), found.to_string());
        (kept != found).then_some(Self::Differs { what, kept: kept_text, found: found_text })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.table, self.row, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key => f.write_str("its key has the wrong form"),
            Self::Checksum => f.write_str("its checksum does not fit"),
            Self::Unreadable => f.write_str("its record cannot be read"),
            Self::Newer { found, known } => {
                write!(f, "its record has version {found}, and this program reads up to {known}")
            }
            Self::Value => f.write_str("it has a value, and its table has none"),
            Self::Account => f.write_str("its account does not exist"),
            Self::Missing { table } => write!(f, "it has no row in {table}"),
            Self::Stray { table } => write!(f, "no row of {table} stands behind it"),
            Self::Differs { what, kept, found } => {
                write!(f, "its {what} is {kept}, and should be {found}")
            }
            Self::Rule(rule) => f.write_str(rule),
        }
    }
}

/// Problems that are told one by one; a file with more of them is not repaired by reading.
pub const PROBLEMS_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_counted_further_than_they_are_told() {
        let mut findings = Findings::default();
        assert!(findings.is_clean());
        for _ in 0..PROBLEMS_MAX + 5 {
            findings.note(Table::Meta, b"identity", Fault::Checksum);
        }
        assert!(!findings.is_clean());
        assert_eq!(findings.problems.len(), PROBLEMS_MAX);
        assert_eq!(findings.problem_count, PROBLEMS_MAX as u64 + 5);
        assert_eq!(findings.problems[0].to_string(), "meta-1 identity: its checksum does not fit");
    }
}
