//! Who answers chats: the operator's upstreams, and models that need no network.
//!
//! [`Registry`] knows the models. [`chat`] asks one: it tries the model's upstreams in order
//! until one has begun to answer, and gives back an [`Answer`], out of which come pieces of text
//! and at last the end. What upstreams say is never passed on as it is: every dialect becomes
//! the same pieces, every failure one of a few faults, and an answer that broke off is never
//! taken for a whole one.
//!
//! Nothing here knows accounts, prices in use, or clients: holding and charging is done around it.

mod model;
pub use model::{Model, Source, Times, Upstream};
mod registry;
pub use registry::{DuplicateModel, Registry, UpstreamTexts};

mod chat;
pub use chat::{Ask, chat};
mod answer;
pub use answer::{Answer, End, Piece};
mod fault;
pub use fault::Fault;

mod breaker;
mod dialect;
mod reading;
mod refused;
mod sse;
pub use sse::{Event, EventReader, TooLong};
mod transcript;

mod offline;
pub use offline::{Label, Offline, OfflineKind, offline_models};

mod discover;
pub use discover::discover;
