//! `errand status`: how the running daemon does.

use serde_json::Value;

use crate::cli::client::Ask;
use crate::cli::command::Here;
use crate::cli::exit::Failure;
use crate::cli::reach::Reach;
use crate::cli::shown::{field, time};
use crate::domain::time::Timestamp;
use crate::sys::clock::Clock;

/// Asks the daemon and shows what it says of itself.
pub(super) async fn run(here: &Here) -> Result<(), Failure> {
    let reach = Reach::daemon(&here.load()?.config).await?;
    let status = reach.ask(&Ask::get("/status")).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&status)?;
        return reach.close(out);
    }
    let empty = Value::Null;
    let part = |name: &str| status.get(name).unwrap_or(&empty);
    let (instance, runs) = (part("instance"), part("runs"));
    let title = format!("errand {} ({})", field(&status, "version"), field(&status, "mode"));
    out.line(out.strong(&title))?;
    out.facts(&[
        ("ready", readiness(&status)),
        ("process", format!("{}, up {}", field(&status, "pid"), uptime(&status))),
        ("instance", format!("{} ({})", field(instance, "name"), field(instance, "id"))),
        ("begun", format!("{}, start {}", time(instance, "created_at"), field(instance, "boot"))),
        ("accounts", field(&status, "accounts")),
        ("runs", format!("{} waiting, {} running", field(runs, "pending"), field(runs, "running"))),
    ])?;
    reach.close(out)
}

/// `yes`, or `no` with the parts that are not well.
fn readiness(status: &Value) -> String {
    if status.get("ready").and_then(Value::as_bool) == Some(true) {
        return "yes".to_owned();
    }
    let parts = status.get("parts").and_then(Value::as_object);
    let bad = parts.into_iter().flatten().filter(|(_, state)| *state != "ok");
    let told: Vec<String> =
        bad.map(|(name, _)| format!("{name} {}", field(&status["parts"], name))).collect();
    format!("no: {}", told.join(", "))
}

fn uptime(status: &Value) -> String {
    let begun = status.get("started_at").and_then(Value::as_str).and_then(Timestamp::parse);
    let Some(begun) = begun else { return "-".to_owned() };
    let minutes = Clock::host().now().since(begun).as_secs() / 60;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_well_is_named() {
        assert_eq!(readiness(&json!({ "ready": true })), "yes");
        let parts = json!({ "ready": false, "parts": { "storage": "full", "worker": "ok" } });
        assert_eq!(readiness(&parts), "no: storage full");
    }
}
