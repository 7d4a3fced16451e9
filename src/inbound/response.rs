//! An answer: a status, headers, and bytes that are there or that come one after the other.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::body::{Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use tokio::sync::mpsc;

use crate::inbound::watch::Watch;

/// One answer.
#[derive(Debug)]
pub struct Response {
    /// The HTTP status, 200 to 599.
    pub status: u16,
    headers: HeaderMap,
    content: Content,
}

/// The side of a streamed answer on which its bytes are made.
///
/// An answer that ends without [`Sender::finish`] is cut off where it is, so that its reader
/// cannot take a part for the whole.
#[derive(Debug)]
pub struct Sender {
    chunks: mpsc::Sender<Chunk>,
    sent: AtomicU64,
    taken: Arc<AtomicU64>,
}

/// Nobody reads the answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Stream(mpsc::Receiver<Chunk>, Arc<AtomicU64>),
}

#[derive(Debug)]
enum Chunk {
    More(Bytes),
    End,
}

impl Response {
    /// An answer without a body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self { status, headers: HeaderMap::new(), content: Content::Whole(Bytes::new()) }
    }

    /// An answer of JSON text.
    #[must_use]
    pub fn json(status: u16, body: Vec<u8>) -> Self {
        Self::whole(status, HeaderValue::from_static("application/json"), body.into())
    }

    /// An answer of plain text.
    #[must_use]
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        Self::whole(status, plain, Bytes::from(body.into()))
    }

    /// An answer with status 200 whose bytes follow through the [`Sender`].
    ///
    /// A few chunks may wait to be written; then [`Sender::send`] waits too.
    #[must_use]
    pub fn stream(content_type: &'static str) -> (Sender, Self) {
        let (chunks, rx) = mpsc::channel(CHUNKS_MAX);
        let taken = Arc::<AtomicU64>::default();
        let content = Content::Stream(rx, Arc::clone(&taken));
        let response = Self { content, ..Self::empty(200) };
        let sender = Sender { chunks, sent: AtomicU64::new(0), taken };
        (sender, response.with_header("content-type", content_type))
    }

    /// The same answer with one more header, in place of any of that name.
    ///
    /// A name or a value that HTTP cannot carry, such as one with a line break, is left out.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            self.headers.insert(name, value);
        }
        self
    }

    /// The value of a header; `None` when it is absent or not text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|it| it.to_str().ok())
    }

    fn whole(status: u16, content_type: HeaderValue, body: Bytes) -> Self {
        let mut headers = HeaderMap::with_capacity(HEADERS_USUAL);
        headers.insert(CONTENT_TYPE, content_type);
        Self { status, headers, content: Content::Whole(body) }
    }

    /// Takes the answer apart for hyper; a stream tells `watch` when it is over.
    pub(super) fn into_parts(self, watch: &Arc<Watch>) -> (u16, HeaderMap, AnswerBody) {
        let body = match self.content {
            Content::Whole(bytes) => AnswerBody::Whole(Some(bytes).filter(|it| !it.is_empty())),
            Content::Stream(chunks, taken) => {
                watch.stream_begins();
                let watch = Arc::clone(watch);
                AnswerBody::Stream(Stream { chunks, taken, is_over: false, watch })
            }
        };
        (self.status, self.headers, body)
    }
}

impl Sender {
    /// Sends a chunk of the answer, and waits while too many are under way.
    ///
    /// # Errors
    ///
    /// [`Gone`] when nobody reads the answer any more.
    ///
    /// # Cancel safety
    ///
    /// Safe: when the future is dropped before its end, the chunk has not been sent.
    pub async fn send(&self, chunk: impl Into<Bytes>) -> Result<(), Gone> {
        self.chunks.send(Chunk::More(chunk.into())).await.map_err(|_| Gone)?;
        self.sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// How many chunks were sent that the connection has not yet taken to be written.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let taken = self.taken.load(Ordering::Acquire);
        let waiting = self.sent.load(Ordering::Relaxed).saturating_sub(taken);
        usize::try_from(waiting).unwrap_or(usize::MAX)
    }

    /// Ends the answer as complete.
    ///
    /// # Errors
    ///
    /// [`Gone`] when nobody reads the answer any more.
    ///
    /// # Cancel safety
    ///
    /// Not safe: when the future is dropped before its end, the answer is cut off.
    pub async fn finish(self) -> Result<(), Gone> {
        self.chunks.send(Chunk::End).await.map_err(|_| Gone)
    }

    /// Waits until nobody reads the answer any more.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when the future is dropped.
    pub async fn gone(&self) {
        self.chunks.closed().await;
    }
}

/// What hyper writes after an answer's head.
pub(super) enum AnswerBody {
    Whole(Option<Bytes>),
    Stream(Stream),
}

pub(super) struct Stream {
    chunks: mpsc::Receiver<Chunk>,
    taken: Arc<AtomicU64>,
    is_over: bool,
    watch: Arc<Watch>,
}

/// The maker of a stream went away before its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutOff;

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|it| Ok(Frame::data(it)))),
            Self::Stream(stream) if stream.is_over => Poll::Ready(None),
            Self::Stream(stream) => stream.chunks.poll_recv(cx).map(|chunk| match chunk {
                Some(Chunk::More(bytes)) => {
                    stream.taken.fetch_add(1, Ordering::Release);
                    Some(Ok(Frame::data(bytes)))
                }
                Some(Chunk::End) => {
                    stream.is_over = true;
                    None
                }
                None => Some(Err(CutOff)),
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Stream(stream) => stream.is_over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                let length = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.watch.stream_ends();
    }
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer was not finished")
    }
}

impl std::error::Error for CutOff {}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reader of the answer is gone")
    }
}

impl std::error::Error for Gone {}

/// Chunks of a streamed answer that wait to be written.
const CHUNKS_MAX: usize = 2;
/// Headers of the usual answer, for which space is made at once.
const HEADERS_USUAL: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_could_split_an_answer_is_left_out() {
        let response = Response::empty(200)
            .with_header("x-good", "yes")
            .with_header("x-bad", "a\r\nset-cookie: b")
            .with_header("x bad", "c");
        assert_eq!(response.header("x-good"), Some("yes"));
        assert_eq!(response.headers.len(), 1);
        assert_eq!(response.with_header("X-Good", "no").header("x-good"), Some("no"));
    }

    #[tokio::test]
    async fn the_maker_of_a_stream_is_held_back_and_told_when_its_reader_goes() {
        let (sender, response) = Response::stream("text/event-stream");
        for _ in 0..CHUNKS_MAX {
            sender.send("data").await.unwrap();
        }
        let mut one_more = std::pin::pin!(sender.send("data"));
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(one_more.as_mut().poll(&mut context).is_pending());
        drop(response);
        assert_eq!(one_more.await, Err(Gone));
        sender.gone().await;
    }
}
