//! Are the pages there that a page links to: a sample of those on its own host.

use url::{Position, Url};

use crate::agents::page::document::Document;
use crate::agents::page::facts::Anchor;
use crate::agents::page::text::quote;
use crate::agents::seo::around::TargetAnswer;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_element};
use crate::agents::seo::target::Target;

/// The rule about the targets of links.
pub const RULES: &[Rule] = &[Rule {
    id: "links-broken",
    name: "Links lead to pages",
    severity: Severity::High,
    group: Group::Links,
    source: sources::GOOGLE_STATUS,
    why: "Visitors who follow the link end at an error message, and what the page there was worth \
          to search engines is lost.",
    how: "Correct the address, redirect it to the page that took its place, or remove the link.",
    judge: Judge::Document(links_broken),
}];

/// The first addresses of the same host that a page links to, each once, itself left out.
#[must_use]
pub fn wanted(subject: &Subject) -> Vec<Url> {
    let mut found: Vec<Url> = Vec::new();
    for (anchor, url) in subject.targets() {
        let Some(url) = url.filter(|it| is_own(subject, it)) else { continue };
        if anchor.has_rel("nofollow") || found.len() >= SAMPLE_MAX {
            continue;
        }
        let mut url = url.clone();
        url.set_fragment(None);
        if !found.contains(&url) {
            found.push(url);
        }
    }
    found
}

/// Whether a link leads to another page of the host, and only shows it.
fn is_own(subject: &Subject, url: &Url) -> bool {
    let text = url.as_str().to_ascii_lowercase();
    url.origin() == subject.url().origin()
        && !ACTIONS.iter().any(|it| text.contains(it))
        && url[..Position::AfterQuery] != subject.url()[..Position::AfterQuery]
}

/// Whether links were answered, and none of them led to a page.
#[must_use]
pub fn all_are_missing(links: &[(Url, TargetAnswer)]) -> bool {
    let asked = asked(links);
    !asked.is_empty() && asked.iter().all(Asked::is_missing)
}

/// What came of one link.
struct Asked<'a> {
    url: &'a Url,
    target: &'a Target,
}

/// The links that were answered.
fn asked(links: &[(Url, TargetAnswer)]) -> Vec<Asked<'_>> {
    let answered = links.iter().filter_map(|(url, answer)| match answer {
        TargetAnswer::Answered(target) => Some(Asked { url, target }),
        TargetAnswer::Failed(_) | TargetAnswer::NotAsked(_) => None,
    });
    answered.collect()
}

/// What the target of a link turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// Something is there. A login is something, and 429 says nothing about the page.
    There,
    /// It leads on to somewhere else.
    Moved,
    /// Nothing is there.
    Gone,
    /// The server is in trouble.
    Trouble,
}

impl LinkEnd {
    /// What a status says about an address.
    #[must_use]
    pub const fn of(status: u16) -> Self {
        match status {
            404 | 410 => Self::Gone,
            500..=599 => Self::Trouble,
            301 | 302 | 303 | 307 | 308 => Self::Moved,
            _ => Self::There,
        }
    }
}

impl Asked<'_> {
    const fn end(&self) -> LinkEnd {
        LinkEnd::of(self.target.status)
    }

    const fn is_missing(&self) -> bool {
        matches!(self.end(), LinkEnd::Gone | LinkEnd::Trouble)
    }

    fn phrase(&self) -> String {
        let url = quote(self.url.as_str());
        match &self.target.location {
            Some(location) if self.end() == LinkEnd::Moved => {
                format!("{url} redirects with status {} to {}", self.target.status, quote(location))
            }
            _ => format!("{url} answers with status {}", self.target.status),
        }
    }
}

fn links_broken(subject: &Subject, page: &Document) -> Judgement {
    let around = &subject.fetched.around;
    let asked = asked(&around.links);
    if asked.is_empty() {
        return Judgement::NotApplicable("no link of the page was asked");
    }
    let at = |end: LinkEnd| asked.iter().filter(move |it| it.end() == end);
    let missing: Vec<_> = asked.iter().filter(|it| it.is_missing()).collect();
    let gone: Vec<_> = at(LinkEnd::Gone).collect();
    let moved: Vec<_> = at(LinkEnd::Moved).collect();
    // A server in trouble with most of its pages, or with everything that this audit asks, more
    // likely turns the audit away than its visitors.
    let is_troubled = at(LinkEnd::Trouble).count().saturating_mul(2) >= asked.len();
    let is_turned_away = missing.len() == asked.len() && is_missing(around.own.as_ref());
    let is_doubtful = is_turned_away || (is_troubled && gone.is_empty());
    let (wrong, what) = match (missing.as_slice(), moved.as_slice()) {
        ([], []) => return Judgement::Pass,
        ([], _) => (&moved, "a redirect"),
        (_, _) if is_troubled && !is_doubtful => (&gone, "no page"),
        (_, _) => (&missing, "no page"),
    };
    let (count, total) = (wrong.len(), asked.len());
    let lead = if count == 1 { "leads" } else { "lead" };
    let title = format!("{count} of {total} links that were tried {lead} to {what}");
    let title =
        if is_doubtful { title + "; perhaps the server turns this audit away" } else { title };
    let found = Found::new(title).of(count, total, "links that were tried");
    let found = found.at_each(wrong, |it| match anchor(subject, it.url) {
        Some(anchor) => at_element(page, anchor.node).saying(it.phrase()),
        None => Evidence::value(Within::Exchange, it.phrase()),
    });
    if missing.is_empty() {
        return Judgement::Fail(found.severity(Severity::Low));
    }
    if is_doubtful {
        return Judgement::Info(found);
    }
    Judgement::Fail(found)
}

