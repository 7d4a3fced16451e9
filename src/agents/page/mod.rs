//! One page of somebody else's: fetched, decoded, parsed and described, all within limits.
//!
//! Everything that comes from a page is data. Sizes, depth, counts and time are bounded before
//! the page can make them grow, and nothing here recurses over what a page nests.

pub mod fetch;
pub mod reply;
pub mod trail;

pub mod robots;

pub mod charset;
pub mod media;
pub mod xml;

pub mod elements;
pub mod gate;
pub mod parse;
pub mod prescan;
pub mod sink;
pub mod tree;
pub mod walk;

pub mod document;
pub mod facts;
pub mod gather;
pub mod style;

pub mod lines;
pub mod text;
