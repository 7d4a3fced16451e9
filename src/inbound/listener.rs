//! Where connections come from: a TCP port or a Unix socket, with TLS or without.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::task::{JoinError, JoinSet};

use crate::inbound::connection::serve_connection;
use crate::inbound::edge::Edge;
use crate::inbound::places::{Place, Share};
use crate::inbound::proxies;
use crate::inbound::refusal::Refusal;
use crate::inbound::request::{Peer, RequestId};
use crate::inbound::service::Service;
use crate::inbound::tls::Acceptor;
use crate::sys::clock::Elapsed;
use crate::sys::shutdown::Phase;

/// A socket that accepts connections.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    tls: Option<Acceptor>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

/// A connection that has been accepted.
enum Accepted {
    Tcp(TcpStream, SocketAddr),
    Unix(UnixStream),
}

/// A socket cannot be made.
#[derive(Debug)]
pub enum BindError {
    /// The system refuses.
    System {
        /// The address or the path.
        place: String,
        /// Its reason.
        cause: io::Error,
    },
    /// Another process answers at this path.
    Taken(PathBuf),
    /// The path is that of something else than a socket.
    NotASocket(PathBuf),
}

impl Listener {
    /// Opens a TCP port.
    ///
    /// # Errors
    ///
    /// [`BindError::System`] when the address is in use or not of this host.
    pub async fn tcp(address: SocketAddr) -> Result<Self, BindError> {
        let socket = TcpListener::bind(address).await;
        let socket = socket.map_err(|it| BindError::system(address, it))?;
        Ok(Self { socket: Socket::Tcp(socket), tls: None })
    }

    /// Makes a Unix socket that only its owner can connect to.
    ///
    /// A socket that an earlier process left behind is replaced. The file is removed when
    /// [`Self::run`] ends.
    ///
    /// # Errors
    ///
    /// [`BindError::Taken`] when somebody answers at the path; [`BindError::NotASocket`] when a
    /// file of another kind is there; [`BindError::System`] otherwise. What is there stays there.
    pub async fn unix(path: &Path) -> Result<Self, BindError> {
        let system = |it| BindError::system(path.display(), it);
        match std::fs::symlink_metadata(path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(system(cause)),
            Ok(there) if !there.file_type().is_socket() => {
                return Err(BindError::NotASocket(path.to_owned()));
            }
            Ok(_socket) => match UnixStream::connect(path).await {
                Err(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => {}
                // A full backlog would block, and is somebody's as well.
                Ok(_) | Err(_) => return Err(BindError::Taken(path.to_owned())),
            },
        }
        // The socket gets its mode before it gets its name, so that nobody else can be first.
        let mut unnamed = path.as_os_str().to_owned();
        unnamed.push("~");
        let _ = std::fs::remove_file(&unnamed);
        let socket = UnixListener::bind(&unnamed).map_err(system)?;
        std::fs::set_permissions(&unnamed, std::fs::Permissions::from_mode(0o600))
            .and_then(|()| std::fs::rename(&unnamed, path))
            .map_err(system)?;
        Ok(Self { socket: Socket::Unix(socket, path.to_owned()), tls: None })
    }

    /// The same listener, on whose TCP port only TLS is spoken.
    #[must_use]
    pub fn with_tls(mut self, acceptor: Acceptor) -> Self {
        self.tls = Some(acceptor);
        self
    }

    /// The address of the TCP port; `None` for a Unix socket.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match &self.socket {
            Socket::Tcp(socket) => socket.local_addr().ok(),
            Socket::Unix(..) => None,
        }
    }

    /// Accepts connections and answers their requests until the shutdown drains.
    ///
    /// Then the socket is closed, and open connections get [`Config::drain`](super::Config::drain),
    /// or until the shutdown stops, to end by themselves. When this returns, none is left.
    ///
    /// # Cancel safety
    ///
    /// Not safe: when the future is dropped, all connections break.
    pub async fn run(self, edge: Edge, service: Arc<dyn Service>) {
        let mut open = JoinSet::new();
        let mut failures = 0;
        let mut drains = pin!(edge.shutdown().reached(Phase::Draining));
        loop {
            tokio::select! {
                biased;
                () = drains.as_mut() => break,
                Some(ended) = open.join_next(), if !open.is_empty() => note(&edge, ended),
                accepted = self.socket.accept() => match accepted {
                    Ok(accepted) => {
                        failures = 0;
                        self.admit(accepted, &edge, &service, &mut open);
                    }
                    Err(cause) => {
                        let pause = pause_after(&cause, failures);
                        failures = failures.saturating_add(1);
                        if !pause.is_zero() {
                            tracing::warn!("could not accept a connection: {cause}");
                            edge.clock().sleep(pause).await;
                        }
                    }
                }
            }
        }
        self.socket.close();
        let rest = async { while open.join_next().await.is_some() {} };
        tokio::select! {
            _ = edge.clock().within(edge.config().drain, rest) => {}
            () = edge.shutdown().reached(Phase::Stopping) => {}
        }
        open.shutdown().await;
    }

    /// Gives a new connection a place and a task, or closes it.
    fn admit(
        &self,
        accepted: Accepted,
        edge: &Edge,
        service: &Arc<dyn Service>,
        open: &mut JoinSet<()>,
    ) {
        let (edge, service) = (edge.clone(), Arc::clone(service));
        match accepted {
            Accepted::Tcp(stream, address) => {
                let Some(place) = edge.places().take(share(&edge, address)) else {
                    edge.metrics().connections_refused.add(1);
                    if self.tls.is_none() {
                        refuse(&stream, &edge);
                    }
                    return;
                };
                // Without it small answers wait; a socket that refuses it is about to fail anyway.
                let _ = stream.set_nodelay(true);
                let peer = Peer::Tcp(address.ip().to_canonical());
                match self.tls.clone() {
                    None => open.spawn(plain(edge, stream, peer, service, place)),
                    Some(tls) => open.spawn(secured(edge, tls, (stream, peer), service, place)),
                };
            }
            Accepted::Unix(stream) => {
                let Some(place) = edge.places().take(Share::Open) else {
                    edge.metrics().connections_refused.add(1);
                    return;
                };
                if let Ok(owner) = stream.peer_cred() {
                    let peer = Peer::Local { uid: owner.uid() };
                    open.spawn(plain(edge, stream, peer, service, place));
                }
            }
        }
    }
}

