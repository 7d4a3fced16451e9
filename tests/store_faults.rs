//! Disks that fail.
//!
//! Whatever fails: what was answered stays, reads go on, the write that failed is refused with the
//! reason, and when the disk is well again so is the store, in the same process.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod disk;
mod work;

use std::time::Duration;

use errand::domain::account::AccountId;
use errand::domain::money::Amount;
use errand::domain::outcome::{Outcome, Report};
use errand::domain::time::Timestamp;
use errand::store::{Error, Health, Options, Store, doctor};
use errand::sys::clock::Clock;

use disk::{Act, Extent, Failure, Fault, FaultDisk};
use work::{Model, Op, Planner, Refusal, content};

/// A store on a disk that can fail, and what should be in it.
struct World {
    disk: FaultDisk,
    store: Store,
    model: Model,
    planner: Planner,
    clock: Clock,
}

/// A closed file with some history, and what is in it.
struct Start {
    image: Vec<u8>,
    model: Model,
    now: Timestamp,
}

impl Start {
    async fn new() -> Self {
        let disk = FaultDisk::default();
        let store = work::open(disk.clone(), &work::options()).unwrap();
        let mut planner = Planner::new(1);
        let model = work::history(&store, &mut planner).await;
        store.close();
        Self { image: disk.image(), model, now: planner.now }
    }
}

impl World {
    /// A store on a disk that works so far, with a cache of so many bytes.
    fn on(start: &Start, cache_bytes: usize) -> Self {
        let disk = FaultDisk::on(start.image.clone());
        let clock = Clock::simulated(Timestamp::EPOCH);
        let store = work::open(disk.clone(), &Options { cache_bytes, ..work::options() }).unwrap();
        let mut planner = Planner::new(start.image.len() as u64);
        planner.now = start.now;
        Self { disk, store, model: start.model.clone(), planner, clock }
    }

    /// Four operations, of which the last needs a larger file.
    async fn work(&mut self) -> Vec<Error> {
        let mut errors = Vec::new();
        let now = self.planner.now;
        let change = Amount::from_nanos(100);
        errors.extend(self.may(Op::Credit { account: ACCOUNT, change, now }).await);
        let run = self.planner.run(ACCOUNT);
        errors.extend(self.may(Op::Create(Box::new(run))).await);
        let now = now.after(Duration::from_mins(10));
        errors.extend(self.may(Op::Claim { account: ACCOUNT, boot: 1, now }).await);
        let claim = self.model.books[&ACCOUNT].claims.values().next_back().cloned();
        if let Some(claim) = claim {
            let report = Report { output: "text".into(), result: Some("r".repeat(1_000_000)) };
            let outcome = Outcome::Succeeded(report);
            errors.extend(self.may(Op::Finish { claim, outcome, now }).await);
        }
        errors
    }

    /// Does what must work.
    async fn must(&mut self, op: Op) {
        let error = self.may(op).await;
        assert!(error.is_none(), "{error:?}");
    }

    /// Does what the disk may refuse, and compares what is there afterwards.
    async fn may(&mut self, op: Op) -> Option<Error> {
        let mut after = self.model.clone();
        let expected = after.apply(&op);
        let found = self.store.write(move |txn| op.write(txn)).await;
        if let Err(Refusal::Store(error)) = found {
            self.settle(after);
            return Some(error);
        }
        assert_eq!(found, expected);
        self.model = after;
        None
    }

    /// A change that was refused is there or not, as a whole; reads tell which.
    fn settle(&mut self, after: Model) {
        let found = self.store.read(content).expect("reads go on");
        if found == after.books {
            self.model = after;
        }
        assert_eq!(found, self.model.books);
    }

    fn compare(&self) {
        assert_eq!(self.store.read(content).unwrap(), self.model.books);
        assert_eq!(doctor::examine(&self.store).unwrap().problems, []);
    }

