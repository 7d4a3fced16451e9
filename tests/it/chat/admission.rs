//! One admission for chats, runs and the operator: any interleaving of them against a simple model.
//!
//! The model is three sums: what the ledger has, what runs hold, what chats were promised. Alone,
//! each operation must do exactly what the model says. At the same time with others, what was
//! acknowledged must add up, and nothing is refused that all of them together could have had.

use std::sync::Arc;

use errand::app::chats::{self, Chat};
use errand::app::runs::{self, NewRun};
use errand::app::{Error, accounts};
use errand::domain::account::{Caller, Rights};
use errand::domain::chat::{Count, CountSource, FinishReason, Request, UnknownParameters, Usage};
use errand::domain::money::{Amount, Currency};
use errand::domain::run::RunId;
use errand::models::End;
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestCaseResult};
use serde_json::json;
use tokio::runtime::Builder;

use crate::chat::{HOST, MODEL};
use crate::support::upstream::{Step, ask, begun};
use crate::support::{House, KIND, Plan, Trouble, Upstream};

/// What somebody does.
#[derive(Clone, Debug)]
enum Act {
    /// Begins a chat with this cap.
    Begin(u64),
    /// Ends a chat as its upstream says.
    Settle(usize, u64, u64),
    /// Leaves a chat after so many bytes.
    Leave(usize, usize),
    /// Gives a chat up before anything was delivered.
    Drop(usize),
    /// Asks for a run.
    Run,
    /// Cancels a run that waits.
    Cancel(usize),
    /// The operator adds or takes money, in nano-units.
    Credit(i64),
}

/// What happens next.
#[derive(Clone, Debug)]
enum Turn {
    Alone(Act),
    Together(Vec<Act>),
    /// The disk fails, or does its work again.
    Disk(Option<bool>),
}

/// What an act came to.
enum Done {
    Begun(Box<Chat>, i64),
    /// A chat that is over, its promise, and what it cost, if that was written.
    Over(i64, Option<i64>),
    Held(RunId),
    Released(RunId, bool),
    Credited(i64),
    /// There was not enough money.
    Short,
    /// The disk did not do it.
    Failed,
}

/// The house, and the model of its money in nano-units.
struct Story {
    house: House,
    balance: i64,
    runs: Vec<RunId>,
    chats: Vec<(Box<Chat>, i64)>,
    is_well: bool,
}

const RUN_PRICE: i64 = 20_000_000;
const START: i64 = 60_000_000;

fn act() -> impl Strategy<Value = Act> {
    let which = 0..8_usize;
    prop_oneof![
        4 => (1..4_100_u64).prop_map(Act::Begin),
        3 => (which.clone(), 0..200_u64, 0..5_000_u64).prop_map(|(a, b, c)| Act::Settle(a, b, c)),
        1 => (which.clone(), 0..2_000_usize).prop_map(|(a, b)| Act::Leave(a, b)),
        1 => which.clone().prop_map(Act::Drop),
        2 => Just(Act::Run),
        2 => which.prop_map(Act::Cancel),
        2 => (-30_000_000..30_000_000_i64).prop_map(|it| Act::Credit(if it == 0 { 1 } else { it })),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        12 => act().prop_map(Turn::Alone),
        4 => prop::collection::vec(act(), 2..12).prop_map(Turn::Together),
        1 => prop::option::of(any::<bool>()).prop_map(Turn::Disk),
    ]
}

/// The most that a chat with this cap can cost: 85 tokens read, and the cap up to 4,000 written.
fn hold(max_tokens: u64) -> i64 {
    85_000 + 2_000 * i64::try_from(max_tokens.min(4_000)).unwrap()
}

/// The end of a chat whose upstream counted so many tokens.
const fn end(prompt_tokens: u64, completion_tokens: u64) -> End {
    let usage = Usage { prompt_tokens, completion_tokens };
    let count = Some(Count { usage, source: CountSource::Upstream });
    End { finish: FinishReason::Stop, count }
}

impl Story {
    async fn new() -> Self {
        let models = [Plan::priced(MODEL, &[HOST])];
        let house = House::offering(1, &models, |it| {
            it.queue.workers = 0;
            it.limits.chats_in_flight = None;
        });
        let mut house = house.await;
        Upstream::at(&house.internet, HOST, begun(&["Hi"], Step::Hang));
        (house.account, house.key) = house.tenant("story", "0.06").await;
        Self { house, balance: START, runs: Vec::new(), chats: Vec::new(), is_well: true }
    }

