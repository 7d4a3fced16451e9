//! Link texts and where links lead: does a reader know, does a crawler follow.

use url::{Position, Url};

use crate::agents::lists::is_generic_link;
use crate::agents::page::document::Document;
use crate::agents::page::facts::Anchor;
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_element, is_local};

/// The rules about what links say and where they lead.
pub const RULES: &[Rule] = &[
    Rule {
        id: "link-text",
        name: "Link texts with a meaning",
        severity: Severity::Low,
        group: Group::Links,
        source: sources::LIGHTHOUSE_LINK_TEXT,
        why: "The text of a link tells search engines what its target is about, and people who \
              listen to a page hear it alone.",
        how: "Say where the link leads: not \"click here\" but \"opening hours\".",
        judge: Judge::Document(link_text),
    },
    Rule {
        id: "link-name",
        name: "Links with a name",
        severity: Severity::Medium,
        group: Group::Links,
        source: sources::AXE_LINK_NAME,
        why: "A link without text, or with an image that has none, is read out as its bare address \
              and says nothing to crawlers.",
        how: "Put text into the link, or describe its image in `alt`.",
        judge: Judge::Document(link_name),
    },
    Rule {
        id: "links-local",
        name: "Links that visitors can open",
        severity: Severity::High,
        group: Group::Links,
        source: sources::OWN,
        why: "These addresses exist on one machine or in one office only. For everybody else the \
              link is dead.",
        how: "Replace the address by the public one.",
        judge: Judge::Document(links_local),
    },
    Rule {
        id: "links-none",
        name: "Links on the page",
        severity: Severity::Info,
        group: Group::Links,
        source: sources::GOOGLE_LINKS,
        why: "Crawlers discover pages by links. From this one they get nowhere.",
        how: "Link to the site's other pages.",
        judge: Judge::Document(links_none),
    },
    Rule {
        id: "links-nofollow-internal",
        name: "Own pages may be followed",
        severity: Severity::Low,
        group: Group::Links,
        source: sources::GOOGLE_REL,
        why: "`nofollow` on links to the site's own pages hides them from crawlers, and saves \
              nothing.",
        how: "Remove `nofollow`; keep pages out of results with `noindex` instead.",
        judge: Judge::Document(links_nofollow_internal),
    },
];

/// A link with the complete address it leads to, if it is one.
type Target<'a> = (&'a Anchor, Option<&'a Url>);

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Whether a link leads to a place on the same page.
fn is_same_page(subject: &Subject, url: &Url) -> bool {
    url[..Position::AfterQuery] == subject.url()[..Position::AfterQuery]
}

fn link_text(subject: &Subject, page: &Document) -> Judgement {
    let leads_on = |(anchor, url): &Target<'_>| {
        url.is_some_and(|it| is_web(it) && !is_same_page(subject, it))
            && !anchor.has_rel("nofollow")
    };
    let all: Vec<_> = subject.targets().filter(leads_on).collect();
    let is_generic = |it: &Anchor| is_generic_link(&it.text, it.lang.as_deref());
    let generic: Vec<_> =
        all.iter().map(|(anchor, _)| *anchor).filter(|it| is_generic(it)).collect();
    if generic.is_empty() {
        return Judgement::Pass;
    }
    let differs =
        |it: &Anchor| !it.label.is_empty() && !is_generic_link(&it.label, it.lang.as_deref());
    let (labelled, bare): (Vec<_>, Vec<_>) = generic.into_iter().partition(|it| differs(it));
    if bare.is_empty() {
        let found = Found::new("Some link texts say nothing; only their labels do");
        return Judgement::Info(found.at_each(&labelled, |it| at_element(page, it.node)));
    }
    let title = match bare.len() {
        1 => "A link text does not say where the link leads".to_owned(),
        count => format!("{count} link texts do not say where the links lead"),
    };
    let found = Found::new(title).of(bare.len(), all.len(), "links");
    Judgement::Fail(found.at_each(&bare, |it| at_element(page, it.node)))
}

fn link_name(_: &Subject, page: &Document) -> Judgement {
    let links = page.facts.anchors.iter().filter(|it| it.href.is_some() && !it.is_hidden);
    let all: Vec<_> = links.collect();
    let has_name = |it: &Anchor| !it.text.is_empty() || !it.label.is_empty();
    let nameless: Vec<_> = all.iter().filter(|it| !has_name(it)).collect();
    if nameless.is_empty() {
        return Judgement::Pass;
    }
    let title = match nameless.len() {
        1 => "A link has no name".to_owned(),
        count => format!("{count} links have no name"),
    };
    let found = Found::new(title).of(nameless.len(), all.len(), "links");
    Judgement::Fail(found.at_each(&nameless, |it| at_element(page, it.node)))
}

