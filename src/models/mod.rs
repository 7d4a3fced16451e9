//! Who answers chats: the operator's upstreams, and models that need no network.
//!
//! [`Registry`] knows the models. [`chat()`] asks one: it tries the model's upstreams in order
//! until one has begun to answer, and gives back an [`Answer`], out of which come pieces of text
//! and at last the end. What upstreams say is never passed on as it is: every dialect becomes
//! the same pieces, every failure one of a few faults, and an answer that broke off is never
//! taken for a whole one.
//!
//! Nothing here knows accounts or clients: holding and charging is done around it, like this.
//!
//! ```
//! # use std::sync::Arc;
//! # use errand::domain::chat::{Answering, Count, Paid, Price, Request, UnknownParameters};
//! # use errand::domain::money::{Amount, Currency};
//! # use errand::domain::time::Timestamp;
//! # use errand::models::{Ask, Label, Piece, Registry, UpstreamTexts, chat, offline_models};
//! # use errand::outbound::{SystemResolver, TcpDialer, Trust, Upstreams};
//! # use errand::sys::clock::Clock;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let clock = Clock::host();
//! # let trust = Trust::new(clock.clone(), b"").unwrap();
//! # let resolver = Arc::new(SystemResolver::new(clock.clone()));
//! # let upstreams = Upstreams::new(clock.clone(), resolver, Arc::new(TcpDialer), trust);
//! # let price = Price::new(Amount::ZERO, Amount::parse("2").unwrap(), Amount::ZERO).unwrap();
//! # let models = offline_models(Label::Shown, price);
//! # let registry = Registry::new(clock, upstreams, UpstreamTexts::Hide, models).unwrap();
//! let body = r#"{"model": "offline/echo", "messages": [{"role": "user", "content": "Hi!"}]}"#;
//! let object = serde_json::from_str(body).unwrap();
//! let request = Request::parse(object, UnknownParameters::Ignore).unwrap();
//! let model = registry.find(&request.model).unwrap();
//! request.check(model.capabilities).unwrap();
//!
//! let bound = model.sizes.bound(&request);
//! let hold = model.price.hold(&bound).unwrap(); // Reserve this, or refuse.
//!
//! let ask = Ask { model, request: &request, bound, client_timeout: None };
//! let mut answer = chat(&registry, &ask).await.unwrap();
//! let mut text = String::new();
//! let end = loop {
//!     match answer.next().await.unwrap() {
//!         Some(Piece::Text(more)) => text.push_str(&more),
//!         Some(Piece::End(end)) => break end,
//!         None => unreachable!("an answer has an end or a fault"),
//!     }
//! };
//! let delivered = u64::try_from(text.len()).unwrap();
//! let count = end.count.unwrap_or_else(|| Count::estimate(&request, delivered));
//! let bill = model.price.bill(&bound, &count);
//! assert!(bill.charge <= hold); // Charge it, before the last bytes go out.
//!
//! let answering = Answering::new(&request, "0001", Timestamp::EPOCH);
//! let (usage, source) = (bill.usage, bill.source);
//! let paid = Paid { usage, source, cost: bill.charge, currency: Currency::EUR };
//! let json = answering.whole(text, end.finish, &paid).to_json();
//! # let json = String::from_utf8(json).unwrap();
//! assert!(json.contains("[offline model] Hi!") && json.contains(r#""cost":"0.000012""#));
//! # }
//! ```

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
