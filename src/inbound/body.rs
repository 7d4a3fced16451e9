//! A request's body: read whole, under a limit and a deadline, or not at all.
//!
//! Nothing is read before it is asked for, so `100 Continue` goes out only then. A compressed body
//! is never unpacked. A body that is dropped unread ends the connection with the answer, unless
//! all of it is there already.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::HeaderMap;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, EXPECT};

use crate::inbound::watch::Watch;

/// The body of one request.
pub struct Body {
    incoming: Incoming,
    is_encoded: bool,
    awaits_continue: bool,
    has_ended: bool,
    watch: Arc<Watch>,
}

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It is longer than the reader allows. Answered with 413.
    TooLarge,
    /// It did not come in time. Answered with 408.
    Timeout,
    /// The connection ended within it, or its chunks are malformed. Answered with 400.
    Closed,
    /// It is compressed. Answered with 415.
    Encoded,
}

impl Body {
    pub(super) fn new(incoming: Incoming, headers: &HeaderMap, watch: &Arc<Watch>) -> Self {
        let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
        Self {
            incoming,
            is_encoded: encodings.any(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity")),
            awaits_continue: headers.contains_key(EXPECT),
            has_ended: false,
            watch: Arc::clone(watch),
        }
    }

    /// Reads the whole body, of at most `max` bytes.
    ///
    /// A length that is announced and too large is refused before the first byte is read. The
    /// time for the answer begins anew with the last byte.
    ///
    /// # Errors
    ///
    /// Every [`BodyError`]; what was read is lost.
    ///
    /// # Cancel safety
    ///
    /// Not safe: what was read is lost, and the connection ends with the answer.
    pub async fn read(mut self, max: usize) -> Result<Bytes, BodyError> {
        if self.is_encoded {
            return Err(BodyError::Encoded);
        }
        if self.incoming.is_end_stream() {
            return Ok(Bytes::new());
        }
        let announced = usize::try_from(self.incoming.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > max {
            return Err(BodyError::TooLarge);
        }
        let request_timeout = self.watch.edge().config().request_timeout;
        self.watch.extend(self.time_for(max).saturating_add(request_timeout));
        let whole = self.collect(announced, max).await;
        self.watch.extend(request_timeout);
        whole
    }

    async fn collect(&mut self, announced: usize, max: usize) -> Result<Bytes, BodyError> {
        let begun = self.watch.edge().clock().mark();
        // One frame, which is the usual case, is handed on as it came; more are joined.
        let mut first = Bytes::new();
        let mut joined = BytesMut::new();
        loop {
            let received = first.len() + joined.len();
            let left = begun.after(self.time_for(received)).left();
            let Some(data) = self.frame(left).await? else { break };
            if data.len() > max.saturating_sub(received) {
                return Err(BodyError::TooLarge);
            }
            if received == 0 {
                first = data;
            } else {
                if joined.is_empty() {
                    joined.reserve(announced);
                    joined.extend_from_slice(&std::mem::take(&mut first));
                }
                joined.extend_from_slice(&data);
            }
        }
        Ok(if joined.is_empty() { first } else { joined.freeze() })
    }

    /// The next data, or `None` at the end.
    async fn frame(&mut self, left: Duration) -> Result<Option<Bytes>, BodyError> {
        let clock = self.watch.edge().clock().clone();
        let incoming = &mut self.incoming;
        let next = std::future::poll_fn(|cx| Pin::new(&mut *incoming).poll_frame(cx));
        match clock.within(left, next).await {
            Err(_elapsed) => Err(BodyError::Timeout),
            Ok(Some(Err(_cause))) => Err(BodyError::Closed),
            // Trailers are read past: nothing here gives them a meaning.
            Ok(Some(Ok(frame))) => Ok(Some(frame.into_data().unwrap_or_default())),
            Ok(None) => {
                self.has_ended = true;
                Ok(None)
            }
        }
    }

    /// How long a body may take of which `received` bytes are there.
    fn time_for(&self, received: usize) -> Duration {
        let config = self.watch.edge().config();
        let millis = u64::try_from(received).unwrap_or(u64::MAX).saturating_mul(1000);
        let earned = millis.checked_div(config.body_rate.into()).unwrap_or(0);
        config.body_timeout.saturating_add(Duration::from_millis(earned))
    }
}

impl Drop for Body {
    /// Lets go of what has arrived; if more is to come, the connection cannot be used again.
    fn drop(&mut self) {
        if self.has_ended || self.incoming.is_end_stream() {
            return;
        }
        if !self.awaits_continue {
            let mut context = Context::from_waker(Waker::noop());
            let _ = Pin::new(&mut self.incoming).poll_frame(&mut context);
        }
        if !self.incoming.is_end_stream() {
            self.watch.close_after_answer();
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body(…)")
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the body is too large",
            Self::Timeout => "the body did not come in time",
            Self::Closed => "the body ended early or is malformed",
            Self::Encoded => "the body is compressed",
        })
    }
}

impl std::error::Error for BodyError {}
