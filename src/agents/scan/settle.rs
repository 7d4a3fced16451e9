//! Decides what of a scan is told: compares with what was last reported, confirms, remembers.
//!
//! Pure: what was fetched comes in, what is told and what is kept comes out.

use crate::agents::parsers::Patience;
use crate::agents::scan::RULES_VERSION;
use crate::agents::scan::baseline::{Baseline, PageBase, Rest, SiteBase};
use crate::agents::scan::change::{Change, Diff, Ignored, Kind};
use crate::agents::scan::reading::Reading;
use crate::agents::scan::roles::Role;
use crate::agents::scan::usable::Usability;
use crate::agents::scan::visit::SiteVisit;
use crate::agents::scan::weigh::{Seen, weigh};

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

/// Decides what is told, and brings the baseline up to date.
#[must_use]
pub fn settle(
    base: &mut Baseline,
    visits: &[SiteVisit],
    seconds: &[Second],
    own: Option<usize>,
    patience: &Patience,
) -> Settled {
    base.scans = base.scans.saturating_add(1);
    let scan = base.scans;
    let mut settled = Settled::default();
    let mut moves: Vec<(usize, Role, &Reading)> = Vec::new();
    for (site, visit) in visits.iter().enumerate() {
        let Some(known) = base.sites.get_mut(site) else { continue };
        if Some(site) == own {
            moves.extend(visit.pages.iter().map(|(role, it)| (site, *role, it)));
        } else {
            reachability(&mut settled, known, site, visit);
            for (role, first) in &visit.pages {
                let role = *role;
                let second = seconds.iter().find(|it| it.site == site && it.role == role);
                let second = second.and_then(|it| it.reading.as_ref());
                let seen = Seen { site, role, first, second, scan };
                let to = weigh(&mut settled, known, &seen, patience);
                moves.extend(to.map(|it| (site, role, it)));
            }
            feed(&mut settled, known, site, visit);
        }
        known.memory.age(scan);
    }
    settled.told.sort_by_key(|it| (it.change.severity, it.site, it.change.kind));
    if settled.told.iter().any(|it| it.change.is_notable()) {
        for (site, role, reading) in moves {
            if let Some(known) = base.sites.get_mut(site) {
                move_on(known, role, reading);
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
pub fn begin(
    input: &str,
    now: &str,
    visits: &[SiteVisit],
    seconds: &[Second],
    patience: &Patience,
) -> Baseline {
    let mut sites = Vec::new();
    for (site, visit) in visits.iter().enumerate() {
        let mut known = SiteBase { url: visit.start.to_string(), ..SiteBase::default() };
        known.failures = u32::from(!visit.is_ok());
        known.feed.clone_from(&visit.feed);
        add_new_pages(&mut known, visit);
        for page in &known.pages {
            let second = seconds.iter().find(|it| it.site == site && it.role == page.role);
            let diff =
                second.and_then(|it| it.reading.as_ref()?.changed_since(&page.facts, patience));
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
    let was_never_read = known.pages.is_empty() && known.lost == 0;
    if let Some(entry) = visit.page(Role::Entry).and_then(Reading::page)
        && was_never_read
    {
        let says = entry.main_heading().unwrap_or(&entry.title);
        tell(Some("not readable"), Some(&format!("readable for the first time: {}", says.shown)));
        known.told_unreachable = false;
    }
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
fn move_on(known: &mut SiteBase, role: Role, reading: &Reading) {
    let Some(page) = known.pages.iter_mut().find(|it| it.role == role) else { return };
    match (reading.page(), reading.usability) {
        (Some(facts), _) => {
            page.facts = facts.clone();
            page.source.clone_from(&reading.source);
        }
        (None, Usability::Missing | Usability::Gone) => page.facts.status = reading.status,
        (None, Usability::Usable | Usability::Challenge | Usability::Degraded(_)) => {}
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
            known.pages.push(PageBase { role: *role, url, facts, source, rest: Rest::default() });
        }
    }
}

impl Settled {
    /// Notes something that is not told, and why.
    pub fn ignore(&mut self, reason: &str, example: &str) {
        let mut diff = Diff { changes: Vec::new(), ignored: std::mem::take(&mut self.ignored) };
        diff.ignore(reason, example);
        self.ignored = diff.ignored;
    }

    /// Adds what a comparison left out.
    pub fn ignored_from(&mut self, diff: &Diff) {
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
