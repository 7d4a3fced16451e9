//! The public API, `/v1`, for machines; and the private one, for the operator's own commands.
//!
//! A request finds its route, passes the gate, and only then may its body be read. A handler is
//! four steps: read strictly, call one operation, render, answer.

mod app_row;
mod error;
mod router;
mod row;

mod gate;
mod json;
mod paging;
mod view;

mod account;
mod agents;
mod chat;
mod chat_fault;
mod key_view;
mod models;
mod runs;
mod schedule_view;
mod schedules;
mod webhook_view;
mod webhooks;

pub mod admin;
mod admin_keys;
mod admin_ledger;
mod admin_schedules;
mod admin_view;
pub mod health;

pub use router::Api;
