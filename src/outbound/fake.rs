//! An internet in memory, for tests and simulations. Not in the shipped binary.
//!
//! A test gives a name a public address that is not its own, and that address a server in the
//! same process. The real client looks the name up, the real guard judges the address, and only
//! the last step, dialling, leads to the server instead of the network. What passes here passes
//! outside, and what the guard refuses never arrives.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # use std::sync::Arc;
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # use errand::outbound::{Ask, Client, Guard, GuardConfig, Trust, fake::Internet};
//! # use errand::sys::clock::Clock;
//! let internet = Internet::new();
//! internet.site("site.example", 80, async |mut stream| {
//!     let _ = stream.read(&mut [0; 1024]).await;
//!     let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
//! });
//! let client = Client::new(
//!     Clock::host(),
//!     Guard::new(GuardConfig::public(&[80])),
//!     Arc::new(internet.clone()),
//!     Arc::new(internet.clone()),
//!     Trust::new(Clock::host(), b"").unwrap(),
//!     Arc::default(),
//! );
//! let ask = Ask::get("http://site.example/".parse().unwrap());
//! assert_eq!(client.exchange(&ask).await.unwrap().status, 204);
//! # }
//! ```

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

use crate::outbound::{BoxFuture, ByteStream, Dialer, PublicAddr, ResolveError, Resolver};

/// Names, servers, and what was asked of both; clones share them.
#[derive(Clone, Default)]
pub struct Internet(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    names: HashMap<String, VecDeque<Lookup>>,
    servers: HashMap<SocketAddr, Server>,
    asked: Vec<String>,
    dialled: Vec<SocketAddr>,
    sites: u32,
}

/// What a look-up gives.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// These addresses.
    Addresses(Vec<IpAddr>),
    /// No address.
    Fails(ResolveError),
    /// Nothing, ever.
    Hangs,
}

#[derive(Clone)]
enum Server {
    Serves(Handler),
    Fails(io::ErrorKind),
    Hangs,
    Pretends(SocketAddr),
}

type Handler = Arc<dyn Fn(Served) -> BoxFuture<'static, ()> + Send + Sync>;

/// The server's end of a connection.
pub struct Served {
    stream: DuplexStream,
    reset: Arc<AtomicBool>,
}

/// The client's end of a connection.
struct Dialled {
    stream: DuplexStream,
    reset: Arc<AtomicBool>,
    peer: SocketAddr,
}

impl Internet {
    /// An internet without names and servers: every look-up finds nothing, every dial is refused.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers `host` with `addresses`, written as text with spaces between them.
    ///
    /// # Panics
    ///
    /// When one is not an address: the test has a slip.
    pub fn name(&self, host: &str, addresses: &str) {
        self.names(host, vec![Lookup::of(addresses)]);
    }

    /// Answers `host` with one of `lookups` after the other, then with the last again and again.
    pub fn names(&self, host: &str, lookups: Vec<Lookup>) {
        self.state().names.insert(host.to_owned(), lookups.into());
    }

