//! robots.txt: what a site allows which crawler, and what is wrong with its file.
//!
//! The matcher follows RFC 9309; the list of faults follows the same lines. Both read the same
//! [`records`], so that a rule and a complaint about it carry the same line number. Time is
//! linear in the file and in the address, whatever the patterns are.

pub mod records;

pub mod pattern;
pub mod rules;

pub mod answer;
pub mod delay;
pub mod faults;

pub use answer::{Access, AnswerKind, RobotsAnswer};
pub use delay::crawl_delay;
pub use faults::{Fault, faults};
pub use rules::{Decision, Robots};
