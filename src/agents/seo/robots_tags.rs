//! Robots directives: what `meta` elements and `X-Robots-Tag` headers tell which crawler.
//!
//! All of them count together and the most restrictive one wins, wherever it stands.
//! Source: Google, robots meta tag.

use crate::agents::lists::SEARCH_BOTS;
use crate::agents::page::document::Document;
use crate::agents::page::facts::Part;
use crate::agents::page::tree::NodeId;
use crate::agents::seo::dates;
use crate::agents::seo::finding::Evidence;
use crate::agents::seo::subject::{Subject, at_tag};
use crate::domain::time::Timestamp;

/// One directive and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsTag {
    /// The crawler that it is for, lower case; none for all.
    pub bot: Option<String>,
    /// The directive.
    pub directive: Directive,
    /// Where it stands.
    pub place: TagPlace,
}

/// Where a directive stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagPlace {
    /// In a `meta` element.
    Element(NodeId),
    /// In a header with this value.
    Header(String),
}

/// A directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Its name, lower case.
    pub name: String,
    /// What follows its colon.
    pub value: Option<String>,
}

/// All directives of a page that count: those in its headers and in its head.
#[must_use]
pub fn tags(subject: &Subject, page: &Document) -> Vec<RobotsTag> {
    let mut tags = Vec::new();
    for value in subject.fetched.visit.reply.headers("x-robots-tag") {
        for (bot, directive) in read_header(value) {
            tags.push(RobotsTag { bot, directive, place: TagPlace::Header(value.to_owned()) });
        }
    }
    for meta in page.facts.metas.iter().filter(|it| it.part == Part::Head) {
        let bot = match meta.name.as_str() {
            "robots" => None,
            name if is_search_bot(name) => Some(name.to_owned()),
            _ => continue,
        };
        if tags.len() >= TAGS_MAX {
            break;
        }
        for directive in read_list(&meta.content) {
            let place = TagPlace::Element(meta.node);
            tags.push(RobotsTag { bot: bot.clone(), directive, place });
        }
    }
    tags
}

/// Whether a name is that of a crawler whose directives are looked at.
#[must_use]
pub fn is_search_bot(name: &str) -> bool {
    SEARCH_BOTS.iter().any(|it| it.name.eq_ignore_ascii_case(name))
}

impl RobotsTag {
    /// Whether it is for this crawler.
    #[must_use]
    pub fn is_for(&self, bot: &str) -> bool {
        self.bot.as_deref().is_none_or(|it| it.eq_ignore_ascii_case(bot))
    }

    /// Where it stands, as evidence.
    #[must_use]
    pub fn evidence(&self, page: &Document) -> Evidence {
        match &self.place {
            TagPlace::Element(node) => at_tag(page, *node),
            TagPlace::Header(value) => Evidence::header("x-robots-tag", value),
        }
    }
}

impl Directive {
    /// Whether it keeps the page out of the index at the time `now`.
    #[must_use]
    pub fn blocks(&self, now: Timestamp) -> bool {
        match self.name.as_str() {
            "noindex" | "none" => true,
            "unavailable_after" => {
                self.value.as_deref().and_then(dates::read).is_some_and(|it| it < now)
            }
            _ => false,
        }
    }
}

/// The directives of one list.
#[must_use]
pub fn read_list(text: &str) -> Vec<Directive> {
    read_header(text).into_iter().map(|(_, directive)| directive).collect()
}

