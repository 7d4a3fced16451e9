//! The operations on a data file that no daemon has open.
//!
//! The file is locked, opened and asked through the same API as a daemon, over memory. No loop
//! runs: nothing is executed, sent or forgotten meanwhile.

use std::sync::Arc;

use tokio::io::duplex;

use crate::api::admin::{About, Admin};
use crate::app::App;
use crate::cli::client::{self, Answer, Ask, NoAnswer};
use crate::cli::exit::Failure;
use crate::cli::reach::disk;
use crate::config::{Chat, Config};
use crate::daemon::{self, Opened, World};
use crate::inbound::{self, Edge, Peer, Service, serve_connection};
use crate::store::{DataDir, Store};
use crate::sys::host;
use crate::sys::shutdown::Shutdown;

/// A data file that is open for this command alone.
pub(super) struct Offline {
    app: App,
    admin: Arc<dyn Service>,
    edge: Edge,
    store: Store,
    _dir: DataDir,
}

impl Offline {
    /// Opens the file in a directory that this process holds.
    ///
    /// # Errors
    ///
    /// What is wrong with the file.
    pub(super) async fn open(config: &Config, dir: DataDir) -> Result<Self, Failure> {
        let shutdown = Shutdown::new();
        let world = World::host(disk(config, &dir)?);
        // Nobody chats meanwhile, and the keys of upstreams may be another user's.
        let config = Config { chat: Chat::default(), ..config.clone() };
        let Opened { app, store, .. } = daemon::open(&config, world, &shutdown).await?;
        let about =
            About { data_dir: dir.path().display().to_string(), mode: "offline", uid: host::uid() };
        let patient =
            inbound::Config { request_timeout: client::SLOW_ANSWER_WAIT, ..Default::default() };
        let edge = {
            let (clock, entropy) = (app.clock().clone(), app.entropy().clone());
            Edge::new(patient, clock, entropy, Arc::clone(app.metrics()), shutdown)
        };
        let admin = Arc::new(Admin::new(app.clone(), about));
        Ok(Self { app, admin, edge, store, _dir: dir })
    }

    /// The operations.
    pub(super) const fn app(&self) -> &App {
        &self.app
    }

    /// Asks what a daemon would be asked.
    ///
    /// # Errors
    ///
    /// [`NoAnswer`] when something is wrong inside.
    pub(super) async fn ask(&self, ask: &Ask) -> Result<Answer, NoAnswer> {
        let (near, far) = duplex(PIPE_BYTES);
        let (edge, admin) = (self.edge.clone(), Arc::clone(&self.admin));
        let peer = Peer::Local { uid: host::uid() };
        let serving = tokio::spawn(async move { serve_connection(&edge, far, peer, admin).await });
        let answer = client::exchange(near, ask).await;
        serving.abort();
        answer
    }
}

/// Closes the file, so that nothing has to be mended at the next start.
impl Drop for Offline {
    fn drop(&mut self) {
        self.store.close();
    }
}

/// Bytes under way between the two ends of the pipe.
const PIPE_BYTES: usize = 64 * 1024;
