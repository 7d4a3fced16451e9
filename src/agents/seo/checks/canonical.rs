//! The canonical address: is there one, is it one, and is it the right one.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::facts::Part;
use crate::agents::page::text::quote;
use crate::agents::page::tree::NodeId;
use crate::agents::seo::checks::hreflang;
use crate::agents::seo::finding::{Evidence, Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::link_header;
use crate::agents::seo::sources::GOOGLE_CANONICAL;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rules about the canonical address.
pub const RULES: &[Rule] = &[
    Rule {
        id: "canonical",
        name: "Canonical address",
        severity: Severity::High,
        group: Group::Alone,
        source: GOOGLE_CANONICAL,
        why: "The canonical link decides which address search engines show. A wrong one hides this \
              page in favour of another, or counts for nothing.",
        how: "Name one complete address, with `https://` and the host: the one that results should \
              show.",
        judge: Judge::Document(canonical),
    },
    Rule {
        id: "canonical-empty",
        name: "Canonical address not empty",
        severity: Severity::Low,
        group: Group::Alone,
        source: GOOGLE_CANONICAL,
        why: "A canonical link without an address says nothing; mostly a template had no value for \
              it.",
        how: "Fill in the address, or leave the element out.",
        judge: Judge::Document(canonical_empty),
    },
    Rule {
        id: "canonical-fragment",
        name: "Canonical address without fragment",
        severity: Severity::Low,
        group: Group::Alone,
        source: GOOGLE_CANONICAL,
        why: "Search engines drop what follows the `#`, so the address is not the one that was \
              meant.",
        how: "Remove the `#` and what follows it from the canonical address.",
        judge: Judge::Document(canonical_fragment),
    },
    Rule {
        id: "canonical-single",
        name: "One canonical address",
        severity: Severity::Low,
        group: Group::Alone,
        source: GOOGLE_CANONICAL,
        why: "With several canonical links search engines may ignore all of them.",
        how: "Keep one. A plugin and the template often both write one.",
        judge: Judge::Document(canonical_single),
    },
    Rule {
        id: "canonical-https",
        name: "Canonical address encrypted",
        severity: Severity::Medium,
        group: Group::Alone,
        source: GOOGLE_CANONICAL,
        why: "The page is encrypted and names an address that is not, so results may lead to the \
              latter.",
        how: "Write `https://` in the canonical address.",
        judge: Judge::Document(canonical_https),
    },
    Rule {
        id: "canonical-self",
        name: "Canonical address is the page's own",
        severity: Severity::Info,
        group: Group::Alone,
        source: GOOGLE_CANONICAL,
        why: "The page asks search engines to show another address in its place. That is right for \
              copies and filters.",
        how: "If this page should appear itself, let it name its own address.",
        judge: Judge::Document(canonical_self),
    },
];

/// A canonical link.
struct Candidate {
    href: String,
    place: CandidatePlace,
}

enum CandidatePlace {
    Element(NodeId),
    Header(String),
}

impl Candidate {
    fn evidence(&self, page: &Document) -> Evidence {
        match &self.place {
            CandidatePlace::Element(node) => at_tag(page, *node),
            CandidatePlace::Header(value) => Evidence::header("link", value),
        }
    }

    /// What is wrong with it as an address.
    fn problem(&self, subject: &Subject) -> Option<&'static str> {
        let href = self.href.trim();
        match (Url::parse(href), subject.resolve(href)) {
            (Ok(url), _) if !matches!(url.scheme(), "http" | "https") => {
                Some("not an address of a page")
            }
            (Ok(_), _) => None,
            (Err(url::ParseError::RelativeUrlWithoutBase), Some(_)) => Some("a relative address"),
            (Err(_), _) => Some("not an address"),
        }
    }
}

