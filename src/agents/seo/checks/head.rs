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
