//! An agent that does what its input says: the extension point, used by tests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errand::agents::{Agent, Bench, Entry, InputError, Problem, Task};
use errand::domain::outcome::{Failure, Outcome, Reason, Report, Work};
use errand::outbound::BoxFuture;
use serde_json::{Map, Value, json};

use super::house::KIND;

/// The scripted agent; clones share what they have seen.
///
/// `{"do": "succeed" | "no_signal" | "fail" | "panic" | "stumble" | "hang" | "flood", "ms": 5, "say": "text", "keep": "text"}`
///
/// What it is told to keep is left as the baseline; a baseline that it finds it says after its text.
#[derive(Clone)]
pub struct Script {
    entry: Arc<Entry>,
    begun: Arc<Mutex<Vec<String>>>,
    under_way: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

/// Counts one execution down when it ends or is dropped.
struct Leave(Arc<AtomicUsize>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::of(KIND)
    }
}

impl Script {
    /// The scripted agent under another kind.
    pub fn of(kind: &str) -> Self {
        let entry = Entry {
            kind: kind.to_owned(),
            name: "Script".to_owned(),
            description: "Does what its input says.".to_owned(),
            schedulable: true,
            timeout: Duration::from_secs(60),
            input_schema: json!({ "type": "object" }),
        };
        Self {
            entry: Arc::new(entry),
            begun: Arc::default(),
            under_way: Arc::default(),
            most: Arc::default(),
        }
    }

    /// The same agent, but not for schedules.
    pub fn on_request_only(mut self) -> Self {
        self.entry = Arc::new(Entry { schedulable: false, ..Entry::clone(&self.entry) });
        self
    }

    /// The same agent with an hour for each execution.
    pub fn patient(mut self) -> Self {
        let timeout = Duration::from_hours(1);
        self.entry = Arc::new(Entry { timeout, ..Entry::clone(&self.entry) });
        self
    }

    /// What was said by the executions that were begun, in their order.
    pub fn begun(&self) -> Vec<String> {
        self.begun.lock().unwrap().clone()
    }

    /// How many executions are under way.
    pub fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    /// The most executions that were under way at the same time.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    async fn act(&self, task: &Task, bench: &Bench) -> Outcome {
        let input: Value = serde_json::from_str(&task.input).unwrap();
        let say = input["say"].as_str().unwrap_or("done").to_owned();
        self.begun.lock().unwrap().push(say.clone());
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let _leave = Leave(Arc::clone(&self.under_way));
        task.progress.report(1, 2, "working");
        bench.clock.sleep(Duration::from_millis(input["ms"].as_u64().unwrap_or(0))).await;
        let found = task.baseline.as_ref().map(|it| String::from_utf8_lossy(it));
        let output = found.map_or_else(|| say.clone(), |it| format!("{say} after {it}"));
        let report = Report { output, result: Some("{\"a\":1}".to_owned()) };
        match input["do"].as_str().unwrap_or("succeed") {
            "succeed" => Outcome::Succeeded(report),
            "no_signal" => Outcome::NoSignal(report),
            "fail" => Outcome::Failed(Failure {
                reason: Reason::AgentError,
                code: "scripted".to_owned(),
                message: "It was asked to fail.".to_owned(),
            }),
            "panic" => panic!("it was asked to panic"),
            // The first two executions of what says the same panic, the third one hangs.
            "stumble" if self.begun().iter().filter(|it| **it == say).count() < 3 => {
                panic!("it was asked to stumble")
            }
            "hang" | "stumble" => std::future::pending().await,
            "flood" => Outcome::Succeeded(Report { output: "x".repeat(40_000), ..report }),
            other => panic!("the script cannot {other}"),
        }
    }
}

impl Agent for Script {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn accept(&self, input: &Map<String, Value>) -> Result<String, InputError> {
        let wrong =
            |name: &str, problem| Err(InputError { param: format!("input.{name}"), problem });
        if let Some(name) =
            input.keys().find(|it| !["do", "ms", "say", "keep"].contains(&it.as_str()))
        {
            return wrong(name, Problem::Unknown);
        }
        if input.get("ms").is_some_and(|it| !it.is_u64()) {
            return wrong("ms", Problem::Type("a number"));
        }
        if input.get("say").is_some_and(|it| it == "") {
            return wrong("say", Problem::Value("must not be empty".to_owned()));
        }
        Ok(Value::Object(input.clone()).to_string())
    }

    fn run<'a>(&'a self, task: &'a Task, bench: &'a Bench) -> BoxFuture<'a, Work> {
        Box::pin(async move {
            let outcome = self.act(task, bench).await;
            let input: Value = serde_json::from_str(&task.input).unwrap();
            Work { outcome, baseline: input["keep"].as_str().map(|it| it.as_bytes().to_owned()) }
        })
    }
}