/// Whether an address that is known to be there is not there for this audit.
fn is_missing(answer: Option<&TargetAnswer>) -> bool {
    match answer {
        Some(TargetAnswer::Answered(target)) => {
            matches!(LinkEnd::of(target.status), LinkEnd::Gone | LinkEnd::Trouble)
        }
        Some(TargetAnswer::Failed(_)) => true,
        Some(TargetAnswer::NotAsked(_)) | None => false,
    }
}

fn anchor<'a>(subject: &'a Subject, url: &Url) -> Option<&'a Anchor> {
    let same = |it: &Url| it[..Position::AfterQuery] == url[..Position::AfterQuery];
    subject.targets().find(|(_, it)| it.is_some_and(same)).map(|(anchor, _)| anchor)
}

/// Words in addresses that do something when they are asked for.
const ACTIONS: [&str; 8] = [
    "logout",
    "log-out",
    "signout",
    "sign-out",
    "add-to-cart",
    "add_to_cart",
    "unsubscribe",
    "delete",
];
/// Links that are tried.
const SAMPLE_MAX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    const BODY: &str = "<a href=/a>Alpha</a><a href='/b#x'>Beta</a><a href=/c>Gamma</a>\
                        <a href=/a>Again</a><a href='#top'>Top</a><a rel=nofollow href=/d>Delta</a>\
                        <a href='/cart?add-to-cart=7'>Buy</a>\
                        <a href=https://other.example/>Other</a>";

    /// The answers of links, in their order; 0 is none.
    fn sample(statuses: &[u16]) -> Sample {
        let mut sample = Sample::body(BODY);
        for (status, path) in statuses.iter().zip(["/a", "/b", "/c", "/tickets"]) {
            let url = Url::parse("https://example.com/").unwrap().join(path).unwrap();
            sample.0.around.links.push((url, answer(*status)));
        }
        sample
    }

    fn answer(status: u16) -> TargetAnswer {
        match status {
            0 => TargetAnswer::Failed("the connection was refused".to_owned()),
            status => TargetAnswer::Answered(Box::new(Target { status, ..Target::default() })),
        }
    }

    #[track_caller]
    fn check(statuses: &[u16], expected: &str) {
        sample(statuses).is("links-broken", expected);
    }

    #[test]
    fn a_sample_of_the_own_links_is_tried_each_once() {
        let urls: Vec<_> = wanted(&Sample::body(BODY).audit().subject)
            .iter()
            .map(|it| it.path().to_owned())
            .collect();
        assert_eq!(urls, ["/a", "/b", "/c", "/tickets"]);
        let many: String = (0..99).map(|it| format!("<a href=/{it}>x</a>")).collect();
        assert_eq!(wanted(&Sample::body(&many).audit().subject).len(), SAMPLE_MAX);
    }

    #[test]
    fn links_lead_to_pages() {
        check(&[], "na");
        check(&[0, 0], "na");
        check(&[200, 200, 403, 401], "pass");
        check(&[200, 404, 200, 200], "high");
        check(&[200, 500, 200], "high");
        check(&[200, 301, 200], "low");
        check(&[404, 301, 200, 200], "high");
    }

    #[test]
    fn the_more_links_are_broken_the_worse() {
        check(&[404, 200, 200], "high");
        check(&[404, 404, 200], "high");
        check(&[404, 410, 404, 200], "high");
        check(&[404, 404, 404], "high");
        let points = |it: &[u16]| sample(it).check("links-broken").points;
        assert!(points(&[404, 404, 200]) > points(&[404, 200, 200]));
    }

    #[test]
    fn a_server_in_trouble_may_mean_this_audit_alone() {
        check(&[500, 500, 200], "info");
        check(&[503], "info");
        // What is gone is gone whatever else is in trouble.
        check(&[404, 500, 500], "high");
        let found = sample(&[404, 500, 500]).check("links-broken").fault().cloned().unwrap();
        assert_eq!(found.title, "1 of 3 links that were tried leads to no page");
    }

    #[test]
    fn whoever_denies_even_the_page_itself_turns_the_audit_away() {
        let own = |statuses: &[u16], own: u16, expected: &str| {
            let mut sample = sample(statuses);
            assert_eq!(all_are_missing(&sample.0.around.links), expected == "info" || own == 200);
            sample.0.around.own = Some(answer(own));
            sample.is("links-broken", expected);
        };
        own(&[404, 404], 404, "info");
        own(&[404, 404], 0, "info");
        own(&[404, 404], 200, "high");
        own(&[404, 200], 404, "high");
        assert!(!all_are_missing(&[]));
    }
}
