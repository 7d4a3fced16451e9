//! Asks a model: its upstreams in order, until one has begun to answer.
//!
//! Another upstream is tried only while nothing was delivered, so a caller never sees two
//! answers in one, and a request is charged once by construction.

use std::time::Duration;

use bytes::Bytes;

use crate::domain::chat::{Bound, Request, upstream_body};
use crate::models::answer::Flow;
use crate::models::breaker::Entry;
use crate::models::reading::Reading;
use crate::models::{Answer, Fault, Model, Piece, Registry, Source, Upstream, refused};
use crate::outbound::{UpstreamAnswer, UpstreamAsk};
use crate::sys::clock::Mark;

/// What is asked of a model.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The model.
    pub model: &'a Model,
    /// The request.
    pub request: &'a Request,
    /// The most that it can use; the same that is held for.
    pub bound: Bound,
    /// How long the caller itself waits, if it says so.
    pub client_timeout: Option<Duration>,
}

/// Asks a model, and waits until it has begun to answer.
///
/// # Errors
///
/// [`Fault`]: nothing was delivered.
///
/// # Cancel safety
///
/// A dropped call stops the upstream; it may have worked.
pub async fn chat(registry: &Registry, ask: &Ask<'_>) -> Result<Answer, Fault> {
    let total = ask.model.times.total(ask.request.reply, ask.client_timeout);
    let until = registry.clock.mark().after(total);
    let upstreams = match &ask.model.source {
        Source::Upstreams(upstreams) => upstreams,
        Source::Offline(offline) => {
            let script = offline.answer(ask.request, &ask.bound, &ask.model.sizes)?;
            let flow = Flow::Offline(script);
            return Ok(Answer { first: None, flow, clock: registry.clock.clone(), until });
        }
    };
    let (mut faults, mut attempts) = (Vec::new(), 0);
    for (number, upstream) in (1_u32..).zip(upstreams) {
        let entry = match upstream.breaker.enter(&registry.clock) {
            Ok(entry) => entry,
            Err(pause) => {
                faults.push(Fault::Unavailable(pause.min(PAUSE_MAX)));
                continue;
            }
        };
        attempts += 1;
        let fault = match Box::pin(begin(registry, ask, upstream, until)).await {
            Ok((first, reading)) => {
                let flow = Flow::Upstream(Box::new(reading), entry.begin());
                return Ok(Answer { first, flow, clock: registry.clock.clone(), until });
            }
            Err(fault) => fault,
        };
        judge(registry, ask.model, number, entry, &fault, until);
        let is_last = attempts == ATTEMPTS_MAX || !fault.allows_another() || until.left().is_zero();
        faults.push(fault);
        if is_last {
            break;
        }
    }
    Err(summary(faults))
}

/// Asks one upstream, and waits for the first piece of its answer.
async fn begin(
    registry: &Registry,
    ask: &Ask<'_>,
    upstream: &Upstream,
    until: Mark,
) -> Result<(Option<Piece>, Reading), Fault> {
    let body = upstream_body(ask.request, &upstream.model, &ask.bound, upstream.stream);
    let asked = UpstreamAsk {
        url: &upstream.url,
        bearer: upstream.bearer.as_ref(),
        body: Some(Bytes::from(body)),
        limits: ask.model.times.limits(),
        until,
    };
    let answer = registry.upstreams.ask(&asked).await.map_err(|error| {
        tracing::debug!(%error, "an upstream could not be asked");
        // Without time left, whatever stage it was in does not matter.
        if until.left().is_zero() { Fault::Timeout } else { Fault::of_head(error) }
    })?;
    if answer.status != STATUS_OK {
        return Err(refusal(registry, answer).await);
    }
    if answer.headers.all("content-encoding").any(|it| it != "identity") {
        return Err(Fault::Invalid);
    }
    let mut reading = Reading::new(answer, registry.texts, registry.clock.clone());
    let first = reading.next().await?;
    Ok((first, reading))
}

/// Tells the operator and the breaker what came of an upstream that did not begin to answer.
fn judge(
    registry: &Registry,
    model: &Model,
    number: u32,
    entry: Entry,
    fault: &Fault,
    until: Mark,
) {
    let (id, code) = (&model.id, fault.code());
    if !fault.is_breakage() {
        entry.succeed();
    } else if until.left().is_zero() {
        // A caller in a hurry must not close an upstream to everybody else.
        drop(entry);
    } else if entry.fail(&registry.clock) {
        tracing::warn!(model.id = %id, "upstream {number} of the model {id} is left alone for now");
    }
    if fault.is_breakage() || *fault == Fault::Misconfigured {
        tracing::warn!(model.id = %id, code, "upstream {number} of the model {id} failed: {code}");
    } else {
        tracing::debug!(model.id = %id, code, "upstream {number} of the model {id}: {code}");
    }
}

/// What a status other than 200 means.
async fn refusal(registry: &Registry, mut answer: UpstreamAnswer) -> Fault {
    tracing::info!(
        status = answer.status,
        "an upstream answered with the status {}",
        answer.status
    );
    // Without a readable body the status alone decides.
    let body = registry.clock.within(REFUSAL_SPAN, answer.read(REFUSAL_BYTES_MAX)).await;
    let body = body.ok().and_then(Result::ok).unwrap_or_default();
    let retry_after = answer.headers.first("retry-after");
    refused::of_answer(answer.status, &body, retry_after, registry.clock.now(), registry.texts)
}

/// What is told of several faults: the last real one, else the shortest wait that was asked for,
/// else that every upstream is left alone.
fn summary(faults: Vec<Fault>) -> Fault {
    let shortest = |kind: fn(&Fault) -> bool| {
        faults.iter().filter(|it| kind(it)).min_by_key(|it| it.retry_after()).cloned()
    };
    let limited = shortest(|it| matches!(it, Fault::RateLimited(_)));
    let alone = shortest(|it| matches!(it, Fault::Unavailable(_)));
    let waits = |it: &Fault| matches!(it, Fault::RateLimited(_) | Fault::Unavailable(_));
    let real = faults.into_iter().rfind(|it| !waits(it));
    real.or(limited).or(alone).unwrap_or(Fault::Misconfigured)
}

/// Upstreams that one request is sent to. Source: the contract, section 5.
const ATTEMPTS_MAX: u32 = 3;
/// The longest pause that a caller is told while an upstream is left alone.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// The status of an answer.
const STATUS_OK: u16 = 200;
/// How long the body of an upstream's refusal is waited for.
const REFUSAL_SPAN: Duration = Duration::from_secs(5);
/// Bytes of an upstream's refusal that are read.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
