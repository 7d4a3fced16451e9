//! Sites in memory that a test can change between two scans, and a scan of them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errand::agents::scan::baseline::{Baseline, Past};
use errand::agents::{Agent, Bench, CompetitorScan, Parsers, Progress, Task};
use errand::domain::id::Id;
use errand::domain::outcome::{Outcome, Work};
use errand::domain::receiver::UrlPolicy;
use errand::domain::run::Trigger;
use errand::domain::time::Timestamp;
use errand::outbound::fake::{Internet, Served};
use errand::outbound::{Client, Guard, GuardConfig, Trust};
use errand::sys::clock::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Answers by host and path; the last of several stays.
type Answers = Arc<Mutex<HashMap<String, VecDeque<(u16, String)>>>>;

/// Some sites, and what a schedule keeps of them.
pub(crate) struct Street {
    answers: Answers,
    internet: Internet,
    pub(crate) bench: Bench,
    baseline: Option<Vec<u8>>,
    /// The addresses that were asked for, in order.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    /// When they were asked for.
    pub(crate) asked_at: Arc<Mutex<Vec<Timestamp>>>,
}

impl Street {
    /// Two competitors, `a.example` and `b.example`, with a plan each.
    pub(crate) fn new() -> Self {
        let clock = Clock::simulated(Timestamp::parse("2026-11-20T12:00:00Z").unwrap());
        let internet = Internet::new();
        let client = Client::new(
            clock.clone(),
            Guard::new(GuardConfig::public(&[80])),
            Arc::new(internet.clone()),
            Arc::new(internet.clone()),
            Trust::new(clock.clone(), b"").unwrap(),
            Arc::default(),
        );
        let bench = Bench {
            parsers: Parsers::new(clock.clone()),
            clock,
            client,
            user_agent: "Errand/test".to_owned(),
            politeness: Duration::from_secs(1),
            confirm_pause: Duration::from_mins(1),
            targets: UrlPolicy::Public,
        };
        let (answers, asked, asked_at) = (Answers::default(), Arc::default(), Arc::default());
        let street = Self { answers, internet, bench, baseline: None, asked, asked_at };
        for host in ["a.example", "b.example"] {
            street.open(host);
            street.put(host, "/", &home("Boats on time", 29, ""));
        }
        street
    }

    /// Opens a site.
    pub(crate) fn open(&self, host: &'static str) {
        let (answers, asked) = (Arc::clone(&self.answers), Arc::clone(&self.asked));
        let (asked_at, clock) = (Arc::clone(&self.asked_at), self.bench.clock.clone());
        self.internet.site(host, 80, move |stream| {
            asked_at.lock().unwrap().push(clock.now());
            answer(stream, host, Arc::clone(&answers), Arc::clone(&asked))
        });
    }

    /// Puts a page at a path.
    pub(crate) fn put(&self, host: &str, path: &str, page: &str) {
        self.put_all(host, path, &[(200, page)]);
    }

    /// Puts a redirect at a path.
    pub(crate) fn lead(&self, host: &str, path: &str, to: &str) {
        self.put_all(host, path, &[(302, to)]);
    }

    /// Puts answers at a path that are given one after the other.
    pub(crate) fn put_all(&self, host: &str, path: &str, pages: &[(u16, &str)]) {
        let pages = pages.iter().map(|it| (it.0, it.1.to_owned())).collect();
        self.answers.lock().unwrap().insert(format!("{host}{path}"), pages);
    }

    /// Runs the schedule once.
    pub(crate) async fn scan(&mut self) -> Outcome {
        self.scan_of(&json!({ "competitors": ["http://a.example/", "http://b.example/"] })).await
    }

    /// Runs the schedule once with an input.
    pub(crate) async fn scan_of(&mut self, input: &Value) -> Outcome {
        let trigger = Trigger::RunNow { schedule: Id::from_bytes([2; 16]) };
        let work = self.run(input, trigger, self.baseline.clone()).await;
        if let Some(baseline) = work.baseline {
            self.baseline = Some(baseline);
        }
        work.outcome
    }

    /// Makes the baseline one of earlier rules that kept nothing of the first page.
    pub(crate) fn outdate(&mut self) {
        let input = r#"{"competitors":["http://a.example/","http://b.example/"]}"#;
        let Past::Known(mut baseline) = Baseline::decode(self.baseline.as_deref(), input) else {
            panic!("there is no baseline for {input}");
        };
        baseline.rules_version -= 1;
        baseline.sites[0].pages[0].source.clear();
        self.baseline = baseline.encode();
    }

    /// Runs the agent once.
    pub(crate) async fn run(
        &self,
        input: &Value,
        trigger: Trigger,
        baseline: Option<Vec<u8>>,
    ) -> Work {
        let agent = CompetitorScan::new(UrlPolicy::Public);
        let input = agent.accept(input.as_object().unwrap()).unwrap();
        let run = Id::from_bytes([1; 16]);
        let task = Task { run, input, trigger, baseline, progress: Progress::default() };
        agent.run(&task, &self.bench).await
    }
}

/// A home page with a headline, a price and something more.
pub(crate) fn home(headline: &str, price: u32, more: &str) -> String {
    format!(
        "<!doctype html><html lang=en><title>{headline}</title>\
         <meta name=description content='Software for ferries.'><nav><a href=/features>Features\
         </a> <a href=/log-in>Log in</a></nav><main><h1>{headline}</h1>\
         <p>Crew rosters and ticket sales in one calm screen.</p>\
         <div class=plan><h3>Crew</h3><p>${price} / month</p><ul><li>Up to 10 boats</li></ul></div>\
         <p>14-day free trial, no card needed.</p>{more}</main>"
    )
}

/// The notable changes of a result: kinds, with before and after.
pub(crate) fn changes(outcome: &Outcome) -> Vec<String> {
    let (Outcome::Succeeded(report) | Outcome::NoSignal(report)) = outcome else {
        panic!("{outcome:?}");
    };
    let result: Value = serde_json::from_str(report.result.as_deref().unwrap()).unwrap();
    let all = result["changes"].as_array().unwrap().iter();
    let notable = all.filter(|it| it["severity"] == "notable");
    let text = |it: &Value| it.as_str().unwrap_or("-").to_owned();
    notable
        .map(|it| {
            format!("{}: {} > {}", text(&it["kind"]), text(&it["before"]), text(&it["after"]))
        })
        .collect()
}

async fn answer(
    mut stream: Served,
    host: &'static str,
    answers: Answers,
    asked: Arc<Mutex<Vec<String>>>,
) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read_exact(&mut byte).await.is_err() {
            return;
        }
        request.extend(byte);
    }
    let request = String::from_utf8(request).unwrap();
    let path = request.split(' ').nth(1).unwrap();
    let key = format!("{host}{path}");
    asked.lock().unwrap().push(key.clone());
    let found = {
        let mut answers = answers.lock().unwrap();
        let queue = answers.get_mut(&key);
        queue.map(|it| if it.len() > 1 { it.pop_front().unwrap() } else { it[0].clone() })
    };
    let (status, body) = found.unwrap_or((404, String::new()));
    if status == 0 {
        return;
    }
    let kind = if path.ends_with(".txt") { "text/plain" } else { "text/html; charset=utf-8" };
    let length = body.len();
    let location = if status == 302 { format!("Location: {body}\r\n") } else { String::new() };
    let head = format!(
        "HTTP/1.1 {status} X\r\n{location}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    );
    let _ = stream.write_all((head + &body).as_bytes()).await;
}