    fn caller(&self) -> Caller {
        let (account, key) = (self.house.account, self.house.key_id);
        Caller {
            account,
            key,
            rights: Rights::NONE,
            currency: Currency::EUR,
            restrictions: Arc::default(),
        }
    }

    fn held(&self) -> i64 {
        RUN_PRICE * i64::try_from(self.runs.len()).unwrap()
    }

    fn promised(&self) -> i64 {
        self.chats.iter().map(|it| it.1).sum()
    }

    fn available(&self) -> i64 {
        self.balance - self.held() - self.promised()
    }

    /// Begins an act; what it needs is taken out of the story, and comes back with its end.
    fn begin(&mut self, act: &Act) -> Option<impl Future<Output = Done> + Send + use<>> {
        let app = self.house.daemon().app().clone();
        let (caller, account) = (self.caller(), self.house.account);
        let mut chat = None;
        let mut run = None;
        match act {
            Act::Settle(at, ..) | Act::Leave(at, _) | Act::Drop(at) => {
                if self.chats.is_empty() {
                    return None;
                }
                chat = Some(self.chats.remove(at % self.chats.len()));
            }
            Act::Cancel(at) => {
                if self.runs.is_empty() {
                    return None;
                }
                run = Some(self.runs.remove(at % self.runs.len()));
            }
            Act::Begin(_) | Act::Run | Act::Credit(_) => {}
        }
        let act = act.clone();
        Some(async move {
            match act {
                Act::Begin(cap) => {
                    let body = ask(MODEL, &json!({ "stream": true, "max_tokens": cap }));
                    let object = body.as_object().unwrap().clone();
                    let request = Request::parse(object, UnknownParameters::Refuse).unwrap();
                    match chats::begin(&app, &caller, request, None).await {
                        Ok(chat) => Done::Begun(Box::new(chat), hold(cap)),
                        Err(Error::ChatBalance { .. }) => Done::Short,
                        Err(_) => Done::Failed,
                    }
                }
                Act::Settle(_, prompt, completion) => {
                    let (mut chat, promise) = chat.unwrap();
                    chat.deliver("Hi");
                    let paid = chat.settle(Some(&end(prompt, completion))).await;
                    Done::Over(promise, paid.ok().map(|it| it.cost.nanos()))
                }
                Act::Leave(_, bytes) => {
                    let (mut chat, promise) = chat.unwrap();
                    chat.deliver(&"x".repeat(bytes));
                    let paid = chat.settle(None).await;
                    Done::Over(promise, paid.ok().map(|it| it.cost.nanos()))
                }
                Act::Drop(_) => Done::Over(chat.unwrap().1, Some(0)),
                Act::Run => {
                    let input = serde_json::Map::new();
                    let new = NewRun { kind: KIND.to_owned(), input, external_id: None };
                    match runs::create(&app, &caller, new).await {
                        Ok(run) => Done::Held(run.id),
                        Err(Error::Balance { .. }) => Done::Short,
                        Err(_) => Done::Failed,
                    }
                }
                Act::Cancel(_) => {
                    let run = run.unwrap();
                    Done::Released(run, runs::cancel(&app, &caller, run).await.is_ok())
                }
                Act::Credit(nanos) => {
                    let change = Amount::from_nanos(nanos);
                    match accounts::credit(&app, account, change, "").await {
                        Ok(_) => Done::Credited(nanos),
                        Err(Error::Balance { .. }) => Done::Short,
                        Err(_) => Done::Failed,
                    }
                }
            }
        })
    }

    /// Takes what an act came to into the model.
    fn take(&mut self, done: Done) {
        match done {
            Done::Begun(chat, promise) => self.chats.push((chat, promise)),
            Done::Over(promise, Some(cost)) => {
                assert!((0..=promise).contains(&cost), "{cost} of {promise}");
                self.balance -= cost;
            }
            Done::Held(run) | Done::Released(run, false) => self.runs.push(run),
            Done::Credited(change) => self.balance += change,
            Done::Over(_, None) | Done::Released(_, true) | Done::Short | Done::Failed => {}
        }
    }

