//! A house: a daemon on a disk in memory with a simulated clock, and what a test does with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use errand::agents::Agent;
use errand::app::{accounts, keys, upkeep};
use errand::config::Config;
use errand::daemon::{self, Daemon, World};
use errand::domain::account::{AccountId, KeyId, Rights};
use errand::domain::money::{Amount, Currency};
use errand::domain::time::Timestamp;
use errand::inbound::{Peer, Service};
use errand::outbound::Resolver;
use errand::outbound::fake::Internet;
use errand::store::{self, Txn};
use errand::sys::clock::Clock;
use errand::sys::entropy::Entropy;
use errand::sys::shutdown::Shutdown;
use serde_json::{Value, json};

use super::client::{Client, Door};
use super::disk::TestDisk;
use super::http::Reply;
use super::script::Script;
use super::upstream::Plan;

/// When every test begins: 2026-01-01T00:00:00 UTC.
pub const EPOCH: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// The kind of the scripted agent.
pub const KIND: &str = "script";
/// What one run of it costs.
pub const PRICE: &str = "0.02";
/// Where runs are.
pub const RUNS: &str = "/v1/agents/runs";

/// A daemon that can be asked, restarted and examined.
pub struct House {
    pub config: Config,
    pub clock: Clock,
    pub internet: Internet,
    /// What answers names at the next start; the internet unless a test says otherwise.
    pub resolver: Arc<dyn Resolver>,
    pub script: Script,
    /// What the next start offers beside the built-in kinds.
    pub agents: Vec<Arc<dyn Agent>>,
    pub entropy: Entropy,
    pub disk: TestDisk,
    daemon: Option<Daemon>,
    /// The key that [`House::ask`] shows.
    pub key: String,
    pub key_id: KeyId,
    pub account: AccountId,
}

impl House {
    /// A daemon with one account of 10 EUR and one key with every right.
    pub async fn new() -> Self {
        Self::with(1, |_| {}).await
    }

    /// The same with other settings and another seed.
    pub async fn with(seed: u64, change: impl FnOnce(&mut Config)) -> Self {
        Self::offering(seed, &[], change).await
    }

    /// The same with models beside the built-in ones.
    pub async fn offering(seed: u64, models: &[Plan], change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::dev(PathBuf::from("(memory)"));
        let price = Amount::parse(PRICE).unwrap();
        config.agents.prices.insert(KIND.to_owned(), price);
        config.agents.prices.insert("seo_audit".to_owned(), price);
        config.chat.discovers = false;
        config.chat.models = models.iter().map(Plan::settings).collect();
        config.queue.workers = 4;
        config.queue.account_workers = 4;
        change(&mut config);
        let script = Script::default();
        let internet = Internet::new();
        let mut house = Self {
            config,
            clock: Clock::simulated(EPOCH),
            resolver: Arc::new(internet.clone()),
            internet,
            agents: vec![Arc::new(script.clone())],
            script,
            entropy: Entropy::seeded(seed),
            disk: TestDisk::default(),
            daemon: None,
            key: String::new(),
            key_id: KeyId::from_bytes([0; 16]),
            account: AccountId::from_bytes([0; 16]),
        };
        house.start().await;
        let (account, key) = house.tenant("first", "10").await;
        let found = keys::list(house.daemon().app(), Some(account));
        (house.account, house.key, house.key_id) = (account, key, found[0].id);
        house
    }

    /// Starts the daemon on the disk as it is.
    pub async fn start(&mut self) {
        let world = World {
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            disk: Arc::new(self.disk.clone()),
            resolver: Arc::clone(&self.resolver),
            dialer: Arc::new(self.internet.clone()),
            agents: self.agents.clone(),
        };
        let started = Daemon::start(&self.config, world).await;
        self.daemon = Some(started.map_err(|it| it.to_string()).unwrap());
    }

    /// Stops the daemon as SIGTERM does.
    pub async fn stop(&mut self) {
        self.forget().unwrap().stop(Duration::from_secs(30)).await;
    }

