//! A whole daemon in one process: real rooms, fakes at the four doors only.

mod client;
mod disk;
mod golden;
mod house;
pub mod http;
mod lives;
mod script;

pub use client::{Client, Door};
pub use disk::{Loss, TestDisk, Trouble};
pub use golden::{golden, shown};
pub use house::{EPOCH, House, KIND, PRICE, RUNS, path_of};
pub use http::Reply;
pub use lives::Lives;
pub use script::Script;
