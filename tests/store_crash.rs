//! Power cuts: after every operation of the disk, and again while the file is recovered.
//!
//! Several callers write at the same time, so that commits carry several operations. Of each it
//! is known which commit carried it and when it was answered. Whatever a power cut leaves is what
//! was there after some commit: the last one that was answered, or the one that was under way. So
//! every answered operation is there as a whole, and every other one as a whole or not at all.
//! The doctor finds nothing.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod disk;
mod work;

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use errand::domain::account::AccountId;
use errand::store::{Error, Options, Store, Verify, doctor};
use errand::sys::clock::Clock;
use errand::sys::metrics::Metrics;

use disk::{CrashDisk, History, Honesty};
use work::{Book, Content, Model, Planner, content};

/// What one caller did to its own account.
#[derive(Debug)]
struct Deeds {
    account: AccountId,
    /// The account before the first operation and after each one.
    states: Vec<Option<Book>>,
    /// How many commits there were before each operation ran.
    commits: Vec<Arc<AtomicU64>>,
    /// The length of the disk's history when each operation was answered.
    answered: Vec<usize>,
}

/// Everything that was done, and what the disk did meanwhile.
#[derive(Debug)]
struct Story {
    history: History,
    deeds: Vec<Deeds>,
    commits: u64,
}

impl Deeds {
    /// The account after so many commits of all callers.
    fn after(&self, commits: u64) -> Option<&Book> {
        let done = self.commits.iter().take_while(|it| it.load(Ordering::Relaxed) < commits);
        self.states[done.count()].as_ref()
    }

    /// How many commits there were when the last of those operations was answered, after so many
    /// steps of the disk, that changed anything.
    fn promised(&self, steps: usize) -> u64 {
        let answered = self.answered.iter().take_while(|it| **it <= steps).count();
        let changes = |number: &usize| self.states[*number] != self.states[*number + 1];
        let last = (0..answered).rev().find(changes);
        last.map_or(0, |number| self.commits[number].load(Ordering::Relaxed) + 1)
    }
}

impl Story {
    /// Whether everything was as in `found` after so many commits.
    fn was(&self, found: &Content, commits: u64) -> bool {
        self.deeds.iter().all(|it| it.after(commits) == found.get(&it.account))
    }

    /// Checks what a power cut after so many steps has left: every commit that was answered, and
    /// perhaps the one that was under way.
    fn check(&self, found: &Content, steps: usize) -> Result<(), String> {
        let promised = self.deeds.iter().map(|it| it.promised(steps)).max().unwrap_or(0);
        if self.was(found, promised) || self.was(found, promised + 1) {
            return Ok(());
        }
        let when = (0..=self.commits).find(|it| self.was(found, *it));
        Err(format!("{promised} commits were promised; it is as after {when:?}: {found:#?}"))
    }
}

/// Does the work of all callers, in two lives of the store.
fn story(seed: u64) -> Story {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let disk = CrashDisk::default();
    let mut deeds: Vec<_> = (0..CALLERS)
        .map(|number| Deeds {
            account: Planner::account(number),
            states: vec![None],
            commits: Vec::new(),
            answered: Vec::new(),
        })
        .collect();
    let mut models = vec![Model::default(); usize::from(CALLERS)];
    let mut commits = 0;
    for life in 0..2 {
        let metrics = Arc::<Metrics>::default();
        let (counted, clock) = (Arc::clone(&metrics), Clock::host());
        let store = Store::open(Arc::new(disk.clone()), &work::options(), clock, counted);
        let store = store.unwrap();
        let callers = deeds.iter_mut().zip(&mut models).zip(0_u64..);
        let callers = callers.map(|((deeds, model), number)| {
            let planner = Planner::new(seed * 100 + life * 10 + number);
            let count = Count { metrics: Arc::clone(&metrics), before: commits };
            call(&store, &disk, deeds, model, (planner, count))
        });
        runtime.block_on(all(callers.map(Box::pin).collect()));
        store.close();
        commits += metrics.commits.value();
    }
    Story { history: disk.history(), deeds, commits }
}

