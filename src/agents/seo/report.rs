//! The report for people, as Markdown: the verdict first, then what to mend first.
//!
//! Bounded by construction: every part has a size, and findings that no longer fit are named in
//! one line each.

use std::fmt::Write as _;

use crate::agents::page::text::{clip_columns, quote};
use crate::agents::seo::audit::Audit;
use crate::agents::seo::changes;
use crate::agents::seo::checks::title::{DESCRIPTION_COLUMNS, TITLE_COLUMNS};
use crate::agents::seo::checks::transfer::kilobytes;
use crate::agents::seo::finding::{Check, Evidence, Found, Judgement, Within};
use crate::agents::seo::indexing::Indexing;
use crate::agents::seo::markdown::{count, prose, source};
use crate::agents::seo::result::{directives, limits};
use crate::agents::seo::score::CRITICAL_MAX;
use crate::agents::seo::subject::Subject;
use crate::domain::limits::OUTPUT_CHARS_MAX;

/// The report as Markdown.
#[must_use]
pub fn of(audit: &Audit) -> String {
    let head = head(audit);
    let tail =
        [good_to_know(audit), preview(&audit.subject), summary(audit), facts(audit)].concat();
    let used = head.chars().count().saturating_add(tail.chars().count());
    let body = faults(audit, OUTPUT_CHARS_MAX.saturating_sub(used).saturating_sub(RESERVE_CHARS));
    head + &body + &tail
}

/// Score, verdict, and what was looked at.
fn head(audit: &Audit) -> String {
    let (score, subject) = (&audit.score, &audit.subject);
    let mut out = format!("# SEO audit: {} of 100, {}\n\n", score.value, score.band().as_str());
    let verdict = match Indexing::of(subject) {
        Indexing::Yes(None) => "**Can Google index this page? Yes.**".to_owned(),
        Indexing::Yes(Some(but)) => format!("**Can Google index this page? Yes.** {}", prose(&but)),
        Indexing::Unclear(why) => {
            format!("**Can Google index this page? It cannot be told.** {}", prose(&why))
        }
        Indexing::No(reasons) => {
            let reasons = reasons.into_iter().take(REASONS_MAX).collect::<Vec<_>>().join(", and ");
            format!("**Can Google index this page? No,** because of {}.", prose(&reasons))
        }
    };
    push_line(&mut out, &verdict);
    out += &changes::of(&audit.history);
    push_line(&mut out, &equation(audit));
    let visit = &subject.fetched.visit;
    let mut what = format!("Checked {}", quote(visit.url.as_str()));
    if visit.url != visit.asked {
        what += &format!(", where {} leads", quote(visit.asked.as_str()));
    }
    what += &format!(", on {}.", moment(&subject.fetched.at.to_string()));
    if let Some(number) = audit.lighthouse {
        what += &format!(" With Lighthouse's ten checks and weights the score would be {number}.");
    }
    push_line(&mut out, &what);
    out
}

/// A time for people, from one for programs.
#[must_use]
pub fn moment(at: &str) -> String {
    let part = |range| at.get(range).unwrap_or_default();
    format!("{} {} UTC", part(0..10), part(11..16))
}

/// How the score came about.
fn equation(audit: &Audit) -> String {
    let mut costs: Vec<u32> =
        audit.checks.iter().map(|it| it.points).filter(|it| *it > 0).collect();
    costs.sort_unstable_by(|a, b| b.cmp(a));
    let faults = audit.checks.iter().filter(|it| it.fault().is_some()).count();
    if faults == 0 {
        return "No faults were found.".to_owned();
    }
    let value = 100_u32.saturating_sub(audit.score.lost);
    let terms = match costs.len() {
        0..=TERMS_MAX => costs.iter().map(|it| format!(" − {it}")).collect(),
        _ => format!(" − {}", audit.score.lost),
    };
    let cost = if faults == 1 { "costs" } else { "cost" };
    let points = count(audit.score.lost as usize, "point");
    let mut text = format!("{} {cost} {points}: 100{terms} = {value}.", count(faults, "fault"));
    if audit.score.is_capped {
        text += &format!(" A critical fault holds the score at {CRITICAL_MAX}.");
    }
    text
}

