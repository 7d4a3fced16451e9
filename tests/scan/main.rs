//! The competitor scan: pairs of pages with their verdicts, whole scans of sites in memory, and
//! pages that mean no good.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
#![expect(clippy::indexing_slicing, reason = "a test stops at what it did not expect")]
#![expect(clippy::panic, reason = "a test stops at what it did not expect")]

mod pairs;
mod street;

mod example;
mod hostile;
mod judged;
mod lasting;
mod manners;
mod noise;
mod own;
mod runs;
