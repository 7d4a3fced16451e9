//! The schedules of the sample, and what the doctor says of their damages.

use crate::domain::decided::Decided;
use crate::domain::id::Id;
use crate::domain::limits::TICKS_KEPT;
use crate::domain::run::{RunId, ScheduleId};
use crate::domain::schedule::{Counts, MissedSlots, Overlap, Repeat, Schedule, Stopped};
use crate::domain::slot::{Tick, Verdict};
use crate::domain::time::Timestamp;
use crate::store::doctor::examine;
use crate::store::doctor::sample::{BOB, NOW, SCHEDULED, check_problems, store, write};
use crate::store::key::Key;
use crate::store::schedules::ScheduleCountRow;
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
            key: None,
            kind: "seo_audit".into(),
            input: "{}".into(),
            cron: "* * * * *".into(),
            channels: Vec::new(),
            repeat: Repeat::Always,
            overlap: Overlap::Skip,
            missed: MissedSlots::FireOnce,
            stopped: (id == RESTS).then_some(Stopped::User),
            next_run_at: (id == FIRES).then_some(NEXT),
            decided: Decided::default(),
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
fn an_account_counts_its_schedules() {
    check_problems(
        |txn| txn.put(Table::ScheduleCounts, &Key::of(BOB), &ScheduleCountRow(3)),
        &[words(
            Table::ScheduleCounts,
            &BOB.to_string(),
            "its number of schedules is 3, and should be 2",
        )],
    );
    let row =
        |id| words(Table::Schedules, &format!("{BOB}/{id}"), "it has no row in schedule-counts-1");
    check_problems(
        |txn| txn.remove(Table::ScheduleCounts, &Key::of(BOB)).map(|_| ()),
        &[row(FIRES), row(RESTS)],
    );
    let store = store();
    write(&store, |txn| {
        assert_eq!((schedules::count(txn, Some(BOB))?, schedules::count(txn, None)?), (2, 2));
        schedules::remove(txn, &find(txn, RESTS)?)?;
        assert_eq!(schedules::count(txn, Some(BOB))?, 1);
        Ok(())
    });
    assert_eq!(examine(&store).unwrap().problem_count, 0);
}

/// The oldest line is the one that was written first, wherever the clock was then.
#[test]
fn a_full_log_keeps_the_lines_that_were_written_last() {
    let store = store();
    write(&store, |txn| {
        let before = find(txn, FIRES)?;
        let mut after = before.clone();
        // The clock goes back with every line.
        for millis in (0..i64::from(TICKS_KEPT) + 7).rev() {
            let slot = Timestamp::from_millis(millis);
            ticks::insert(txn, &mut after, &Tick { slot, decided_at: slot, ..tick(None) })?;
        }
        schedules::put(txn, Some(&before), &after)?;
        let kept = ticks::scan(txn, BOB, FIRES, 0, usize::MAX)?;
        let slots: Vec<_> = kept.iter().map(|it| it.slot.millis()).collect();
        assert_eq!(slots, (0..i64::from(TICKS_KEPT)).collect::<Vec<_>>());
        Ok(())
    });
    assert_eq!(examine(&store).unwrap().problem_count, 0);
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
            &format!("{BOB}/{nobody}/0"),
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
