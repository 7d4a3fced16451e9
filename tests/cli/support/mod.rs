//! How a test runs the binary: once to its end, or as a daemon that is asked.

mod api;
mod daemon;
mod http;
mod once;
mod page;

pub use api::{Api, events, json};
pub use daemon::Daemon;
pub use http::get;
pub use once::{DEADLINE, Errand, finish};
pub use page::Page;
