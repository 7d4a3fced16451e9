//! The room `agents`: what can be run.
//!
//! An agent reads other people's pages and writes a report. It gets everything it may use from a
//! [`Bench`], keeps nothing between runs, and never stores, charges or notifies: the floors above
//! do. A new kind is a type that implements [`Agent`] and a line in the [`Catalogue`].

pub mod agent;
pub mod bench;
pub mod input;
pub mod narrative;
pub mod parsers;
pub mod step_log;

pub mod catalogue;

pub mod page;
pub mod scan;
pub mod seo;

pub mod languages;
pub mod lists;

pub use agent::{Agent, Entry, Progress, Step, Task};
pub use bench::Bench;
pub use catalogue::Catalogue;
pub use input::{InputError, Problem};
pub use parsers::{Parsers, Patience};
pub use scan::CompetitorScan;
pub use seo::SeoAudit;
pub use step_log::{StepLog, TimedStep};
