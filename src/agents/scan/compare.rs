//! Compares the facts of a page at two times.
//!
//! Lists are compared without their order, so that moving something is never a change.

use std::collections::BTreeSet;

use crate::agents::scan::change::{Change, Diff, Kind, Severity};
use crate::agents::scan::claims::LIVE;
use crate::agents::scan::clues::is_notable;
use crate::agents::scan::compare_texts::{headings, segments};
use crate::agents::scan::facts::{LinkFact, PageFacts, Post, Zone};
use crate::agents::scan::lexicon::has_any;
use crate::agents::scan::offers::{Changed, offers};
use crate::agents::scan::texts::Text;
use crate::agents::scan::token::words;

/// What changed between two times.
#[must_use]
pub fn compare(before: &PageFacts, after: &PageFacts) -> Diff {
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
    headings(&mut diff, before, after, &changed);
    links(&mut diff, Kind::Nav, (&before.nav, before), (&after.nav, after), &changed);
    links(&mut diff, Kind::Cta, (&before.calls, before), (&after.calls, after), &changed);
    links(&mut diff, Kind::Text, (&before.links, before), (&after.links, after), &changed);
    posts(&mut diff, &before.posts, &after.posts);
    for release in after.releases.difference(&before.releases) {
        diff.push(Change::new(Kind::Release, None, Some(release)));
    }
    segments(&mut diff, before, after, &changed);
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
    let elsewhere = |it: &LinkFact, page: &PageFacts| {
        let all = page.nav.iter().chain(&page.calls).chain(&page.links);
        all.into_iter().any(|other| other.text.key == it.text.key)
    };
    let gone: Vec<_> = before.iter().filter(|it| !elsewhere(it, is)).collect();
    let mut new: Vec<_> = after.iter().filter(|it| !elsewhere(it, was)).collect();
    for old in gone {
        let twin = new.iter().position(|it| it.text.template == old.text.template);
        if let Some(twin) = twin {
            diff.ignore("counters in links", &new.swap_remove(twin).text.shown);
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

/// Words of a link that make it a text.
const LINK_WORDS_MIN: usize = 4;
