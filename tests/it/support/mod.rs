//! A whole daemon in one process: real rooms, fakes at the four doors only.

mod client;
mod damage;
mod disk;
mod golden;
mod house;
pub mod http;
mod keys;
mod lives;
pub mod receiver;
mod script;
pub mod upstream;

pub use client::{Client, Connection};
pub use damage::damage;
pub use disk::{Loss, Trouble};
pub use golden::{golden, shown};
pub use house::{House, KIND, RUNS, path_of};
pub use http::Reply;
pub use lives::Lives;
pub use receiver::{Act, Receiver};
pub use script::Script;
pub use upstream::{Plan, Upstream};
