//! The bytes of a connection, as hyper reads and writes them, with everything watched that passes.
//!
//! Three things happen here because hyper tells nobody about them: reads and writes that wait get
//! deadlines, heads with two lengths are noticed, and the empty answers that hyper gives to what it
//! cannot read get the body that every refusal has.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::inbound::exchange;
use crate::inbound::framing::Framing;
use crate::inbound::refusal::Refusal;
use crate::inbound::request::RequestId;
use crate::inbound::service::BoxFuture;
use crate::inbound::watch::Watch;

/// A watched byte stream.
pub(super) struct Wire<S> {
    stream: S,
    framing: Framing,
    watch: Arc<Watch>,
    /// What is left of an answer that goes out in place of hyper's.
    instead: Vec<u8>,
    linger: Option<Linger>,
}

/// The wait, after the last answer, for a peer that is still sending.
///
/// Closing a socket with unread input resets the connection, and the reset can overtake the
/// answer. So what still comes is thrown away for a while.
struct Linger {
    over: BoxFuture<'static, ()>,
    bytes_left: usize,
}

impl<S> Wire<S> {
    pub(super) fn new(stream: S, watch: &Arc<Watch>) -> Self {
        let framing = Framing::new();
        Self { stream, framing, watch: Arc::clone(watch), instead: Vec::new(), linger: None }
    }

    /// Takes an empty answer that hyper makes by itself, and puts ours in its place.
    fn replace(&mut self, bytes: &[u8]) -> bool {
        if !bytes.ends_with(HYPER_TAIL) || !self.watch.is_between_requests() {
            return false;
        }
        let refusal = match bytes.get(STATUS_AT..STATUS_AT + 3) {
            Some(b"400") => Refusal::Malformed,
            Some(b"414") => Refusal::LongTarget,
            Some(b"431") => Refusal::LargeHead,
            _ => return false,
        };
        let edge = self.watch.edge();
        let id = RequestId::new(edge.entropy().bytes(), 0);
        let date = edge.clock().now().to_http_date();
        self.instead = refusal.to_wire(&id, &date);
        self.watch.close_after_answer();
        let status = refusal.status();
        exchange::count(edge.metrics(), status);
        tracing::debug!(request.id = %id, status, "request {id} is not readable");
        true
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    fn poll_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.instead.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.instead))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.instead.drain(..written);
            self.watch.written();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let linger = self.linger.get_or_insert_with(|| {
            let clock = self.watch.edge().clock().clone();
            let over = Box::pin(async move { clock.sleep(LINGER).await });
            Linger { over, bytes_left: LINGER_BYTES_MAX }
        });
        let mut space = [0; 4096];
        while linger.over.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut space);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let bytes = buffer.filled().len();
            linger.bytes_left = linger.bytes_left.saturating_sub(bytes);
            if read.is_err() || bytes == 0 || linger.bytes_left == 0 {
                break;
            }
        }
        Poll::Ready(())
    }

    /// Tells the watch how a write went.
    fn note<T>(&self, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match written {
            Poll::Pending => self.watch.write_blocked(),
            Poll::Ready(_) => self.watch.written(),
        }
        written
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        match read {
            Poll::Pending => this.watch.read_blocked(),
            Poll::Ready(Err(_)) => {}
            Poll::Ready(Ok(())) => {
                let fresh = buffer.filled().get(before..).unwrap_or_default();
                this.framing.feed(fresh);
                this.watch.read(this.framing.ambiguous());
            }
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.replace(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.note(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let [only] = slices
            && this.replace(only)
        {
            return Poll::Ready(Ok(only.len()));
        }
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let replaced = this.poll_instead(cx);
        ready!(this.note(replaced))?;
        let flushed = Pin::new(&mut this.stream).poll_flush(cx);
        match flushed {
            Poll::Pending => this.watch.write_blocked(),
            Poll::Ready(_) => this.watch.flushed(),
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.linger.is_none() {
            let replaced = this.poll_instead(cx);
            ready!(this.note(replaced))?;
            let shut = Pin::new(&mut this.stream).poll_shutdown(cx);
            ready!(this.note(shut))?;
        }
        if this.watch.closes() {
            ready!(this.poll_linger(cx));
        }
        Poll::Ready(Ok(()))
    }
}

/// How the answers end that hyper makes by itself. Ours always have more headers.
const HYPER_TAIL: &[u8] = b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
/// Where an answer has its status.
const STATUS_AT: usize = "HTTP/1.1 ".len();
/// How long input is thrown away after the last answer.
const LINGER: Duration = Duration::from_secs(2);
/// How much of it is.
const LINGER_BYTES_MAX: usize = 1024 * 1024;
