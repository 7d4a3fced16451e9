//! The agent itself: input, the order of requests, and the outcome.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::agents::agent::{Agent, Entry, Task};
use crate::agents::bench::Bench;
use crate::agents::input::{Fields, InputError};
use crate::agents::page::fetch::{self, Visit};
use crate::agents::page::robots::{AnswerKind, RobotsAnswer};
use crate::agents::seo::around::Around;
use crate::agents::seo::asking::Asker;
use crate::agents::seo::audit::{judge, prepare};
use crate::agents::seo::checks::reach::FIRST_BYTE_GOOD;
use crate::agents::seo::failure::{Code, Undone};
use crate::agents::seo::past::Past;
use crate::agents::seo::subject::Fetched;
use crate::agents::seo::surroundings;
use crate::domain::limits::URL_BYTES_MAX;
use crate::domain::outcome::{Outcome, Work};
use crate::domain::receiver::{UrlPolicy, UrlReason};
use crate::domain::target::PageUrl;
use crate::domain::time::Timestamp;
use crate::outbound::BoxFuture;

/// Checks one public page.
#[derive(Debug)]
pub struct SeoAudit {
    entry: Entry,
    targets: UrlPolicy,
}

impl SeoAudit {
    /// The agent, taking the pages that `targets` allows.
    #[must_use]
    pub fn new(targets: UrlPolicy) -> Self {
        let entry = Entry {
            kind: "seo_audit".to_owned(),
            name: "SEO audit".to_owned(),
            description: "Checks one public page: can search engines fetch and index it, what do \
                          they show of it, and what to mend first. Every lost point is explained."
                .to_owned(),
            schedulable: true,
            timeout: TIMEOUT,
            input_schema: input_schema(),
        };
        Self { entry, targets }
    }
}

impl Agent for SeoAudit {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn accept(&self, input: &Map<String, Value>) -> Result<String, InputError> {
        let mut fields = Fields::of(input);
        let url = fields.text("url")?;
        fields.finish()?;
        let url = PageUrl::parse(url, self.targets)
            .map_err(|reason| InputError::value("url", refusal(reason)))?;
        Ok(json!({ "url": url.as_str() }).to_string())
    }

    fn run<'a>(&'a self, task: &'a Task, bench: &'a Bench) -> BoxFuture<'a, Work> {
        Box::pin(async move {
            let done = match bench.clock.within(TIME_MAX, audit(task, bench)).await {
                Ok(done) => done,
                Err(_) => Err(Undone::new(Code::Timeout, "The audit took longer than a minute.")),
            };
            done.unwrap_or_else(|undone| Work::from(Outcome::Failed(undone.into())))
        })
    }
}

async fn audit(task: &Task, bench: &Bench) -> Result<Work, Undone> {
    let start = stored_url(&task.input, bench.targets)?;
    let begun = bench.clock.mark();
    let past = Past::of(task);
    task.progress.report(0, STEPS, "Fetching the page");
    let visit = Box::pin(fetch::page(bench, &start)).await?;
    let at = bench.clock.now();

    task.progress.report(1, STEPS, "Reading robots.txt");
    bench.clock.sleep(bench.politeness).await;
    let robots = Box::pin(fetch::robots(bench, &visit.url)).await;
    let mut look = Look { visit, at, robots, repeated: 0 };
    if past.is_scheduled() && begun.elapsed() <= AGAIN_UNTIL {
        look = Box::pin(look.confirmed(bench, &start)).await;
    }
    let Look { visit, at, robots, repeated } = look;

    let mut second_first_byte = None;
    if visit.reply.timing.first_byte > FIRST_BYTE_GOOD {
        task.progress.report(2, STEPS, "Measuring a slow answer again");
        bench.clock.sleep(bench.politeness).await;
        second_first_byte = Box::pin(fetch::first_byte(bench, &visit.url)).await;
    }

    task.progress.report(3, STEPS, "Reading the page");
    let asked = repeated.saturating_add(1 + u32::from(second_first_byte.is_some()));
    let fetched = Fetched { visit, second_first_byte, robots, around: Around::default(), at };
    let broken = |_| Undone::new(Code::Internal, "The page could not be read.");
    let prepared = bench.parsers.run(move |patience| prepare(fetched, patience)).await;
    let mut subject = prepared.map_err(broken)??;

    task.progress.report(4, STEPS, "Asking what the page leads to");
    let until = begun.after(ASKING_TIME_MAX);
    let mut asker = Asker::new(bench, &subject.fetched.robots, at, until, asked);
    if past.is_scheduled() {
        asker = asker.confirming(again_pause(bench));
    }
    subject.fetched.around = Box::pin(surroundings::ask(&mut asker, &subject)).await;

    task.progress.report(5, STEPS, "Checking the page");
    let work = bench.parsers.run(move |_| past.conclude(judge(subject))).await.map_err(broken)?;
    task.progress.report(STEPS, STEPS, "Done");
    Ok(work)
}

/// What was fetched first.
struct Look {
    visit: Visit,
    /// When the page was fetched.
    at: Timestamp,
    robots: RobotsAnswer,
    /// Requests that were repeated.
    repeated: u32,
}

