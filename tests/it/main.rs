//! Whole daemons in simulated time, asked through their own HTTP.
#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it did not expect"
)]

mod support;

mod admin;
mod api;
mod chat;
mod health;
mod loops;
mod money;
mod schedules;
mod sim;
mod webhooks;
