//! Runs against what belongs to them: their indexes, the queue, claims, and what they left.
//!
//! Here every run is asked for its rows in other tables; `indexes` asks those rows for their run.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::account::AccountId;
use crate::domain::money::Amount;
use crate::domain::run::{Run, Status};
use crate::store::codec;
use crate::store::doctor::findings::{Fault, Findings};
use crate::store::doctor::keys;
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::queue::{self, Claim};
use crate::store::run_row::{self, RunRow};
use crate::store::runs::{self, CountKey, KindCode, KindRow, Part};
use crate::store::tables::Table;
use crate::store::view::{self, Tables as _, View};

/// What the runs of one account add up to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// The sum of the holds of its runs and ghosts.
    pub(super) held: Amount,
    /// Its runs that are not over, and its ghosts.
    pub(super) active: u64,
    /// Its runs that cost something.
    pub(super) charged: u64,
    /// Whether every row could be read and added, so that the sums mean something.
    pub(super) whole: bool,
}

/// The numbers of the kinds. There are as many as the catalogue ever had.
#[derive(Debug)]
pub(super) struct Kinds {
    codes: BTreeMap<String, KindCode>,
    /// Whether every row could be read.
    whole: bool,
}

/// Reads the kinds, and finds those that share a number.
pub(super) fn kinds(view: &View, findings: &mut Findings) -> Result<Kinds, Error> {
    let mut kinds = Kinds { codes: BTreeMap::new(), whole: true };
    let mut taken = BTreeSet::new();
    for row in view::rows_of(view, Table::Kinds, &Key::new())? {
        let (key, value) = row?;
        let kind = codec::decode::<KindRow>(Table::Kinds, key.value(), value.value());
        let (Ok(KindRow(code)), Ok(name)) = (kind, std::str::from_utf8(key.value())) else {
            kinds.whole = false;
            continue;
        };
        if !taken.insert(code) {
            let fault = Fault::Rule("it shares its number with another kind");
            findings.note(Table::Kinds, key.value(), fault);
        }
        kinds.codes.insert(name.to_owned(), code);
    }
    Ok(kinds)
}

/// Looks at the runs and ghosts of one account, and adds them up.
pub(super) fn check(
    view: &View,
    account: AccountId,
    kinds: &Kinds,
    findings: &mut Findings,
) -> Result<Tally, Error> {
    let mut tally = Tally { held: Amount::ZERO, active: 0, charged: 0, whole: true };
    each(view, Table::Runs, account, |key, run| {
        tally.add(run.as_ref());
        let Some(run) = run else { return Ok(()) };
        let mut note = |fault| findings.note(Table::Runs, key, fault);
        state_faults(&run).into_iter().for_each(&mut note);
        missing_rows(view, &run, kinds)?.into_iter().for_each(&mut note);
        if run.status == Status::Running {
            claim_fault(view, &run)?.into_iter().for_each(&mut note);
        }
        Ok(())
    })?;
    each(view, Table::Ghosts, account, |key, ghost| {
        tally.add(ghost.as_ref());
        let Some(ghost) = ghost else { return Ok(()) };
        let mut note = |fault| findings.note(Table::Ghosts, key, fault);
        if ghost.status != Status::Running {
            note(Fault::Rule("it is deleted and was not running"));
        }
        if view.row(Table::Runs, key, |_| Ok(()))?.is_some() {
            note(Fault::Rule("it is deleted and stands in runs-1 all the same"));
        }
        claim_fault(view, &ghost)?.into_iter().for_each(&mut note);
        Ok(())
    })?;
    Ok(tally)
}

impl Kinds {
    /// Whether a row at `key` of the index of states is that of `run`, as far as can be known.
    pub(super) fn place(&self, run: &Run, key: &[u8]) -> bool {
        self.state_key(run).map_or(!self.whole, |it| it.as_slice() == key)
    }

    fn state_key(&self, run: &Run) -> Option<Key> {
        let kind = *self.codes.get(&run.kind)?;
        let count = CountKey { account: run.account, kind, status: run.status };
        Some(count.key().id(run.id))
    }
}

impl Tally {
    /// Adds a run, or notes that it could not be read.
    fn add(&mut self, run: Option<&Run>) {
        let held = run.and_then(|it| self.held.plus(it.hold));
        let (Some(run), Some(held)) = (run, held) else {
            self.whole = false;
            return;
        };
        self.held = held;
        self.active = self.active.saturating_add(u64::from(!run.status.is_over()));
        self.charged = self.charged.saturating_add(u64::from(run.cost > Amount::ZERO));
    }
}

/// Gives every run of an account in one table to `look`; those that cannot be read as nothing.
pub(super) fn each(
    view: &View,
    table: Table,
    account: AccountId,
    mut look: impl FnMut(&[u8], Option<Run>) -> Result<(), Error>,
) -> Result<(), Error> {
    for row in view::rows_of(view, table, &Key::of(account))? {
        let (key, value) = row?;
        let record = codec::decode::<RunRow<'_>>(table, key.value(), value.value()).ok();
        let run = keys::account_and_run(key.value())
            .zip(record)
            .map(|((account, id), record)| run_row::run(account, id, record));
        look(key.value(), run)?;
    }
    Ok(())
}

