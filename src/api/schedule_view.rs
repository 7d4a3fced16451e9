//! The JSON forms of schedules and their logs. Source: the contract, section 7.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value, json};

use crate::api::view::{text, text_or_null};
use crate::app::schedules::FullSchedule;
use crate::domain::cron::{Cron, Rate};
use crate::domain::limits::SLOTS_SHOWN_MAX;
use crate::domain::money::Amount;
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::schedule::{Repeat, Stopped};
use crate::domain::slot::Tick;
use crate::domain::time::Timestamp;

/// A schedule. Source: service interface, "Schedule".
#[derive(Serialize)]
pub(in crate::api) struct ScheduleView<'a> {
    #[serde(serialize_with = "text")]
    id: ScheduleId,
    kind: &'a str,
    input: &'a RawValue,
    cron: &'a str,
    delivery_channels: Vec<&'static str>,
    one_shot: bool,
    enabled: bool,
    #[serde(serialize_with = "text")]
    created_at: Timestamp,
    #[serde(serialize_with = "text")]
    updated_at: Timestamp,
    #[serde(serialize_with = "text_or_null")]
    next_run_at: Option<Timestamp>,
    #[serde(serialize_with = "text_or_null")]
    last_run_at: Option<Timestamp>,
    #[serde(serialize_with = "text_or_null")]
    last_run_id: Option<RunId>,
    last_run_status: Option<&'static str>,
    timezone: &'static str,
    description: Option<String>,
    next_runs: Vec<String>,
    overlap: &'static str,
    missed: &'static str,
    counts: CountsView,
    last_skip: Option<SkipView>,
    disabled_reason: Option<&'static str>,
    warnings: Vec<String>,
    runs_per_day: Option<Number>,
    #[serde(serialize_with = "text_or_null")]
    cost_per_day: Option<Amount>,
    currency: &'a str,
}

/// What became of the slots so far.
#[derive(Serialize)]
struct CountsView {
    fired: u64,
    skipped: u64,
    missed: u64,
}

/// The last slot that became no run.
#[derive(Serialize)]
struct SkipView {
    #[serde(serialize_with = "text")]
    scheduled_for: Timestamp,
    reason: &'static str,
}

/// One line of a schedule's log.
#[derive(Serialize)]
pub(in crate::api) struct TickView {
    #[serde(serialize_with = "text")]
    scheduled_for: Timestamp,
    #[serde(serialize_with = "text")]
    fired_at: Timestamp,
    late_s: u64,
    outcome: &'static str,
    #[serde(serialize_with = "text_or_null")]
    run_id: Option<RunId>,
    count: u32,
}

impl<'a> ScheduleView<'a> {
    /// The form of a schedule.
    pub(in crate::api) fn of(full: &'a FullSchedule) -> Self {
        let FullSchedule { schedule, last_status, price, currency } = full;
        // What was stored was read before; a later version may read it otherwise.
        let cron = Cron::parse(&schedule.cron).ok();
        // What is stopped, or stops after one run, has no runs per day.
        let comes_again = schedule.is_enabled() && schedule.repeat == Repeat::Always;
        let rate = cron.as_ref().filter(|_| comes_again).map(Cron::runs_per_day);
        let next_runs = match (&cron, schedule.next_run_at) {
            (Some(cron), Some(next)) => slots(cron, next, shown_of(schedule.repeat)),
            (None, _) | (_, None) => Vec::new(),
        };
        let (counts, is_enabled) = (schedule.counts, schedule.is_enabled());
        let mut warnings = cron.as_ref().map_or_else(Vec::new, warnings);
        if !schedule.channels.is_empty() {
            warnings.push(CHANNELS_WARNING.to_owned());
        }
        Self {
            id: schedule.id,
            kind: &schedule.kind,
            // What was stored is the text of a JSON object.
            input: serde_json::from_str(&schedule.input).unwrap_or(RawValue::NULL),
            cron: &schedule.cron,
            delivery_channels: schedule.channels.iter().map(|it| it.as_str()).collect(),
            one_shot: schedule.repeat == Repeat::Once,
            enabled: is_enabled,
            created_at: schedule.created_at,
            updated_at: schedule.updated_at,
            next_run_at: schedule.next_run_at,
            last_run_at: schedule.last_run.map(|it| it.at),
            last_run_id: schedule.last_run.map(|it| it.id),
            last_run_status: last_status.map(|it| it.as_str()),
            timezone: "UTC",
            description: cron.as_ref().map(Cron::describe),
            next_runs,
            overlap: schedule.overlap.as_str(),
            missed: schedule.missed.as_str(),
            counts: CountsView {
                fired: counts.fired,
                skipped: counts.skipped,
                missed: counts.missed,
            },
            last_skip: schedule
                .last_skip
                .map(|(slot, verdict)| SkipView { scheduled_for: slot, reason: verdict.as_str() }),
            disabled_reason: schedule.stopped.map(Stopped::as_str),
            warnings,
            runs_per_day: rate.and_then(number),
            cost_per_day: rate
                .zip(*price)
                .and_then(|(rate, price)| price.times(rate.runs(), Rate::DAYS)),
            currency: currency.as_str(),
        }
    }
}

impl TickView {
    /// The form of a line.
    pub(in crate::api) fn of(tick: &Tick) -> Self {
        Self {
            scheduled_for: tick.slot,
            fired_at: tick.decided_at,
            late_s: tick.decided_at.since(tick.slot).as_secs(),
            outcome: tick.verdict.as_str(),
            run_id: tick.run,
            count: tick.slots,
        }
    }
}

/// The form of a look at an expression that belongs to no schedule yet.
pub(in crate::api) fn preview(text: &str, cron: &Cron, now: Timestamp, count: u32) -> Value {
    let first = cron.next_after(now);
    let next = first.map_or_else(Vec::new, |it| slots(cron, it, count));
    let rate = number(cron.runs_per_day());
    json!({
        "cron": text,
        "timezone": "UTC",
        "description": cron.describe(),
        "next_runs": next,
        "warnings": warnings(cron),
        "runs_per_day": rate,
    })
}

/// `count` slots from `first` on, which is one.
fn slots(cron: &Cron, first: Timestamp, count: u32) -> Vec<String> {
    let count = count.min(SLOTS_SHOWN_MAX) as usize;
    std::iter::successors(Some(first), |it| cron.next_after(*it))
        .take(count)
        .map(|it| it.to_string())
        .collect()
}

/// How many of its next slots a schedule shows: one that fires once has one.
const fn shown_of(repeat: Repeat) -> u32 {
    match repeat {
        Repeat::Once => 1,
        Repeat::Always => NEXT_SHOWN,
    }
}

/// A rate as a number of JSON, with the decimals that it is written with.
fn number(rate: Rate) -> Option<Number> {
    rate.to_string().parse().ok()
}

fn warnings(cron: &Cron) -> Vec<String> {
    cron.warnings().iter().map(ToString::to_string).collect()
}

/// What is said of channels: nothing goes to one without a connection.
const CHANNELS_WARNING: &str =
    "a delivery channel works only when its connection is configured; none can be yet";
/// Slots that a schedule shows.
const NEXT_SHOWN: u32 = 5;
