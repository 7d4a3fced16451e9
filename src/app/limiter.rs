//! How often somebody may ask: a rate with a burst, for keys, accounts and strangers.
//!
//! The rule is the generic cell rate algorithm: one number for each asker, the time at which its
//! bucket will be empty again. It lives in memory and is forgotten with the process.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::domain::account::{AccountId, Caller, KeyId};
use crate::domain::limits;
use crate::sys::clock::{Clock, Mark};

/// How often callers may ask; `None` switches a rate off.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Requests of one key that has no rate of its own.
    pub key: Option<Rate>,
    /// Requests of all keys of one account.
    pub account: Option<Rate>,
    /// Requests without a valid key from one address.
    pub strangers: Option<Rate>,
}

/// So many in a minute, and so many of them at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Requests in a minute; at least one.
    pub per_minute: u32,
    /// Requests at once; at least one.
    pub burst: u32,
}

/// What an answer says about the rate of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Requests that may be made at once.
    pub limit: u32,
    /// How many of them are left now.
    pub remaining: u32,
    /// When all of them are there again.
    pub reset: Duration,
}

/// There were too many requests; says when the next one is welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// How long to wait.
    pub retry_after: Duration,
    /// What the answer says about the rate.
    pub standing: Standing,
}

/// Counts requests.
#[derive(Debug)]
pub struct Limiter {
    clock: Clock,
    rates: Rates,
    keys: Mutex<Buckets<KeyId>>,
    accounts: Mutex<Buckets<AccountId>>,
    strangers: Mutex<Buckets<IpAddr>>,
}

/// When the bucket of each asker will be empty.
#[derive(Debug)]
struct Buckets<K>(HashMap<K, Mark>);

/// What a request that is let through leaves in a bucket.
struct Taken {
    standing: Standing,
    empty_at: Mark,
}

impl Limiter {
    /// Begins to count.
    #[must_use]
    pub fn new(clock: Clock, rates: Rates) -> Self {
        Self {
            clock,
            rates,
            keys: Mutex::default(),
            accounts: Mutex::default(),
            strangers: Mutex::default(),
        }
    }

    /// Counts a request of a caller.
    ///
    /// # Errors
    ///
    /// [`TooMany`] when the key or its account asks too often; the request counts for neither, so
    /// a key in a hurry uses up nothing of the others of its account.
    pub fn admit(&self, caller: &Caller) -> Result<Option<Standing>, TooMany> {
        let now = self.clock.mark();
        let (mut keys, mut accounts) = (lock(&self.keys), lock(&self.accounts));
        let key = self.rate_of(caller).map(|rate| keys.look(caller.key, rate, now)).transpose()?;
        let rate = self.rates.account;
        let account = rate.map(|rate| accounts.look(caller.account, rate, now)).transpose()?;
        if let Some(taken) = account {
            accounts.0.insert(caller.account, taken.empty_at);
        }
        Ok(key.map(|taken| {
            keys.0.insert(caller.key, taken.empty_at);
            taken.standing
        }))
    }

    /// The rate of a key: what it is restricted to, or else the one of all keys.
    fn rate_of(&self, caller: &Caller) -> Option<Rate> {
        let Some(per_minute) = caller.restrictions.requests_per_minute else {
            return self.rates.key;
        };
        let burst = self.rates.key.map_or(limits::KEY_REQUESTS_BURST, |it| it.burst);
        Some(Rate { per_minute, burst: burst.min(per_minute) })
    }

    /// Counts a request without a valid key.
    ///
    /// # Errors
    ///
    /// [`TooMany`] when there were too many from that address.
    pub fn admit_stranger(&self, address: IpAddr) -> Result<(), TooMany> {
        let Some(rate) = self.rates.strangers else { return Ok(()) };
        let (network, mut strangers) = (network(address), lock(&self.strangers));
        let taken = strangers.look(network, rate, self.clock.mark())?;
        strangers.0.insert(network, taken.empty_at);
        Ok(())
    }
}

impl Default for Rates {
    fn default() -> Self {
        let key =
            Rate { per_minute: limits::KEY_REQUESTS_PER_MINUTE, burst: limits::KEY_REQUESTS_BURST };
        let account = Rate {
            per_minute: limits::ACCOUNT_REQUESTS_PER_MINUTE,
            burst: limits::KEY_REQUESTS_BURST.saturating_mul(2),
        };
        let strangers = Rate {
            per_minute: limits::FAILED_AUTH_PER_MINUTE,
            burst: limits::FAILED_AUTH_PER_MINUTE,
        };
        Self { key: Some(key), account: Some(account), strangers: Some(strangers) }
    }
}

impl Rate {
    /// The time that one request uses up.
    fn interval(self) -> Duration {
        Duration::from_mins(1).checked_div(self.per_minute).unwrap_or(Duration::from_mins(1))
    }

    /// The time that a full burst uses up.
    fn span(self) -> Duration {
        self.interval().saturating_mul(self.burst.max(1))
    }

    fn standing(self, used: Duration) -> Standing {
        let free = self.span().saturating_sub(used).as_nanos();
        let remaining = free.checked_div(self.interval().as_nanos()).unwrap_or(0);
        Standing {
            limit: self.burst.max(1),
            remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
            reset: used,
        }
    }
}

