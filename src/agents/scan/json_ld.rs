//! Structured data of a page: the types it names and the offers it makes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::agents::scan::amount::Scaled;
use crate::agents::scan::facts::{Offer, Origin};
use crate::agents::scan::outline::Outline;
use crate::agents::scan::price::{Period, Price};

/// What the structured data of a page says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structured {
    /// The types.
    pub types: BTreeSet<String>,
    /// The offers.
    pub offers: Vec<Offer>,
}

/// Reads the structured data of a page; what cannot be read is not there.
#[must_use]
pub fn structured(outline: &Outline) -> Structured {
    let mut found = Structured::default();
    for text in &outline.json_ld {
        // Depth is bounded by the reader: 128 levels.
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            found.read(value);
        }
    }
    for kind in outline.item_types.iter().take(VALUES_MAX) {
        found.types.insert(last_part(kind));
    }
    let properties = &outline.properties;
    let currency = properties.iter().find(|it| it.0 == "priceCurrency").map(|it| it.1.as_str());
    for (_, value) in properties.iter().filter(|it| it.0 == "price").take(OFFERS_MAX) {
        let amount = Scaled::decimal(value).unwrap_or_else(|| Scaled::written(value));
        let price = Price::new(amount, currency.unwrap_or_default());
        let (plan, label) = (String::new(), String::new());
        found.offers.push(Offer { plan, label, price, origin: Origin::Microdata });
    }
    found
}

impl Structured {
    /// Walks through a value with a list of its own, so that nothing recurses.
    fn read(&mut self, value: Value) {
        let mut left = vec![(value, String::new())];
        let mut seen: usize = 0;
        while let Some((value, outer)) = left.pop() {
            seen += 1;
            if seen > VALUES_MAX {
                return;
            }
            match value {
                Value::Array(items) => {
                    left.extend(items.into_iter().map(|it| (it, outer.clone())));
                }
                Value::Object(map) => {
                    let own = map.get("name").and_then(Value::as_str).unwrap_or_default().trim();
                    let name = if own.is_empty() { outer } else { own.to_owned() };
                    self.read_object(&map, &name);
                    left.extend(map.into_iter().map(|(_, it)| (it, name.clone())));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }

    fn read_object(&mut self, map: &serde_json::Map<String, Value>, name: &str) {
        let kinds = match map.get("@type") {
            Some(Value::String(kind)) => vec![kind.as_str()],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            Some(_) | None => Vec::new(),
        };
        if self.types.len() < VALUES_MAX {
            self.types.extend(kinds.iter().map(|it| last_part(it)));
        }
        let amount = ["price", "lowPrice"].iter().find_map(|it| amount(map.get(*it)?));
        let Some(amount) = amount.filter(|_| self.offers.len() < OFFERS_MAX) else { return };
        let currency = map.get("priceCurrency").and_then(Value::as_str).unwrap_or_default();
        let mut price = Price::new(amount, currency.trim());
        let unit = ["billingDuration", "unitText", "unitCode", "referenceQuantity"];
        price.period = unit.iter().find_map(|it| period(map.get(*it)?));
        let (plan, label) = (name.to_owned(), String::new());
        self.offers.push(Offer { plan, label, price, origin: Origin::JsonLd });
    }
}

fn amount(value: &Value) -> Option<Scaled> {
    match value {
        Value::Number(number) => Scaled::decimal(&number.to_string()),
        Value::String(text) => {
            let has_digit = text.bytes().any(|it| it.is_ascii_digit());
            Scaled::decimal(text).or_else(|| has_digit.then(|| Scaled::written(text)))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn period(value: &Value) -> Option<Period> {
    match value.as_str()?.to_ascii_lowercase().as_str() {
        "month" | "mon" | "p1m" => Some(Period::Month),
        "year" | "ann" | "p1y" => Some(Period::Year),
        "week" | "wee" | "p1w" => Some(Period::Week),
        "day" | "p1d" => Some(Period::Day),
        _ => None,
    }
}

/// `https://schema.org/Product` and `schema:Product` are `Product`.
fn last_part(kind: &str) -> String {
    kind.rsplit(['/', '#', ':']).next().unwrap_or_default().chars().take(60).collect()
}

/// Values of a script, and types, that are looked at.
const VALUES_MAX: usize = 5_000;
/// Offers that are taken.
const OFFERS_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Structured {
        let outline = Outline { json_ld: vec![json.to_owned()], ..Outline::default() };
        structured(&outline)
    }

    #[test]
    fn offers_have_the_name_of_the_nearest_thing_that_has_one() {
        let found =
            of(r#"{"@type":"Product","name":"Tau","offers":[{"@type":"Offer","price":"29.00",
               "priceCurrency":"USD"},{"name":"Fleet","price":79,"priceCurrency":"EUR"}]}"#);
        let mut shown: Vec<_> =
            found.offers.iter().map(|it| format!("{}: {}", it.plan, it.price)).collect();
        shown.sort();
        assert_eq!(shown, ["Fleet: 79 EUR", "Tau: 29 USD"]);
        assert_eq!(found.types.into_iter().collect::<Vec<_>>(), ["Offer", "Product"]);
    }

    #[test]
    fn what_is_no_json_says_nothing() {
        assert_eq!(of("{'a': 1"), Structured::default());
        assert_eq!(of(&"[".repeat(100_000)), Structured::default());
        assert!(of(r#"{"@type":["https://schema.org/Thing", 7]}"#).types.contains("Thing"));
    }
}
