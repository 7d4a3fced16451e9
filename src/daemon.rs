//! The wiring of everything, on one page: what is built, in the order of the floors, and how it
//! stops.
//!
//! A [`World`] holds what the daemon cannot make itself: time, randomness, network and disk. A
//! test gives it fakes of these four and nothing else, and runs the same daemon as `errand serve`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::agents::{Agent, Bench, Catalogue, Parsers};
use crate::api::Api;
use crate::api::admin::{About, Admin};
use crate::api::health::MetricsPage;
use crate::app::billing::Prices;
use crate::app::{App, Base, Settings, jobs};
use crate::background::{self, Busy, Janitor, Pulse, Worker};
use crate::config::{Config, Mode};
use crate::domain::receiver::UrlPolicy;
use crate::inbound::{Edge, Service};
use crate::outbound::{
    BadRoots, Client, Dialer, Guard, GuardConfig, Resolver, SystemResolver, TcpDialer, Trust,
};
use crate::store::{self, Disk, Options, Store};
use crate::sys::clock::Clock;
use crate::sys::entropy::Entropy;
use crate::sys::host;
use crate::sys::metrics::Metrics;
use crate::sys::shutdown::{Phase, Shutdown};

/// What the daemon cannot make itself.
pub struct World {
    /// The time.
    pub clock: Clock,
    /// Randomness and ids.
    pub entropy: Entropy,
    /// Where the file is.
    pub disk: Arc<dyn Disk>,
    /// What answers names.
    pub resolver: Arc<dyn Resolver>,
    /// What opens connections.
    pub dialer: Arc<dyn Dialer>,
    /// Agents beside the built-in ones.
    pub agents: Vec<Arc<dyn Agent>>,
}

/// A daemon that runs.
pub struct Daemon {
    app: App,
    edge: Edge,
    about: About,
    shutdown: Shutdown,
    busy: Busy,
    loops: JoinSet<()>,
    store: Store,
}

/// Why a daemon did not start; nothing runs, and the file is as it was.
#[derive(Debug)]
pub enum StartError {
    /// The file cannot be used.
    Store(store::Error),
    /// The operations cannot be opened on it.
    App(crate::app::Error),
    /// The file of extra roots cannot be read.
    Roots(PathBuf, std::io::Error),
    /// The file of extra roots is not one.
    BadRoots(PathBuf, BadRoots),
    /// Two agents have the same kind.
    Kind(String),
    /// The minute tick cannot start.
    Pulse(String),
}

impl World {
    /// The host's time, randomness and network, and a disk.
    #[must_use]
    pub fn host(disk: Arc<dyn Disk>) -> Self {
        let clock = Clock::host();
        Self {
            entropy: Entropy::system(),
            disk,
            resolver: Arc::new(SystemResolver::new(clock.clone())),
            dialer: Arc::new(TcpDialer),
            agents: Vec::new(),
            clock,
        }
    }
}

impl Daemon {
    /// Opens the file, gives lost runs back, and starts the loops.
    ///
    /// Takes as long as the check of the file does. Must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// [`StartError`]; nothing runs then.
    pub async fn start(config: &Config, world: World) -> Result<Self, StartError> {
        let shutdown = Shutdown::new();
        let metrics = Arc::new(Metrics::default());
        let client = client(config, &world, &metrics)?;
        let catalogue = Catalogue::built_in(targets(config.mode)).with(world.agents);
        let catalogue = catalogue.map_err(|it| StartError::Kind(it.to_string()))?;
        let pulse = if world.clock.is_host() {
            Pulse::of_host().await.map_err(|it| StartError::Pulse(it.to_string()))?
        } else {
            Pulse::none()
        };

        let (clock, entropy) = (world.clock, world.entropy);
        let store = open(config, world.disk, &clock, &entropy, &metrics).await?;
        let app = App::open(Base {
            store: store.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
            metrics: Arc::clone(&metrics),
            shutdown: shutdown.clone(),
            catalogue,
            prices: Prices {
                currency: config.billing.currency,
                kinds: config.agents.prices.clone(),
                rates: config.billing.rates.clone(),
            },
            settings: Settings {
                pending_runs: config.limits.pending_runs,
                account_workers: config.queue.account_workers,
                retention: config.runs.retention,
                rates: config.limits.rates.clone(),
            },
        });
        let app = app.map_err(StartError::App)?;
        let lost = jobs::recover(&app).await.map_err(StartError::App)?;
        if lost > 0 {
            tracing::warn!(runs = lost, "{lost} runs had lost their worker and were given back");
        }

        let bench = bench(config, &clock, client);
        let worker = Worker::new(app.clone(), bench, shutdown.clone(), config.queue.workers);
        let busy = worker.busy();
        let mut loops = JoinSet::new();
        if config.queue.workers > 0 {
            loops.spawn(background::drive(worker, app.clone()));
        }
        let janitor = Janitor::new(app.clone(), pulse);
        loops.spawn(background::drive(janitor, app.clone()));

        let edge = Edge::new(config.http.edge.clone(), clock, entropy, metrics, shutdown.clone());
        let about = About {
            data_dir: config.data.dir.display().to_string(),
            mode: config.mode.as_str(),
            uid: host::uid(),
        };
        Ok(Self { app, edge, about, shutdown, busy, loops, store })
    }

