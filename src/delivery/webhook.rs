//! Posting an event: judge the URL again, sign, send, and decide on the head of the answer.
//!
//! The name is looked up at every send, every answer is judged, and the address that is dialled is
//! one that was judged. Nothing is redirected, pooled or sent through a proxy. What comes after
//! the head of an answer changes nothing.
//!
//! Source: service interface, "Events", rules 3 to 8; the contract, section 8.

use std::time::Duration;

use bytes::Bytes;

use crate::delivery::fault;
use crate::domain::event::EventId;
use crate::domain::fault::{Detail, Fault, Reason};
use crate::domain::receiver::{ReceiverId, ReceiverUrl, UrlPolicy};
use crate::domain::retry::{self, http_date};
use crate::domain::signature::SigningSecret;
use crate::domain::time::Timestamp;
use crate::outbound::{Ask, Client, Error, Limits, Method, Opened, Reached};
use crate::sys::clock::Clock;

/// Posts events; cheap to clone.
#[derive(Clone, Debug)]
pub struct Sender {
    client: Client,
    clock: Clock,
    policy: UrlPolicy,
    standard: StandardHeaders,
}

/// Whether the headers of Standard Webhooks go along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardHeaders {
    /// They do, with their own signature.
    Sent,
    /// They do not.
    Absent,
}

/// One event for one receiver.
#[derive(Clone)]
pub struct Post<'a> {
    /// The receiver.
    pub receiver: ReceiverId,
    /// Its address, as it was taken.
    pub url: &'a str,
    /// Its secret.
    pub secret: &'a SigningSecret,
    /// The event.
    pub event: EventId,
    /// The bytes, which are sent as they are.
    pub body: Bytes,
    /// The number of the attempt, from 1.
    pub attempt: u32,
}

/// What came of an attempt.
#[derive(Debug)]
pub struct Sent {
    /// The verdict; nothing changes it any more.
    pub verdict: Verdict,
    /// How long it took until then.
    pub duration: Duration,
    /// What is left of the answer.
    pub rest: Option<Rest>,
    /// The receiver's clock, as its answer has it.
    pub date: Option<Timestamp>,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// With an answer of 2xx.
    Delivered {
        /// Its code.
        http_code: u16,
    },
    /// With another answer, or none.
    Failed {
        /// The code of the answer, if there was one.
        http_code: Option<u16>,
        /// Why.
        fault: Fault,
        /// How long the receiver wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// Not at all: this host has no socket left. It does not count.
    NotSent,
}

/// What DNS says of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vetted {
    /// All its addresses are public.
    Allowed,
    /// It has no address now.
    Unresolved,
    /// One of its addresses is not public.
    Forbidden,
}

/// The body of an answer, which nobody reads.
#[derive(Debug)]
pub struct Rest(Opened);

impl Sender {
    /// A sender that goes out through `client` and takes the URLs of `policy`.
    #[must_use]
    pub const fn new(
        client: Client,
        clock: Clock,
        policy: UrlPolicy,
        standard: StandardHeaders,
    ) -> Self {
        Self { client, clock, policy, standard }
    }

    /// Sends an event once.
    ///
    /// # Cancel safety
    ///
    /// A dropped call closes the socket; the event may have been sent.
    pub async fn send(&self, post: &Post<'_>) -> Sent {
        let start = self.clock.mark();
        let decided = |verdict| Sent { verdict, duration: start.elapsed(), rest: None, date: None };
        // A URL that was taken under other rules, or by another version, is judged as a new one.
        let Ok(url) = ReceiverUrl::parse(post.url, self.policy) else {
            return decided(failed(Fault::of(Reason::AddressNotAllowed)));
        };
        match self.client.open(&self.ask(post, &url)).await {
            Ok(opened) => {
                let now = self.clock.now();
                let date = opened.headers.first("date").and_then(http_date);
                let verdict = judge(&opened, now);
                Sent { date, rest: Some(Rest(opened)), ..decided(verdict) }
            }
            Err(error) => decided(fault::of(error).map_or(Verdict::NotSent, failed)),
        }
    }

