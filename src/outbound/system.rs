//! The host's own resolver: `/etc/hosts` first, then the servers of `/etc/resolv.conf`.
//!
//! No answer is kept, so what was judged is what was just answered. Both files are read again
//! when they change, and after look-ups that no server answered, so a network that comes up
//! after the daemon is found without a restart. Names are asked for complete; search lists and
//! the host's own domain are not used. A host without a readable `resolv.conf` has no servers:
//! look-ups fail, one by one, until it has.

use std::fmt;
use std::fs::{self, File};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hickory_resolver::config::ResolveHosts;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::system_conf::parse_resolv_conf;
use hickory_resolver::{Hosts, TokioResolver};
use tokio::sync::Semaphore;

use crate::outbound::{BoxFuture, ResolveError, Resolver};
use crate::sys::clock::{Clock, Mark};

/// Resolves names as the host does.
pub struct SystemResolver {
    clock: Clock,
    hosts_file: PathBuf,
    resolv_conf: PathBuf,
    loaded: Mutex<Loaded>,
    /// Whether the last look-up that ended was left unanswered.
    doubtful: AtomicBool,
    /// Whether there were servers when the files were last read, so that a lack is told once.
    has_servers: AtomicBool,
    turns: Semaphore,
}

/// What the two files said when they were last read.
struct Loaded {
    hosts: Arc<Hosts>,
    servers: Option<TokioResolver>,
    changed_at: [Option<SystemTime>; 2],
    read_at: Mark,
}

impl SystemResolver {
    /// A resolver that reads the host's files.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self::reading(clock, PathBuf::from("/etc/hosts"), PathBuf::from("/etc/resolv.conf"))
    }

    fn reading(clock: Clock, hosts_file: PathBuf, resolv_conf: PathBuf) -> Self {
        let loaded = Loaded {
            hosts: Arc::default(),
            servers: None,
            changed_at: [None; 2],
            read_at: clock.mark(),
        };
        let resolver = Self {
            clock,
            hosts_file,
            resolv_conf,
            loaded: Mutex::new(loaded),
            doubtful: AtomicBool::new(false),
            has_servers: AtomicBool::new(true),
            turns: Semaphore::new(LOOKUPS_MAX),
        };
        let fresh = resolver.read();
        *resolver.loaded.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        resolver
    }

    async fn find(&self, host: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let mut name = Name::from_ascii(host).map_err(|_| ResolveError::NxDomain)?;
        name.set_fqdn(true);
        let _turn = self.turns.acquire().await.map_err(|_| ResolveError::ServerFailure)?;
        let (hosts, servers) = self.current();
        let known = in_hosts(&hosts, &name);
        if !known.is_empty() {
            return Ok(known);
        }
        let doubt = Doubt(&self.doubtful);
        let servers = servers.ok_or(ResolveError::ServerFailure)?;
        let found = servers.lookup_ip(name).await.map_err(|error| {
            tracing::debug!(%error, "could not resolve a name");
            reason(&error)
        });
        if !matches!(found, Err(ResolveError::ServerFailure | ResolveError::Timeout)) {
            doubt.dispel();
        }
        let addresses: Vec<IpAddr> = found?.iter().collect();
        if addresses.is_empty() { Err(ResolveError::NoAddress) } else { Ok(addresses) }
    }

    /// What the files say, read again when there is a reason to.
    ///
    /// Looking at two small local files takes microseconds, so this blocks.
    fn current(&self) -> (Arc<Hosts>, Option<TokioResolver>) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let doubtful =
            self.doubtful.load(Ordering::Relaxed) && loaded.read_at.elapsed() >= READ_AGAIN_PAUSE;
        if doubtful || loaded.changed_at != self.changed_at() {
            self.doubtful.store(false, Ordering::Relaxed);
            *loaded = self.read();
        }
        (Arc::clone(&loaded.hosts), loaded.servers.clone())
    }

    fn changed_at(&self) -> [Option<SystemTime>; 2] {
        [&self.hosts_file, &self.resolv_conf]
            .map(|it| fs::metadata(it).and_then(|it| it.modified()).ok())
    }

    fn read(&self) -> Loaded {
        let changed_at = self.changed_at();
        let mut hosts = Hosts::default();
        // A host without the file, or with a broken one, knows the names read so far.
        let _ = File::open(&self.hosts_file)
            .map_err(NetError::from)
            .and_then(|it| hosts.read_hosts_conf(it).map_err(NetError::from));
        let servers = fs::read(&self.resolv_conf).map_err(NetError::from).and_then(servers);
        let had_servers = self.has_servers.swap(servers.is_ok(), Ordering::Relaxed);
        if let Err(error) = &servers
            && had_servers
        {
            let file = self.resolv_conf.display();
            tracing::warn!(%error, "{file} names no server that can be used");
        }
        Loaded {
            hosts: Arc::new(hosts),
            servers: servers.ok(),
            changed_at,
            read_at: self.clock.mark(),
        }
    }
}

impl Resolver for SystemResolver {
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        Box::pin(self.find(host))
    }
}

impl fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemResolver")
            .field("resolv_conf", &self.resolv_conf)
            .finish_non_exhaustive()
    }
}

/// Leaves a doubt about the servers unless it is dispelled, also when the look-up is dropped.
struct Doubt<'a>(&'a AtomicBool);

