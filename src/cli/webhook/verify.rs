//! `errand webhook verify`: whether a request is to be believed, and if not, exactly why.

use std::time::Duration;

use serde_json::json;

use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::webhook::args::VerifyArgs;
use crate::cli::webhook::judge::{
    Believed, Delivery, Doubt, EVENT_ID, Receiver, SIGNATURE, TIMESTAMP, or_dash, span,
};
use crate::cli::webhook::saved::Saved;
use crate::cli::webhook::secret;
use crate::domain::limits::BODY_BYTES_MAX;
use crate::sys::clock::Clock;

/// Judges one request; ends with 1 when it is not to be believed.
pub(in crate::cli) fn run(here: &Here, args: &VerifyArgs) -> Result<(), Failure> {
    let secret = secret::secret(here, &args.secret)?;
    let receiver = Receiver {
        secret: &secret,
        now: args.now.unwrap_or_else(|| Clock::host().now()),
        skew: Duration::from_secs(args.tolerance),
    };
    let fingerprint = secret.fingerprint();
    if let Some(path) = &args.request {
        let bytes = input::read(path, BODY_BYTES_MAX.saturating_add(HEAD_BYTES_MAX))?;
        let saved = Saved::parse(&bytes).map_err(|why| {
            Failure::new(Exit::Usage, format!("{path} is not a saved request: {why}"))
                .then("`errand webhook verify --timestamp T --signature S BODY` takes the parts")
        })?;
        let delivery = Delivery {
            event_id: Some(saved.header(EVENT_ID).unwrap_or_default()),
            timestamp: saved.header(TIMESTAMP).unwrap_or_default(),
            signature: saved.header(SIGNATURE).unwrap_or_default(),
            body: saved.body,
        };
        return tell(here, receiver.judge(&delivery), &fingerprint, length(&saved));
    }
    let body = input::read(&args.file, BODY_BYTES_MAX)?;
    let delivery = Delivery {
        event_id: args.event_id.as_deref(),
        timestamp: args.timestamp.as_deref().unwrap_or_default(),
        signature: args.signature.as_deref().unwrap_or_default(),
        body: &body,
    };
    tell(here, receiver.judge(&delivery), &fingerprint, None)
}

/// What a length that is not that of the body says of how it was saved.
fn length(saved: &Saved<'_>) -> Option<String> {
    let announced = saved.announced()?;
    let found = saved.body.len();
    Some(format!("the body has {found} bytes, and content-length says {announced}"))
}

fn tell(
    here: &Here,
    verdict: Result<Believed, Doubt>,
    fingerprint: &str,
    length: Option<String>,
) -> Result<(), Failure> {
    let out = &here.out;
    let doubt = match verdict {
        Ok(believed) if out.is_json() => {
            return out.json(&json!({
                "believed": true,
                "status": 204,
                "event_id": believed.id.to_string(),
                "type": believed.kind(),
                "run_id": believed.run.map(|it| it.to_string()),
                "age_seconds": believed.age,
            }));
        }
        Ok(believed) => {
            out.line(out.strong("Believed: it is signed with this secret, and in time."))?;
            let way = if believed.age < 0 { "ahead of this clock" } else { "ago" };
            return out.facts(&[
                ("event", format!("{} {}", believed.id, or_dash(believed.kind()))),
                ("run", or_dash(believed.run)),
                ("signed", format!("{} {way}", span(believed.age.unsigned_abs()))),
                ("answer", "any 2xx".to_owned()),
            ]);
        }
        Err(doubt) => doubt,
    };
    let is_mismatch = matches!(doubt, Doubt::Mismatch(_));
    let which = format!("this secret is the one with the fingerprint {fingerprint}");
    let mut more: Vec<String> = doubt.more().into_iter().collect();
    more.extend(length.filter(|_| is_mismatch));
    more.extend(Some(which).filter(|_| is_mismatch));
    if out.is_json() {
        out.json(&json!({
            "believed": false, "status": doubt.status(), "reason": doubt.as_str(),
            "message": doubt.to_string(), "more": more,
        }))?;
    }
    more.push(format!("a receiver answers {}", doubt.status()));
    Err(Failure::new(Exit::Failed, format!("not believed: {doubt}")).then(more.join("\n")))
}

/// Bytes of the head of a saved request.
const HEAD_BYTES_MAX: usize = 64 * 1024;
