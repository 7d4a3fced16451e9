//! `errand schedule`: what is started by the clock.

mod args;
use args::CreateArgs;
pub(super) use args::ScheduleVerb;

use serde_json::{Map, Number, Value, json};

use crate::cli::client::Ask;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::reach::{Missing, Reach};
use crate::cli::shown::{field, id, items, money, time};
use crate::domain::account::AccountId;
use crate::domain::cron::Cron;
use crate::domain::limits::PAGE_ITEMS_MAX;
use crate::domain::run::ScheduleId;
use crate::domain::time::Timestamp;
use crate::sys::clock::Clock;

/// Does what was asked.
pub(super) async fn run(here: &Here, verb: ScheduleVerb) -> Result<(), Failure> {
    match verb {
        ScheduleVerb::Create(args) => create(here, &args).await,
        ScheduleVerb::List { account, limit, offset } => {
            let account = account.map(|it| id(&it, "account")).transpose()?;
            list(here, account, limit, offset).await
        }
        ScheduleVerb::Show { id: text, limit } => {
            show(here, id(&text, "schedule")?, limit as usize).await
        }
        ScheduleVerb::Enable { id: text } => {
            let change = json!({ "enabled": true });
            ask(here, id(&text, "schedule")?, "change", change, told_enabled).await
        }
        ScheduleVerb::Disable { id: text } => {
            let change = json!({ "enabled": false });
            ask(here, id(&text, "schedule")?, "change", change, told_disabled).await
        }
        ScheduleVerb::Delete { id: text } => {
            ask(here, id(&text, "schedule")?, "delete", json!({}), told_deleted).await
        }
        ScheduleVerb::Run { id: text } => {
            ask(here, id(&text, "schedule")?, "run", json!({}), told_run).await
        }
        ScheduleVerb::Preview { cron, count } => preview(here, &cron, count),
    }
}

async fn create(here: &Here, args: &CreateArgs) -> Result<(), Failure> {
    let account: AccountId = id(&args.account, "account")?;
    let input: Map<String, Value> = serde_json::from_str(&args.input).map_err(|error| {
        let what = format!("--input must be a JSON object: {error}");
        Failure::new(Exit::Usage, what)
            .then("such as --input '{\"url\": \"https://example.org/\"}'")
    })?;
    let body = json!({
        "kind": args.kind,
        "input": input,
        "cron": args.cron,
        "delivery_channels": args.delivery_channels,
        "enabled": !args.disabled,
        "one_shot": args.one_shot,
        "overlap": args.overlap,
        "missed": args.missed,
    });
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let made = reach.ask(&Ask::post(format!("/accounts/{account}/schedules"), body)).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&made)?;
    } else {
        out.line(out.strong(&format!("schedule {} made", field(&made, "id"))))?;
        out.facts(&facts(&made))?;
    }
    reach.close(out)
}

async fn list(
    here: &Here,
    account: Option<AccountId>,
    limit: u32,
    offset: u32,
) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let only = account.map_or_else(String::new, |it| format!("&account={it}"));
    let path = format!("/schedules?limit={limit}&offset={offset}{only}");
    let found = reach.ask(&Ask::get(path)).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&found)?;
    } else {
        let head = ["ID", "KIND", "CRON", "NEXT", "LAST", "FIRED", "MISSED"];
        let row = |it: &Value| {
            let counts = it.get("counts").unwrap_or(&Value::Null);
            let [id, kind, cron, last] =
                ["id", "kind", "cron", "last_run_status"].map(|name| field(it, name));
            vec![id, kind, cron, next(it), last, field(counts, "fired"), field(counts, "missed")]
        };
        let rows: Vec<Vec<String>> = items(&found).iter().map(row).collect();
        let none = if offset == 0 {
            "There is no schedule yet: errand schedule create --help"
        } else {
            "There is no schedule so far down the list."
        };
        out.table(&head, &rows, none)?;
        if found.get("has_more").and_then(Value::as_bool) == Some(true) {
            let (next, total) = (offset.saturating_add(limit), field(&found, "total"));
            out.line(format!("{total} schedules in all; the next ones: --offset {next}"))?;
        }
    }
    reach.close(out)
}

async fn show(here: &Here, id: ScheduleId, limit: usize) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let found = reach.ask(&Ask::get(format!("/schedules/{id}"))).await?;
    let log = log(&reach, id, limit).await?;
    let out = &here.out;
    if out.is_json() {
        let mut shown = found;
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("ticks".to_owned(), Value::Array(log));
        }
        out.json(&shown)?;
    } else {
        out.line(out.strong(&field(&found, "id")))?;
        out.facts(&facts(&found))?;
        let row = |it: &Value| {
            let [late, outcome, run, count] =
                ["late_s", "outcome", "run_id", "count"].map(|name| field(it, name));
            vec![time(it, "scheduled_for"), late, outcome, count, run]
        };
        let rows: Vec<Vec<String>> = log.iter().map(row).collect();
        out.line("")?;
        let head = ["SLOT", "LATE_S", "OUTCOME", "SLOTS", "RUN"];
        out.table(&head, &rows, "No slot has come yet.")?;
    }
    reach.close(out)
}

/// Up to `limit` lines of a schedule's log, what was decided last first.
async fn log(reach: &Reach, id: ScheduleId, limit: usize) -> Result<Vec<Value>, Failure> {
    let mut lines = Vec::new();
    while let Some(left) = limit.checked_sub(lines.len()).filter(|it| *it > 0) {
        let (some, offset) = (left.min(PAGE_ITEMS_MAX as usize), lines.len());
        let path = format!("/schedules/{id}/ticks?limit={some}&offset={offset}");
        let page = reach.ask(&Ask::get(path)).await?;
        lines.extend_from_slice(items(&page));
        if page.get("has_more").and_then(Value::as_bool) != Some(true) || items(&page).is_empty() {
            break;
        }
    }
    Ok(lines)
}

