//! Words and rules: what a run, an account or an amount is, and what may happen to it.
//!
//! Everything here is a plain value or a pure function. Nothing reads the clock, draws a random
//! number, waits, or knows a disk or a network; callers pass `now` and random bytes in. A rule of
//! the service lives here and is tested here, in microseconds.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

pub mod limits;

pub mod id;
pub mod time;

pub mod cron;

pub mod money;

pub mod checksum;
pub mod secret;

pub mod address;
pub mod host;
pub mod url_text;

pub mod receiver;
pub mod target;

pub mod account;
pub mod budget;
pub mod decided;
pub mod ledger;
pub mod outcome;
pub mod restrictions;
pub mod run;
pub mod schedule;
mod schedule_words;
pub mod slot;
mod slots;
pub mod spend;

pub mod delivery;
pub mod due;
pub mod event;
pub mod fault;
pub mod health;
pub mod retry;
pub mod signature;

pub mod chat;
