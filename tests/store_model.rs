//! The store against plain maps: the same operations, the same answers, the same content.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod work;

use errand::domain::run::Status;
use errand::store::runs_list::{self, Filter, Window};
use errand::store::{MemoryDisk, Store, doctor};
use proptest::prelude::*;
use proptest::test_runner::Config;
use tokio::runtime::Runtime;

use work::{Model, Op, Planner, content};

/// What is done between two operations.
#[derive(Clone, Debug)]
enum Step {
    /// An operation for one of the accounts, of which the last one is never there.
    Op(u8),
    /// A page of a history is looked at.
    List,
    /// Everything is compared, and the doctor looks at it.
    Compare,
    /// The file is closed and opened again.
    Reopen,
}

struct World {
    runtime: Runtime,
    disk: MemoryDisk,
    store: Store,
    model: Model,
    planner: Planner,
}

impl World {
    fn new(seed: u64) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let disk = MemoryDisk::default();
        let store = work::open(disk.clone(), &work::options()).unwrap();
        let planner = Planner::new(seed);
        let mut world = Self { runtime, disk, store, model: Model::default(), planner };
        for number in 0..ACCOUNTS {
            let open = world.planner.open(number);
            world.perform(open);
        }
        world
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Op(number) => {
                let account = Planner::account(*number);
                let op = self.planner.next(&self.model, account);
                self.perform(op);
            }
            Step::List => self.list(),
            Step::Compare => self.compare(),
            Step::Reopen => {
                self.store.close();
                self.store = work::open(self.disk.clone(), &work::options()).unwrap();
                self.planner.boot += 1;
                self.compare();
            }
        }
    }

    fn perform(&mut self, op: Op) {
        let expected = self.model.apply(&op);
        let text = format!("{op:?}");
        let found = self.runtime.block_on(self.store.write(move |txn| op.write(txn)));
        assert_eq!(found, expected, "{text}");
    }

    fn list(&self) {
        let some = |several: &[Option<&str>]| {
            self.planner.one(several).copied().flatten().map(ToOwned::to_owned)
        };
        let time = || {
            let back = self.planner.below(120) as u64 * 1_000;
            let time = self.planner.now.before(std::time::Duration::from_millis(back));
            (self.planner.below(3) == 0).then_some(time)
        };
        let statuses = (0..self.planner.below(4)).map(|_| *self.planner.one(&Status::ALL).unwrap());
        let filter = Filter {
            schedule: None,
            kind: some(&[None, Some("seo_audit"), Some("competitor_scan"), Some("unheard_of")]),
            statuses: statuses.collect(),
            external_id: some(&work::LABELS),
            created_after: time(),
            created_before: time(),
        };
        let account = Planner::account(u8::try_from(self.planner.below(4)).unwrap());
        let runs: Vec<_> =
            self.model.books.get(&account).into_iter().flat_map(|it| it.runs.keys()).collect();
        let before = self.planner.one(&runs).map(|it| **it);
        let window = Window {
            before: before.filter(|_| self.planner.below(2) == 0),
            offset: [0, 0, 1, 5][self.planner.below(4)],
            limit: [1, 2, 10, 50][self.planner.below(4)],
        };
        let page = self.store.read(|view| runs_list::scan(view, account, &filter, window)).unwrap();
        let found = (page.runs, page.total, page.has_more);
        let expected = self.model.page(account, &filter, window);
        assert_eq!(found, expected, "{filter:?} {window:?}");
    }

    fn compare(&self) {
        assert_eq!(self.store.read(content).unwrap(), self.model.books);
        let findings = doctor::examine(&self.store).unwrap();
        assert_eq!(findings.problems, []);
        let sums = doctor::verify_ledger(&self.store).unwrap();
        let entries: usize = self.model.books.values().map(|it| it.entries.len()).sum();
        assert_eq!(sums.entries, entries as u64);
        assert_eq!(sums.faults, []);
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..=ACCOUNTS).prop_map(Step::Op),
        // One account gets most of the work, so that it has a long history.
        20 => Just(Step::Op(0)),
        6 => Just(Step::List),
        2 => Just(Step::Compare),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(Config { cases: CASES, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_store_does_what_plain_maps_do(
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..STEPS_MAX),
    ) {
        let mut world = World::new(seed);
        for step in &steps {
            world.step(step);
        }
        world.compare();
    }
}

/// Accounts that are there.
const ACCOUNTS: u8 = 3;
/// Sequences of steps.
const CASES: u32 = 40;
/// Steps of the longest one.
const STEPS_MAX: usize = 160;
