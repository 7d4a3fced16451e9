//! The bytes of one exchange, plain or in TLS, and a count of those that came in.
//!
//! The count has a limit until the head is there: the HTTP library forgets what it has skipped,
//! such as a flood of interim answers, and would read on for ever.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::outbound::ByteStream;

/// What carries the bytes.
pub(super) enum Transport {
    Plain(Box<dyn ByteStream>),
    Tls(Box<TlsStream<Box<dyn ByteStream>>>),
}

/// A transport whose incoming bytes are counted.
pub(super) struct Wire {
    transport: Transport,
    meter: Arc<Meter>,
}

/// How many bytes came in, and how many may.
#[derive(Debug)]
pub(super) struct Meter {
    read: AtomicUsize,
    limit: AtomicUsize,
}

impl Meter {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { read: AtomicUsize::new(0), limit: AtomicUsize::new(limit) })
    }

    /// Bytes that came in so far.
    pub(super) fn read(&self) -> usize {
        self.read.load(Ordering::Relaxed)
    }

    /// Whether no further byte may come in.
    pub(super) fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// Takes the limit away.
    pub(super) fn lift(&self) {
        self.limit.store(usize::MAX, Ordering::Relaxed);
    }

    fn left(&self) -> usize {
        self.limit.load(Ordering::Relaxed).saturating_sub(self.read())
    }
}

impl Wire {
    pub(super) const fn new(transport: Transport, meter: Arc<Meter>) -> Self {
        Self { transport, meter }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.meter.left();
        if left == 0 {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        let before = buf.filled().len();
        let transport = Pin::new(&mut self.transport);
        if buf.remaining() <= left {
            ready!(transport.poll_read(cx, buf))?;
        } else {
            let mut part = ReadBuf::new(buf.initialize_unfilled_to(left));
            ready!(transport.poll_read(cx, &mut part))?;
            let count = part.filled().len();
            buf.advance(count);
        }
        let count = buf.filled().len().saturating_sub(before);
        self.meter.read.fetch_add(count, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.transport {
            Transport::Plain(it) => Pin::new(it).poll_write(cx, bytes),
            Transport::Tls(it) => Pin::new(it).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(it) => Pin::new(it).poll_flush(cx),
            Transport::Tls(it) => Pin::new(it).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(it) => Pin::new(it).poll_shutdown(cx),
            Transport::Tls(it) => Pin::new(it).poll_shutdown(cx),
        }
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(it) => Pin::new(it).poll_read(cx, buf),
            Self::Tls(it) => Pin::new(it).poll_read(cx, buf),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    impl ByteStream for DuplexStream {
        fn peer(&self) -> io::Result<SocketAddr> {
            Err(io::ErrorKind::NotConnected.into())
        }
    }

    #[tokio::test]
    async fn exactly_the_limit_comes_in_until_it_is_lifted() {
        let (ours, mut theirs) = tokio::io::duplex(1000);
        let meter = Meter::new(10);
        let mut wire = Wire::new(Transport::Plain(Box::new(ours)), Arc::clone(&meter));
        theirs.write_all(&[7; 25]).await.unwrap();
        let mut room = [0; 6];
        assert_eq!(wire.read(&mut room).await.unwrap(), 6);
        assert_eq!(wire.read(&mut room).await.unwrap(), 4);
        assert_eq!((room, meter.is_spent(), meter.read()), ([7; 6], true, 10));
        assert!(wire.read(&mut room).await.is_err());
        meter.lift();
        assert_eq!(wire.read(&mut [0; 100]).await.unwrap(), 15);
    }
}
