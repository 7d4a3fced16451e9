//! One connection, from its first byte to its last.

use std::pin::pin;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::inbound::edge::Edge;
use crate::inbound::exchange::Exchange;
use crate::inbound::request::Peer;
use crate::inbound::service::Service;
use crate::inbound::watch::{Next, Watch};
use crate::inbound::wire::Wire;
use crate::sys::metrics::Gauge;
use crate::sys::shutdown::Phase;

/// Answers the requests of one connection with `service` until either side ends it.
///
/// Requests are answered one by one and in order, pipelined ones too. When the shutdown drains,
/// the connection ends after the answer that is under way, or at once when there is none.
///
/// # Cancel safety
///
/// Not safe: when the future is dropped, the connection breaks and the request under way with it.
pub async fn serve_connection<S>(edge: &Edge, stream: S, peer: Peer, service: Arc<dyn Service>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let _open = Open::new(&edge.metrics().connections);
    let watch = Arc::new(Watch::new(edge));
    let exchange = Exchange::new(edge, &*service, peer, &watch);
    let wire = TokioIo::new(Wire::new(stream, &watch));
    let answers = service_fn(|request| exchange.answer(request));
    let mut connection = pin!(edge.http().serve_connection(wire, answers));
    let mut drains = pin!(edge.shutdown().reached(Phase::Draining));
    let mut timer = pin!(edge.clock().sleep(edge.config().shortest()));
    let mut is_draining = false;
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(cause) = ended {
                    tracing::debug!("the connection broke: {cause}");
                }
                return;
            }
            () = drains.as_mut(), if !is_draining => {
                is_draining = true;
                connection.as_mut().graceful_shutdown();
            }
            () = timer.as_mut() => match watch.look() {
                Next::Close => {
                    tracing::debug!("the connection was too slow: {watch:?}");
                    return;
                }
                Next::Look(span) => timer.set(edge.clock().sleep(span)),
            }
        }
    }
}

/// Counts a connection as open while it lives.
struct Open<'a>(&'a Gauge);

impl<'a> Open<'a> {
    fn new(gauge: &'a Gauge) -> Self {
        gauge.up();
        Self(gauge)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.down();
    }
}
