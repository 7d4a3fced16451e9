//! Compares what is on offer: plans that came or went, prices that changed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::agents::scan::change::{Change, Diff, Kind};
use crate::agents::scan::facts::{Offer, Origin, PageFacts};
use crate::agents::scan::price::Price;
use crate::agents::scan::texts::Text;

/// Whose plans and prices changed, so that their texts are not reported again.
#[derive(Debug, Default)]
pub struct Changed {
    /// The keys of plans that came or went.
    pub plans: BTreeSet<String>,
    /// Plan, or label where there is no plan, of prices that changed.
    pub prices: BTreeSet<String>,
}

impl Changed {
    /// Whether a text names a plan that came or went.
    #[must_use]
    pub fn names(&self, key: &str) -> bool {
        let words: Vec<&str> = key.split(' ').collect();
        let spans = (0..words.len()).flat_map(|from| {
            let rest = words.len().saturating_sub(from).min(PLAN_WORDS_MAX);
            (1..=rest).map(move |count| (from, count))
        });
        let mut named = spans.filter_map(|(from, count)| words.get(from..from + count));
        !self.plans.is_empty() && named.any(|it| self.plans.contains(&it.join(" ")))
    }
}

/// Compares the offers of a page.
pub fn offers(diff: &mut Diff, before: &PageFacts, after: &PageFacts) -> Changed {
    let mut changed = Changed::default();
    plans(diff, before, after, &mut changed);
    let (old, new) = (groups(&before.offers), groups(&after.offers));
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let empty = Group::default();
    for key in keys {
        let (old, new) = (old.get(key).unwrap_or(&empty), new.get(key).unwrap_or(&empty));
        let gone = without(&old.prices, &new.prices);
        let come = without(&new.prices, &old.prices);
        if (gone.is_empty() && come.is_empty()) || changed.plans.contains(&key.plan) {
            continue;
        }
        changed.prices.insert(if key.plan.is_empty() {
            key.label.clone()
        } else {
            key.plan.clone()
        });
        let place = if new.place.is_empty() { &old.place } else { &new.place };
        for at in 0..gone.len().max(come.len()) {
            let shown = |it: Option<&&Price>| it.map(ToString::to_string);
            let (was, is) = (shown(gone.get(at)), shown(come.get(at)));
            let known = |it: &Change| it.kind == Kind::Price && it.before == was && it.after == is;
            let is_twin = key.origin != Origin::Text && diff.changes.iter().any(known);
            if !is_twin {
                let place = place_of(place, key.origin);
                diff.push(Change::new(Kind::Price, was.as_deref(), is.as_deref()).at(&place));
            }
        }
    }
    changed
}

/// Plans that came or went. One that is still named has only lost its price, or got one.
fn plans(diff: &mut Diff, before: &PageFacts, after: &PageFacts, changed: &mut Changed) {
    let (said_before, said_after) = (said(before), said(after));
    for gone in before.plans.iter().filter(|it| !said_after.contains(it.key.as_str())) {
        changed.plans.insert(gone.key.clone());
        diff.push(Change::new(Kind::Plan, Some(&gone.shown), None));
    }
    for new in after.plans.iter().filter(|it| !said_before.contains(it.key.as_str())) {
        changed.plans.insert(new.key.clone());
        diff.push(Change::new(Kind::Plan, None, Some(&new.shown)));
    }
}

/// What a page names or says as a whole.
fn said(page: &PageFacts) -> HashSet<&str> {
    let headings = page.headings.iter().map(|it| &it.text);
    let segments = page.segments.iter().map(|it| &it.text);
    page.plans.iter().chain(headings).chain(segments).map(|it| it.key.as_str()).collect()
}

/// What makes two offers the same offer.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    origin: Origin,
    plan: String,
    label: String,
}

/// The prices of one offer.
#[derive(Debug, Default)]
struct Group {
    prices: Vec<Price>,
    place: String,
}

fn groups(offers: &[Offer]) -> BTreeMap<Key, Group> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for offer in offers {
        let plan = Text::of(&offer.plan).key;
        let label = Text::of(&offer.label).template;
        let group = groups.entry(Key { origin: offer.origin, plan, label }).or_default();
        group.prices.push(offer.price.clone());
        group.place = match (offer.plan.is_empty(), offer.label.is_empty()) {
            (true, _) => offer.label.clone(),
            (false, true) => offer.plan.clone(),
            (false, false) => format!("{}, {}", offer.plan, offer.label),
        };
    }
    groups
}

/// The prices of `one` that are not in `other`, each as often as it is missing.
fn without<'a>(one: &'a [Price], other: &[Price]) -> Vec<&'a Price> {
    let mut left: Vec<&Price> = other.iter().collect();
    let mut missing = Vec::new();
    for price in one {
        match left.iter().position(|it| **it == *price) {
            Some(at) => drop(left.swap_remove(at)),
            None => missing.push(price),
        }
    }
    missing
}

fn place_of(place: &str, origin: Origin) -> String {
    let source = match origin {
        Origin::Text => return place.to_owned(),
        Origin::JsonLd => "in structured data",
        Origin::Microdata => "in microdata",
        Origin::Meta => "in a meta element",
    };
    if place.is_empty() { source.to_owned() } else { format!("{place} ({source})") }
}

/// Words of the longest name of a plan that is looked for in a text.
const PLAN_WORDS_MAX: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_named_by_all_of_its_words_in_a_row() {
        let plans = ["crew", "small fleet"].map(str::to_owned).into();
        let changed = Changed { plans, ..Changed::default() };
        assert!(changed.names("crew") && changed.names("start with small fleet now"));
        assert!(!changed.names("crews") && !changed.names("small grey fleet"));
        assert!(!changed.names("") && !Changed::default().names("crew"));
    }
}