/// The faults, the dearest first.
fn faults(audit: &Audit, room: usize) -> String {
    let mut faults: Vec<(&Check, &Found)> =
        audit.checks.iter().filter_map(|it| Some((it, it.fault()?))).collect();
    if faults.is_empty() {
        return String::new();
    }
    faults.sort_by_key(|(it, _)| (std::cmp::Reverse(it.points), std::cmp::Reverse(it.severity())));
    let mut out = "## Fix first\n\n".to_owned();
    let lines: Vec<String> = faults.iter().map(|(check, found)| short(check, found)).collect();
    let mut reserved: usize = lines.iter().map(|it| it.chars().count()).sum();
    let mut left = room.saturating_sub(out.chars().count());
    let mut shortened = String::new();
    for (number, ((check, found), line)) in (1..).zip(faults.iter().zip(&lines)) {
        reserved = reserved.saturating_sub(line.chars().count());
        let full = full(number, check, found);
        let size = full.chars().count();
        if shortened.is_empty() && size.saturating_add(reserved) <= left {
            left = left.saturating_sub(size);
            out += &full;
        } else {
            shortened += line;
        }
    }
    if !shortened.is_empty() {
        out += "### And also\n\n";
        out += &shortened;
        out.push('\n');
    }
    out
}

/// A fault with all that is known about it.
fn full(number: usize, check: &Check, found: &Found) -> String {
    let mut out = format!("### {number}. {}\n\n", prose(&found.title));
    let cost = match check.points {
        0 => "no further points".to_owned(),
        points => count(points as usize, "point"),
    };
    let share = found.share.map(|it| format!(" ({} of {} {})", it.failing, it.total, it.things));
    let share = share.unwrap_or_default();
    let _ = writeln!(out, "`{}` · {} · {cost}{share}\n", check.rule.id, check.severity().as_str());
    push_places(&mut out, found);
    let how = found.how.as_deref().unwrap_or(check.rule.how);
    let _ = writeln!(out, "- **Why:** {} ({})", prose(check.rule.why), source(check.rule.source));
    let _ = writeln!(out, "- **How:** {}\n", prose(how));
    out
}

/// A fault in one line.
fn short(check: &Check, found: &Found) -> String {
    let points = count(check.points as usize, "point");
    format!("- {} (`{}`, {points})\n", prose(&found.title), check.rule.id)
}

/// Where a finding shows: one place on the line, several below it.
fn push_places(out: &mut String, found: &Found) {
    match found.evidence.as_slice() {
        [] => {}
        [only] if found.places <= 1 => {
            let _ = writeln!(out, "- **Where:** {}", place(only));
        }
        several => {
            out.push_str("- **Where:**\n");
            for it in several {
                let _ = writeln!(out, "  - {}", place(it));
            }
            let more = found.places.saturating_sub(several.len());
            if more > 0 {
                let _ = writeln!(out, "  - … and {more} more");
            }
        }
    }
}

/// One place: where, which element, what stands there, what is wrong with it.
fn place(evidence: &Evidence) -> String {
    let mut parts = Vec::new();
    match (evidence.within, evidence.line, evidence.column) {
        (Within::Page, Some(line), Some(column)) => parts.push(format!("line {line}:{column}")),
        (Within::RobotsTxt, Some(line), _) => parts.push(format!("robots.txt, line {line}")),
        (Within::Headers, ..) => parts.push("in the headers".to_owned()),
        (Within::Page | Within::RobotsTxt | Within::Exchange, ..) => {}
    }
    let selector = evidence.selector.as_deref().filter(|it| it.contains(" > ") || it.contains('#'));
    parts.extend(selector.map(quote));
    parts.extend(evidence.excerpt.as_deref().map(quote));
    let place = parts.join(", ");
    match &evidence.value {
        Some(value) if place.is_empty() => prose(value),
        Some(value) => format!("{place}: {}", prose(value)),
        None => place,
    }
}

/// What is worth knowing and costs nothing.
fn good_to_know(audit: &Audit) -> String {
    let infos = audit.checks.iter().filter_map(|it| match &it.judgement {
        Judgement::Info(found) => Some((it, found)),
        Judgement::Pass | Judgement::NotApplicable(_) | Judgement::Fail(_) => None,
    });
    let mut out = String::new();
    for (check, found) in infos {
        let first: Vec<_> = found.evidence.iter().take(INFO_PLACES_MAX).map(place).collect();
        let places = first.join("; ");
        let more = found.places.saturating_sub(first.len());
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let title = prose(&found.title);
        let _ = match places.as_str() {
            _ if out.len() > INFO_BYTES_MAX => {
                writeln!(out, "- **{title}.** (`{}`)", check.rule.id)
            }
            "" => writeln!(out, "- **{title}.** (`{}`)", check.rule.id),
            _ => writeln!(out, "- **{title}:** {places}{more} (`{}`)", check.rule.id),
        };
    }
    if out.is_empty() { out } else { format!("## Good to know\n\n{out}\n") }
}

