//! Who owns and pays, and who asks: accounts, keys, rights and callers.
//!
//! Resources belong to the account, not to a key. Source: service interface, "What the service
//! does" and "Authentication".

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::id::{self, Id};
use crate::domain::money::Currency;
use crate::domain::restrictions::Restrictions;
use crate::domain::time::Timestamp;

/// The name of an account.
pub type AccountId = Id<id::Account>;
/// The name of an API key.
pub type KeyId = Id<id::Key>;

/// Who owns runs, keys and a balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name in the service.
    pub id: AccountId,
    /// What people call it.
    pub name: String,
    /// What its balance counts in; never changes.
    pub currency: Currency,
    /// When it was made.
    pub created_at: Timestamp,
}

/// One group of operations a key may open. Source: service interface, "Authentication", rule 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Text-model operations.
    Models,
    /// Agents, runs, schedules and webhook receivers.
    Agents,
}

/// A set of rights; empty only where a text did not name any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights(u8);

/// What is known of a key; the key itself is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its name in the service.
    pub id: KeyId,
    /// Whose it is.
    pub account: AccountId,
    /// What people call it.
    pub name: String,
    /// What it opens.
    pub rights: Rights,
    /// The first characters of the key, to recognise it by.
    pub hint: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is refused because it is too old.
    pub expires_at: Option<Timestamp>,
    /// Since when it is refused because somebody said so.
    pub revoked_at: Option<Timestamp>,
    /// When it last opened something.
    pub last_used_at: Option<Timestamp>,
    /// What it is restricted to.
    pub restrictions: Arc<Restrictions>,
}

/// Account, key and rights of one request: the first argument of every operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Whose resources the request sees, and who pays.
    pub account: AccountId,
    /// The key that was shown.
    pub key: KeyId,
    /// What the key opens.
    pub rights: Rights,
    /// What the account's balance counts in.
    pub currency: Currency,
    /// What the key is restricted to.
    pub restrictions: Arc<Restrictions>,
}

/// Whose resources an operation works on, and who pays: the account of a caller, or the one that
/// the operator names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The account.
    pub account: AccountId,
    /// The key that was shown; none for the operator.
    pub key: Option<KeyId>,
    /// What the account's balance counts in.
    pub currency: Currency,
}

impl From<&Caller> for Owner {
    fn from(caller: &Caller) -> Self {
        Self { account: caller.account, key: Some(caller.key), currency: caller.currency }
    }
}

impl Right {
    /// Every right, in the order they are listed.
    pub const ALL: [Self; 2] = [Self::Models, Self::Agents];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Agents => "agents",
        }
    }

    /// Reads the word for a right.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Models => 1,
            Self::Agents => 2,
        }
    }
}

impl Rights {
    /// No right at all.
    pub const NONE: Self = Self(0);

    /// Whether `right` is in the set.
    #[must_use]
    pub const fn contains(self, right: Right) -> bool {
        self.0 & right.bit() != 0
    }

    /// Whether nothing is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set with `right` in it.
    #[must_use]
    pub const fn with(self, right: Right) -> Self {
        Self(self.0 | right.bit())
    }

    /// The words for the rights in the set, in their order.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        Right::ALL.into_iter().filter(|it| self.contains(*it)).map(Right::as_str).collect()
    }

    /// Reads words with commas between them, such as `models,agents`.
    ///
    /// `None` when a word is unknown or there is no word at all.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut rights = Self::default();
        for word in text.split(',') {
            rights = rights.with(Right::parse(word.trim())?);
        }
        Some(rights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_read_from_their_words_and_written_in_one_order() {
        let both = Rights::parse("agents, models").unwrap();
        assert_eq!(both.names(), ["models", "agents"]);
        assert!(both.contains(Right::Agents) && both.contains(Right::Models));
        let one = Rights::parse("agents").unwrap();
        assert!(one.contains(Right::Agents) && !one.contains(Right::Models));
    }

    #[test]
    fn unknown_rights_are_refused() {
        for text in ["", "admin", "agents,", "agents,root", "Agents"] {
            assert_eq!(Rights::parse(text), None, "{text:?}");
        }
    }
}
