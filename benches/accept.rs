//! Durable accept over HTTP: `POST /v1/agents/runs` against bare hyper with one durable record.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and stops at the first surprise"
)]

mod rig;

use std::time::Duration;

use rig::{client, floor, house, median};

/// Turns of each side at each number of connections.
const ROUNDS: usize = 5;
/// Length of one turn.
const SPAN: Duration = Duration::from_secs(3);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    rig::print_machine();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let house = house::start(dir.path(), |config| config.queue.workers = 0).await;
    let ours = house.serve().await;
    let body = r#"{"kind":"nothing","input":{"url":"https://example.org/a/page"}}"#;
    let request = house.request("POST", "/v1/agents/runs", body);
    let answer = client::answer_bytes(ours, &request).await;
    let theirs = floor::start(dir.path(), answer).await;
    println!(
        "connections | floor/s | errand/s | ratio (min..max) | floor p50 | errand p50 | errand p99"
    );
    for connections in connections() {
        let (mut rates, mut floors, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let (mut p50, mut floor_p50, mut p99) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let below = client::load(theirs, request.clone(), connections, SPAN).await;
            let above = client::load(ours, request.clone(), connections, SPAN).await;
            ratios.push(above.rate / below.rate);
            floors.push(below.rate);
            rates.push(above.rate);
            floor_p50.push(below.quantile(0.5).as_secs_f64() * 1e6);
            p50.push(above.quantile(0.5).as_secs_f64() * 1e6);
            p99.push(above.quantile(0.99).as_secs_f64() * 1e6);
        }
        let least = ratios.iter().copied().fold(f64::MAX, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        println!(
            "{connections:11} | {:7.0} | {:8.0} | {:.2} ({least:.2}..{most:.2}) | {:6.0} us | {:7.0} us | {:7.0} us",
            median(&floors),
            median(&rates),
            median(&ratios),
            median(&floor_p50),
            median(&p50),
            median(&p99),
        );
    }
}

/// The numbers of connections: those on the command line, or the usual ones.
fn connections() -> Vec<usize> {
    let named: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    if named.is_empty() { vec![1, 16, 64, 256] } else { named }
}
