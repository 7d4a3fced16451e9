//! Decides what of a scan is told: compares with what was last reported, confirms, remembers.
//!
//! Pure: what was fetched comes in, what is told and what is kept comes out.

use crate::agents::scan::RULES_VERSION;
use crate::agents::scan::baseline::{Baseline, PageBase, SiteBase};
use crate::agents::scan::change::{Change, Diff, Ignored, Kind, Severity};
use crate::agents::scan::memory::Known;
use crate::agents::scan::reading::Reading;
use crate::agents::scan::roles::Role;
use crate::agents::scan::usable::Usability;
use crate::agents::scan::visit::SiteVisit;

/// A change that is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The number of the site.
    pub site: usize,
    /// The page.
    pub role: Role,
    /// What changed.
    pub change: Change,
    /// Whether a second look found it too.
    pub is_confirmed: bool,
    /// Whether it came back, and so is one of several versions.
    pub alternates: bool,
}

/// What comes of a scan.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// What is told, notable first.
    pub told: Vec<Told>,
    /// What is not, and why.
    pub ignored: Vec<Ignored>,
}

/// A page that was looked at a second time.
#[derive(Clone, Debug)]
pub struct Second {
    /// The number of the site.
    pub site: usize,
    /// The page.
    pub role: Role,
    /// What came back; nothing when it did not answer.
    pub reading: Option<Reading>,
}

/// The pages that have to be looked at a second time, because something notable changed there.
#[must_use]
pub fn to_confirm(base: &Baseline, visits: &[SiteVisit], own: Option<usize>) -> Vec<(usize, Role)> {
    let mut pages = Vec::new();
    for (site, visit) in visits.iter().enumerate().filter(|it| Some(it.0) != own) {
        let Some(known) = base.sites.get(site) else { continue };
        for (role, reading) in &visit.pages {
            let page = known.pages.iter().find(|it| it.role == *role);
            let diff = page.and_then(|it| reading.changed_since(&it.facts)).unwrap_or_default();
            let scan = base.scans.saturating_add(1);
            let is_news = |it: &Change| {
                it.is_notable()
                    && matches!(known.memory.judge(it, scan), Known::No | Known::Returned)
            };
            // Gone for good is said at once.
            if reading.usability != Usability::Gone && diff.changes.iter().any(is_news) {
                pages.push((site, *role));
            }
        }
    }
    pages
}

/// Decides what is told, and brings the baseline up to date.
#[must_use]
pub fn settle(
    base: &mut Baseline,
    visits: &[SiteVisit],
    seconds: &[Second],
    own: Option<usize>,
) -> Settled {
    base.scans = base.scans.saturating_add(1);
    let scan = base.scans;
    let mut settled = Settled::default();
    for (site, visit) in visits.iter().enumerate() {
        let Some(known) = base.sites.get_mut(site) else { continue };
        if Some(site) != own {
            reachability(&mut settled, known, site, visit);
            for (role, reading) in &visit.pages {
                let second = seconds.iter().find(|it| it.site == site && it.role == *role);
                page(&mut settled, known, (site, *role), reading, second, scan);
            }
            feed(&mut settled, known, site, visit);
        }
        known.memory.age(scan);
    }
    settled.told.sort_by_key(|it| (it.change.severity, it.site, it.change.kind));
    if settled.told.iter().any(|it| it.change.is_notable()) {
        for (site, visit) in visits.iter().enumerate() {
            if let Some(known) = base.sites.get_mut(site) {
                move_on(known, site, visit, seconds);
            }
        }
    }
    for (known, visit) in base.sites.iter_mut().zip(visits) {
        add_new_pages(known, visit);
    }
    base.rules_version = RULES_VERSION;
    settled
}

/// The baseline of a first scan; two fetches show what is never the same.
#[must_use]
pub fn begin(input: &str, now: &str, visits: &[SiteVisit], seconds: &[Second]) -> Baseline {
    let mut sites = Vec::new();
    for (site, visit) in visits.iter().enumerate() {
        let mut known = SiteBase { url: visit.start.to_string(), ..SiteBase::default() };
        known.failures = u32::from(!visit.is_ok());
        known.feed.clone_from(&visit.feed);
        add_new_pages(&mut known, visit);
        for page in &known.pages {
            let second = seconds.iter().find(|it| it.site == site && it.role == page.role);
            let diff = second.and_then(|it| it.reading.as_ref()?.changed_since(&page.facts));
            for change in diff.unwrap_or_default().changes {
                known.memory.note_restless(&change, 1);
            }
        }
        sites.push(known);
    }
    Baseline {
        rules_version: RULES_VERSION,
        input: input.to_owned(),
        reported_at: now.to_owned(),
        scans: 1,
        sites,
    }
}

/// Counts scans in a row that could not read a site, and tells of the third and of the end.
fn reachability(settled: &mut Settled, known: &mut SiteBase, site: usize, visit: &SiteVisit) {
    let entry = visit.page(Role::Entry).map(|it| it.usability);
    let answers = visit.is_ok() || matches!(entry, Some(Usability::Missing | Usability::Gone));
    let mut tell = |before: Option<&str>, after: Option<&str>| {
        let change = Change::new(Kind::Unreachable, before, after);
        let (role, is_confirmed, alternates) = (Role::Entry, true, false);
        settled.told.push(Told { site, role, change, is_confirmed, alternates });
    };
    if answers {
        if std::mem::take(&mut known.told_unreachable) {
            tell(Some("not readable"), Some("readable again"));
        }
        known.failures = 0;
        return;
    }
    known.failures = known.failures.saturating_add(1);
    if known.failures >= FAILURES_TOLD && !known.told_unreachable {
        known.told_unreachable = true;
        let reason = visit.status.reason();
        tell(None, Some(&format!("not readable {} times in a row: {reason}", known.failures)));
    }
}