/// The rules that a run breaks by itself.
fn state_faults(run: &Run) -> Vec<Fault> {
    let over = run.status.is_over();
    let rules = [
        (run.hold.is_negative(), "it holds less than nothing"),
        (run.cost.is_negative(), "it costs less than nothing"),
        (over && run.hold != Amount::ZERO, "it is over and holds money"),
        (over != run.finished_at.is_some(), "its status does not go with its end"),
        (
            run.cost != Amount::ZERO && !run.status.is_charged(),
            "it costs something and was not done",
        ),
        (
            (run.status == Status::Failed) != run.failure.is_some(),
            "its status does not go with its failure",
        ),
        (
            run.status == Status::Running && (run.attempts == 0 || run.started_at.is_none()),
            "it is running and was never started",
        ),
    ];
    rules.into_iter().filter(|it| it.0).map(|it| Fault::Rule(it.1)).collect()
}

/// The rows that other tables should have for a run and do not.
fn missing_rows(view: &View, run: &Run, kinds: &Kinds) -> Result<Vec<Fault>, Error> {
    let mut faults = Vec::new();
    let mut ask = |table: Table, key: Key| -> Result<(), Error> {
        if view.row(table, key.as_slice(), |_| Ok(()))?.is_none() {
            faults.push(Fault::missing(table));
        }
        Ok(())
    };
    match kinds.state_key(run) {
        Some(key) => ask(Table::RunStates, key)?,
        None => ask(Table::Kinds, runs::kind_key(&run.kind))?,
    }
    if let Some(label) = runs::label_key(run) {
        ask(Table::RunLabels, label)?;
    }
    if let Some(place) = runs::schedule_key(run) {
        ask(Table::ScheduleRuns, place)?;
    }
    if run.status == Status::Pending {
        ask(Table::Queue, queue::place(run))?;
    }
    if run.status.is_charged() {
        ask(Table::Outputs, runs::text_key(run.account, run.id, Part::Output))?;
    }
    Ok(faults)
}

