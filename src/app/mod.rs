//! The operations of the product: one function each, one transaction each.
//!
//! The API, the loops and the command line all come through here, so there is one way to achieve
//! a thing. A function takes the [`App`] and, where somebody asks, the
//! [`Caller`](crate::domain::account::Caller): what it sees and changes belongs to the caller's
//! account, and nothing else can be named.

#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod error;

pub mod auth;
pub mod limiter;

pub mod billing;

pub mod accounts;
pub mod entries;
pub mod keys;

pub mod baselines;
pub mod chats;
pub mod clock_health;
pub mod deliveries;
pub mod delivery_log;
pub mod history;
mod in_flight;
pub mod jobs;
pub mod lane;
pub mod line;
pub mod narratives;
mod news;
pub mod operations;
mod outbox;
pub mod receivers;
mod recording;
pub mod runs;
pub mod schedules;
mod settle;
pub mod steps;
pub mod stranded;
pub mod ticks;
mod under_way;
mod waiting;

pub mod upkeep;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

use tokio::sync::{Notify, broadcast};

use crate::agents::{Catalogue, Step};
use crate::app::auth::KeyTable;
use crate::app::billing::Prices;
use crate::app::clock_health::ClockHealth;
use crate::app::deliveries::Happened;
use crate::app::in_flight::InFlight;
use crate::app::lane::Lanes;
use crate::app::limiter::{Limiter, Rates};
use crate::app::line::Line;
use crate::app::outbox::Outbox;
use crate::app::recording::Recorder;
use crate::app::under_way::UnderWay;
use crate::delivery::Sender;
use crate::domain::limits;
use crate::domain::receiver::UrlPolicy;
use crate::domain::retry::{FirstAttempt, Pauses};
use crate::domain::run::{Run, Status};
use crate::domain::time::Timestamp;
use crate::models::Registry;
use crate::store::{
    Seal, Store, accounts as kept_accounts, deliveries as kept_deliveries, keys as kept_keys, meta,
    receivers as kept_receivers, runs_list,
};
use crate::sys::beats::Beats;
use crate::sys::clock::{Clock, Mark};
use crate::sys::entropy::Entropy;
use crate::sys::metrics::Metrics;
use crate::sys::shutdown::{Phase, Shutdown};

pub use error::{Error, InputProblem};

/// The operations; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

pub(in crate::app) struct Inner {
    pub(in crate::app) store: Store,
    pub(in crate::app) clock: Clock,
    pub(in crate::app) entropy: Entropy,
    pub(in crate::app) metrics: Arc<Metrics>,
    pub(in crate::app) beats: Beats,
    pub(in crate::app) shutdown: Shutdown,
    pub(in crate::app) catalogue: Catalogue,
    pub(in crate::app) models: Registry,
    pub(in crate::app) prices: Prices,
    pub(in crate::app) settings: Settings,
    pub(in crate::app) keys: KeyTable,
    pub(in crate::app) limiter: Limiter,
    pub(in crate::app) line: Line,
    pub(in crate::app) under_way: UnderWay,
    pub(in crate::app) work: Notify,
    /// Somebody changed when something fires.
    pub(in crate::app) slots: Notify,
    pub(in crate::app) sender: Sender,
    pub(in crate::app) seal: Seal,
    pub(in crate::app) outbox: Outbox,
    pub(in crate::app) recorder: Recorder,
    pub(in crate::app) clock_health: ClockHealth,
    /// Operations that go on whether or not somebody waits for them.
    pub(in crate::app) operations: Arc<AtomicUsize>,
    pub(in crate::app) in_flight: InFlight,
    pub(in crate::app) mail: Notify,
    pub(in crate::app) attempts: broadcast::Sender<Happened>,
    pub(in crate::app) boot: u64,
    pub(in crate::app) installed_at: Timestamp,
    /// Failed commits after which the file was read again.
    pub(in crate::app) failures_seen: AtomicU64,
    /// The same, for runs.
    pub(in crate::app) failures_seen_of_runs: AtomicU64,
    pub(in crate::app) started_at: Timestamp,
    pub(in crate::app) start_mark: Mark,
}

/// What an operator decides about the operations.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Runs of one account that may wait or run at the same time; any number when `None`.
    pub pending_runs: Option<u32>,
    /// Runs of one account that may be executed at the same time.
    pub account_workers: u32,
    /// How long a run is kept after it was accepted; for ever when `None`.
    pub retention: Option<Duration>,
    /// Chats of one key that may be under way; any number when `None`.
    pub chats_in_flight: Option<u32>,
    /// Which model adds its words to reports; none when `None`.
    pub narrative_model: Option<String>,
    /// How often callers may ask.
    pub rates: Rates,
    /// What schedules may do.
    pub schedules: schedules::Rules,
    /// How receivers are told.
    pub webhooks: Webhooks,
}

/// What an operator decides about receivers and deliveries.
#[derive(Clone, Copy, Debug)]
pub struct Webhooks {
    /// Which URLs are taken.
    pub urls: UrlPolicy,
    /// Receivers of one account.
    pub receivers: u32,
    /// When the first attempt is made.
    pub first_attempt: FirstAttempt,
    /// How long the pauses between attempts are.
    pub pauses: Pauses,
    /// How many attempts may be under way.
    pub lanes: Lanes,
    /// How long results wait for others to share their commit while many attempts are under way.
    pub gather: Duration,
    /// How long a delivery is kept after it is over.
    pub retention: Duration,
}

