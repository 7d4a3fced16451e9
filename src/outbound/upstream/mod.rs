//! Requests to the servers that an operator names: kept connections and answers read as they come.
//!
//! Unlike a page or a receiver, an upstream is chosen by the operator, never by a caller. It may
//! stand in a private network, and connections to it are kept and used again. All else is as
//! strict: nothing is redirected or sent through a proxy, certificates are checked, every wait
//! has a deadline and every head and body a limit.
//!
//! No task drives a connection: whoever waits for an answer does, so nobody reads ahead, and
//! dropping an answer closes its connection at once.

mod ask;
pub use ask::{Bearer, UpstreamAsk, UpstreamLimits, UpstreamUrl};

mod client;
pub use client::Upstreams;

mod answer;
pub use answer::UpstreamAnswer;

mod pool;
mod wired;
