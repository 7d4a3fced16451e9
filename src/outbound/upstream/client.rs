//! Asks upstreams: a kept connection if there is one, else a fresh one.

use std::net::IpAddr;
use std::sync::Arc;

use crate::domain::address::Network;
use crate::outbound::upstream::answer::UpstreamAnswer;
use crate::outbound::upstream::ask::UpstreamAsk;
use crate::outbound::upstream::pool::Pool;
use crate::outbound::upstream::wired::{Unanswered, Wired};
use crate::outbound::wire::Transport;
use crate::outbound::{
    ByteStream, ConnectError, Dialer, Error, Guard, GuardConfig, Ports, ResolveError, Resolver,
    Stage, Trust,
};
use crate::sys::clock::{Clock, Mark};

/// Asks the servers that an operator names; cheap to clone, and clones share connections.
#[derive(Clone, Debug)]
pub struct Upstreams {
    clock: Clock,
    guard: Arc<Guard>,
    resolver: Arc<dyn Resolver>,
    dialer: Arc<dyn Dialer>,
    trust: Trust,
    pool: Arc<Pool>,
}

impl Upstreams {
    /// Connects to any address, private ones included, but not to those where a host's cloud
    /// tells its secrets.
    #[must_use]
    pub fn new(
        clock: Clock,
        resolver: Arc<dyn Resolver>,
        dialer: Arc<dyn Dialer>,
        trust: Trust,
    ) -> Self {
        let config = GuardConfig { allow: ANYWHERE.to_vec(), deny: Vec::new(), ports: Ports::Any };
        let guard = Arc::new(Guard::new(config));
        Self { guard, resolver, dialer, trust, pool: Pool::new(clock.clone()), clock }
    }

    /// Asks, and waits for the head of the answer.
    ///
    /// A kept connection that breaks before a single byte came back is replaced by a fresh one,
    /// once: the other side had closed it.
    ///
    /// # Errors
    ///
    /// [`Error`] says in which stage it broke.
    ///
    /// # Cancel safety
    ///
    /// A dropped call closes the connection; the request may have been sent.
    pub async fn ask(&self, ask: &UpstreamAsk<'_>) -> Result<UpstreamAnswer, Error> {
        let asked = self.clock.mark();
        if let Some(wired) = self.pool.take(&ask.url.origin) {
            match self.send(wired, ask, asked).await {
                Err(Unanswered { error, is_silent: true }) if is_broken(error) => {
                    tracing::debug!(%error, "a kept connection had been closed");
                }
                answered => return answered.map_err(|it| it.error),
            }
        }
        let span = ask.limits.connect.min(ask.until.left());
        let connected = self.clock.within(span, Box::pin(self.connect(ask))).await;
        let wired = connected.map_err(|_| Error::Timeout(Stage::Connect))??;
        self.send(wired, ask, asked).await.map_err(|it| it.error)
    }

    async fn send(
        &self,
        mut wired: Wired,
        ask: &UpstreamAsk<'_>,
        asked: Mark,
    ) -> Result<UpstreamAnswer, Unanswered> {
        let span = ask.limits.first_byte.min(ask.until.left());
        let answer = self.clock.within(span, wired.send(ask.request())).await;
        let timeout = Unanswered { error: Error::Timeout(Stage::Head), is_silent: false };
        let answer = answer.unwrap_or(Err(timeout))?;
        Ok(UpstreamAnswer::new(wired, answer, ask, asked, &self.pool, &self.clock))
    }

    async fn connect(&self, ask: &UpstreamAsk<'_>) -> Result<Wired, Error> {
        let stream = self.dial(ask).await?;
        let transport = match &ask.url.name {
            None => Transport::Plain(stream),
            Some(name) => Transport::Tls(Box::new(self.trust.connect(name.clone(), stream).await?)),
        };
        Wired::new(transport).await
    }

    /// Opens a stream to the first address that takes one.
    async fn dial(&self, ask: &UpstreamAsk<'_>) -> Result<Box<dyn ByteStream>, Error> {
        let origin = &ask.url.origin;
        let answers = match &origin.host {
            url::Host::Ipv4(ip) => vec![IpAddr::from(*ip)],
            url::Host::Ipv6(ip) => vec![IpAddr::from(*ip)],
            url::Host::Domain(name) => self.resolver.lookup(name).await.map_err(Error::Resolve)?,
        };
        let passed = self.guard.pass(&answers, origin.port).map_err(|why| {
            tracing::warn!(host = %origin.host, "the guard refused {}: {why}", origin.host);
            Error::Forbidden
        })?;
        let mut last = Error::Resolve(ResolveError::NoAddress);
        // There are two at most: one that does not answer leaves time for the other.
        let span = ask.limits.connect / 2;
        for address in passed {
            match self.clock.within(span, self.dialer.dial(&address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Err(_) => last = Error::Timeout(Stage::Connect),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "could not connect");
                    last = Error::Connect(ConnectError::of(&error, address.addr().ip()));
                }
            }
        }
        Err(last)
    }
}

/// Whether an error can be that the other side had closed the connection.
fn is_broken(error: Error) -> bool {
    matches!(error, Error::BadResponse(_) | Error::Connect(_) | Error::Tls(_))
}

/// Every address there is; the guard keeps the few shut that a wide network does not open.
const ANYWHERE: [Network; 2] = [Network::v4([0; 4], 0), Network::v6([0; 8], 0)];
