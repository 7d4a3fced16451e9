//! Models over a network in memory and in paused time: every dialect becomes the same pieces,
//! every failure one of a few faults, and nothing waits for ever.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod connections;
mod dialects;
mod faults;
mod order;
mod support;
mod tls;
