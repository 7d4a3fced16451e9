//! What the operator restricts a key to: models, kinds, networks, rates, money.
//!
//! A restriction that is not set restricts nothing. What a key may open at all is a matter of its
//! [`Rights`](crate::domain::account::Rights), which come first. Source: the contract, section 3.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::domain::address::{BadNetwork, Network};
use crate::domain::budget::Budget;
use crate::domain::chat::ModelId;

/// What a key is restricted to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// The models that it may talk to.
    pub models: Option<Only<ModelPattern>>,
    /// The agents that it may run and schedule.
    pub kinds: Option<Only<KindName>>,
    /// Where its requests must come from.
    pub networks: Option<Only<Network>>,
    /// Requests in a minute, in place of the setting for all keys.
    pub requests_per_minute: Option<u32>,
    /// Chats at once, in place of the setting for all keys.
    pub concurrency: Option<u32>,
    /// Whether a chat with a parameter that nobody knows is refused.
    pub strict: bool,
    /// What it may spend.
    pub budget: Option<Budget>,
}

/// What is to become of the restrictions of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The models that it may talk to.
    pub models: Set<Only<ModelPattern>>,
    /// The agents that it may run and schedule.
    pub kinds: Set<Only<KindName>>,
    /// Where its requests must come from.
    pub networks: Set<Only<Network>>,
    /// Requests in a minute.
    pub requests_per_minute: Set<u32>,
    /// Chats at once.
    pub concurrency: Set<u32>,
    /// Whether a chat with a parameter that nobody knows is refused; `None` leaves it.
    pub strict: Option<bool>,
    /// What it may spend.
    pub budget: Set<Budget>,
}

/// What is to become of one restriction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Set<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is lifted.
    Off,
    /// It becomes this.
    To(T),
}

/// The items that are allowed, and no others: 1 to [`ITEMS_MAX`], each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only<T>(Vec<T>);

/// One model, or all of one vendor: `vendor/model`, `vendor/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPattern(ModelId);

/// The name of a kind of agent, whether or not there is one now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindName(String);

/// Why a text is no network to be restricted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadOrigin {
    /// It is no network.
    Network(BadNetwork),
    /// It is an IPv4 network, written as an IPv6 one; no request would ever match.
    Mapped,
}

impl Restrictions {
    /// Whether a chat with the model of that name is allowed.
    #[must_use]
    pub fn allows_model(&self, id: &str) -> bool {
        self.models.as_ref().is_none_or(|it| it.items().iter().any(|it| it.matches(id)))
    }

    /// Whether runs and schedules of that kind are allowed.
    #[must_use]
    pub fn allows_kind(&self, kind: &str) -> bool {
        self.kinds.as_ref().is_none_or(|it| it.items().iter().any(|it| it.0 == kind))
    }

    /// Whether requests from that address are allowed; `None` is a caller without one.
    #[must_use]
    pub fn allows_origin(&self, address: Option<IpAddr>) -> bool {
        let Some(networks) = &self.networks else { return true };
        // An IPv4 caller at a socket of both kinds has an IPv6 address.
        let Some(address) = address.map(|it| it.to_canonical()) else { return false };
        networks.items().iter().any(|it| it.contains(address))
    }

    /// What they are after a change.
    #[must_use]
    pub fn changed(&self, change: &Change) -> Self {
        Self {
            models: change.models.on(self.models.as_ref()),
            kinds: change.kinds.on(self.kinds.as_ref()),
            networks: change.networks.on(self.networks.as_ref()),
            requests_per_minute: change.requests_per_minute.on(self.requests_per_minute.as_ref()),
            concurrency: change.concurrency.on(self.concurrency.as_ref()),
            strict: change.strict.unwrap_or(self.strict),
            budget: change.budget.on(self.budget.as_ref()),
        }
    }
}