    /// Stops and starts.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start().await;
    }

    /// Writes into the file of a house whose daemon is stopped.
    pub async fn write<T: Send + 'static>(
        &self,
        write: impl FnMut(&mut Txn<'_>) -> Result<T, store::Error> + Send + 'static,
    ) -> T {
        let world = World {
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            disk: Arc::new(self.disk.clone()),
            resolver: Arc::new(self.internet.clone()),
            dialer: Arc::new(self.internet.clone()),
            agents: Vec::new(),
        };
        let opened = daemon::open(&self.config, world, &Shutdown::new()).await;
        let opened = opened.map_err(|it| it.to_string()).unwrap();
        let written = opened.store.write(write).await.unwrap();
        opened.store.close();
        written
    }

    /// Lets go of the daemon, whatever it does.
    pub fn forget(&mut self) -> Option<Daemon> {
        self.daemon.take()
    }

    pub fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().unwrap()
    }

    /// Makes an account with a balance and a key with every right.
    pub async fn tenant(&self, name: &str, balance: &str) -> (AccountId, String) {
        self.tenant_in(name, balance, Currency::EUR).await
    }

    /// The same in another currency.
    pub async fn tenant_in(
        &self,
        name: &str,
        balance: &str,
        currency: Currency,
    ) -> (AccountId, String) {
        let app = self.daemon().app();
        let account = accounts::create(app, name, currency).await.unwrap();
        let balance = Amount::parse(balance).unwrap();
        if balance > Amount::ZERO {
            accounts::credit(app, account.id, balance, "test").await.unwrap();
        }
        (account.id, self.key_of(account.id, "models,agents", None).await.0)
    }

    /// Makes a key.
    pub async fn key_of(
        &self,
        account: AccountId,
        rights: &str,
        lifetime: Option<Duration>,
    ) -> (String, KeyId) {
        let rights = Rights::parse(rights).unwrap();
        let made = keys::create(self.daemon().app(), account, "key", rights, lifetime).await;
        let (key, record) = made.unwrap();
        (key.reveal().to_owned(), record.id)
    }

    /// A client of the public API with the house's key.
    pub fn client(&self) -> Client {
        let peer = Peer::Tcp([203, 0, 113, 9].into());
        self.client_of(self.daemon().api(), Door::Api, peer)
    }

    /// A client of the operator's API.
    pub fn admin(&self, peer: Peer) -> Client {
        self.client_of(self.daemon().admin(), Door::Admin, peer).with_key("")
    }

    /// A client of the page of counters.
    pub fn metrics(&self) -> Client {
        let peer = Peer::Tcp([127, 0, 0, 1].into());
        self.client_of(self.daemon().metrics_page(), Door::Metrics, peer).with_key("")
    }

    fn client_of(&self, service: Arc<dyn Service>, door: Door, peer: Peer) -> Client {
        Client { edge: self.daemon().edge().clone(), service, door, peer, key: self.key.clone() }
    }

    /// Sends a request with the house's key; a body makes it JSON.
    pub async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        self.client().ask(method, path, body).await
    }

    /// Sends a request with a key.
    pub async fn ask_as(&self, key: &str, method: &str, path: &str, body: Option<Value>) -> Reply {
        self.client().with_key(key).ask(method, path, body).await
    }

    /// Sends bytes on a connection of their own and reads the answer.
    pub async fn send(&self, bytes: &[u8]) -> Reply {
        self.client().send(bytes).await
    }

    /// Asks for a run of the scripted agent and gives its record.
    pub async fn run(&self, what: Value) -> Value {
        self.run_as(&self.key, what).await
    }

    /// The same with another key.
    pub async fn run_as(&self, key: &str, what: Value) -> Value {
        let body = json!({ "kind": KIND, "input": what });
        let reply = self.ask_as(key, "POST", RUNS, Some(body)).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.json()
    }

    /// The record of a run.
    pub async fn find(&self, run: &Value) -> Value {
        self.find_as(&self.key, run).await
    }

    /// The same with another key.
    pub async fn find_as(&self, key: &str, run: &Value) -> Value {
        self.ask_as(key, "GET", &path_of(run), None).await.json()
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

    /// Lets everything happen that can happen now: the paused clock moves when nothing else does.
    pub async fn settle(&self) {
        self.clock.sleep(Duration::from_millis(1)).await;
    }

    /// Balance, held and available, as the API says.
    pub async fn money(&self) -> (String, String, String) {
        self.money_of(&self.key).await
    }

    /// The same with another key.
    pub async fn money_of(&self, key: &str) -> (String, String, String) {
        let account = self.ask_as(key, "GET", "/v1/account", None).await.json();
        let text = |name: &str| account[name].as_str().unwrap().to_owned();
        (text("balance"), text("held"), text("available"))
    }

    /// Every invariant between the tables holds.
    pub async fn examine(&self) {
        let findings = upkeep::examine(self.daemon().app()).await.unwrap();
        assert!(findings.is_clean(), "{:#?}", findings.problems);
    }
}

/// Where a run is.
pub fn path_of(run: &Value) -> String {
    format!("{RUNS}/{}", run["id"].as_str().unwrap())
}