impl Look {
    /// The same after a second try of what met a server in trouble, so that a moment's trouble is
    /// no news to anybody. What does not come in time stays as it was.
    async fn confirmed(mut self, bench: &Bench, start: &PageUrl) -> Self {
        let is_page_down = matches!(self.visit.reply.status, 429 | 500..=599);
        let is_robots_down =
            matches!(self.robots.kind, AnswerKind::Refused(_) | AnswerKind::Unreachable(_));
        if !is_page_down && !is_robots_down {
            return self;
        }
        bench.clock.sleep(again_pause(bench)).await;
        if is_page_down {
            self.repeated = self.repeated.saturating_add(1);
            let work = Box::pin(fetch::page(bench, start));
            if let Ok(Ok(visit)) = bench.clock.within(AGAIN_TIME_MAX, work).await {
                (self.visit, self.at) = (visit, bench.clock.now());
            }
            bench.clock.sleep(bench.politeness).await;
        }
        if is_robots_down {
            self.repeated = self.repeated.saturating_add(1);
            let work = Box::pin(fetch::robots(bench, &self.visit.url));
            if let Ok(robots) = bench.clock.within(AGAIN_TIME_MAX, work).await {
                self.robots = robots;
            }
        }
        self
    }
}

/// The pause before something is asked again that met a server in trouble.
fn again_pause(bench: &Bench) -> Duration {
    bench.confirm_pause.min(AGAIN_PAUSE_MAX)
}

/// The address in an input that was accepted; the rules may have become stricter since.
fn stored_url(input: &str, targets: UrlPolicy) -> Result<PageUrl, Undone> {
    let invalid =
        || Undone::new(Code::UrlInvalid, "The address of the page is not one that is fetched.");
    let input: Value = serde_json::from_str(input).map_err(|_| invalid())?;
    let url = input.get("url").and_then(Value::as_str).ok_or_else(invalid)?;
    PageUrl::parse(url, targets).map_err(|_| invalid())
}

fn input_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["url"],
        "additionalProperties": false,
        "properties": {
            "url": {
                "type": "string",
                "description": "The public page to check. Without a scheme, https is meant.",
                "minLength": 1,
                "maxLength": URL_BYTES_MAX,
                "examples": ["https://example.com/"],
            },
        },
    })
}

/// Why an address is refused, after "input.url".
const fn refusal(reason: UrlReason) -> &'static str {
    match reason {
        UrlReason::Invalid | UrlReason::Fragment => "is not the address of a page",
        UrlReason::Scheme => "must begin with https:// or http://",
        UrlReason::Credentials => "must not contain a user name or a password",
        UrlReason::Port => "must use the port 80, 443, 8080 or 8443",
        UrlReason::Host => "must name a host of the public network",
        UrlReason::AddressNotAllowed => "must not be an address of a private network",
    }
}

/// Steps of an audit, for its progress.
const STEPS: u32 = 6;
/// The time that the catalogue promises at most. Source: the contract, section 6.
const TIMEOUT: Duration = Duration::from_mins(1);
/// The time from the beginning after which nothing more is asked, so that the report is in time.
const ASKING_TIME_MAX: Duration = Duration::from_secs(48);
/// The longest pause before a second try; two of them and all that is asked fit into an audit.
const AGAIN_PAUSE_MAX: Duration = Duration::from_secs(12);
/// The time from the beginning after which there is no second try of page and robots.txt. Whoever
/// takes that long to answer is in trouble.
const AGAIN_UNTIL: Duration = Duration::from_secs(20);
/// The time that a second try may take.
const AGAIN_TIME_MAX: Duration = Duration::from_secs(10);
/// The time after which an audit gives up by itself, shortly before it would be stopped.
const TIME_MAX: Duration = Duration::from_secs(57);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::input::Problem;

    #[track_caller]
    fn check_accept(input: &Value, expected: Result<&str, &str>) {
        let agent = SeoAudit::new(UrlPolicy::Public);
        let found = agent.accept(input.as_object().unwrap());
        let found = found.map_err(|it| it.to_string());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(found, expected, "{input}");
    }

    #[test]
    fn an_input_is_one_public_address_and_nothing_else() {
        check_accept(&json!({}), Err("input.url is required"));
        check_accept(&json!({"url": false}), Err("input.url must be a string"));
        check_accept(&json!({"url": ""}), Err("input.url is not the address of a page"));
        let local = "input.url must not be an address of a private network";
        check_accept(&json!({"url": "http://127.0.0.1/"}), Err(local));
        let unknown = "input.depth is not a field of this agent's input";
        check_accept(&json!({"url": "example.com", "depth": 1}), Err(unknown));
        check_accept(
            &json!({"url": " Example.com/a b#c"}),
            Ok(r#"{"url":"https://example.com/a%20b"}"#),
        );
        let development = SeoAudit::new(UrlPolicy::Development);
        let input = json!({"url": "http://127.0.0.1:4000/"});
        assert!(development.accept(input.as_object().unwrap()).is_ok());
    }

    #[test]
    fn what_is_refused_is_named_by_its_path() {
        let agent = SeoAudit::new(UrlPolicy::Public);
        let error = agent.accept(json!({"uri": "x"}).as_object().unwrap()).unwrap_err();
        assert_eq!((error.param.as_str(), error.problem), ("input.url", Problem::Missing));
    }

    #[test]
    fn a_stored_input_is_read_again_and_judged_again() {
        assert!(stored_url(r#"{"url":"https://example.com/"}"#, UrlPolicy::Public).is_ok());
        for input in ["", "{}", r#"{"url":7}"#, r#"{"url":"http://10.0.0.1/"}"#] {
            assert_eq!(stored_url(input, UrlPolicy::Public).unwrap_err().code, Code::UrlInvalid);
        }
    }
}
