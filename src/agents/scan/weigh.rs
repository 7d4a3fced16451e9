//! Weighs what a page shows against what was last reported, a second look, and memory.
//!
//! Nothing is told that only one look has found, and nothing that was not told becomes what the
//! next scan is compared with.

use crate::agents::parsers::Patience;
use crate::agents::scan::baseline::{Baseline, PageBase, Rest, SiteBase};
use crate::agents::scan::change::{Change, Diff, Severity};
use crate::agents::scan::memory::{Known, Memory};
use crate::agents::scan::reading::Reading;
use crate::agents::scan::roles::Role;
use crate::agents::scan::settle::{Settled, Told};
use crate::agents::scan::usable::Usability;
use crate::agents::scan::visit::SiteVisit;

/// A page of this scan.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The number of the site.
    pub site: usize,
    /// What the page is for.
    pub role: Role,
    /// What came back.
    pub first: &'a Reading,
    /// What came back the second time; nothing when nobody looked, or nobody answered.
    pub second: Option<&'a Reading>,
    /// The number of the scan.
    pub scan: u32,
}

/// The pages that have to be looked at a second time, because something notable changed there.
#[must_use]
pub fn to_confirm(
    base: &Baseline,
    visits: &[SiteVisit],
    own: Option<usize>,
    patience: &Patience,
) -> Vec<(usize, Role)> {
    let scan = base.scans.saturating_add(1);
    let mut pages = Vec::new();
    for (site, visit) in visits.iter().enumerate().filter(|it| Some(it.0) != own) {
        let Some(known) = base.sites.get(site) else { continue };
        for (role, reading) in &visit.pages {
            let Some(page) = known.pages.iter().find(|it| it.role == *role) else { continue };
            let is_wanted = if reading.is_rest_of(&page.facts) {
                !page.rest.is(reading)
            } else {
                let diff = reading.changed_since(&page.facts, patience).unwrap_or_default();
                // Gone for good is said at once.
                reading.usability != Usability::Gone
                    && diff.changes.iter().any(|it| is_news(it, &known.memory, scan))
            };
            if is_wanted {
                pages.push((site, *role));
            }
        }
    }
    pages
}

fn is_news(change: &Change, memory: &Memory, scan: u32) -> bool {
    change.is_notable() && matches!(memory.judge(change, scan), Known::No | Known::Returned)
}

/// What differs from what was last reported.
struct Difference {
    diff: Diff,
    /// The same of the second look.
    again: Option<Diff>,
    /// Whether one look is enough.
    is_certain: bool,
}

/// Decides what is told of a page; says with what the next scan is compared, if not as before.
pub fn weigh<'a>(
    settled: &mut Settled,
    known: &mut SiteBase,
    seen: &Seen<'a>,
    patience: &Patience,
) -> Option<&'a Reading> {
    let base = known.pages.iter_mut().find(|it| it.role == seen.role)?;
    let Difference { diff, again, is_certain } = match difference(base, seen, patience) {
        Ok(difference) => difference,
        Err(reason) => {
            settled.ignore(reason, &base.url);
            return None;
        }
    };
    settled.ignored_from(&diff);
    if let (Some(first), Some(second)) = (seen.first.page(), seen.second) {
        for change in second.changed_since(first, patience).unwrap_or_default().changes {
            known.memory.note_restless(&change, seen.scan);
        }
    }
    let mut is_open = false;
    for change in diff.changes {
        let was_seen = |it: &Diff| it.changes.iter().any(|it| it.is_same(&change));
        let is_confirmed = is_certain || again.as_ref().is_some_and(was_seen);
        is_open |= !is_confirmed && is_news(&change, &known.memory, seen.scan);
        one(settled, &mut known.memory, seen, change, is_confirmed);
    }
    match again {
        Some(_) => seen.second,
        // What a second look has yet to find is compared once more next time.
        None if is_open => None,
        None => Some(seen.first),
    }
}

/// What differs; or why this is not compared: a fragment.
fn difference(
    base: &mut PageBase,
    seen: &Seen<'_>,
    patience: &Patience,
) -> Result<Difference, &'static str> {
    if seen.first.is_rest_of(&base.facts) {
        return rest(base, seen, patience);
    }
    let diff = seen.first.changed_since(&base.facts, patience).ok_or(NOT_ITSELF)?;
    base.rest = Rest::default();
    let again = seen.second.and_then(|it| it.changed_since(&base.facts, patience));
    Ok(Difference { diff, again, is_certain: seen.first.usability == Usability::Gone })
}

/// A page of which most is missing: believed when it stays so.
fn rest(
    base: &mut PageBase,
    seen: &Seen<'_>,
    patience: &Patience,
) -> Result<Difference, &'static str> {
    let second = seen.second.filter(|it| it.page().is_some());
    if second.is_some_and(|it| !it.is_rest_of(&base.facts)) {
        base.rest = Rest::default();
        return Err(CUT_SHORT);
    }
    let stays = base.rest.is(seen.first) || second.is_some_and(|it| it.says() == seen.first.says());
    base.rest.add(seen.first);
    if !stays && base.rest.scans < RESTS_TOLD {
        return Err(CUT_SHORT);
    }
    let diff = seen.first.rest_since(&base.facts, patience).ok_or(NOT_ITSELF)?;
    base.rest = Rest::default();
    Ok(Difference { diff, again: None, is_certain: true })
}

/// Decides about one change.
fn one(
    settled: &mut Settled,
    memory: &mut Memory,
    seen: &Seen<'_>,
    change: Change,
    is_confirmed: bool,
) {
    let verdict = memory.judge(&change, seen.scan);
    let shown = change.after.as_deref().or(change.before.as_deref()).unwrap_or_default();
    let severity = match verdict {
        _ if !change.is_notable() => Severity::Minor,
        Known::Restless => {
            settled.ignore("texts that differ from fetch to fetch", shown);
            return;
        }
        Known::Alternates => {
            settled.ignore("texts that alternate", shown);
            memory.note(&change, verdict, seen.scan);
            return;
        }
        Known::No | Known::Returned if !is_confirmed => {
            settled.ignore("changes that a second look did not find", shown);
            return;
        }
        Known::Volatile => Severity::Minor,
        Known::No | Known::Returned => Severity::Notable,
    };
    if severity == Severity::Notable || verdict == Known::Volatile {
        memory.note(&change, verdict, seen.scan);
    }
    let (site, role) = (seen.site, seen.role);
    let alternates = verdict == Known::Returned;
    let told = Told { site, role, change: change.with(severity), is_confirmed, alternates };
    // A menu or a footer is the same on every page of a site.
    let is_twin = |it: &Told| it.site == site && it.change.is_same(&told.change);
    if !settled.told.iter().any(is_twin) {
        settled.told.push(told);
    }
}

/// Why something that stands in place of a page is not compared.
const NOT_ITSELF: &str = "pages that were not themselves this time";
/// Why a page of which most is missing is not compared.
const CUT_SHORT: &str = "pages of which most was missing this time";
/// Scans in a row after which a page of which most is missing is taken for what it is.
const RESTS_TOLD: u32 = 3;
