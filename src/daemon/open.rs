//! Opening: the ways out, the file, its seal, and the operations on it. No loop runs yet.
//!
//! A command that works on a file without a daemon stops here.

use std::sync::Arc;

use crate::agents::Catalogue;
use crate::app::billing::Prices;
use crate::app::{App, Base, Settings, Webhooks};
use crate::config::{Config, Mode};
use crate::daemon::registry::{Way, registry};
use crate::daemon::{StartError, World};
use crate::delivery::Sender;
use crate::domain::receiver::UrlPolicy;
use crate::models::Model;
use crate::outbound::{Client, Guard, GuardConfig, Ports, Trust};
use crate::store::{self, Disk, Options, Seal, Store, seal};
use crate::sys::clock::Clock;
use crate::sys::entropy::Entropy;
use crate::sys::metrics::Metrics;
use crate::sys::shutdown::Shutdown;

/// A data file that is open, and the operations on it; no loop runs.
pub struct Opened {
    /// The operations.
    pub app: App,
    /// The file.
    pub store: Store,
    /// The models that are offered, in the order of their names.
    pub models: Vec<Arc<Model>>,
    /// What posts webhooks.
    pub(super) sender: Sender,
    /// The way out for agents.
    pub(super) client: Client,
}

/// Opens the file and the operations on it. Takes as long as the check of the file does.
///
/// # Errors
///
/// [`StartError`]; nothing is open then.
pub async fn open(
    config: &Config,
    world: World,
    shutdown: &Shutdown,
) -> Result<Opened, StartError> {
    let metrics = Arc::new(Metrics::default());
    let client = client(config, &world, &metrics, config.outbound.ports.clone())?;
    let receivers = client_of_receivers(config, &world, &metrics)?;
    let urls = targets(config.mode);
    let sender = Sender::new(receivers, world.clock.clone(), urls, config.webhooks.standard);
    let way = Way {
        clock: &world.clock,
        resolver: &world.resolver,
        dialer: &world.dialer,
        trust: trust(config, &world)?,
    };
    let models = registry(way, &config.chat).await?;
    if let Some(id) =
        config.agents.narrative_model.as_deref().filter(|it| models.find(it).is_none())
    {
        let problem = format!("agents.narrative_model: there is no model \"{id}\"");
        return Err(StartError::Model(problem));
    }
    let offered = models.list().map(Arc::clone).collect();
    let catalogue = Catalogue::built_in(urls).with(world.agents);
    let catalogue = catalogue.map_err(|it| StartError::Kind(it.to_string()))?;
    let (clock, entropy) = (world.clock, world.entropy);
    let store = open_store(config, Arc::clone(&world.disk), &clock, &entropy, &metrics).await?;
    let seal = match unseal(&store, world.disk.as_ref(), &entropy).await {
        Ok(seal) => seal,
        Err(error) => {
            store.close();
            return Err(error);
        }
    };
    let app = App::open(Base {
        store: store.clone(),
        clock,
        entropy,
        metrics,
        shutdown: shutdown.clone(),
        catalogue,
        models,
        prices: Prices {
            currency: config.billing.currency,
            kinds: config.agents.prices.clone(),
            rates: config.billing.rates.clone(),
        },
        settings: Settings {
            pending_runs: config.limits.pending_runs,
            account_workers: config.queue.account_workers,
            retention: config.runs.retention,
            chats_in_flight: config.limits.chats_in_flight,
            narrative_model: config.agents.narrative_model.clone(),
            rates: config.limits.rates.clone(),
            schedules: config.schedules.rules,
            webhooks: Webhooks { urls, ..config.webhooks.rules },
        },
        sender: sender.clone(),
        seal,
    });
    let app = app.map_err(StartError::App)?;
    Ok(Opened { app, store, models: offered, sender, client })
}

/// The seal of the secrets in the file. A file without secrets gets a master key now.
async fn unseal(store: &Store, disk: &dyn Disk, entropy: &Entropy) -> Result<Seal, StartError> {
    let key = match disk.master_key().map_err(StartError::MasterKey)? {
        Some(key) => key,
        None if store.read(seal::is_sealed).map_err(StartError::Store)? => {
            return Err(StartError::Store(store::Error::MasterKey));
        }
        None => {
            let key = entropy.bytes();
            disk.keep_master_key(&key).map_err(StartError::MasterKey)?;
            key
        }
    };
    let nonce = entropy.bytes();
    let check = store.write(move |txn| seal::check(txn, &Seal::new(&key)?, nonce));
    check.await.map_err(StartError::Store)?;
    Seal::new(&key).map_err(StartError::Store)
}

/// Opens the file on a thread that may block.
async fn open_store(
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

/// The way out for webhooks, which go to one port alone unless a developer asks.
fn client_of_receivers(
    config: &Config,
    world: &World,
    metrics: &Arc<Metrics>,
) -> Result<Client, StartError> {
    let ports = match config.mode {
        Mode::Serve => Ports::Only(vec![RECEIVER_PORT]),
        Mode::Dev => Ports::Any,
    };
    client(config, world, metrics, ports)
}

/// A way out.
fn client(
    config: &Config,
    world: &World,
    metrics: &Arc<Metrics>,
    ports: Ports,
) -> Result<Client, StartError> {
    let trust = trust(config, world)?;
    let guard = Guard::new(GuardConfig {
        allow: config.outbound.allow.clone(),
        deny: config.outbound.deny.clone(),
        ports,
    })
    .with_translators(config.outbound.nat64.clone());
    let (resolver, dialer) = (Arc::clone(&world.resolver), Arc::clone(&world.dialer));
    Ok(Client::new(world.clock.clone(), guard, resolver, dialer, trust, Arc::clone(metrics)))
}

/// Whose certificates are believed.
fn trust(config: &Config, world: &World) -> Result<Trust, StartError> {
    let extra = match &config.outbound.extra_roots {
        None => Vec::new(),
        Some(path) => std::fs::read(path).map_err(|it| StartError::Roots(path.clone(), it))?,
    };
    Trust::new(world.clock.clone(), &extra).map_err(|it| {
        StartError::BadRoots(config.outbound.extra_roots.clone().unwrap_or_default(), it)
    })
}

/// Which pages may be named.
pub(super) const fn targets(mode: Mode) -> UrlPolicy {
    match mode {
        Mode::Serve => UrlPolicy::Public,
        Mode::Dev => UrlPolicy::Development,
    }
}

/// The one port of receivers. Source: service interface, "Limits".
const RECEIVER_PORT: u16 = 443;
