//! A customer: asks for an audit over the network, waits for it, and looks at the bill.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::cli::client::{self, Answer, Ask, NoAnswer};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::shown::field;
use crate::cli::webhook::Arrival;
use crate::domain::event::EventId;
use crate::domain::money::Amount;
use crate::domain::signature::SigningSecret;
use crate::sys::clock::Clock;

/// Somebody with a key.
#[derive(Debug)]
pub(super) struct Customer<'a> {
    api: SocketAddr,
    key: &'a str,
    clock: Clock,
}

/// What came of an audit.
#[derive(Debug)]
pub(super) struct Done {
    /// The run, as the API shows it at the end.
    pub(super) run: Value,
    /// The report, in Markdown.
    pub(super) report: String,
    /// The balance before.
    pub(super) before: Amount,
    /// The balance after.
    pub(super) after: Amount,
}

/// A webhook that came, was believed, and was answered.
#[derive(Debug)]
pub(super) struct Told {
    /// The event.
    pub(super) event: EventId,
    /// What happened.
    pub(super) kind: &'static str,
    /// The number of the attempt.
    pub(super) attempt: u32,
    /// What the receiver answered.
    pub(super) status: u16,
}

/// What an account has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Funds {
    balance: Amount,
    held: Amount,
}

impl<'a> Customer<'a> {
    /// A customer of the API at an address.
    pub(super) const fn new(api: SocketAddr, key: &'a str, clock: Clock) -> Self {
        Self { api, key, clock }
    }

    /// Connects a receiver; its id and its secret.
    ///
    /// # Errors
    ///
    /// Why it was not connected.
    pub(super) async fn connect(&self, url: &str) -> Result<(String, SigningSecret), Failure> {
        let made = self.ask(Ask::post("/v1/webhooks", json!({ "url": url }))).await?;
        let secret = SigningSecret::parse(&field(&made, "secret"));
        let secret = secret.ok_or_else(|| Failure::new(Exit::Failed, "there is no secret"))?;
        Ok((field(&made, "id"), secret))
    }

    /// Waits for the webhook about a run, and checks that it is signed, that it is about this run,
    /// and that the log of its receiver says so too.
    ///
    /// # Errors
    ///
    /// Which of these did not happen.
    pub(super) async fn be_told(
        &self,
        done: &Done,
        receiver: &str,
        mut arrivals: mpsc::Receiver<Arrival>,
    ) -> Result<Told, Failure> {
        let arrival = self.clock.within(WEBHOOK_WAIT, arrivals.recv()).await;
        let arrival = arrival.ok().flatten();
        let arrival = arrival.ok_or_else(|| Failure::new(Exit::Failed, "no webhook came"))?;
        let (event, _) = arrival.verdict.map_err(|why| {
            Failure::new(Exit::Failed, format!("the webhook is not believed: {why}"))
        })?;
        if event.run.map(|it| it.to_string()) != Some(field(&done.run, "id")) {
            return Err(Failure::new(Exit::Failed, "the webhook is about another run"));
        }
        let log =
            format!("/v1/webhooks/{receiver}/deliveries?status=delivered&event_id={}", event.id);
        let begun = self.clock.mark();
        while self.ask(Ask::get(&log)).await?.get("total") != Some(&json!(1)) {
            if begun.elapsed() > WEBHOOK_WAIT {
                let what = "the log of the receiver does not say that the webhook was delivered";
                return Err(Failure::new(Exit::Failed, what));
            }
            self.clock.sleep(ASK_PAUSE).await;
        }
        Ok(Told {
            event: event.id,
            kind: event.kind().unwrap_or("an event"),
            attempt: arrival.attempt.unwrap_or_default(),
            status: arrival.status,
        })
    }

    /// Has a page audited, and checks that it was done, reported and charged once.
    ///
    /// # Errors
    ///
    /// Which of these did not happen.
    pub(super) async fn have_audited(&self, url: &str, out: &Output) -> Result<Done, Failure> {
        let before = self.funds().await?;
        let run = self.ask(Ask::post("/v1/agents/runs", super::order(url))).await?;
        let id = field(&run, "id");
        let run = self.wait(&id, url, out).await?;
        let status = field(&run, "status");
        if status != "succeeded" {
            let why = run.pointer("/error_detail/message").and_then(Value::as_str);
            let why = why.unwrap_or("the run does not say why");
            let what = format!("the audit of {url} ended as {status}: {why}");
            return Err(Failure::new(Exit::Failed, what));
        }
        let report = run.get("output").and_then(Value::as_str).unwrap_or_default().to_owned();
        if report.is_empty() {
            return Err(Failure::new(Exit::Failed, "the run succeeded without a report"));
        }
        let after = self.funds().await?;
        check_bill(&run, before, after)?;
        Ok(Done { run, report, before: before.balance, after: after.balance })
    }

