//! One connection to an upstream, for one request after the other.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

use crate::outbound::http::failure;
use crate::outbound::wire::{Meter, Transport, Wire};
use crate::outbound::{BadResponse, Error};

/// A connection and the way to send on it.
pub(super) struct Wired {
    sender: SendRequest<Full<Bytes>>,
    /// `None` once it has ended.
    connection: Option<Box<http1::Connection<TokioIo<Wire>, Full<Bytes>>>>,
    meter: Arc<Meter>,
}

/// Why there is no head.
pub(super) struct Unanswered {
    pub(super) error: Error,
    /// Whether not a single byte came back.
    pub(super) is_silent: bool,
}

impl Wired {
    /// Speaks HTTP over a connection.
    pub(super) async fn new(transport: Transport) -> Result<Self, Error> {
        let meter = Meter::new(usize::MAX);
        let wire = TokioIo::new(Wire::new(transport, Arc::clone(&meter)));
        let (sender, connection) = http1::Builder::new()
            .title_case_headers(true)
            .max_headers(HEADERS_MAX)
            .max_header_size(HEAD_BYTES_MAX)
            .max_buf_size(BUFFER_BYTES)
            .handshake(wire)
            .await
            .map_err(|it| failure(&it, &meter))?;
        Ok(Self { sender, connection: Some(Box::new(connection)), meter })
    }

    /// Sends `request` and waits for the head of the answer; interim answers are skipped.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Unanswered> {
        let before = self.meter.read();
        let unanswered =
            |error, meter: &Meter| Unanswered { error, is_silent: meter.read() == before };
        let mut answer = pin!(self.sender.send_request(request));
        let (connection, meter) = (&mut self.connection, &self.meter);
        let answer = std::future::poll_fn(|cx| {
            let ended = poll_connection(connection, meter, cx);
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(answer.map_err(|it| failure(&it, meter)));
            }
            if meter.read().saturating_sub(before) > HEAD_SOCKET_BYTES_MAX {
                return Poll::Ready(Err(Error::BadResponse(BadResponse::HeadTooLarge)));
            }
            ended.map(Err)
        })
        .await
        .map_err(|it| unanswered(it, &self.meter))?;
        let status = answer.status();
        if status == StatusCode::SWITCHING_PROTOCOLS || status.as_u16() > STATUS_MAX {
            let error = Error::BadResponse(BadResponse::NotHttp);
            return Err(Unanswered { error, is_silent: false });
        }
        Ok(answer)
    }

    /// Lets the connection bring the next piece of `body`; `None` at its end.
    pub(super) fn poll_piece(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Error>> {
        loop {
            let ended = poll_connection(&mut self.connection, &self.meter, cx);
            match hyper::body::Body::poll_frame(Pin::new(body), cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers are skipped.
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Ok(Some(piece)));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Err(failure(&error, &self.meter)));
                }
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending => return ended.map(Err),
            }
        }
    }

    /// Whether the connection can take a request now, as far as can be seen without waiting.
    pub(super) fn is_ready(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let has_ended = poll_connection(&mut self.connection, &self.meter, &mut cx).is_ready();
        !has_ended && self.sender.is_ready()
    }
}

/// Lets a connection do its work; ready with what is wrong when it can do no more.
fn poll_connection(
    connection: &mut Option<Box<http1::Connection<TokioIo<Wire>, Full<Bytes>>>>,
    meter: &Meter,
    cx: &mut Context<'_>,
) -> Poll<Error> {
    let Some(open) = connection else {
        return Poll::Ready(Error::BadResponse(BadResponse::ClosedEarly));
    };
    let ended = ready!(Pin::new(open).poll(cx));
    *connection = None;
    Poll::Ready(match ended {
        Ok(()) => Error::BadResponse(BadResponse::ClosedEarly),
        Err(error) => failure(&error, meter),
    })
}

/// Headers of an answer.
const HEADERS_MAX: usize = 100;
/// Bytes of an answer's head.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Bytes that are read from the socket for a head, skipped interim answers included.
const HEAD_SOCKET_BYTES_MAX: usize = 128 * 1024;
/// Bytes that are read at once.
const BUFFER_BYTES: usize = 32 * 1024;
/// The largest status there is.
const STATUS_MAX: u16 = 599;
