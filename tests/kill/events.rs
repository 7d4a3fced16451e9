//! What became of the events: the log of the receiver beside what it was sent.

use std::collections::BTreeMap;

use errand::domain::limits::SIGNATURE_SKEW_MAX;
use errand::domain::signature::SigningSecret;
use errand::domain::time::Timestamp;
use serde_json::Value;

use crate::daemon::Daemon;
use crate::receiver::{Receiver, Send};

/// A receiver that was connected.
pub(crate) struct Connected {
    pub(crate) receiver: Receiver,
    id: String,
    secret: SigningSecret,
}

impl Connected {
    /// Connects a receiver to the daemon.
    pub(crate) fn to(daemon: &Daemon) -> Self {
        let receiver = Receiver::start();
        let made = daemon.post("/v1/webhooks", &format!(r#"{{"url":"{}"}}"#, receiver.url()));
        let id = made["id"].as_str().unwrap().to_owned();
        let secret = SigningSecret::parse(made["secret"].as_str().unwrap()).unwrap();
        Self { receiver, id, secret }
    }

    /// How many deliveries are not over.
    pub(crate) fn open(&self, daemon: &Daemon) -> u64 {
        let path =
            format!("/v1/webhooks/{}/deliveries?status=pending&status=retrying&limit=1", self.id);
        daemon.get(&path)["total"].as_u64().unwrap()
    }

    /// Compares the log with what came, and both with the runs; how many events were delivered.
    pub(crate) fn check(&self, daemon: &Daemon, runs: &BTreeMap<String, Value>) -> usize {
        let log = self.log(daemon);
        let sends = self.receiver.sends();
        let told: BTreeMap<&str, &Value> =
            log.iter().map(|it| (it["run_id"].as_str().unwrap(), it)).collect();
        assert_eq!(told.len(), log.len(), "a run was told twice");
        for run in runs.values() {
            let delivery = told.get(run["id"].as_str().unwrap());
            let delivery = delivery.unwrap_or_else(|| panic!("nobody was told of {run}"));
            let kind = format!("agent.run.{}", run["status"].as_str().unwrap());
            assert_eq!(delivery["event_type"], kind.as_str(), "{delivery}");
        }
        assert_eq!(told.len(), runs.len(), "somebody was told of a run that is not there");
        for delivery in &log {
            let none = Vec::new();
            self.is_sound(
                delivery,
                sends.get(delivery["event_id"].as_str().unwrap()).unwrap_or(&none),
            );
        }
        log.iter().filter(|it| it["status"] == "delivered").count()
    }

    /// One line of the log beside what came of its event.
    fn is_sound(&self, delivery: &Value, sends: &[Send]) {
        let attempts = delivery["attempts"].as_u64().unwrap();
        assert!(attempts <= 6 && sends.len() as u64 <= attempts, "{delivery} {sends:?}");
        match delivery["status"].as_str().unwrap() {
            "delivered" => assert!(!sends.is_empty(), "{delivery} was delivered to nobody"),
            "failed" => {
                assert_eq!(attempts, 6, "{delivery}");
                assert!(delivery["error_reason"].is_string(), "{delivery}");
            }
            other => panic!("{other}: {delivery}"),
        }
        let mut numbers = Vec::new();
        for send in sends {
            assert_eq!(send.body, sends[0].body, "another body at another attempt");
            let (timestamp, signature) = &send.signed;
            let at = Timestamp::from_millis(timestamp.parse::<i64>().unwrap() * 1000);
            let verdict =
                self.secret.verify(timestamp, signature, &send.body, at, SIGNATURE_SKEW_MAX);
            assert_eq!(verdict, Ok(()));
            let body: Value = serde_json::from_slice(&send.body).unwrap();
            assert_eq!(body["id"], delivery["event_id"]);
            numbers.push(send.attempt);
        }
        numbers.sort_unstable();
        assert!(
            numbers.windows(2).all(|it| it[0] < it[1]),
            "an attempt was made twice: {numbers:?}"
        );
    }

    /// The whole log.
    fn log(&self, daemon: &Daemon) -> Vec<Value> {
        let mut log = Vec::new();
        loop {
            let path =
                format!("/v1/webhooks/{}/deliveries?limit=200&offset={}", self.id, log.len());
            let page = daemon.get(&path);
            log.extend(page["data"].as_array().unwrap().iter().cloned());
            if page["has_more"] == false {
                assert_eq!(page["total"], log.len());
                return log;
            }
        }
    }
}
