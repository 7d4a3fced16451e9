//! `errand dev --forward-to`: one receiver of the directory's own, and a line for every attempt.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::app::deliveries::{self, Happened};
use crate::app::receivers::{self, Secret, Which};
use crate::app::{App, Error};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::domain::account::Caller;
use crate::domain::receiver::{ReceiverId, ReceiverUrl, UrlPolicy};
use crate::domain::signature::SigningSecret;

/// What is forwarded, and where to.
pub(super) struct Forward {
    /// Where to, as the receiver has it.
    pub(super) url: String,
    id: ReceiverId,
    attempts: broadcast::Receiver<Happened>,
}

/// Makes the directory's own receiver what the command line says: none, or one with this URL.
///
/// It is known by its secret. Receivers that were made through the API stay as they are.
///
/// # Errors
///
/// [`Exit::Usage`] when the URL cannot be one of a receiver.
pub(super) async fn prepare(
    app: &App,
    caller: &Caller,
    secret: &SigningSecret,
    to: Option<&str>,
) -> Result<Option<Forward>, Failure> {
    let attempts = deliveries::watch(app);
    let fingerprint = secret.fingerprint();
    let mut found = None;
    for full in receivers::list(app, caller, Which::Active)? {
        let receiver = full.receiver;
        if receiver.fingerprint != fingerprint {
            continue;
        }
        if to.is_some_and(|it| is_same(it, &receiver.url)) && found.is_none() {
            found = Some((receiver.id, receiver.url));
        } else {
            receivers::disable(app, caller, receiver.id).await?;
        }
    }
    let Some(to) = to else { return Ok(None) };
    let (id, url) = match found {
        Some(found) => found,
        None => {
            let given = Secret::Given(secret.clone());
            let made = receivers::connect(app, caller, to, given).await;
            let receiver = made.map_err(|error| unusable(to, error))?.receiver;
            (receiver.id, receiver.url)
        }
    };
    Ok(Some(Forward { url, id, attempts }))
}

impl Forward {
    /// Shows every attempt, for as long as it is awaited.
    ///
    /// # Cancel safety
    ///
    /// Safe: an attempt that was not shown is shown by the next call.
    pub(super) async fn show(&mut self, out: &Output) {
        loop {
            match self.attempts.recv().await {
                Ok(it) if it.place.receiver == self.id => {
                    // Whoever closed the output does not want to read it.
                    let _ = out.line(line(&it, &self.url));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    let _ = out.line(format!("{missed} attempts were too many to show"));
                }
                Err(RecvError::Closed) => return std::future::pending().await,
            }
        }
    }
}

/// One attempt, for people.
fn line(it: &Happened, url: &str) -> String {
    let answer = match (it.tried.http_code, it.tried.fault) {
        (Some(code), _) => code.to_string(),
        (None, Some(fault)) => fault.detail.map_or_else(
            || fault.reason.as_str().to_owned(),
            |detail| format!("{} ({})", fault.reason.as_str(), detail.as_str()),
        ),
        (None, None) => "no answer".to_owned(),
    };
    let next = match (it.tried.fault, it.next) {
        (None, _) => String::new(),
        (Some(_), Some(pause)) => format!("  again in {:.1} s", pause.as_secs_f64()),
        (Some(_), None) => "  given up".to_owned(),
    };
    format!(
        "{}  run {}  event {}  attempt {} > {url}: {answer}, {} ms{next}",
        it.kind.as_str(),
        it.run,
        it.event,
        it.attempt,
        it.tried.duration.as_millis(),
    )
}

/// Whether two texts are one URL.
fn is_same(given: &str, kept: &str) -> bool {
    ReceiverUrl::parse(given, UrlPolicy::Development).is_ok_and(|it| it.as_str() == kept)
}

fn unusable(url: &str, error: Error) -> Failure {
    let Error::ReceiverUrl(reason) = error else { return error.into() };
    Failure::new(Exit::Usage, format!("--forward-to {url}: {reason}"))
        .then("give a URL such as http://localhost:3000/hooks")
}
