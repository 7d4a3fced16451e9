//! Schedules: how long many slots of one minute take until the last run is queued, and what
//! schedules cost that are not due.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and stops at the first surprise"
)]

mod rig;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use errand::domain::decided::Decided;
use errand::domain::id::Id;
use errand::domain::money::Amount;
use errand::domain::schedule::{Counts, MissedSlots, Overlap, Repeat, Schedule};
use errand::domain::time::Timestamp;
use errand::store::{self, FileDisk, Options, Store, Verify, ledger, schedules};
use errand::sys::clock::Clock;
use rig::{house, median};

/// Schedules that are put into the file with one commit.
const CHUNK: usize = 5_000;
/// How long idle schedules are watched.
const WATCH: Duration = Duration::from_secs(20);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    rig::print_machine();
    for count in [10_000, 100_000] {
        let mut times = Vec::new();
        for _ in 0..3 {
            times.push(due(count).await.as_secs_f64());
        }
        let (least, most) = (
            times.iter().copied().fold(f64::MAX, f64::min),
            times.iter().copied().fold(0.0, f64::max),
        );
        println!(
            "{count:7} slots of one minute: the last run is queued after {:.2} s ({least:.2}..{most:.2})",
            median(&times)
        );
    }
    for count in [0, 1_000_000] {
        let cost = idle(count).await;
        println!("{count:7} schedules that are not due: {cost:.2} % of a processor");
    }
}

/// The time from the start of a daemon, for which so many slots are due, to the last run.
#[expect(clippy::disallowed_methods, reason = "a bench measures the host")]
async fn due(count: usize) -> Duration {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let now = Clock::host().now();
    let minute = Timestamp::from_millis(now.millis() - now.millis().rem_euclid(60_000));
    fill(dir.path(), count, minute, &cron_of(minute)).await;
    let start = Instant::now();
    let house = house::start(dir.path(), |config| config.queue.workers = 0).await;
    let fired = || house.daemon.app().metrics().slots[0].value();
    while fired() < count as u64 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let took = start.elapsed();
    house.daemon.stop(Duration::from_secs(5)).await;
    took
}

/// What a daemon uses of a processor that has so many schedules, in percent.
#[expect(clippy::disallowed_methods, reason = "a bench measures the host")]
async fn idle(count: usize) -> f64 {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let later = Clock::host().now().after(Duration::from_hours(24 * 300));
    let slot = Timestamp::from_millis(later.millis() - later.millis().rem_euclid(60_000));
    fill(dir.path(), count, slot, &cron_of(slot)).await;
    let house = house::start(dir.path(), |config| config.queue.workers = 0).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = processor_time();
    tokio::time::sleep(WATCH).await;
    let used = processor_time() - before;
    house.daemon.stop(Duration::from_secs(5)).await;
    used / WATCH.as_secs_f64() * 100.0
}

/// Once a year, at this minute.
fn cron_of(slot: Timestamp) -> String {
    let text = slot.to_string();
    let number = |from: usize| text[from..from + 2].parse::<u32>().unwrap();
    format!("{} {} {} {} *", number(14), number(11), number(8), number(5))
}

/// Puts schedules of ten accounts into a new file, without a daemon.
async fn fill(dir: &Path, count: usize, slot: Timestamp, cron: &str) {
    let options = Options {
        cache_bytes: 64 * 1024 * 1024,
        verify: Verify::Never,
        instance: Id::from_bytes([7; 16]),
        name: "bench".into(),
        now: slot,
    };
    let disk = Arc::new(FileDisk::new(dir.join("errand.redb")));
    let store = Store::open(disk, &options, Clock::host(), Arc::default()).unwrap();
    store.write(open_accounts).await.unwrap();
    let all: Vec<usize> = (0..count).collect();
    for some in all.chunks(CHUNK) {
        let (some, cron) = (some.to_vec(), cron.to_owned());
        let write = store.write(move |txn| {
            for number in &some {
                schedules::put(txn, None, &schedule(*number, slot, &cron))?;
            }
            Ok::<_, store::Error>(())
        });
        write.await.unwrap();
    }
    store.close();
}

fn open_accounts(txn: &mut store::Txn<'_>) -> Result<(), store::Error> {
    for account in 0..10 {
        let (id, at) = (Id::from_bytes([account; 16]), Timestamp::EPOCH);
        let name = format!("account {account}");
        let currency = errand::domain::money::Currency::EUR;
        let account = errand::domain::account::Account { id, name, currency, created_at: at };
        store::accounts::insert(txn, &account)?;
        let balance = ledger::find_in(txn, id)?.balance;
        let line = ledger::Line {
            at,
            kind: errand::domain::ledger::EntryKind::Credit,
            reference: None,
            key: None,
            note: String::new(),
            usage: None,
        };
        let rich = balance.credit(Amount::from_nanos(1_000_000_000_000))?;
        ledger::append(txn, id, rich, 0, &line)?;
    }
    Ok(())
}

fn schedule(number: usize, slot: Timestamp, cron: &str) -> Schedule {
    let mut id = [0x55; 16];
    id[8..].copy_from_slice(&(number as u64).to_be_bytes());
    Schedule {
        id: Id::from_bytes(id),
        account: Id::from_bytes([u8::try_from(number % 10).unwrap(); 16]),
        key: None,
        kind: house::KIND.to_owned(),
        input: r#"{"url":"https://example.org/"}"#.to_owned(),
        cron: cron.to_owned(),
        channels: Vec::new(),
        repeat: Repeat::Always,
        overlap: Overlap::Skip,
        missed: MissedSlots::FireOnce,
        stopped: None,
        next_run_at: Some(slot),
        decided: Decided::default(),
        counts: Counts::default(),
        last_run: None,
        last_skip: None,
        created_at: Timestamp::EPOCH,
        updated_at: Timestamp::EPOCH,
    }
}

/// Seconds of processors that this process has used.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    // Linux counts a hundred ticks a second on every machine that this runs on.
    ticks / 100.0
}
