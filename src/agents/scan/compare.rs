//! Compares the facts of a page at two times.
//!
//! Lists are compared without their order, so that moving something is never a change.

use std::collections::{BTreeSet, HashSet};

use crate::agents::parsers::Patience;
use crate::agents::scan::alike::Alike;
use crate::agents::scan::change::{Change, Diff, Kind, Severity};
use crate::agents::scan::claims::LIVE;
use crate::agents::scan::clues::is_notable;
use crate::agents::scan::compare_texts::{headings, segments};
use crate::agents::scan::facts::{LinkFact, PageFacts, Post, Segment, Zone};
use crate::agents::scan::judge::{Verdict, numbers};
use crate::agents::scan::lexicon::has_any;
use crate::agents::scan::offers::{Changed, offers};
use crate::agents::scan::price::Price;
use crate::agents::scan::texts::Text;
use crate::agents::scan::token::words;

/// What changed between two times.
#[must_use]
pub fn compare(before: &PageFacts, after: &PageFacts, patience: &Patience) -> Diff {
    let mut diff = Diff::default();
    if before.status != after.status {
        let status = |it: u16| format!("status {it}");
        let (old, new) = (status(before.status), status(after.status));
        diff.push(Change::new(Kind::Status, Some(&old), Some(&new)));
        return diff;
    }
    if before.host != after.host {
        diff.push(Change::new(Kind::Redirect, Some(&before.host), Some(&after.host)));
    }
    set(&mut diff, Kind::Robots, &before.robots, &after.robots);
    if before.canonical != after.canonical {
        let shown = |it: &str| if it.is_empty() { "its own".to_owned() } else { it.to_owned() };
        let (old, new) = (shown(&before.canonical), shown(&after.canonical));
        diff.push(Change::new(Kind::Canonical, Some(&old), Some(&new)));
    }
    set(&mut diff, Kind::Language, &before.alternates, &after.alternates);
    if before.lang != after.lang && !before.lang.is_empty() && !after.lang.is_empty() {
        diff.push(Change::new(Kind::Language, Some(&before.lang), Some(&after.lang)));
        diff.ignore("texts of a page that is now in another language", &after.lang);
        return diff;
    }
    one_text(&mut diff, Kind::Title, &before.title, &after.title);
    one_text(&mut diff, Kind::Description, &before.description, &after.description);
    if before.og_description != before.description || after.og_description != after.description {
        one_text(&mut diff, Kind::Description, &before.og_description, &after.og_description);
    }
    let changed = offers(&mut diff, before, after);
    let mut alike = Alike::new(patience);
    headings(&mut diff, before, after, &changed, &mut alike);
    links(&mut diff, Kind::Nav, (&before.nav, before), (&after.nav, after), &changed);
    links(&mut diff, Kind::Cta, (&before.calls, before), (&after.calls, after), &changed);
    links(&mut diff, Kind::Text, (&before.links, before), (&after.links, after), &changed);
    posts(&mut diff, &before.posts, &after.posts);
    for release in after.releases.difference(&before.releases) {
        diff.push(Change::new(Kind::Release, None, Some(release)));
    }
    segments(&mut diff, before, after, &changed, &mut alike);
    set(&mut diff, Kind::Schema, &before.schema, &after.schema);
    set(&mut diff, Kind::Social, &before.socials, &after.socials);
    technologies(&mut diff, before, after);
    diff
}

/// Entries of a set that came or went.
fn set(diff: &mut Diff, kind: Kind, before: &BTreeSet<String>, after: &BTreeSet<String>) {
    for gone in before.difference(after) {
        diff.push(Change::new(kind, Some(gone), None));
    }
    for new in after.difference(before) {
        diff.push(Change::new(kind, None, Some(new)));
    }
}

/// A text of which a page has one.
fn one_text(diff: &mut Diff, kind: Kind, before: &Text, after: &Text) {
    if before.key == after.key {
        if before.shown != after.shown {
            diff.ignore("spelling, dates and clocks", &after.shown);
        }
        return;
    }
    if before.template == after.template && has_any(&after.lower(), LIVE) {
        diff.ignore("numbers of the moment", &after.shown);
        return;
    }
    let shown = |it: &Text| Some(it.shown.clone()).filter(|it| !it.is_empty());
    let (old, new) = (shown(before), shown(after));
    diff.push(Change::new(kind, old.as_deref(), new.as_deref()));
}

/// Links of one kind, by what they say.
fn links(
    diff: &mut Diff,
    kind: Kind,
    (before, was): (&[LinkFact], &PageFacts),
    (after, is): (&[LinkFact], &PageFacts),
    changed: &Changed,
) {
    // A link that moved from one part to another is still there.
    let said = |page: &PageFacts| -> HashSet<String> {
        let all = page.nav.iter().chain(&page.calls).chain(&page.links);
        all.map(|it| it.text.key.clone()).collect()
    };
    let (said_before, said_after) = (said(was), said(is));
    let gone: Vec<_> = before.iter().filter(|it| !said_after.contains(&it.text.key)).collect();
    let mut new: Vec<_> = after.iter().filter(|it| !said_before.contains(&it.text.key)).collect();
    for old in gone {
        let twin = new.iter().position(|it| it.text.template == old.text.template);
        if let Some(twin) = twin.map(|it| new.swap_remove(it)) {
            match counter(diff, old, twin) {
                Some(reason) => diff.ignore(reason, &twin.text.shown),
                None => link(diff, kind, Some(old), Some(twin), changed),
            }
            continue;
        }
        let renamed = new.iter().position(|it| it.path == old.path && kind != Kind::Text);
        let by = renamed.map(|it| new.swap_remove(it));
        link(diff, kind, Some(old), by, changed);
    }
    for new in new {
        link(diff, kind, None, Some(new), changed);
    }
}

