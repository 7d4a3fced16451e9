//! The report for people: what changed, then the sites side by side, then each for itself.
//!
//! Its length is bounded by construction: sections that do not fit are left out from the end,
//! and the report says so.

use crate::agents::scan::change::Change;
use crate::agents::scan::comparison::{gaps, prices, side_by_side};
use crate::agents::scan::extract::host;
use crate::agents::scan::settle::{Settled, Told};
use crate::agents::scan::summary::Summary;
use crate::agents::scan::visit::SiteVisit;
use crate::agents::scan::words::{list, said};
use crate::agents::seo::markdown::count;
use crate::domain::limits::OUTPUT_CHARS_MAX;
use crate::domain::time::Timestamp;

/// A scan that is done.
#[derive(Debug)]
pub struct Scan {
    /// When.
    pub at: Timestamp,
    /// The sites, one's own first if there is one.
    pub sites: Vec<SiteVisit>,
    /// The number of one's own site.
    pub own: Option<usize>,
    /// When something was last reported for the same schedule.
    pub since: Option<String>,
    /// Why nothing was compared, or not all, where something could have been: a sentence.
    pub reset: Option<String>,
    /// What changed since.
    pub settled: Settled,
}

impl Scan {
    /// The changes that are worth a message.
    pub fn notable(&self) -> impl Iterator<Item = &Told> {
        self.settled.told.iter().filter(|it| it.change.is_notable())
    }

    /// The name of a site: its host, and its path when that tells it from another.
    #[must_use]
    pub fn name(&self, site: usize) -> String {
        let Some(visit) = self.sites.get(site) else { return String::new() };
        let url = visit.start.url();
        let own = host(url);
        let twins = self.sites.iter().filter(|it| host(it.start.url()) == own).count();
        if twins > 1 { format!("{own}{}", url.path()) } else { own }
    }
}