/// Counts the commits of all lives.
#[derive(Clone, Debug)]
struct Count {
    metrics: Arc<Metrics>,
    before: u64,
}

impl Count {
    fn now(&self) -> u64 {
        self.before + self.metrics.commits.value()
    }
}

/// The work of one caller: two operations at a time.
async fn call(
    store: &Store,
    disk: &CrashDisk,
    deeds: &mut Deeds,
    model: &mut Model,
    (mut planner, count): (Planner, Count),
) {
    let number = deeds.account.as_bytes()[0];
    for _ in 0..PAIRS {
        let mut pair = Vec::new();
        for _ in 0..2 {
            let op = match model.books.is_empty() {
                true => planner.open(number),
                false => planner.next(model, deeds.account),
            };
            let expected = model.apply(&op);
            let (counter, count) = (Arc::<AtomicU64>::default(), count.clone());
            deeds.commits.push(Arc::clone(&counter));
            deeds.states.push(model.books.get(&deeds.account).cloned());
            let write = Box::pin(store.write(move |txn| {
                counter.store(count.now(), Ordering::Relaxed);
                op.write(txn)
            }));
            let mut write = Stamped::new(disk, write);
            // The first look at it puts it into the queue, so the two stay in order.
            let done = poll_fn(|it| Poll::Ready(Pin::new(&mut write).poll(it))).await;
            pair.push((write, done, expected));
        }
        for (write, done, expected) in pair {
            let (found, at) = match done {
                Poll::Ready(done) => done,
                Poll::Pending => write.await,
            };
            assert_eq!(found, expected);
            deeds.answered.push(at);
        }
    }
}

