//! x
pub mod text;
pub mod robots;
pub mod media;
pub mod charset;
pub mod xml;
pub mod lines;
pub mod prescan;
pub mod elements;
pub mod tree;
pub mod sink;
pub mod gate;
pub mod parse;
pub mod style;
pub mod facts;
pub mod gather;
pub mod document;
