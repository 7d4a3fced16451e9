//! The operations on plain maps: what the store must do, without a store.

use std::collections::BTreeMap;

use errand::domain::account::AccountId;
use errand::domain::ledger::{Entry, EntryKind};
use errand::domain::limits::{ATTEMPTS_MAX, LOST_RUN_PAUSES};
use errand::domain::money::Amount;
use errand::domain::outcome::{Ending, Outcome, Report};
use errand::domain::run::{Attempt, Run, RunId, Status};
use errand::domain::time::Timestamp;
use errand::store::queue::Claim;
use errand::store::runs_list::{Filter, Window};

use super::write::{EXPIRE_MAX, canceled, lost, split};
use super::{ACTIVE_RUNS_MAX, Answer, Book, Content, Op, Refusal};

/// What the store should have in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    /// By account.
    pub(crate) books: Content,
}

/// What a page of a history should be: the runs, how many there are, and whether there are more.
pub(crate) type Page = (Vec<Run>, u64, bool);

impl Model {
    /// Does an operation.
    ///
    /// # Errors
    ///
    /// Why it is refused; nothing changes then.
    pub(crate) fn apply(&mut self, op: &Op) -> Result<Answer, Refusal> {
        match op {
            Op::Open(account) => {
                let book = Book {
                    account: account.clone(),
                    wallet: (Amount::ZERO, Amount::ZERO, 0),
                    entries: Vec::new(),
                    runs: BTreeMap::new(),
                    ghosts: BTreeMap::new(),
                    claims: BTreeMap::new(),
                    reports: BTreeMap::new(),
                };
                self.books.insert(account.id, book);
                Ok(Answer::Done)
            }
            Op::Credit { account, change, now } => self.book(*account)?.credit(*change, *now),
            Op::Create(run) => self.book(run.account)?.create(run),
            Op::Claim { account, boot, now } => match self.books.get_mut(account) {
                Some(book) => Ok(Answer::Claimed(book.claim(*boot, *now).map(Box::new))),
                None => Ok(Answer::Claimed(None)),
            },
            Op::Finish { claim, outcome, now } => {
                Ok(self.claimed(claim, |book| book.finish(claim, outcome, *now)))
            }
            Op::GiveBack { claim, attempt, now } => {
                Ok(self.claimed(claim, |book| book.give_back(claim, *attempt, *now)))
            }
            Op::Cancel { account, run, now } => {
                self.book(*account).map_err(|_| Refusal::NoRun)?.cancel(*run, *now)
            }
            Op::Delete { account, run, now } => {
                self.book(*account).map_err(|_| Refusal::NoRun)?.delete(*run, *now)
            }
            Op::Expire { account, before } => {
                let book = self.books.get_mut(account);
                Ok(Answer::Gone(book.map_or(0, |it| it.expire(*before))))
            }
        }
    }

    /// A page of a history.
    pub(crate) fn page(&self, account: AccountId, filter: &Filter, window: Window) -> Page {
        let fits = |run: &Run| {
            filter.kind.as_ref().is_none_or(|it| *it == run.kind)
                && (filter.statuses.is_empty() || filter.statuses.contains(&run.status))
                && filter.external_id.as_ref().is_none_or(|it| run.external_id.as_ref() == Some(it))
                && filter.created_after.is_none_or(|it| run.created_at >= it)
                && filter.created_before.is_none_or(|it| run.created_at < it)
        };
        let runs = self.books.get(&account).into_iter().flat_map(|it| it.runs.values());
        let fitting: Vec<_> = runs.rev().filter(|it| fits(it)).cloned().collect();
        let total = fitting.len() as u64;
        let older = fitting.into_iter().filter(|run| window.before.is_none_or(|it| run.id < it));
        let mut shown: Vec<_> = older.skip(window.offset).take(window.limit + 1).collect();
        let has_more = shown.len() > window.limit;
        shown.truncate(window.limit);
        (shown, total, has_more)
    }

    fn book(&mut self, account: AccountId) -> Result<&mut Book, Refusal> {
        self.books.get_mut(&account).ok_or(Refusal::NoAccount)
    }

    /// Ends a claim if it is the awaited one.
    fn claimed(&mut self, claim: &Claim, end: impl FnOnce(&mut Book)) -> Answer {
        let book = self.books.get_mut(&claim.account);
        let Some(book) = book.filter(|it| it.claims.get(&claim.run) == Some(claim)) else {
            return Answer::TooLate;
        };
        book.claims.remove(&claim.run);
        end(book);
        Answer::Done
    }
}

impl Book {
    fn credit(&mut self, change: Amount, now: Timestamp) -> Result<Answer, Refusal> {
        let (amount, held, _) = self.wallet;
        let after = amount.plus(change).ok_or(Refusal::Balance)?;
        if after < held {
            return Err(Refusal::Balance);
        }
        let kind = if change.is_negative() { EntryKind::Debit } else { EntryKind::Credit };
        self.write_line(kind, change, now, None, "by hand");
        Ok(Answer::Done)
    }

    fn create(&mut self, run: &Run) -> Result<Answer, Refusal> {
        let (amount, held, active) = &mut self.wallet;
        if *active >= ACTIVE_RUNS_MAX {
            return Err(Refusal::QueueFull);
        }
        if *amount < sum(*held, run.hold) {
            return Err(Refusal::Balance);
        }
        *held = sum(*held, run.hold);
        *active += 1;
        self.runs.insert(run.id, run.clone());
        Ok(Answer::Done)
    }

