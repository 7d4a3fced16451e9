//! Byte streams to addresses that the guard has passed.
//!
//! A dialer takes a [`PublicAddr`] and nothing else, so nobody can dial around the guard. What
//! it connects to says who it is: the client compares, because a dialer could be mistaken.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::outbound::{BoxFuture, PublicAddr};

/// Opens byte streams: the host's TCP, or a network in memory.
pub trait Dialer: Send + Sync + fmt::Debug {
    /// Opens a stream to `to`.
    ///
    /// # Errors
    ///
    /// As the host has it.
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped dial closes its socket. Callers give it a deadline.
    fn dial<'a>(&'a self, to: &'a PublicAddr) -> BoxFuture<'a, io::Result<Box<dyn ByteStream>>>;
}

/// Bytes both ways, and who is at the other end.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {
    /// The address at the other end.
    ///
    /// # Errors
    ///
    /// When the stream is no longer connected.
    fn peer(&self) -> io::Result<SocketAddr>;
}

/// The host's TCP.
#[derive(Clone, Copy, Debug)]
pub struct TcpDialer;

impl Dialer for TcpDialer {
    fn dial<'a>(&'a self, to: &'a PublicAddr) -> BoxFuture<'a, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            #[expect(clippy::disallowed_methods, reason = "this is the door")]
            let stream = TcpStream::connect(to.addr()).await?;
            // A request is one short write; waiting for more to send with it would only delay it.
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn ByteStream>)
        })
    }
}

impl ByteStream for TcpStream {
    fn peer(&self) -> io::Result<SocketAddr> {
        self.peer_addr()
    }
}
