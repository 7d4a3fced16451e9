//! Are the pages there that a page links to: a sample of those on its own host.

use url::{Position, Url};

use crate::agents::page::document::Document;
use crate::agents::page::facts::Anchor;
use crate::agents::page::text::quote;
use crate::agents::seo::around::{Around, TargetAnswer};
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

/// Which answers more likely turn this audit away than its visitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// None of them.
    Nothing,
    /// Those of a server in trouble, because most of its pages are.
    Trouble,
    /// All errors, because not even the home page is there.
    Errors,
}

impl Doubt {
    fn of(around: &Around, asked: &[Asked<'_>]) -> Self {
        let troubled = asked.iter().filter(|it| it.end() == LinkEnd::Trouble).count();
        if asked.iter().all(Asked::is_missing) && denies(around.home.as_ref()) {
            Self::Errors
        } else if troubled.saturating_mul(2) >= asked.len() {
            Self::Trouble
        } else {
            Self::Nothing
        }
    }

    const fn covers(self, end: LinkEnd) -> bool {
        match self {
            Self::Nothing => false,
            Self::Trouble => matches!(end, LinkEnd::Trouble),
            Self::Errors => matches!(end, LinkEnd::Trouble | LinkEnd::Gone),
        }
    }
}

/// Where the links led that were tried; none where an answer says nothing about its page.
#[must_use]
pub fn ends(subject: &Subject) -> Vec<(&Url, Option<LinkEnd>)> {
    let around = &subject.fetched.around;
    let doubt = Doubt::of(around, &asked(&around.links));
    let end = |answer: &TargetAnswer| match answer {
        TargetAnswer::Answered(target) => {
            Some(LinkEnd::of(target.status)).filter(|it| !doubt.covers(*it))
        }
        TargetAnswer::Failed(_) | TargetAnswer::NotAsked(_) => None,
    };
    around.links.iter().map(|(url, answer)| (url, end(answer))).collect()
}

fn links_broken(subject: &Subject, page: &Document) -> Judgement {
    let around = &subject.fetched.around;
    let asked = asked(&around.links);
    if asked.is_empty() {
        return Judgement::NotApplicable("no link of the page was asked");
    }
    let doubt = Doubt::of(around, &asked);
    let (doubtful, missing): (Vec<_>, Vec<_>) =
        asked.iter().filter(|it| it.is_missing()).partition(|it| doubt.covers(it.end()));
    let moved: Vec<_> = asked.iter().filter(|it| it.end() == LinkEnd::Moved).collect();
    let (wrong, what) = match (missing.as_slice(), doubtful.as_slice(), moved.as_slice()) {
        ([], [], []) => return Judgement::Pass,
        ([], [], _) => (&moved, "a redirect"),
        ([], _, _) => (&doubtful, "no page; perhaps the server turns this audit away"),
        (_, _, _) => (&missing, "no page"),
    };
    let (count, total) = (wrong.len(), asked.len());
    let lead = if count == 1 { "leads" } else { "lead" };
    let found = Found::new(format!("{count} of {total} links that were tried {lead} to {what}"));
    let found = found.of(count, total, "links that were tried");
    let found = found.at_each(wrong, |it| match anchor(subject, it.url) {
        Some(anchor) => at_element(page, anchor.node).saying(it.phrase()),
        None => Evidence::value(Within::Exchange, it.phrase()),
    });
    match (missing.is_empty(), doubtful.is_empty()) {
        (false, _) => Judgement::Fail(found),
        (true, false) => Judgement::Info(found),
        (true, true) => Judgement::Fail(found.severity(Severity::Low)),
    }
}

/// Whether the home page, which every host has, is not there for this audit.
fn denies(answer: Option<&TargetAnswer>) -> bool {
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
    fn whoever_denies_even_the_home_page_turns_the_audit_away() {
        let check = |statuses: &[u16], home: u16, expected: &str| {
            let mut sample = sample(statuses);
            sample.0.around.home = Some(answer(home));
            sample.is("links-broken", expected);
        };
        check(&[404, 404], 404, "info");
        check(&[404, 404], 0, "info");
        check(&[404, 404], 200, "high");
        check(&[404, 200], 404, "high");
    }

    #[test]
    fn the_home_page_is_asked_when_no_link_leads_anywhere() {
        let are_missing = |it: &[u16]| all_are_missing(&sample(it).0.around.links);
        assert!(are_missing(&[404, 0, 500]));
        assert!(!are_missing(&[404, 200]) && !are_missing(&[0]) && !are_missing(&[]));
    }
}