impl<K: Eq + Hash + Copy> Buckets<K> {
    /// What a request of `asker` would leave; nothing is counted yet.
    fn look(&mut self, asker: K, rate: Rate, now: Mark) -> Result<Taken, TooMany> {
        if self.0.len() >= ASKERS_MAX && !self.0.contains_key(&asker) {
            // Who has not asked for a while starts afresh, which is what an empty bucket means.
            self.0.retain(|_, empty_at| *empty_at > now);
            if self.0.len() >= ASKERS_MAX {
                let standing = rate.standing(rate.span());
                return Err(TooMany { retry_after: rate.interval(), standing });
            }
        }
        let empty_at = self.0.get(&asker).copied().unwrap_or(now).max(now);
        let used = empty_at.since(now).saturating_add(rate.interval());
        if used > rate.span() {
            let retry_after = used.saturating_sub(rate.span()).min(limits::RETRY_AFTER_MAX);
            let standing = rate.standing(empty_at.since(now));
            return Err(TooMany { retry_after, standing });
        }
        Ok(Taken { standing: rate.standing(used), empty_at: now.after(used) })
    }
}

impl<K> Default for Buckets<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

fn lock<K>(buckets: &Mutex<Buckets<K>>) -> MutexGuard<'_, Buckets<K>> {
    buckets.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What counts as one address: for IPv6 the network of 64 bits that one customer has.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            six.to_ipv4_mapped().map_or(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into(), IpAddr::V4)
        }
    }
}

/// Askers that are remembered at the same time.
const ASKERS_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::account::Rights;
    use crate::domain::id::Id;
    use crate::domain::money::Currency;
    use crate::domain::restrictions::Restrictions;
    use crate::domain::time::Timestamp;

    fn caller(key: u8, account: u8) -> Caller {
        Caller {
            account: Id::from_bytes([account; 16]),
            key: Id::from_bytes([key; 16]),
            rights: Rights::default(),
            currency: Currency::EUR,
            restrictions: Arc::default(),
        }
    }

    fn limiter(key: Option<Rate>, account: Option<Rate>) -> (Limiter, Clock) {
        let clock = Clock::simulated(Timestamp::EPOCH);
        let strangers = Some(Rate { per_minute: 2, burst: 2 });
        (Limiter::new(clock.clone(), Rates { key, account, strangers }), clock)
    }

    const RATE: Option<Rate> = Some(Rate { per_minute: 60, burst: 3 });

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_let_through_and_then_one_a_second() {
        let (limiter, clock) = limiter(RATE, None);
        for remaining in [2, 1, 0] {
            let standing = limiter.admit(&caller(1, 1)).unwrap().unwrap();
            assert_eq!((standing.limit, standing.remaining), (3, remaining));
        }
        let refused = limiter.admit(&caller(1, 1)).unwrap_err();
        assert_eq!(refused.retry_after, Duration::from_secs(1));
        assert_eq!(refused.standing.remaining, 0);
        clock.sleep(Duration::from_secs(1)).await;
        limiter.admit(&caller(1, 1)).unwrap();
        limiter.admit(&caller(1, 1)).unwrap_err();
        limiter.admit(&caller(2, 1)).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_with_a_rate_of_its_own_has_that_one() {
        for (rate, own, limit) in [(RATE, 2, 2), (RATE, 600, 3), (None, 600, 60), (None, 1, 1)] {
            let (limiter, _) = limiter(rate, None);
            let requests_per_minute = Some(own);
            let restrictions = Restrictions { requests_per_minute, ..Restrictions::default() };
            let caller = Caller { restrictions: Arc::new(restrictions), ..caller(1, 1) };
            for _ in 0..limit {
                assert_eq!(limiter.admit(&caller).unwrap().unwrap().limit, limit, "{own}");
            }
            limiter.admit(&caller).unwrap_err();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_keys_of_an_account_share_its_rate() {
        let (limiter, _) = limiter(None, RATE);
        for key in 1..=3 {
            limiter.admit(&caller(key, 1)).unwrap();
        }
        limiter.admit(&caller(4, 1)).unwrap_err();
        limiter.admit(&caller(5, 2)).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_that_is_off_lets_everything_through() {
        let (limiter, _) = limiter(None, None);
        for _ in 0..10_000 {
            assert_eq!(limiter.admit(&caller(1, 1)), Ok(None));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_of_one_network_count_as_one() {
        let (limiter, _) = limiter(None, None);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        limiter.admit_stranger(address("2001:db8::1")).unwrap();
        limiter.admit_stranger(address("2001:db8::2")).unwrap();
        limiter.admit_stranger(address("2001:db8::3")).unwrap_err();
        limiter.admit_stranger(address("2001:db8:0:1::3")).unwrap();
        limiter.admit_stranger(address("192.0.2.1")).unwrap();
        limiter.admit_stranger(address("::ffff:192.0.2.1")).unwrap();
        limiter.admit_stranger(address("192.0.2.1")).unwrap_err();
    }
}
