//! The report for programs: the facts of every site, the changes, and what was left out.

use serde_json::{Value, json};

use crate::agents::scan::RULES_VERSION;
use crate::agents::scan::facts::PageFacts;
use crate::agents::scan::report::Scan;
use crate::agents::scan::settle::Told;
use crate::domain::limits::RESULT_BYTES_MAX;

/// The report as JSON text, never longer than it may be.
///
/// When it would be, the texts of pages go first, then the facts.
#[must_use]
pub fn of(scan: &Scan) -> String {
    let details = [Detail::All, Detail::WithoutTexts, Detail::ChangesOnly];
    let fits = |it: &String| it.len() <= RESULT_BYTES_MAX;
    let mut texts = details.iter().map(|it| with(scan, *it).to_string());
    texts.find(fits).unwrap_or_else(|| "{}".to_owned())
}

/// How much of the pages goes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    WithoutTexts,
    ChangesOnly,
}

fn with(scan: &Scan, detail: Detail) -> Value {
    let sites = scan.sites.iter().enumerate().map(|(site, visit)| {
        let pages = visit.pages.iter().filter_map(|(role, it)| Some((role, it.page()?)));
        let pages = pages.map(|(role, it)| json!({ "role": role, "facts": facts(it, detail) }));
        json!({
            "url": visit.start.as_str(),
            "own": Some(site) == scan.own,
            "status": visit.status.as_str(),
            "reason": Some(visit.status.reason()).filter(|it| !it.is_empty()),
            "pages": pages.collect::<Vec<_>>(),
            "feed": visit.feed,
            "sitemap": visit.sitemap.as_ref().map(|it| json!({ "urls": it.0, "lastmod": it.1 })),
            "limits": visit.limits,
        })
    });
    json!({
        "version": 1,
        "rules_version": RULES_VERSION,
        "scanned_at": scan.at.to_string(),
        "compared_with": scan.since,
        "reset": scan.reset,
        "sites": sites.collect::<Vec<_>>(),
        "changes": scan.settled.told.iter().map(|it| change(scan, it)).collect::<Vec<_>>(),
        "ignored": scan.settled.ignored,
    })
}

fn change(scan: &Scan, told: &Told) -> Value {
    let visit = scan.sites.get(told.site);
    let page = visit.and_then(|it| it.page(told.role)).map(|it| it.url.as_str());
    json!({
        "site": visit.map(|it| it.start.as_str()),
        "page": told.role,
        "kind": told.change.kind,
        "severity": told.change.severity,
        "before": told.change.before,
        "after": told.change.after,
        "evidence": { "url": page, "place": told.change.place },
        "confirmed": told.is_confirmed,
        "alternates": told.alternates,
        "first_seen": scan.at.to_string(),
    })
}

fn facts(page: &PageFacts, detail: Detail) -> Value {
    let mut facts = json!(page);
    if let Some(map) = facts.as_object_mut() {
        match detail {
            Detail::All => {}
            Detail::WithoutTexts => {
                for name in ["segments", "links", "headings", "posts"] {
                    map.remove(name);
                }
            }
            Detail::ChangesOnly => map.clear(),
        }
    }
    facts
}