impl Doubt<'_> {
    fn dispel(self) {
        self.0.store(false, Ordering::Relaxed);
        std::mem::forget(self);
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn servers(resolv_conf: Vec<u8>) -> Result<TokioResolver, NetError> {
    let (config, mut options) = parse_resolv_conf(resolv_conf)?;
    options.cache_size = 0;
    options.positive_max_ttl = Some(Duration::ZERO);
    options.negative_max_ttl = Some(Duration::ZERO);
    options.use_hosts_file = ResolveHosts::Never;
    options.timeout = QUERY_DEADLINE;
    options.attempts = QUERY_RETRIES;
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    builder.build()
}

fn in_hosts(hosts: &Hosts, name: &Name) -> Vec<IpAddr> {
    let of_type = |kind| hosts.lookup_static_host(&Query::query(name.clone(), kind));
    let found = [RecordType::AAAA, RecordType::A].into_iter().filter_map(of_type);
    found
        .flat_map(|it| it.answers().iter().filter_map(|it| it.data.ip_addr()).collect::<Vec<_>>())
        .collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "an open set of the library")]
fn reason(error: &NetError) -> ResolveError {
    match error {
        NetError::Timeout => ResolveError::Timeout,
        NetError::Dns(DnsError::NoRecordsFound(_)) if error.is_nx_domain() => {
            ResolveError::NxDomain
        }
        NetError::Dns(DnsError::NoRecordsFound(_)) => ResolveError::NoAddress,
        _ => ResolveError::ServerFailure,
    }
}

/// Look-ups at the same time, each of a few sockets. As many as attempts and fetches can ever be
/// under way by default, so that nobody waits for a turn behind names whose servers hang.
const LOOKUPS_MAX: usize = 4_096;
/// How long a server may take for one answer; two tries fit into the three seconds of a look-up.
const QUERY_DEADLINE: Duration = Duration::from_millis(1_400);
/// Tries after the first.
const QUERY_RETRIES: usize = 1;
/// The shortest time between two readings of unchanged files.
const READ_AGAIN_PAUSE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    struct Files(tempfile::TempDir);

    impl Files {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn write(&self, name: &str, text: &str, changed_at: u64) {
            let path = self.0.path().join(name);
            fs::write(&path, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(changed_at);
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        }

        fn resolver(&self) -> SystemResolver {
            let path = |name| self.0.path().join(name);
            SystemResolver::reading(Clock::host(), path("hosts"), path("resolv.conf"))
        }
    }

    #[tokio::test]
    async fn names_of_the_hosts_file_are_found_without_any_server() {
        let files = Files::new();
        files.write("hosts", "127.0.0.1 trap.example.org\n::1 Trap.example.org other\n", 1);
        let resolver = files.resolver();
        let found = resolver.lookup("trap.example.org").await.unwrap();
        assert_eq!(found, ["::1".parse::<IpAddr>().unwrap(), "127.0.0.1".parse().unwrap()]);
        assert_eq!(resolver.lookup("example.org").await, Err(ResolveError::ServerFailure));
        assert_eq!(resolver.lookup("a..b").await, Err(ResolveError::NxDomain));
    }

    #[tokio::test]
    async fn changed_files_are_read_again() {
        let files = Files::new();
        files.write("hosts", "127.0.0.1 a.example.org\n", 1);
        let resolver = files.resolver();
        assert!(resolver.current().1.is_none());
        files.write("hosts", "127.0.0.2 a.example.org\n", 2);
        files.write("resolv.conf", "nameserver 192.0.2.1\n", 2);
        let found = resolver.lookup("a.example.org").await.unwrap();
        assert_eq!(found, ["127.0.0.2".parse::<IpAddr>().unwrap()]);
        assert!(resolver.current().1.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn unchanged_files_are_read_again_after_a_look_up_that_nobody_answered() {
        let files = Files::new();
        let resolver = files.resolver();
        files.write("hosts", "127.0.0.1 a.example.org\n", 1);
        // As if the change could not be seen from the file's time.
        resolver.loaded.lock().unwrap().changed_at = resolver.changed_at();
        assert_eq!(resolver.lookup("a.example.org").await, Err(ResolveError::ServerFailure));
        Clock::host().sleep(READ_AGAIN_PAUSE).await;
        assert!(resolver.lookup("a.example.org").await.is_ok());
    }

    /// Source: the contract, section 8, fault F31.
    #[tokio::test(start_paused = true)]
    async fn a_look_up_waits_for_none_of_those_whose_servers_hang() {
        let files = Files::new();
        files.write("hosts", "127.0.0.1 known.example.org\n", 1);
        files.write("resolv.conf", "nameserver 192.0.2.1\n", 1);
        let resolver = files.resolver();
        let now = Duration::ZERO;
        let mut hanging = Vec::new();
        for _ in 0..ATTEMPTS_MAX {
            let mut look_up = resolver.lookup("hole.example.org");
            // Each has its turn from here on, and no answer.
            let ended = Clock::host().within(now, &mut look_up).await;
            assert!(ended.is_err(), "somebody answers at 192.0.2.1: {ended:?}");
            hanging.push(look_up);
        }
        let known = Clock::host().within(now, resolver.lookup("known.example.org")).await;
        assert_eq!(known, Ok(Ok(vec!["127.0.0.1".parse().unwrap()])));
    }

    /// As many attempts as both lanes of the default settings have places for.
    const ATTEMPTS_MAX: usize = 512 + 2_048;

    #[test]
    fn servers_are_asked_for_complete_names_and_their_answers_are_not_kept() {
        let conf = b"search corp.local\nnameserver 192.0.2.1\noptions timeout:30 attempts:9\n";
        let servers = servers(conf.to_vec()).unwrap();
        let options = servers.options();
        assert_eq!((options.cache_size, options.attempts), (0, 1));
        assert_eq!(options.timeout, Duration::from_millis(1_400));
        assert!(super::servers(b"search only\n".to_vec()).is_err());
    }
}
