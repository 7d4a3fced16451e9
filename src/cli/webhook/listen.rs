//! `errand listen`: a receiver on loopback that shows every delivery and answers as it should.
//!
//! It stores nothing. What it remembers of events and what it reads of a body is bounded.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::signals::Signals;
use crate::cli::webhook::args::ListenArgs;
use crate::cli::webhook::judge::{
    Believed, Delivery, Doubt, EVENT_ID, Receiver, SIGNATURE, TIMESTAMP, or_dash,
};
use crate::cli::webhook::ledger::{Count, Ledger, Seen};
use crate::cli::webhook::secret;
use crate::domain::limits::{BODY_BYTES_MAX, SIGNATURE_SKEW_MAX};
use crate::domain::signature::SigningSecret;
use crate::domain::time::Timestamp;
use crate::inbound::{
    self, BodyError, BoxFuture, Edge, Head, Listener, Method, Request, Response, Service,
};
use crate::sys::clock::Clock;
use crate::sys::entropy::Entropy;
use crate::sys::metrics::Metrics;
use crate::sys::shutdown::{Phase, Shutdown};

/// Receives until a signal ends it.
pub(in crate::cli) async fn run(here: &Here, args: &ListenArgs) -> Result<(), Failure> {
    let secret = secret::secret(here, &args.secret)?;
    let mut signals = Signals::listen().map_err(|it| Failure::new(Exit::Failed, it.to_string()))?;
    let listener = Listener::tcp(SocketAddr::from(([127, 0, 0, 1], args.port))).await;
    let listener = listener.map_err(|error| {
        let failure = Failure::from(error);
        let is_taken = failure.exit == Exit::Conflict;
        if is_taken { failure.then("--port 0 takes a free one") } else { failure }
    })?;
    let address = listener.local_addr();
    let address = address.ok_or_else(|| Failure::new(Exit::Failed, "the port has no address"))?;
    let (clock, shutdown) = (Clock::host(), Shutdown::new());
    let (tx, mut arrivals) = mpsc::channel(ARRIVALS_MAX);
    let fingerprint = secret.fingerprint();
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let inbox = Inbox {
        secret,
        status: args.status,
        clock: clock.clone(),
        ledger: Arc::clone(&ledger),
        arrivals: tx,
    };
    let (entropy, metrics) = (Entropy::system(), Arc::new(Metrics::default()));
    let edge = Edge::new(inbound::Config::default(), clock, entropy, metrics, shutdown.clone());
    let mut serving = tokio::spawn(listener.run(edge, Arc::new(inbox)));
    greet(here, args, address, &fingerprint)?;
    loop {
        tokio::select! {
            biased;
            Some(arrival) = arrivals.recv() => show(&here.out, &arrival)?,
            () = signals.end() => break,
            _ = &mut serving => break,
        }
    }
    shutdown.advance(Phase::Stopping);
    let count = ledger.lock().unwrap_or_else(PoisonError::into_inner).count;
    summarise(&here.out, count)
}

/// Takes deliveries.
struct Inbox {
    secret: SigningSecret,
    /// What every delivery is answered, when somebody wants it so.
    status: Option<u16>,
    clock: Clock,
    ledger: Arc<Mutex<Ledger>>,
    arrivals: mpsc::Sender<Arrival>,
}

/// One delivery, and what was made of it.
struct Arrival {
    at: Timestamp,
    attempt: Option<u32>,
    verdict: Result<(Believed, Seen), String>,
    status: u16,
}

impl Service for Inbox {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(self.take(request))
    }
}

impl Inbox {
    async fn take(&self, request: Request) -> Response {
        if request.head.method != Method::Post {
            return Response::empty(405).with_header("allow", "POST");
        }
        let (head, body) = request.into_parts();
        let (verdict, usual) = match body.read(BODY_BYTES_MAX).await {
            Ok(body) => self.judge(&head, &body),
            Err(why) => {
                self.ledger().refused();
                (Err(why.to_string()), status_of(why))
            }
        };
        let status = self.status.unwrap_or(usual);
        let attempt = head.header("x-service-attempt").and_then(|it| it.parse().ok());
        let arrival = Arrival { at: self.clock.now(), attempt, verdict, status };
        // At the end nobody looks any more.
        let _ = self.arrivals.send(arrival).await;
        Response::empty(status)
    }

