//! What a chat costs: a bound before it, a charge after it.
//!
//! A request is rounded once, up to a billionth of the currency. The hold is the cost of the
//! most that a request can use, so no charge is above it, whatever an upstream claims.
//! Source: the contract, section 4.

use crate::domain::chat::{Bound, Count, CountSource, Usage};
use crate::domain::money::Amount;

/// What a model costs, in one currency; never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    input_per_million: Amount,
    output_per_million: Amount,
    per_request: Amount,
}

/// What one answer comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bill {
    /// What the account pays; never above its hold.
    pub charge: Amount,
    /// What the operator pays, because the upstream claims more than was asked for.
    pub unbilled: Amount,
    /// The tokens that are paid for.
    pub usage: Usage,
    /// Who counted them.
    pub source: CountSource,
    /// Whether more was claimed than can have been used.
    pub is_clamped: bool,
}

impl Price {
    /// Costs nothing.
    pub const FREE: Self = Self {
        input_per_million: Amount::ZERO,
        output_per_million: Amount::ZERO,
        per_request: Amount::ZERO,
    };

    /// A price per million tokens read, per million written, and per request; `None` when one is
    /// negative.
    #[must_use]
    pub const fn new(
        input_per_million: Amount,
        output_per_million: Amount,
        per_request: Amount,
    ) -> Option<Self> {
        if input_per_million.is_negative()
            || output_per_million.is_negative()
            || per_request.is_negative()
        {
            return None;
        }
        Some(Self { input_per_million, output_per_million, per_request })
    }

    /// For a million tokens of a conversation.
    #[must_use]
    pub const fn input_per_million(&self) -> Amount {
        self.input_per_million
    }

    /// For a million tokens of an answer.
    #[must_use]
    pub const fn output_per_million(&self) -> Amount {
        self.output_per_million
    }

    /// For each request, on top.
    #[must_use]
    pub const fn per_request(&self) -> Amount {
        self.per_request
    }

    /// Whether nothing is ever charged.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == Self::FREE
    }

    /// The price in another currency, at `factor` units of it for one of this; each part is
    /// rounded up.
    ///
    /// `None` when a part does not fit or the factor is negative.
    #[must_use]
    pub fn converted(&self, factor: Amount) -> Option<Self> {
        Self::new(
            self.input_per_million.converted(factor)?,
            self.output_per_million.converted(factor)?,
            self.per_request.converted(factor)?,
        )
    }

    /// What must be there before a request is sent on: the cost of the most that it can use.
    ///
    /// `None` when that is more than any balance can be.
    #[must_use]
    pub fn hold(&self, bound: &Bound) -> Option<Amount> {
        let Bound { prompt_tokens, max_tokens } = *bound;
        self.exact(Usage { prompt_tokens, completion_tokens: max_tokens })
    }

    /// What `count` comes to, where `bound` was the most that could be used.
    #[must_use]
    pub fn bill(&self, bound: &Bound, count: &Count) -> Bill {
        let usage = bound.clamp(count.usage);
        let charge = self.cost(usage);
        let is_clamped = usage != count.usage && count.source != CountSource::Estimate;
        let claimed = if is_clamped { self.cost(count.usage) } else { charge };
        let unbilled = claimed.minus(charge).unwrap_or(Amount::ZERO);
        Bill { charge, unbilled, usage, source: count.source, is_clamped }
    }

    /// The most tokens of answer that `available` pays for, where a request reads
    /// `prompt_tokens`; `None` when it does not even pay for one.
    #[must_use]
    pub fn affordable(&self, prompt_tokens: u64, available: Amount) -> Option<u64> {
        let pays = |max_tokens| {
            let hold = self.hold(&Bound { prompt_tokens, max_tokens });
            hold.is_some_and(|it| it <= available)
        };
        let (mut most, mut above) = (1, u64::MAX);
        if !pays(most) {
            return None;
        }
        while above.saturating_sub(most) > 1 {
            let middle = most.midpoint(above);
            if pays(middle) { most = middle } else { above = middle }
        }
        Some(most)
    }

    /// The cost of `usage`, or as much as fits.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> Amount {
        self.exact(usage).unwrap_or(Amount::MAX)
    }

    fn exact(&self, usage: Usage) -> Option<Amount> {
        let part =
            |price: Amount, tokens: u64| i128::from(price.nanos()).checked_mul(i128::from(tokens));
        let input = part(self.input_per_million, usage.prompt_tokens)?;
        let output = part(self.output_per_million, usage.completion_tokens)?;
        let millionths = input.checked_add(output)?;
        let up = millionths.checked_add(MILLION.checked_sub(1)?)?.div_euclid(MILLION);
        Amount::from_nanos(i64::try_from(up).ok()?).plus(self.per_request)
    }
}

