//! Plans operations that make sense: for runs that are there, mostly, and in any order.

use std::time::Duration;

use errand::domain::account::{Account, AccountId};
use errand::domain::id::Id;
use errand::domain::money::{Amount, Currency};
use errand::domain::outcome::{Outcome, Report};
use errand::domain::run::{Attempt, Run, RunId, Status, Trigger};
use errand::domain::time::Timestamp;
use errand::store::queue::Claim;
use errand::sys::entropy::Entropy;

use super::write::lost;
use super::{Model, Op};

/// Makes one operation after the other; the same ones for the same seed.
#[derive(Debug)]
pub(crate) struct Planner {
    entropy: Entropy,
    /// The time of the next operation.
    pub(crate) now: Timestamp,
    /// What claims say.
    pub(crate) boot: u64,
    /// A claim that was already ended, so that somebody can come too late.
    ended: Option<Claim>,
}

impl Planner {
    /// A planner of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        let now = Timestamp::from_millis(1_000_000);
        Self { entropy: Entropy::seeded(seed), now, boot: 1, ended: None }
    }

    /// A number below `end`.
    pub(crate) fn below(&self, end: usize) -> usize {
        usize::try_from(self.entropy.below(end as u64)).expect("a test counts little")
    }

    /// One of several.
    pub(crate) fn one<'a, T>(&self, several: &'a [T]) -> Option<&'a T> {
        several.get(self.below(several.len()))
    }

    /// The account of that number.
    pub(crate) fn account(number: u8) -> AccountId {
        Id::from_bytes([number; 16])
    }

    /// The operation that makes it.
    pub(crate) fn open(&self, number: u8) -> Op {
        Op::Open(Account {
            id: Self::account(number),
            name: format!("account {number}"),
            currency: Currency::EUR,
            created_at: self.now,
        })
    }

    /// The next operation for an account, given what there is.
    pub(crate) fn next(&mut self, model: &Model, account: AccountId) -> Op {
        self.now = self.now.after(Duration::from_millis(self.entropy.below(9_000)));
        let now = self.now;
        let Some(book) = model.books.get(&account) else {
            return Op::Credit { account, change: Amount::from_nanos(1), now };
        };
        let runs: Vec<RunId> = book.runs.keys().copied().collect();
        let claims: Vec<Claim> = book.claims.values().cloned().collect();
        let run = self.one(&runs).copied().filter(|_| self.below(20) > 0);
        let run = run.unwrap_or(Id::from_bytes([0xEE; 16]));
        match self.below(20) {
            0..2 => {
                let change = Amount::from_nanos(self.below(60) as i64 - 10);
                Op::Credit { account, change, now }
            }
            2..8 => Op::Create(Box::new(self.run(account))),
            8..12 => Op::Claim { account, boot: self.boot, now },
            12..16 => match self.claim(&claims) {
                Some(claim) => Op::Finish { claim, outcome: self.outcome(), now },
                None => Op::Claim { account, boot: self.boot, now },
            },
            16 => match self.claim(&claims) {
                Some(claim) => {
                    let attempt =
                        [Attempt::Counted, Attempt::Counted, Attempt::Forgiven][self.below(3)];
                    Op::GiveBack { claim, attempt, now }
                }
                None => Op::Create(Box::new(self.run(account))),
            },
            17 => Op::Cancel { account, run, now },
            18 => Op::Delete { account, run, now },
            _ => Op::Expire { account, before: now.before(Duration::from_mins(1)) },
        }
    }

    fn claim(&mut self, claims: &[Claim]) -> Option<Claim> {
        if self.below(12) == 0
            && let Some(ended) = self.ended.take()
        {
            return Some(ended);
        }
        let claim = self.one(claims).cloned()?;
        self.ended = Some(claim.clone());
        Some(claim)
    }

    /// A new run.
    pub(crate) fn run(&self, account: AccountId) -> Run {
        let now = self.now;
        let scheduled = Trigger::Schedule { schedule: Id::from_bytes([5; 16]), scheduled_for: now };
        Run {
            id: self.entropy.id(now),
            account,
            key: Some(Id::from_bytes([6; 16])),
            kind: KINDS[self.below(KINDS.len())].into(),
            // Long enough now and then that a record needs pages of its own.
            input: "i".repeat([2, 40, 300, 9_000][self.below(4)]),
            external_id: LABELS[self.below(LABELS.len())].map(Into::into),
            trigger: if self.below(3) == 0 { scheduled } else { Trigger::Api },
            status: Status::Pending,
            hold: Amount::from_nanos(self.below(6) as i64),
            model_hold: Amount::ZERO,
            cost: Amount::ZERO,
            attempts: 0,
            due_at: now.after(Duration::from_secs(self.entropy.below(5))),
            created_at: now,
            started_at: None,
            finished_at: None,
            updated_at: now,
            failure: None,
            cancel_requested: false,
        }
    }

    fn outcome(&self) -> Outcome {
        let result = (self.below(2) == 0).then(|| "{}".to_owned());
        let report = Report { output: "o".repeat([1, 500, 20_000][self.below(3)]), result };
        match self.below(4) {
            0 => Outcome::Failed(lost()),
            1 => Outcome::NoSignal(report),
            _ => Outcome::Succeeded(report),
        }
    }
}

/// Kinds of runs; the later ones come late, so that their numbers are given late too.
pub(crate) const KINDS: [&str; 4] = ["seo_audit", "competitor_scan", "a_command", "x"];
/// Labels of runs, some of them a part of another one.
pub(crate) const LABELS: [Option<&str>; 5] = [None, None, Some("a"), Some("ab"), Some("größer")];