/// Asks for one thing about one schedule and tells what came of it.
async fn ask(
    here: &Here,
    id: ScheduleId,
    what: &str,
    body: Value,
    told: fn(&Value) -> String,
) -> Result<(), Failure> {
    let reach = Reach::find(&here.load()?.config, Missing::Refuse).await?;
    let done = reach.ask(&Ask::post(format!("/schedules/{id}/{what}"), body)).await?;
    let out = &here.out;
    if out.is_json() {
        out.json(&done)?;
    } else {
        out.line(out.strong(&told(&done)))?;
    }
    reach.close(out)
}

fn told_enabled(schedule: &Value) -> String {
    format!("The schedule fires next at {}.", next(schedule))
}

fn told_disabled(schedule: &Value) -> String {
    format!("The schedule does not fire any more ({}).", field(schedule, "disabled_reason"))
}

fn told_deleted(_: &Value) -> String {
    "The schedule is gone; its runs stay.".to_owned()
}

fn told_run(run: &Value) -> String {
    format!("The run {} waits for a worker.", field(run, "id"))
}

/// Says what an expression means; needs no daemon and no data.
fn preview(here: &Here, text: &str, count: u32) -> Result<(), Failure> {
    let cron = Cron::parse(text).map_err(|error| {
        let problem = format!("the cron expression cannot be used: {error}");
        Failure::new(Exit::Usage, problem)
    })?;
    let slots =
        std::iter::successors(cron.next_after(Clock::host().now()), |it| cron.next_after(*it));
    let slots: Vec<Timestamp> = slots.take(count as usize).collect();
    let warnings: Vec<String> = cron.warnings().iter().map(ToString::to_string).collect();
    let out = &here.out;
    if out.is_json() {
        let slots: Vec<String> = slots.iter().map(ToString::to_string).collect();
        return out.json(&json!({
            "cron": text,
            "timezone": "UTC",
            "description": cron.describe(),
            "next_runs": slots,
            "warnings": warnings,
            "runs_per_day": cron.runs_per_day().to_string().parse::<Number>().ok(),
        }));
    }
    out.line(out.strong(&cron.describe()))?;
    for slot in slots {
        out.line(format!("  {}", shown_time(&slot.to_string())))?;
    }
    out.facts(&[("per day", cron.runs_per_day().to_string())])?;
    for warning in warnings {
        out.line(format!("note: {warning}"))?;
    }
    Ok(())
}

/// What is said of a schedule; what does not apply is left out.
fn facts(schedule: &Value) -> Vec<(&'static str, String)> {
    let (per_day, currency) = (field(schedule, "runs_per_day"), field(schedule, "currency"));
    let cost = money(schedule, "cost_per_day", &currency);
    let counts = schedule.get("counts").unwrap_or(&Value::Null);
    let [fired, skipped, missed] = ["fired", "skipped", "missed"].map(|it| field(counts, it));
    let mut facts = vec![
        ("kind", field(schedule, "kind")),
        ("input", field(schedule, "input")),
        ("cron", format!("{} ({})", field(schedule, "cron"), field(schedule, "description"))),
        ("next", next(schedule)),
        (
            "then",
            texts(schedule, "next_runs")
                .iter()
                .skip(1)
                .map(|it| shown_time(it))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("fires", fires(schedule)),
        ("overlap", field(schedule, "overlap")),
        ("missed", field(schedule, "missed")),
        ("channels", texts(schedule, "delivery_channels").join(", ")),
        (
            "last run",
            format!("{} {}", time(schedule, "last_run_at"), field(schedule, "last_run_status")),
        ),
        ("slots", format!("{fired} fired, {skipped} skipped, {missed} missed")),
        ("last skip", skip(schedule)),
    ];
    if schedule.get("runs_per_day").is_some_and(Value::is_number) {
        facts.push(("per day", format!("{per_day} runs, {cost}")));
    }
    facts.extend(texts(schedule, "warnings").into_iter().map(|it| ("note", it)));
    facts.retain(|it| !it.1.is_empty());
    facts
}

/// How often a schedule fires.
fn fires(schedule: &Value) -> String {
    let is_once = schedule.get("one_shot").and_then(Value::as_bool) == Some(true);
    if is_once { "once, then it stops" } else { "at every slot" }.to_owned()
}

/// The last slot that became no run, and why; nothing when there is none.
fn skip(schedule: &Value) -> String {
    match schedule.get("last_skip") {
        Some(skip @ Value::Object(_)) => {
            format!("{} {}", time(skip, "scheduled_for"), field(skip, "reason"))
        }
        Some(_) | None => String::new(),
    }
}

/// The texts of a list.
fn texts(value: &Value, name: &str) -> Vec<String> {
    let list = value.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A time as people read it.
fn shown_time(text: &str) -> String {
    time(&json!({ "at": text }), "at")
}

/// When a schedule fires next, or why it does not.
fn next(schedule: &Value) -> String {
    match schedule.get("disabled_reason").and_then(Value::as_str) {
        Some(reason) => format!("stopped ({reason})"),
        None => time(schedule, "next_run_at"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_says_when_it_fires_next_or_why_not() {
        let at = "2026-01-01T00:00:00.000+00:00";
        let fires = json!({ "next_run_at": at, "disabled_reason": null });
        assert_eq!(next(&fires), "2026-01-01 00:00:00 UTC");
        let stopped = json!({ "next_run_at": null, "disabled_reason": "one_shot_done" });
        assert_eq!(next(&stopped), "stopped (one_shot_done)");
    }
}
