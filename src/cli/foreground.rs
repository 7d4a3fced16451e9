//! A daemon in the foreground: its listeners, its control socket, its end.
//!
//! `serve`, `dev` and `try` run one. Ports are taken before the data file is opened, so a wrong
//! address costs nothing; the control socket comes last, so whoever finds it is answered.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::cli::client::SLOW_ANSWER_WAIT;
use crate::cli::exit::{Exit, Failure};
use crate::cli::reach::{data_file, disk, socket};
use crate::cli::signals::Signals;
use crate::config::Config;
use crate::daemon::{Daemon, World};
use crate::inbound::{self, Acceptor, Edge, Listener, Service};
use crate::store::DataDir;
use crate::sys::clock::Mark;
use crate::sys::entropy::Entropy;
use crate::sys::host;
use crate::sys::metrics::Metrics;
use crate::sys::shutdown::Phase;
use crate::sys::telemetry;

/// A daemon that listens.
pub(super) struct Foreground {
    daemon: Daemon,
    listeners: JoinSet<()>,
    addresses: Vec<SocketAddr>,
    metrics: Option<SocketAddr>,
    tls: Option<Acceptor>,
    is_new: bool,
    dir: DataDir,
}

/// Ports that are taken and not yet served.
struct Ports {
    api: Vec<Listener>,
    metrics: Option<Listener>,
    tls: Option<Acceptor>,
}

impl Foreground {
    /// Starts the daemon in a directory that this process holds.
    ///
    /// # Errors
    ///
    /// What is wrong with a port, a certificate or the data file; nothing runs then.
    pub(super) async fn start(config: &Config, dir: DataDir) -> Result<Self, Failure> {
        let logging = telemetry::start(&config.log.filter, config.log.format);
        logging.map_err(|it| Failure::new(Exit::BadConfig, format!("log.level: {it}")))?;
        check_socket_name(dir.path())?;
        let ports = Ports::take(config).await?;
        let is_new = !data_file(dir.path()).exists();
        let mut config = config.clone();
        let lanes = config.webhooks.rules.lanes;
        config.webhooks.rules.lanes = lanes.within(host::raise_open_files());
        let world = World::host(disk(&config, &dir)?);
        let daemon = Daemon::start(&config, world).await?;
        let control = match Listener::unix(&socket(dir.path())).await {
            Ok(control) => control,
            Err(error) => {
                daemon.stop(Duration::ZERO).await;
                return Err(error.into());
            }
        };
        let addresses = ports.api.iter().filter_map(Listener::local_addr).collect();
        let metrics = ports.metrics.as_ref().and_then(Listener::local_addr);
        let tls = ports.tls.clone();
        let mut listeners = JoinSet::new();
        for listener in ports.api {
            listeners.spawn(listener.run(daemon.edge().clone(), daemon.api()));
        }
        if let Some(listener) = ports.metrics {
            listeners.spawn(listener.run(side_edge(&daemon), daemon.metrics_page()));
        }
        listeners.spawn(control.run(side_edge(&daemon), daemon.admin()));
        Ok(Self { daemon, listeners, addresses, metrics, tls, is_new, dir })
    }

    /// Takes a free loopback port for something else.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(super) async fn port_beside(&self) -> Result<(Listener, SocketAddr), Failure> {
        let listener = Listener::tcp(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let address = listener.local_addr();
        let address = address.ok_or_else(|| Failure::new(Exit::Failed, "the port has no address"));
        Ok((listener, address?))
    }

    /// Serves something else on it, for as long as the daemon runs.
    pub(super) fn serve_beside(&mut self, listener: Listener, service: Arc<dyn Service>) {
        self.listeners.spawn(listener.run(side_edge(&self.daemon), service));
    }

