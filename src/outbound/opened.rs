//! An answer whose head is there and whose body is not yet.
//!
//! The head decides: whoever needs no more drops this, and the socket closes. Who reads on does
//! so under the same total deadline; who only wants to part politely says how long that may take.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use crate::outbound::client::Deadline;
use crate::outbound::decode::Decoder;
use crate::outbound::http::Exchange;
use crate::outbound::{Answer, Error, Headers, Limits, Method, Stage, Timing, TlsFacts, TooLarge};

/// The head of an answer, and the way to its body.
pub struct Opened {
    /// The status, 200 to 599.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// How long it took until the head was there.
    pub timing: Timing,
    /// What TLS learned; `None` for plain HTTP.
    pub tls: Option<TlsFacts>,
    /// The address that answers.
    pub peer: SocketAddr,
    pub(super) method: Method,
    pub(super) exchange: Exchange,
    pub(super) deadline: Deadline,
    pub(super) decoder: Option<Decoder>,
}

impl Opened {
    /// Reads the whole body.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] when the exchange has taken too long altogether, [`Error::TooLarge`],
    /// [`Error::BadEncoding`], [`Error::BadResponse`] or [`Error::Tls`].
    pub async fn read(mut self, limits: &Limits) -> Result<Answer, Error> {
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk(limits).await? {
            body.extend_from_slice(&chunk);
        }
        let decoder = self.decoder.as_ref();
        Ok(Answer {
            status: self.status,
            wire_bytes: decoder.map_or(0, Decoder::wire_bytes),
            content_encoding: decoder.and_then(Decoder::content_encoding),
            headers: self.headers,
            body: body.freeze(),
            timing: Timing { total: self.deadline.elapsed(), ..self.timing },
            tls: self.tls,
            peer: self.peer,
        })
    }

    /// Waits for the next piece of the body, every coding undone; `None` at its end.
    ///
    /// # Errors
    ///
    /// As [`Opened::read`]; `limits` count from the beginning of the body.
    ///
    /// # Cancel safety
    ///
    /// Safe: no piece is lost.
    pub async fn chunk(&mut self, limits: &Limits) -> Result<Option<Bytes>, Error> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            None => self.decoder.insert(Decoder::new(self.method, &self.headers)?),
        };
        let announced = self.exchange.announced().map_or(Ok(0), usize::try_from);
        if announced.is_err() || announced.is_ok_and(|it| it > limits.wire_bytes) {
            return Err(Error::TooLarge(TooLarge::Wire));
        }
        loop {
            let piece = self.exchange.piece();
            let piece = self.deadline.within(Stage::Body, Duration::MAX, piece).await??;
            let Some(piece) = piece else {
                decoder.finish()?;
                return Ok(None);
            };
            let chunk = decoder.feed(&piece, limits)?;
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
    }

    /// Reads and forgets the body, at most `bytes` of it and for at most `span`, then closes.
    ///
    /// A server that is still working when its client hangs up may give the work up. The time
    /// comes on top of the total of the exchange, which was decided at its head.
    pub async fn discard(mut self, bytes: usize, span: Duration) {
        let mut seen = 0;
        let drained = async {
            while let Ok(Some(piece)) = self.exchange.piece().await {
                seen += piece.len();
                if seen >= bytes {
                    break;
                }
            }
        };
        // However it ends, nothing depends on it.
        let _ = self.deadline.clock().within(span, drained).await;
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("status", &self.status).finish_non_exhaustive()
    }
}
