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

/// What came of one link.
struct Asked<'a> {
    url: &'a Url,
    target: &'a Target,
}

impl Asked<'_> {
    /// Whether nothing is there. A login is something, and 429 says nothing about the page.
    const fn is_missing(&self) -> bool {
        matches!(self.target.status, 404 | 410 | 500..=599)
    }

    const fn is_redirect(&self) -> bool {
        matches!(self.target.status, 301 | 302 | 303 | 307 | 308)
    }

    fn phrase(&self) -> String {
        let url = quote(self.url.as_str());
        match &self.target.location {
            Some(location) if self.is_redirect() => {
                format!("{url} redirects with status {} to {}", self.target.status, quote(location))
            }
            _ => format!("{url} answers with status {}", self.target.status),
        }
    }
}

fn links_broken(subject: &Subject, page: &Document) -> Judgement {
    let links = subject.fetched.around.links.iter();
    let asked: Vec<Asked<'_>> = links
        .filter_map(|(url, answer)| match answer {
            TargetAnswer::Answered(target) => Some(Asked { url, target }),
            TargetAnswer::Failed(_) | TargetAnswer::NotAsked(_) => None,
        })
        .collect();
    if asked.is_empty() {
        return Judgement::NotApplicable("no link of the page was asked");
    }
    let missing: Vec<_> = asked.iter().filter(|it| it.is_missing()).collect();
    let moved: Vec<_> = asked.iter().filter(|it| it.is_redirect()).collect();
    let (wrong, what) = match (missing.as_slice(), moved.as_slice()) {
        ([], []) => return Judgement::Pass,
        ([], _) => (&moved, "a redirect"),
        _ => (&missing, "no page"),
    };
    let (count, total) = (wrong.len(), asked.len());
    let lead = if count == 1 { "leads" } else { "lead" };
    let title = format!("{count} of {total} links that were tried {lead} to {what}");
    // Whoever answers most questions with an error more likely turns this audit away.
    let is_doubtful = !missing.is_empty() && count.saturating_mul(2) >= total;
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

    #[track_caller]
    fn check(statuses: &[u16], expected: &str) {
        let mut sample = Sample::body(BODY);
        for (status, path) in statuses.iter().zip(["/a", "/b", "/c", "/tickets"]) {
            let url = Url::parse("https://example.com/").unwrap().join(path).unwrap();
            let target = Target { status: *status, ..Target::default() };
            let answer = match status {
                0 => TargetAnswer::Failed("the connection was refused".to_owned()),
                _ => TargetAnswer::Answered(Box::new(target)),
            };
            sample.0.around.links.push((url, answer));
        }
        sample.is("links-broken", expected);
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
        // A server that knows nothing at all does not know this audit.
        check(&[404, 404, 200], "info");
        check(&[404], "info");
    }
}