    /// Asks after a run until it is over.
    async fn wait(&self, id: &str, url: &str, out: &Output) -> Result<Value, Failure> {
        let begun = self.clock.mark();
        loop {
            let run = self.ask(Ask::get(format!("/v1/agents/runs/{id}"))).await?;
            let status = field(&run, "status");
            if status != "pending" && status != "running" {
                return Ok(run);
            }
            let passed = begun.elapsed();
            if passed > RUN_WAIT {
                let what = format!("the run was still {status} after {} s", passed.as_secs());
                return Err(Failure::new(Exit::Failed, what));
            }
            out.progress(&format!("auditing {url}: {}, {} s", stage(&run), passed.as_secs()));
            self.clock.sleep(ASK_PAUSE).await;
        }
    }

    async fn funds(&self) -> Result<Funds, Failure> {
        let account = self.ask(Ask::get("/v1/account")).await?;
        let amount = |name| Amount::parse(&field(&account, name));
        match (amount("balance"), amount("held")) {
            (Ok(balance), Ok(held)) => Ok(Funds { balance, held }),
            (Err(_), _) | (_, Err(_)) => {
                Err(Failure::new(Exit::Failed, "the account shows no balance"))
            }
        }
    }

    async fn ask(&self, ask: Ask) -> Result<Value, Failure> {
        let ask = ask.with_key(self.key);
        match self.clock.within(ask.patience, self.answer(&ask)).await {
            Ok(Ok(answer)) => answer.success(),
            Ok(Err(error)) => Err(error.failure("the API")),
            Err(_) => Err(Failure::new(Exit::Failed, "the API did not answer in time")),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a customer of our own port, on loopback; nothing of others is reached"
    )]
    async fn answer(&self, ask: &Ask) -> Result<Answer, NoAnswer> {
        let stream = TcpStream::connect(self.api).await.map_err(NoAnswer::Connect)?;
        client::exchange(stream, ask).await
    }
}

/// How far a run is, for people.
fn stage(run: &Value) -> String {
    let Some(progress) = run.get("progress").filter(|it| it.is_object()) else {
        return field(run, "status");
    };
    let [done, total, message] = ["done", "total", "message"].map(|it| field(progress, it));
    format!("{done} of {total} steps done, {message}")
}

/// Checks that the balance went down by the cost of the run, and that nothing is held for it.
fn check_bill(run: &Value, before: Funds, after: Funds) -> Result<(), Failure> {
    let cost = Amount::parse(&field(run, "cost")).ok().filter(|it| *it > Amount::ZERO);
    let paid = before.balance.minus(after.balance);
    if cost.is_some() && cost == paid && after.held == Amount::ZERO {
        return Ok(());
    }
    let what = format!(
        "the bill is wrong: the run cost {}, the balance went from {} to {} with {} held",
        field(run, "cost"),
        before.balance,
        after.balance,
        after.held,
    );
    Err(Failure::new(Exit::Failed, what))
}

/// Time for the run: longer than any execution may take.
const RUN_WAIT: Duration = Duration::from_mins(20);
/// Time for the webhook to come, and for its delivery to be in the log.
const WEBHOOK_WAIT: Duration = Duration::from_secs(20);
const ASK_PAUSE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn funds(balance: &str, held: &str) -> Funds {
        Funds { balance: Amount::parse(balance).unwrap(), held: Amount::parse(held).unwrap() }
    }

    #[track_caller]
    fn check(cost: &str, after: (&str, &str), is_right: bool) {
        let found = check_bill(&json!({ "cost": cost }), funds("10", "0"), funds(after.0, after.1));
        assert_eq!(found.is_ok(), is_right, "{cost} {after:?}: {found:?}");
    }

    #[test]
    fn people_see_how_far_a_run_is() {
        assert_eq!(stage(&json!({ "status": "pending", "progress": null })), "pending");
        let progress = json!({ "done": 1, "total": 4, "message": "Fetching the page" });
        let run = json!({ "status": "running", "progress": progress });
        assert_eq!(stage(&run), "1 of 4 steps done, Fetching the page");
    }

    #[test]
    fn a_bill_is_right_when_the_cost_was_taken_once_and_nothing_is_held() {
        check("0.02", ("9.98", "0"), true);
        check("0.02", ("9.96", "0"), false);
        check("0.02", ("10", "0"), false);
        check("0.02", ("9.98", "0.02"), false);
        check("0", ("10", "0"), false);
    }
}
