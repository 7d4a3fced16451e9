//! What a schedule remembers about a site: which texts change by themselves, which come and go.
//!
//! Two fetches of one scan that differ show what is never the same. A text that comes back after
//! it had gone alternates: that is said once, then it is left alone. A text that was never there is
//! news whatever alternated before.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agents::scan::change::{Change, Kind};

/// What is remembered about one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What was there and went: when it was last there, by scan.
    seen: BTreeMap<u64, u32>,
    /// What alternates: the last scan that saw it.
    alternating: BTreeMap<u64, u32>,
    /// What differs from fetch to fetch: the last scan that saw it.
    restless: BTreeMap<u64, u32>,
    /// Texts whose numbers or words changed: in which scans, by template.
    changed: BTreeMap<u64, Vec<u32>>,
}

/// What memory says about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing: it is news.
    No,
    /// It came back; this is to be said once.
    Returned,
    /// It is known to alternate.
    Alternates,
    /// It differs from fetch to fetch.
    Restless,
    /// It changes nearly every time.
    Volatile,
}

impl Memory {
    /// What is known about a change that this scan found.
    #[must_use]
    pub fn judge(&self, change: &Change, scan: u32) -> Known {
        let [old, new] = sides(change);
        let has = |map: &BTreeMap<u64, u32>, side: Option<u64>| {
            side.is_some_and(|it| map.contains_key(&it))
        };
        let template = template(change);
        // Of two prices that were shown in turn neither excuses a third.
        let is_restless = if change.kind == Kind::Price {
            has(&self.restless, old) && has(&self.restless, new)
        } else {
            [old, new, template].into_iter().any(|it| has(&self.restless, it))
        };
        if is_restless {
            return Known::Restless;
        }
        // One side that was never there is news, whatever the other does.
        let is_side_known = |it: Option<u64>| it.is_none() || has(&self.alternating, it);
        if (old.is_some() || new.is_some()) && is_side_known(old) && is_side_known(new) {
            return Known::Alternates;
        }
        let was_there = new.and_then(|it| self.seen.get(&it));
        if was_there.is_some_and(|it| scan.saturating_sub(*it) <= RETURN_SCANS_MAX) {
            return Known::Returned;
        }
        let times = template.and_then(|it| self.changed.get(&it));
        let recent = times.map_or(0, |it| {
            it.iter().filter(|it| scan.saturating_sub(**it) <= VOLATILE_SCANS).count()
        });
        // What is on offer may change often; it matters each time.
        let is_volatile = recent >= VOLATILE_TIMES && !change.is_of_offer;
        if is_volatile { Known::Volatile } else { Known::No }
    }

    /// Notes a change that this scan found, whatever is made of it.
    pub fn note(&mut self, change: &Change, known: Known, scan: u32) {
        let [old, new] = sides(change);
        match known {
            Known::Returned | Known::Alternates => {
                self.alternating.extend([old, new].into_iter().flatten().map(|it| (it, scan)));
            }
            Known::Restless => {
                self.restless.extend([old, new].into_iter().flatten().map(|it| (it, scan)));
            }
            Known::No | Known::Volatile => self.seen.extend(old.map(|it| (it, scan))),
        }
        if let Some(template) = template(change) {
            let times = self.changed.entry(template).or_default();
            // Several texts of one template that change together are one change of it.
            if times.last() != Some(&scan) {
                times.push(scan);
            }
            let surplus = times.len().saturating_sub(RING);
            times.drain(..surplus);
        }
    }

    /// Notes a difference of two fetches of the same scan.
    pub fn note_restless(&mut self, change: &Change, scan: u32) {
        let [old, new] = sides(change);
        let all = [old, new, template(change)];
        self.restless.extend(all.into_iter().flatten().map(|it| (it, scan)));
    }

    /// Forgets what was not seen for a while, and the oldest of what is too much.
    pub fn age(&mut self, scan: u32) {
        for map in [&mut self.seen, &mut self.alternating, &mut self.restless] {
            map.retain(|_, at| scan.saturating_sub(*at) <= KEPT_SCANS);
            keep_newest(map, |at| *at);
        }
        self.changed.retain(|_, times| {
            times.last().is_some_and(|it| scan.saturating_sub(*it) <= KEPT_SCANS)
        });
        keep_newest(&mut self.changed, |times| times.last().copied().unwrap_or_default());
    }
}

/// Drops the oldest of what is too much.
fn keep_newest<T>(map: &mut BTreeMap<u64, T>, scan: impl Fn(&T) -> u32) {
    let surplus = map.len().saturating_sub(ENTRIES_MAX);
    if surplus == 0 {
        return;
    }
    let mut by_age: Vec<(u32, u64)> = map.iter().map(|(key, it)| (scan(it), *key)).collect();
    by_age.sort_unstable();
    for (_, key) in by_age.into_iter().take(surplus) {
        map.remove(&key);
    }
}

/// What a change says before and after, each as a number; only for what can alternate.
fn sides(change: &Change) -> [Option<u64>; 2] {
    if !can_alternate(change.kind) {
        return [None, None];
    }
    let kind = change.kind.as_str();
    let place = if change.kind == Kind::Price { change.place.as_str() } else { "" };
    [&change.before, &change.after].map(|it| it.as_ref().map(|text| hash(&[kind, place, text])))
}

fn template(change: &Change) -> Option<u64> {
    let has_one = !change.template.is_empty();
    has_one.then(|| hash(&[change.kind.as_str(), "template", &change.template]))
}

