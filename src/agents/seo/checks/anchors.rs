//! Are links what crawlers take for links: an `a` with an address.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::facts::Anchor;
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_element};

/// The rule about what a link must be.
pub const RULES: &[Rule] = &[Rule {
    id: "crawlable-anchors",
    name: "Links that crawlers can follow",
    severity: Severity::Medium,
    group: Group::Links,
    source: sources::GOOGLE_LINKS,
    why: "Crawlers follow `<a href>` with an address. What a script does when it is clicked they \
          do not see.",
    how: "Put a real address into `href`; use `<button>` for what is not a link.",
    judge: Judge::Document(crawlable_anchors),
}];

fn crawlable_anchors(subject: &Subject, page: &Document) -> Judgement {
    let all = &page.facts.anchors;
    let without = all.iter().filter(|it| it.href.is_none()).map(|it| (it, None));
    let links = subject.targets().chain(without);
    let wrong: Vec<_> = links.filter_map(|(it, target)| Some((it, problem(it, target)?))).collect();
    if wrong.is_empty() {
        return Judgement::Pass;
    }
    let title = match wrong.len() {
        1 => "Crawlers cannot follow a link".to_owned(),
        count => format!("Crawlers cannot follow {count} links"),
    };
    let found = Found::new(title).of(wrong.len(), all.len(), "links");
    let found = found.at_each(&wrong, |(it, problem)| at_element(page, it.node).saying(*problem));
    let is_many = wrong.len().saturating_mul(100) > all.len().saturating_mul(MANY_PERCENT);
    Judgement::Fail(if is_many { found.severity(Severity::High) } else { found })
}

/// Why crawlers cannot follow a link. Source: Lighthouse, crawlable-anchors, and stricter.
fn problem(anchor: &Anchor, target: Option<&Url>) -> Option<&'static str> {
    if anchor.has_role {
        return None;
    }
    let Some(href) = &anchor.href else {
        return (anchor.has_handler && !anchor.is_place).then_some("no address, only a script");
    };
    let href: String = href.chars().filter(|it| !it.is_whitespace()).collect();
    let scheme = href.split(':').next().unwrap_or_default().to_ascii_lowercase();
    match scheme.as_str() {
        "mailto" | "tel" => None,
        "file" => Some("a file on the author's machine"),
        "javascript" => Some("a script instead of an address"),
        _ if href.is_empty() && anchor.is_place => None,
        _ if href.is_empty() => Some("the address is empty"),
        _ => target.is_none().then_some("not an address"),
    }
}

/// Percent of links above which the fault is grave.
const MANY_PERCENT: usize = 30;

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check(anchor: &str, expected: &str) {
        let others = "<a href=/a>x</a>".repeat(9);
        Sample::html(format!("<!doctype html><body>{others}{anchor}"))
            .is("crawlable-anchors", expected);
    }

    #[test]
    fn a_link_is_an_address() {
        check("<a href=/b>x</a>", "pass");
        check("<a href='#b'>x</a><a name=b></a><a>y</a>", "pass");
        check("<a href='mailto:a b'>x</a><a href='tel:+1 2'>x</a>", "pass");
        check("<a href=''>x</a>", "medium");
        check("<a href='' id=b>x</a>", "pass");
        check("<a href='java script:void(0)'>x</a>", "medium");
        check("<a href='JavaScript:go()'>x</a>", "medium");
        check("<a role=button href='javascript:go()'>x</a>", "pass");
        check("<a href='http://exa mple.com:99999/'>x</a>", "medium");
        check("<a href='file:///a'>x</a>", "medium");
        check("<a onclick=go()>x</a>", "medium");
        check(&"<a href=''>x</a>".repeat(5), "high");
    }
}
