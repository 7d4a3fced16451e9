//! What tests of webhooks do again and again: connect, wait, read the log, and check what must
//! hold after everything.

use std::collections::BTreeMap;
use std::time::Duration;

use errand::config::{Config, Mode};
use errand::domain::delivery::Place;
use errand::domain::due::Due;
use errand::domain::id::Id;
use errand::domain::retry::{FirstAttempt, Pauses};
use errand::store::deliveries;
use errand::store::outbox::Open;
use ring::hmac;
use serde_json::{Value, json};

use crate::support::receiver::Request;
use crate::support::{House, Receiver};

/// Where receivers are.
pub const HOOKS: &str = "/v1/webhooks";
/// Pauses after the first to the fifth attempt, in seconds. Source: service interface, "Limits".
pub const PAUSES: [u64; 5] = [60, 120, 240, 480, 960];

/// A receiver that is connected.
#[derive(Clone, Debug)]
pub struct Hook {
    pub id: String,
    pub secret: String,
    /// The key of its account.
    pub key: String,
}

impl Hook {
    /// Where it is.
    pub fn path(&self) -> String {
        format!("{HOOKS}/{}", self.id)
    }
}

/// Settings of `errand serve`, as far as sending goes, for plain HTTP.
pub fn minutes(config: &mut Config) {
    config.webhooks.rules.pauses = Pauses::Minutes;
    config.webhooks.rules.first_attempt = FirstAttempt::Tick;
}

/// Settings of `errand serve`.
pub fn serve(config: &mut Config) {
    minutes(config);
    config.mode = Mode::Serve;
    config.outbound.allow.clear();
}

/// A house with a receiver at `hooks.example` that does `act`.
pub async fn house_with(
    act: crate::support::Act,
    change: impl FnOnce(&mut Config),
) -> (House, Receiver, Hook) {
    let house = House::with(1, change).await;
    let receiver = Receiver::new(&house.clock, act).plain(&house.internet, "hooks.example");
    let hook = connect(&house, "http://hooks.example/hook").await;
    (house, receiver, hook)
}

/// Connects a receiver.
pub async fn connect(house: &House, url: &str) -> Hook {
    connect_as(house, &house.key, url).await
}

/// The same with another key.
pub async fn connect_as(house: &House, key: &str, url: &str) -> Hook {
    let reply = house.ask_as(key, "POST", HOOKS, Some(json!({ "url": url }))).await;
    assert_eq!(reply.status, 201, "{}", reply.raw);
    let made = reply.json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    Hook { id: text("id"), secret: text("secret"), key: key.to_owned() }
}

/// Disables a receiver.
pub async fn delete(house: &House, hook: &Hook) {
    let reply = house.ask_as(&hook.key, "DELETE", &hook.path(), None).await;
    assert_eq!(reply.status, 204, "{}", reply.raw);
}

/// The log of a receiver with all attempts, newest first, up to 200.
pub async fn log(house: &House, hook: &Hook) -> Vec<Value> {
    page(house, hook, "limit=200&include=attempts").await["data"].as_array().unwrap().clone()
}

/// The only line of a log.
pub async fn only(house: &House, hook: &Hook) -> Value {
    let log = log(house, hook).await;
    assert_eq!(log.len(), 1, "{log:#?}");
    log[0].clone()
}

/// A page of the log of a receiver.
pub async fn page(house: &House, hook: &Hook, query: &str) -> Value {
    let path = format!("{}/deliveries?{query}", hook.path());
    let reply = house.ask_as(&hook.key, "GET", &path, None).await;
    assert_eq!(reply.status, 200, "{query}: {}", reply.raw);
    reply.json()
}

