//! Headings: is there a main one, and do the levels follow each other.

use std::collections::BTreeMap;

use crate::agents::page::document::Document;
use crate::agents::page::facts::Heading;
use crate::agents::page::text::{clip, quote};
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_element};

/// The rules about headings.
pub const RULES: &[Rule] = &[
    Rule {
        id: "h1",
        name: "Main heading",
        severity: Severity::Medium,
        group: Group::Headings,
        source: sources::HTML_HEADINGS,
        why: "The main heading tells readers and search engines what the page is about; titles of \
              results are also made from it.",
        how: "Put the subject of the page into one `<h1>`.",
        judge: Judge::Document(h1),
    },
    Rule {
        id: "h1-multiple",
        name: "One main heading",
        severity: Severity::Info,
        group: Group::Headings,
        source: sources::HTML_HEADINGS,
        why: "Several main headings are allowed. One makes it plain what the page is about.",
        how: "Use `<h2>` for the parts of the page.",
        judge: Judge::Document(h1_multiple),
    },
    Rule {
        id: "heading-order",
        name: "Order of headings",
        severity: Severity::Low,
        group: Group::Headings,
        source: sources::AXE_HEADING_ORDER,
        why: "People who listen to a page move from heading to heading; a level left out sounds as \
              if something were missing.",
        how: "Go down one level at a time, and choose sizes in the style sheet.",
        judge: Judge::Document(heading_order),
    },
    Rule {
        id: "heading-duplicate",
        name: "Headings that differ",
        severity: Severity::Info,
        group: Group::Headings,
        source: sources::OWN,
        why: "Equal headings do not help to find a part of the page.",
        how: "Say in each heading what its part is about.",
        judge: Judge::Document(heading_duplicate),
    },
];

fn visible(page: &Document) -> impl Iterator<Item = &Heading> {
    page.facts.headings.iter().filter(|it| !it.is_hidden)
}

fn h1(_: &Subject, page: &Document) -> Judgement {
    if page.facts.main_headings().next().is_some() {
        return Judgement::Pass;
    }
    let blank: Vec<_> = visible(page).filter(|it| it.level == 1).collect();
    let title =
        if blank.is_empty() { "The page has no main heading" } else { "The main heading is empty" };
    Judgement::Fail(Found::new(title).at_each(&blank, |it| at_element(page, it.node)))
}

fn h1_multiple(_: &Subject, page: &Document) -> Judgement {
    let all: Vec<_> = page.facts.main_headings().collect();
    match all.len() {
        0 => Judgement::NotApplicable("the page has no main heading"),
        1 => Judgement::Pass,
        count => {
            let found = Found::new(format!("The page has {count} main headings"));
            Judgement::Info(found.at_each(&all, |it| at_element(page, it.node)))
        }
    }
}

fn heading_order(_: &Subject, page: &Document) -> Judgement {
    let all: Vec<_> = visible(page).filter(|it| !it.text.is_empty()).collect();
    if all.len() < 2 {
        return Judgement::NotApplicable("there are fewer than two headings");
    }
    let pairs = all
        .windows(2)
        .filter_map(|it| if let [before, after] = it { Some((*before, *after)) } else { None });
    let jumps: Vec<_> =
        pairs.filter(|(before, after)| after.level > before.level.saturating_add(1)).collect();
    let Some((before, after)) = jumps.first() else { return Judgement::Pass };
    let title = match jumps.len() {
        1 => format!("A heading of level {} follows one of level {}", after.level, before.level),
        count => format!("{count} headings leave out a level"),
    };
    let how = format!(
        "Make the first one an `<h{}>`, or add the levels between.",
        before.level.saturating_add(1)
    );
    let found = Found::new(title).how(how).of(jumps.len(), all.len(), "headings");
    Judgement::Fail(found.at_each(&jumps, |(before, after)| {
        let (level, text) = (before.level, clip(&before.text, 60));
        let before = quote(&format!("<h{level}>{text}</h{level}>"));
        at_element(page, after.node).saying(format!("it follows {before}"))
    }))
}

fn heading_duplicate(_: &Subject, page: &Document) -> Judgement {
    let mut by_text: BTreeMap<&str, Vec<&Heading>> = BTreeMap::new();
    for heading in visible(page).filter(|it| !it.text.is_empty()) {
        by_text.entry(heading.text.as_str()).or_default().push(heading);
    }
    let most = by_text.values().filter(|it| it.len() >= EQUAL_MIN).max_by_key(|it| it.len());
    let Some(equal) = most else { return Judgement::Pass };
    let found = Found::new(format!("{} headings are the same", equal.len()));
    Judgement::Info(found.at_each(equal, |it| at_element(page, it.node)))
}

/// Equal headings that are mentioned.
const EQUAL_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    fn with(body: &str) -> Sample {
        Sample::html(format!("<!doctype html><body>{body}"))
    }

    #[test]
    fn a_page_has_a_main_heading_that_is_seen() {
        with("<h2>x</h2>").is("h1", "medium");
        with("<h1> </h1>").is("h1", "medium");
        with("<h1 hidden>x</h1>").is("h1", "medium");
        with("<h1><img alt=x></h1>").is("h1", "pass");
        with("<h1>x</h1><h1> </h1>").is("h1", "pass");
        with("<h1>x</h1><h1>y</h1>").is("h1-multiple", "info");
        with("<template><h1>y</h1></template><h1>x</h1>").is("h1-multiple", "pass");
    }

    #[test]
    fn levels_go_down_one_by_one_and_up_freely() {
        with("<h1>a</h1>").is("heading-order", "na");
        with("<h3>a</h3><h4>b</h4><h1>c</h1><h2>d</h2>").is("heading-order", "pass");
        with("<h1>a</h1><h3>b</h3>").is("heading-order", "low");
        with("<h1>a</h1><h3 hidden>b</h3><h2>c</h2>").is("heading-order", "pass");
        with("<h1>a</h1><h2> </h2><h3>c</h3>").is("heading-order", "low");
    }

    #[test]
    fn three_equal_headings_are_mentioned() {
        with(&"<h2>More</h2>".repeat(3)).is("heading-duplicate", "info");
        with(&"<h2>More</h2>".repeat(2)).is("heading-duplicate", "pass");
    }
}
