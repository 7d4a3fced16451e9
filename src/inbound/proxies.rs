//! For whom a trusted proxy speaks.
//!
//! A proxy appends the address it saw to `X-Forwarded-For`; everything to the left of that its own
//! caller may have invented. So the list is read from the right, and the first address that is not
//! a trusted proxy's is the caller's.

use std::net::{IpAddr, SocketAddr};

/// Whether the address is in one of the networks.
pub(super) fn is_trusted(networks: &[(IpAddr, u8)], ip: IpAddr) -> bool {
    networks.iter().any(|(network, prefix)| is_within(*network, *prefix, ip))
}

/// The caller behind the trusted proxy `peer`, from the header's values in their order.
///
/// What cannot be read ends the search: the last address that was understood is the answer, which
/// at worst makes the callers of one proxy share their limits.
pub(super) fn caller<'a>(
    networks: &[(IpAddr, u8)],
    peer: IpAddr,
    values: impl DoubleEndedIterator<Item = &'a str>,
) -> IpAddr {
    let mut nearest = peer;
    for entry in values.rev().flat_map(|it| it.rsplit(',')) {
        let Some(ip) = address(entry.trim()) else { break };
        nearest = ip;
        if !is_trusted(networks, ip) {
            break;
        }
    }
    nearest
}

/// Reads an address as proxies write it, with or without brackets and a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
    let ip = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|it| it.ip()))?;
    Some(ip.to_canonical())
}

fn is_within(network: IpAddr, prefix: u8, ip: IpAddr) -> bool {
    match (network.to_canonical(), ip.to_canonical()) {
        (IpAddr::V4(network), IpAddr::V4(ip)) => {
            let differing = network.to_bits() ^ ip.to_bits();
            differing.leading_zeros() >= u32::from(prefix).min(32)
        }
        (IpAddr::V6(network), IpAddr::V6(ip)) => {
            let differing = network.to_bits() ^ ip.to_bits();
            differing.leading_zeros() >= u32::from(prefix).min(128)
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks() -> Vec<(IpAddr, u8)> {
        let texts = [("10.0.0.0", 8), ("192.0.2.7", 32), ("2001:db8::", 32)];
        texts.map(|(ip, prefix)| (ip.parse().unwrap(), prefix)).to_vec()
    }

    #[track_caller]
    fn check_caller(values: &[&str], expected: &str) {
        let peer = "10.0.0.1".parse().unwrap();
        let found = caller(&networks(), peer, values.iter().copied());
        assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{values:?}");
    }

    #[test]
    fn what_a_caller_writes_in_front_of_the_proxy_s_entry_is_not_believed() {
        check_caller(&["1.1.1.1, 203.0.113.9"], "203.0.113.9");
        check_caller(&["127.0.0.1, 10.9.9.9, 203.0.113.9, 192.0.2.7, 10.2.3.4"], "203.0.113.9");
        check_caller(&["1.1.1.1", "203.0.113.9, 10.2.3.4"], "203.0.113.9");
        check_caller(&["203.0.113.9, unknown"], "10.0.0.1");
        check_caller(&["203.0.113.9, unknown, 10.2.3.4"], "10.2.3.4");
        check_caller(&["203.0.113.9, "], "10.0.0.1");
        check_caller(&[], "10.0.0.1");
    }

    #[test]
    fn addresses_are_read_in_every_form_that_proxies_write() {
        check_caller(&["203.0.113.9:4711"], "203.0.113.9");
        check_caller(&["[2001:db9::1]:4711"], "2001:db9::1");
        check_caller(&["[2001:db9::1]"], "2001:db9::1");
        check_caller(&["2001:db9::1"], "2001:db9::1");
        check_caller(&["::ffff:203.0.113.9"], "203.0.113.9");
        check_caller(&["10.9.9.9,10.8.8.8"], "10.9.9.9");
    }

    #[test]
    fn a_network_ends_where_its_prefix_says() {
        let check = |ip: &str| is_trusted(&networks(), ip.parse().unwrap());
        assert!(check("10.255.255.255") && check("192.0.2.7") && check("2001:db8:ffff::1"));
        assert!(check("::ffff:10.0.0.1"));
        assert!(!check("11.0.0.0") && !check("192.0.2.6") && !check("2001:db9::"));
        assert!(is_trusted(&[("0.0.0.0".parse().unwrap(), 0)], "8.8.8.8".parse().unwrap()));
        assert!(!is_trusted(&[("0.0.0.0".parse().unwrap(), 0)], "::1".parse().unwrap()));
    }
}
