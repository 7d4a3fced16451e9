//! x
pub mod parsers;
pub mod page;