fn links_local(subject: &Subject, page: &Document) -> Judgement {
    let all: Vec<Target<'_>> = subject.targets().collect();
    // A page that is local itself may link to its own host.
    let own_host = subject.url().host_str().filter(|_| is_local(subject.url()));
    let is_unreachable = |url: &Url| {
        url.scheme() == "file" || (is_web(url) && is_local(url) && url.host_str() != own_host)
    };
    let local = all.iter().filter(|(_, url)| url.is_some_and(is_unreachable));
    let local: Vec<_> = local.map(|(anchor, _)| *anchor).collect();
    if local.is_empty() {
        return Judgement::Pass;
    }
    let title = match local.len() {
        1 => "A link leads where no visitor can go".to_owned(),
        count => format!("{count} links lead where no visitor can go"),
    };
    let found = Found::new(title).of(local.len(), all.len(), "links");
    Judgement::Fail(found.at_each(&local, |it| at_element(page, it.node)))
}

fn links_none(subject: &Subject, _: &Document) -> Judgement {
    let leads_on =
        |(_, url): Target<'_>| url.is_some_and(|it| is_web(it) && !is_same_page(subject, it));
    if subject.targets().any(leads_on) {
        return Judgement::Pass;
    }
    Judgement::Info(Found::new("The page links to no other page"))
}

fn links_nofollow_internal(subject: &Subject, page: &Document) -> Judgement {
    let own = subject.url().origin();
    let is_own = |(_, url): &Target<'_>| url.is_some_and(|it| it.origin() == own);
    let internal: Vec<_> = subject.targets().filter(is_own).collect();
    let closed = internal.iter().filter(|(anchor, _)| anchor.has_rel("nofollow"));
    let closed: Vec<_> = closed.map(|(anchor, _)| *anchor).collect();
    if closed.is_empty() {
        return Judgement::Pass;
    }
    let count = closed.len();
    let title = format!("{count} of {} links to own pages say `nofollow`", internal.len());
    let found = Found::new(title).of(count, internal.len(), "links to own pages");
    let found = found.at_each(&closed, |it| at_element(page, it.node));
    // One or two are mostly a login or a basket, and meant so.
    if count.saturating_mul(2) > internal.len() {
        Judgement::Fail(found)
    } else {
        Judgement::Info(found)
    }
}

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check(body: &str, id: &str, expected: &str) {
        Sample::html(format!("<!doctype html><html lang=en><body>{body}")).is(id, expected);
    }

    #[test]
    fn a_link_text_says_where_the_link_leads() {
        check("<a href=/a>Opening hours</a>", "link-text", "pass");
        check("<a href=/a>click here</a>", "link-text", "low");
        check("<a href=/a><span>Read</span> more</a>", "link-text", "low");
        check("<a href=/a aria-label='About the mill'>more</a>", "link-text", "info");
        check("<a href=/a lang=de>mehr</a>", "link-text", "low");
        check("<a href=/a rel='nofollow x'>click here</a>", "link-text", "pass");
        check("<a href='#a'>here</a><a href=mailto:a@b.example>here</a>", "link-text", "pass");
        check("<a>here</a>", "link-text", "pass");
    }

    #[test]
    fn a_link_has_a_name() {
        check("<a href=/a></a>", "link-name", "medium");
        check("<a href=/a><img src=x alt=''></a>", "link-name", "medium");
        check("<a href=/a><img src=x alt=Home></a><a href=/b title=x></a>", "link-name", "pass");
        check("<a href=/a><svg><title>x</title></svg></a>", "link-name", "pass");
        check("<a name=top></a><a href=/a hidden></a>", "link-name", "pass");
    }

    #[test]
    fn links_lead_where_visitors_can_go() {
        check("<a href=http://localhost:3000/>x</a>", "links-local", "high");
        check("<a href=http://10.0.0.1/>x</a>", "links-local", "high");
        check("<a href='http://[::1]/'>x</a>", "links-local", "high");
        check("<a href=http://nas.local/>x</a>", "links-local", "high");
        check("<a href=file:///C:/a.html>x</a>", "links-local", "high");
        check("<a href=https://example.org/localhost>x</a>", "links-local", "pass");
        let own = Sample::body("<a href=http://127.0.0.1:9/>x</a>").at("http://127.0.0.1:4000/");
        own.is("links-local", "pass");
    }

    #[test]
    fn a_page_leads_on() {
        check("<a href='#top'>x</a><a href=mailto:x>y</a>", "links-none", "info");
        check("<a href=/a>x</a>", "links-none", "pass");
        check("<base href=https://other.example/><a href=''>x</a>", "links-none", "pass");
    }

    #[test]
    fn own_pages_are_not_hidden_from_crawlers() {
        let open = "<a href=/a>x</a>".repeat(3);
        check(&open, "links-nofollow-internal", "pass");
        check(&format!("{open}<a rel=nofollow href=/b>x</a>"), "links-nofollow-internal", "info");
        check("<a rel=nofollow href=/b>x</a>", "links-nofollow-internal", "low");
        check(
            "<a rel=nofollow href=https://other.example/>x</a>",
            "links-nofollow-internal",
            "pass",
        );
    }
}