/// Whether a change of this kind can be one of several versions that are shown in turn.
const fn can_alternate(kind: Kind) -> bool {
    match kind {
        Kind::Price
        | Kind::Plan
        | Kind::Title
        | Kind::Description
        | Kind::Heading
        | Kind::Cta
        | Kind::Nav
        | Kind::Post
        | Kind::Text
        | Kind::Tech
        | Kind::Schema
        | Kind::Social => true,
        Kind::Unreachable
        | Kind::Status
        | Kind::Redirect
        | Kind::Robots
        | Kind::Canonical
        | Kind::Language
        | Kind::Release => false,
    }
}

/// A number for some words: FNV-1a, which is the same in every version of the daemon.
#[must_use]
pub fn hash(words: &[&str]) -> u64 {
    let bytes = words.iter().flat_map(|it| it.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Scans within which something that comes back alternates.
const RETURN_SCANS_MAX: u32 = 4;
/// Scans that are looked at to call a text volatile.
const VOLATILE_SCANS: u32 = 5;
/// Changes within them that make it so.
const VOLATILE_TIMES: usize = 3;
/// Changes of one text that are remembered.
const RING: usize = 8;
/// Scans after which something is forgotten.
const KEPT_SCANS: u32 = 30;
/// Entries of each kind.
const ENTRIES_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(before: &str, after: &str, template: &str) -> Change {
        let change = Change::new(Kind::Text, Some(before), Some(after));
        Change { template: template.to_owned(), ..change }
    }

    #[test]
    fn what_comes_back_is_said_once_and_then_known() {
        let mut memory = Memory::default();
        let (there, back) = (text("A", "B", "b"), text("B", "A", "a"));
        assert_eq!(memory.judge(&there, 2), Known::No);
        memory.note(&there, Known::No, 2);
        assert_eq!(memory.judge(&back, 3), Known::Returned);
        memory.note(&back, Known::Returned, 3);
        assert_eq!(memory.judge(&there, 4), Known::Alternates);
        assert_eq!(memory.judge(&text("A", "C", "c"), 4), Known::No);
        memory.age(50);
        assert_eq!(memory.judge(&there, 50), Known::No);
    }

    #[test]
    fn a_text_that_changes_nearly_every_time_is_volatile() {
        let mut memory = Memory::default();
        for scan in 1..=3 {
            let change = text(&scan.to_string(), &(scan + 1).to_string(), "#");
            assert_eq!(memory.judge(&change, scan), Known::No);
            memory.note(&change, Known::No, scan);
        }
        assert_eq!(memory.judge(&text("4", "5", "#"), 4), Known::Volatile);
        assert_eq!(memory.judge(&text("4", "5", "#"), 9), Known::No);
    }

    #[test]
    fn what_was_never_there_is_news_after_all_that_alternated() {
        let mut memory = Memory::default();
        let steps = [
            ("29", "19", Known::No),
            ("19", "29", Known::Returned),
            ("29", "19", Known::Alternates),
            ("29", "39", Known::No),
            ("39", "45", Known::No),
            ("45", "39", Known::Returned),
        ];
        for (scan, (before, after, known)) in (2..).zip(steps) {
            let change = Change::new(Kind::Price, Some(before), Some(after));
            assert_eq!(memory.judge(&change, scan), known, "{before} to {after}");
            memory.note(&change, known, scan);
        }
    }

    #[test]
    fn texts_that_change_together_do_so_once_and_offers_always_matter() {
        let mut memory = Memory::default();
        for _ in 0..3 {
            memory.note(&text("Up to 5", "Up to 9", "up to #"), Known::No, 2);
        }
        assert_eq!(memory.judge(&text("Up to 9", "Up to 12", "up to #"), 3), Known::No);
        let mut often = Memory::default();
        (2..=4).for_each(|it| often.note(&text("1", &it.to_string(), "#"), Known::No, it));
        let change = text("8", "9", "#");
        assert_eq!(often.judge(&change, 5), Known::Volatile);
        assert_eq!(often.judge(&Change { is_of_offer: true, ..change }, 5), Known::No);
    }

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut memory = Memory::default();
        for scan in 0..=u32::try_from(ENTRIES_MAX).unwrap() {
            // The scans are within what is kept, so that only the number counts.
            let change = text(&scan.to_string(), "x", "");
            memory.note(&change, Known::No, if scan == 500 { 1 } else { 2 });
        }
        memory.age(2);
        assert_eq!(memory.seen.len(), ENTRIES_MAX);
        assert_eq!(memory.judge(&text("x", "500", ""), 2), Known::No);
        assert_eq!(memory.judge(&text("x", "499", ""), 2), Known::Returned);
    }

    #[test]
    fn two_fetches_show_what_is_never_the_same() {
        let mut memory = Memory::default();
        memory.note_restless(&text("1", "2", "# left"), 1);
        assert_eq!(memory.judge(&text("2", "9", "# left"), 2), Known::Restless);
        assert_eq!(memory.judge(&text("x", "y", "y"), 2), Known::No);
        let price = |before, after| Change::new(Kind::Price, Some(before), Some(after));
        memory.note_restless(&price("29", "35"), 1);
        assert_eq!(memory.judge(&price("29", "35"), 2), Known::Restless);
        assert_eq!(memory.judge(&price("29", "45"), 2), Known::No);
        let gone = Change::new(Kind::Robots, None, Some("noindex"));
        memory.note(&gone, Known::No, 2);
        assert_eq!(memory.judge(&gone, 3), Known::No);
    }
}
