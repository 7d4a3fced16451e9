//! `errand trigger`: sends a receiver one event, right or tampered with, and judges its answer.
//!
//! One attempt, signed as the daemon signs; nothing is kept and nothing sent again. The command is
//! the developer's own, so it may go to this machine and to private networks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use url::Url;

use crate::cli::access::trust;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure, with_sources};
use crate::cli::input;
use crate::cli::webhook::args::{Tamper, TriggerArgs};
use crate::cli::webhook::judge::EVENT_ID;
use crate::cli::webhook::{secret, signed};
use crate::config::Mode;
use crate::domain::event::{Event, EventId};
use crate::domain::id::{Id, Receiver};
use crate::domain::limits::BODY_BYTES_MAX;
use crate::domain::receiver::{ReceiverUrl, UrlPolicy};
use crate::domain::signature::SigningSecret;
use crate::outbound::{
    Ask, Client, Guard, GuardConfig, Limits, Method, Opened, SystemResolver, TcpDialer,
};
use crate::sys::clock::Clock;
use crate::sys::entropy::Entropy;
use crate::sys::metrics::Metrics;

/// The event that is sent.
struct Sent {
    id: EventId,
    /// What the header says; another than [`Self::id`] when that is tampered with.
    header_id: EventId,
    body: Bytes,
}

/// Sends one event; ends with 1 when the answer is not that of the interface.
pub(in crate::cli) async fn run(here: &Here, args: &TriggerArgs) -> Result<(), Failure> {
    let secret = secret::secret(here, &args.secret)?;
    let url = target(here, args)?;
    let (clock, entropy) = (Clock::host(), Entropy::system());
    let sent = event(args, &clock, &entropy)?;
    let ask = Ask {
        method: Method::Post,
        headers: headers(&secret, &sent, args.tamper, &clock, &entropy),
        url,
        body: sent.body.clone(),
        limits: LIMITS,
    };
    let opened = client(here, clock)?.open(&ask).await.map_err(|error| {
        Failure::new(Exit::Failed, format!("{} did not answer: {}", ask.url, with_sources(&error)))
    })?;
    tell(here, args, &sent, &ask.url, &opened)
}

/// Where to: what the flag says, else where `errand dev` forwards to.
fn target(here: &Here, args: &TriggerArgs) -> Result<Url, Failure> {
    let text = match &args.url {
        Some(url) => url.clone(),
        None => secret::dev_file(here)?.forward_to.ok_or_else(|| {
            Failure::new(Exit::Usage, "dev.json says of no receiver")
                .then("name one with --url URL; `errand listen` is one")
        })?,
    };
    let url = ReceiverUrl::parse(&text, UrlPolicy::Development);
    url.map(|it| it.url().clone()).map_err(|why| {
        Failure::new(Exit::Usage, format!("the receiver's URL cannot be used: {why}"))
            .then("it begins with http:// or https:// and has neither a password nor a fragment")
    })
}

/// The event of a file, or a sample.
fn event(args: &TriggerArgs, clock: &Clock, entropy: &Entropy) -> Result<Sent, Failure> {
    let now = clock.now();
    let (id, body) = match &args.body {
        Some(path) => {
            let body = input::read(path, BODY_BYTES_MAX)?;
            let event: Value = serde_json::from_slice(&body).unwrap_or_default();
            let kind = args.kind.as_str();
            if event.get("type").and_then(Value::as_str) != Some(kind) {
                let what = format!("{path} is not an event with the type {kind}");
                return Err(Failure::new(Exit::Usage, what));
            }
            let id = signed::id(&body).ok_or_else(|| {
                Failure::new(Exit::Usage, format!("{path} has no id that is a UUID"))
            })?;
            (id, Bytes::from(body))
        }
        None => {
            let output = args.output_text.as_deref().unwrap_or(SAMPLE_OUTPUT);
            let event = Event::sample(args.kind, entropy.id(now), entropy.id(now), output);
            (event.id, Bytes::from(event.body))
        }
    };
    let header_id = match args.tamper {
        Some(Tamper::Id) => entropy.id(now),
        Some(Tamper::Signature | Tamper::Timestamp) | None => id,
    };
    Ok(Sent { id, header_id, body })
}

/// The headers of a first attempt, as the daemon sends them.
fn headers(
    secret: &SigningSecret,
    sent: &Sent,
    tamper: Option<Tamper>,
    clock: &Clock,
    entropy: &Entropy,
) -> Vec<(&'static str, String)> {
    let now = clock.now();
    let receiver: Id<Receiver> = entropy.id(now);
    let timestamp = match tamper {
        Some(Tamper::Timestamp) => now.before(STALE_AGE).seconds(),
        Some(Tamper::Signature | Tamper::Id) | None => now.seconds(),
    };
    let signed = match tamper {
        // As if somebody on the way had taken away the last byte.
        Some(Tamper::Signature) => sent.body.split_last().map_or(&[][..], |it| it.1),
        Some(Tamper::Timestamp | Tamper::Id) | None => &sent.body,
    };
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("user-agent", concat!("Errand/", env!("CARGO_PKG_VERSION")).to_owned()),
        ("accept", "*/*".to_owned()),
    ];
    headers.extend(signed::headers(secret, Some(sent.header_id), timestamp, signed));
    headers.push(("x-service-webhook-id", receiver.to_string()));
    headers.push(("x-service-attempt", "1".to_owned()));
    headers
}