/// Adds `count` repetitions of a line to a log, due after `pause`. The daemon is stopped.
pub async fn fill(house: &House, hook: &Hook, line: &Value, count: u64, pause: Duration) {
    let place = Place {
        account: house.account,
        receiver: Id::parse(&hook.id).unwrap(),
        id: Id::parse(line["id"].as_str().unwrap()).unwrap(),
    };
    let (now, uptime) = (house.clock.now(), house.clock.uptime());
    let ids: Vec<_> = (0..count).map(|_| house.entropy.id(now)).collect();
    let fill = house.write(move |txn| {
        let first = deliveries::find(txn, place)?.unwrap();
        let due = Due::after(pause, now, uptime);
        for id in &ids {
            let again = first.resend(*id, now);
            deliveries::insert(txn, &again, &Open { sent: 0, due, claim: None })?;
        }
        Ok(())
    });
    fill.await;
}

/// Asks for a run and waits until it is over.
pub async fn run(house: &House, what: Value) -> Value {
    house.over(&house.run(what).await).await
}

/// Waits until nothing is to be delivered to these, at most four hours.
pub async fn settled(house: &House, hooks: &[&Hook]) {
    settled_within(house, hooks, SECOND).await;
}

/// The same with other pauses between the looks.
pub async fn settled_within(house: &House, hooks: &[&Hook], pause: Duration) {
    for _ in 0..14_400 / pause.as_secs() {
        let mut open = 0;
        for hook in hooks {
            let page = page(house, hook, "limit=1&status=pending&status=retrying").await;
            open += page["total"].as_u64().unwrap();
        }
        if open == 0 {
            return;
        }
        house.clock.sleep(pause).await;
    }
    panic!("after four hours something is still to be delivered");
}

/// The signature is that of these bytes, computed from nothing but the interface.
///
/// Source: service interface, "Events", rule 5; Standard Webhooks 1.0.0.
#[track_caller]
pub fn check_signature(request: &Request, secret: &str) {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::STANDARD;
    let timestamp = request.header("x-service-timestamp");
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let text = [timestamp.as_bytes(), b".", &request.body].concat();
    let hex: String =
        hmac::sign(&key, &text).as_ref().iter().map(|it| format!("{it:02x}")).collect();
    assert_eq!(request.header("x-service-signature"), format!("v1={hex}"));

    let event = request.header("x-service-event-id");
    assert_eq!(request.header("webhook-id"), event);
    assert_eq!(request.header("webhook-timestamp"), timestamp);
    let key = base64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let text = [event.as_bytes(), b".", timestamp.as_bytes(), b".", &request.body].concat();
    let sum = base64.encode(hmac::sign(&key, &text).as_ref());
    assert_eq!(request.header("webhook-signature"), format!("v1,{sum}"));
}

/// What must hold after everything, for receivers and what they have seen.
///
/// `told` is how many deliveries there must be for all of them, repetitions included; `unit` is
/// what a second of the pauses takes: a sixtieth of one in development. Source: the
/// contract, section 8.
pub async fn check_all(house: &House, told: &[(&Receiver, &Hook)], total: usize, unit: Duration) {
    let mut deliveries = 0;
    let mut bodies: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (receiver, hook) in told {
        let log = log(house, hook).await;
        deliveries += log.len();
        let mut of_event: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in log {
            check_line(&line);
            let event = line["event_id"].as_str().unwrap().to_owned();
            of_event.entry(event).or_default().push(line);
        }
        let mut seen: BTreeMap<String, Vec<Request>> = BTreeMap::new();
        for it in receiver.seen() {
            if it.header("x-service-webhook-id") == hook.id {
                seen.entry(it.header("x-service-event-id").to_owned()).or_default().push(it);
            }
        }
        for (event, sends) in seen {
            for send in sends.iter().filter(|it| !it.body.is_empty()) {
                check_signature(send, &hook.secret);
                let stamp: i64 = send.header("x-service-timestamp").parse().unwrap();
                assert!((send.wall.seconds() - stamp).abs() <= 1, "a stale timestamp");
                let known = bodies.entry(event.clone()).or_insert_with(|| send.body.clone());
                assert_eq!(*known, send.body, "a body has changed");
                assert_eq!(send.json()["id"], *event);
            }
            // The log of a run that was deleted is gone.
            let Some(lines) = of_event.get(&event) else { continue };
            let is_open = |it: &&Value| it["finished_at"].is_null();
            let begun: u64 = lines.iter().map(|it| it["attempts"].as_u64().unwrap()).sum();
            let begun = usize::try_from(begun).unwrap() + lines.iter().filter(is_open).count();
            assert!(sends.len() <= begun, "{} sends of {begun}: {lines:#?}", sends.len());
            if lines.len() == 1 {
                check_pauses(&sends, unit);
            }
        }
    }
    assert_eq!(deliveries, total, "deliveries");
    house.examine().await;
}

