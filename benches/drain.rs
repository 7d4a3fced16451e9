//! Draining the queue: runs that do nothing, from pending to paid, per second.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and stops at the first surprise"
)]

mod rig;

use std::sync::Arc;
use std::time::{Duration, Instant};

use errand::app::runs::{self, NewRun};
use errand::app::upkeep;
use errand::domain::account::{Caller, Rights};
use errand::domain::id::Id;
use errand::domain::money::Currency;
use rig::{house, median};

/// Runs that are queued before the clock starts.
const RUNS: usize = 50_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

#[expect(clippy::disallowed_methods, reason = "a bench measures the host")]
async fn run() {
    rig::print_machine();
    for workers in [2, 16, 256] {
        let mut rates = Vec::new();
        for _ in 0..3 {
            let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let runs = if workers == 2 { RUNS / 10 } else { RUNS };
            fill(dir.path(), runs).await;
            let start = Instant::now();
            let house = house::start(dir.path(), |config| {
                config.queue.workers = workers;
                config.queue.account_workers = u32::try_from(workers).unwrap();
            });
            let house = house.await;
            loop {
                let census = upkeep::census(house.daemon.app()).unwrap();
                if census.pending + census.running == 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            rates.push(runs as f64 / start.elapsed().as_secs_f64());
            house.daemon.stop(Duration::from_secs(5)).await;
        }
        let (least, most) = (
            rates.iter().copied().fold(f64::MAX, f64::min),
            rates.iter().copied().fold(0.0, f64::max),
        );
        println!("{workers:4} workers: {:7.0} runs/s ({least:.0}..{most:.0})", median(&rates));
    }
}

/// Queues runs in a daemon without workers.
async fn fill(dir: &std::path::Path, runs: usize) {
    let house = house::start(dir, |config| config.queue.workers = 0).await;
    let caller = Caller {
        account: house.account,
        key: Id::from_bytes([0; 16]),
        rights: Rights::NONE,
        currency: Currency::EUR,
        restrictions: Arc::default(),
    };
    let mut left = runs;
    while left > 0 {
        let some = left.min(500);
        left -= some;
        let asks: Vec<_> = (0..some)
            .map(|_| {
                let (app, caller) = (house.daemon.app().clone(), caller.clone());
                let new = NewRun {
                    kind: house::KIND.to_owned(),
                    input: serde_json::Map::new(),
                    external_id: None,
                };
                tokio::spawn(async move { runs::create(&app, &caller, new).await.unwrap() })
            })
            .collect();
        for ask in asks {
            ask.await.unwrap();
        }
    }
    house.daemon.stop(Duration::from_secs(5)).await;
}
