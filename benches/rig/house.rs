//! A daemon on a real file, with an agent that does nothing.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use errand::agents::{Agent, Bench, Entry, InputError, Task};
use errand::app::{accounts, keys};
use errand::config::Config;
use errand::daemon::{Daemon, World};
use errand::domain::account::{AccountId, Rights};
use errand::domain::money::{Amount, Currency};
use errand::domain::outcome::{Outcome, Report, Work};
use errand::inbound::{self, Peer};
use errand::outbound::BoxFuture;
use errand::store::FileDisk;
use errand::sys::clock::Clock;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

/// The kind of the agent that does nothing.
pub const KIND: &str = "nothing";

/// A daemon with one account and one key.
pub struct House {
    pub daemon: Daemon,
    pub account: AccountId,
    pub key: String,
}

/// Starts a daemon in `dir`.
pub async fn start(dir: &Path, change: impl FnOnce(&mut Config)) -> House {
    start_at(dir, None, change).await
}

/// The same with a clock of its own.
pub async fn start_at(dir: &Path, clock: Option<Clock>, change: impl FnOnce(&mut Config)) -> House {
    let mut config = Config::dev(dir.to_owned());
    config.agents.prices.insert(KIND.to_owned(), Amount::from_nanos(1));
    config.limits.pending_runs = None;
    config.chat.discovers = false;
    change(&mut config);
    let mut world = World::host(Arc::new(FileDisk::new(dir.join("errand.redb"))));
    world.clock = clock.unwrap_or(world.clock);
    world.agents.push(Arc::new(Nothing::default()));
    let daemon = Daemon::start(&config, world).await.unwrap();
    let app = daemon.app();
    let account = accounts::create(app, "bench", Currency::EUR).await.unwrap().id;
    accounts::credit(app, account, Amount::parse("1000").unwrap(), "").await.unwrap();
    let rights = Rights::parse("agents,models").unwrap();
    let (key, _) = keys::create(app, account, "bench", rights, None).await.unwrap();
    House { account, key: key.reveal().to_owned(), daemon }
}

impl House {
    /// Serves the API on a loopback port; as the listener does it, without its caps.
    pub async fn serve(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (edge, api) = (self.daemon.edge().clone(), self.daemon.api());
        tokio::spawn(async move {
            loop {
                let (stream, peer) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                let (edge, api) = (edge.clone(), Arc::clone(&api));
                tokio::spawn(async move {
                    inbound::serve_connection(&edge, stream, Peer::Tcp(peer.ip()), api).await;
                });
            }
        });
        address
    }

    /// The text of a request with the key.
    pub fn request(&self, method: &str, path: &str, body: &str) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        )
    }
}

/// An agent that does nothing.
struct Nothing(Entry);

impl Default for Nothing {
    fn default() -> Self {
        Self(Entry {
            kind: KIND.to_owned(),
            name: "Nothing".to_owned(),
            description: "Does nothing.".to_owned(),
            schedulable: true,
            timeout: Duration::from_secs(60),
            input_schema: json!({ "type": "object" }),
        })
    }
}

impl Agent for Nothing {
    fn entry(&self) -> &Entry {
        &self.0
    }

    fn accept(&self, input: &Map<String, Value>) -> Result<String, InputError> {
        Ok(serde_json::to_string(input).unwrap())
    }

    fn run<'a>(&'a self, _: &'a Task, _: &'a Bench) -> BoxFuture<'a, Work> {
        let report = Report { output: "Nothing was done.".to_owned(), result: None };
        Box::pin(std::future::ready(Work::from(Outcome::Succeeded(report))))
    }
}
