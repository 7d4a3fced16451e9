//! Compares the headings and the blocks of text of a page at two times.

use std::collections::{HashMap, HashSet};

use crate::agents::scan::change::{Change, Diff, Kind, Severity};
use crate::agents::scan::facts::{Heading, PageFacts, Segment, Zone};
use crate::agents::scan::judge::{Verdict, numbers, one_sided, replaced};
use crate::agents::scan::offers::Changed;

/// Compares the headings.
pub fn headings(diff: &mut Diff, before: &PageFacts, after: &PageFacts, changed: &Changed) {
    let (gone, mut new) = parted(&before.headings, &after.headings, |it| &it.text.key);
    for old in gone {
        let twin = new.iter().position(|it| it.text.template == old.text.template);
        let twin = twin.or_else(|| {
            new.iter().position(|it| {
                it.level == old.level && (old.level == 1 || is_alike(&old.text.key, &it.text.key))
            })
        });
        heading(diff, Some(old), twin.map(|it| new.remove(it)), changed);
    }
    for new in new {
        heading(diff, None, Some(new), changed);
    }
}

fn heading(diff: &mut Diff, before: Option<&Heading>, after: Option<&Heading>, changed: &Changed) {
    let Some(one) = after.or(before) else { return };
    let is_of_plan = |it: &Heading| changed.plans.contains(&it.text.key);
    if before.is_some_and(is_of_plan) || after.is_some_and(is_of_plan) {
        return;
    }
    let verdict = match (before, after) {
        (Some(old), Some(new)) if old.text.template == new.text.template => {
            if old.text.numbers == new.text.numbers {
                return; // Only a price in it, which is reported as such.
            }
            numbers(&as_segment(old), &as_segment(new))
        }
        _ => Verdict::Notable,
    };
    let severity = match verdict {
        Verdict::Notable if one.zone == Zone::Main || one.level == 1 => Severity::Notable,
        Verdict::Notable | Verdict::Minor => Severity::Minor,
        Verdict::Ignored(reason) => {
            diff.ignore(reason, &one.text.shown);
            return;
        }
    };
    let shown = |it: Option<&Heading>| it.map(|it| it.text.shown.clone());
    let (old, new) = (shown(before), shown(after));
    let change = Change::new(Kind::Heading, old.as_deref(), new.as_deref()).with(severity);
    diff.push(Change { template: one.text.template.clone(), ..change });
}

fn as_segment(heading: &Heading) -> Segment {
    Segment {
        text: heading.text.clone(),
        tag: "h".to_owned(),
        label: String::new(),
        plan: heading.plan.clone(),
        in_offer: heading.plan.is_some(),
        zone: heading.zone,
    }
}

/// Compares the blocks of text.
pub fn segments(diff: &mut Diff, before: &PageFacts, after: &PageFacts, changed: &Changed) {
    let (gone, mut new) = parted(&before.segments, &after.segments, |it| &it.text.key);
    let said = |page: &PageFacts| -> HashSet<String> {
        page.segments.iter().map(|it| it.text.key.clone()).collect()
    };
    let (said_before, said_after) = (said(before), said(after));
    // What is still said elsewhere has only moved.
    let mut gone: Vec<_> =
        gone.into_iter().filter(|it| !said_after.contains(&it.text.key)).collect();
    new.retain(|it| !said_before.contains(&it.text.key));
    pair(diff, &mut gone, &mut new, changed, |old, new| {
        old.text.template == new.text.template && old.label == new.label && old.plan == new.plan
    });
    pair(diff, &mut gone, &mut new, changed, |old, new| old.text.template == new.text.template);
    pair(diff, &mut gone, &mut new, changed, |old, new| {
        old.tag == new.tag && is_alike(&old.text.template, &new.text.template)
    });
    pair(diff, &mut gone, &mut new, changed, |old, new| {
        old.tag == new.tag && old.label == new.label && old.plan == new.plan
    });
    for old in gone {
        segment(diff, Some(old), None, changed);
    }
    for new in new {
        segment(diff, None, Some(new), changed);
    }
}

