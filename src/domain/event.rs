//! Events: what is told to receivers when a run is over.
//!
//! A run that ends makes one event, and every receiver gets the same bytes of it at every
//! attempt. The bytes are made once, here, and kept; nobody writes them again from their parts.
//!
//! Source: service interface, "Webhook event payload" and "Events"; the contract, section 8.

use ring::digest;
use serde::Serialize;

use crate::domain::account::AccountId;
use crate::domain::id::{self, Id};
use crate::domain::limits::EVENT_OUTPUT_CHARS_MAX;
use crate::domain::money::Amount;
use crate::domain::run::{Run, RunId, Status, Trigger};
use crate::domain::time::Timestamp;

/// The name of an event.
pub type EventId = Id<id::Event>;

/// What is told about the end of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name; the same for every receiver.
    pub id: EventId,
    /// Whose run it was.
    pub account: AccountId,
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub kind: EventType,
    /// When it ended.
    pub created_at: Timestamp,
    /// What is sent: JSON text.
    pub body: String,
    /// SHA-256 of the body, so that a changed one is never sent.
    pub sha256: [u8; 32],
}

/// What happened. Source: service interface, "Events".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventType {
    /// A run reached `succeeded`.
    Succeeded,
    /// A run reached `failed`.
    Failed,
    /// A run reached `no_signal`.
    NoSignal,
}

/// The fields in the order of the interface's table, which is part of what is signed.
#[derive(Serialize)]
struct Payload<'a> {
    id: String,
    r#type: &'static str,
    created_at: String,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    run_id: String,
    kind: &'a str,
    status: &'static str,
    output: &'a str,
    output_truncated: bool,
    error: Option<&'static str>,
    cost: String,
}

impl Event {
    /// The event of a run that has just ended; `None` while it has not.
    ///
    /// `output` is its report; none counts as an empty one. `born_at` is the time in its id, which
    /// goes forward also when the clock was set back: logs are in the order of ids. The id follows
    /// from the run and that time, so an end that is written twice makes the same event.
    #[must_use]
    pub fn of(run: &Run, output: Option<&str>, born_at: Timestamp) -> Option<Self> {
        let (kind, created_at) = (EventType::of(run.status)?, run.finished_at?);
        Some(Self::told(run, kind, (created_at, born_at), output))
    }

    /// An event such as a run of `account` makes, for somebody to try a receiver with.
    ///
    /// It is whole and true to form; only that there is no such run.
    #[must_use]
    pub fn sample(kind: EventType, account: AccountId, id: RunId, output: &str) -> Self {
        let (status, at) = (kind.status(), id.born_at());
        let run = Run {
            id,
            account,
            key: None,
            kind: "seo_audit".into(),
            input: r#"{"url":"https://example.org/"}"#.into(),
            external_id: None,
            trigger: Trigger::Api,
            status,
            hold: Amount::ZERO,
            model_hold: Amount::ZERO,
            cost: if status.is_charged() { SAMPLE_COST } else { Amount::ZERO },
            attempts: 1,
            due_at: at,
            created_at: at,
            started_at: Some(at),
            finished_at: Some(at),
            updated_at: at,
            failure: None,
            cancel_requested: false,
        };
        Self::told(&run, kind, (at, at), Some(output))
    }

    fn told(
        run: &Run,
        kind: EventType,
        (created_at, born_at): (Timestamp, Timestamp),
        output: Option<&str>,
    ) -> Self {
        let id = EventId::derived(born_at, &[*run.id.as_bytes(), *run.account.as_bytes()]);
        let (output, output_truncated) = cut(output.unwrap_or_default());
        let data = Data {
            run_id: run.id.to_string(),
            kind: &run.kind,
            status: run.status.as_str(),
            output,
            output_truncated,
            error: (kind == EventType::Failed).then_some(ERROR_CODE),
            cost: run.cost.to_string(),
        };
        let payload = Payload {
            id: id.to_string(),
            r#type: kind.as_str(),
            created_at: created_at.to_micros_text(),
            data,
        };
        // Texts, booleans and nulls: there is nothing in it that JSON cannot say.
        let body = serde_json::to_string(&payload).unwrap_or_default();
        let sha256 = sha256(&body);
        Self { id, account: run.account, run: run.id, kind, created_at, body, sha256 }
    }

    /// Whether the body is the one that was made.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        sha256(&self.body) == self.sha256
    }
}

impl EventType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Succeeded, Self::Failed, Self::NoSignal];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "agent.run.succeeded",
            Self::Failed => "agent.run.failed",
            Self::NoSignal => "agent.run.no_signal",
        }
    }

    /// Reads the word for a type.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// The status that makes it.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Succeeded => Status::Succeeded,
            Self::Failed => Status::Failed,
            Self::NoSignal => Status::NoSignal,
        }
    }

    const fn of(status: Status) -> Option<Self> {
        match status {
            Status::Succeeded => Some(Self::Succeeded),
            Status::Failed => Some(Self::Failed),
            Status::NoSignal => Some(Self::NoSignal),
            Status::Pending | Status::Running => None,
        }
    }
}

