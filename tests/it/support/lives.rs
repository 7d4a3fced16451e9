//! A house whose daemon can be killed: each of its lives has a runtime of its own.
//!
//! A daemon that is killed does nothing more: its tasks go with their runtime, unfinished and
//! unstopped, and the next life begins on a copy of what the disk showed at that moment.

use errand::config::Config;
use errand::sys::entropy::Entropy;
use tokio::runtime::{Builder, Runtime};

use super::disk::TestDisk;
use super::house::House;

/// A house and the runtime of its daemon's present life.
pub struct Lives {
    runtime: Option<Runtime>,
    pub house: House,
    seed: u64,
    deaths: u64,
}

impl Lives {
    /// A house in its first life.
    pub fn new(seed: u64, change: impl FnOnce(&mut Config)) -> Self {
        let runtime = runtime();
        let house = runtime.block_on(House::with(seed, change));
        Self { runtime: Some(runtime), house, seed, deaths: 0 }
    }

    /// Does something in the present life.
    pub fn live<T>(&mut self, what: impl AsyncFnOnce(&mut House) -> T) -> T {
        self.runtime.as_ref().unwrap().block_on(what(&mut self.house))
    }

    /// Ends the present life without a warning, and begins the next one.
    pub fn kill(&mut self) {
        let image = self.house.disk.image();
        let died = self.live(async |house| house.clock.mark());
        let ended = (self.house.forget(), self.runtime.take());
        drop(ended);
        self.deaths += 1;
        // Another process has other random numbers.
        self.house.entropy = Entropy::seeded(self.seed ^ (self.deaths << 32));
        self.house.disk = TestDisk::on(image);
        self.runtime = Some(runtime());
        self.live(async |house| {
            // The host lives on: its clock goes on where the process died.
            house.clock.sleep(died.left()).await;
            house.start().await;
        });
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}