impl<T: Clone> Set<T> {
    /// What becomes of a restriction.
    fn on(&self, present: Option<&T>) -> Option<T> {
        match self {
            Self::Keep => present.cloned(),
            Self::Off => None,
            Self::To(new) => Some(new.clone()),
        }
    }
}

impl<T: PartialEq> Only<T> {
    /// Takes a list; `None` when it is empty or longer than [`ITEMS_MAX`].
    #[must_use]
    pub fn new(items: Vec<T>) -> Option<Self> {
        if items.is_empty() || items.len() > ITEMS_MAX {
            return None;
        }
        let mut kept: Vec<T> = Vec::with_capacity(items.len());
        for item in items {
            if !kept.contains(&item) {
                kept.push(item);
            }
        }
        Some(Self(kept))
    }

    /// The items, in the order in which they were given.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.0
    }
}

impl<T: fmt::Display + PartialEq> Only<T> {
    /// The items as texts, which read back as the same.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }
}

impl ModelPattern {
    /// Reads a name, or the beginning of names with `/*` behind it.
    ///
    /// `None` when it cannot be one, or a star stands anywhere else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fixed = text.strip_suffix("/*").unwrap_or(text);
        let sound = !fixed.is_empty() && !fixed.contains('*');
        sound.then(|| ModelId::parse(text)).flatten().map(Self)
    }

    /// Whether a model of that name is meant.
    fn matches(&self, id: &str) -> bool {
        let text = self.0.as_str();
        match text.strip_suffix('*') {
            Some(beginning) => id.len() > beginning.len() && id.starts_with(beginning),
            None => id == text,
        }
    }
}

impl KindName {
    /// Reads a name: 1 to 64 visible ASCII characters, none of them a comma, a quote or a star.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=KIND_CHARS_MAX).contains(&text.len());
        let plain = text.bytes().all(|it| it.is_ascii_graphic() && !b",\"'`\\*".contains(&it));
        (fits && plain).then(|| Self(text.to_owned()))
    }
}

/// Reads a network that requests can come from, such as `10.0.0.0/8` or `2001:db8::1`.
///
/// # Errors
///
/// [`BadOrigin`]
pub fn origin(text: &str) -> Result<Network, BadOrigin> {
    let network = Network::parse(text).map_err(BadOrigin::Network)?;
    if MAPPED.covers(&network) { Err(BadOrigin::Mapped) } else { Ok(network) }
}

impl fmt::Display for ModelPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for BadOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(error) => error.fmt(f),
            Self::Mapped => f.write_str("an IPv4 network in the form of IPv6; write it as IPv4"),
        }
    }
}

impl std::error::Error for BadOrigin {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Network(error) => Some(error),
            Self::Mapped => None,
        }
    }
}

/// Items of one list of a key.
pub const ITEMS_MAX: usize = 100;
/// Requests in a minute that a key can be restricted to.
pub const REQUESTS_PER_MINUTE_MAX: u32 = 1_000_000;
/// Chats at once that a key can be restricted to.
pub const CONCURRENCY_MAX: u32 = 10_000;
/// Characters of the name of a kind.
const KIND_CHARS_MAX: usize = 64;
/// IPv6 addresses that stand for IPv4 ones. Source: RFC 4291, section 2.5.5.2.
const MAPPED: Network = {
    let [a, b, c, d, e, f, g, h] = Ipv6Addr::new(0, 0, 0, 0, 0, 0xFFFF, 0, 0).segments();
    Network::v6([a, b, c, d, e, f, g, h], 96)
};

#[cfg(test)]
mod tests {
    use super::*;

    fn only<T: PartialEq>(parse: fn(&str) -> Option<T>, texts: &[&str]) -> Option<Only<T>> {
        Only::new(texts.iter().map(|it| parse(it).unwrap()).collect())
    }

    fn network(text: &str) -> Option<Network> {
        origin(text).ok()
    }