/// The canonical links that count: in the head and in the headers, empty ones included.
fn candidates(subject: &Subject, page: &Document) -> Vec<Candidate> {
    let in_head = page.facts.links.iter().filter(|it| it.part == Part::Head && it.is("canonical"));
    let mut found: Vec<_> = in_head
        .take(CANDIDATES_MAX)
        .filter_map(|it| Some((it.node, it.href.clone()?)))
        .map(|(node, href)| Candidate { href, place: CandidatePlace::Element(node) })
        .collect();
    for value in subject.fetched.visit.reply.headers("link") {
        let links = link_header::read(value).into_iter();
        found.extend(links.filter(|it| it.rel.split(' ').any(|it| it == "canonical")).map(|it| {
            Candidate { href: it.target, place: CandidatePlace::Header(value.to_owned()) }
        }));
    }
    found
}

fn named(subject: &Subject, page: &Document) -> Vec<Candidate> {
    let all = candidates(subject, page).into_iter();
    all.filter(|it| !it.href.trim().is_empty()).collect()
}

/// The one canonical address, without fragment, when the page names exactly one and it is one.
#[must_use]
pub fn address(subject: &Subject, page: &Document) -> Option<Url> {
    let mut found = named(subject, page).into_iter();
    let first = found.next().filter(|it| it.problem(subject).is_none())?;
    let url = without_fragment(subject.resolve(&first.href)?);
    found
        .all(|it| subject.resolve(&it.href).map(without_fragment).as_ref() == Some(&url))
        .then_some(url)
}

/// Whether nothing is wrong with the link itself.
#[must_use]
pub fn is_sound(subject: &Subject, page: &Document) -> bool {
    canonical(subject, page) == Judgement::Pass
}

