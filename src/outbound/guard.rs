//! Which addresses may be dialled; the only maker of a [`PublicAddr`].
//!
//! The rules of [`domain::address`](crate::domain::address) hold, and an operator's two lists
//! are laid over them: one takes away, one adds. All answers to a name are judged before any is
//! dropped, and one forbidden answer refuses the name: who controls it might choose the order.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::domain::address::{self, Network, Verdict, WELL_KNOWN_NAT64};

/// The gate for outgoing addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    config: GuardConfig,
    translators: Vec<Network>,
}

/// What an operator adds to the rules and takes from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardConfig {
    /// Networks that count as public although they are not.
    ///
    /// A wide network does not open what is served to every program of a machine or hides
    /// another address, such as cloud metadata at 169.254.169.254: a network must lie within
    /// such a block to open it. So `0.0.0.0/0` leaves it shut and `169.254.169.254/32` opens it.
    pub allow: Vec<Network>,
    /// Networks that do not count as public although they are; stronger than `allow`.
    pub deny: Vec<Network>,
    /// Ports that may be dialled.
    pub ports: Ports,
}

/// Which ports may be dialled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ports {
    /// Every port.
    #[default]
    Any,
    /// These.
    Only(Vec<u16>),
}

/// An address that the guard has passed: only [`Guard::pass`] makes one, and only a
/// [`Dialer`](crate::outbound::Dialer) takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicAddr(SocketAddr);

/// The guard let nothing through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// One of the addresses is not public; says what it is, for the log.
    Address(&'static str),
    /// The port is not one that may be dialled.
    Port,
}

impl Guard {
    /// A guard with the rules that hold everywhere and the operator's lists.
    #[must_use]
    pub const fn new(config: GuardConfig) -> Self {
        Self { config, translators: Vec::new() }
    }

    /// Judges addresses in `prefixes` by the IPv4 address that a translator finds in them.
    ///
    /// For networks with a NAT64 prefix of their own; the well-known one is always judged so.
    #[must_use]
    pub fn with_translators(mut self, prefixes: Vec<Network>) -> Self {
        self.translators = prefixes;
        self
    }

    /// Judges one address.
    #[must_use]
    pub fn judge(&self, ip: IpAddr) -> Verdict {
        let inner = self.embedded(ip);
        let reached = [Some(ip), inner];
        if self.config.deny.iter().any(|net| reached.iter().flatten().any(|it| net.contains(*it))) {
            return Verdict::Refused("denied by the operator");
        }
        match inner {
            // The operator's `allow` speaks of this host's networks, not of the translator's.
            Some(inner) => address::judge(inner),
            None if self.allows(ip) => Verdict::Public,
            None => address::judge(ip),
        }
    }

    /// Judges all addresses of a name, and keeps at most two: one of IPv6 and one of IPv4 if
    /// there are both, IPv6 first.
    ///
    /// # Errors
    ///
    /// [`Forbidden`] when the port or any of the addresses may not be dialled.
    pub fn pass(&self, answers: &[IpAddr], port: u16) -> Result<Vec<PublicAddr>, Forbidden> {
        if matches!(&self.config.ports, Ports::Only(ports) if !ports.contains(&port)) {
            return Err(Forbidden::Port);
        }
        for ip in answers {
            if let Verdict::Refused(what) = self.judge(*ip) {
                return Err(Forbidden::Address(what));
            }
        }
        let kept = answers.get(..ANSWERS_MAX).unwrap_or(answers);
        let first = kept.iter().find(|it| it.is_ipv6()).or(kept.first());
        let mut others = kept.iter().filter(|it| Some(*it) != first);
        let second = others.clone().find(|it| it.is_ipv4()).or_else(|| others.next());
        let dialled = first.into_iter().chain(second);
        Ok(dialled.map(|ip| PublicAddr(SocketAddr::new(*ip, port))).collect())
    }

    /// The IPv4 address that a translator would reach behind `ip`.
    fn embedded(&self, ip: IpAddr) -> Option<IpAddr> {
        let IpAddr::V6(v6) = ip else {
            return None;
        };
        let mut prefixes = self.translators.iter().chain([&WELL_KNOWN_NAT64]);
        prefixes.find_map(|it| it.embedded(v6)).map(IpAddr::V4)
    }

