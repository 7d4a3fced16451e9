//! Delivering events: from the moment they are due until the last one is answered, per second.
//!
//! The floor is bare hyper that posts the same bodies, as many at the same time, each on a
//! connection of its own, and keeps nothing.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    reason = "a bench prints, and stops at the first surprise"
)]

mod rig;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use errand::app::receivers::{self, Secret};
use errand::app::runs::{self, NewRun};
use errand::app::{accounts, upkeep};
use errand::domain::account::{AccountId, Caller, Rights};
use errand::domain::id::Id;
use errand::domain::money::{Amount, Currency};
use errand::domain::retry::FirstAttempt;
use errand::domain::time::Timestamp;
use errand::sys::clock::Clock;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use rig::receiver::{Receiver, Speech};
use rig::{house, median, receiver};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Who is told how much.
#[derive(Clone, Copy)]
struct Load {
    accounts: usize,
    /// Receivers of each account.
    receivers: usize,
    /// Runs of each account; each is told to every receiver of it.
    runs: usize,
    /// Requests that are under way at the same time.
    at_once: usize,
}

/// One receiver takes at most four at the same time; so does its floor.
const ONE: Load = Load { accounts: 1, receivers: 1, runs: 8_000, at_once: 4 };
/// A thousand receivers of ten accounts.
const MANY: Load = Load { accounts: 10, receivers: 100, runs: 20, at_once: 512 };
/// Rounds of each, in turns with the floor.
const ROUNDS: usize = 3;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    rig::print_machine();
    for speech in [Speech::Plain, Speech::Tls] {
        for (name, load) in [("one receiver", ONE), ("1,000 receivers", MANY)] {
            let (mut floors, mut rates, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                let floor = floor(load, speech).await;
                let rate = deliver(load, speech).await;
                floors.push(floor);
                rates.push(rate);
                ratios.push(rate / floor);
            }
            let (least, most) = (
                ratios.iter().copied().fold(f64::MAX, f64::min),
                ratios.iter().copied().fold(0.0, f64::max),
            );
            println!(
                "{speech:?}, {name}: floor {:6.0}/s, errand {:6.0}/s, ratio {:.2} \
                 ({least:.2}..{most:.2}), {} MB resident",
                median(&floors),
                median(&rates),
                median(&ratios),
                resident_mb(),
            );
        }
    }
}

/// Events a second that a daemon delivers.
async fn deliver(load: Load, speech: Speech) -> f64 {
    let receiver = receiver::start(speech).await;
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let roots = receiver.pem.as_ref().map(|pem| {
        let path = dir.path().join("roots.pem");
        std::fs::write(&path, pem).unwrap();
        path
    });
    // All that is made before the next full minute is due then, and not sooner.
    let clock = Clock::simulated(shortly_before_a_minute());
    let house = house::start_at(dir.path(), Some(clock), |config| {
        config.webhooks.rules.first_attempt = FirstAttempt::Tick;
        config.webhooks.rules.receivers = 100;
        config.outbound.extra_roots.clone_from(&roots);
        config.queue.workers = 256;
        config.queue.account_workers = 256;
        "off".clone_into(&mut config.log.filter);
    });
    let house = house.await;
    let scheme = if speech == Speech::Tls { "https" } else { "http" };
    for number in 0..load.accounts {
        let app = house.daemon.app();
        let account = accounts::create(app, "bench", Currency::EUR).await.unwrap().id;
        accounts::credit(app, account, Amount::parse("1000").unwrap(), "").await.unwrap();
        for path in 0..load.receivers {
            let url = format!("{scheme}://{}/{number}/{path}", receiver.address);
            receivers::connect(app, &caller(account), &url, Secret::Fresh).await.unwrap();
        }
        fill(&house, account, load.runs).await;
    }
    while upkeep::census(house.daemon.app()).unwrap().pending > 0 {
        pause(5).await;
    }
    let wanted = load.accounts * load.receivers * load.runs;
    assert_eq!(receiver.count(), 0, "the minute was too short");
    while receiver.count() < wanted {
        pause(2).await;
    }
    let rate = rate(wanted, receiver.first().unwrap());
    house.daemon.stop(Duration::from_secs(10)).await;
    rate
}

/// Posts a second that bare hyper makes.
async fn floor(load: Load, speech: Speech) -> f64 {
    let receiver = receiver::start(speech).await;
    let wanted = load.accounts * load.receivers * load.runs;
    let left = Arc::new(AtomicUsize::new(wanted));
    let body = Bytes::from(vec![b'x'; BODY_BYTES]);
    let tasks: Vec<_> = (0..load.at_once)
        .map(|_| {
            let (receiver, left, body) = (receiver.clone(), Arc::clone(&left), body.clone());
            tokio::spawn(async move {
                while take(&left) {
                    post(&receiver, body.clone()).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    rate(wanted, receiver.first().unwrap())
}

fn take(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |it| it.checked_sub(1)).is_ok()
}

#[expect(clippy::disallowed_methods, reason = "the floor goes its own way")]
async fn post(receiver: &Receiver, body: Bytes) {
    let stream = TcpStream::connect(receiver.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    match &receiver.trust {
        None => exchange(stream, body).await,
        Some(trust) => {
            let name = ServerName::try_from("127.0.0.1").unwrap();
            let connector = TlsConnector::from(Arc::clone(trust));
            exchange(connector.connect(name, stream).await.unwrap(), body).await;
        }
    }
}

async fn exchange(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, body: Bytes) {
    let http = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = http.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::post("/").header("host", "localhost").header("connection", "close");
    let answer = sender.send_request(request.body(Full::new(body)).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 204);
    answer.into_body().collect().await.unwrap();
    let _ = connection.await;
}

async fn fill(house: &house::House, account: AccountId, runs: usize) {
    let mut left = runs;
    while left > 0 {
        let some = left.min(500);
        left -= some;
        let asks: Vec<_> = (0..some)
            .map(|_| {
                let app = house.daemon.app().clone();
                let new = NewRun {
                    kind: house::KIND.to_owned(),
                    input: serde_json::Map::new(),
                    external_id: None,
                };
                let caller = caller(account);
                tokio::spawn(async move { runs::create(&app, &caller, new).await.unwrap() })
            })
            .collect();
        for ask in asks {
            ask.await.unwrap();
        }
    }
}

fn caller(account: AccountId) -> Caller {
    let key = Id::from_bytes([0; 16]);
    Caller {
        account,
        key,
        rights: Rights::NONE,
        currency: Currency::EUR,
        restrictions: Arc::default(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures the host")]
fn rate(count: usize, since: Instant) -> f64 {
    count as f64 / Instant::now().duration_since(since).as_secs_f64()
}

/// A time of today, so long before a full minute that everything can be made until then.
fn shortly_before_a_minute() -> Timestamp {
    Clock::host().now().next_minute().before(FILL_MAX)
}

#[expect(clippy::disallowed_methods, reason = "a bench measures the host")]
async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// Memory of this process, client, receiver and daemon together.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    let kb: u64 = line.and_then(|it| it.trim().split(' ').next()?.parse().ok()).unwrap_or(0);
    kb / 1024
}

/// As large as the body of an event of a run without much of an output.
const BODY_BYTES: usize = 330;
/// Time for making all that is delivered.
const FILL_MAX: Duration = Duration::from_secs(8);