    fn claim(&mut self, boot: u64, now: Timestamp) -> Option<Run> {
        let pending = self.runs.values_mut().filter(|it| it.status == Status::Pending);
        let due = pending.filter(|it| it.due_at <= now);
        let place = |it: &Run| (it.class().rank(it.due_at), it.class(), it.due_at, it.id);
        let run = due.min_by_key(|it| place(it))?;
        run.status = Status::Running;
        run.attempts += 1;
        run.updated_at = run.updated_at.max(now);
        run.started_at.get_or_insert(run.updated_at);
        let (account, attempt) = (run.account, run.attempts);
        let claim = Claim { account, run: run.id, attempt, boot, claimed_at: now };
        self.claims.insert(run.id, claim);
        Some(run.clone())
    }

    fn finish(&mut self, claim: &Claim, outcome: &Outcome, now: Timestamp) {
        let (ending, report) = split(outcome);
        match self.runs.get(&claim.run) {
            Some(run) if run.cancel_requested => self.fail(claim.run, canceled(), now),
            Some(_) => self.end(claim.run, ending, report, now),
            None => self.end_ghost(claim.run, ending.status().is_charged(), now),
        }
    }

    fn give_back(&mut self, claim: &Claim, attempt: Attempt, now: Timestamp) {
        let Some(run) = self.runs.get_mut(&claim.run) else {
            return self.end_ghost(claim.run, false, now);
        };
        if run.cancel_requested {
            return self.fail(claim.run, canceled(), now);
        }
        if attempt == Attempt::Counted && run.attempts >= ATTEMPTS_MAX {
            return self.fail(claim.run, lost(), now);
        }
        run.status = Status::Pending;
        run.updated_at = run.updated_at.max(now);
        match attempt {
            Attempt::Forgiven => run.attempts -= 1,
            Attempt::Counted => {
                run.due_at = run.updated_at.after(LOST_RUN_PAUSES[run.attempts as usize - 1]);
            }
        }
    }

    fn cancel(&mut self, id: RunId, now: Timestamp) -> Result<Answer, Refusal> {
        let run = self.runs.get_mut(&id).ok_or(Refusal::NoRun)?;
        match run.status {
            Status::Pending => self.fail(id, canceled(), now),
            Status::Running => run.cancel_requested = true,
            Status::Succeeded | Status::NoSignal | Status::Failed => return Err(Refusal::Over),
        }
        Ok(Answer::Done)
    }

    fn delete(&mut self, id: RunId, now: Timestamp) -> Result<Answer, Refusal> {
        let run = self.runs.remove(&id).ok_or(Refusal::NoRun)?;
        self.reports.remove(&id);
        match run.status {
            Status::Pending => self.settle(&run, Amount::ZERO, now),
            Status::Running => drop(self.ghosts.insert(id, run)),
            Status::Succeeded | Status::NoSignal | Status::Failed => {}
        }
        Ok(Answer::Done)
    }

    fn expire(&mut self, before: Timestamp) -> usize {
        let old = self.runs.values().filter(|it| it.status.is_over() && it.created_at < before);
        let old: Vec<_> = old.map(|it| it.id).take(EXPIRE_MAX).collect();
        for id in &old {
            self.runs.remove(id);
            self.reports.remove(id);
        }
        old.len()
    }

    fn fail(&mut self, id: RunId, failure: errand::domain::outcome::Failure, now: Timestamp) {
        self.end(id, Ending::Failed(failure), None, now);
    }

    fn end(&mut self, id: RunId, ending: Ending, report: Option<&Report>, now: Timestamp) {
        let run = self.runs[&id].clone();
        let charge = if ending.status().is_charged() { run.hold } else { Amount::ZERO };
        self.settle(&run, charge, now);
        let updated_at = run.updated_at.max(now);
        let status = ending.status();
        let failure = match ending {
            Ending::Failed(failure) => Some(failure),
            Ending::Succeeded | Ending::NoSignal => None,
        };
        let hold = Amount::ZERO;
        let finished_at = Some(updated_at);
        let over = Run { status, failure, hold, cost: charge, updated_at, finished_at, ..run };
        self.runs.insert(id, over);
        self.reports.extend(report.map(|it| (id, it.clone())));
    }

    fn end_ghost(&mut self, id: RunId, is_charged: bool, now: Timestamp) {
        let ghost = self.ghosts.remove(&id).expect("a claim without a run has a ghost");
        let charge = if is_charged { ghost.hold } else { Amount::ZERO };
        self.settle(&ghost, charge, now);
    }

    fn settle(&mut self, run: &Run, charge: Amount, now: Timestamp) {
        self.wallet.1 = difference(self.wallet.1, run.hold);
        self.wallet.2 -= 1;
        if charge != Amount::ZERO {
            let spent = difference(Amount::ZERO, charge);
            self.write_line(EntryKind::Charge, spent, now, Some(run), &run.kind);
        }
    }

    fn write_line(
        &mut self,
        kind: EntryKind,
        amount: Amount,
        at: Timestamp,
        paid: Option<&Run>,
        note: &str,
    ) {
        self.wallet.0 = sum(self.wallet.0, amount);
        self.entries.push(Entry {
            seq: self.entries.len() as u64 + 1,
            at,
            kind,
            amount,
            balance_after: self.wallet.0,
            reference: paid.map(|it| *it.id.as_bytes()),
            key: paid.and_then(|it| it.key),
            note: note.to_owned(),
            usage: None,
        });
    }
}

fn sum(a: Amount, b: Amount) -> Amount {
    a.plus(b).expect("test amounts are small")
}

fn difference(a: Amount, b: Amount) -> Amount {
    a.minus(b).expect("test amounts are small")
}
