//! A small store with a run in every state, and a check of what the doctor says of a damage.

use std::sync::Arc;

use crate::domain::account::{Account, AccountId, KeyId, KeyRecord, Rights};
use crate::domain::id::Id;
use crate::domain::ledger::EntryKind;
use crate::domain::money::{Amount, Currency};
use crate::domain::outcome::{Ending, Failure, Reason, Report};
use crate::domain::run::{Run, RunId, Status, Trigger};
use crate::domain::secret::KeyHash;
use crate::domain::spend::Spend;
use crate::domain::time::Timestamp;
use crate::store::doctor::{Findings, examine, timed, told};
use crate::store::ledger::{self, Line};
use crate::store::queue::{self, Claim};
use crate::store::{Error, MemoryDisk, Options, Store, Txn, Verify, accounts, keys, runs};
use crate::sys::clock::Clock;

/// Has a run in every state.
pub(super) const ALICE: AccountId = Id::from_bytes([1; 16]);
/// Has one pending run of a schedule.
pub(super) const BOB: AccountId = Id::from_bytes([2; 16]);
/// The key of Bob's run.
pub(super) const KEY: KeyId = Id::from_bytes([4; 16]);
/// Is not there.
pub(super) const NOBODY: AccountId = Id::from_bytes([9; 16]);

/// Succeeded, with a label.
pub(super) const DONE: RunId = Id::from_bytes([0x11; 16]);
/// Failed.
pub(super) const FAILED: RunId = Id::from_bytes([0x12; 16]);
/// Pending, with a label.
pub(super) const WAITING: RunId = Id::from_bytes([0x13; 16]);
/// Running.
pub(super) const RUNNING: RunId = Id::from_bytes([0x14; 16]);
/// Deleted and still executed.
pub(super) const GHOST: RunId = Id::from_bytes([0x15; 16]);
/// Bob's.
pub(super) const SCHEDULED: RunId = Id::from_bytes([0x21; 16]);

/// When everything happened.
pub(super) const NOW: Timestamp = Timestamp::from_millis(1_000);
/// What every run costs.
pub(super) const PRICE: Amount = Amount::from_nanos(1_000_000_000);

/// A store with all of it.
pub(super) fn store() -> Store {
    let store = open(&MemoryDisk::default());
    write(&store, fill);
    store
}

/// A store on `disk`, with nothing in it if the disk is new.
pub(super) fn open(disk: &MemoryDisk) -> Store {
    let options = Options {
        cache_bytes: 1 << 20,
        verify: Verify::Never,
        instance: Id::from_bytes([7; 16]),
        name: "sample".into(),
        now: NOW,
    };
    let disk = Arc::new(disk.clone());
    Store::open(disk, &options, Clock::host(), Arc::default()).unwrap()
}

