//! After the clock was set back, every next slot is reckoned again, some schedules at a time.

use crate::app::ticks::{BATCH, STEP_MIN, read};
use crate::app::{App, Error};
use crate::domain::cron::Cron;
use crate::domain::schedule::Schedule;
use crate::domain::time::Timestamp;
use crate::store::schedules::{self, Upcoming};
use crate::store::{Tables, meta};

/// How far the next slots were reckoned again; nothing while the clock is in order.
///
/// It is kept in memory alone: until all is done, the file says that the clock was later, and
/// another daemon begins anew.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reckoning(Option<Walk>);

/// A walk through all schedules that fire.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// What the clock showed at its beginning.
    began_at: Timestamp,
    /// Where it is.
    last: Option<Upcoming>,
    /// How many next slots have changed.
    moved: u64,
}

impl Reckoning {
    /// Goes on with some schedules, for a clock that was set back to `now`.
    ///
    /// # Errors
    ///
    /// What the store says; the same schedules are tried again then.
    pub(super) async fn go_on(&mut self, app: &App, now: Timestamp) -> Result<(), Error> {
        // A clock that is set back once more makes the walk begin anew.
        let walk = self.0.filter(|it| it.began_at.since(now) <= STEP_MIN);
        let walk = walk.unwrap_or(Walk { began_at: now, last: None, moved: 0 });
        let (end, late) = app.0.store.read(|view| {
            let some = schedules::enabled(view, walk.last, BATCH)?;
            let mut late = Vec::new();
            for place in &some {
                if moved(view, *place, now)? {
                    late.push(*place);
                }
            }
            Ok::<_, Error>((some.last().copied(), late))
        })?;
        let Some(end) = end else {
            app.0.store.write(move |txn| Ok::<_, Error>(meta::reset_slots(txn, now)?)).await?;
            let schedules = walk.moved;
            tracing::warn!(schedules, "the clock was set back; next slots were reckoned again");
            self.0 = None;
            return Ok(());
        };
        let moved = if late.is_empty() { 0 } else { put(app, late, now).await? };
        let moved = walk.moved.saturating_add(moved);
        self.0 = Some(Walk { last: Some(end), moved, ..walk });
        Ok(())
    }
}

/// Whether the schedule of a place has another next slot, or none. A place without one is looked
/// at by whoever writes.
fn moved(tables: &impl Tables, place: Upcoming, now: Timestamp) -> Result<bool, Error> {
    match schedules::find(tables, place.account, place.id) {
        Ok(Some(it)) if it.next_run_at == Some(place.at) => Ok(reckoned(&it, now).is_some()),
        Ok(Some(_) | None) => Ok(true),
        Err(error) if error.is_disk() => Err(error.into()),
        Err(_) => Ok(true),
    }
}

/// Gives schedules their next slots; how many have changed.
async fn put(app: &App, places: Vec<Upcoming>, now: Timestamp) -> Result<u64, Error> {
    let put = app.0.store.write(move |txn| {
        let mut moved = 0_u64;
        for place in &places {
            let Some(before) = read(txn, *place)? else { continue };
            if let Some(after) = reckoned(&before, now) {
                schedules::put(txn, Some(&before), &after)?;
                moved = moved.saturating_add(1);
            }
        }
        Ok::<_, Error>(moved)
    });
    put.await
}

/// The schedule with its next slot by a clock that was set back to `now`, if it is another one.
fn reckoned(before: &Schedule, now: Timestamp) -> Option<Schedule> {
    // What is due on either clock is decided, not put off.
    before.next_run_at.filter(|it| *it > now)?;
    let cron = Cron::parse(&before.cron).ok()?;
    // A slot that came between the step and this look is due.
    let next = before.next_undecided(&cron, now.before(STEP_MIN))?;
    (Some(next) != before.next_run_at)
        .then(|| Schedule { next_run_at: Some(next), ..before.clone() })
}