/// Waits for all of several futures.
async fn all<F: Future<Output = ()>>(mut several: Vec<Pin<Box<F>>>) {
    poll_fn(|context| {
        several.retain_mut(|it| it.as_mut().poll(context).is_pending());
        if several.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// A future that knows how far the disk was when it was woken for its answer.
///
/// The task itself may run much later, when the disk is busy with the next commit already; what
/// is lost then would pass for something that was never promised.
struct Stamped<F> {
    inner: Pin<Box<F>>,
    stamp: Arc<Stamp>,
}

struct Stamp {
    disk: CrashDisk,
    at: AtomicUsize,
    task: Mutex<Waker>,
}

impl<F: Future> Stamped<F> {
    fn new(disk: &CrashDisk, inner: Pin<Box<F>>) -> Self {
        let at = AtomicUsize::new(usize::MAX);
        let task = Mutex::new(Waker::noop().clone());
        Self { inner, stamp: Arc::new(Stamp { disk: disk.clone(), at, task }) }
    }
}

impl<F: Future> Future for Stamped<F> {
    type Output = (F::Output, usize);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        *self.stamp.task.lock().unwrap() = context.waker().clone();
        let waker = Waker::from(Arc::clone(&self.stamp));
        let output = self.inner.as_mut().poll(&mut Context::from_waker(&waker));
        output.map(|it| (it, self.stamp.at.load(Ordering::Acquire).min(self.stamp.disk.steps())))
    }
}

impl Wake for Stamp {
    fn wake(self: Arc<Self>) {
        self.at.store(self.disk.steps(), Ordering::Release);
        self.task.lock().unwrap().wake_by_ref();
    }
}

/// What opening an image came to.
enum Opened {
    Sound(Content),
    Refused(Error),
}

/// Opens what a power cut has left, reads all of it, and asks the doctor.
fn open(image: CrashDisk, verify: Verify) -> Opened {
    let store = match work::open(image, &Options { verify, ..work::options() }) {
        Ok(store) => store,
        Err(error) => return Opened::Refused(error),
    };
    let found = store.read(content).unwrap();
    let findings = doctor::examine(&store).unwrap();
    assert_eq!(findings.problems, []);
    store.close();
    Opened::Sound(found)
}

/// Checks one image of an honest disk.
///
/// redb looks at every page of a file that was not closed; a second look is not needed.
fn check(story: &Story, image: CrashDisk, steps: usize, what: &dyn Fn() -> String) {
    match open(image, Verify::Never) {
        Opened::Sound(found) => {
            story.check(&found, steps).unwrap_or_else(|it| panic!("{}: {it}", what()));
        }
        Opened::Refused(error) => panic!("{}: refused: {error}", what()),
    }
}

/// Runs `work` for every seed, at the same time.
fn for_each_seed(seeds: u64, work: impl Fn(u64) + Sync) {
    std::thread::scope(|scope| {
        for seed in 0..seeds {
            let work = &work;
            scope.spawn(move || work(seed));
        }
    });
}

#[test]
fn whatever_a_power_cut_leaves_every_answered_operation_is_there_as_a_whole() {
    let story = story(1);
    let (images, again) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for_each_seed(SEEDS, |seed| {
        story.history.crashes(Honesty::Honest, |crash| {
            let first = CrashDisk::on(crash.image(seed));
            let what = || format!("seed {seed}, power cut after step {}", crash.at);
            check(&story, first.clone(), crash.at, &what);
            images.fetch_add(1, Ordering::Relaxed);
            // The recovery of some images is cut short too, after each of its own steps.
            if crash.at as u64 % AGAIN_EVERY != seed {
                return;
            }
            first.history().crashes(Honesty::Honest, |second| {
                let what = || format!("{}, and after step {} of the recovery", what(), second.at);
                check(&story, CrashDisk::on(second.image(seed + 1)), crash.at, &what);
                again.fetch_add(1, Ordering::Relaxed);
            });
        });
    });
    let (images, again) = (images.into_inner(), again.into_inner());
    let operations: usize = story.deeds.iter().map(|it| it.answered.len()).sum();
    println!("{images} images of {} steps, {again} images of recoveries;", story.history.len());
    println!("{operations} operations in {} commits", story.commits);
    assert!(images + again >= IMAGES_MIN, "{images} + {again} images");
    assert!(again >= AGAIN_MIN, "{again} images of recoveries");
    assert!(story.commits * 2 < operations as u64, "commits carry several operations");
}

#[test]
fn a_disk_that_lies_gives_an_older_state_or_is_refused_and_never_a_wrong_one() {
    let story = story(2);
    let outcomes = Mutex::new(BTreeMap::new());
    for_each_seed(2, |seed| {
        story.history.crashes(Honesty::OneIn(7), |crash| {
            if crash.at % LIES_EVERY != 0 {
                return;
            }
            let outcome =
                disk::quietly(|| match open(CrashDisk::on(crash.image(seed + 1)), Verify::Small) {
                    Opened::Sound(found) => {
                        let was = (0..=story.commits).any(|it| story.was(&found, it));
                        assert!(was, "seed {seed}, step {}: {found:#?}", crash.at);
                        "older"
                    }
                    Opened::Refused(Error::Unreadable { .. }) => "refused",
                    Opened::Refused(error) => panic!("seed {seed}, step {}: {error:?}", crash.at),
                });
            *outcomes.lock().unwrap().entry(outcome).or_insert(0) += 1;
        });
    });
    let outcomes = outcomes.into_inner().unwrap();
    println!("{outcomes:?}");
    assert!(outcomes.len() == 2, "both happen: {outcomes:?}");
}

/// Callers, each with an account of its own.
const CALLERS: u8 = 4;
/// Pairs of operations of each caller in each life of the store.
const PAIRS: usize = 8;
/// Ways in which each power cut leaves what was not synced.
const SEEDS: u64 = 5;
/// One image in so many has its recovery cut short.
const AGAIN_EVERY: u64 = 50;
/// Images that are checked at least.
const IMAGES_MIN: usize = 2_000;
/// Images of recoveries among them.
const AGAIN_MIN: usize = 200;
/// One power cut in so many is looked at on a disk that lies.
const LIES_EVERY: usize = 3;
