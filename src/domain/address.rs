//! Which IP addresses are public, and networks of addresses.
//!
//! A list of what is forbidden forgets. IPv4 has no other way; for IPv6 only the one block in
//! public use passes, minus what was carved out of it. An IPv6 address that stands for an IPv4
//! address is judged as that one where a translator must work, and refused everywhere else.
//! Names are not looked up here, and nothing is opened.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is an address of the public network.
    Public,
    /// It is not; says what it is, for the log.
    Refused(&'static str),
}

/// A block of addresses: a base and the number of leading bits that all have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    base: IpAddr,
    bits: u8,
}

/// Why a text is not a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNetwork {
    /// What stands before the slash is not an address.
    Address,
    /// What stands after the slash is not a number of bits that the address has.
    Bits,
    /// The address has bits set behind the prefix, so one of the two is a slip.
    Rest,
}

/// Judges an address by the rules that hold everywhere.
///
/// Source: service interface, "Events", rule 3; the IANA registries of special-purpose addresses.
#[must_use]
pub fn judge(ip: IpAddr) -> Verdict {
    match ip {
        IpAddr::V4(_) => named(&SPECIAL_V4, ip).map_or(Verdict::Public, Verdict::Refused),
        IpAddr::V6(v6) => judge_v6(v6),
    }
}

fn judge_v6(v6: Ipv6Addr) -> Verdict {
    let ip = IpAddr::V6(v6);
    if let Some(inner) = WELL_KNOWN_NAT64.embedded(v6) {
        // DNS64 makes these out of public IPv4 addresses; an IPv6-only host has nothing else.
        return judge(IpAddr::V4(inner));
    }
    if !GLOBAL_UNICAST.contains(ip) {
        return Verdict::Refused("outside 2000::/3");
    }
    if is_isatap(v6) {
        return Verdict::Refused("ISATAP tunnel");
    }
    named(&SPECIAL_V6, ip).map_or(Verdict::Public, Verdict::Refused)
}

/// Whether the interface id is one that carries an IPv4 address through an ISATAP tunnel.
fn is_isatap(v6: Ipv6Addr) -> bool {
    let [_, _, _, _, high, low, ..] = v6.segments();
    matches!(high, 0 | 0x0200) && low == 0x5EFE
}

fn named(table: &[(Network, &'static str)], ip: IpAddr) -> Option<&'static str> {
    table.iter().find(|(network, _)| network.contains(ip)).map(|(_, name)| *name)
}

impl Network {
    /// A block of IPv4 addresses.
    #[must_use]
    pub const fn v4(base: [u8; 4], bits: u8) -> Self {
        let [a, b, c, d] = base;
        Self { base: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), bits }
    }

    /// A block of IPv6 addresses.
    #[must_use]
    pub const fn v6(base: [u16; 8], bits: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = base;
        Self { base: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), bits }
    }

    /// Reads `10.0.0.0/8`, `fc00::/7`, or one address without a slash.
    ///
    /// # Errors
    ///
    /// [`BadNetwork`], also when the address has bits set behind the prefix.
    pub fn parse(text: &str) -> Result<Self, BadNetwork> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let base: IpAddr = address.parse().map_err(|_| BadNetwork::Address)?;
        let all = width(base);
        let bits = match bits {
            None => all,
            Some(text) if text.bytes().all(|it| it.is_ascii_digit()) => {
                text.parse().map_err(|_| BadNetwork::Bits)?
            }
            Some(_) => return Err(BadNetwork::Bits),
        };
        if bits > all {
            return Err(BadNetwork::Bits);
        }
        let network = Self { base, bits };
        if number(base) & !network.mask() != 0 {
            return Err(BadNetwork::Rest);
        }
        Ok(network)
    }

    /// Whether `ip` is in the block; an IPv4 address is in no IPv6 block, mapped or not.
    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        self.base.is_ipv4() == ip.is_ipv4() && (number(ip) ^ number(self.base)) & self.mask() == 0
    }

    /// Whether every address of `other` is in the block.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.bits <= other.bits && self.contains(other.base)
    }

    /// The IPv4 address that `v6` stands for behind a translator whose prefix is this block.
    ///
    /// `None` when `v6` is not in the block, or the block's length is none that translators use.
    /// Source: RFC 6052, section 2.2; bits 64 to 71 carry nothing.
    #[must_use]
    pub fn embedded(&self, v6: Ipv6Addr) -> Option<Ipv4Addr> {
        let is_prefix = self.base.is_ipv6() && matches!(self.bits, 32 | 40 | 48 | 56 | 64 | 96);
        if !is_prefix || !self.contains(IpAddr::V6(v6)) {
            return None;
        }
        let start = usize::from(self.bits / 8);
        let octets = v6.octets();
        let mut rest =
            octets.iter().enumerate().skip(start).filter(|(at, _)| *at != 8).map(|(_, it)| *it);
        Some(Ipv4Addr::new(rest.next()?, rest.next()?, rest.next()?, rest.next()?))
    }

    /// The leading bits, as a number with as many ones.
    fn mask(&self) -> u128 {
        let free = width(self.base).saturating_sub(self.bits);
        let all = match self.base {
            IpAddr::V4(_) => u128::from(u32::MAX),
            IpAddr::V6(_) => u128::MAX,
        };
        all.checked_shl(u32::from(free)).unwrap_or(0) & all
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

impl fmt::Display for BadNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "not an IP address",
            Self::Bits => "not a prefix length of this kind of address",
            Self::Rest => "the address has bits set behind its prefix",
        })
    }
}

