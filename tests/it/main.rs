//! Whole daemons in simulated time, asked through their own HTTP.
#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod support;

mod admin;
mod api;
mod health;
mod loops;
mod money;
mod sim;
