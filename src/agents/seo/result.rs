//! The report for programs: one JSON object with everything that was found and measured.

use serde_json::{Value, json};
use std::time::Duration;

use crate::agents::lists::CHECKS_VERSION;
use crate::agents::page::document::Document;
use crate::agents::page::facts::Part;
use crate::agents::page::robots::AnswerKind;
use crate::agents::page::text::{clip, printable};
use crate::agents::seo::audit::Audit;
use crate::agents::seo::changes;
use crate::agents::seo::checks::canonical;
use crate::agents::seo::checks::transfer::stop_phrase;
use crate::agents::seo::finding::{Check, Evidence, Judgement};
use crate::agents::seo::indexing::Indexing;
use crate::agents::seo::robots_tags::tags;
use crate::agents::seo::subject::{Reading, Subject};

/// The report as JSON.
#[must_use]
pub fn of(audit: &Audit) -> Value {
    let visit = &audit.subject.fetched.visit;
    let hops = visit.hops.iter();
    let hops: Vec<_> =
        hops.map(|it| json!({ "url": it.url.as_str(), "status": it.status })).collect();
    let indexing = Indexing::of(&audit.subject);
    json!({
        "version": 1,
        "checks_version": CHECKS_VERSION,
        "outcome": outcome(&audit.subject),
        "score": audit.score.value,
        "points_lost": audit.score.lost,
        "capped": audit.score.is_capped,
        "band": audit.score.band().as_str(),
        "indexable": { "google": indexing.as_str(), "reasons": indexing.reasons() },
        "lighthouse_comparable": audit.lighthouse,
        "url": visit.asked.as_str(),
        "final_url": visit.url.as_str(),
        "status": visit.reply.status,
        "fetched_at": audit.subject.fetched.at.to_string(),
        "hops": hops,
        "timing": timing(&audit.subject),
        "bytes": { "wire": visit.reply.wire_bytes, "decoded": visit.reply.body.len() },
        "facts": facts(&audit.subject),
        "checks": audit.checks.iter().map(check).collect::<Vec<_>>(),
        "changed": changes::json(&audit.history),
        "limits": limits(&audit.subject),
    })
}

/// What came of reading the page, in one word.
const fn outcome(subject: &Subject) -> &'static str {
    match subject.reading {
        Reading::Page(_) => "page",
        Reading::ErrorStatus => "error_status",
        Reading::NotWellFormed { .. } => "not_well_formed",
    }
}

fn timing(subject: &Subject) -> Value {
    let timing = &subject.fetched.visit.reply.timing;
    let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
    json!({
        "dns_ms": millis(timing.dns),
        "connect_ms": millis(timing.connect),
        "tls_ms": millis(timing.tls),
        "ttfb_ms": millis(timing.first_byte),
        "ttfb_again_ms": subject.fetched.second_first_byte.map(millis),
        "total_ms": millis(timing.total),
    })
}

fn check(check: &Check) -> Value {
    let found = check.found();
    let places = found.map_or(&[][..], |it| &it.evidence).iter().map(evidence);
    let share = found.and_then(|it| it.share);
    let share = share.map(|it| json!({ "failing": it.failing, "total": it.total }));
    let reason = match check.judgement {
        Judgement::NotApplicable(reason) => Some(reason),
        Judgement::Pass | Judgement::Info(_) | Judgement::Fail(_) => None,
    };
    json!({
        "id": check.rule.id,
        "verdict": check.verdict(),
        "severity": check.severity().as_str(),
        "group": check.rule.group.as_str(),
        "points": check.points,
        "title": found.map_or(check.rule.name, |it| it.title.as_str()),
        "reason": reason,
        "why": found.map(|_| check.rule.why),
        "how": found.map(|it| it.how.as_deref().unwrap_or(check.rule.how)),
        "evidence": places.collect::<Vec<_>>(),
        "places": found.map_or(0, |it| it.places),
        "share": share,
        "source": { "name": check.rule.source.name, "url": check.rule.source.url },
    })
}

fn evidence(it: &Evidence) -> Value {
    json!({
        "in": it.within.as_str(),
        "line": it.line,
        "col": it.column,
        "selector": it.selector,
        "excerpt": it.excerpt.as_deref().map(shown),
        "value": it.value.as_deref().map(shown),
    })
}

