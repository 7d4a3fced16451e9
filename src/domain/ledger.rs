//! Money of an account: what it has, what is held for work under way, and how both change.
//!
//! Work is paid in two steps: a *hold* sets its highest price aside when it is accepted, and one
//! *capture* (or a *release*) ends the hold. A balance is therefore never below zero, and no work
//! can cost more than its hold. Every change of the balance is one [`Entry`] of an append-only
//! ledger, and the balance is the sum of its entries. Source: the contract, section 4.

use crate::domain::account::KeyId;
use crate::domain::chat::{CountSource, Price, Usage};
use crate::domain::money::Amount;
use crate::domain::time::Timestamp;

/// What an account has.
///
/// Invariant: `0 <= held <= amount`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    amount: Amount,
    held: Amount,
}

/// Why a balance does not change; it is left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceError {
    /// There is not enough that is not held already.
    Short {
        /// What was asked for.
        required: Amount,
        /// What is there.
        available: Amount,
    },
    /// More would be given back than is held, or an amount is negative: a fault of ours.
    Unbalanced,
    /// The balance would be larger than an amount can be.
    TooLarge,
}

/// Why the balance changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Money came in.
    Credit,
    /// An operator took money out again.
    Debit,
    /// A run was paid.
    Charge,
    /// A chat was paid.
    Chat,
}

/// What a chat has used, as it was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatUsage {
    /// The tokens that were paid for.
    pub usage: Usage,
    /// Who counted them.
    pub source: CountSource,
    /// What tokens cost at that moment, in the account's currency.
    pub price: Price,
    /// What the operator paid, because more was claimed than can have been used.
    pub unbilled: Amount,
}

/// One line of an account's ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the account's ledger, from 1, without gaps.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// Why.
    pub kind: EntryKind,
    /// By how much the balance changed: negative for what was spent.
    pub amount: Amount,
    /// The balance after it.
    pub balance_after: Amount,
    /// What it paid for: the bytes of the id of a run or a chat.
    pub reference: Option<[u8; 16]>,
    /// The key that started the work.
    pub key: Option<KeyId>,
    /// The kind of agent, the model, or the operator's words for a credit.
    pub note: String,
    /// What a chat has used.
    pub usage: Option<ChatUsage>,
}

impl Balance {
    /// Takes what was stored; `None` when the invariant does not hold.
    #[must_use]
    pub fn new(amount: Amount, held: Amount) -> Option<Self> {
        let sound = !held.is_negative() && held <= amount;
        sound.then_some(Self { amount, held })
    }

    /// What the account owns, the held part included.
    #[must_use]
    pub const fn amount(self) -> Amount {
        self.amount
    }

    /// What is set aside for work under way.
    #[must_use]
    pub const fn held(self) -> Amount {
        self.held
    }

    /// What can still be spent.
    #[must_use]
    pub fn available(self) -> Amount {
        self.amount.minus(self.held).unwrap_or(Amount::ZERO)
    }

    /// Sets `price` aside.
    ///
    /// # Errors
    ///
    /// [`BalanceError::Short`] when less is available, [`BalanceError::Unbalanced`] when the
    /// price is negative.
    pub fn hold(self, price: Amount) -> Result<Self, BalanceError> {
        if price.is_negative() {
            return Err(BalanceError::Unbalanced);
        }
        if price > self.available() {
            return Err(BalanceError::Short { required: price, available: self.available() });
        }
        let held = self.held.plus(price).ok_or(BalanceError::TooLarge)?;
        Ok(Self { held, ..self })
    }

    /// Ends a hold of `hold` and takes `charge` of it; the rest is available again.
    ///
    /// A charge of zero releases the whole hold.
    ///
    /// # Errors
    ///
    /// [`BalanceError::Unbalanced`] when that much is not held, when the charge is above the hold,
    /// or when either is negative.
    pub fn capture(self, hold: Amount, charge: Amount) -> Result<Self, BalanceError> {
        let sound = !hold.is_negative() && !charge.is_negative() && charge <= hold;
        if !sound || hold > self.held {
            return Err(BalanceError::Unbalanced);
        }
        let held = self.held.minus(hold).ok_or(BalanceError::Unbalanced)?;
        let amount = self.amount.minus(charge).ok_or(BalanceError::Unbalanced)?;
        Ok(Self { amount, held })
    }