/// The directives of one header and the crawlers that they are for.
///
/// `googlebot: noindex, nofollow` is for one crawler up to the next name. Directives are no names,
/// and neither is what begins with no letter, such as the time of a date.
fn read_header(text: &str) -> Vec<(Option<String>, Directive)> {
    let mut found: Vec<(Option<String>, Directive)> = Vec::new();
    let mut bot = None;
    for part in text.split(',').take(DIRECTIVES_MAX) {
        let mut part = part.trim();
        let last = found.last_mut().map(|(_, it)| it).filter(|it| it.name == "unavailable_after");
        if let Some(date) = last.and_then(|it| it.value.as_mut())
            && (is_weekday(date) || part.starts_with(|it: char| it.is_ascii_digit()))
        {
            // The comma after a weekday or before a time belongs to the date.
            *date = format!("{date}, {part}");
            continue;
        }
        if let Some((name, rest)) = part.split_once(':')
            && may_be_bot(name)
        {
            bot = Some(name.trim().to_ascii_lowercase());
            part = rest.trim();
        }
        match part.split_once(':') {
            Some((name, value)) => {
                let name = name.trim().to_ascii_lowercase();
                let directive = Directive { name, value: Some(value.trim().to_owned()) };
                found.push((bot.clone(), directive));
            }
            None => {
                found.extend(part.split_whitespace().map(|it| {
                    (bot.clone(), Directive { name: it.to_ascii_lowercase(), value: None })
                }))
            }
        }
    }
    found
}

/// Whether what stands before a colon can be the name of a crawler.
fn may_be_bot(name: &str) -> bool {
    let name = name.trim();
    let is_directive = || DIRECTIVES.iter().any(|it| it.eq_ignore_ascii_case(name));
    name.starts_with(char::is_alphabetic) && !is_directive()
}

fn is_weekday(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphabetic())
}

/// Directives, with a value or without; none of them is a crawler.
const DIRECTIVES: [&str; 17] = [
    "all",
    "index",
    "follow",
    "noindex",
    "nofollow",
    "none",
    "noarchive",
    "nocache",
    "nosnippet",
    "noimageindex",
    "notranslate",
    "nositelinkssearchbox",
    "indexifembedded",
    "unavailable_after",
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
];
/// Directives of a page that are looked at, give or take a list.
const TAGS_MAX: usize = 1_000;
/// Directives of one list that are read.
const DIRECTIVES_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found: Vec<_> = read_header(text)
            .into_iter()
            .map(|(bot, it)| {
                let value = it.value.map(|it| format!("={it}")).unwrap_or_default();
                (bot.unwrap_or_default(), it.name + &value)
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(bot, it)| ((*bot).to_owned(), (*it).to_owned())).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn lists_are_read_with_the_crawlers_they_are_for() {
        check("", &[]);
        check("NOINDEX, nofollow", &[("", "noindex"), ("", "nofollow")]);
        check("noindex nofollow", &[("", "noindex"), ("", "nofollow")]);
        check("GoogleBot: noindex, none", &[("googlebot", "noindex"), ("googlebot", "none")]);
        check("max-snippet:0, a: noindex", &[("", "max-snippet=0"), ("a", "noindex")]);
        check("bingbot: max-snippet: 5", &[("bingbot", "max-snippet=5")]);
    }

    #[test]
    fn dates_keep_their_commas() {
        let date = "unavailable_after: Wed, 25 Jun 2010 15:00:00 PST, noindex";
        check(date, &[("", "unavailable_after=Wed, 25 Jun 2010 15:00:00 PST"), ("", "noindex")]);
        check(
            "x: unavailable_after: 2020-01-01T00:00:00Z",
            &[("x", "unavailable_after=2020-01-01T00:00:00Z")],
        );
        let date = "unavailable_after: 25 Jun 2030, 15:00:00 PST, noindex";
        check(date, &[("", "unavailable_after=25 Jun 2030, 15:00:00 PST"), ("", "noindex")]);
    }

    #[test]
    fn neither_a_directive_nor_a_number_is_a_crawler() {
        check("NoIndex: x, 15: noindex", &[("", "noindex=x"), ("", "15=noindex")]);
        check("nofollow: 1, none", &[("", "nofollow=1"), ("", "none")]);
    }

    #[test]
    fn a_date_blocks_when_it_has_passed() {
        let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
        let blocks = |it: &str| read_list(it).iter().any(|it| it.blocks(now));
        assert!(blocks("index, none"));
        assert!(blocks("unavailable_after: Fri, 25-Jun-10 15:00:00 GMT"));
        assert!(!blocks("unavailable_after: 2030-01-01"));
        assert!(!blocks("unavailable_after: soon"));
        assert!(!blocks("index, follow, max-snippet: -1, noindexed"));
    }
}