fn facts(subject: &Subject) -> Value {
    let robots = robots(subject);
    let Some(page) = subject.document() else {
        return json!({ "robots_txt": robots });
    };
    let facts = &page.facts;
    let in_head = facts.links.iter().filter(|it| it.part == Part::Head);
    let translations = in_head.filter(|it| it.is("alternate") && it.hreflang.is_some()).count();
    let own = subject.url().origin();
    let links = subject.targets().filter_map(|(_, url)| url);
    let (internal, external): (Vec<_>, Vec<_>) = links
        .filter(|it| matches!(it.scheme(), "http" | "https"))
        .partition(|it| it.origin() == own);
    json!({
        "title": facts.title().map(|it| shown(&it.text)),
        "description": facts.description().map(|it| shown(&it.content)),
        "h1": facts.main_headings().next().map(|it| shown(&it.text)),
        "lang": facts.lang.as_deref().map(shown),
        "canonical": canonical::address(subject, page).map(|it| it.to_string()),
        "robots": directives(subject, page),
        "charset": page.decoded.encoding.name(),
        "quirks_mode": page.passed.in_quirks_mode,
        "words": facts.text.words,
        "main_text_words": subject.content.size.words,
        "schema_types": schema_types(subject),
        "headings": facts.headings.len(),
        "links": { "internal": internal.len(), "external": external.len() },
        "images": facts.images.len(),
        "hreflang": translations,
        "elements": page.passed.elements,
        "depth": page.passed.depth,
        "robots_txt": robots,
    })
}

/// The types that the page describes for programs, each once.
fn schema_types(subject: &Subject) -> Vec<String> {
    let all = subject.items.all.iter().flat_map(|it| it.types.iter());
    let types: std::collections::BTreeSet<&String> = all.collect();
    types.into_iter().take(LISTED_MAX).map(|it| shown(it)).collect()
}

/// The robots directives of the page, as written.
#[must_use]
pub fn directives(subject: &Subject, page: &Document) -> Vec<String> {
    let tags = tags(subject, page).into_iter().take(LISTED_MAX);
    tags.map(|it| {
        let bot = it.bot.map(|it| format!("{it}: ")).unwrap_or_default();
        let value = it.directive.value.map(|it| format!(": {it}")).unwrap_or_default();
        shown(&format!("{bot}{}{value}", it.directive.name))
    })
    .collect()
}

fn robots(subject: &Subject) -> Value {
    let answer = &subject.fetched.robots;
    let (status, status_code) = match &answer.kind {
        AnswerKind::File { .. } => ("read", None),
        AnswerKind::Missing(code) => ("missing", Some(*code)),
        AnswerKind::Refused(code) => ("refused", Some(*code)),
        AnswerKind::Unreachable(_) => ("unreachable", None),
        AnswerKind::NotAsked => ("not_asked", None),
    };
    let sitemaps = answer.robots().map(|it| it.sitemaps.as_slice()).unwrap_or_default();
    let sitemaps: Vec<_> = sitemaps.iter().take(LISTED_MAX).map(|(_, it)| shown(it)).collect();
    json!({
        "status": status,
        "http_status": status_code,
        "bytes": answer.robots().map(|it| it.bytes),
        "sitemaps": sitemaps,
    })
}

/// What was not looked at, and why.
#[must_use]
pub fn limits(subject: &Subject) -> Vec<String> {
    let mut limits =
        vec!["scripts were not run; what they add to the page was not seen".to_owned()];
    let stopped = subject.document().and_then(|it| it.passed.stopped);
    limits.extend(stopped.map(|it| stop_phrase(it).to_owned()));
    limits.extend(subject.fetched.around.limits.iter().cloned());
    limits
}

/// Text of a page, short and without anything unseen.
fn shown(text: &str) -> String {
    clip(&printable(text), SHOWN_CHARS_MAX)
}

/// Characters of a text of the page.
const SHOWN_CHARS_MAX: usize = 300;
/// Items of a list of the page.
const LISTED_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    use crate::domain::limits::RESULT_BYTES_MAX;

    #[test]
    fn the_result_has_every_check_and_its_points_add_up() {
        let audit = Sample::html("<h1>x").audit();
        let result = of(&audit);
        let checks = result["checks"].as_array().unwrap();
        assert_eq!(checks.len(), audit.checks.len());
        let points: u64 = checks.iter().map(|it| it["points"].as_u64().unwrap()).sum();
        assert_eq!(Some(100 - points), result["score"].as_u64());
        assert_eq!(result["facts"]["h1"], "x");
        assert_eq!(result["indexable"]["google"], "yes");
    }

    #[test]
    fn a_result_stays_small_whatever_the_page_is() {
        let long = "é\"".repeat(3_000);
        let body = format!(
            "<div id='{long}'><a href='javascript:{long}' class='{long}'>{long}</a>\
             <img alt=' ' src='{long}'>"
        );
        let head = format!("<meta name=robots content='{long}'><link rel=canonical href='{long}'>")
            .repeat(30);
        let result = of(&Sample::page(&head, &body.repeat(50)).audit()).to_string();
        assert!(result.len() < RESULT_BYTES_MAX / 4, "{} bytes", result.len());
    }

    #[test]
    fn an_error_page_has_a_result_too() {
        let result = of(&Sample::html("x").status(404).audit());
        assert_eq!((&result["outcome"], &result["score"]), (&json!("error_status"), &json!(39)));
        assert_eq!(result["lighthouse_comparable"], Value::Null);
        assert_eq!(result["indexable"]["reasons"][0], "its status, 404");
    }
}
