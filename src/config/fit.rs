//! What some values become on their way into the [`Config`].

use std::net::IpAddr;
use std::path::PathBuf;
use std::thread::available_parallelism;

use crate::config::shape::Config;
use crate::domain::address::Network;
use crate::inbound::TlsFiles;

/// A level alone, as a filter that keeps the libraries down to warnings.
pub(super) fn of_ourselves(filter: String) -> String {
    match filter.as_str() {
        "info" | "debug" | "trace" => format!("warn,errand={filter}"),
        _ => filter,
    }
}

/// The certificate and the key, to be filled in.
pub(super) fn tls(config: &mut Config) -> &mut TlsFiles {
    let empty = || TlsFiles { cert: PathBuf::new(), key: PathBuf::new() };
    config.http.tls.get_or_insert_with(empty)
}

/// The two parts of a network.
pub(super) fn block(network: &Network) -> Option<(IpAddr, u8)> {
    let text = network.to_string();
    let (base, bits) = text.split_once('/')?;
    Some((base.parse().ok()?, bits.parse().ok()?))
}

/// A number of things in memory.
pub(super) fn of_usize(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// As many as somebody said, or one for each processor.
pub(super) fn workers(count: Option<u32>) -> usize {
    let processors = || available_parallelism().map_or(1, usize::from).max(2);
    count.and_then(|it| usize::try_from(it).ok()).unwrap_or_else(processors)
}
