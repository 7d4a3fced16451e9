//! How many connections may be open: in all, and for one network.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The places for connections.
#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    max_per_network: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// Networks with at least one connection, so never more than there are connections.
    by_network: HashMap<IpAddr, usize>,
}

/// The place of one connection, given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    network: Option<IpAddr>,
}

/// Who shares the places of one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// Whoever has this address.
    Of(IpAddr),
    /// Nobody: many callers come this way.
    Open,
}

impl Places {
    pub(super) fn new(max: usize, max_per_network: usize) -> Self {
        Self { max, max_per_network, taken: Mutex::default() }
    }

    /// Takes a place; `None` when there is none.
    pub(super) fn take(self: &Arc<Self>, share: Share) -> Option<Place> {
        let network = match share {
            Share::Of(ip) => Some(network(ip)),
            Share::Open => None,
        };
        let mut taken = self.taken();
        if taken.all >= self.max {
            return None;
        }
        if let Some(network) = network {
            let of_network = taken.by_network.get(&network).copied().unwrap_or(0);
            if of_network >= self.max_per_network {
                return None;
            }
            taken.by_network.insert(network, of_network + 1);
        }
        taken.all += 1;
        Some(Place { places: Arc::clone(self), network })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all = taken.all.saturating_sub(1);
        if let Some(network) = self.network
            && let Some(of_network) = taken.by_network.get_mut(&network)
        {
            *of_network = of_network.saturating_sub(1);
            if *of_network == 0 {
                taken.by_network.remove(&network);
            }
        }
    }
}

/// An IPv4 address, or the first 64 bits of an IPv6 one: what one customer of a network has.
fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(ip: &str) -> Share {
        Share::Of(ip.parse().unwrap())
    }

    #[test]
    fn of_a_thousand_connections_at_once_as_many_get_in_as_there_are_places() {
        let places = Arc::new(Places::new(200, 1_000));
        let held: Vec<Place> = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..10)
                .map(|_| {
                    scope.spawn(|| -> Vec<Place> {
                        (0..100).filter_map(|_| places.take(share("192.0.2.1"))).collect()
                    })
                })
                .collect();
            takers.into_iter().flat_map(|it| it.join().unwrap()).collect()
        });
        assert_eq!(held.len(), 200);
        assert!(places.take(Share::Open).is_none());
        drop(held);
        assert_eq!(places.taken().all, 0);
        assert!(places.taken().by_network.is_empty());
        assert!(places.take(Share::Open).is_some());
    }

    #[test]
    fn one_network_cannot_take_the_places_of_the_others() {
        let places = Arc::new(Places::new(100, 2));
        let _first = places.take(share("2001:db8::1")).unwrap();
        let _second = places.take(share("2001:db8::ffff:0:0:1")).unwrap();
        assert!(places.take(share("2001:db8::2")).is_none());
        assert!(places.take(share("2001:db8:0:1::1")).is_some());
        let _mapped = places.take(share("::ffff:192.0.2.1")).unwrap();
        let _plain = places.take(share("192.0.2.1")).unwrap();
        assert!(places.take(share("192.0.2.1")).is_none());
        let proxied: Vec<_> = (0..50).filter_map(|_| places.take(Share::Open)).collect();
        assert_eq!(proxied.len(), 50);
    }
}
