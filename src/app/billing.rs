//! What things cost, in the currency of the account that pays.

use std::collections::BTreeMap;

use crate::domain::money::{Amount, Currency};

/// Prices of kinds in one currency, and fixed factors to others.
#[derive(Clone, Debug)]
pub struct Prices {
    /// The currency that prices are written in.
    pub currency: Currency,
    /// The price of one run, by kind. A kind without a price is not served.
    pub kinds: BTreeMap<String, Amount>,
    /// Units of another currency for one unit of ours. Source: the contract, section 5.
    pub rates: BTreeMap<Currency, Amount>,
}

impl Prices {
    /// The price of one run of a kind for an account that counts in `currency`.
    ///
    /// `None` when the kind is not served to it.
    #[must_use]
    pub fn of_run(&self, kind: &str, currency: Currency) -> Option<Amount> {
        let price = *self.kinds.get(kind)?;
        if currency == self.currency {
            return Some(price);
        }
        price.converted(*self.rates.get(&currency)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        let amount = |text| Amount::parse(text).unwrap();
        Prices {
            currency: Currency::EUR,
            kinds: [("seo_audit".to_owned(), amount("0.02"))].into(),
            rates: [(Currency::parse("USD").unwrap(), amount("1.08"))].into(),
        }
    }

    #[track_caller]
    fn check_price(kind: &str, currency: &str, price: Option<&str>) {
        let found = prices().of_run(kind, Currency::parse(currency).unwrap());
        assert_eq!(found, price.map(|it| Amount::parse(it).unwrap()), "{kind} in {currency}");
    }

    #[test]
    fn a_price_is_known_in_its_currency_and_where_there_is_a_rate() {
        check_price("seo_audit", "EUR", Some("0.02"));
        check_price("seo_audit", "USD", Some("0.0216"));
    }

    #[test]
    fn what_has_no_price_or_no_rate_is_not_served() {
        check_price("other", "EUR", None);
        check_price("seo_audit", "CREDIT", None);
    }
}
