//! The command line: `errand` and its verbs.
//!
//! Verbs that look at or change data ask the running daemon through its control socket; where no
//! daemon holds the file, they open it and ask the same questions. `serve`, `dev` and `try` run a
//! daemon themselves. Every verb ends with one of the codes of `exit`, and what it prints for
//! scripts does not change with what it prints for people.

mod command;
pub use command::main;

mod args;
mod examples;
mod exit;
mod output;

mod client;
mod offline;
mod reach;

mod access;
mod input;
mod reply;

mod account;
mod balance;
mod chat;
mod configure;
mod doctor;
mod key;
mod models;
mod schedule;
mod shown;
mod status;

mod foreground;
mod forward;
mod notify;
mod signals;
mod temporary;

mod dev;
mod dev_file;
mod serve;
mod trial;

mod webhook;