/// Damages the sample, and compares what the doctor says with what it should say.
#[track_caller]
pub(super) fn check_problems(
    damage: impl FnMut(&mut Txn<'_>) -> Result<(), Error> + Send + 'static,
    problems: &[String],
) {
    let store = store();
    write(&store, damage);
    let found = examine(&store).unwrap();
    assert_eq!(found.problem_count, found.problems.len() as u64);
    assert_eq!(words(&found), problems);
}

/// The problems in words.
pub(super) fn words(findings: &Findings) -> Vec<String> {
    findings.problems.iter().map(ToString::to_string).collect()
}

/// Runs one write to its end.
#[track_caller]
pub(super) fn write(
    store: &Store,
    operation: impl FnMut(&mut Txn<'_>) -> Result<(), Error> + Send + 'static,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(store.write(operation)).unwrap();
}

/// A run that was just accepted.
pub(super) fn new_run(account: AccountId, id: RunId) -> Run {
    Run {
        id,
        account,
        key: None,
        kind: "seo_audit".into(),
        input: "{}".into(),
        external_id: None,
        trigger: Trigger::Api,
        status: Status::Pending,
        hold: PRICE,
        model_hold: Amount::ZERO,
        cost: Amount::ZERO,
        attempts: 0,
        due_at: NOW,
        created_at: NOW,
        started_at: None,
        finished_at: None,
        updated_at: NOW,
        failure: None,
        cancel_requested: false,
    }
}

/// A line of a ledger.
pub(super) fn line(kind: EntryKind, reference: Option<RunId>) -> Line {
    let reference = reference.map(|it| *it.as_bytes());
    Line { at: NOW, kind, reference, key: None, note: String::new(), usage: None }
}

/// Appends an entry that leads to `amount`, and keeps the rest of the wallet.
pub(super) fn append(
    txn: &mut Txn<'_>,
    kind: EntryKind,
    amount: &str,
    reference: Option<RunId>,
) -> Result<(), Error> {
    let now = ledger::find_in(txn, ALICE)?;
    let change = Amount::parse(amount).unwrap().minus(now.balance.amount()).unwrap();
    let after = now.balance.credit(change)?;
    ledger::append(txn, ALICE, after, now.active_runs, &line(kind, reference))
}

/// A run that is there.
pub(super) fn find(txn: &Txn<'_>, id: RunId) -> Result<Run, Error> {
    Ok(runs::find(txn, ALICE, id)?.unwrap())
}

fn fill(txn: &mut Txn<'_>) -> Result<(), Error> {
    for (id, name) in [(ALICE, "Alice"), (BOB, "Bob")] {
        let account = Account { id, name: name.into(), currency: Currency::EUR, created_at: NOW };
        accounts::insert(txn, &account)?;
        let balance = ledger::find_in(txn, id)?.balance.credit(Amount::from_nanos(10_000_000_000));
        ledger::append(txn, id, balance?, 0, &line(EntryKind::Credit, None))?;
    }
    keys::put(txn, &KeyHash::from_bytes([0xAA; 32]), &key(ALICE))?;
    let labelled = |id, label: &str| Run { external_id: Some(label.into()), ..new_run(ALICE, id) };
    let done = labelled(DONE, "first");
    for run in [&done, &new_run(ALICE, FAILED), &new_run(ALICE, RUNNING), &new_run(ALICE, GHOST)] {
        accept(txn, run)?;
        take(txn, run)?;
    }
    accept(txn, &labelled(WAITING, "third"))?;
    let trigger = Trigger::Schedule { schedule: timed::FIRES, scheduled_for: NOW };
    accept(txn, &Run { trigger, key: Some(KEY), ..new_run(BOB, SCHEDULED) })?;
    txn.put_spend(KEY, Spend::default().hold(PRICE));
    end(txn, DONE, Ending::Succeeded)?;
    let failure = Failure { reason: Reason::Timeout, code: String::new(), message: String::new() };
    end(txn, FAILED, Ending::Failed(failure))?;
    let ghost = find(txn, GHOST)?;
    runs::put_ghost(txn, &ghost)?;
    runs::remove(txn, &ghost)?;
    timed::fill(txn)?;
    told::fill(txn)
}

/// A key of an account.
pub(super) fn key(account: AccountId) -> KeyRecord {
    KeyRecord {
        id: KEY,
        account,
        name: "a key".into(),
        rights: Rights::default(),
        hint: "service_sk_abcd".into(),
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        restrictions: Arc::default(),
    }
}

fn accept(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    let wallet = ledger::find_in(txn, run.account)?;
    ledger::put(txn, run.account, wallet.balance.hold(run.hold)?, wallet.active_runs + 1)?;
    runs::insert(txn, run)?;
    queue::enqueue(txn, run)
}

fn take(txn: &mut Txn<'_>, run: &Run) -> Result<(), Error> {
    let mut after = run.clone();
    after.claim(NOW).unwrap();
    queue::remove(txn, run)?;
    runs::put(txn, run, &after)?;
    queue::insert_claim(txn, &claim(run.account, run.id))
}

/// The first claim of a run.
pub(super) fn claim(account: AccountId, run: RunId) -> Claim {
    Claim { account, run, attempt: 1, boot: 1, claimed_at: NOW }
}

fn end(txn: &mut Txn<'_>, id: RunId, ending: Ending) -> Result<(), Error> {
    let run = find(txn, id)?;
    let wallet = ledger::find_in(txn, ALICE)?;
    let charge = if ending.status().is_charged() { run.hold } else { Amount::ZERO };
    let (balance, active) = (wallet.balance.capture(run.hold, charge)?, wallet.active_runs - 1);
    if charge == Amount::ZERO {
        ledger::put(txn, ALICE, balance, active)?;
    } else {
        ledger::append(txn, ALICE, balance, active, &line(EntryKind::Charge, Some(id)))?;
    }
    let mut after = run.clone();
    after.finish(ending, charge, NOW).unwrap();
    queue::remove_claim(txn, id)?;
    runs::put(txn, &run, &after)?;
    if after.status.is_charged() {
        let report = Report { output: "# Report".into(), result: Some("{}".into()) };
        runs::insert_report(txn, &after, &report)?;
    }
    Ok(())
}
