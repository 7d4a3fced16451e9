//! A page of the history, with ten thousand and with a million runs behind it.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and stops at the first surprise"
)]

mod rig;

use std::sync::Arc;
use std::time::Duration;

use errand::app::runs::{self, NewRun};
use errand::domain::account::{Caller, Rights};
use errand::domain::id::Id;
use errand::domain::money::Currency;
use rig::{client, house};

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    rig::print_machine();
    println!("runs | page | p50 | p99");
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let house = house::start(dir.path(), |config| config.queue.workers = 0).await;
    let address = house.serve().await;
    let mut have = 0;
    for runs in [10_000, 1_000_000] {
        fill(&house, runs - have).await;
        have = runs;
        for (name, query) in [
            ("first 50", "?limit=50"),
            ("kind and status", "?limit=50&kind=nothing&status=pending"),
            ("empty status", "?limit=50&status=failed"),
            ("offset 5,000", "?limit=50&offset=5000"),
            ("before", "?limit=50&before=ffffffff-ffff-7fff-bfff-ffffffffffff"),
        ] {
            let request = house.request("GET", &format!("/v1/agents/runs{query}"), "");
            let figures = client::load(address, request, 1, Duration::from_secs(2)).await;
            let (p50, p99) = (figures.quantile(0.5), figures.quantile(0.99));
            println!("{runs:7} | {name:16} | {p50:9.1?} | {p99:9.1?}");
        }
    }
}

/// Accepts runs.
async fn fill(house: &house::House, mut left: usize) {
    let caller = Caller {
        account: house.account,
        key: Id::from_bytes([0; 16]),
        rights: Rights::NONE,
        currency: Currency::EUR,
        restrictions: Arc::default(),
    };
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
}