    /// Checks that the store works again, here and when it is opened anew.
    async fn check_well(mut self) {
        self.disk.heal();
        self.clock.sleep(PAUSE).await;
        let op =
            Op::Credit { account: ACCOUNT, change: Amount::from_nanos(1), now: self.planner.now };
        self.must(op).await;
        assert!(matches!(self.store.health(), Health::Good));
        self.compare();
        self.store.close();
        self.store = work::open(self.disk.clone(), &work::options()).unwrap();
        self.compare();
    }
}

/// Lets the disk fail at every act that the work needs, and gives each try to `check`.
///
/// How many tries there were.
async fn at_every_act<F: Future<Output = ()>>(
    acts: &[Act],
    (failure, extent): (Failure, Extent),
    check: impl Fn(World, Vec<Error>) -> F,
) -> u64 {
    let start = Start::new().await;
    let mut after = 0;
    loop {
        let mut world = World::on(&start, 1 << 20);
        world.disk.arm(Fault { acts: acts.to_vec(), after, failure, extent });
        let errors = world.work().await;
        if world.disk.acts_and_failures().1 == 0 {
            assert!(errors.is_empty());
            world.check_well().await;
            return after;
        }
        check(world, errors).await;
        after += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_full_from_any_moment_on_refuses_writes_and_serves_reads() {
    let full = (Failure::Full, Extent::Onwards);
    let tries = at_every_act(&CHANGES, full, |mut world, errors| async move {
        assert!(!errors.is_empty(), "a failure that lasts is noticed");
        assert!(errors.iter().all(|it| matches!(it, Error::Full)), "{errors:?}");
        assert!(matches!(world.store.health(), Health::Failing(Error::Full)));
        world.compare();
        // While the pause lasts the disk is left alone; then it is tried, and is still full.
        let (acts, _) = world.disk.acts_and_failures();
        let change = Amount::from_nanos(1);
        let op = Op::Credit { account: ACCOUNT, change, now: world.planner.now };
        assert!(matches!(world.may(op.clone()).await, Some(Error::Full)));
        assert_eq!(world.disk.acts_and_failures().0, acts);
        world.clock.sleep(PAUSE).await;
        assert!(matches!(world.may(op).await, Some(Error::Full)));
        assert!(world.disk.acts_and_failures().0 > acts);
        world.compare();
        world.check_well().await;
    });
    println!("{} moments", tries.await);
}

#[tokio::test(start_paused = true)]
async fn a_disk_without_room_for_half_of_a_write_is_full() {
    let short = (Failure::Short, Extent::Once);
    let tries = at_every_act(&[Act::Write], short, |world, errors| async move {
        assert!(errors.iter().all(|it| matches!(it, Error::Full)), "{errors:?}");
        world.check_well().await;
    });
    println!("{} moments", tries.await);
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_fails_once_at_any_moment_costs_one_write_and_a_pause() {
    let once = (Failure::Broken, Extent::Once);
    let tries = at_every_act(&CHANGES, once, |world, errors| async move {
        assert!(errors.iter().all(|it| matches!(it, Error::Disk(_))), "{errors:?}");
        world.check_well().await;
    });
    println!("{} moments", tries.await);
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_fails_and_loses_what_was_written_loses_nothing_that_was_answered() {
    let forgetful = (Failure::Forgetful, Extent::Once);
    let tries = at_every_act(&[Act::Sync], forgetful, |world, errors| async move {
        assert!(!errors.is_empty(), "no sync is for nothing");
        assert!(errors.iter().all(|it| matches!(it, Error::Disk(_))), "{errors:?}");
        world.check_well().await;
    });
    println!("{} moments", tries.await);
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_never_works_again_leaves_reads_and_nothing_else() {
    let onwards = (Failure::Broken, Extent::Onwards);
    let tries = at_every_act(&[Act::Sync], onwards, |world, errors| async move {
        assert!(errors.iter().all(|it| matches!(it, Error::Disk(_))), "{errors:?}");
        world.compare();
        world.check_well().await;
    });
    println!("{} moments", tries.await);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_once_is_told_and_the_next_ones_work_without_a_write() {
    let world = World::on(&Start::new().await, 0);
    let mut after = 0;
    loop {
        let fault =
            Fault { acts: vec![Act::Read], after, failure: Failure::Broken, extent: Extent::Once };
        world.disk.arm(fault);
        let read = world.store.read(content);
        if world.disk.acts_and_failures().1 == 0 {
            break;
        }
        assert!(matches!(read, Err(Error::Disk(_))), "after {after} reads: {read:?}");
        // The clock stands still until the file is open again.
        world.clock.sleep(PAUSE).await;
        world.compare();
        after += 1;
    }
    println!("{after} reads");
    assert!(after > 30, "nothing is kept in memory");
    world.check_well().await;
}

#[tokio::test(start_paused = true)]
async fn reads_that_fail_for_a_while_work_when_the_disk_does() {
    let start = Start::new().await;
    for after in [0, 5, 30] {
        let mut world = World::on(&start, 0);
        let (failure, extent) = (Failure::Broken, Extent::Onwards);
        world.disk.arm(Fault { acts: vec![Act::Read], after, failure, extent });
        for _ in 0..3 {
            assert!(matches!(world.store.read(content), Err(Error::Disk(_))));
            world.clock.sleep(PAUSE).await;
        }
        let op = world.planner.next(&world.model, ACCOUNT);
        let refused = world.store.write(move |txn| op.write(txn)).await;
        assert!(matches!(refused, Err(Refusal::Store(Error::Disk(_)))), "{refused:?}");
        world.disk.heal();
        world.clock.sleep(PAUSE).await;
        // The first read after the pause opens the file anew, and the next ones use it.
        let _ = world.store.read(content);
        world.clock.sleep(Duration::from_millis(1)).await;
        world.compare();
        world.check_well().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_was_closed_in_trouble_stays_closed() {
    let mut world = World::on(&Start::new().await, 1 << 20);
    let (failure, extent) = (Failure::Full, Extent::Once);
    world.disk.arm(Fault { acts: CHANGES.to_vec(), after: 0, failure, extent });
    let op = Op::Credit { account: ACCOUNT, change: Amount::from_nanos(1), now: world.planner.now };
    assert!(matches!(world.may(op.clone()).await, Some(Error::Full)));
    world.store.close();
    world.clock.sleep(PAUSE).await;
    let refused = world.store.write(move |txn| op.write(txn)).await;
    assert!(matches!(refused, Err(Refusal::Store(Error::Bug(_)))), "{refused:?}");
    assert!(world.store.read(content).is_err());
    // Somebody else can have the file.
    world.store = work::open(world.disk.clone(), &work::options()).unwrap();
    world.compare();
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_fails_while_the_file_is_opened_is_named_and_not_the_file() {
    let world = World::on(&Start::new().await, 1 << 20);
    let image = world.disk.image();
    let mut refused = 0;
    for after in 0.. {
        let disk = FaultDisk::on(image.clone());
        let acts = vec![Act::Read, Act::Write, Act::SetLen, Act::Sync];
        disk.arm(Fault { acts, after, failure: Failure::Full, extent: Extent::Onwards });
        match work::open(disk.clone(), &work::options()) {
            Ok(store) => {
                store.close();
                break;
            }
            Err(error) => assert!(matches!(error, Error::Full), "after {after} acts: {error:?}"),
        }
        refused += 1;
        disk.heal();
        let store = work::open(disk, &work::options()).unwrap();
        assert_eq!(store.read(content).unwrap(), world.model.books);
        store.close();
    }
    println!("{refused} moments");
    assert!(refused > 20, "{refused} moments");
}

/// Whose operations these are.
const ACCOUNT: AccountId = AccountId::from_bytes([1; 16]);
/// Everything that changes a disk.
const CHANGES: [Act; 3] = [Act::Write, Act::SetLen, Act::Sync];
/// The pause after a failure.
const PAUSE: Duration = Duration::from_secs(2);
