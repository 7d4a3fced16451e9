//! Every setting, stub.
use crate::app::limiter::Rates;
use crate::domain::address::Network;
use crate::domain::money::{Amount, Currency};
use crate::inbound;
use crate::outbound::Ports;
use crate::store::Verify;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
/// m
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// s
    Serve,
    /// d
    Dev,
}
impl Mode {
    /// w
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::Dev => "dev",
        }
    }
}
/// c
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Config {
    pub mode: Mode,
    pub data: Data,
    pub http: Http,
    pub metrics: Option<SocketAddr>,
    pub limits: Limits,
    pub queue: Queue,
    pub runs: Runs,
    pub billing: Billing,
    pub agents: Agents,
    pub outbound: Outbound,
}
/// d
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Data {
    pub dir: PathBuf,
    pub cache_bytes: usize,
    pub verify: Verify,
    pub name: String,
}
/// d
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Http {
    pub listen: Vec<SocketAddr>,
    pub edge: inbound::Config,
}
/// d
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Limits {
    pub rates: Rates,
    pub pending_runs: Option<u32>,
}
/// d
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Queue {
    pub workers: usize,
    pub account_workers: u32,
    pub shutdown_grace: Duration,
}
/// d
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Runs {
    pub retention: Option<Duration>,
}
/// d
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Billing {
    pub currency: Currency,
    pub rates: BTreeMap<Currency, Amount>,
}
/// d
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Agents {
    pub prices: BTreeMap<String, Amount>,
    pub user_agent: String,
    pub politeness: Duration,
}
/// d
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "stub")]
pub struct Outbound {
    pub extra_roots: Option<PathBuf>,
    pub allow: Vec<Network>,
    pub deny: Vec<Network>,
    pub ports: Ports,
}
impl Config {
    /// d
    #[must_use]
    pub fn dev(dir: PathBuf) -> Self {
        Self {
            mode: Mode::Dev,
            data: Data { dir, cache_bytes: 16 << 20, verify: Verify::Small, name: "dev".into() },
            http: Http { listen: vec![], edge: inbound::Config::default() },
            metrics: None,
            limits: Limits {
                rates: Rates { key: None, account: None, strangers: None },
                pending_runs: Some(1000),
            },
            queue: Queue {
                workers: 2,
                account_workers: 1,
                shutdown_grace: Duration::from_secs(30),
            },
            runs: Runs { retention: None },
            billing: Billing { currency: Currency::EUR, rates: BTreeMap::new() },
            agents: Agents {
                prices: BTreeMap::new(),
                user_agent: "Errand".into(),
                politeness: Duration::ZERO,
            },
            outbound: Outbound {
                extra_roots: None,
                allow: vec![],
                deny: vec![],
                ports: Ports::Any,
            },
        }
    }
}
