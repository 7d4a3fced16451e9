//! What tests of schedules do again and again: plan, wait, and read what became of the slots.

use std::time::Duration;

use errand::domain::time::Timestamp;
use serde_json::{Value, json};

use crate::support::{House, KIND, RUNS, Reply};

/// Where schedules are.
pub const SCHEDULES: &str = "/v1/agents/schedules";

/// A time of the day on which every test begins, or of a later day of that month: `02 00:05:00`.
pub fn at(time: &str) -> Timestamp {
    let (day, time) = time.split_once(' ').unwrap_or(("01", time));
    Timestamp::parse(&format!("2026-01-{day}T{time}Z")).unwrap()
}

/// Lets the time go on until then.
pub async fn reach(house: &House, time: &str) {
    let left = at(time).since(house.clock.now());
    assert!(!left.is_zero(), "{time} has passed");
    house.clock.sleep(left).await;
}

/// Makes a schedule of the scripted agent.
pub async fn plan(house: &House, cron: &str, input: Value) -> Value {
    plan_as(house, &house.key, cron, json!({ "input": input })).await
}

/// The same with more fields, for the owner of a key.
pub async fn plan_as(house: &House, key: &str, cron: &str, more: Value) -> Value {
    let mut body = json!({ "kind": KIND, "input": {}, "cron": cron });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = house.ask_as(key, "POST", SCHEDULES, Some(body)).await;
    assert_eq!(reply.status, 201, "{}", reply.raw);
    reply.json()
}

/// Where a schedule is.
pub fn path(plan: &Value) -> String {
    format!("{SCHEDULES}/{}", plan["id"].as_str().unwrap())
}

/// The record of a schedule.
pub async fn look(house: &House, plan: &Value) -> Value {
    let reply = house.ask("GET", &path(plan), None).await;
    assert_eq!(reply.status, 200, "{}", reply.raw);
    reply.json()
}

/// Changes a schedule.
pub async fn change(house: &House, plan: &Value, change: Value) -> Value {
    let reply = try_change(house, plan, change).await;
    assert_eq!(reply.status, 200, "{}", reply.raw);
    reply.json()
}

/// Tries to.
pub async fn try_change(house: &House, plan: &Value, change: Value) -> Reply {
    house.ask("PATCH", &path(plan), Some(change)).await
}

/// Runs a schedule now.
pub async fn run_now(house: &House, plan: &Value) -> Value {
    let reply = house.ask("POST", &format!("{}/run", path(plan)), None).await;
    assert_eq!(reply.status, 201, "{}", reply.raw);
    reply.json()
}

/// The log of a schedule, up to 200 lines, what was decided last first.
pub async fn lines(house: &House, plan: &Value) -> Vec<Value> {
    let reply = house.ask("GET", &format!("{}/ticks?limit=200", path(plan)), None).await;
    assert_eq!(reply.status, 200, "{}", reply.raw);
    reply.json()["data"].as_array().unwrap().clone()
}

/// The log as short texts, the earliest slot first: `01 00:05 fired`, `01 00:05 missed x3`.
pub async fn told(house: &House, plan: &Value) -> Vec<String> {
    let mut lines = lines(house, plan).await;
    lines.sort_by_key(|it| it["scheduled_for"].to_string());
    lines.iter().map(brief).collect()
}

fn brief(line: &Value) -> String {
    let slot = line["scheduled_for"].as_str().unwrap()[8..16].replace('T', " ");
    let outcome = line["outcome"].as_str().unwrap();
    assert_eq!(line["run_id"].is_string(), outcome == "fired", "{line}");
    match line["count"].as_u64().unwrap() {
        1 => format!("{slot} {outcome}"),
        count => format!("{slot} {outcome} x{count}"),
    }
}

/// The runs of a schedule that are on one page, oldest first.
pub async fn runs(house: &House, plan: &Value) -> Vec<Value> {
    let id = plan["id"].as_str().unwrap();
    let page = house.ask("GET", &format!("{RUNS}?limit=200&schedule_id={id}"), None).await.json();
    assert_eq!(page["has_more"], false);
    page["data"].as_array().unwrap().iter().rev().cloned().collect()
}

/// How many of its slots fired, were skipped and were missed.
pub async fn counts(house: &House, plan: &Value) -> [u64; 3] {
    let counts = look(house, plan).await["counts"].clone();
    ["fired", "skipped", "missed"].map(|it| counts[it].as_u64().unwrap())
}

/// One minute.
pub const MINUTE: Duration = Duration::from_mins(1);
/// Milliseconds of an hour, for steps of the clock.
pub const HOUR_MS: i64 = 3_600_000;
