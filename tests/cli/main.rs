//! The real binary: what it prints, how it ends, and what it leaves behind.
//!
//! These are the only tests that open ports and start processes. Each waits for lines on a pipe
//! with a deadline, never for time to pass, and kills what it started when it ends.

#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it did not expect"
)]

mod support;

mod admin;
mod config;
mod dev;
mod help;
mod keys;
mod models;
mod schedule;
mod serve;
mod trial;
mod webhook;