    fn judge(&self, head: &Head, body: &[u8]) -> (Result<(Believed, Seen), String>, u16) {
        let receiver =
            Receiver { secret: &self.secret, now: self.clock.now(), skew: SIGNATURE_SKEW_MAX };
        let header = |name| head.header(name).unwrap_or_default();
        let verdict = receiver.judge(&Delivery {
            event_id: Some(header(EVENT_ID)),
            timestamp: header(TIMESTAMP),
            signature: header(SIGNATURE),
            body,
        });
        match verdict {
            Ok(believed) => (Ok((believed, self.ledger().believed(believed.id))), STORED),
            Err(doubt) => {
                self.ledger().refused();
                (Err(told(&doubt)), doubt.status())
            }
        }
    }

    fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A doubt in one line.
fn told(doubt: &Doubt) -> String {
    doubt.more().map_or_else(|| doubt.to_string(), |more| format!("{doubt} ({more})"))
}

const fn status_of(error: BodyError) -> u16 {
    match error {
        BodyError::TooLarge => 413,
        BodyError::Timeout => 408,
        BodyError::Closed => 400,
        BodyError::Encoded => 415,
    }
}

fn greet(
    here: &Here,
    args: &ListenArgs,
    address: SocketAddr,
    fingerprint: &str,
) -> Result<(), Failure> {
    let (out, url) = (&here.out, format!("http://{address}"));
    if out.is_json() {
        return out.json(&json!({ "listening": url, "secret_fingerprint": fingerprint }));
    }
    let same = here.same_data() + &args.secret.again();
    out.line(out.strong(&format!("listening on {url}")))?;
    out.facts(&[
        ("secret", format!("the one with the fingerprint {fingerprint}")),
        ("try it", format!("errand trigger agent.run.succeeded --url {url}{same}")),
        ("end", "Ctrl-C".to_owned()),
    ])
}

fn show(out: &Output, arrival: &Arrival) -> Result<(), Failure> {
    let Arrival { at, attempt, verdict, status } = arrival;
    if out.is_json() {
        let believed = verdict.as_ref().ok();
        return out.json(&json!({
            "at": at.to_string(),
            "believed": believed.is_some(),
            "reason": verdict.as_ref().err(),
            "type": believed.and_then(|it| it.0.kind()),
            "event_id": believed.map(|it| it.0.id.to_string()),
            "run_id": believed.and_then(|it| it.0.run).map(|it| it.to_string()),
            "attempt": attempt,
            "seen": believed.map(|it| it.1.as_str()),
            "status": status,
        }));
    }
    let clock = at.to_string();
    let clock = clock.get(11..19).unwrap_or_default();
    let attempt = or_dash(*attempt);
    match verdict {
        Ok((event, seen)) => {
            let (kind, id, seen) = (or_dash(event.kind()), event.id, seen.as_str());
            let run = or_dash(event.run);
            out.line(format!(
                "{clock}  {status}  {kind}  event {id}  attempt {attempt}  run {run}  \
                 verified, {seen}"
            ))
        }
        Err(why) => out.line(format!("{clock}  {status}  not believed  attempt {attempt}  {why}")),
    }
}

fn summarise(out: &Output, count: Count) -> Result<(), Failure> {
    let Count { new, again, refused } = count;
    if out.is_json() {
        let count: Value = json!({ "new": new, "again": again, "refused": refused });
        return out.json(&json!({ "count": count }));
    }
    out.line(format!("{new} new, {again} again, {refused} not believed"))
}

/// The answer of a receiver that has stored an event. Source: service interface, "Errors".
const STORED: u16 = 204;
/// Deliveries that wait to be shown.
const ARRIVALS_MAX: usize = 64;