/// Why two links that differ in numbers or prices only say the same; nothing when they do not.
fn counter(diff: &Diff, before: &LinkFact, after: &LinkFact) -> Option<&'static str> {
    let (old, new) = (&before.text, &after.text);
    if old.numbers == new.numbers {
        // Only a price differs, which is told once.
        let is_told = |it: &Price| {
            let is = Some(it.to_string());
            diff.changes.iter().any(|it| it.kind == Kind::Price && it.after == is)
        };
        return new.prices.iter().all(is_told).then_some("prices in links that are told already");
    }
    if without_counters(&old.shown) == without_counters(&new.shown) {
        return Some(COUNTERS);
    }
    match numbers(&as_segment(before), &as_segment(after)) {
        Verdict::Notable => None,
        Verdict::Minor => Some(COUNTERS),
        Verdict::Ignored(reason) => Some(reason),
    }
}

/// A text without what stands in brackets, which is how links count: `Inbox (3)`.
fn without_counters(text: &str) -> String {
    let outside = text.split(['(', '[']).enumerate().map(|(at, it)| match at {
        0 => it,
        _ => it.split_once([')', ']']).map_or("", |it| it.1),
    });
    outside.collect()
}

fn as_segment(link: &LinkFact) -> Segment {
    Segment {
        text: link.text.clone(),
        tag: "a".to_owned(),
        label: String::new(),
        plan: None,
        in_offer: false,
        zone: link.zone,
    }
}

fn link(
    diff: &mut Diff,
    kind: Kind,
    before: Option<&LinkFact>,
    after: Option<&LinkFact>,
    changed: &Changed,
) {
    let Some(one) = after.or(before) else { return };
    if changed.names(&one.text.key) {
        return;
    }
    let is_long = words(&one.text.shown) >= LINK_WORDS_MIN && one.zone == Zone::Main;
    let is_call = kind == Kind::Cta && one.zone != Zone::Aside;
    let severity =
        if kind == Kind::Nav || is_call || is_long { Severity::Notable } else { Severity::Minor };
    let shown = |it: Option<&LinkFact>| it.map(|it| it.text.shown.clone());
    let (old, new) = (shown(before), shown(after));
    let change = Change::new(kind, old.as_deref(), new.as_deref()).with(severity);
    diff.push(Change { template: one.text.template.clone(), ..change });
}

fn posts(diff: &mut Diff, before: &[Post], after: &[Post]) {
    let is_known = |post: &Post, posts: &[Post]| {
        posts.iter().any(|it| it.path == post.path || it.title == post.title)
    };
    for post in after.iter().filter(|it| !is_known(it, before)) {
        diff.push(Change::new(Kind::Post, None, Some(&post.title)).at(&post.path));
    }
    for post in before.iter().filter(|it| !is_known(it, after)) {
        let gone = Change::new(Kind::Post, Some(&post.title), None).at(&post.path);
        diff.push(gone.with(Severity::Minor));
    }
}

fn technologies(diff: &mut Diff, before: &PageFacts, after: &PageFacts) {
    let severity = |category: &str| {
        if is_notable(category) { Severity::Notable } else { Severity::Minor }
    };
    for gone in before.tech.difference(&after.tech) {
        let change = Change::new(Kind::Tech, Some(&gone.name), None).at(&gone.category);
        diff.push(change.with(severity(&gone.category)));
    }
    for new in after.tech.difference(&before.tech) {
        let change = Change::new(Kind::Tech, None, Some(&new.name)).at(&new.category);
        diff.push(change.with(severity(&new.category)));
    }
}

/// Why numbers in links are left out that mean nothing.
const COUNTERS: &str = "counters in links";
/// Words of a link that make it a text.
const LINK_WORDS_MIN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> LinkFact {
        LinkFact { text: Text::of(text), path: "/start".to_owned(), zone: Zone::Main }
    }

    #[track_caller]
    fn check_call(before: &str, after: &str, is_notable: bool) {
        let page = |it: &str| PageFacts { calls: vec![call(it)], ..PageFacts::default() };
        let diff = compare(&page(before), &page(after), &Patience::endless());
        assert_eq!(diff.is_notable(), is_notable, "{before:?} to {after:?}: {diff:?}");
    }

    #[test]
    fn numbers_in_buttons_matter_where_they_are_part_of_an_offer() {
        check_call("Try free for 14 days", "Try free for 30 days", true);
        check_call("Get it for $29", "Get it for $35", true);
        check_call("Basket (3)", "Basket (4)", false);
        check_call("Free templates (120)", "Free templates (124)", false);
        check_call("Read 312 reviews", "Read 315 reviews", false);
        check_call("Chapter 3", "Chapter 4", false);
    }

    #[test]
    fn a_price_in_a_button_is_told_once() {
        let mut diff = Diff::default();
        diff.push(Change::new(Kind::Price, Some("29 USD"), Some("35 USD")));
        let (old, new) = (call("Get it for $29"), call("Get it for $35"));
        assert!(counter(&diff, &old, &new).is_some());
        assert!(counter(&Diff::default(), &old, &new).is_none());
    }
}
