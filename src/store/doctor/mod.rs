//! The doctor: looks at every row of the file and says what does not fit together.
//!
//! It promises that a file without a problem keeps every rule that `tables` names: each record
//! carries its checksum and can be read, each index agrees with its rows both ways, each run that
//! is not over stands in the queue or has a claim, each delivery that is not over stands in the
//! outbox, each schedule that is not stopped has its next slot, and all money adds up. It reads one moment of
//! the file, row by row, and needs the same memory for a small file and for a large one. It
//! changes nothing.
//!
//! [`check_pages`] is the look below the rows, at the pages of redb; [`examine()`] the look at the
//! rows; [`verify_ledger`] the part of it that is about money.

mod charges;
mod deliveries;
mod examine;
mod findings;
mod indexes;
mod keys;
mod look;
mod money;
mod rows;
mod runs;
mod schedules;
mod spends;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod timed;
#[cfg(test)]
mod told;

pub use examine::{LedgerSums, check_pages, examine, verify_ledger};
pub use findings::{Fault, Findings, PROBLEMS_MAX, Problem};