impl std::error::Error for BadNetwork {}

const fn width(ip: IpAddr) -> u8 {
    match ip {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// Addresses that translate to IPv4 everywhere. Source: RFC 6052.
pub const WELL_KNOWN_NAT64: Network = Network::v6([0x64, 0xFF9B, 0, 0, 0, 0, 0, 0], 96);

/// The only block out of which public unicast addresses are given. Source: RFC 4291.
const GLOBAL_UNICAST: Network = Network::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

const SPECIAL_V4: [(Network, &str); 19] = [
    (Network::v4([0, 0, 0, 0], 8), "this host"),
    (Network::v4([10, 0, 0, 0], 8), "private"),
    (Network::v4([100, 64, 0, 0], 10), "shared by a carrier"),
    (Network::v4([127, 0, 0, 0], 8), "loopback"),
    (Network::v4([169, 254, 0, 0], 16), "link-local"),
    (Network::v4([172, 16, 0, 0], 12), "private"),
    (Network::v4([192, 0, 0, 0], 24), "protocol assignments"),
    (Network::v4([192, 0, 2, 0], 24), "documentation"),
    (Network::v4([192, 31, 196, 0], 24), "AS112"),
    (Network::v4([192, 52, 193, 0], 24), "multicast tunnels"),
    (Network::v4([192, 88, 99, 0], 24), "6to4 relay"),
    (Network::v4([192, 168, 0, 0], 16), "private"),
    (Network::v4([192, 175, 48, 0], 24), "AS112"),
    (Network::v4([198, 18, 0, 0], 15), "benchmarks"),
    (Network::v4([198, 51, 100, 0], 24), "documentation"),
    (Network::v4([203, 0, 113, 0], 24), "documentation"),
    (Network::v4([224, 0, 0, 0], 4), "multicast"),
    (Network::v4([240, 0, 0, 0], 4), "reserved"),
    (Network::v4([168, 63, 129, 16], 32), "platform service"),
];

/// What was carved out of [`GLOBAL_UNICAST`].
const SPECIAL_V6: [(Network, &str); 5] = [
    (Network::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "protocol assignments"),
    (Network::v6([0x2001, 0xDB8, 0, 0, 0, 0, 0, 0], 32), "documentation"),
    (Network::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "6to4 tunnel"),
    (Network::v6([0x2620, 0x4F, 0x8000, 0, 0, 0, 0, 0], 48), "AS112"),
    (Network::v6([0x3FFF, 0, 0, 0, 0, 0, 0, 0], 20), "documentation"),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, public: bool) {
        let verdict = judge(text.parse().unwrap());
        assert_eq!(verdict == Verdict::Public, public, "{text}: {verdict:?}");
    }

    #[test]
    fn both_ends_of_every_special_block_are_refused_and_their_neighbours_are_not() {
        for (network, name) in SPECIAL_V4 {
            let first = u32::try_from(number(network.base)).unwrap();
            let last = first | !u32::try_from(network.mask()).unwrap();
            for inside in [first, last] {
                let ip = IpAddr::V4(Ipv4Addr::from_bits(inside));
                assert_eq!(judge(ip), Verdict::Refused(name), "{ip}");
            }
        }
        let neighbours = "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 \
            126.255.255.255 128.0.0.0 \
            168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 \
            191.255.255.255 192.0.1.0 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255 \
            192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255 \
            192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 \
            203.0.114.0 223.255.255.255";
        for text in neighbours.split_whitespace() {
            check(text, true);
        }
    }

    #[test]
    fn of_ipv6_only_public_unicast_passes() {
        for text in [
            "2001:200::1",
            "2001:db7:ffff::1",
            "2001:db9::1",
            "2003::1",
            "2620:4f:7fff::1",
            "2620:4f:8001::1",
            "2a00:1450:4001:800::200e",
            "3ffe:ffff::1",
            "3fff:1000::1",
            "2001:470::1:5efe:808:808",
            "64:ff9b::8.8.8.8",
        ] {
            check(text, true);
        }
        for text in [
            "::",
            "::1",
            "::7f00:1",
            "::8.8.8.8",
            "::ffff:8.8.8.8",
            "::ffff:0:8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b:0:0:0:1:808:808",
            "64:ff9b:1::808:808",
            "100::1",
            "1fff:ffff::1",
            "2001::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:808:808::1",
            "2001:470:1:2:0:5efe:8.8.8.8",
            "2001:470:1:2:200:5efe:8.8.8.8",
            "2620:4f:8000:ffff::1",
            "3fff:fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fdff:ffff::1",
            "fe80::1",
            "fec0::1",
            "ff0e::1",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn a_network_is_read_and_written_and_a_slip_in_it_is_found() {
        for text in ["10.0.0.0/8", "0.0.0.0/0", "::/0", "fc00::/7", "1.2.3.4/32", "::1/128"] {
            assert_eq!(Network::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Network::parse("127.0.0.1"), Ok(Network::v4([127, 0, 0, 1], 32)));
        for (text, why) in [
            ("", BadNetwork::Address),
            ("localhost", BadNetwork::Address),
            ("10.0.0/8", BadNetwork::Address),
            ("010.0.0.0/8", BadNetwork::Address),
            ("fe80::%1/64", BadNetwork::Address),
            ("10.0.0.0/33", BadNetwork::Bits),
            ("10.0.0.0/", BadNetwork::Bits),
            ("10.0.0.0/+8", BadNetwork::Bits),
            ("::/129", BadNetwork::Bits),
            ("::/999", BadNetwork::Bits),
            ("10.0.0.1/8", BadNetwork::Rest),
            ("fe80::1/10", BadNetwork::Rest),
        ] {
            assert_eq!(Network::parse(text), Err(why), "{text}");
        }
    }

    #[test]
    fn a_block_covers_its_parts_and_nothing_of_the_other_kind() {
        let block = Network::parse("10.0.0.0/8").unwrap();
        assert!(block.covers(&Network::parse("10.1.0.0/16").unwrap()) && block.covers(&block));
        assert!(!block.covers(&Network::parse("0.0.0.0/0").unwrap()));
        assert!(!Network::parse("::/0").unwrap().contains("10.0.0.1".parse().unwrap()));
        assert!(Network::parse("0.0.0.0/0").unwrap().contains("255.255.255.255".parse().unwrap()));
    }

    #[test]
    fn an_embedded_address_is_found_for_every_length_that_translators_use() {
        // The examples of RFC 6052, section 2.4.
        for (prefix, v6) in [
            ("2001:db8::/32", "2001:db8:c000:221::"),
            ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
            ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
            ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
            ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
            ("2001:db8:122:344::/96", "2001:db8:122:344::c000:221"),
        ] {
            let inner = Network::parse(prefix).unwrap().embedded(v6.parse().unwrap());
            assert_eq!(inner, Some(Ipv4Addr::new(192, 0, 2, 33)), "{prefix}");
        }
        let odd = Network::parse("2001:db8::/33").unwrap();
        assert_eq!(odd.embedded("2001:db8::1".parse().unwrap()), None);
    }

    proptest! {
        #[test]
        fn what_stands_for_an_ipv4_address_inherits_its_verdict_or_is_refused(bits: u32) {
            let v4 = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = v4.octets();
            let nat64: Ipv6Addr = format!("64:ff9b::{v4}").parse().unwrap();
            prop_assert_eq!(judge(nat64.into()), judge(v4.into()));
            for text in [
                format!("::ffff:{v4}"),
                format!("::{v4}"),
                format!("::ffff:0:{v4}"),
                format!("64:ff9b:1::{v4}"),
                format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1"),
                format!("2a00:1450:4001:800:0:5efe:{v4}"),
                format!("fe80::200:5efe:{v4}"),
            ] {
                let refused = matches!(judge(text.parse().unwrap()), Verdict::Refused(_));
                prop_assert!(refused, "{}", text);
            }
        }
    }
}
