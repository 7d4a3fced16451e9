//! A house: a daemon on a memory disk with a simulated clock, and what a test does with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use errand::app::{accounts, keys, upkeep};
use errand::config::Config;
use errand::daemon::{Daemon, World};
use errand::domain::account::{AccountId, KeyId, Rights};
use errand::domain::money::{Amount, Currency};
use errand::domain::time::Timestamp;
use errand::inbound::{self, Peer};
use errand::outbound::fake::Internet;
use errand::store::MemoryDisk;
use errand::sys::clock::Clock;
use errand::sys::entropy::Entropy;
use serde_json::{Value, json};

use super::http::{self, Reply};
use super::script::Script;

/// When every test begins: 2026-01-01T00:00:00 UTC.
pub const EPOCH: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// The kind of the scripted agent.
pub const KIND: &str = "script";
/// What one run of it costs.
pub const PRICE: &str = "0.02";

/// A daemon that can be asked, restarted and examined.
pub struct House {
    pub config: Config,
    pub clock: Clock,
    pub internet: Internet,
    pub script: Script,
    pub entropy: Entropy,
    pub disk: MemoryDisk,
    daemon: Option<Daemon>,
    /// The key that [`House::ask`] shows.
    pub key: String,
    pub key_id: Option<KeyId>,
    pub account: Option<AccountId>,
}

impl House {
    /// A daemon with one account of 10 EUR and one key with every right.
    pub async fn new() -> Self {
        Self::with(1, |_| {}).await
    }

    /// The same with other settings and another seed.
    pub async fn with(seed: u64, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::dev(PathBuf::from("(memory)"));
        let price = Amount::parse(PRICE).unwrap();
        config.agents.prices.insert(KIND.to_owned(), price);
        config.agents.prices.insert("seo_audit".to_owned(), price);
        config.queue.workers = 4;
        config.queue.account_workers = 4;
        change(&mut config);
        let mut house = Self {
            config,
            clock: Clock::simulated(EPOCH),
            internet: Internet::new(),
            script: Script::default(),
            entropy: Entropy::seeded(seed),
            disk: MemoryDisk::default(),
            daemon: None,
            key: String::new(),
            key_id: None,
            account: None,
        };
        house.start().await;
        let (account, key) = house.tenant("first", "10").await;
        (house.account, house.key) = (Some(account), key);
        house
    }

    /// Starts the daemon on the disk as it is.
    pub async fn start(&mut self) {
        let world = World {
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            disk: Arc::new(self.disk.clone()),
            resolver: Arc::new(self.internet.clone()),
            dialer: Arc::new(self.internet.clone()),
            agents: vec![Arc::new(self.script.clone())],
        };
        let started = Daemon::start(&self.config, world).await;
        self.daemon = Some(started.map_err(|it| it.to_string()).unwrap());
    }

    /// Stops the daemon as SIGTERM does.
    pub async fn stop(&mut self) {
        let daemon = self.daemon.take().unwrap();
        daemon.stop(Duration::from_secs(30)).await;
    }

    /// Stops and starts.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start().await;
    }

    pub fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().unwrap()
    }

    /// Makes an account with a balance and a key with every right.
    pub async fn tenant(&self, name: &str, balance: &str) -> (AccountId, String) {
        let app = self.daemon().app();
        let account = accounts::create(app, name, Currency::EUR).await.unwrap();
        let balance = Amount::parse(balance).unwrap();
        if balance > Amount::ZERO {
            accounts::credit(app, account.id, balance, "test").await.unwrap();
        }
        (account.id, self.key_of(account.id, "models,agents").await)
    }

    /// Makes a key.
    pub async fn key_of(&self, account: AccountId, rights: &str) -> String {
        let rights = Rights::parse(rights).unwrap();
        let made = keys::create(self.daemon().app(), account, "key", rights, None).await;
        made.unwrap().0.reveal().to_owned()
    }

    /// Sends a request with the house's key; a body makes it JSON.
    pub async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        self.ask_as(&self.key, method, path, body).await
    }

    /// Sends a request with a key.
    pub async fn ask_as(&self, key: &str, method: &str, path: &str, body: Option<Value>) -> Reply {
        let body = body.map(|it| it.to_string()).unwrap_or_default();
        let text = http::request(method, path, key, &body);
        self.send(text.as_bytes()).await
    }

    /// Sends bytes on a connection of their own and reads the answer.
    pub async fn send(&self, bytes: &[u8]) -> Reply {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let daemon = self.daemon();
        let (edge, api) = (daemon.edge().clone(), daemon.api());
        let peer = Peer::Tcp([203, 0, 113, 9].into());
        let server =
            tokio::spawn(async move { inbound::serve_connection(&edge, far, peer, api).await });
        let reply = http::exchange(near, bytes).await;
        server.abort();
        reply
    }

    /// Asks for a run of the scripted agent and gives its record.
    pub async fn run(&self, what: Value) -> Value {
        let body = json!({ "kind": KIND, "input": what });
        let reply = self.ask("POST", "/v1/agents/runs", Some(body)).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.json()
    }

    /// The record of a run.
    pub async fn find(&self, run: &Value) -> Value {
        let path = format!("/v1/agents/runs/{}", run["id"].as_str().unwrap());
        self.ask("GET", &path, None).await.json()
    }

    /// Waits until a run is over, at most an hour of simulated time.
    pub async fn over(&self, run: &Value) -> Value {
        for _ in 0..36_000 {
            let found = self.find(run).await;
            if !found["finished_at"].is_null() {
                return found;
            }
            self.clock.sleep(Duration::from_millis(100)).await;
        }
        panic!("the run is not over after an hour: {run}");
    }

    /// Balance, held and available, as the API says.
    pub async fn money(&self) -> (String, String, String) {
        let account = self.ask("GET", "/v1/account", None).await.json();
        let text = |name: &str| account[name].as_str().unwrap().to_owned();
        (text("balance"), text("held"), text("available"))
    }

    /// Every invariant between the tables holds.
    pub async fn examine(&self) {
        let findings = upkeep::examine(self.daemon().app()).await.unwrap();
        assert!(findings.is_clean(), "{:#?}", findings.problems);
    }
}
