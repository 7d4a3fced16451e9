//! A chat: what is asked of a model, what it may cost at most, what it did cost, and how the
//! answer looks.
//!
//! The way of one request: [`Request::parse`] reads it, [`Sizes::bound`] says how many tokens it
//! can use at most, [`Price::hold`] how much that is, [`upstream_body`] what is sent on, and
//! [`Price::bill`] what is charged. [`Answering`] makes the objects that clients read. All of it
//! is integers and texts: no clock, no network, no tokenizer.
//!
//! Source: service interface, "Text models"; the contract, sections 4 and 5.

mod refusal;
pub use refusal::{Problem, Refusal};

mod fields;

mod request;
pub use request::{Capabilities, Reply, Request, Settings, UnknownParameters, UsagePlace};
mod parameters;

mod message;
pub use message::{MESSAGES_MAX, Message, Role};

mod model_id;
pub use model_id::ModelId;

mod tokens;
pub use tokens::{Bound, Count, CountSource, Sizes, Usage};

mod price;
pub use price::{Bill, Price};

mod body;
pub use body::{UpstreamStream, upstream_body};

mod answer;
pub use answer::{Answering, Chunk, Completion, FinishReason, Paid};

/// The line that ends a stream whose answer is complete.
pub const DONE_EVENT: &str = "data: [DONE]\n\n";
/// A line that keeps a silent stream open; clients skip it.
pub const HEARTBEAT_EVENT: &str = ": keep-alive\n\n";
