//! The agent `competitor_scan`: what competitors offer, side by side, and what changed since.
//!
//! Pages are read into facts; facts of two times are compared by rules. Noise is left out on
//! purpose and named: the agent would rather be silent than cry wolf, and says what it ignored.

pub mod amount;
pub mod calendar;
pub mod lexicon;
pub mod mask;
pub mod price;
pub mod texts;
pub mod token;

/// The version of the rules; facts of another version are not compared.
pub const RULES_VERSION: u32 = 1;
