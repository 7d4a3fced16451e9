//! What answers requests.

use std::future::Future;
use std::pin::Pin;

use crate::inbound::request::Request;
use crate::inbound::response::Response;

/// A future whose type is not named.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers requests: the API, the metrics page, the control socket.
pub trait Service: Send + Sync + 'static {
    /// Answers one request.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped at any of its waits when the caller goes away or the request's time
    /// is over. Work that must not be left half done belongs into one write of the store or into
    /// a task of its own.
    ///
    /// # Panics
    ///
    /// May panic: the caller gets a 500, and nobody else notices.
    fn answer(&self, request: Request) -> BoxFuture<'_, Response>;
}