/// The beginning of an output that fits into an event, and whether something was left out.
fn cut(output: &str) -> (&str, bool) {
    match output.char_indices().nth(EVENT_OUTPUT_CHARS_MAX) {
        Some((end, _)) => (output.get(..end).unwrap_or(output), true),
        None => (output, false),
    }
}

fn sha256(body: &str) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest::digest(&digest::SHA256, body.as_bytes()).as_ref());
    out
}

/// All that an event says about a failure. Source: service interface, "Errors".
const ERROR_CODE: &str = "agent_failed";
/// What the run of a sample cost: 0.02.
const SAMPLE_COST: Amount = Amount::from_nanos(20_000_000);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::{Ending, Failure, Reason};

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_123);

    fn run(ending: Ending, cost: i64) -> Run {
        let mut run = Run {
            id: Id::from_bytes([1; 16]),
            account: Id::from_bytes([2; 16]),
            key: None,
            kind: "seo_audit".into(),
            input: "{}".into(),
            external_id: None,
            trigger: Trigger::Api,
            status: Status::Pending,
            hold: Amount::ZERO,
            model_hold: Amount::ZERO,
            cost: Amount::ZERO,
            attempts: 0,
            due_at: NOW,
            created_at: NOW,
            started_at: None,
            finished_at: None,
            updated_at: NOW,
            failure: None,
            cancel_requested: false,
        };
        run.claim(NOW).unwrap();
        run.finish(ending, Amount::from_nanos(cost), NOW).unwrap();
        run
    }

    fn failed() -> Run {
        let (code, message) = ("secret_code".into(), "a secret message".into());
        run(Ending::Failed(Failure { reason: Reason::AgentError, code, message }), 0)
    }

    #[test]
    fn the_body_has_the_fields_of_the_interface_in_their_order() {
        let event =
            Event::of(&run(Ending::Succeeded, 1_500_000_000), Some("café \"✓\"\n"), NOW).unwrap();
        let id = event.id;
        let expected = format!(
            r#"{{"id":"{id}","type":"agent.run.succeeded","created_at":"2026-01-01T00:00:00.123000+00:00","data":{{"run_id":"01010101-0101-0101-0101-010101010101","kind":"seo_audit","status":"succeeded","output":"café \"✓\"\n","output_truncated":false,"error":null,"cost":"1.5"}}}}"#
        );
        assert_eq!(event.body, expected);
        assert!(event.is_whole());
        assert!(!Event { body: expected.replace("1.5", "2.5"), ..event }.is_whole());
    }

    /// Source: service interface, "Errors".
    #[test]
    fn a_failure_is_told_by_its_generic_code_alone() {
        let event = Event::of(&failed(), None, NOW).unwrap();
        assert_eq!(event.kind, EventType::Failed);
        assert!(
            event.body.contains(r#""output":"","output_truncated":false,"error":"agent_failed""#)
        );
        assert!(event.body.contains(r#""cost":"0""#));
        assert!(!event.body.contains("secret"));
    }

    /// Source: service interface, "Events", rule 11.
    #[test]
    fn an_output_is_cut_after_32_000_characters_whatever_their_size() {
        for letter in ["a", "é", "✓", "😀"] {
            for (length, kept, truncated) in
                [(31_999, 31_999, false), (32_000, 32_000, false), (32_001, 32_000, true)]
            {
                let output = letter.repeat(length);
                let event = Event::of(&run(Ending::Succeeded, 0), Some(&output), NOW).unwrap();
                let body: serde_json::Value = serde_json::from_str(&event.body).unwrap();
                assert_eq!(body["data"]["output"].as_str().unwrap().chars().count(), kept);
                assert_eq!(body["data"]["output_truncated"], truncated);
                assert!(event.body.len() < 200 * 1024);
            }
        }
    }

    #[test]
    fn an_end_that_is_written_twice_makes_the_same_event() {
        let run = run(Ending::NoSignal, 7);
        assert_eq!(Event::of(&run, Some("x"), NOW), Event::of(&run, Some("x"), NOW));
        assert_eq!(Event::of(&run, None, NOW).unwrap().id.born_at(), NOW);
    }

    #[test]
    fn a_sample_is_what_a_run_of_that_end_makes() {
        let (account, id) = (Id::from_bytes([2; 16]), Id::new(NOW, 0, [7; 8]));
        for kind in EventType::ALL {
            let event = Event::sample(kind, account, id, "# Report\n");
            let body: serde_json::Value = serde_json::from_str(&event.body).unwrap();
            assert!(event.is_whole());
            assert_eq!((event.kind, event.run, event.created_at), (kind, id, NOW));
            assert_eq!(body["type"], kind.as_str());
            assert_eq!(body["data"]["status"], kind.status().as_str());
            let failed = kind == EventType::Failed;
            assert_eq!(body["data"]["error"].as_str(), failed.then_some("agent_failed"));
            assert_eq!(body["data"]["cost"], if failed { "0" } else { "0.02" });
        }
    }

    #[test]
    fn a_run_that_is_not_over_makes_no_event() {
        let mut run = failed();
        run.status = Status::Running;
        assert_eq!(Event::of(&run, None, NOW), None);
    }
}