/// Never more than six, never early, never one number twice.
#[track_caller]
pub fn check_pauses(sends: &[Request], unit: Duration) {
    assert!(sends.len() <= 6, "{} sends", sends.len());
    for pair in sends.windows(2) {
        let (from, to) = (pair[0].attempt(), pair[1].attempt());
        assert!(from < to && to <= 6, "attempt {to} after {from}");
        let least: u64 = PAUSES[from - 1..to - 1].iter().sum();
        let (least, found) = (unit * u32::try_from(least).unwrap(), pair[1].at.since(pair[0].at));
        assert!(found >= least, "{found:?} instead of {least:?} after attempt {from}");
    }
}

/// A second of the pauses in `errand serve`.
pub const SECOND: Duration = Duration::from_secs(1);
/// The same in `errand dev`: a sixtieth, in whole microseconds below it.
pub const DEV_SECOND: Duration = Duration::from_micros(16_666);

#[track_caller]
fn check_line(line: &Value) {
    let text = |name: &str| line[name].as_str();
    let (status, reason) = (text("status").unwrap(), text("error_reason"));
    let attempts = line["attempt_log"].as_array().unwrap();
    assert!(attempts.len() <= 6 && line["max_attempts"] == 6, "{line}");
    assert_eq!(
        line["attempts"].as_u64().unwrap(),
        attempts.last().map_or(0, |it| it["n"].as_u64().unwrap())
    );
    for (before, after) in attempts.iter().zip(attempts.iter().skip(1)) {
        assert!(before["n"].as_u64() < after["n"].as_u64(), "{line}");
    }
    for reason in attempts.iter().filter_map(|it| it["error_reason"].as_str()).chain(reason) {
        assert!(REASONS.contains(&reason), "{reason} is new: {line}");
    }
    let is_over = ["delivered", "failed", "cancelled"].contains(&status);
    assert_eq!(line["finished_at"].is_string(), is_over, "{line}");
    assert_eq!(line["next_attempt_at"].is_string(), !is_over, "{line}");
    match status {
        "pending" => assert!(attempts.is_empty() && reason.is_none(), "{line}"),
        "retrying" => assert!((1..6).contains(&attempts.len()) && reason.is_some(), "{line}"),
        "delivered" => assert!(!attempts.is_empty() && reason.is_none(), "{line}"),
        "failed" => {
            let last = attempts.last().map_or(0, |it| it["n"].as_u64().unwrap());
            assert!(last == 6 || reason == Some("backlog_limit"), "{line}");
            assert!(reason.is_some(), "{line}");
        }
        "cancelled" => assert_eq!(reason, Some("receiver_disabled"), "{line}"),
        other => panic!("{other} is new: {line}"),
    }
}

/// Every reason. Source: the contract, section 8.
const REASONS: [&str; 12] = [
    "dns_failed",
    "address_not_allowed",
    "connect_failed",
    "tls_failed",
    "timeout",
    "http_status",
    "bad_response",
    "interrupted",
    "receiver_disabled",
    "run_deleted",
    "backlog_limit",
    "internal",
];