    /// The daemon.
    pub(super) const fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    /// Where the API really listens.
    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where the counters are shown.
    pub(super) const fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// The base URL of the API, as the first address has it.
    pub(super) fn base_url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let address = self.addresses.first().map_or_else(String::new, ToString::to_string);
        format!("{scheme}://{address}/v1")
    }

    /// The data directory.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Whether the data file was made by this start.
    pub(super) const fn is_new(&self) -> bool {
        self.is_new
    }

    /// Reads the TLS files again, for the connections from now on.
    pub(super) fn read_again(&self) {
        match self.tls.as_ref().map(Acceptor::reload) {
            None => tracing::info!("SIGHUP: there is nothing to read again"),
            Some(Ok(())) => tracing::info!("SIGHUP: the TLS files were read again"),
            Some(Err(error)) => {
                let why = crate::cli::exit::with_sources(&error);
                tracing::error!("SIGHUP: the TLS files stay as they were: could not {why}");
            }
        }
    }

    /// Ends: answers what was asked, lets runs end within the grace, closes the file.
    ///
    /// A signal meanwhile ends it at once; what is under way then is given back.
    pub(super) async fn stop(self, config: &Config, signals: &mut Signals) {
        let Self { daemon, mut listeners, dir, .. } = self;
        let clock = daemon.app().clock().clone();
        let shutdown = daemon.shutdown().clone();
        let until = clock.mark().after(config.queue.shutdown_grace);
        shutdown.advance(Phase::Draining);
        let in_order = async move {
            while listeners.join_next().await.is_some() {}
            daemon.stop(until.left()).await;
        };
        let at_once = async {
            signals.end_or(|| ()).await;
            shutdown.advance(Phase::Stopping);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = in_order => {}
            () = at_once => {}
        }
        drop(dir);
    }
}

impl Ports {
    async fn take(config: &Config) -> Result<Self, Failure> {
        let tls = config.http.tls.clone().map(Acceptor::load).transpose()?;
        let mut api = Vec::new();
        for address in &config.http.listen {
            let listener = Listener::tcp(*address).await.map_err(|it| in_use(it, *address))?;
            api.push(match &tls {
                Some(acceptor) => listener.with_tls(acceptor.clone()),
                None => listener,
            });
        }
        let metrics = match config.metrics {
            Some(address) => Some(Listener::tcp(address).await?),
            None => None,
        };
        Ok(Self { api, metrics, tls })
    }
}

/// Takes a data directory for this process.
///
/// # Errors
///
/// [`Exit::Conflict`] when a daemon has it, with what to do.
pub(super) fn hold(dir: &Path) -> Result<DataDir, Failure> {
    DataDir::lock(dir).map_err(|error| {
        let failure = Failure::from(error);
        if failure.exit != Exit::Conflict {
            return failure;
        }
        let dir = dir.display();
        failure
            .then(format!("a directory has one daemon: `errand status --data-dir {dir}` asks it"))
    })
}

/// An edge of its own, so that many callers of the API cannot keep the operator out.
fn side_edge(daemon: &Daemon) -> Edge {
    let config = inbound::Config {
        max_connections: SIDE_CONNECTIONS_MAX,
        request_timeout: SLOW_ANSWER_WAIT,
        ..Default::default()
    };
    let clock = daemon.app().clock().clone();
    let (entropy, metrics) = (Entropy::system(), Arc::new(Metrics::default()));
    Edge::new(config, clock, entropy, metrics, daemon.shutdown().clone())
}

fn in_use(error: inbound::BindError, address: SocketAddr) -> Failure {
    let failure = Failure::from(error);
    if failure.exit == Exit::Conflict {
        let any = SocketAddr::new(address.ip(), 0);
        return failure.then(format!("choose another port; --listen {any} takes a free one"));
    }
    if failure.exit == Exit::Denied {
        return failure.then("ports below 1024 are for root: choose a higher one");
    }
    failure
}

/// Refuses a directory in which no socket can have a name.
fn check_socket_name(dir: &Path) -> Result<(), Failure> {
    let path = socket(dir);
    if path.as_os_str().len() <= SOCKET_BYTES_MAX {
        return Ok(());
    }
    let what = format!("{} is longer than the name of a socket may be", path.display());
    let next = format!("choose a data directory whose path has {DIR_BYTES_MAX} bytes at most");
    Err(Failure::new(Exit::Failed, what).then(next))
}

/// How long the process has been at work, for people.
pub(super) fn ready_line(begun: Mark) -> String {
    format!("ready in {} ms", begun.elapsed().as_millis())
}

/// Connections of the control socket, and of the counters.
const SIDE_CONNECTIONS_MAX: usize = 64;
/// Bytes of a socket's path, and of the one it has while it is made. Source: unix(7).
const SOCKET_BYTES_MAX: usize = 106;
/// Bytes that are left of it for the directory.
const DIR_BYTES_MAX: usize = SOCKET_BYTES_MAX - "/control.sock".len();