    /// One act by itself does what the model says.
    async fn alone(&mut self, act: &Act) -> TestCaseResult {
        let available = self.available();
        let Some(work) = self.begin(act) else { return Ok(()) };
        let done = work.await;
        let wanted = match act {
            Act::Begin(cap) => hold(*cap),
            Act::Run => RUN_PRICE,
            Act::Credit(change) => -change,
            Act::Settle(..) | Act::Leave(..) | Act::Drop(_) | Act::Cancel(_) => 0,
        };
        if self.is_well {
            let is_short = matches!(done, Done::Short);
            prop_assert_eq!(is_short, wanted.max(0) > available, "{:?} of {}", act, available);
            let is_failed =
                matches!(done, Done::Failed | Done::Over(_, None) | Done::Released(_, false));
            prop_assert!(!is_failed, "{:?} failed on a disk that is well", act);
        } else if matches!(done, Done::Begun(..)) {
            prop_assert!(wanted <= available, "{:?} of {}", act, available);
        }
        let expected = match (act, &done) {
            (Act::Settle(_, prompt, completion), Done::Over(promise, Some(_))) => {
                let cap = u64::try_from((promise - 85_000) / 2_000).unwrap();
                let tokens = (*prompt).min(85) + 2 * (*completion).min(cap);
                Some(1_000 * i64::try_from(tokens).unwrap())
            }
            _ => None,
        };
        if let (Some(expected), Done::Over(_, Some(cost))) = (expected, &done) {
            prop_assert_eq!(expected, *cost);
        }
        self.take(done);
        Ok(())
    }

    /// Acts at once, in one or several commits.
    async fn together(&mut self, acts: &[Act]) -> TestCaseResult {
        let (available, mut wanted) = (self.available(), 0);
        let mut tasks = Vec::new();
        for act in acts {
            wanted += match act {
                Act::Begin(cap) => hold(*cap),
                Act::Run => RUN_PRICE,
                Act::Credit(change) => (-change).max(0),
                Act::Settle(..) | Act::Leave(..) | Act::Drop(_) | Act::Cancel(_) => 0,
            };
            if let Some(work) = self.begin(act) {
                tasks.push(tokio::spawn(work));
            }
        }
        for task in tasks {
            let done = task.await.unwrap();
            if self.is_well && wanted <= available {
                prop_assert!(!matches!(done, Done::Short), "{:?} of {}", acts, available);
            }
            self.take(done);
        }
        Ok(())
    }

    /// The file and the till say what the model says, and nothing is below zero.
    fn check(&self) -> TestCaseResult {
        let app = self.house.daemon().app();
        let (_, wallet) = accounts::find(app, self.house.account).unwrap();
        let promised = accounts::promised(app, self.house.account).nanos();
        let found = (wallet.balance.amount().nanos(), wallet.balance.held().nanos(), promised);
        prop_assert_eq!(found, (self.balance, self.held(), self.promised()));
        prop_assert!(self.available() >= 0, "{}", self.available());
        Ok(())
    }

    async fn set_disk(&mut self, trouble: Option<bool>) {
        match trouble {
            Some(true) => self.house.disk.fail(Trouble::Full),
            Some(false) => self.house.disk.fail(Trouble::Broken),
            None => self.house.disk.heal(),
        }
        self.is_well = trouble.is_none();
        // A disk that failed is left alone for a moment.
        self.house.clock.sleep(std::time::Duration::from_secs(10)).await;
    }

    /// Everything is given back, to the last nano-unit.
    async fn end(mut self) -> TestCaseResult {
        self.set_disk(None).await;
        while !self.chats.is_empty() {
            self.alone(&Act::Drop(0)).await?;
        }
        while !self.runs.is_empty() {
            self.alone(&Act::Cancel(0)).await?;
        }
        self.check()?;
        prop_assert_eq!(self.available(), self.balance);
        self.alone(&Act::Credit(-self.balance - 1)).await?;
        if self.balance > 0 {
            self.alone(&Act::Credit(-self.balance)).await?;
        }
        prop_assert_eq!(self.balance, 0);
        self.check()?;
        self.house.examine().await;
        Ok(())
    }
}

/// Source: the contract, section 4: one admission section per account; the balance never goes
/// below zero.
#[test]
fn no_interleaving_promises_money_twice_or_loses_some() {
    let cases = Cases { cases: 40, failure_persistence: None, ..Cases::default() };
    proptest!(cases, |(turns in prop::collection::vec(turn(), 1..60))| {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let mut story = Story::new().await;
            for turn in &turns {
                match turn {
                    Turn::Alone(act) => story.alone(act).await?,
                    Turn::Together(acts) => story.together(acts).await?,
                    Turn::Disk(trouble) => story.set_disk(*trouble).await,
                }
                story.check()?;
            }
            story.end().await
        })?;
    });
}