    fn allows(&self, ip: IpAddr) -> bool {
        let mut sensitive = SENSITIVE.iter().filter(|it| it.contains(ip));
        let mut allowing = self.config.allow.iter().filter(|it| it.contains(ip));
        match sensitive.next() {
            Some(block) => allowing.any(|it| block.covers(it)),
            None => allowing.next().is_some(),
        }
    }
}

impl GuardConfig {
    /// What `errand dev` uses: loopback and private networks count as public, on any port.
    #[must_use]
    pub fn development() -> Self {
        Self { allow: LOCAL.to_vec(), deny: Vec::new(), ports: Ports::Any }
    }

    /// What everything else uses: public addresses only, and these ports.
    #[must_use]
    pub fn public(ports: &[u16]) -> Self {
        Self { allow: Vec::new(), deny: Vec::new(), ports: Ports::Only(ports.to_vec()) }
    }
}

impl PublicAddr {
    /// The address and port.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.0
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(what) => write!(f, "an address is not public: {what}"),
            Self::Port => f.write_str("the port is not allowed"),
        }
    }
}

impl std::error::Error for Forbidden {}

/// Answers out of which the dialled ones are chosen; all others are only judged.
const ANSWERS_MAX: usize = 16;

/// Loopback and the private networks.
const LOCAL: [Network; 6] = [
    Network::v4([127, 0, 0, 0], 8),
    Network::v6([0, 0, 0, 0, 0, 0, 0, 1], 128),
    Network::v4([10, 0, 0, 0], 8),
    Network::v4([172, 16, 0, 0], 12),
    Network::v4([192, 168, 0, 0], 16),
    Network::v6([0xFC00, 0, 0, 0, 0, 0, 0, 0], 7),
];

