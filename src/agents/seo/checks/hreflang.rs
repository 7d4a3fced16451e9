//! Links to the same page in other languages.

use std::collections::BTreeMap;

use url::Url;

use crate::agents::languages::{Tag, is_area, meant_region, read};
use crate::agents::page::document::Document;
use crate::agents::page::facts::Part;
use crate::agents::page::text::quote;
use crate::agents::page::tree::NodeId;
use crate::agents::seo::finding::{Evidence, Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::link_header;
use crate::agents::seo::sources::GOOGLE_HREFLANG;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rules about translations.
pub const RULES: &[Rule] = &[
    Rule {
        id: "hreflang",
        name: "hreflang",
        severity: Severity::Medium,
        group: Group::Hreflang,
        source: GOOGLE_HREFLANG,
        why: "Search engines ignore links to translations whose language is unknown or whose \
              address is not complete.",
        how: "Write a language of ISO 639-1, such as `en` or `pt-BR`, and the whole address with \
              `https://`.",
        judge: Judge::Document(hreflang),
    },
    Rule {
        id: "hreflang-region",
        name: "hreflang regions",
        severity: Severity::Medium,
        group: Group::Hreflang,
        source: GOOGLE_HREFLANG,
        why: "A region must be a country of ISO 3166-1, a script one of ISO 15924; links with \
              others are ignored.",
        how: "Use the two letters of the country, or leave the region out.",
        judge: Judge::Document(hreflang_region),
    },
    Rule {
        id: "hreflang-self",
        name: "hreflang names the page itself",
        severity: Severity::Medium,
        group: Group::Hreflang,
        source: GOOGLE_HREFLANG,
        why: "Every version must list all versions, itself included. Otherwise the links may be \
              ignored.",
        how: "Add a link with the language and the address of this page.",
        judge: Judge::Document(hreflang_self),
    },
    Rule {
        id: "hreflang-duplicate",
        name: "One address a language",
        severity: Severity::Medium,
        group: Group::Hreflang,
        source: GOOGLE_HREFLANG,
        why: "One language leads to two addresses, so search engines cannot tell which one to \
              show.",
        how: "Keep one address for every language and region.",
        judge: Judge::Document(hreflang_duplicate),
    },
    Rule {
        id: "hreflang-xdefault",
        name: "hreflang for everybody else",
        severity: Severity::Info,
        group: Group::Hreflang,
        source: GOOGLE_HREFLANG,
        why: "Without `x-default` search engines choose a version for readers whose language is \
              not listed.",
        how: "Add a link with `hreflang=\"x-default\"` to the version for everybody else.",
        judge: Judge::Document(hreflang_xdefault),
    },
];

/// A link to a translation.
pub(super) struct Entry {
    code: String,
    pub(super) href: String,
    place: EntryPlace,
}

enum EntryPlace {
    Element(NodeId),
    Header(String),
}

impl Entry {
    pub(super) fn evidence(&self, page: &Document) -> Evidence {
        match &self.place {
            EntryPlace::Element(node) => at_tag(page, *node),
            EntryPlace::Header(value) => Evidence::header("link", value),
        }
    }

    /// Whether its code can be read.
    pub(super) fn has_language(&self) -> bool {
        self.is_default() || read(self.code.trim()) != Tag::Language
    }

    fn is_default(&self) -> bool {
        self.code.trim().eq_ignore_ascii_case("x-default")
    }

    /// The address that it leads to, without fragment.
    pub(super) fn url(&self, subject: &Subject) -> Option<Url> {
        subject.resolve(&self.href).map(|mut it| {
            it.set_fragment(None);
            it
        })
    }
}

/// Whether a page lists both its own address and `other`, which is not its own.
#[must_use]
pub fn leads_to_translation(subject: &Subject, page: &Document, other: &Url) -> bool {
    let listed: Vec<_> = entries(subject, page).iter().filter_map(|it| it.url(subject)).collect();
    listed.contains(subject.url()) && listed.contains(other) && subject.url() != other
}

/// The addresses of the translations, each once, in order.
#[must_use]
pub fn addresses(subject: &Subject, page: &Document) -> Vec<Url> {
    let mut found: Vec<Url> = Vec::new();
    for url in entries(subject, page).iter().filter_map(|it| it.url(subject)) {
        if found.len() < RETURNS_MAX && !found.contains(&url) {
            found.push(url);
        }
    }
    found
}

/// The links to translations that count: in the head and in the headers.
pub(super) fn entries(subject: &Subject, page: &Document) -> Vec<Entry> {
    let in_head = page.facts.links.iter().filter(|it| it.part == Part::Head && it.is("alternate"));
    let mut found: Vec<_> = in_head
        .take(ENTRIES_MAX)
        .filter_map(|it| Some((it.node, it.hreflang.clone()?, it.href.clone()?)))
        .map(|(node, code, href)| Entry { code, href, place: EntryPlace::Element(node) })
        .collect();
    for value in subject.fetched.visit.reply.headers("link") {
        let links = link_header::read(value).into_iter();
        let links = links.filter(|it| it.rel.split(' ').any(|it| it == "alternate"));
        found.extend(links.filter_map(|it| {
            let place = EntryPlace::Header(value.to_owned());
            Some(Entry { code: it.hreflang?, href: it.target, place })
        }));
    }
    found
}

/// Judges all entries by what is wrong with each; not applicable without entries.
fn judge_each(
    subject: &Subject,
    page: &Document,
    title: fn(usize) -> String,
    problem: impl Fn(&Entry) -> Option<String>,
) -> Judgement {
    let all = entries(subject, page);
    if all.is_empty() {
        return Judgement::NotApplicable(NONE);
    }
    let wrong: Vec<_> = all.iter().filter_map(|it| Some((it, problem(it)?))).collect();
    if wrong.is_empty() {
        return Judgement::Pass;
    }
    let found = Found::new(title(wrong.len())).of(wrong.len(), all.len(), "links to translations");
    Judgement::Fail(found.at_each(&wrong, |(it, problem)| it.evidence(page).saying(problem)))
}

fn hreflang(subject: &Subject, page: &Document) -> Judgement {
    let title = |count| match count {
        1 => "A link to a translation cannot be read".to_owned(),
        _ => format!("{count} links to translations cannot be read"),
    };
    judge_each(subject, page, title, |entry| {
        let code = entry.code.trim();
        if !entry.has_language() {
            return Some(match code.split_once('_') {
                Some((language, region)) => {
                    format!("{}: write {}", quote(code), quote(&format!("{language}-{region}")))
                }
                None => format!("{} is no language", quote(code)),
            });
        }
        let href = entry.href.trim().to_ascii_lowercase();
        let is_complete = href.starts_with("http://") || href.starts_with("https://");
        (!is_complete).then(|| "the address is not complete".to_owned())
    })
}

fn hreflang_region(subject: &Subject, page: &Document) -> Judgement {
    let title = |count| match count {
        1 => "A link to a translation names no country".to_owned(),
        _ => format!("{count} links to translations name no country"),
    };
    judge_each(subject, page, title, |entry| {
        let code = entry.code.trim();
        match read(code) {
            Tag::Region(region) => Some(match meant_region(region) {
                Some(right) => format!("{} is no country; `{right}` is meant", quote(region)),
                None => format!("{} is no country", quote(region)),
            }),
            Tag::Script(script) => Some(format!("{} is no script", quote(script))),
            Tag::Known => {
                let area = code.split('-').skip(1).find(|it| is_area(it))?;
                Some(format!("`{area}` is an area, not a country"))
            }
            Tag::Language => None,
        }
    })
}

fn hreflang_self(subject: &Subject, page: &Document) -> Judgement {
    let all = entries(subject, page);
    if all.is_empty() {
        return Judgement::NotApplicable(NONE);
    }
    if all.iter().any(|it| it.url(subject).as_ref() == Some(subject.url())) {
        return Judgement::Pass;
    }
    let found = Found::new("The list of translations leaves out the page itself");
    Judgement::Fail(found.at_each(&all, |it| it.evidence(page)))
}

fn hreflang_duplicate(subject: &Subject, page: &Document) -> Judgement {
    let all = entries(subject, page);
    if all.is_empty() {
        return Judgement::NotApplicable(NONE);
    }
    let mut by_code: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in &all {
        by_code.entry(entry.code.trim().to_ascii_lowercase()).or_default().push(entry);
    }
    let differs = |entries: &&Vec<&Entry>| {
        let mut urls = entries.iter().map(|it| it.url(subject));
        urls.next().is_some_and(|first| urls.any(|it| it != first))
    };
    let double: Vec<&Entry> = by_code.values().filter(differs).flatten().copied().collect();
    if double.is_empty() {
        return Judgement::Pass;
    }
    let found = Found::new("One language has several addresses").of(
        double.len(),
        all.len(),
        "links to translations",
    );
    Judgement::Fail(found.at_each(&double, |it| it.evidence(page)))
}

fn hreflang_xdefault(subject: &Subject, page: &Document) -> Judgement {
    let all = entries(subject, page);
    if all.is_empty() {
        return Judgement::NotApplicable(NONE);
    }
    if all.iter().any(Entry::is_default) {
        return Judgement::Pass;
    }
    Judgement::Info(Found::new("No version is named for readers of other languages"))
}

/// Links to translations that are looked at; large sites have some hundreds.
const ENTRIES_MAX: usize = 2_000;
/// Translations of a translation that are looked at.
const RETURNS_MAX: usize = 500;
/// Why a rule has nothing to look at.
pub(super) const NONE: &str = "the page names no translations";

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    fn listing(entries: &[(&str, &str)]) -> Sample {
        let link =
            |it: &(&str, &str)| format!("<link rel=alternate hreflang='{}' href='{}'>", it.0, it.1);
        Sample::head(&entries.iter().map(link).collect::<String>())
    }

    const OWN: (&str, &str) = ("en", "https://example.com/page");

    #[test]
    fn entries_name_a_language_and_a_complete_address() {
        Sample::head("").is("hreflang", "na");
        listing(&[OWN, ("pt-BR", "https://example.com/pt"), ("x-default", OWN.1)])
            .is("hreflang", "pass");
        listing(&[OWN, ("english", "https://example.com/e")]).is("hreflang", "medium");
        listing(&[OWN, ("de", "/de")]).is("hreflang", "medium");
        let check = listing(&[("en_US", OWN.1)]).check("hreflang");
        let value = check.fault().unwrap().evidence[0].value.clone().unwrap();
        assert_eq!(value, "`en_US`: write `en-US`");
        let header = Sample::head("").header("link", "</de>; rel=alternate; hreflang=de");
        header.is("hreflang", "medium");
    }

    #[test]
    fn regions_are_countries() {
        listing(&[("en-GB", OWN.1)]).is("hreflang-region", "pass");
        listing(&[("zh-Hant-TW", OWN.1)]).is("hreflang-region", "pass");
        listing(&[("es-419", OWN.1)]).is("hreflang-region", "medium");
        listing(&[("zh-Hxnt", OWN.1)]).is("hreflang-region", "medium");
        let check = listing(&[("en-UK", OWN.1)]).check("hreflang-region");
        let value = check.fault().unwrap().evidence[0].value.clone().unwrap();
        assert_eq!(value, "`UK` is no country; `GB` is meant");
    }

    #[test]
    fn the_list_is_complete_and_unambiguous() {
        let other = ("de", "https://example.com/de");
        listing(&[OWN, other]).is("hreflang-self", "pass");
        listing(&[other]).is("hreflang-self", "medium");
        listing(&[OWN, ("EN", "https://example.com/other")]).is("hreflang-duplicate", "medium");
        listing(&[OWN, OWN]).is("hreflang-duplicate", "pass");
        listing(&[OWN]).is("hreflang-xdefault", "info");
        listing(&[OWN, ("X-Default", OWN.1)]).is("hreflang-xdefault", "pass");
    }
}
