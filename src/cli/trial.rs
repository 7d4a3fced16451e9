//! `errand try`: the main job once, from the request to the charge and the signed webhook.
//!
//! A daemon on a temporary directory audits a page through its public API, as a customer would
//! ask for it, and tells a receiver when it is done. Everything that is said to have happened was seen to happen; the directory, the
//! ports and the daemon are gone at the end, however it ends.

mod customer;
mod markdown;
mod site;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::app::{accounts, keys};
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::foreground::{Foreground, hold};
use crate::cli::output::Output;
use crate::cli::shown::field;
use crate::cli::signals::Signals;
use crate::cli::temporary::Temporary;
use crate::cli::webhook::Inbox;
use crate::config::Config;
use crate::domain::account::{Right, Rights};
use crate::domain::money::Amount;

use customer::{Customer, Done, Told};
use site::Site;

/// Tries it once, on a page of the caller's or on a site that comes with the program.
pub(super) async fn run(here: &Here, url: Option<String>) -> Result<(), Failure> {
    if here.names_data() {
        let what = "`errand try` has data and settings of its own: --data-dir and --config mean nothing to it";
        return Err(Failure::new(Exit::Usage, what).then("`errand dev` takes both"));
    }
    let mut signals = Signals::listen().map_err(|it| Failure::new(Exit::Failed, it.to_string()))?;
    let temporary = Temporary::make(&here.environment)?;
    let config = config(&temporary);
    let mut foreground = Foreground::start(&config, hold(temporary.path())?).await?;
    let done = tokio::select! {
        done = audit(here, &mut foreground, url) => done,
        () = signals.end() => Err(Failure::new(Exit::Failed, "interrupted; nothing was kept")),
    };
    here.out.progress("");
    foreground.stop(&config, &mut signals).await;
    let path = temporary.path().display().to_string();
    let removed = temporary.remove();
    let (done, told) = done?;
    removed.map_err(|error| {
        Failure::new(Exit::Failed, format!("{path} could not be removed: {error}"))
    })?;
    tell(&here.out, &done, &told)
}

/// What a developer has, on any free port, and quiet.
fn config(temporary: &Temporary) -> Config {
    let mut config = Config::dev(temporary.path().to_owned());
    config.http.listen = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
    // When it is over, nothing is waited for that nobody will see.
    config.queue.shutdown_grace = Duration::ZERO;
    config.chat.discovers = false;
    "error".clone_into(&mut config.log.filter);
    config
}

/// Makes a customer and lets them have one page audited.
async fn audit(
    here: &Here,
    foreground: &mut Foreground,
    url: Option<String>,
) -> Result<(Done, Told), Failure> {
    let url = match url {
        Some(url) => url,
        None => {
            let (listener, address) = foreground.port_beside().await?;
            foreground.serve_beside(listener, Arc::new(Site));
            format!("http://{address}/")
        }
    };
    let (listener, inbox_at) = foreground.port_beside().await?;
    let app = foreground.daemon().app();
    let currency = app.prices().currency;
    let account = accounts::create(app, "try", currency).await?;
    accounts::credit(app, account.id, CREDIT, "to try it").await?;
    let rights = Rights::NONE.with(Right::Agents);
    let (key, _) = keys::create(app, account.id, "try", rights, None).await?;
    let address = foreground.addresses().first().copied();
    let address = address.ok_or_else(|| Failure::new(Exit::Failed, "there is no port"))?;
    let customer = Customer::new(address, key.reveal(), app.clock().clone());
    let clock = app.clock().clone();
    let (receiver, secret) = customer.connect(&format!("http://{inbox_at}/events")).await?;
    let (inbox, arrivals) = Inbox::new(secret, None, clock);
    foreground.serve_beside(listener, Arc::new(inbox));
    let done = customer.have_audited(&url, &here.out).await?;
    let told = customer.be_told(&done, &receiver, arrivals).await?;
    Ok((done, told))
}

/// Shows the report, and what happened.
fn tell(out: &Output, done: &Done, told: &Told) -> Result<(), Failure> {
    let Done { run, report, before, after } = done;
    let currency = field(run, "currency");
    if out.is_json() {
        return out.json(&json!({
            "run_id": run.get("id"),
            "status": run.get("status"),
            "cost": run.get("cost"),
            "currency": currency,
            "balance_before": before.to_string(),
            "balance_after": after.to_string(),
            "output": report,
            "webhook": {
                "event_id": told.event.to_string(),
                "type": told.kind,
                "attempt": told.attempt,
                "verified": true,
                "status": told.status,
            },
        }));
    }
    out.text(&markdown::rendered(report, out.paint()))?;
    out.line(out.strong("\n---\n"))?;
    out.line(out.strong("What happened"))?;
    out.facts(&[
        ("run", format!("{} {}", field(run, "id"), field(run, "status"))),
        (
            "cost",
            format!(
                "{} {currency}, captured once: the balance went from {before} to {after}",
                field(run, "cost")
            ),
        ),
        ("asked", "over HTTP with an API key, as a customer asks".to_owned()),
        (
            "webhook",
            format!(
                "{} arrived at attempt {}, event {}; its signature was verified, the receiver \
                 answered {}",
                told.kind, told.attempt, told.event, told.status
            ),
        ),
        ("kept", "nothing: the daemon, its data and its ports are gone".to_owned()),
        ("next", "errand dev".to_owned()),
    ])
}

/// What a run may cost at most, many times over.
const CREDIT: Amount = Amount::from_nanos(10 * 1_000_000_000);

/// The body that asks for an audit.
fn order(url: &str) -> Value {
    json!({ "kind": "seo_audit", "input": { "url": url } })
}