impl Socket {
    async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(socket) => {
                socket.accept().await.map(|(stream, address)| Accepted::Tcp(stream, address))
            }
            Self::Unix(socket, _) => socket.accept().await.map(|(it, _)| Accepted::Unix(it)),
        }
    }

    fn close(self) {
        if let Self::Unix(_, path) = &self {
            // If it is gone already, so be it.
            let _ = std::fs::remove_file(path);
        }
    }
}

async fn plain<S>(edge: Edge, stream: S, peer: Peer, service: Arc<dyn Service>, _place: Place)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    serve_connection(&edge, stream, peer, service).await;
}

async fn secured(
    edge: Edge,
    tls: Acceptor,
    (stream, peer): (TcpStream, Peer),
    service: Arc<dyn Service>,
    _place: Place,
) {
    let handshake = tls.current().accept(stream);
    match edge.clock().within(edge.config().header_timeout, handshake).await {
        Ok(Ok(stream)) => serve_connection(&edge, stream, peer, service).await,
        Ok(Err(cause)) => tracing::debug!("the TLS handshake failed: {cause}"),
        Err(Elapsed) => tracing::debug!("the TLS handshake took too long"),
    }
}

/// Says in a few bytes, if they fit, that there is no place, and hangs up.
fn refuse(stream: &TcpStream, edge: &Edge) {
    let id = RequestId::new(edge.entropy().bytes(), 0);
    let answer = Refusal::Full.to_wire(&id, &edge.clock().now().to_http_date());
    // Whoever cannot take it sees a closed connection.
    let _ = stream.try_write(&answer);
}

/// Whose places a connection takes.
fn share(edge: &Edge, address: SocketAddr) -> Share {
    let ip = address.ip().to_canonical();
    if ip.is_loopback() || proxies::is_trusted(&edge.config().trusted_proxies, ip) {
        Share::Open
    } else {
        Share::Of(ip)
    }
}

fn note(edge: &Edge, ended: Result<(), JoinError>) {
    if ended.is_err_and(|it| it.is_panic()) {
        edge.metrics().panics.add(1);
        tracing::error!("a connection panicked");
    }
}

/// How long to wait before the next try, after so many failures one after the other.
///
/// What went wrong with one connection says nothing about the next. Everything else, such as too
/// many open files, lasts: trying at once would only burn the processor.
fn pause_after(cause: &io::Error, failures: u32) -> Duration {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if matches!(cause.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        return Duration::ZERO;
    }
    PAUSE_FIRST.saturating_mul(1 << failures.min(16)).min(PAUSE_MAX)
}

impl BindError {
    fn system(place: impl fmt::Display, cause: io::Error) -> Self {
        Self::System { place: place.to_string(), cause }
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { place, .. } => write!(f, "listen on {place}"),
            Self::Taken(path) => {
                write!(f, "listen on {}: another process answers there", path.display())
            }
            Self::NotASocket(path) => {
                write!(f, "listen on {}: the file there is not a socket", path.display())
            }
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { cause, .. } => Some(cause),
            Self::Taken(_) | Self::NotASocket(_) => None,
        }
    }
}

const PAUSE_FIRST: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_last_are_met_with_growing_pauses_up_to_a_second() {
        let too_many_files = io::Error::from_raw_os_error(24);
        let pauses: Vec<u128> =
            (0..10).map(|it| pause_after(&too_many_files, it).as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000]);
        assert_eq!(pause_after(&too_many_files, u32::MAX), PAUSE_MAX);
    }

    #[test]
    fn a_connection_that_went_away_before_it_was_accepted_costs_no_pause() {
        let aborted = io::ErrorKind::ConnectionAborted.into();
        assert_eq!(pause_after(&aborted, 9), Duration::ZERO);
    }
}