/// Blocks that a wider entry of `allow` does not open: services that answer any program of a
/// machine with its secrets, and forms of IPv6 that hide an IPv4 address.
const SENSITIVE: [Network; 13] = [
    Network::v4([169, 254, 0, 0], 16),
    Network::v4([168, 63, 129, 16], 32),
    Network::v4([100, 100, 100, 200], 32),
    Network::v4([192, 0, 0, 192], 32),
    Network::v6([0xFD00, 0x42, 0, 0, 0, 0, 0, 0], 32),
    Network::v6([0xFD00, 0xC1, 0, 0, 0, 0, 0, 0], 32),
    Network::v6([0xFD00, 0xEC2, 0, 0, 0, 0, 0, 0], 32),
    Network::v6([0xFD20, 0xCE, 0, 0, 0, 0, 0, 0], 32),
    Network::v6([0xFE80, 0, 0, 0, 0, 0, 0, 0], 10),
    Network::v6([0, 0, 0, 0, 0, 0xFFFF, 0, 0], 96),
    Network::v6([0, 0, 0, 0, 0xFFFF, 0, 0, 0], 96),
    Network::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    Network::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn ips(text: &str) -> Vec<IpAddr> {
        text.split_whitespace().map(|it| it.parse().unwrap()).collect()
    }

    fn nets(text: &str) -> Vec<Network> {
        text.split_whitespace().map(|it| Network::parse(it).unwrap()).collect()
    }

    fn allowing(text: &str) -> Guard {
        Guard::new(GuardConfig { allow: nets(text), ..GuardConfig::default() })
    }

    #[track_caller]
    fn check_pass(guard: &Guard, answers: &str, dialled: &str) {
        let passed = guard.pass(&ips(answers), 443).unwrap();
        let passed: Vec<_> = passed.iter().map(|it| it.addr().ip()).collect();
        assert_eq!(passed, ips(dialled), "{answers}");
    }

    #[track_caller]
    fn check_forbidden(guard: &Guard, answers: &str) {
        let passed = guard.pass(&ips(answers), 443);
        assert!(matches!(passed, Err(Forbidden::Address(_))), "{answers}: {passed:?}");
    }

    #[test]
    fn one_forbidden_answer_refuses_all_wherever_it_stands() {
        let guard = Guard::new(GuardConfig::public(&[443]));
        let sixteen = "8.8.8.8 ".repeat(16);
        check_forbidden(&guard, "8.8.8.8 10.0.0.1");
        check_forbidden(&guard, "fc00::1 8.8.8.8");
        check_forbidden(&guard, &format!("{sixteen} 10.0.0.1"));
        check_forbidden(&guard, "::ffff:8.8.8.8");
    }

    #[test]
    fn two_addresses_are_kept_and_both_families_get_a_chance() {
        let guard = Guard::new(GuardConfig::public(&[443]));
        check_pass(&guard, "", "");
        check_pass(&guard, "8.8.8.8", "8.8.8.8");
        check_pass(&guard, "8.8.8.8 8.8.4.4 1.1.1.1", "8.8.8.8 8.8.4.4");
        check_pass(&guard, "8.8.8.8 8.8.4.4 2a00::1 2a00::2", "2a00::1 8.8.8.8");
        check_pass(&guard, "2a00::1 2a00::2", "2a00::1 2a00::2");
        check_pass(&guard, "8.8.8.8 8.8.8.8", "8.8.8.8");
        check_pass(&guard, &format!("{} 2a00::1", "8.8.8.8 ".repeat(16)), "8.8.8.8");
    }

    #[test]
    fn only_the_listed_ports_are_dialled() {
        let guard = Guard::new(GuardConfig::public(&[443]));
        for port in [0, 22, 80, 444, 65535] {
            assert_eq!(guard.pass(&ips("8.8.8.8"), port), Err(Forbidden::Port));
        }
        assert!(Guard::new(GuardConfig::default()).pass(&ips("8.8.8.8"), 22).is_ok());
    }

    #[test]
    fn allowing_loopback_leaves_metadata_shut() {
        let guard = allowing("127.0.0.1/32");
        check_pass(&guard, "127.0.0.1", "127.0.0.1");
        for answers in ["169.254.169.254", "127.0.0.2", "10.0.0.1", "::1", "::ffff:127.0.0.1"] {
            check_forbidden(&guard, answers);
        }
    }

    #[test]
    fn a_wide_allowance_opens_no_metadata_and_no_hidden_address() {
        let guard = allowing("0.0.0.0/0 ::/0");
        check_pass(&guard, "10.0.0.1 ::1", "::1 10.0.0.1");
        for answers in [
            "169.254.169.254",
            "169.254.0.1",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd00:c1::a9fe:a9fe",
            "fd20:ce::254",
            "fe80::a9fe:a9fe",
            "::ffff:169.254.169.254",
            "64:ff9b::169.254.169.254",
            "64:ff9b::10.0.0.1",
            "2002:a9fe:a9fe::1",
        ] {
            check_forbidden(&guard, answers);
        }
        let explicit = allowing("169.254.169.254/32 fe80::/10");
        check_pass(&explicit, "169.254.169.254 fe80::1", "fe80::1 169.254.169.254");
        check_forbidden(&explicit, "169.254.169.253");
    }

    #[test]
    fn development_opens_this_host_and_private_networks_only() {
        let guard = Guard::new(GuardConfig::development());
        for answers in ["127.0.0.1", "::1", "10.1.2.3", "172.31.0.1", "192.168.0.1", "fd12::1"] {
            check_pass(&guard, answers, answers);
        }
        for answers in ["169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "fd00:ec2::254"] {
            check_forbidden(&guard, answers);
        }
    }

    #[test]
    fn what_the_operator_denies_is_denied_in_every_form() {
        let config =
            GuardConfig { deny: nets("8.8.0.0/16 2a00::/16"), ..GuardConfig::development() };
        let guard = Guard::new(config);
        for answers in ["8.8.8.8", "2a00::1", "64:ff9b::8.8.8.8"] {
            check_forbidden(&guard, answers);
        }
        check_pass(&guard, "9.9.9.9", "9.9.9.9");
    }

    #[test]
    fn a_translator_of_the_operator_is_judged_by_what_it_reaches() {
        let guard = Guard::new(GuardConfig::default()).with_translators(nets("2a00:64::/96"));
        check_forbidden(&guard, "2a00:64::10.0.0.1");
        check_pass(&guard, "2a00:64::8.8.8.8", "2a00:64::8.8.8.8");
    }
}