    /// Looks a URL up and judges its addresses; nothing is dialled.
    pub async fn vet(&self, url: &ReceiverUrl) -> Vetted {
        let limits = Limits { dns: VET_MAX, total: VET_MAX, ..LIMITS };
        match self.client.vet(url.url(), &limits).await {
            Ok(()) => Vetted::Allowed,
            Err(Error::Forbidden) => Vetted::Forbidden,
            Err(_) => Vetted::Unresolved,
        }
    }

    /// Connects to a URL and agrees on TLS; nothing is asked.
    ///
    /// # Errors
    ///
    /// What an attempt would fail with.
    pub async fn reach(&self, url: &str) -> Result<Reached, Fault> {
        let forbidden = Fault::of(Reason::AddressNotAllowed);
        let url = ReceiverUrl::parse(url, self.policy).map_err(|_| forbidden)?;
        let reached = self.client.reach(url.url(), &LIMITS).await;
        reached.map_err(|it| fault::of(it).unwrap_or(Fault::of(Reason::Internal)))
    }

    /// The request: the service's headers and those of Standard Webhooks, with one timestamp.
    fn ask(&self, post: &Post<'_>, url: &ReceiverUrl) -> Ask {
        let timestamp = self.clock.now().seconds();
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "*/*".to_owned()),
            ("user-agent", USER_AGENT.to_owned()),
            ("x-service-event-id", post.event.to_string()),
            ("x-service-timestamp", timestamp.to_string()),
            ("x-service-signature", post.secret.sign(timestamp, &post.body)),
            ("x-service-webhook-id", post.receiver.to_string()),
            ("x-service-attempt", post.attempt.to_string()),
        ];
        if self.standard == StandardHeaders::Sent {
            let signature = post.secret.sign_standard(post.event, timestamp, &post.body);
            headers.push(("webhook-id", post.event.to_string()));
            headers.push(("webhook-timestamp", timestamp.to_string()));
            headers.push(("webhook-signature", signature));
        }
        let (url, body) = (url.url().clone(), post.body.clone());
        Ask { method: Method::Post, url, headers, body, limits: LIMITS }
    }
}

impl Rest {
    /// Reads a little of it and closes, so that a receiver that is still working is not cut off.
    pub async fn discard(self) {
        self.0.discard(DISCARD_BYTES_MAX, DISCARD_MAX).await;
    }
}

/// Decides on the head of an answer.
fn judge(opened: &Opened, now: Timestamp) -> Verdict {
    let http_code = opened.status;
    let detail = match http_code {
        200..=299 => return Verdict::Delivered { http_code },
        300..=399 => Some(Detail::Redirect),
        _ => None,
    };
    let mut hints = opened.headers.all("retry-after");
    let retry_after = match (http_code, hints.next(), hints.next()) {
        (429 | 503, Some(hint), None) => retry::hint(hint, now),
        _ => None,
    };
    let fault = Fault { reason: Reason::HttpStatus, detail };
    Verdict::Failed { http_code: Some(http_code), fault, retry_after }
}

const fn failed(fault: Fault) -> Verdict {
    Verdict::Failed { http_code: None, fault, retry_after: None }
}

/// How long each stage of an attempt may take. Source: the contract, section 8.
const LIMITS: Limits = Limits {
    dns: Duration::from_secs(3),
    connect: Duration::from_secs(5),
    tls: Duration::from_secs(5),
    head: Duration::from_secs(15),
    total: Duration::from_secs(15),
    wire_bytes: 0,
    decoded_bytes: 0,
};
/// Time for a look-up when a receiver is connected. Source: the contract, section 8.
const VET_MAX: Duration = Duration::from_secs(2);
/// Bytes of an answer's body that are read and forgotten. Source: the contract, section 8.
const DISCARD_BYTES_MAX: usize = 64 * 1024;
/// Time for it. Source: the contract, section 8.
const DISCARD_MAX: Duration = Duration::from_secs(2);
/// What the sender calls itself.
const USER_AGENT: &str = concat!("Errand/", env!("CARGO_PKG_VERSION"));