    #[test]
    fn what_cannot_be_a_model_or_a_pattern_is_refused() {
        for text in ["", "*", "/*", "a*", "a/*b", "*/a", "a/**", "a/*/b", "a b/*", "a,b", "ü/*"] {
            assert_eq!(ModelPattern::parse(text), None, "{text:?}");
        }
        assert_eq!(ModelPattern::parse(&format!("{}/*", "m".repeat(127))), None);
        for text in ["a", "offline/echo", "offline/*", "vendor/family/*"] {
            assert_eq!(ModelPattern::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_a_kind_or_a_network_is_refused() {
        for text in ["", "a,b", "a b", "ü", "*", "\u{7}", &"k".repeat(65)] {
            assert_eq!(KindName::parse(text), None, "{text:?}");
        }
        assert_eq!(origin("10.0.0.1/8"), Err(BadOrigin::Network(BadNetwork::Rest)));
        assert_eq!(origin("office"), Err(BadOrigin::Network(BadNetwork::Address)));
        for text in ["::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "::ffff:0:0/96"] {
            assert_eq!(origin(text), Err(BadOrigin::Mapped), "{text}");
        }
    }

    #[test]
    fn a_list_has_at_least_one_item_and_each_once() {
        assert_eq!(Only::<u32>::new(Vec::new()), None);
        let most = u32::try_from(ITEMS_MAX).unwrap();
        assert!(Only::new((0..most).collect()).is_some());
        assert_eq!(Only::new((0..=most).collect()), None);
        assert_eq!(Only::new(vec![2, 1, 2]).unwrap().items(), [2, 1]);
    }

    #[test]
    fn a_key_without_restrictions_may_do_everything() {
        let free = Restrictions::default();
        assert!(free.allows_model("x") && free.allows_kind("x") && free.allows_origin(None));
    }

    #[test]
    fn a_pattern_means_the_models_of_one_vendor() {
        let models = only(ModelPattern::parse, &["vendor/*", "local"]);
        let key = Restrictions { models, ..Restrictions::default() };
        for id in ["vendor/a", "vendor/a/b", "local"] {
            assert!(key.allows_model(id), "{id}");
        }
        for id in ["", "vendor", "vendor/", "vendors/a", "Vendor/a", "local/a", "a/vendor/a"] {
            assert!(!key.allows_model(id), "{id}");
        }
    }

    #[test]
    fn a_kind_is_one_of_the_list() {
        let kinds = only(KindName::parse, &["seo_audit"]);
        let key = Restrictions { kinds, ..Restrictions::default() };
        assert!(key.allows_kind("seo_audit"));
        assert!(!key.allows_kind("seo") && !key.allows_kind("seo_audits"));
    }

    #[test]
    fn an_address_is_in_one_of_the_networks_however_it_is_written() {
        let networks = only(network, &["192.0.2.0/24", "2001:db8::/32"]);
        let key = Restrictions { networks, ..Restrictions::default() };
        let allows = |text: &str| key.allows_origin(Some(text.parse().unwrap()));
        for inside in ["192.0.2.0", "192.0.2.255", "::ffff:192.0.2.7", "2001:db8:ffff::1"] {
            assert!(allows(inside), "{inside}");
        }
        for outside in ["192.0.3.0", "::ffff:192.0.3.0", "::192.0.2.7", "2001:db9::1", "::1"] {
            assert!(!allows(outside), "{outside}");
        }
        assert!(!key.allows_origin(None), "a socket has no address");
    }

    #[test]
    fn a_change_touches_what_it_names() {
        let before = Restrictions {
            requests_per_minute: Some(10),
            concurrency: Some(2),
            strict: true,
            ..Restrictions::default()
        };
        assert_eq!(before.changed(&Change::default()), before);
        let change = Change {
            requests_per_minute: Set::Off,
            concurrency: Set::To(3),
            strict: Some(false),
            ..Change::default()
        };
        let after = Restrictions { concurrency: Some(3), ..Restrictions::default() };
        assert_eq!(before.changed(&change), after);
    }
}