    /// The operations.
    #[must_use]
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// The public API.
    #[must_use]
    pub fn api(&self) -> Arc<dyn Service> {
        Arc::new(Api::new(self.app.clone()))
    }

    /// The operator's API, for the control socket.
    #[must_use]
    pub fn admin(&self) -> Arc<dyn Service> {
        Arc::new(Admin::new(self.app.clone(), self.about.clone()))
    }

    /// The page of counters.
    #[must_use]
    pub fn metrics_page(&self) -> Arc<dyn Service> {
        Arc::new(MetricsPage::new(self.app.clone()))
    }

    /// What connections share.
    #[must_use]
    pub const fn edge(&self) -> &Edge {
        &self.edge
    }

    /// How far the end is, for listeners.
    #[must_use]
    pub const fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }

    /// Ends: begins nothing new, waits up to `grace` for runs under way, gives the rest back,
    /// and closes the file.
    pub async fn stop(mut self, grace: Duration) {
        let clock = self.app.clock().clone();
        self.shutdown.advance(Phase::Draining);
        let drained = async {
            // The loops first: a claim that is on its way still becomes an execution.
            while self.loops.join_next().await.is_some() {}
            while self.busy.count() > 0 && self.shutdown.phase() < Phase::Stopping {
                clock.sleep(LOOK_PAUSE).await;
            }
        };
        // What is not done by then is given back.
        let _ = clock.within(grace, drained).await;
        self.shutdown.advance(Phase::Stopping);
        let given_back = async {
            while self.loops.join_next().await.is_some() {}
            while self.busy.count() > 0 {
                clock.sleep(LOOK_PAUSE).await;
            }
        };
        if clock.within(GIVE_BACK_MAX, given_back).await.is_err() {
            tracing::warn!("some work did not end in time; the next start gives it back");
        }
        self.store.close();
    }
}

/// Opens the file on a thread that may block.
async fn open(
    config: &Config,
    disk: Arc<dyn Disk>,
    clock: &Clock,
    entropy: &Entropy,
    metrics: &Arc<Metrics>,
) -> Result<Store, StartError> {
    let now = clock.now();
    let options = Options {
        cache_bytes: config.data.cache_bytes,
        verify: config.data.verify,
        instance: entropy.id(now),
        name: config.data.name.clone(),
        now,
    };
    let (clock, metrics) = (clock.clone(), Arc::clone(metrics));
    let opening = move || Store::open(disk, &options, clock, metrics);
    let opened = tokio::task::spawn_blocking(opening).await;
    let opened = opened.unwrap_or(Err(store::Error::Bug("the opening panicked")));
    opened.map_err(StartError::Store)
}

/// The one way out.
fn client(config: &Config, world: &World, metrics: &Arc<Metrics>) -> Result<Client, StartError> {
    let extra = match &config.outbound.extra_roots {
        None => Vec::new(),
        Some(path) => std::fs::read(path).map_err(|it| StartError::Roots(path.clone(), it))?,
    };
    let trust = Trust::new(world.clock.clone(), &extra).map_err(|it| {
        StartError::BadRoots(config.outbound.extra_roots.clone().unwrap_or_default(), it)
    })?;
    let guard = Guard::new(GuardConfig {
        allow: config.outbound.allow.clone(),
        deny: config.outbound.deny.clone(),
        ports: config.outbound.ports.clone(),
    });
    let (resolver, dialer) = (Arc::clone(&world.resolver), Arc::clone(&world.dialer));
    Ok(Client::new(world.clock.clone(), guard, resolver, dialer, trust, Arc::clone(metrics)))
}

/// What agents work with.
fn bench(config: &Config, clock: &Clock, client: Client) -> Bench {
    Bench {
        clock: clock.clone(),
        client,
        parsers: Parsers::new(clock.clone()),
        user_agent: config.agents.user_agent.clone(),
        politeness: config.agents.politeness,
        targets: targets(config.mode),
    }
}

/// Which pages may be named.
const fn targets(mode: Mode) -> UrlPolicy {
    match mode {
        Mode::Serve => UrlPolicy::Public,
        Mode::Dev => UrlPolicy::Development,
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "{error}"),
            Self::App(error) => write!(f, "{error}"),
            Self::Roots(path, error) => {
                write!(f, "outbound.extra_roots: {}: {error}", path.display())
            }
            Self::BadRoots(path, error) => {
                write!(f, "outbound.extra_roots: {}: {error}", path.display())
            }
            Self::Kind(error) => write!(f, "{error}"),
            Self::Pulse(error) => write!(f, "the minute tick cannot start: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::App(error) => Some(error),
            Self::Roots(_, error) => Some(error),
            Self::BadRoots(_, error) => Some(error),
            Self::Kind(_) | Self::Pulse(_) => None,
        }
    }
}

/// Time between two looks at what is still under way.
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// Time for giving back what was not done.
const GIVE_BACK_MAX: Duration = Duration::from_secs(10);