    /// Adds money, or takes it out when `change` is negative.
    ///
    /// # Errors
    ///
    /// [`BalanceError::Short`] when more would be taken out than is available,
    /// [`BalanceError::TooLarge`] when the sum does not fit.
    pub fn credit(self, change: Amount) -> Result<Self, BalanceError> {
        let amount = self.amount.plus(change).ok_or(BalanceError::TooLarge)?;
        if amount < self.held {
            let required = Amount::ZERO.minus(change).unwrap_or(Amount::MAX);
            return Err(BalanceError::Short { required, available: self.available() });
        }
        Ok(Self { amount, ..self })
    }
}

impl EntryKind {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Credit, Self::Debit, Self::Charge, Self::Chat];

    /// Reads the word for a reason.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::Debit => "debit",
            Self::Charge => "charge",
            Self::Chat => "chat",
        }
    }
}

/// What is taken of a run's hold when the run is done, where `most` of the hold was for a model and
/// the model has used `used`: the rest is the run's price.
#[must_use]
pub fn charge_of(hold: Amount, most: Amount, used: Amount) -> Amount {
    let unused = most.minus(used.min(most)).unwrap_or(Amount::ZERO);
    hold.minus(unused).unwrap_or(Amount::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(text: &str) -> Amount {
        Amount::parse(text).unwrap()
    }

    fn balance(amount: &str, held: &str) -> Balance {
        Balance::new(units(amount), units(held)).unwrap()
    }

    #[test]
    fn a_run_costs_its_price_and_what_a_model_has_used_of_its_part() {
        for (used, charge) in [(0, 5), (2, 7), (3, 8), (4, 8)] {
            let [hold, most, used] = [8, 3, used].map(Amount::from_nanos);
            assert_eq!(charge_of(hold, most, used), Amount::from_nanos(charge));
        }
    }

    #[test]
    fn a_hold_takes_the_last_unit_and_not_one_more() {
        let start = balance("0.04", "0.02");
        let all_held = start.hold(units("0.02")).unwrap();
        assert_eq!(all_held, balance("0.04", "0.04"));
        let short =
            BalanceError::Short { required: Amount::from_nanos(1), available: Amount::ZERO };
        assert_eq!(all_held.hold(Amount::from_nanos(1)), Err(short));
        assert_eq!(start.hold(units("-1")), Err(BalanceError::Unbalanced));
    }

    #[test]
    fn a_capture_ends_the_hold_and_charges_at_most_it() {
        let start = balance("1", "0.3");
        assert_eq!(start.capture(units("0.3"), units("0.1")), Ok(balance("0.9", "0")));
        assert_eq!(start.capture(units("0.3"), Amount::ZERO), Ok(balance("1", "0")));
        for (hold, charge) in [("0.4", "0"), ("0.2", "0.3"), ("-0.1", "0"), ("0.1", "-0.1")] {
            let refused = start.capture(units(hold), units(charge));
            assert_eq!(refused, Err(BalanceError::Unbalanced), "{hold} {charge}");
        }
    }

    #[test]
    fn held_money_cannot_be_taken_out() {
        let start = balance("1", "0.3");
        assert_eq!(start.credit(units("-0.7")), Ok(balance("0.3", "0.3")));
        let short = BalanceError::Short { required: units("0.71"), available: units("0.7") };
        assert_eq!(start.credit(units("-0.71")), Err(short));
        assert_eq!(start.credit(Amount::MAX), Err(BalanceError::TooLarge));
    }

    #[test]
    fn an_impossible_balance_is_not_made() {
        assert_eq!(Balance::new(units("1"), units("1.1")), None);
        assert_eq!(Balance::new(units("1"), units("-0.1")), None);
        assert_eq!(Balance::new(units("-1"), Amount::ZERO), None);
    }

    proptest! {
        #[test]
        fn whatever_happens_the_balance_stays_sound(steps in prop::collection::vec((0..4_u8, -50..100_i64, 0..100_i64), 0..200)) {
            let mut balance = Balance::default();
            let mut sum = 0_i64;
            for (step, a, b) in steps {
                let (a, b) = (Amount::from_nanos(a), Amount::from_nanos(b));
                let (after, change) = match step {
                    0 => (balance.credit(a), a.nanos()),
                    1 => (balance.hold(a), 0),
                    2 => (balance.capture(b, a), -a.nanos()),
                    _ => (balance.capture(b, Amount::ZERO), 0),
                };
                if let Ok(after) = after {
                    balance = after;
                    sum += change;
                }
                prop_assert!(Balance::new(balance.amount(), balance.held()).is_some());
                prop_assert_eq!(balance.amount().nanos(), sum);
            }
        }
    }
}
