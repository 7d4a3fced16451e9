//! Compares the headings and the blocks of text of a page at two times.

use std::collections::{HashMap, HashSet};

use crate::agents::scan::alike::{Alike, by_key, take};
use crate::agents::scan::change::{Change, Diff, Kind, Severity};
use crate::agents::scan::facts::{Heading, PageFacts, Segment, Zone};
use crate::agents::scan::judge::{Verdict, is_of_offer, numbers, one_sided, replaced};
use crate::agents::scan::offers::Changed;

/// Compares the headings.
pub fn headings(
    diff: &mut Diff,
    before: &PageFacts,
    after: &PageFacts,
    changed: &Changed,
    alike: &mut Alike<'_>,
) {
    let (mut gone, mut new) = parted(&before.headings, &after.headings, |it| &it.text.key);
    let template = |it: &&Heading| Some(it.text.template.clone());
    let mut pairs = by_key(gone.iter().map(template), new.iter().map(template));
    let mut twins = take(&mut gone, &mut new, pairs);
    // The main heading of one time takes the place of that of the other, whatever they say.
    let main = |it: &&Heading| (it.level == 1).then_some(());
    pairs = by_key(gone.iter().map(main), new.iter().map(main));
    twins.extend(take(&mut gone, &mut new, pairs));
    pairs = alike.pairs(&keys(&gone), &keys(&new), |old, other| {
        gone.get(old).map(|it| it.level) == new.get(other).map(|it| it.level)
    });
    twins.extend(take(&mut gone, &mut new, pairs));
    for (old, new) in twins {
        heading(diff, Some(old), Some(new), changed);
    }
    for old in gone {
        heading(diff, Some(old), None, changed);
    }
    for new in new {
        heading(diff, None, Some(new), changed);
    }
}

fn keys<'a>(headings: &[&'a Heading]) -> Vec<&'a str> {
    headings.iter().map(|it| it.text.key.as_str()).collect()
}

fn heading(diff: &mut Diff, before: Option<&Heading>, after: Option<&Heading>, changed: &Changed) {
    let Some(one) = after.or(before) else { return };
    let both = || before.into_iter().chain(after);
    if both().any(|it| changed.plans.contains(&it.text.key)) {
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
    let is_of_offer = both().any(|it| it.plan.is_some() || is_of_offer(&as_segment(it)));
    diff.push(Change { template: one.text.template.clone(), is_of_offer, ..change });
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
pub fn segments(
    diff: &mut Diff,
    before: &PageFacts,
    after: &PageFacts,
    changed: &Changed,
    alike: &mut Alike<'_>,
) {
    let (mut gone, mut new) = parted(&before.segments, &after.segments, |it| &it.text.key);
    let said = |page: &PageFacts| -> HashSet<String> {
        page.segments.iter().map(|it| it.text.key.clone()).collect()
    };
    let (said_before, said_after) = (said(before), said(after));
    // What is still said elsewhere has only moved.
    gone.retain(|it| !said_after.contains(&it.text.key));
    new.retain(|it| !said_before.contains(&it.text.key));
    let same = |it: &&Segment| Some((it.text.template.clone(), it.label.clone(), it.plan.clone()));
    let mut pairs = by_key(gone.iter().map(same), new.iter().map(same));
    let mut twins = take(&mut gone, &mut new, pairs);
    let template = |it: &&Segment| Some(it.text.template.clone());
    pairs = by_key(gone.iter().map(template), new.iter().map(template));
    twins.extend(take(&mut gone, &mut new, pairs));
    pairs = alike.pairs(&templates(&gone), &templates(&new), |old, other| {
        gone.get(old).map(|it| &it.tag) == new.get(other).map(|it| &it.tag)
    });
    twins.extend(take(&mut gone, &mut new, pairs));
    let place = |it: &&Segment| Some((it.tag.clone(), it.label.clone(), it.plan.clone()));
    pairs = by_key(gone.iter().map(place), new.iter().map(place));
    twins.extend(take(&mut gone, &mut new, pairs));
    for (old, new) in twins {
        segment(diff, Some(old), Some(new), changed);
    }
    for old in gone {
        segment(diff, Some(old), None, changed);
    }
    for new in new {
        segment(diff, None, Some(new), changed);
    }
}

fn templates<'a>(segments: &[&'a Segment]) -> Vec<&'a str> {
    segments.iter().map(|it| it.text.template.as_str()).collect()
}

fn segment(diff: &mut Diff, before: Option<&Segment>, after: Option<&Segment>, changed: &Changed) {
    let Some(one) = after.or(before) else { return };
    let both = || before.into_iter().chain(after);
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
    let is_of_offer = both().any(is_of_offer);
    diff.push(Change { template: one.text.template.clone(), is_of_offer, ..change });
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
