//! The wiring of everything, on one page: what is built, in the order of the floors, and how it
//! stops.
//!
//! A [`World`] holds what the daemon cannot make itself: time, randomness, network and disk. A
//! test gives it fakes of these four and nothing else, and runs the same daemon as `errand serve`.

mod open;
mod registry;
mod start_error;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::agents::{Agent, Bench, Parsers};
use crate::api::Api;
use crate::api::admin::{About, Admin};
use crate::api::health::MetricsPage;
use crate::app::{App, deliveries, jobs, operations};
use crate::background::{self, Busy, Deliverer, InFlight, Janitor, Pulse, Scheduler, Worker};
use crate::config::Config;
use crate::daemon::open::targets;
use crate::inbound::{Edge, Service};
use crate::outbound::{Client, Dialer, Resolver, SystemResolver, TcpDialer};
use crate::store::{Disk, Store};
use crate::sys::clock::Clock;
use crate::sys::entropy::Entropy;
use crate::sys::host;
use crate::sys::shutdown::{Phase, Shutdown};

pub use open::{Opened, open};
pub use start_error::StartError;

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
    in_flight: InFlight,
    loops: JoinSet<()>,
    store: Store,
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
        let pulse = if world.clock.is_host() {
            Pulse::of_host().await.map_err(|it| StartError::Pulse(it.to_string()))?
        } else {
            Pulse::none()
        };
        let Opened { app, store, sender, client } = open(config, world, &shutdown).await?;
        let lost = jobs::recover(&app).await.map_err(StartError::App)?;
        if lost > 0 {
            tracing::warn!(runs = lost, "{lost} runs had lost their worker and were given back");
        }
        let lost = deliveries::recover(&app).await.map_err(StartError::App)?;
        if lost > 0 {
            tracing::warn!(attempts = lost, "{lost} attempts to deliver an event were interrupted");
        }

        let bench = bench(config, app.clock(), client);
        let worker = Worker::new(app.clone(), bench, shutdown.clone(), config.queue.workers);
        let busy = worker.busy();
        let mut loops = JoinSet::new();
        if config.queue.workers > 0 {
            loops.spawn(background::drive(worker, app.clone()));
        }
        let deliverer = Deliverer::new(app.clone(), sender, shutdown.clone(), pulse.clone());
        let in_flight = deliverer.in_flight();
        loops.spawn(background::drive(deliverer, app.clone()));
        if config.schedules.is_on {
            loops.spawn(background::drive(Scheduler::new(app.clone()), app.clone()));
        }
        let janitor = Janitor::new(app.clone(), pulse);
        loops.spawn(background::drive(janitor, app.clone()));

        let (clock, entropy) = (app.clock().clone(), app.entropy().clone());
        let metrics = Arc::clone(app.metrics());
        let edge = Edge::new(config.http.edge.clone(), clock, entropy, metrics, shutdown.clone());
        let about = About {
            data_dir: config.data.dir.display().to_string(),
            mode: config.mode.as_str(),
            uid: host::uid(),
        };
        Ok(Self { app, edge, about, shutdown, busy, in_flight, loops, store })
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

    /// Executions, attempts and operations under way.
    fn under_way(&self) -> usize {
        let background = self.busy.count().saturating_add(self.in_flight.count());
        background.saturating_add(operations::count(&self.app))
    }

    /// Ends: begins nothing new, waits up to `grace` for runs under way, gives the rest back,
    /// and closes the file.
    pub async fn stop(mut self, grace: Duration) {
        let clock = self.app.clock().clone();
        self.shutdown.advance(Phase::Draining);
        let drained = async {
            // The loops first: a claim that is on its way still becomes an execution.
            while self.loops.join_next().await.is_some() {}
            while self.under_way() > 0 && self.shutdown.phase() < Phase::Stopping {
                clock.sleep(LOOK_PAUSE).await;
            }
        };
        // What is not done by then is given back.
        let _ = clock.within(grace, drained).await;
        self.shutdown.advance(Phase::Stopping);
        let given_back = async {
            while self.loops.join_next().await.is_some() {}
            while self.under_way() > 0 {
                clock.sleep(LOOK_PAUSE).await;
            }
        };
        if clock.within(GIVE_BACK_MAX, given_back).await.is_err() {
            tracing::warn!("some work did not end in time; the next start gives it back");
        }
        self.store.close();
    }
}

/// What agents work with.
fn bench(config: &Config, clock: &Clock, client: Client) -> Bench {
    Bench {
        clock: clock.clone(),
        client,
        parsers: Parsers::new(clock.clone()),
        user_agent: config.agents.user_agent.clone(),
        politeness: config.agents.politeness,
        confirm_pause: config.agents.confirm_pause,
        targets: targets(config.mode),
    }
}

/// Time between two looks at what is still under way.
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// Time for giving back what was not done.
const GIVE_BACK_MAX: Duration = Duration::from_secs(10);
