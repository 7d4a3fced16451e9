//! The agent `competitor_scan`: what competitors offer, side by side, and what changed since.
//!
//! Pages are read into facts; facts of two times are compared by rules. Noise is left out on
//! purpose and named: the agent would rather be silent than cry wolf, and says what it ignored.

pub mod alike;
pub mod amount;
pub mod baseline;
pub mod boxes;
pub mod calendar;
pub mod cards;
pub mod change;
pub mod claims;
pub mod clues;
pub mod compare;
pub mod compare_texts;
pub mod comparison;
pub mod competitor_scan;
pub mod extract;
pub mod facts;
pub mod feed;
pub mod flow;
pub mod hosts;
pub mod json_ld;
pub mod judge;
pub mod lexicon;
pub mod links;
pub mod looks;
pub mod mask;
pub mod memory;
pub mod offers;
pub mod order;
pub mod outline;
pub mod price;
pub mod reading;
pub mod reduce;
pub mod releases;
pub mod report;
pub mod result;
pub mod roles;
pub mod settle;
pub mod summary;
pub mod tables;
pub mod tech;
pub mod terms;
pub mod texts;
pub mod token;
pub mod usable;
pub mod visit;
pub mod weigh;
pub mod words;

pub use competitor_scan::CompetitorScan;

/// The version of the rules; facts of another version are not compared.
pub const RULES_VERSION: u32 = 2;
