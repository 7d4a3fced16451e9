//! x
pub mod parsers;
pub mod bench;
pub mod page;