/// Where the canonical links stand.
#[must_use]
pub fn links(subject: &Subject, page: &Document) -> Vec<Evidence> {
    named(subject, page).iter().map(|it| it.evidence(page)).collect()
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

fn canonical(subject: &Subject, page: &Document) -> Judgement {
    let named = named(subject, page);
    if named.is_empty() {
        return Judgement::NotApplicable(NONE);
    }
    let wrong = named.iter().filter_map(|it| Some((it, it.problem(subject)?)));
    let wrong: Vec<_> = wrong.collect();
    if let Some((candidate, problem)) = wrong.first() {
        let found = Found::new(format!("The canonical link is {problem}"));
        let whole =
            subject.resolve(candidate.href.trim()).filter(|_| *problem == "a relative address");
        let found = match whole {
            Some(url) => found.how(format!("Write the complete address: {}.", quote(url.as_str()))),
            None => found,
        };
        return Judgement::Fail(found.at_each(&wrong, |(it, _)| it.evidence(page)));
    }
    let Some(url) = address(subject, page) else {
        let found = Found::new("Several canonical links name different addresses");
        return Judgement::Fail(found.at_each(&named, |it| it.evidence(page)));
    };
    let own = subject.url();
    let title = if url.origin() == own.origin() && url.path() == "/" && own.path() != "/" {
        "The canonical link leads to the home page"
    } else if hreflang::leads_to_translation(subject, page, &url) {
        "The canonical link leads to the page in another language"
    } else {
        return Judgement::Pass;
    };
    let how = format!("Let the page name its own address: {}.", quote(own.as_str()));
    Judgement::Fail(Found::new(title).how(how).at_each(&named, |it| it.evidence(page)))
}

fn canonical_empty(subject: &Subject, page: &Document) -> Judgement {
    let mut empty = candidates(subject, page);
    if empty.is_empty() {
        return Judgement::NotApplicable(NONE);
    }
    empty.retain(|it| it.href.trim().is_empty());
    fault(page, &empty, "A canonical link is empty")
}

fn canonical_fragment(subject: &Subject, page: &Document) -> Judgement {
    let mut found = named(subject, page);
    if found.is_empty() {
        return Judgement::NotApplicable(NONE);
    }
    found.retain(|it| it.href.contains('#'));
    fault(page, &found, "The canonical address has a fragment")
}

fn canonical_single(subject: &Subject, page: &Document) -> Judgement {
    let found = named(subject, page);
    match (found.len(), address(subject, page)) {
        (0, _) => Judgement::NotApplicable(NONE),
        (1, _) => Judgement::Pass,
        (count, Some(_)) => {
            let same = Found::new(format!("The same canonical address is named {count} times"));
            Judgement::Info(same.at_each(&found, |it| it.evidence(page)))
        }
        (count, None) => fault(page, &found, &format!("There are {count} canonical links")),
    }
}

fn canonical_https(subject: &Subject, page: &Document) -> Judgement {
    match address(subject, page) {
        None => Judgement::NotApplicable(NONE),
        Some(url) if subject.url().scheme() == "https" && url.scheme() == "http" => {
            fault(page, &named(subject, page), "The canonical address is not encrypted")
        }
        Some(_) => Judgement::Pass,
    }
}

fn canonical_self(subject: &Subject, page: &Document) -> Judgement {
    match address(subject, page) {
        None => Judgement::NotApplicable(NONE),
        Some(url) if url == without_fragment(subject.url().clone()) => Judgement::Pass,
        Some(url) => {
            let found = Found::new(format!(
                "The canonical address is another page: {}",
                quote(url.as_str())
            ));
            Judgement::Info(found.at_each(&named(subject, page), |it| it.evidence(page)))
        }
    }
}

fn fault(page: &Document, places: &[Candidate], title: &str) -> Judgement {
    if places.is_empty() {
        return Judgement::Pass;
    }
    Judgement::Fail(Found::new(title).at_each(places, |it| it.evidence(page)))
}

/// Canonical links that are looked at.
const CANDIDATES_MAX: usize = 100;
/// Why a rule has nothing to look at.
const NONE: &str = "the page names no canonical address";

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check_link(href: &str, id: &str, expected: &str) {
        Sample::head(&format!("<link rel=Canonical href='{href}'>")).is(id, expected);
    }

    const OWN: &str = "https://example.com/page";

    #[test]
    fn a_canonical_link_is_one_complete_address_of_a_page() {
        Sample::head("").is("canonical", "na");
        check_link(OWN, "canonical", "pass");
        check_link("https://other.example/", "canonical", "pass");
        check_link("/page", "canonical", "high");
        check_link("//example.com/page", "canonical", "high");
        check_link("https://exa mple.com:port/", "canonical", "high");
        check_link("ftp://example.com/page", "canonical", "high");
        check_link("https://example.com/", "canonical", "high");
        check_link("", "canonical", "na");
        Sample::body(&format!("<link rel=canonical href='{OWN}'>")).is("canonical", "na");
        let home = Sample::head("<link rel=canonical href='https://example.com/'>");
        home.at("https://example.com/").is("canonical", "pass");
    }

    #[test]
    fn links_in_headers_count_too() {
        let named =
            |it: &str| Sample::head("").header("link", &format!("<{it}>; rel=\"canonical\""));
        named(OWN).is("canonical", "pass");
        named("/page").is("canonical", "high");
        let both = named("https://example.com/other").header("x", "y");
        both.clone().is("canonical-self", "info");
        let double = both.header("link", &format!("<{OWN}>; rel=canonical"));
        double.clone().is("canonical", "high");
        double.is("canonical-single", "low");
    }

    #[test]
    fn a_translation_is_no_canonical_address() {
        let head = "<link rel=alternate hreflang=en href=https://example.com/page>\
                    <link rel=alternate hreflang=de href=https://example.com/de>\
                    <link rel=canonical href=https://example.com/de>";
        Sample::head(head).is("canonical", "high");
    }

    #[test]
    fn details_of_the_address_have_rules_of_their_own() {
        check_link("", "canonical-empty", "low");
        check_link(OWN, "canonical-empty", "pass");
        check_link(&format!("{OWN}#top"), "canonical-fragment", "low");
        check_link(&format!("{OWN}#top"), "canonical-self", "pass");
        check_link("http://example.com/page", "canonical-https", "medium");
        check_link("https://example.com/other", "canonical-self", "info");
        check_link(OWN, "canonical-single", "pass");
        let twice = format!("<link rel=canonical href={OWN}>").repeat(2);
        Sample::head(&twice).is("canonical-single", "info");
        Sample::head(&twice).is("canonical", "pass");
    }

    #[test]
    fn a_relative_address_is_completed_in_the_advice() {
        let check = Sample::head("<link rel=canonical href=/page>").check("canonical");
        let how = check.fault().unwrap().how.clone().unwrap();
        assert_eq!(how, "Write the complete address: `https://example.com/page`.");
    }
}
