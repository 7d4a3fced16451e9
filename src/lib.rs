//! Errand: a self-hosted daemon for paid background work.
//!
//! The rooms below stand on floors; a room uses rooms on lower floors only. `ARCHITECTURE.md` has
//! the walks through them, and the test `tidy` keeps them so.

pub mod domain;

pub mod sys;

pub mod inbound;
pub mod outbound;
pub mod store;

pub mod delivery;
pub mod models;

pub mod agents;

pub mod app;

pub mod api;
pub mod background;

pub mod config;
pub mod daemon;

pub mod cli;
