//! Requests going out. Nothing else may open a connection.
//!
//! One exchange is: resolve the name, let the guard judge every answer, dial an address that
//! passed, speak TLS, send one request, read one answer, close. Every step has a deadline and
//! every answer a size; nothing is redirected, pooled, cached or sent through a proxy, whatever
//! the environment says. Only [`Guard`] makes a [`PublicAddr`], and a [`Dialer`] takes nothing
//! else, so a request to the host's own network does not compile. [`Upstreams`] is for servers
//! that the operator names: it may reach private addresses and keeps its connections.
//!
//! Time comes from [`Clock`](crate::sys::clock::Clock). Tests give names fake public addresses
//! and connect those to servers in memory: see the module `fake`.

mod guard;
pub use guard::{Forbidden, Guard, GuardConfig, Ports, PublicAddr};

mod resolver;
pub use resolver::{ResolveError, Resolver};
mod system;
pub use system::SystemResolver;

mod dialer;
pub use dialer::{ByteStream, Dialer, TcpDialer};

mod certificate;
mod trust;
pub use trust::{BadRoots, TlsFacts, TlsVersion, Trust};

mod ask;
pub use ask::{ACCEPT_ENCODING, Ask, Limits, Method};
mod client;
pub use client::{Client, Reached};
mod http;
mod wire;

mod answer;
pub use answer::{Answer, Headers, Timing};
mod opened;
pub use opened::Opened;

mod coding;
mod decode;
mod inflate;
mod zstd;

mod upstream;
pub use upstream::{Bearer, UpstreamAnswer, UpstreamAsk, UpstreamLimits, UpstreamUrl, Upstreams};

mod error;
pub use error::{BadResponse, BadUrl, ConnectError, Error, Stage, TlsError, TooLarge};

#[cfg(feature = "sim")]
pub mod fake;

/// Work that a trait object gives back.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
