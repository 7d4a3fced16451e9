//! What the settings come to: one struct for each room, and all of them together.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::app;
use crate::app::limiter::Rates;
use crate::config::models::ModelSettings;
use crate::delivery::StandardHeaders;
use crate::domain::address::Network;
use crate::domain::money::{Amount, Currency};
use crate::domain::retry::Pauses;
use crate::inbound::{self, TlsFiles};
use crate::models::{Label, UpstreamTexts};
use crate::outbound::Ports;
use crate::store::Verify;
use crate::sys::telemetry::Format;

/// The sum of every room's settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// What the daemon is run for.
    pub mode: Mode,
    /// The data directory and the file in it.
    pub data: Data,
    /// The public listeners.
    pub http: Http,
    /// Where the counters are shown; nowhere when `None`.
    pub metrics: Option<SocketAddr>,
    /// Log output.
    pub log: Log,
    /// What callers may ask for.
    pub limits: Limits,
    /// The workers.
    pub queue: Queue,
    /// What becomes of runs.
    pub runs: Runs,
    /// Money.
    pub billing: Billing,
    /// What the agents do and cost.
    pub agents: Agents,
    /// Schedules.
    pub schedules: Schedules,
    /// Receivers and deliveries.
    pub webhooks: Webhooks,
    /// Text models.
    pub chat: Chat,
    /// What may be reached.
    pub outbound: Outbound,
}

/// What the daemon is run for; decides some of the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// For customers.
    Serve,
    /// For a developer, on a machine of their own.
    Dev,
}

/// The data directory and the file in it.
#[derive(Clone, Debug)]
pub struct Data {
    /// The directory, absolute.
    pub dir: PathBuf,
    /// Bytes of pages that are kept in memory.
    pub cache_bytes: usize,
    /// When a file that was closed properly is checked.
    pub verify: Verify,
    /// The name that a new file gives to the instance.
    pub name: String,
    /// The file of the master key; beside the data when `None`.
    pub master_key_file: Option<PathBuf>,
}

/// The public listeners.
#[derive(Clone, Debug)]
pub struct Http {
    /// Where to listen; at least one.
    pub listen: Vec<SocketAddr>,
    /// Deadlines and caps of their connections.
    pub edge: inbound::Config,
    /// Certificate and key, when they speak TLS.
    pub tls: Option<TlsFiles>,
}

/// Log output.
#[derive(Clone, Debug)]
pub struct Log {
    /// What is let through, such as `info` or `info,errand=debug`.
    pub filter: String,
    /// How lines look.
    pub format: Format,
}

/// What callers may ask for.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How often.
    pub rates: Rates,
    /// Runs of one account that may wait or run; any number when `None`.
    pub pending_runs: Option<u32>,
    /// Chats of one key at the same time.
    pub chats_in_flight: Option<u32>,
}

/// The workers.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// Runs that are executed at the same time; with zero, work is accepted and waits.
    pub workers: usize,
    /// Runs of one account that are executed at the same time; at least one.
    pub account_workers: u32,
    /// Time for runs under way to end when the daemon stops.
    pub shutdown_grace: Duration,
}

/// What becomes of runs.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// How long a run is kept after it was accepted; for ever when `None`.
    pub retention: Option<Duration>,
}

/// Money.
#[derive(Clone, Debug)]
pub struct Billing {
    /// The currency that prices are written in.
    pub currency: Currency,
    /// Units of another currency for one unit of it.
    pub rates: BTreeMap<Currency, Amount>,
}

/// What the agents do and cost.
#[derive(Clone, Debug)]
pub struct Agents {
    /// The price of one run, by kind.
    pub prices: BTreeMap<String, Amount>,
    /// Which model adds its words to reports; none when `None`.
    pub narrative_model: Option<String>,
    /// What agents call themselves.
    pub user_agent: String,
    /// The shortest time between two requests to one host.
    pub politeness: Duration,
    /// The pause before a change is looked at a second time.
    pub confirm_pause: Duration,
}

/// Schedules.
#[derive(Clone, Copy, Debug)]
pub struct Schedules {
    /// Whether they fire.
    pub is_on: bool,
    /// What an operator decides about them.
    pub rules: app::schedules::Rules,
}

/// Receivers and deliveries.
#[derive(Clone, Copy, Debug)]
pub struct Webhooks {
    /// What an operator decides about them.
    pub rules: app::Webhooks,
    /// Whether the headers of Standard Webhooks go along.
    pub standard: StandardHeaders,
}

/// Text models.
#[derive(Clone, Debug, Default)]
pub struct Chat {
    /// Those of the settings file.
    pub models: Vec<ModelSettings>,
    /// Whether the models that need no network are offered.
    pub offers_offline: bool,
    /// Whether their answers say what they are.
    pub label: Label,
    /// Whether the models of servers on this host are looked for at the start, and offered.
    pub discovers: bool,
    /// Whether callers see why an upstream refuses a request.
    pub texts: UpstreamTexts,
}

/// What may be reached.
#[derive(Clone, Debug)]
pub struct Outbound {
    /// Certificates that are trusted besides the public ones, as a PEM file.
    pub extra_roots: Option<PathBuf>,
    /// Networks that count as public although they are not.
    pub allow: Vec<Network>,
    /// Networks that do not count as public although they are.
    pub deny: Vec<Network>,
    /// Networks in which the last four bytes are an address of IPv4 that is reached.
    pub nat64: Vec<Network>,
    /// Ports that agents may ask for.
    pub ports: Ports,
}

impl Agents {
    /// Notes what a run of `kind` costs.
    pub(super) fn set_price(&mut self, kind: &str, price: Amount) {
        self.prices.insert(kind.to_owned(), price);
    }
}

impl Mode {
    /// The word for it, which is that of its command.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::Dev => "dev",
        }
    }
}

impl Config {
    /// A value for every field, for the table's defaults to be written over.
    pub(super) fn blank(mode: Mode) -> Self {
        Self {
            mode,
            data: Data {
                dir: PathBuf::new(),
                cache_bytes: 0,
                verify: Verify::Small,
                name: String::new(),
                master_key_file: None,
            },
            http: Http { listen: Vec::new(), edge: inbound::Config::default(), tls: None },
            metrics: None,
            log: Log { filter: String::new(), format: Format::Auto },
            limits: Limits { rates: Rates::default(), pending_runs: None, chats_in_flight: None },
            queue: Queue { workers: 0, account_workers: 1, shutdown_grace: Duration::ZERO },
            runs: Runs { retention: None },
            billing: Billing { currency: Currency::EUR, rates: BTreeMap::new() },
            agents: Agents {
                prices: BTreeMap::new(),
                narrative_model: None,
                user_agent: String::new(),
                politeness: Duration::ZERO,
                confirm_pause: Duration::ZERO,
            },
            schedules: Schedules { is_on: true, rules: app::schedules::Rules::default() },
            webhooks: Webhooks {
                rules: app::Webhooks {
                    pauses: match mode {
                        Mode::Serve => Pauses::Minutes,
                        Mode::Dev => Pauses::Seconds,
                    },
                    ..app::Webhooks::default()
                },
                standard: StandardHeaders::Sent,
            },
            chat: Chat::default(),
            outbound: Outbound {
                extra_roots: None,
                allow: Vec::new(),
                deny: Vec::new(),
                nat64: Vec::new(),
                ports: Ports::Any,
            },
        }
    }
}
