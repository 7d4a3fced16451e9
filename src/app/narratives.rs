//! A model's words about a report, where the operator wants them.
//!
//! What they can cost at most is part of the run's hold, and what they have cost is charged with
//! the run, in the commit that ends it. They come after the verdicts and never change one; a model
//! that does not answer leaves the report as it is, with a line that says so.
//! Source: the contract, section 6.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::agents::narrative::{REPORT_BYTES_MAX, TASK, TOKENS_MAX, kept, question};
use crate::app::App;
use crate::app::chats::Offer;
use crate::domain::chat::{Bound, Count, Request, UnknownParameters};
use crate::domain::ledger::ChatUsage;
use crate::domain::money::{Amount, Currency};
use crate::domain::outcome::{Outcome, Report, Work};
use crate::domain::run::Run;
use crate::models::{self, Ask, Fault, Piece};
use crate::store::accounts;

/// What a model said, as it goes into a report.
struct Told {
    /// What is kept of it; `None` when nothing is.
    text: Option<String>,
    /// What it used.
    usage: ChatUsage,
}

impl App {
    /// The run with what a narrative of its report can cost added to its hold.
    pub(in crate::app) fn with_narrative(&self, run: Run, currency: Currency) -> Run {
        let most = self.narrator(currency).and_then(|offer| {
            let longest = request(&offer, &"x".repeat(REPORT_BYTES_MAX))?;
            offer.price.hold(&offer.model.sizes.bound(&longest))
        });
        let model_hold = most.unwrap_or(Amount::ZERO);
        // A sum that does not fit is more than any balance, and is refused as such.
        let hold = run.hold.plus(model_hold).unwrap_or(Amount::MAX);
        Run { hold, model_hold, ..run }
    }

    fn narrator(&self, currency: Currency) -> Option<Offer> {
        let id = self.0.settings.narrative_model.as_deref()?;
        self.offer(currency, self.0.models.find(id)?)
    }
}

/// Lets a model tell what the report of a run means, if the operator wants that; the work with its
/// words, and what they cost.
///
/// It takes no longer than `left`, and never longer than a minute.
pub async fn add(app: &App, run: &Run, work: Work, left: Duration) -> (Work, Option<ChatUsage>) {
    let Outcome::Succeeded(report) = &work.outcome else { return (work, None) };
    let account = app.0.store.read(|view| accounts::find(view, run.account));
    let Some(offer) = account.ok().flatten().and_then(|it| app.narrator(it.currency)) else {
        return (work, None);
    };
    let name = offer.model.id.as_str().to_owned();
    let left = left.min(PATIENCE);
    let told = app.0.clock.within(left, tell(app, run, &offer, &report.output)).await;
    let (text, usage) = match told {
        Ok(Some(Ok(told))) => (told.text, Some(told.usage)),
        // The price was raised after the run was accepted, or the narrative was wanted after it.
        Ok(None) => return (work, None),
        Ok(Some(Err(fault))) => {
            tracing::warn!(run.id = %run.id, code = fault.code(), "no narrative: {fault}");
            (None, None)
        }
        Err(_) => {
            tracing::warn!(run.id = %run.id, "no narrative: the model takes too long");
            (None, None)
        }
    };
    let report = with_words(report, &name, text.as_deref());
    (Work { outcome: Outcome::Succeeded(report), ..work }, usage)
}

/// Asks the model; `None` when what is held for it is not enough.
async fn tell(app: &App, run: &Run, offer: &Offer, report: &str) -> Option<Result<Told, Fault>> {
    let request = request(offer, report)?;
    let bound = offer.model.sizes.bound(&request);
    offer.price.hold(&bound).filter(|it| *it <= run.model_hold)?;
    Some(answer(app, offer, &request, bound, report).await)
}

async fn answer(
    app: &App,
    offer: &Offer,
    request: &Request,
    bound: Bound,
    report: &str,
) -> Result<Told, Fault> {
    let ask = Ask { model: &offer.model, request, bound, client_timeout: None };
    let mut answer = models::chat(&app.0.models, &ask).await?;
    let mut text = String::new();
    let count = loop {
        match answer.next().await? {
            Some(Piece::Text(more)) => {
                text.push_str(&more);
                let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
                if length > bound.text_bytes() {
                    break None;
                }
            }
            Some(Piece::End(end)) => break end.count,
            None => return Err(Fault::Truncated),
        }
    };
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let count = count.unwrap_or_else(|| Count::estimate(request, length));
    let bill = offer.price.bill(&bound, &count);
    let usage = ChatUsage {
        usage: bill.usage,
        source: bill.source,
        price: offer.price,
        unbilled: bill.unbilled,
    };
    Ok(Told { text: kept(&text, report), usage })
}

/// The request about a report; `None` when the model cannot read as much.
fn request(offer: &Offer, report: &str) -> Option<Request> {
    let body = json!({
        "model": offer.model.id.as_str(),
        "messages": [
            { "role": "system", "content": TASK },
            { "role": "user", "content": question(report) },
        ],
        "max_tokens": TOKENS_MAX,
        "temperature": 0,
    });
    let Value::Object(body) = body else { return None };
    let request = Request::parse(body, UnknownParameters::Refuse).ok()?;
    let needed = Count::estimate(&request, 0).usage.prompt_tokens;
    (needed <= offer.model.sizes.context_window()).then_some(request)
}

/// The report with the words, or with a line that there are none.
fn with_words(report: &Report, model: &str, text: Option<&str>) -> Report {
    let words = text.unwrap_or("The model gave nothing that the report bears out.");
    let output = format!(
        "{}\n\n## In a model's words\n\n*`{model}` wrote this from the report above. It changes no finding.*\n\n{words}\n",
        report.output.trim_end()
    );
    let result = report.result.as_deref().map(|it| {
        let Ok(mut object) = serde_json::from_str::<Map<String, Value>>(it) else {
            return it.to_owned();
        };
        object.insert("narrative".to_owned(), json!({ "model": model, "text": text }));
        Value::Object(object).to_string()
    });
    Report { output, result }
}

/// How long a narrative may take.
const PATIENCE: Duration = Duration::from_secs(60);