const MILLION: i128 = 1_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn amount(text: &str) -> Amount {
        Amount::parse(text).unwrap()
    }

    fn price(input: &str, output: &str, request: &str) -> Price {
        Price::new(amount(input), amount(output), amount(request)).unwrap()
    }

    fn claims(prompt_tokens: u64, completion_tokens: u64) -> Count {
        let usage = Usage { prompt_tokens, completion_tokens };
        Count { usage, source: CountSource::Upstream }
    }

    #[track_caller]
    fn check_hold(price: Price, prompt_tokens: u64, max_tokens: u64, hold: &str) {
        let found = price.hold(&Bound { prompt_tokens, max_tokens });
        assert_eq!(found, Some(amount(hold)), "{prompt_tokens} {max_tokens}");
    }

    #[test]
    fn a_hold_is_both_directions_and_the_request_rounded_up_once() {
        check_hold(price("1.5", "6", "0"), 1_000_000, 1_000_000, "7.5");
        check_hold(price("1.5", "6", "0.01"), 90, 200, "0.011335");
        check_hold(price("0.000000001", "0.000000001", "0"), 1, 1, "0.000000001");
        check_hold(price("0.0005", "0.0005", "0"), 1, 1, "0.000000001");
        check_hold(Price::FREE, u64::MAX, u64::MAX, "0");
        check_hold(price("0", "0", "0.2"), 9, 9, "0.2");
        let dear = Price::new(Amount::MAX, Amount::MAX, Amount::MAX).unwrap();
        assert_eq!(dear.hold(&Bound { prompt_tokens: u64::MAX, max_tokens: u64::MAX }), None);
    }

    #[test]
    fn a_price_is_never_negative() {
        let (zero, less) = (Amount::ZERO, amount("-0.000000001"));
        for (a, b, c) in [(less, zero, zero), (zero, less, zero), (zero, zero, less)] {
            assert_eq!(Price::new(a, b, c), None);
        }
        assert_eq!(price("1", "1", "1").converted(amount("-1")), None);
        assert!(Price::FREE.is_free() && !price("0", "0.1", "0").is_free());
    }

    #[test]
    fn a_claim_above_the_bound_is_the_operators() {
        let price = price("1", "2", "0.5");
        let bound = Bound { prompt_tokens: 100, max_tokens: 10 };
        let bill = price.bill(&bound, &claims(150, 1_000_000));
        assert_eq!(Some(bill.charge), price.hold(&bound));
        assert_eq!(bill.usage, Usage { prompt_tokens: 100, completion_tokens: 10 });
        assert_eq!(bill.charge.plus(bill.unbilled), Some(amount("2.50015")));
        assert!(bill.is_clamped);
        let fair = price.bill(&bound, &claims(0, 10));
        assert_eq!((fair.charge, fair.unbilled), (amount("0.50002"), Amount::ZERO));
        assert!(!fair.is_clamped);
    }

    #[test]
    fn an_estimate_above_the_bound_claims_nothing() {
        let bound = Bound { prompt_tokens: 1, max_tokens: 1 };
        let count = Count { source: CountSource::Estimate, ..claims(9, 9) };
        let bill = price("1", "1", "0").bill(&bound, &count);
        assert_eq!((bill.unbilled, bill.is_clamped), (Amount::ZERO, false));
    }

    #[test]
    fn a_small_balance_pays_for_a_shorter_answer_or_for_none() {
        let price = price("1", "2", "0.001");
        assert_eq!(price.affordable(1000, amount("0.002")), None);
        assert_eq!(price.affordable(1000, amount("0.002002")), Some(1));
        assert_eq!(price.affordable(1000, amount("0.003")), Some(500));
        assert_eq!(Price::FREE.affordable(1000, Amount::ZERO), Some(u64::MAX - 1));
    }

    proptest! {
        #[test]
        fn no_charge_is_above_its_hold_and_nothing_is_lost(
            nanos in (0..10_i64.pow(12), 0..10_i64.pow(12), 0..10_i64.pow(12)),
            factor in 0..10_i64.pow(11),
            bound in (0..10_u64.pow(7), 0..10_u64.pow(7)),
            claimed in (0..10_u64.pow(8), 0..10_u64.pow(8)),
        ) {
            let amounts = [nanos.0, nanos.1, nanos.2].map(Amount::from_nanos);
            let price = Price::new(amounts[0], amounts[1], amounts[2]).unwrap();
            let bound = Bound { prompt_tokens: bound.0, max_tokens: bound.1 };
            let converted = price.converted(Amount::from_nanos(factor)).unwrap();
            for price in [price, converted] {
                let hold = price.hold(&bound);
                prop_assume!(hold.is_some());
                let bill = price.bill(&bound, &claims(claimed.0, claimed.1));
                prop_assert!(bill.charge <= hold.unwrap());
                prop_assert!(!bill.charge.is_negative() && !bill.unbilled.is_negative());
                let usage = bound.clamp(claims(claimed.0, claimed.1).usage);
                let within = usage == claims(claimed.0, claimed.1).usage;
                prop_assert_eq!(within, !bill.is_clamped);
                prop_assert!(!within || bill.unbilled == Amount::ZERO);
            }
        }

        #[test]
        fn what_is_affordable_fits_and_one_more_does_not(
            nanos in (0..10_i64.pow(12), 1..10_i64.pow(12), 0..10_i64.pow(9)),
            prompt_tokens in 0..10_u64.pow(6),
            available in 0..10_i64.pow(15),
        ) {
            let amounts = [nanos.0, nanos.1, nanos.2].map(Amount::from_nanos);
            let price = Price::new(amounts[0], amounts[1], amounts[2]).unwrap();
            let available = Amount::from_nanos(available);
            let hold = |max_tokens| price.hold(&Bound { prompt_tokens, max_tokens });
            match price.affordable(prompt_tokens, available) {
                None => prop_assert!(hold(1) > Some(available)),
                Some(most) => {
                    prop_assert!(hold(most) <= Some(available));
                    prop_assert!(hold(most + 1) > Some(available));
                }
            }
        }
    }
}