fn client(here: &Here, clock: Clock) -> Result<Client, Failure> {
    let config = here.load_as(Mode::Dev, None, &[])?.config;
    let trust = trust(&config, &clock)?;
    let resolver = Arc::new(SystemResolver::new(clock.clone()));
    let guard = Guard::new(GuardConfig::development());
    let metrics = Arc::new(Metrics::default());
    Ok(Client::new(clock, guard, resolver, Arc::new(TcpDialer), trust, metrics))
}

/// Shows the answer, and says whether it is the right one.
fn tell(
    here: &Here,
    args: &TriggerArgs,
    sent: &Sent,
    url: &Url,
    opened: &Opened,
) -> Result<(), Failure> {
    let out = &here.out;
    let (status, millis) = (opened.status, opened.timing.total.as_millis());
    let millis = u64::try_from(millis).unwrap_or(u64::MAX);
    let request = opened.headers.first("x-request-id");
    // It is the receiver's text, and goes to a terminal.
    let request = request.filter(|it| it.bytes().all(|byte| byte.is_ascii_graphic()));
    let (is_right, expected) = expected(args.tamper, status);
    if out.is_json() {
        out.json(&json!({
            "event_id": sent.id.to_string(), "type": args.kind.as_str(), "url": url.as_str(),
            "tamper": args.tamper.map(Tamper::as_str), "expected": expected, "status": status,
            "request_id": request, "duration_ms": millis, "ok": is_right,
        }))?;
    } else {
        let mut facts = vec![("event", format!("{} {}", sent.id, args.kind.as_str()))];
        if sent.header_id != sent.id {
            facts.push(("header", format!("{EVENT_ID}: {}", sent.header_id)));
        }
        facts.push(("sent to", url.to_string()));
        facts.push(("answer", format!("{status} after {millis} ms")));
        facts.extend(request.map(|it| ("request", it.to_owned())));
        out.line(out.strong(&sentence(args.tamper, is_right)))?;
        out.facts(&facts)?;
    }
    if is_right {
        return Ok(());
    }
    let what = format!("the receiver answered {status}, and should answer {expected}");
    Err(Failure::new(Exit::Failed, what).then(advice(args.tamper, status)))
}

/// Whether a status is the right answer, and which ones are. Source: service interface, "Errors".
fn expected(tamper: Option<Tamper>, status: u16) -> (bool, &'static str) {
    match tamper {
        None => ((200..300).contains(&status), "2xx"),
        Some(Tamper::Signature | Tamper::Timestamp) => (status == 401, "401"),
        Some(Tamper::Id) => (status == 400, "400"),
    }
}

fn sentence(tamper: Option<Tamper>, is_right: bool) -> String {
    match (tamper, is_right) {
        (None, true) => "The receiver has taken the event.".to_owned(),
        (None, false) => "The receiver has not taken the event.".to_owned(),
        (Some(it), true) => format!("The receiver has refused the wrong {}.", it.as_str()),
        (Some(it), false) => {
            format!("The receiver did not answer the wrong {} as it should.", it.as_str())
        }
    }
}

/// What is usually wrong with a receiver that answers so.
fn advice(tamper: Option<Tamper>, status: u16) -> &'static str {
    match (tamper, status) {
        (None, 300..=399) => "redirects are not followed: register the URL that they lead to",
        (None, 401) => {
            "it did not believe a right signature: has it the same secret, and does it verify the \
             bytes of the body as they came?"
        }
        (None, 400) => "it believed the signature and not the body: does it compare the right ids?",
        (None, 404 | 405) => "nobody takes POST at this path",
        (None, _) => "any other answer than 2xx makes the daemon send the event again",
        (Some(Tamper::Signature), _) => "anybody could send it events: verify before anything else",
        (Some(Tamper::Timestamp), _) => {
            "an old request could be sent again: refuse timestamps more than five minutes off"
        }
        (Some(Tamper::Id), _) => "compare the id in the body with X-Service-Event-Id",
    }
}

/// The report in a sample.
const SAMPLE_OUTPUT: &str = "# A sample\n\nSent by `errand trigger`; there is no such run.\n";
/// How old a tampered timestamp is: twice what a receiver may believe.
const STALE_AGE: Duration = Duration::from_mins(10);
/// Of the answer only the head is read.
const LIMITS: Limits = Limits {
    dns: Duration::from_secs(3),
    connect: Duration::from_secs(5),
    tls: Duration::from_secs(5),
    head: Duration::from_secs(15),
    total: Duration::from_secs(20),
    wire_bytes: 0,
    decoded_bytes: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: service interface, "Errors" and "Events", rule 7.
    #[test]
    fn an_answer_is_right_when_it_is_that_of_the_interface() {
        for (tamper, right, wrong) in [
            (None, [200, 204, 299], [300, 401, 500]),
            (Some(Tamper::Signature), [401; 3], [204, 400, 403]),
            (Some(Tamper::Timestamp), [401; 3], [204, 400, 500]),
            (Some(Tamper::Id), [400; 3], [204, 401, 422]),
        ] {
            assert!(right.iter().all(|it| expected(tamper, *it).0), "{tamper:?}");
            assert!(!wrong.iter().any(|it| expected(tamper, *it).0), "{tamper:?}");
        }
    }
}
