//! A whole daemon in one process: real rooms, fakes at the four doors only.

mod house;
mod http;
mod script;

pub use house::{EPOCH, House, KIND, PRICE};
pub use http::Reply;
pub use script::Script;