/// Judges the pairs for which `fits` holds, and takes them out.
fn pair<'a>(
    diff: &mut Diff,
    gone: &mut Vec<&'a Segment>,
    new: &mut Vec<&'a Segment>,
    changed: &Changed,
    fits: impl Fn(&Segment, &Segment) -> bool,
) {
    if gone.len().saturating_mul(new.len()) > PAIRS_MAX {
        return;
    }
    gone.retain(|old| match new.iter().position(|it| fits(old, it)) {
        Some(at) => {
            segment(diff, Some(old), Some(new.remove(at)), changed);
            false
        }
        None => true,
    });
}

fn segment(diff: &mut Diff, before: Option<&Segment>, after: Option<&Segment>, changed: &Changed) {
    let Some(one) = after.or(before) else { return };
    let both = || before.iter().chain(after.iter());
    if both().any(|it| is_told(it, changed)) {
        return;
    }
    let verdict = match (before, after) {
        (Some(old), Some(new)) if old.text.template == new.text.template => {
            if old.text.numbers == new.text.numbers {
                return; // Only a price in it, which is reported as such.
            }
            numbers(old, new)
        }
        (Some(old), Some(new)) => replaced(old, new),
        _ => one_sided(one),
    };
    let severity = match verdict {
        Verdict::Notable => Severity::Notable,
        Verdict::Minor => Severity::Minor,
        Verdict::Ignored(reason) => {
            diff.ignore(reason, &one.text.shown);
            return;
        }
    };
    let shown = |it: Option<&Segment>| it.map(|it| it.text.shown.clone());
    let (old, new) = (shown(before), shown(after));
    let place = one.plan.as_deref().unwrap_or(&one.label);
    let change = Change::new(Kind::Text, old.as_deref(), new.as_deref()).with(severity).at(place);
    diff.push(Change { template: one.text.template.clone(), ..change });
}

/// Whether a text belongs to a plan or a price that is reported as such.
fn is_told(segment: &Segment, changed: &Changed) -> bool {
    let plan = segment.plan.as_deref().map(|it| super::texts::Text::of(it).key);
    if plan.as_ref().is_some_and(|it| changed.plans.contains(it))
        || changed.plans.contains(&segment.text.key)
    {
        return true;
    }
    let owner = plan.unwrap_or_else(|| segment.text.before_price());
    !segment.text.prices.is_empty() && changed.prices.contains(&owner)
}

/// The entries that only one of two lists has, each as often as it is missing.
fn parted<'a, T>(
    before: &'a [T],
    after: &'a [T],
    key: impl Fn(&T) -> &str,
) -> (Vec<&'a T>, Vec<&'a T>) {
    (missing(before, after, &key), missing(after, before, &key))
}

/// The entries of `one` that `other` does not have.
fn missing<'a, T>(one: &'a [T], other: &[T], key: &impl Fn(&T) -> &str) -> Vec<&'a T> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for it in other {
        *left.entry(key(it)).or_default() += 1;
    }
    let is_missing = |it: &&T| match left.get_mut(key(it)).filter(|it| **it > 0) {
        Some(count) => {
            *count -= 1;
            false
        }
        None => true,
    };
    one.iter().filter(is_missing).collect()
}

/// Whether two texts share at least half of their words.
fn is_alike(one: &str, other: &str) -> bool {
    let words = |it: &str| it.split(' ').map(str::to_owned).collect::<HashSet<_>>();
    let (one, other) = (words(one), words(other));
    let shared = one.intersection(&other).count();
    shared > 0 && shared.saturating_mul(2) >= one.len().max(other.len())
}

/// Pairs of blocks that are looked at.
const PAIRS_MAX: usize = 250_000;