    /// Lets `handler` speak to whoever dials `address`.
    ///
    /// # Panics
    ///
    /// When `address` is not an IP address and a port: the test has a slip.
    pub fn serve<F, W>(&self, address: &str, handler: F)
    where
        F: Fn(Served) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |served| Box::pin(handler(served)));
        self.put(parse(address), Server::Serves(handler));
    }

    /// Gives `host` a public address of its own, and lets `handler` speak to whoever dials it at
    /// `port`.
    ///
    /// More ports of one host get the same address.
    pub fn site<F, W>(&self, host: &str, port: u16, handler: F) -> IpAddr
    where
        F: Fn(Served) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let ip = self.address_of(host);
        self.serve(&SocketAddr::new(ip, port).to_string(), handler);
        ip
    }

    /// Lets every dial of `address` fail.
    ///
    /// # Panics
    ///
    /// When `address` is not an IP address and a port: the test has a slip.
    pub fn fail(&self, address: &str, kind: io::ErrorKind) {
        self.put(parse(address), Server::Fails(kind));
    }

    /// Lets no dial of `address` ever end.
    ///
    /// # Panics
    ///
    /// When `address` is not an IP address and a port: the test has a slip.
    pub fn hang(&self, address: &str) {
        self.put(parse(address), Server::Hangs);
    }

    /// Lets who dials `address` end up at `peer`, as no dialler should.
    ///
    /// # Panics
    ///
    /// When one of them is not an IP address and a port: the test has a slip.
    pub fn mislead(&self, address: &str, peer: &str) {
        self.put(parse(address), Server::Pretends(parse(peer)));
    }

    /// The names that were looked up, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    /// The addresses that were dialled, in order.
    #[must_use]
    pub fn dialled(&self) -> Vec<SocketAddr> {
        self.state().dialled.clone()
    }

    fn address_of(&self, host: &str) -> IpAddr {
        let mut state = self.state();
        if let Some(Lookup::Addresses(known)) = state.names.get(host).and_then(VecDeque::back)
            && let Some(ip) = known.first()
        {
            return *ip;
        }
        state.sites += 1;
        let ip = IpAddr::V4(Ipv4Addr::from_bits(FIRST_SITE.to_bits() + state.sites));
        state.names.insert(host.to_owned(), VecDeque::from([Lookup::Addresses(vec![ip])]));
        ip
    }

    fn put(&self, address: SocketAddr, server: Server) {
        self.state().servers.insert(address, server);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, host: &str) -> Lookup {
        let mut state = self.state();
        state.asked.push(host.to_owned());
        let Some(lookups) = state.names.get_mut(host) else {
            return Lookup::Fails(ResolveError::NxDomain);
        };
        let next = if lookups.len() > 1 { lookups.pop_front() } else { lookups.front().cloned() };
        next.unwrap_or(Lookup::Fails(ResolveError::NoAddress))
    }
}

impl Lookup {
    /// Addresses, written as text with spaces between them.
    ///
    /// # Panics
    ///
    /// When one is not an address: the test has a slip.
    #[must_use]
    pub fn of(addresses: &str) -> Self {
        let parse = |it: &str| it.parse().expect("a test names addresses");
        Self::Addresses(addresses.split_whitespace().map(parse).collect())
    }
}

impl Resolver for Internet {
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        Box::pin(async move {
            match self.answer(host) {
                Lookup::Addresses(found) if found.is_empty() => Err(ResolveError::NoAddress),
                Lookup::Addresses(found) => Ok(found),
                Lookup::Fails(why) => Err(why),
                Lookup::Hangs => std::future::pending().await,
            }
        })
    }
}

impl Dialer for Internet {
    fn dial<'a>(&'a self, to: &'a PublicAddr) -> BoxFuture<'a, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            let server = {
                let mut state = self.state();
                state.dialled.push(to.addr());
                state.servers.get(&to.addr()).cloned()
            };
            let (client, server_end) = tokio::io::duplex(PIPE_BYTES);
            let reset = Arc::new(AtomicBool::new(false));
            let mut peer = to.addr();
            match server {
                Some(Server::Serves(handler)) => {
                    let served = Served { stream: server_end, reset: Arc::clone(&reset) };
                    tokio::spawn(handler(served));
                }
                Some(Server::Pretends(other)) => peer = other,
                Some(Server::Fails(kind)) => return Err(kind.into()),
                Some(Server::Hangs) => std::future::pending().await,
                None => return Err(io::ErrorKind::ConnectionRefused.into()),
            }
            Ok(Box::new(Dialled { stream: client, reset, peer }) as Box<dyn ByteStream>)
        })
    }
}

impl Served {
    /// Closes the connection so that the client sees a reset after what was written.
    pub fn reset(self) {
        self.reset.store(true, Ordering::Relaxed);
    }
}

impl ByteStream for Dialled {
    fn peer(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl AsyncRead for Dialled {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() == before && self.reset.load(Ordering::Relaxed) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Served {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Dialled {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncWrite for Served {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl fmt::Debug for Internet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Internet")
    }
}

fn parse(address: &str) -> SocketAddr {
    address.parse().expect("a test names an IP address and a port")
}

/// Bytes that wait in a connection before its writer must.
const PIPE_BYTES: usize = 64 * 1024;
/// The address before the first site's; public, and nobody is there from here.
const FIRST_SITE: Ipv4Addr = Ipv4Addr::new(93, 184, 215, 0);
