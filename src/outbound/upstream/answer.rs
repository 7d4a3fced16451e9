//! An upstream's answer, read piece by piece.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::body::Incoming;

use crate::outbound::upstream::ask::{Origin, UpstreamAsk, UpstreamLimits};
use crate::outbound::upstream::pool::Pool;
use crate::outbound::upstream::wired::Wired;
use crate::outbound::{Error, Headers, Stage, TooLarge};
use crate::sys::clock::{Clock, Mark};

/// The head of an answer, and the way to its body; dropping it closes the connection.
pub struct UpstreamAnswer {
    /// The status, 200 to 599.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    body: Body,
}

/// The body and what it comes over.
struct Body {
    /// `None` once the body has ended and the connection was given back.
    open: Option<(Wired, Incoming)>,
    origin: Origin,
    pool: Arc<Pool>,
    clock: Clock,
    limits: UpstreamLimits,
    /// The end of the silence that is put up with.
    quiet_until: Mark,
    until: Mark,
    bytes: usize,
}

impl UpstreamAnswer {
    pub(super) fn new(
        wired: Wired,
        answer: hyper::Response<Incoming>,
        ask: &UpstreamAsk<'_>,
        asked: Mark,
        pool: &Arc<Pool>,
        clock: &Clock,
    ) -> Self {
        let (head, incoming) = answer.into_parts();
        let limits = ask.limits;
        // Some servers send the head at once and think then.
        let first = asked.after(limits.first_byte);
        let body = Body {
            open: Some((wired, incoming)),
            origin: ask.url.origin.clone(),
            pool: Arc::clone(pool),
            clock: clock.clone(),
            limits,
            quiet_until: first.max(clock.mark().after(limits.idle)),
            until: ask.until,
            bytes: 0,
        };
        Self { status: head.status.as_u16(), headers: Headers::of(&head.headers), body }
    }

    /// Waits for the next piece of the body; `None` at its end.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`], [`Error::TooLarge`], [`Error::BadResponse`] or [`Error::Tls`].
    ///
    /// # Cancel safety
    ///
    /// Safe: no piece is lost, and the time of silence goes on.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        self.body.chunk().await
    }

    /// Reads the rest of the body, at most `bytes_max` of it.
    ///
    /// # Errors
    ///
    /// As [`UpstreamAnswer::chunk`]; [`Error::TooLarge`] above `bytes_max`.
    ///
    /// # Cancel safety
    ///
    /// Not safe: what was read is lost.
    pub async fn read(&mut self, bytes_max: usize) -> Result<Bytes, Error> {
        let mut body = BytesMut::new();
        while let Some(piece) = self.chunk().await? {
            if body.len().saturating_add(piece.len()) > bytes_max {
                return Err(Error::TooLarge(TooLarge::Decoded));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body.freeze())
    }

    /// Gives the connection back: nothing more is wanted, and the end of the body is near.
    ///
    /// If the end is not there yet, a task waits a moment for it, so that the caller need not.
    pub fn release(mut self) {
        if !self.body.has_ended() {
            tokio::spawn(async move {
                let clock = self.body.clock.clone();
                let end = async { while let Ok(Some(_)) = self.chunk().await {} };
                // Whether it came or not, there is nobody to tell.
                let _ = clock.within(LINGER_MAX, end).await;
            });
        }
    }
}

impl Body {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let Some((wired, incoming)) = &mut self.open else { return Ok(None) };
        let piece = std::future::poll_fn(|cx| wired.poll_piece(incoming, cx));
        let span = self.quiet_until.left().min(self.until.left());
        let piece = self.clock.within(span, piece).await;
        let piece = piece.map_err(|_| Error::Timeout(Stage::Body))??;
        let Some(piece) = piece else {
            self.give_back();
            return Ok(None);
        };
        self.quiet_until = self.clock.mark().after(self.limits.idle);
        self.bytes = self.bytes.saturating_add(piece.len());
        if self.bytes > self.limits.body_bytes {
            return Err(Error::TooLarge(TooLarge::Wire));
        }
        Ok(Some(piece))
    }

    /// Whether the end of the body is there already; then the connection is given back.
    fn has_ended(&mut self) -> bool {
        let Some((wired, incoming)) = &mut self.open else { return true };
        let mut cx = Context::from_waker(Waker::noop());
        let has_ended = matches!(wired.poll_piece(incoming, &mut cx), Poll::Ready(Ok(None)));
        if has_ended {
            self.give_back();
        }
        has_ended
    }

    fn give_back(&mut self) {
        if let Some((wired, _)) = self.open.take() {
            self.pool.put(&self.origin, wired);
        }
    }
}

/// How long the end of a body that nobody reads is waited for.
const LINGER_MAX: Duration = Duration::from_secs(1);