/// What a search result would show.
fn preview(subject: &Subject) -> String {
    let Some(facts) = subject.facts() else { return String::new() };
    let cut = |text: &str, columns: usize| {
        let kept = clip_columns(text, columns);
        if kept.len() < text.len() {
            quote(&format!("{}…", kept.trim_end()))
        } else {
            quote(text)
        }
    };
    let title =
        facts.title().map_or_else(|| "(no title)".to_owned(), |it| cut(&it.text, TITLE_COLUMNS.1));
    let description = facts.description().filter(|it| !it.content.trim().is_empty());
    let description = description.map_or_else(
        || "(no description; search engines choose sentences of the page)".to_owned(),
        |it| cut(it.content.trim(), DESCRIPTION_COLUMNS.1.min(SNIPPET_COLUMNS)),
    );
    let address = quote(&breadcrumb(subject));
    let shows =
        if matches!(Indexing::of(subject), Indexing::No(_)) { "would show" } else { "shows" };
    format!("## What a search result {shows}\n\n> {title}\\\n> {address}\\\n> {description}\n\n")
}

/// The address as results show it: `example.com › shop › wheels`.
fn breadcrumb(subject: &Subject) -> String {
    let url = subject.url();
    let path = url.path_segments().into_iter().flatten().filter(|it| !it.is_empty());
    let parts = url.host_str().into_iter().chain(path.take(BREADCRUMB_MAX));
    parts.collect::<Vec<_>>().join(" › ")
}

/// What passed, what did not apply, what was not looked at.
fn summary(audit: &Audit) -> String {
    let ids = |wanted: &str| {
        let ids = audit.checks.iter().filter(|it| it.verdict() == wanted).map(|it| it.rule.id);
        ids.collect::<Vec<_>>()
    };
    let mut out = String::new();
    for (name, verdict) in [("Passed", "pass"), ("Not applicable", "na")] {
        let ids = ids(verdict);
        if !ids.is_empty() {
            let _ = writeln!(out, "**{name}** ({}): {}\n", ids.len(), ids.join(", "));
        }
    }
    let _ = writeln!(out, "**Not checked:** {}.\n", prose(&limits(&audit.subject).join("; ")));
    out
}

/// What was measured.
fn facts(audit: &Audit) -> String {
    let (subject, visit) = (&audit.subject, &audit.subject.fetched.visit);
    let timing = &visit.reply.timing;
    let size = match &visit.reply.coding {
        Some(coding) => format!(
            "{}, sent as {} of {}",
            kilobytes(visit.reply.body.len()),
            kilobytes(visit.reply.wire_bytes),
            quote(coding)
        ),
        None => format!("{}, not compressed", kilobytes(visit.reply.body.len())),
    };
    let mut rows = vec![
        ("Status", visit.reply.status.to_string()),
        ("Redirects", visit.hops.len().to_string()),
        ("First byte", format!("{} ms", timing.first_byte.as_millis())),
        ("Whole answer", format!("{} ms", timing.total.as_millis())),
        ("Size", size),
    ];
    if let Some(page) = subject.document() {
        let facts = &page.facts;
        let lang = facts.lang.as_deref().map_or_else(|| "not given".to_owned(), quote);
        let robots = directives(subject, page);
        let robots = if robots.is_empty() { "none".to_owned() } else { quote(&robots.join(", ")) };
        rows.extend([
            ("Encoding", page.decoded.encoding.name().to_owned()),
            ("Language", lang),
            ("Robots directives", robots),
            ("Words", facts.text.words.to_string()),
            ("Headings", facts.headings.len().to_string()),
            ("Links", facts.anchors.len().to_string()),
            ("Images", facts.images.len().to_string()),
        ]);
    }
    let mut out = "## Facts\n\n| | |\n|---|---|\n".to_owned();
    for (name, value) in rows {
        // A bar would end the cell, also inside of code.
        let _ = writeln!(out, "| {name} | {} |", value.replace('|', "¦"));
    }
    out
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push_str("\n\n");
}

