//! What the benches share: a daemon on a real file, a client that costs little, and numbers.
//!
//! A figure here is worth something only beside another one of the same run, so every bench
//! measures a floor too, in turns with the daemon, and prints the ratio and how much both vary.
#![expect(
    dead_code,
    unreachable_pub,
    clippy::print_stdout,
    reason = "each bench uses a part of it"
)]

pub mod client;
pub mod floor;
pub mod house;
pub mod receiver;
pub mod relay;
pub mod upstream;

use std::time::Duration;

/// What a load has measured.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Answers a second.
    pub rate: f64,
    /// Time of each answer, sorted.
    pub times: Vec<Duration>,
}

impl Figures {
    /// The time that a share of the answers did not exceed.
    pub fn quantile(&self, share: f64) -> Duration {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index"
        )]
        let at = ((self.times.len() as f64 - 1.0) * share) as usize;
        self.times[at]
    }
}

/// The middle of some numbers.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Prints the machine, which every figure depends on.
pub fn print_machine() {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|it| it.strip_prefix("model name")).unwrap_or(": unknown");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("machine: {cores} cores,{}", model.trim_start_matches(['\t', ':']));
}
