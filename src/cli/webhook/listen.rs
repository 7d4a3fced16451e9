//! `errand listen`: a receiver on loopback that shows every delivery and answers as it should.
//!
//! It stores nothing. What it remembers of events and what it reads of a body is bounded.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::signals::Signals;
use crate::cli::webhook::args::ListenArgs;
use crate::cli::webhook::inbox::{Arrival, Inbox};
use crate::cli::webhook::judge::or_dash;
use crate::cli::webhook::ledger::Count;
use crate::cli::webhook::secret;
use crate::inbound::{self, Edge, Listener};
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
    let fingerprint = secret.fingerprint();
    let (inbox, mut arrivals) = Inbox::new(secret, args.status, clock.clone());
    let ledger = inbox.ledger();
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
    summarise(&here.out, ledger.count())
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
