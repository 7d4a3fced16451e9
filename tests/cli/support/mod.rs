//! How a test runs the binary: once to its end, or as a daemon that is asked.

mod daemon;
mod http;
mod once;

pub use daemon::Daemon;
pub use http::{Reply, get, post};
pub use once::{Errand, finish};