/// What is wrong with the claim of a run that is executed.
fn claim_fault(view: &View, run: &Run) -> Result<Option<Fault>, Error> {
    Ok(match queue::find_claim(view, run.id) {
        Ok(None) => Some(Fault::missing(Table::Claims)),
        Ok(Some(Claim { account, .. })) if account != run.account => {
            Some(Fault::missing(Table::Claims))
        }
        Ok(Some(Claim { attempt, .. })) => {
            Fault::differs("number of attempts", &run.attempts, &attempt)
        }
        Err(error) if error.is_disk() => return Err(error),
        // The look at all rows tells of a claim that cannot be read.
        Err(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::{Failure, Reason};
    use crate::domain::run::RunId;
    use crate::store::Txn;
    use crate::store::doctor::sample::{
        self, ALICE, BOB, DONE, FAILED, GHOST, NOW, RUNNING, WAITING, check_problems, find,
    };

    /// Changes the record of a run and nothing else.
    fn change(txn: &mut Txn<'_>, id: RunId, change: fn(&mut Run)) -> Result<(), Error> {
        let run = find(txn, id)?;
        let mut after = run.clone();
        change(&mut after);
        // With the same status before and after, the indexes stay as they are.
        runs::put(txn, &after, &after)
    }

    #[track_caller]
    fn check_changed(id: RunId, how: fn(&mut Run), faults: &[&str]) {
        let problems = faults.iter().map(|it| format!("runs-1 {ALICE}/{id}: {it}"));
        check_problems(move |txn| change(txn, id, how), &problems.collect::<Vec<_>>());
    }

    #[track_caller]
    fn check_without(table: Table, key: Key, problem: &str) {
        let without = move |txn: &mut Txn<'_>| {
            assert!(txn.remove(table, &key)?, "there is such a row");
            Ok(())
        };
        check_problems(without, &[problem.to_owned()]);
    }

    #[test]
    fn a_missing_row_in_any_other_table_is_found() {
        let state = Key::of(ALICE).u16(0).u8(1).id(RUNNING);
        check_problems(
            move |txn| txn.remove(Table::RunStates, &state).map(|_| ()),
            &[
                format!("runs-1 {ALICE}/{RUNNING}: it has no row in run-states-1"),
                format!("run-counts-1 {ALICE}/0/1: its number of runs is 1, and should be 0"),
            ],
        );
        check_without(
            Table::RunLabels,
            runs::label_prefix(ALICE, "third").id(WAITING),
            &format!("runs-1 {ALICE}/{WAITING}: it has no row in run-labels-1"),
        );
        check_without(
            Table::Queue,
            Key::of(ALICE).time(NOW).u8(0).time(NOW).id(WAITING),
            &format!("runs-1 {ALICE}/{WAITING}: it has no row in queue-1"),
        );
        check_without(
            Table::Claims,
            Key::of(RUNNING),
            &format!("runs-1 {ALICE}/{RUNNING}: it has no row in claims-1"),
        );
        check_without(
            Table::Claims,
            Key::of(GHOST),
            &format!("ghosts-1 {ALICE}/{GHOST}: it has no row in claims-1"),
        );
        check_without(
            Table::Outputs,
            runs::text_key(ALICE, DONE, Part::Output),
            &format!("runs-1 {ALICE}/{DONE}: it has no row in outputs-1"),
        );
    }

    #[test]
    fn a_run_whose_kind_has_no_number_is_found() {
        let unknown = |txn: &mut Txn<'_>| change(txn, FAILED, |it| it.kind = "unheard_of".into());
        let state = format!("run-states-1 {ALICE}/0/4/{FAILED}");
        check_problems(
            unknown,
            &[
                format!("runs-1 {ALICE}/{FAILED}: it has no row in kinds-1"),
                format!("{state}: no row of runs-1 stands behind it"),
            ],
        );
    }

    #[test]
    fn two_kinds_with_one_number_are_found() {
        let second =
            |txn: &mut Txn<'_>| txn.put(Table::Kinds, &runs::kind_key("zz"), &KindRow(KindCode(0)));
        check_problems(second, &["kinds-1 zz: it shares its number with another kind".into()]);
    }

    #[test]
    fn a_run_that_breaks_a_rule_of_its_status_is_found() {
        let end = "its status does not go with its end";
        let failure = "its status does not go with its failure";
        check_changed(FAILED, |it| it.finished_at = None, &[end]);
        check_changed(WAITING, |it| it.finished_at = Some(NOW), &[end]);
        check_changed(FAILED, |it| it.failure = None, &[failure]);
        let failed = |it: &mut Run| {
            let reason = Reason::Timeout;
            it.failure = Some(Failure { reason, code: String::new(), message: String::new() });
        };
        check_changed(RUNNING, failed, &[failure]);
        check_changed(RUNNING, |it| it.started_at = None, &["it is running and was never started"]);
    }

    #[test]
    fn money_that_does_not_go_with_the_status_is_found() {
        let wallet = |what: &str, kept: &str, right: &str| {
            format!("wallets-1 {ALICE}: its {what} is {kept}, and should be {right}")
        };
        let run = |id: RunId, rule: &str| format!("runs-1 {ALICE}/{id}: {rule}");
        let held = wallet("held amount", "3", "3.000000001");
        check_problems(
            move |txn| change(txn, FAILED, |it| it.hold = Amount::from_nanos(1)),
            &[run(FAILED, "it is over and holds money"), held],
        );
        check_problems(
            move |txn| change(txn, WAITING, |it| it.hold = Amount::from_nanos(-1)),
            &[
                run(WAITING, "it holds less than nothing"),
                wallet("held amount", "3", "1.999999999"),
            ],
        );
        check_problems(
            move |txn| change(txn, FAILED, |it| it.cost = Amount::from_nanos(-1)),
            &[
                run(FAILED, "it costs less than nothing"),
                run(FAILED, "it costs something and was not done"),
            ],
        );
        let paid = wallet("number of paid runs", "1", "2");
        check_problems(
            move |txn| change(txn, FAILED, |it| it.cost = Amount::from_nanos(1)),
            &[run(FAILED, "it costs something and was not done"), paid],
        );
    }

    #[test]
    fn a_claim_of_another_attempt_or_account_is_found() {
        let later = |txn: &mut Txn<'_>| change(txn, RUNNING, |it| it.attempts = 2);
        let fault = "its number of attempts is 2, and should be 1";
        check_problems(later, &[format!("runs-1 {ALICE}/{RUNNING}: {fault}")]);
        check_problems(
            |txn| queue::insert_claim(txn, &sample::claim(BOB, RUNNING)),
            &[
                format!("runs-1 {ALICE}/{RUNNING}: it has no row in claims-1"),
                format!("claims-1 {RUNNING}: no row of runs-1 stands behind it"),
            ],
        );
    }

    #[test]
    fn a_ghost_that_is_also_a_run_or_was_not_running_is_found() {
        let both = |txn: &mut Txn<'_>| {
            let run = find(txn, RUNNING)?;
            runs::put_ghost(txn, &run)
        };
        let wallet = |what: &str, kept: &str, right: &str| {
            format!("wallets-1 {ALICE}: its {what} is {kept}, and should be {right}")
        };
        check_problems(
            both,
            &[
                format!(
                    "ghosts-1 {ALICE}/{RUNNING}: it is deleted and stands in runs-1 all the same"
                ),
                wallet("held amount", "3", "4"),
                wallet("number of active runs", "3", "4"),
            ],
        );
        let waited = |txn: &mut Txn<'_>| {
            let ghost = runs::find_ghost(txn, ALICE, GHOST)?.unwrap();
            runs::put_ghost(txn, &Run { status: Status::Pending, ..ghost })
        };
        check_problems(
            waited,
            &[format!("ghosts-1 {ALICE}/{GHOST}: it is deleted and was not running")],
        );
    }
}