/// Decides about one page.
fn page(
    settled: &mut Settled,
    known: &mut SiteBase,
    (site, role): (usize, Role),
    reading: &Reading,
    second: Option<&Second>,
    scan: u32,
) {
    let Some(base) = known.pages.iter().find(|it| it.role == role) else { return };
    let Some(diff) = reading.changed_since(&base.facts) else {
        ignore(settled, "pages that were not themselves this time", base.url.as_str());
        return;
    };
    let again = second.and_then(|it| it.reading.as_ref()?.changed_since(&base.facts));
    settled.ignored_from(&diff);
    if let (Some(first), Some(second)) = (reading.page(), second.and_then(|it| it.reading.as_ref()))
    {
        for change in second.changed_since(first).unwrap_or_default().changes {
            known.memory.note_restless(&change, scan);
        }
    }
    for change in diff.changes {
        let verdict = known.memory.judge(&change, scan);
        let is_gone = reading.usability == Usability::Gone;
        let seen_again =
            again.as_ref().is_some_and(|it| it.changes.iter().any(|it| it.is_same(&change)));
        let shown = change.after.as_deref().or(change.before.as_deref()).unwrap_or_default();
        let is_confirmed = seen_again || is_gone;
        let severity = match verdict {
            _ if !change.is_notable() => Severity::Minor,
            Known::Restless => {
                ignore(settled, "texts that differ from fetch to fetch", shown);
                continue;
            }
            Known::Alternates => {
                ignore(settled, "texts that alternate", shown);
                known.memory.note(&change, verdict, scan);
                continue;
            }
            Known::No | Known::Returned if !is_confirmed => {
                ignore(settled, "changes that a second look did not find", shown);
                continue;
            }
            Known::Volatile => Severity::Minor,
            Known::No | Known::Returned => Severity::Notable,
        };
        if severity == Severity::Notable || verdict == Known::Volatile {
            known.memory.note(&change, verdict, scan);
        }
        let told = Told {
            site,
            role,
            change: change.with(severity),
            is_confirmed,
            alternates: verdict == Known::Returned,
        };
        // A menu or a footer is the same on every page of a site.
        let is_twin = |it: &Told| it.site == site && it.change.is_same(&told.change);
        if !settled.told.iter().any(is_twin) {
            settled.told.push(told);
        }
    }
}

/// Tells of new entries of a feed that no page has shown.
fn feed(settled: &mut Settled, known: &mut SiteBase, site: usize, visit: &SiteVisit) {
    if visit.feed.is_empty() {
        return;
    }
    let is_known =
        |path: &str, title: &str| known.feed.iter().any(|it| it.path == path || it.title == title);
    let is_first = known.feed.is_empty();
    for post in visit.feed.iter().filter(|it| !is_first && !is_known(&it.path, &it.title)) {
        let change = Change::new(Kind::Post, None, Some(&post.title)).at(&post.path);
        let told = Told { site, role: Role::News, change, is_confirmed: true, alternates: false };
        let is_twin = |it: &Told| {
            it.site == site && it.change.kind == Kind::Post && it.change.after == told.change.after
        };
        if !settled.told.iter().any(is_twin) {
            settled.told.push(told);
        }
    }
    known.feed.clone_from(&visit.feed);
}

/// What was reported becomes what the next scan is compared with.
fn move_on(known: &mut SiteBase, site: usize, visit: &SiteVisit, seconds: &[Second]) {
    for page in &mut known.pages {
        let second = seconds.iter().find(|it| it.site == site && it.role == page.role);
        let second = second.and_then(|it| it.reading.as_ref());
        let Some(reading) = second.or_else(|| visit.page(page.role)) else { continue };
        if reading.changed_since(&page.facts).is_none() {
            continue;
        }
        match reading.page() {
            Some(facts) => {
                page.facts = facts.clone();
                page.source.clone_from(&reading.source);
            }
            None => page.facts.status = reading.status,
        }
    }
}

/// Pages that were found for the first time are compared from the next scan on.
fn add_new_pages(known: &mut SiteBase, visit: &SiteVisit) {
    for (role, reading) in &visit.pages {
        let is_new = known.pages.iter().all(|it| it.role != *role);
        if let Some(facts) = reading.page().filter(|_| is_new) {
            let url = if *role == Role::Entry {
                visit.start.to_string()
            } else {
                reading.url.to_string()
            };
            let (facts, source) = (facts.clone(), reading.source.clone());
            known.pages.push(PageBase { role: *role, url, facts, source });
        }
    }
}

fn ignore(settled: &mut Settled, reason: &str, example: &str) {
    let mut diff = Diff { changes: Vec::new(), ignored: std::mem::take(&mut settled.ignored) };
    diff.ignore(reason, example);
    settled.ignored = diff.ignored;
}

impl Settled {
    /// Adds what a comparison left out.
    fn ignored_from(&mut self, diff: &Diff) {
        for more in &diff.ignored {
            match self.ignored.iter_mut().find(|it| it.reason == more.reason) {
                Some(entry) => entry.count = entry.count.saturating_add(more.count),
                None => self.ignored.push(more.clone()),
            }
        }
    }
}

/// Scans in a row that must fail before a site is reported as not readable.
const FAILURES_TOLD: u32 = 3;
