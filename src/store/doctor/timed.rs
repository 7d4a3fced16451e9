//! The schedules of the sample, and what the doctor says of their damages.

use crate::domain::id::Id;
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::schedule::{Counts, MissedSlots, Overlap, Repeat, Schedule, Stopped};
use crate::domain::slot::{Tick, Verdict};
use crate::domain::time::Timestamp;
use crate::store::doctor::sample::{BOB, NOW, SCHEDULED, check_problems};
use crate::store::tables::Table;
use crate::store::{Error, Txn, baselines, meta, runs, schedules, ticks};

/// Bob's; has started a run, and fires again.
pub(super) const FIRES: ScheduleId = Id::from_bytes([0x41; 16]);
/// Bob's; stopped.
const RESTS: ScheduleId = Id::from_bytes([0x42; 16]);
/// When it fires again.
const NEXT: Timestamp = Timestamp::from_millis(60_000);

/// Writes it all.
pub(super) fn fill(txn: &mut Txn<'_>) -> Result<(), Error> {
    for id in [FIRES, RESTS] {
        let mut schedule = Schedule {
            id,
            account: BOB,
            kind: "seo_audit".into(),
            input: "{}".into(),
            cron: "* * * * *".into(),
            channels: Vec::new(),
            repeat: Repeat::Always,
            overlap: Overlap::Skip,
            missed: MissedSlots::FireOnce,
            stopped: (id == RESTS).then_some(Stopped::User),
            next_run_at: (id == FIRES).then_some(NEXT),
            decided: None,
            counts: Counts::default(),
            last_run: None,
            last_skip: None,
            created_at: NOW,
            updated_at: NOW,
        };
        if id == FIRES {
            ticks::insert(txn, &mut schedule, &tick(Some(SCHEDULED)))?;
            baselines::put(txn, BOB, id, b"baseline")?;
        }
        schedules::put(txn, None, &schedule)?;
    }
    meta::note_slots(txn, NOW)
}

fn tick(run: Option<RunId>) -> Tick {
    Tick { slot: NOW, decided_at: NOW, verdict: Verdict::Fired, run, slots: 1 }
}

fn words(table: Table, key: &str, fault: &str) -> String {
    format!("{} {key}: {fault}", table.name())
}

fn find(txn: &Txn<'_>, id: ScheduleId) -> Result<Schedule, Error> {
    Ok(schedules::find(txn, BOB, id)?.unwrap())
}

#[test]
fn a_schedule_stands_in_the_index_with_its_next_slot() {
    let due = |id| schedules::Upcoming { at: NEXT, account: BOB, id };
    check_problems(
        move |txn| schedules::discard(txn, due(FIRES)),
        &[words(Table::Schedules, &format!("{BOB}/{FIRES}"), "it has no row in due-schedules-1")],
    );
    check_problems(
        |txn| {
            let next = Schedule { next_run_at: Some(NEXT), ..find(txn, RESTS)? };
            txn.mark(Table::DueSchedules, &schedules::due_key(&next).unwrap())
        },
        &[words(
            Table::DueSchedules,
            &format!("60000/{BOB}/{RESTS}"),
            "no row of schedules-1 stands behind it",
        )],
    );
    check_problems(
        |txn| {
            let found = find(txn, RESTS)?;
            let awake = Schedule { stopped: None, ..found.clone() };
            schedules::put(txn, Some(&found), &awake)
        },
        &[words(
            Table::Schedules,
            &format!("{BOB}/{RESTS}"),
            "it fires without a next slot, or has one and is stopped",
        )],
    );
}

#[test]
fn a_schedule_counts_the_lines_of_its_log() {
    check_problems(
        |txn| {
            let found = find(txn, FIRES)?;
            let mut after = found.clone();
            after.counts.lines = 2;
            schedules::put(txn, Some(&found), &after)
        },
        &[words(
            Table::Schedules,
            &format!("{BOB}/{FIRES}"),
            "its number of log lines is 2, and should be 1",
        )],
    );
}

#[test]
fn a_log_a_baseline_and_a_run_go_back_to_a_schedule_or_a_run() {
    let nobody: ScheduleId = Id::from_bytes([9; 16]);
    check_problems(
        move |txn| baselines::put(txn, BOB, nobody, b""),
        &[words(
            Table::Baselines,
            &format!("{BOB}/{nobody}"),
            "no row of schedules-1 stands behind it",
        )],
    );
    check_problems(
        move |txn| {
            let mut other = Schedule { id: nobody, ..find(txn, RESTS)? };
            ticks::insert(txn, &mut other, &tick(None))
        },
        &[words(
            Table::Ticks,
            &format!("{BOB}/{nobody}/1000"),
            "no row of schedules-1 stands behind it",
        )],
    );
    check_problems(
        |txn| {
            let key = runs::schedule_prefix(BOB, FIRES, true).id(SCHEDULED);
            txn.mark(Table::ScheduleRuns, &key)
        },
        &[words(
            Table::ScheduleRuns,
            &format!("{BOB}/{FIRES}/1/{SCHEDULED}"),
            "no row of runs-1 stands behind it",
        )],
    );
    check_problems(
        |txn| {
            let key = runs::schedule_prefix(BOB, FIRES, false).id(SCHEDULED);
            txn.remove(Table::ScheduleRuns, &key).map(|_| ())
        },
        &[words(Table::Runs, &format!("{BOB}/{SCHEDULED}"), "it has no row in schedule-runs-1")],
    );
}
