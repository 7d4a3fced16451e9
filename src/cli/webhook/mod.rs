//! A developer's tools for webhooks: sign a body, doubt a request, send a sample, receive.
//!
//! None of them asks a daemon or opens its data. They judge as the interface wants receivers to
//! judge, so what they say of a request is what a right receiver would answer.

mod args;
pub(super) use args::{ListenArgs, TriggerArgs, WebhookVerb};

mod saved;
mod secret;

mod cause;
mod judge;
mod signed;

mod sign;
pub(super) use sign::run as sign;
mod verify;
pub(super) use verify::run as verify;

mod trigger;
pub(super) use trigger::run as trigger;

mod inbox;
mod ledger;
pub(super) use inbox::{Arrival, Inbox};
mod listen;
pub(super) use listen::run as listen;