/// Writes the report.
#[must_use]
pub fn of(scan: &Scan) -> String {
    let summaries: Vec<Summary<'_>> = scan.sites.iter().map(Summary::of).collect();
    let sections = [
        head(scan),
        changes(scan),
        side_by_side(scan, &summaries),
        prices(scan, &summaries),
        gaps(scan, &summaries),
        details(scan, &summaries),
        unreadable(scan),
        left_out(scan),
    ];
    let mut out = String::new();
    let mut is_cut = false;
    for section in sections.into_iter().filter(|it| !it.is_empty()) {
        if out.chars().count() + section.chars().count() > CHARS_MAX {
            is_cut = true;
            continue;
        }
        out.push_str(&section);
        out.push('\n');
    }
    if is_cut {
        out.push_str(
            "_Some sections were too long for this report; the result has all of them._\n",
        );
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The one sentence of a scan that found nothing to tell.
#[must_use]
pub fn nothing_new(scan: &Scan) -> String {
    let sites = count(scan.sites.iter().filter(|it| it.is_ok()).count(), "site");
    let since =
        scan.since.as_deref().map(|it| format!(" since {}", minute(it))).unwrap_or_default();
    let small = scan.settled.told.len();
    let left_out: usize = scan.settled.ignored.iter().map(|it| it.count).sum();
    let mut text = format!("Nothing notable changed at {sites}{since}.");
    let differences = small.saturating_add(left_out);
    if differences > 0 {
        text += &format!(" {} did not matter.", count(differences, "small difference"));
    }
    if let Some(reset) = &scan.reset {
        text += &format!(" {reset}");
    }
    let failed: Vec<_> = scan.sites.iter().enumerate().filter(|it| !it.1.is_ok()).collect();
    for (site, visit) in failed {
        let name = said(&scan.name(site), NAME_CHARS_MAX);
        text += &format!(" {name} could not be read: {}.", visit.status.reason());
    }
    text
}

fn head(scan: &Scan) -> String {
    let others = scan.sites.len().saturating_sub(usize::from(scan.own.is_some()));
    let notable = scan.notable().count();
    let title = match (&scan.since, notable) {
        (Some(_), 1..) => format!("{} at competitors", count(notable, "change")),
        (Some(_) | None, _) => format!("{} compared", count(others, "competitor")),
    };
    let readable = scan.sites.iter().filter(|it| it.is_ok()).count();
    let total = scan.sites.len();
    let mut out = format!(
        "# {title}\n\nLooked at {readable} of {total} sites on {}.",
        minute(&scan.at.to_string())
    );
    if let Some(since) = scan.since.as_deref().filter(|_| notable > 0) {
        out += &format!(" The last report was of {}.", minute(since));
    }
    if let Some(reset) = &scan.reset {
        out += &format!("\n\n{reset}");
    }
    out.push('\n');
    out
}

fn changes(scan: &Scan) -> String {
    if scan.settled.told.is_empty() {
        return String::new();
    }
    let mut out = String::from("## What changed\n");
    for site in 0..scan.sites.len() {
        let told: Vec<&Told> = scan.notable().filter(|it| it.site == site).collect();
        if told.is_empty() {
            continue;
        }
        out += &format!("\n### {}\n\n", said(&scan.name(site), NAME_CHARS_MAX));
        for it in told.iter().take(CHANGES_SHOWN_MAX) {
            out += &line(it);
        }
        if let more @ 1.. = told.len().saturating_sub(CHANGES_SHOWN_MAX) {
            out += &format!("- and {} more; the result has all of them\n", more);
        }
    }
    let minor: Vec<&Told> = scan.settled.told.iter().filter(|it| !it.change.is_notable()).collect();
    if !minor.is_empty() {
        out += "\nSmaller differences, by themselves no reason for a message:\n\n";
        for it in minor.iter().take(MINOR_SHOWN_MAX) {
            out += &format!(
                "- {}: {}",
                said(&scan.name(it.site), NAME_CHARS_MAX),
                line(it).trim_start_matches("- ")
            );
        }
        if let more @ 1.. = minor.len().saturating_sub(MINOR_SHOWN_MAX) {
            out += &format!("- and {more} more\n");
        }
    }
    out
}

/// One change in a line.
fn line(told: &Told) -> String {
    let Change { kind, before, after, place, .. } = &told.change;
    let text = |it: &str| said(it, TEXT_CHARS_MAX);
    let what = match (before.as_deref(), after.as_deref()) {
        (Some(old), Some(new)) => format!("{} is now {}", text(old), text(new)),
        (None, Some(new)) => format!("new: {}", text(new)),
        (Some(old), None) => format!("gone: {}", text(old)),
        (None, None) => String::new(),
    };
    let place = if place.is_empty() {
        String::new()
    } else {
        format!(" ({})", said(place, PLACE_CHARS_MAX))
    };
    let page = format!(", {} page", told.role);
    let note = if told.alternates {
        "; it alternates between the two and is not reported again"
    } else {
        ""
    };
    format!("- **{}**{place}: {what}{page}{note}\n", kind.name())
}

fn details(scan: &Scan, summaries: &[Summary<'_>]) -> String {
    let mut out = String::from("## Each site\n");
    for (site, (visit, summary)) in scan.sites.iter().zip(summaries).enumerate() {
        if summary.is_empty() {
            continue;
        }
        out += &format!("\n### {}\n\n", said(&scan.name(site), NAME_CHARS_MAX));
        let pages = summary
            .pages
            .iter()
            .map(|(role, it)| format!("{role} {}", said(&it.url, URL_CHARS_MAX)));
        out += &format!("- Pages: {}\n", pages.collect::<Vec<_>>().join(", "));
        let mut line = |name: &str, texts: String| {
            if texts != "–" {
                out.push_str(&format!("- {name}: {texts}\n"));
            }
        };
        let entry = summary.pages.first().map(|it| it.1);
        line(
            "Title",
            list(entry.iter().map(|it| it.title.shown.as_str()).filter(|it| !it.is_empty()), 1),
        );
        line("Menu", list(summary.menu.iter().copied(), 12));
        line("Plans and products", list(summary.plans.iter().copied(), 12));
        line("Latest articles", list(summary.posts.iter().map(|it| it.title.as_str()), 5));
        line("Structured data", list(summary.schema.iter().copied(), 12));
        line("Made with", list(summary.tech.iter().copied(), 15));
        let socials = summary.pages.iter().flat_map(|it| &it.1.socials).map(String::as_str);
        let socials: std::collections::BTreeSet<&str> = socials.collect();
        line("Social profiles", list(socials.into_iter(), 8));
        for (plan, text, data) in summary.contradictions().into_iter().take(3) {
            let plan = said(plan, NAME_CHARS_MAX);
            out += &format!(
                "- Contradiction: {plan} costs {text} in the text and {data} in structured data\n"
            );
        }
        for limit in visit.limits.iter().take(4) {
            out += &format!("- Not looked at: {limit}\n");
        }
    }
    out
}

fn unreadable(scan: &Scan) -> String {
    let failed: Vec<_> = scan.sites.iter().enumerate().filter(|it| !it.1.is_ok()).collect();
    if failed.is_empty() {
        return String::new();
    }
    let mut out = String::from("## Not readable\n\n");
    for (site, visit) in failed {
        let name = said(&scan.name(site), NAME_CHARS_MAX);
        out += &format!("- {name}: {} ({})\n", visit.status.reason(), visit.status.as_str());
    }
    out
}

fn left_out(scan: &Scan) -> String {
    let ignored = &scan.settled.ignored;
    if ignored.is_empty() || scan.settled.told.is_empty() {
        return String::new();
    }
    let shown = ignored.iter().map(|it| {
        let example =
            it.examples.first().map(|it| format!(", such as {}", said(it, PLACE_CHARS_MAX)));
        format!("- {} × {}{}\n", it.count, it.reason, example.unwrap_or_default())
    });
    format!("## Left out on purpose\n\n{}", shown.collect::<String>())
}

/// `2026-11-20T12:00:00.000+00:00` as `2026-11-20 12:00 UTC`.
fn minute(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => time.to_owned(),
    }
}

/// Characters of all sections; the rest is for the last line.
const CHARS_MAX: usize = OUTPUT_CHARS_MAX - 200;
/// Notable changes of a site that are shown.
const CHANGES_SHOWN_MAX: usize = 20;
/// Smaller differences that are shown.
const MINOR_SHOWN_MAX: usize = 10;
/// Characters of a text in a change.
const TEXT_CHARS_MAX: usize = 150;
/// Characters of a place.
const PLACE_CHARS_MAX: usize = 60;
/// Characters of a name.
const NAME_CHARS_MAX: usize = 60;
/// Characters of an address.
const URL_CHARS_MAX: usize = 100;
