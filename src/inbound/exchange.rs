//! One request and its answer: what is refused at the door, and what happens around the service.

use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::header::{CONNECTION, DATE, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode, Version};
use tracing::Instrument as _;

use crate::inbound::body::Body;
use crate::inbound::edge::Edge;
use crate::inbound::proxies;
use crate::inbound::refusal::Refusal;
use crate::inbound::request::{Head, Method, Peer, Request, RequestId};
use crate::inbound::response::{AnswerBody, Response};
use crate::inbound::service::{BoxFuture, Service};
use crate::inbound::watch::{Begun, Watch};
use crate::sys::metrics::Metrics;

/// What the requests of one connection have in common.
pub(super) struct Exchange<'a> {
    edge: &'a Edge,
    service: &'a dyn Service,
    peer: Peer,
    /// Whether the peer is a proxy that speaks for others.
    is_proxied: bool,
    watch: &'a Arc<Watch>,
    seed: [u8; 16],
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        edge: &'a Edge,
        service: &'a dyn Service,
        peer: Peer,
        watch: &'a Arc<Watch>,
    ) -> Self {
        let is_proxied = match peer {
            Peer::Tcp(ip) => proxies::is_trusted(&edge.config().trusted_proxies, ip),
            Peer::Local { .. } => false,
        };
        Self { edge, service, peer, is_proxied, watch, seed: edge.entropy().bytes() }
    }

    /// Answers one request that hyper has read.
    pub(super) async fn answer(
        &self,
        request: hyper::Request<Incoming>,
    ) -> Result<hyper::Response<AnswerBody>, Infallible> {
        let begun = self.watch.begin();
        let id = RequestId::new(self.seed, begun.nth);
        let (parts, incoming) = request.into_parts();
        let span = tracing::debug_span!(
            "request",
            id = %id,
            method = %parts.method,
            path = ?parts.uri.path(),
        );
        let response = match self.examine(&parts, begun) {
            Err(refusal) => {
                self.watch.close_after_answer();
                refusal.answer(&id)
            }
            Ok(method) => {
                let body = Body::new(incoming, &parts.headers, self.watch);
                let peer = self.caller(&parts.headers);
                let head = Head::new(parts, (method, peer, id), self.watch);
                self.serve(Request { head, body }).instrument(span.clone()).await
            }
        };
        let took = begun.at.elapsed();
        let metrics = self.edge.metrics();
        metrics.request_seconds.observe(took);
        count(metrics, response.status);
        tracing::debug!(
            parent: &span,
            status = response.status,
            duration_ms = took.as_millis(),
            "request answered",
        );
        Ok(self.seal(response, id))
    }

    /// Lets the service answer, in its time and without harm when it panics.
    async fn serve(&self, request: Request) -> Response {
        let id = request.head.id;
        let service = self.service;
        let work = catch_unwind(AssertUnwindSafe(|| service.answer(request)));
        let outcome = match work {
            Ok(work) => Attempt { work, watch: self.watch }.await,
            Err(_panic) => Err(Refusal::Panic),
        };
        match outcome {
            Ok(response) => response,
            Err(refusal) => {
                if refusal == Refusal::Panic {
                    self.edge.metrics().panics.add(1);
                    tracing::error!(request.id = %id, "the service panicked in request {id}");
                } else {
                    tracing::warn!(request.id = %id, "request {id} was not answered in time");
                }
                refusal.answer(&id)
            }
        }
    }

    /// Finds what makes a request ambiguous or too large, before anybody reads more of it.
    fn examine(&self, parts: &Parts, begun: Begun) -> Result<Method, Refusal> {
        if begun.is_ambiguous {
            return Err(Refusal::TwoLengths);
        }
        let mut codings = parts.headers.get_all(TRANSFER_ENCODING).iter();
        let is_chunked = |it: &HeaderValue| it.as_bytes().eq_ignore_ascii_case(b"chunked");
        if codings.next().is_some_and(|it| !is_chunked(it)) || codings.next().is_some() {
            return Err(Refusal::TransferCoding);
        }
        let method = Method::of(&parts.method).ok_or(Refusal::Method)?;
        let mut hosts = parts.headers.get_all(HOST).iter();
        let is_optional = parts.version == Version::HTTP_10;
        if (hosts.next().is_none() && !is_optional) || hosts.next().is_some() {
            return Err(Refusal::Host);
        }
        let target = parts.uri.path_and_query().map_or("", |it| it.as_str());
        if parts.uri.authority().is_some() || !target.starts_with('/') {
            return Err(Refusal::Target);
        }
        if target.len() > self.edge.config().url_bytes {
            return Err(Refusal::LongTarget);
        }
        Ok(method)
    }

    fn caller(&self, headers: &HeaderMap) -> Peer {
        match self.peer {
            Peer::Tcp(ip) if self.is_proxied => {
                let values = headers.get_all(FORWARDED_FOR).iter();
                // A value that is not text cannot be read, and ends the search as such.
                let values = values.map(|it| it.to_str().unwrap_or("?"));
                Peer::Tcp(proxies::caller(&self.edge.config().trusted_proxies, ip, values))
            }
            peer @ (Peer::Tcp(_) | Peer::Local { .. }) => peer,
        }
    }

    /// Adds what every answer carries.
    fn seal(&self, response: Response, id: RequestId) -> hyper::Response<AnswerBody> {
        self.watch.answered();
        let (status, mut headers, body) = response.into_parts(self.watch);
        if let Ok(id) = HeaderValue::from_str(id.as_str()) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(DATE, self.edge.date());
        if self.watch.closes() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let mut answer = hyper::Response::new(body);
        *answer.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *answer.headers_mut() = headers;
        answer
    }
}

/// Counts an answer in the family of its status.
pub(super) fn count(metrics: &Metrics, status: u16) {
    let family = usize::from(status / 100).saturating_sub(1);
    if let Some(counter) = metrics.requests.get(family) {
        counter.add(1);
    }
}

/// The service at work on one request.
struct Attempt<'a> {
    work: BoxFuture<'a, Response>,
    watch: &'a Watch,
}

impl Future for Attempt<'_> {
    type Output = Result<Response, Refusal>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        // The connection's timer wakes the task; whatever wakes it, the work is looked at first,
        // so that an answer that is ready goes out.
        match catch_unwind(AssertUnwindSafe(|| this.work.as_mut().poll(cx))) {
            Ok(Poll::Ready(response)) => Poll::Ready(Ok(response)),
            Ok(Poll::Pending) if this.watch.is_late() => Poll::Ready(Err(Refusal::LateAnswer)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_panic) => Poll::Ready(Err(Refusal::Panic)),
        }
    }
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
