//! One exchange: resolve, judge, dial, speak TLS, ask, read the head.
//!
//! One deadline spans all stages, and each has its own besides. The addresses that are dialled
//! are the ones that were judged, in the same call. The host in the URL is the one that is
//! looked up, named in `Host` and proven by the certificate.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use url::Url;

use crate::outbound::http;
use crate::outbound::trust::server_name;
use crate::outbound::wire::Transport;
use crate::outbound::{
    Answer, Ask, BadUrl, ByteStream, ConnectError, Dialer, Error, Guard, Headers, Limits, Opened,
    PublicAddr, ResolveError, Resolver, Stage, Timing, TlsFacts, Trust,
};
use crate::sys::clock::{Clock, Mark};
use crate::sys::metrics::Metrics;

/// Asks other servers; cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    clock: Clock,
    guard: Arc<Guard>,
    resolver: Arc<dyn Resolver>,
    dialer: Arc<dyn Dialer>,
    trust: Trust,
    metrics: Arc<Metrics>,
}

/// A server that could be reached; nothing was asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The address that took the connection.
    pub peer: SocketAddr,
    /// What TLS learned; `None` for plain HTTP.
    pub tls: Option<TlsFacts>,
    /// How long it took.
    pub timing: Timing,
}

/// The end of an exchange, whatever stage it is in.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    clock: Clock,
    start: Mark,
    end: Mark,
}

/// Where a URL leads.
struct Target<'a> {
    host: url::Host<&'a str>,
    port: u16,
    /// The name to prove; `None` for plain HTTP.
    name: Option<ServerName<'static>>,
}

/// A connection on which nothing was asked yet.
struct Connected {
    transport: Transport,
    reached: Reached,
}

impl Client {
    /// A client behind `guard`.
    #[must_use]
    pub fn new(
        clock: Clock,
        guard: Guard,
        resolver: Arc<dyn Resolver>,
        dialer: Arc<dyn Dialer>,
        trust: Trust,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self { clock, guard: Arc::new(guard), resolver, dialer, trust, metrics }
    }

    /// Asks, and reads the whole answer. Redirects are answers; no cookie is kept or sent.
    ///
    /// # Errors
    ///
    /// [`Error`] says in which stage it broke.
    pub async fn exchange(&self, ask: &Ask) -> Result<Answer, Error> {
        self.open(ask).await?.read(&ask.limits).await
    }

    /// Asks, and waits for the head of the answer.
    ///
    /// # Errors
    ///
    /// [`Error`] says in which stage it broke.
    ///
    /// # Cancel safety
    ///
    /// A dropped call closes the socket; the request may have been sent.
    pub async fn open(&self, ask: &Ask) -> Result<Opened, Error> {
        let request = http::request(ask)?;
        let deadline = self.deadline(&ask.limits);
        let Connected { transport, reached } =
            Box::pin(self.connect(&ask.url, &ask.limits, &deadline)).await?;
        let asked = self.clock.mark();
        let answer = Box::pin(http::send(transport, request));
        let (head, exchange) = deadline.within(Stage::Head, ask.limits.head, answer).await??;
        let timing =
            Timing { first_byte: asked.elapsed(), total: deadline.elapsed(), ..reached.timing };
        Ok(Opened {
            status: head.status().as_u16(),
            headers: Headers::of(head.headers()),
            timing,
            tls: reached.tls,
            peer: reached.peer,
            method: ask.method,
            exchange,
            deadline,
            decoder: None,
        })
    }

    /// Looks up and judges, and dials nothing: would an exchange get past the guard now?
    ///
    /// # Errors
    ///
    /// [`Error::Url`], [`Error::Resolve`] or [`Error::Forbidden`].
    pub async fn vet(&self, url: &Url, limits: &Limits) -> Result<(), Error> {
        let deadline = self.deadline(limits);
        self.addresses(&Target::of(url)?, limits, &deadline).await.map(|_| ())
    }

    /// Connects and agrees on TLS, and asks nothing.
    ///
    /// # Errors
    ///
    /// [`Error`] says in which stage it broke.
    pub async fn reach(&self, url: &Url, limits: &Limits) -> Result<Reached, Error> {
        let deadline = self.deadline(limits);
        let connected = Box::pin(self.connect(url, limits, &deadline)).await?;
        let timing = Timing { total: deadline.elapsed(), ..connected.reached.timing };
        Ok(Reached { timing, ..connected.reached })
    }