/// What the operations stand on.
pub struct Base {
    /// The file.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// Randomness and ids.
    pub entropy: Entropy,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// How far the end is.
    pub shutdown: Shutdown,
    /// What can be run.
    pub catalogue: Catalogue,
    /// Whom callers can talk to.
    pub models: Registry,
    /// What it costs.
    pub prices: Prices,
    /// What the operator decided.
    pub settings: Settings,
    /// What posts webhooks.
    pub sender: Sender,
    /// What seals secrets.
    pub seal: Seal,
}

impl App {
    /// Opens the operations on a store: reads the keys and who waits.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when the store cannot be read.
    pub fn open(base: Base) -> Result<Self, Error> {
        let Base {
            store,
            clock,
            entropy,
            metrics,
            shutdown,
            catalogue,
            models,
            prices,
            settings,
            sender,
            seal,
        } = base;
        let (identity, accounts) = store
            .read(|view| Ok::<_, Error>((meta::identity(view)?, kept_accounts::scan(view)?)))?;
        let (boot, installed_at) = (identity.boot, identity.created_at);
        store.read(|view| {
            for account in &accounts {
                if let Some(newest) = runs_list::newest(view, account.id)? {
                    entropy.continue_after(newest);
                }
                for receiver in kept_receivers::scan(view, account.id)? {
                    if let Some(newest) = kept_deliveries::newest(view, account.id, receiver.id)? {
                        entropy.continue_after(newest);
                    }
                }
            }
            Ok::<_, Error>(())
        })?;
        let (started_at, start_mark) = (clock.now(), clock.mark());
        let lanes = settings.webhooks.lanes;
        let keys = KeyTable::new(&accounts, store.read(kept_keys::scan)?);
        let line = Line::new(settings.account_workers, store.read(crate::store::queue::accounts)?);
        let limiter = Limiter::new(clock.clone(), settings.rates.clone());
        Ok(Self(Arc::new(Inner {
            beats: Beats::new(clock.clone()),
            store,
            clock,
            entropy,
            metrics,
            shutdown,
            catalogue,
            models,
            prices,
            settings,
            keys,
            limiter,
            line,
            under_way: UnderWay::default(),
            work: Notify::new(),
            slots: Notify::new(),
            sender,
            seal,
            outbox: Outbox::new(lanes),
            recorder: Recorder::default(),
            mail: Notify::new(),
            attempts: broadcast::Sender::new(ATTEMPTS_KEPT),
            boot,
            installed_at,
            failures_seen: AtomicU64::new(0),
            failures_seen_of_runs: AtomicU64::new(0),
            clock_health: ClockHealth::default(),
            operations: Arc::default(),
            in_flight: InFlight::default(),
            started_at,
            start_mark,
        })))
    }

    /// What can be run.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.0.catalogue
    }

    /// What it costs.
    #[must_use]
    pub fn prices(&self) -> &Prices {
        &self.0.prices
    }

    /// How often callers may ask.
    #[must_use]
    pub fn limiter(&self) -> &Limiter {
        &self.0.limiter
    }

    /// The time.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Randomness and ids.
    #[must_use]
    pub fn entropy(&self) -> &Entropy {
        &self.0.entropy
    }

    /// Signs of life of the loops.
    #[must_use]
    pub fn beats(&self) -> &Beats {
        &self.0.beats
    }

    /// Whether nothing new may begin.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.shutdown.is_draining()
    }

    /// Waits until nothing new may begin.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when the future is dropped.
    pub async fn drains(&self) {
        self.0.shutdown.reached(Phase::Draining).await;
    }

    /// Waits until the daemon stops what is under way.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost when the future is dropped.
    pub async fn stops(&self) {
        self.0.shutdown.reached(Phase::Stopping).await;
    }

    /// When this installation was made.
    #[must_use]
    pub fn installed_at(&self) -> Timestamp {
        self.0.installed_at
    }

    /// The time by which things grow old: that of the wall clock, but never further ahead than this
    /// daemon has run since its start. A clock that was set forward makes nothing old at once.
    pub(in crate::app) fn aging_now(&self) -> Timestamp {
        self.0.clock.now().min(self.0.started_at.after(self.0.start_mark.elapsed()))
    }

    /// When this daemon opened its file.
    #[must_use]
    pub fn started_at(&self) -> Timestamp {
        self.0.started_at
    }

    /// How far a run is that is under way.
    #[must_use]
    pub fn progress(&self, run: &Run) -> Option<Step> {
        // One that has just ended may be under way in memory for a moment more.
        let is_running = run.status == Status::Running;
        is_running.then(|| self.0.under_way.progress(run.id)).flatten()
    }

    /// When a run that is over will be forgotten.
    #[must_use]
    pub fn expires_at(&self, run: &Run) -> Option<Timestamp> {
        self.0.settings.retention.map(|it| run.created_at.after(it))
    }

    /// What is counted.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            pending_runs: Some(limits::PENDING_RUNS_DEFAULT),
            account_workers: 1,
            retention: None,
            chats_in_flight: Some(limits::CHATS_IN_FLIGHT_DEFAULT),
            narrative_model: None,
            rates: Rates::default(),
            schedules: schedules::Rules::default(),
            webhooks: Webhooks::default(),
        }
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        Self {
            urls: UrlPolicy::Public,
            receivers: limits::RECEIVERS_DEFAULT,
            first_attempt: FirstAttempt::Tick,
            pauses: Pauses::Minutes,
            lanes: Lanes { fast: 512, slow: 2_048 },
            gather: Duration::from_millis(5),
            retention: limits::DELIVERY_RETENTION_DEFAULT,
        }
    }
}

/// Attempts that are kept for who watches and is late.
const ATTEMPTS_KEPT: usize = 256;
