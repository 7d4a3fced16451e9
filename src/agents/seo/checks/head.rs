//! Is the metadata in the head, and if not, what has pushed it out.

use crate::agents::page::document::Document;
use crate::agents::page::elements::is_metadata;
use crate::agents::page::facts::Part;
use crate::agents::page::gate::HeadEnd;
use crate::agents::page::text::quote;
use crate::agents::page::tree::NodeId;
use crate::agents::seo::finding::{Evidence, Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::robots_tags::is_search_bot;
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_span, at_tag};

/// The rule about the head.
pub const RULES: &[Rule] = &[Rule {
    id: "head-valid",
    name: "Metadata in the head",
    severity: Severity::High,
    group: Group::Alone,
    source: sources::GOOGLE_HEAD,
    why: "The head ends at the first element that may not stand in it. Titles, descriptions and \
          directives after that are in the body, where search engines ignore them.",
    how: "Move the element that does not belong there behind `</head>`, and all metadata before \
          it.",
    judge: Judge::Document(head_valid),
}];

fn head_valid(_: &Subject, page: &Document) -> Judgement {
    let lost = lost(page);
    // An element that may stand in the head ends it only when the head was closed before.
    let intruder = page.passed.head_end.as_ref();
    let intruder = intruder.filter(|it| it.element.as_deref().is_none_or(|it| !is_metadata(it)));
    match (intruder, lost.is_empty()) {
        (Some(intruder), false) => {
            let count = lost.len();
            let those = if count == 1 { "an element" } else { "elements" };
            let found = Found::new(format!(
                "{} ends the head, and {those} after it count for nothing",
                name(intruder)
            ));
            let found = found.at([at_span(page, intruder.span).saying("this ends the head")]);
            Judgement::Fail(found.at_each(&lost, |it| lost_evidence(page, *it)))
        }
        (None, false) => {
            let found = Found::new("Metadata stands in the body, where it counts for nothing");
            let found = found.how("Move it into the head.");
            Judgement::Fail(found.at_each(&lost, |it| lost_evidence(page, *it)))
        }
        (Some(intruder), true) if intruder.closed_later => {
            let found = Found::new(format!("{} ends the head early", name(intruder)));
            let found = found.severity(Severity::Low).at([at_span(page, intruder.span)]);
            Judgement::Fail(found)
        }
        (Some(_) | None, true) => Judgement::Pass,
    }
}

/// The elements in the body that only count in the head.
fn lost(page: &Document) -> Vec<NodeId> {
    let facts = &page.facts;
    let has_title = facts.titles.iter().any(|it| it.part == Part::Head);
    let titles =
        facts.titles.iter().filter(|it| it.part == Part::Body && !has_title).map(|it| it.node);
    let metas = facts
        .metas
        .iter()
        .filter(|it| it.part == Part::Body)
        .filter(|it| {
            matches!(it.name.as_str(), "description" | "robots") || is_search_bot(&it.name)
        })
        .map(|it| it.node);
    let links = facts
        .links
        .iter()
        .filter(|it| it.part == Part::Body)
        .filter(|it| it.is("canonical") || (it.is("alternate") && it.hreflang.is_some()))
        .map(|it| it.node);
    let mut lost: Vec<_> = titles.chain(metas).chain(links).collect();
    lost.sort_unstable();
    lost
}

fn lost_evidence(page: &Document, node: NodeId) -> Evidence {
    at_tag(page, node).saying("this is in the body")
}

fn name(intruder: &HeadEnd) -> String {
    intruder.element.as_ref().map_or_else(|| "Text".to_owned(), |it| quote(&format!("<{it}>")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    const ID: &str = "head-valid";

    #[test]
    fn metadata_belongs_into_the_head() {
        Sample::head("").is(ID, "pass");
        Sample::body("<meta name=robots content=noindex>").is(ID, "high");
        Sample::body("<link rel=canonical href=/>").is(ID, "high");
        Sample::body("<link rel=alternate hreflang=de href=/>").is(ID, "high");
        Sample::body("<link rel=stylesheet href=/a.css><meta itemprop=price content=1>")
            .is(ID, "pass");
        Sample::body("<svg><title>x</title></svg><title>y</title>").is(ID, "pass");
    }

    #[test]
    fn the_element_that_ends_the_head_is_named_with_what_it_costs() {
        let check =
            Sample::head("<img src=pixel><link rel=canonical href=/><meta name=robots>").check(ID);
        let found = check.fault().unwrap();
        assert_eq!(found.title, "`<img>` ends the head, and elements after it count for nothing");
        let values: Vec<_> = found.evidence.iter().map(|it| it.value.as_deref().unwrap()).collect();
        assert_eq!(values, ["this ends the head", "this is in the body", "this is in the body"]);
        assert_eq!((check.severity(), found.evidence[0].line), (Severity::High, Some(8)));
    }

    #[test]
    fn a_head_that_ends_early_without_harm_is_a_detail() {
        Sample::head("<div></div>").is(ID, "low");
        Sample::head("oops").is(ID, "low");
        Sample::html("<!doctype html><title>t</title><p>no head was written").is(ID, "pass");
        Sample::html("<!doctype html><head><title>t</title></head><p>x").is(ID, "pass");
    }
}
