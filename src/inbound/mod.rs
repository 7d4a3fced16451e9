//! Requests coming in, before they mean anything: listeners, connections, HTTP/1.1, TLS.
//!
//! This room turns bytes into a [`Request`] and a [`Response`] into bytes, and knows no route, no
//! key and no resource. What it promises, whoever the peer is:
//!
//! - Every wait on a peer has a deadline: silence, a head or a body that drips, an answer that is
//!   not read. So has the service, which [`Head::extend`] may lengthen.
//! - A request that two programs could read differently is refused: two lengths, two hosts, a
//!   target with a host in it. So is a compressed body.
//! - Connections, heads, bodies and queues are bounded by [`Config`]; what is above is refused.
//! - A panic in a service is a 500 for one request and nothing else.
//!
//! Every answer carries `x-request-id` and `date`, and every refusal the one JSON error body, also
//! those that hyper makes by itself: 400 for a head that is not HTTP, 431 for one that is too
//! large. hyper writes them with an empty body; the wire puts the full answer in their place. Three
//! cases stay without an answer, and the connection is closed: a head that does not come in time,
//! the preface of HTTP/2, and the 400 of a malformed request pipelined behind an answer that its
//! peer has not taken yet, which stays empty.

mod config;
mod edge;

mod body;
mod request;
mod target;

mod refusal;
mod response;

mod service;

mod connection;
mod exchange;
mod framing;
mod watch;
mod wire;

mod listener;
mod places;
mod proxies;
mod tls;

pub use body::{Body, BodyError};
pub use config::Config;
pub use connection::serve_connection;
pub use edge::Edge;
pub use listener::{BindError, Listener};
pub use refusal::{Refusal, error_body};
pub use request::{Head, Method, Peer, Request, RequestId};
pub use response::{Gone, Response, Sender};
pub use service::{BoxFuture, Service};
pub use target::BadQuery;
pub use tls::{Acceptor, TlsError, TlsFiles};