/// Characters kept free for the titles of parts.
const RESERVE_CHARS: usize = 500;
/// Costs that the equation lists one by one.
const TERMS_MAX: usize = 12;
/// Reasons against the index that the verdict names.
const REASONS_MAX: usize = 3;
/// Bytes about what is worth knowing, after which places are left out.
const INFO_BYTES_MAX: usize = 4_000;
/// Places of something worth knowing that are shown.
const INFO_PLACES_MAX: usize = 3;
/// Width of the text under a result.
const SNIPPET_COLUMNS: usize = 158;
/// Parts of a path that a result shows.
const BREADCRUMB_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    /// Text of a page that tries to be a link, a tag, emphasis and a command.
    const SLY: &str = "` <script>alert(1)</script> [x](http://evil.example) **b** \u{202e}\u{7}|";

    /// A report without its code, in which nothing of a page may be left.
    fn outside_of_code(report: &str) -> String {
        report.split('`').step_by(2).collect()
    }

    fn hostile() -> Sample {
        let sly = SLY.replace('<', "&lt;").replace('"', "&quot;");
        let links =
            format!("<a href='http://localhost/{sly}'>{sly}</a><a href='javascript:{sly}'>x</a>")
                .repeat(2_000);
        let headings = format!("<h1>{sly}</h1><h5>{sly}</h5>").repeat(500);
        let images = format!("<img src='{sly}' class='{sly}'>").repeat(2_000);
        let head = format!(
            "<title>{sly}</title><meta name=description content='{sly}'><meta name=robots \
             content='noindex, {sly}'><link rel=canonical href='{sly}'><link rel=alternate \
             hreflang='{sly}' href='{sly}'><meta http-equiv=refresh content='{sly}'>"
        );
        Sample::html(format!(
            "<html lang='{sly}'><head>{head}{head}</head><x`y><body>{headings}{links}{images}"
        ))
        .header("x-robots-tag", &format!("none, {SLY}"))
        .header("link", &format!("<{SLY}>; rel=canonical"))
        .robots(&format!("User-agent: *\nDisallow: /{SLY}\n{SLY}\nSitemap: {SLY}\n").repeat(300))
        .behind(&[(301, "https://example.com/[x](y)"), (302, "http://example.com/*")])
    }

    #[test]
    fn nothing_of_a_page_is_alive_in_its_report() {
        let report = of(&hostile().audit());
        let plain = outside_of_code(&report);
        for alive in ["<script", "[x]", "evil", "**b**", "](http://", "alert"] {
            assert!(!plain.contains(alive), "{alive} in {plain}");
        }
        assert_eq!(report.matches('`').count() % 2, 0);
        assert!(!report.contains(['\u{202e}', '\u{7}']));
        let links = report.match_indices("](").map(|(at, _)| &report[at + 2..]);
        assert!(links.into_iter().all(|it| it.starts_with("https://") || plain.find(it).is_none()));
    }

    #[test]
    fn a_report_is_never_longer_than_it_may_be_and_names_every_fault() {
        let audit = hostile().audit();
        let report = of(&audit);
        assert!(report.chars().count() <= OUTPUT_CHARS_MAX, "{}", report.chars().count());
        let faults = audit.checks.iter().filter(|it| it.fault().is_some());
        let ids: Vec<_> = faults.map(|it| format!("`{}`", it.rule.id)).collect();
        assert!(ids.len() >= 20 && ids.iter().all(|it| report.contains(it)), "{ids:?}");
    }

    #[test]
    fn faults_that_do_not_fit_are_still_named_in_one_line() {
        let audit = hostile().audit();
        let short = faults(&audit, 4_000);
        assert!(short.contains("### 1. ") && short.contains("### And also"));
        assert!(short.chars().count() <= 4_500, "{}", short.chars().count());
    }

    #[test]
    fn lost_points_add_up_in_the_report() {
        let report = of(&Sample::html("<p>x").audit());
        let line = report.lines().find(|it| it.contains("points: 100")).unwrap();
        let sum = line.split_once("100 − ").unwrap().1.split_once(" = ").unwrap();
        let lost: u32 = sum.0.split(" − ").map(|it| it.parse::<u32>().unwrap()).sum();
        assert!(sum.1.starts_with(&format!("{}.", 100 - lost)), "{line}");
    }
}
