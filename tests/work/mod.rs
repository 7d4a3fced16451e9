//! What the daemon does to the store, one transaction each, and a model that does the same.
//!
//! [`Op`] is a thing that is done; [`Op::write`] does it to the store as the operations of the
//! daemon do, refusing before the first write; [`Model::apply`] does it to plain maps. Both give
//! the same answer, and [`content`] reads from the store what the model has.

#![allow(dead_code, unused_imports, reason = "every test uses another part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod model;
mod plan;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;

use errand::domain::account::{Account, AccountId};
use errand::domain::id::Id;
use errand::domain::ledger::Entry;
use errand::domain::money::Amount;
use errand::domain::outcome::{Outcome, Report};
use errand::domain::run::{Attempt, Run, RunId};
use errand::domain::time::Timestamp;
use errand::store::queue::{self, Claim};
use errand::store::runs::Part;
use errand::store::runs_list::{self, Filter, Window};
use errand::store::{Disk, Error, Options, Store, Tables, Verify, accounts, ledger, runs};
use errand::sys::clock::Clock;

pub(crate) use model::Model;
pub(crate) use plan::{LABELS, Planner};

/// A thing that is done in one transaction.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A new account.
    Open(Account),
    /// Money in, or out when it is negative.
    Credit { account: AccountId, change: Amount, now: Timestamp },
    /// A new run, with the hold of its price.
    Create(Box<Run>),
    /// The next run that is due is claimed.
    Claim { account: AccountId, boot: u64, now: Timestamp },
    /// A claimed run ends.
    Finish { claim: Claim, outcome: Outcome, now: Timestamp },
    /// A claimed run goes back to the queue.
    GiveBack { claim: Claim, attempt: Attempt, now: Timestamp },
    /// A run is cancelled.
    Cancel { account: AccountId, run: RunId, now: Timestamp },
    /// A run is deleted, in whatever state it is.
    Delete { account: AccountId, run: RunId, now: Timestamp },
    /// Old runs that are over are forgotten.
    Expire { account: AccountId, before: Timestamp },
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is done.
    Done,
    /// The run as it is now, if there was one to claim.
    Claimed(Option<Box<Run>>),
    /// The claim was not there any more.
    TooLate,
    /// So many are gone.
    Gone(usize),
}

/// Why it was not done.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// There is no such account.
    NoAccount,
    /// There is no such run.
    NoRun,
    /// The run is over.
    Over,
    /// There is not enough money.
    Balance,
    /// Too many runs wait.
    QueueFull,
    /// The store does not work.
    Store(Error),
}

impl PartialEq for Refusal {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Everything that the store keeps for one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Book {
    /// The account.
    pub(crate) account: Account,
    /// Its money, the held part, and its runs that are not over.
    pub(crate) wallet: (Amount, Amount, u32),
    /// Its ledger.
    pub(crate) entries: Vec<Entry>,
    /// Its runs.
    pub(crate) runs: BTreeMap<RunId, Run>,
    /// Its deleted runs that are still executed.
    pub(crate) ghosts: BTreeMap<RunId, Run>,
    /// Its claims.
    pub(crate) claims: BTreeMap<RunId, Claim>,
    /// What its runs left behind.
    pub(crate) reports: BTreeMap<RunId, Report>,
}

/// Everything that the store keeps, by account.
pub(crate) type Content = BTreeMap<AccountId, Book>;

/// Reads everything.
///
/// # Errors
///
/// What the store says.
pub(crate) fn content(tables: &impl Tables) -> Result<Content, Error> {
    let mut claims = queue::scan_claims(tables)?;
    let mut content = Content::new();
    for account in accounts::scan(tables)? {
        let id = account.id;
        let wallet = ledger::find(tables, id)?;
        let mut entries = ledger::scan(tables, id, u64::MAX, usize::MAX)?;
        entries.reverse();
        let window = Window { before: None, offset: 0, limit: 10_000 };
        let page = runs_list::scan(tables, id, &Filter::default(), window)?;
        let runs: BTreeMap<_, _> = page.runs.into_iter().map(|it| (it.id, it)).collect();
        assert_eq!(page.total, runs.len() as u64, "the counts of {id}");
        let mut reports = BTreeMap::new();
        for run in runs.keys() {
            let result = runs::find_text(tables, id, *run, Part::Result)?;
            if let Some(output) = runs::find_text(tables, id, *run, Part::Output)? {
                reports.insert(*run, Report { output, result });
            }
        }
        let mine: BTreeMap<_, _> =
            claims.extract_if(.., |it| it.account == id).map(|it| (it.run, it)).collect();
        let mut ghosts = BTreeMap::new();
        for run in mine.keys() {
            ghosts.extend(runs::find_ghost(tables, id, *run)?.map(|it| (*run, it)));
        }
        let balance = wallet.balance;
        let wallet = (balance.amount(), balance.held(), wallet.active_runs);
        content.insert(id, Book { account, wallet, entries, runs, ghosts, claims: mine, reports });
    }
    assert_eq!(claims, [], "claims of no account");
    Ok(content)
}

/// How a store is opened for a test: small, and checked like the daemon's.
pub(crate) fn options() -> Options {
    Options {
        cache_bytes: 1 << 20,
        verify: Verify::Small,
        instance: Id::from_bytes([7; 16]),
        name: "test".into(),
        now: Timestamp::EPOCH,
    }
}

/// Opens a store for a test.
///
/// # Errors
///
/// What the store says.
pub(crate) fn open(disk: impl Disk, options: &Options) -> Result<Store, Error> {
    Store::open(Arc::new(disk), options, Clock::host(), Arc::default())
}

/// Gives some accounts some history.
pub(crate) async fn history(store: &Store, planner: &mut Planner) -> Model {
    let mut model = Model::default();
    for number in 1..=ACCOUNTS {
        for step in 0..OPERATIONS {
            let op = match step {
                0 => planner.open(number),
                _ => planner.next(&model, Planner::account(number)),
            };
            let expected = model.apply(&op);
            assert_eq!(store.write(move |txn| op.write(txn)).await, expected);
        }
    }
    model
}

/// Accounts with some history.
const ACCOUNTS: u8 = 4;
/// Operations of each of them.
const OPERATIONS: usize = 25;
/// Runs that one account may have waiting in these tests.
pub(crate) const ACTIVE_RUNS_MAX: u32 = 12;
