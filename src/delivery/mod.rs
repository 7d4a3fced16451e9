//! Handing results over: one event to one receiver, once.
//!
//! Nothing here decides whether or when to try again, and nothing is kept: what came of an
//! attempt is given back.

mod fault;
mod webhook;

pub use webhook::{Post, Rest, Sender, Sent, StandardHeaders, Verdict, Vetted};