    async fn connect(
        &self,
        url: &Url,
        limits: &Limits,
        deadline: &Deadline,
    ) -> Result<Connected, Error> {
        self.metrics.outbound_requests.add(1);
        let target = Target::of(url)?;
        let start = self.clock.mark();
        let addresses = self.addresses(&target, limits, deadline).await?;
        let resolved = self.clock.mark();
        let (stream, peer) = self.dial(&addresses, limits, deadline).await?;
        let dialled = self.clock.mark();
        let mut timing = Timing {
            dns: resolved.since(start),
            connect: dialled.since(resolved),
            ..Timing::default()
        };
        let Some(name) = target.name else {
            let reached = Reached { peer, tls: None, timing };
            return Ok(Connected { transport: Transport::Plain(stream), reached });
        };
        let handshake = self.trust.connect(name, stream);
        let stream = deadline.within(Stage::Tls, limits.tls, handshake).await??;
        timing.tls = dialled.elapsed();
        let reached = Reached { peer, tls: TlsFacts::of(&stream), timing };
        Ok(Connected { transport: Transport::Tls(Box::new(stream)), reached })
    }

    /// Finds the addresses of a host and lets the guard judge them; never empty.
    async fn addresses(
        &self,
        target: &Target<'_>,
        limits: &Limits,
        deadline: &Deadline,
    ) -> Result<Vec<PublicAddr>, Error> {
        let answers = match target.host {
            url::Host::Ipv4(ip) => vec![IpAddr::from(ip)],
            url::Host::Ipv6(ip) => vec![IpAddr::from(ip)],
            url::Host::Domain(name) => {
                let lookup = self.resolver.lookup(name);
                let found = self.clock.within(limits.dns.min(deadline.left()), lookup).await;
                found.unwrap_or(Err(ResolveError::Timeout)).map_err(Error::Resolve)?
            }
        };
        let passed = self.guard.pass(&answers, target.port).map_err(|why| {
            tracing::info!(host = %target.host, "the guard refused {}: {why}", target.host);
            self.forbid()
        })?;
        if passed.is_empty() { Err(Error::Resolve(ResolveError::NoAddress)) } else { Ok(passed) }
    }

    /// Opens a stream to the first address that takes one.
    async fn dial(
        &self,
        addresses: &[PublicAddr],
        limits: &Limits,
        deadline: &Deadline,
    ) -> Result<(Box<dyn ByteStream>, SocketAddr), Error> {
        let mut last = Error::Connect(ConnectError::Unreachable);
        for address in addresses {
            let dial = self.dialer.dial(address);
            last = match deadline.within(Stage::Connect, limits.connect, dial).await {
                // The stream must lead where it was sent, or the guard judged something else.
                Ok(Ok(stream)) if stream.peer().is_ok_and(|it| it == address.addr()) => {
                    return Ok((stream, address.addr()));
                }
                Ok(Ok(_)) => {
                    tracing::error!("a dialer connected to another address than it was given");
                    return Err(self.forbid());
                }
                Ok(Err(error)) => {
                    tracing::debug!(%error, "could not connect");
                    Error::Connect(ConnectError::of(&error, address.addr().ip()))
                }
                Err(timeout) => timeout,
            };
        }
        Err(last)
    }

    fn forbid(&self) -> Error {
        self.metrics.outbound_forbidden.add(1);
        Error::Forbidden
    }

    fn deadline(&self, limits: &Limits) -> Deadline {
        let start = self.clock.mark();
        Deadline { clock: self.clock.clone(), start, end: start.after(limits.total) }
    }
}

impl<'a> Target<'a> {
    fn of(url: &'a Url) -> Result<Self, Error> {
        let tls = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(Error::Url(BadUrl::Scheme)),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Error::Url(BadUrl::Credentials));
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(Error::Url(BadUrl::Host));
        };
        let name = server_name(&host).filter(|_| !ends_with_dot(&host));
        match name {
            Some(name) => Ok(Self { host, port, name: Some(name).filter(|_| tls) }),
            None => Err(Error::Url(BadUrl::Host)),
        }
    }
}

/// Whether a host is written as complete; such a name and the one without a dot would be two.
fn ends_with_dot(host: &url::Host<&str>) -> bool {
    matches!(host, url::Host::Domain(name) if name.ends_with('.'))
}

impl Deadline {
    /// Gives `work` at most `span`, and no more than is left of the whole.
    pub(super) async fn within<F: Future>(
        &self,
        stage: Stage,
        span: Duration,
        work: F,
    ) -> Result<F::Output, Error> {
        let span = span.min(self.left());
        self.clock.within(span, work).await.map_err(|_| Error::Timeout(stage))
    }

    pub(super) const fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn left(&self) -> Duration {
        self.end.left()
    }
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reached.fmt(f)
    }
}
