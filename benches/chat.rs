//! Chats through the daemon, with key, hold and durable charge, beside a direct call to the same
//! upstream and beside a bare relay that does one durable commit an answer.
//!
//! `cargo bench --bench chat -- streams` measures the streams alone.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and stops at the first surprise"
)]

mod rig;

use std::net::SocketAddr;
use std::time::Duration;

use errand::config::{ModelSettings, UpstreamSettings};
use errand::domain::chat::{Capabilities, ModelId, Price, Sizes, UpstreamStream};
use errand::domain::money::Amount;
use errand::models::Times;
use rig::client::Form;
use rig::upstream::Speech;
use rig::{client, house, median, relay, upstream};
use serde_json::json;

/// Turns of each side at each number of connections.
const ROUNDS: usize = 5;
/// Length of one turn.
const SPAN: Duration = Duration::from_secs(2);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    rig::print_machine();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let short = upstream::start(Speech::Short).await;
    let long = upstream::start(Speech::Long).await;
    let house = house::start(dir.path(), |config| {
        config.chat.models = vec![model("short", short), model("long", long)];
        config.limits.chats_in_flight = None;
    })
    .await;
    let ours = house.serve().await;
    let relayed = relay::start(dir.path(), short).await;
    let only_streams = std::env::args().any(|it| it == "streams");
    let answer_counts: &[usize] = if only_streams { &[] } else { &[1, 16, 64] };
    println!(
        "connections | direct/s | relay/s | errand/s | of relay (min..max) | p50 direct | relay \
         adds | errand adds | errand p99"
    );
    for connections in answer_counts {
        answers(&house, [short, relayed, ours], *connections).await;
    }
    println!("connections | streams of 200 chunks: direct/s | errand/s | ratio (min..max)");
    for connections in [1, 16] {
        streams(&house, [long, ours], connections).await;
    }
}

/// Whole answers from each side.
async fn answers(house: &house::House, sides: [SocketAddr; 3], connections: usize) {
    let request = house.request("POST", "/v1/chat/completions", &body("short", false));
    let (mut rates, mut p50, mut p99, mut ratios) =
        ([const { Vec::new() }; 3], [const { Vec::new() }; 3], Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut of_round = [0.0; 3];
        for (side, to) in sides.into_iter().enumerate() {
            let figures = client::load(to, request.clone(), connections, SPAN).await;
            of_round[side] = figures.rate;
            rates[side].push(figures.rate);
            p50[side].push(figures.quantile(0.5).as_secs_f64() * 1e6);
            if side == 2 {
                p99.push(figures.quantile(0.99).as_secs_f64() * 1e6);
            }
        }
        ratios.push(of_round[2] / of_round[1]);
    }
    let [direct, relay, errand] = rates.map(|it| median(&it));
    let [base, by_relay, by_errand] = p50.map(|it| median(&it));
    let (least, most) = range(&ratios);
    println!(
        "{connections:11} | {direct:8.0} | {relay:7.0} | {errand:8.0} | {:.2} ({least:.2}..{most:.2}) \
         | {base:7.0} us | {:8.0} us | {:8.0} us | {:7.0} us",
        median(&ratios),
        by_relay - base,
        by_errand - base,
        median(&p99),
    );
}

/// Streams from the upstream and from the daemon.
async fn streams(house: &house::House, sides: [SocketAddr; 2], connections: usize) {
    let request = house.request("POST", "/v1/chat/completions", &body("long", true));
    let (mut direct, mut errand, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let [below, above] = sides;
        let form = Form::Chunks;
        let below = client::load_of(form, below, request.clone(), connections, SPAN).await.rate;
        let above = client::load_of(form, above, request.clone(), connections, SPAN).await.rate;
        direct.push(below);
        errand.push(above);
        ratios.push(above / below);
    }
    let (least, most) = range(&ratios);
    println!(
        "{connections:11} | {:31.0} | {:8.0} | {:.2} ({least:.2}..{most:.2})",
        median(&direct),
        median(&errand),
        median(&ratios),
    );
}

fn range(numbers: &[f64]) -> (f64, f64) {
    let least = numbers.iter().copied().fold(f64::MAX, f64::min);
    (least, numbers.iter().copied().fold(0.0, f64::max))
}

fn body(model: &str, streams: bool) -> String {
    let question = "What is there to see in a small town on a rainy afternoon?";
    let messages = json!([{ "role": "user", "content": question }]);
    json!({ "model": model, "messages": messages, "stream": streams, "max_tokens": 100 })
        .to_string()
}

fn model(name: &str, upstream: SocketAddr) -> ModelSettings {
    let millionth = Amount::parse("1").unwrap();
    ModelSettings {
        id: ModelId::parse(name).unwrap(),
        name: name.to_owned(),
        owned_by: "bench".to_owned(),
        price: Price::new(millionth, millionth, Amount::ZERO).unwrap(),
        sizes: Sizes::new(8_192, 4_096, 1_024).unwrap(),
        capabilities: Capabilities::default(),
        times: Times::default(),
        upstreams: vec![UpstreamSettings {
            base_url: format!("http://{upstream}/v1").parse().unwrap(),
            model: name.to_owned(),
            key_file: None,
            stream: UpstreamStream::Ask,
        }],
    }
}
