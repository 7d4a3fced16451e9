//! Reads a page into its facts.

use std::collections::BTreeSet;

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::facts::Part;
use crate::agents::page::reply::Reply;
use crate::agents::scan::cards::Cards;
use crate::agents::scan::facts::{
    Heading, LinkFact, Offer, Origin, PageFacts, Segment, Size, Zone,
};
use crate::agents::scan::json_ld::{Structured, structured};
use crate::agents::scan::lexicon::{CALLS, has};
use crate::agents::scan::links::{is_social, place_of, posts, target};
use crate::agents::scan::outline::{Block, Outline, outline};
use crate::agents::scan::price::Price;
use crate::agents::scan::releases::releases;
use crate::agents::scan::tables::cells;
use crate::agents::scan::tech::technologies;
use crate::agents::scan::texts::Text;

/// Reads the facts of a page that answered at `url`.
#[must_use]
pub fn extract(url: &Url, reply: &Reply, page: &Document) -> PageFacts {
    let outline = outline(&page.passed.tree);
    let base = base(url, page);
    let Structured { types, offers } = structured(&outline);
    let mut facts = PageFacts {
        url: url.to_string(),
        host: host(url),
        status: reply.status,
        schema: types,
        offers,
        ..PageFacts::default()
    };
    head(&mut facts, url, &base, reply, page);
    link_facts(&mut facts, url, &base, &outline);
    facts.posts = posts(&outline.links, url, &base);
    facts.tech = technologies(&base, &generators(page), &outline.resources, reply);
    facts.size = Size {
        words: page.facts.text.words,
        bytes: reply.body.len(),
        wire_bytes: reply.wire_bytes,
        first_byte_ms: u64::try_from(reply.timing.first_byte.as_millis()).unwrap_or(u64::MAX),
        requests: outline.requests,
        compression: reply.coding.clone(),
    };
    let blocks: Vec<(Block, Text)> = outline.blocks.into_iter().map(read).collect();
    body(&mut facts, page, &blocks, url, &base);
    facts
}

/// Reads the text of a block: all of a heading, the prose of anything else.
fn read(block: Block) -> (Block, Text) {
    let text = Text::of(if block.level().is_some() { &block.all } else { &block.prose });
    (block, text)
}

/// The address that links are resolved against.
fn base(url: &Url, page: &Document) -> Url {
    let written = page.facts.base.as_deref().and_then(|it| url.join(it.trim()).ok());
    written.filter(|it| matches!(it.scheme(), "http" | "https")).unwrap_or_else(|| url.clone())
}

/// The host of an address, without `www`.
#[must_use]
pub fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn head(facts: &mut PageFacts, url: &Url, base: &Url, reply: &Reply, page: &Document) {
    let found = &page.facts;
    let meta = |name: &str| {
        let named = found.metas.iter().find(|it| it.part == Part::Head && it.name == name);
        named.map(|it| it.content.as_str()).unwrap_or_default()
    };
    facts.title = Text::of(without_counter(found.title().map_or("", |it| it.text.as_str())));
    facts.description = Text::of(meta("description"));
    facts.og_description = Text::of(&property(page, "og:description"));
    let lang = found.lang.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
    facts.lang = lang.split(['-', '_']).next().unwrap_or_default().to_owned();
    let metas = found.metas.iter().filter(|it| it.part == Part::Head);
    let tags = metas.filter(|it| it.name == "robots" || it.name == "googlebot");
    let lines = tags.map(|it| it.content.as_str()).chain(reply.headers("x-robots-tag"));
    let directives = lines.flat_map(|it| it.split(',')).map(|it| it.trim().to_ascii_lowercase());
    facts.robots = directives
        .filter(|it| !DEFAULT_ROBOTS.iter().any(|default| it.starts_with(default)))
        .filter(|it| !it.is_empty())
        .take(LIST_MAX)
        .collect();
    let in_head = || found.links.iter().filter(|it| it.part == Part::Head);
    let canonical = in_head().find(|it| it.is("canonical")).and_then(|it| it.href.as_deref());
    let canonical = canonical.and_then(|it| base.join(it.trim()).ok());
    facts.canonical = canonical.map(|it| canonical_of(&it, url)).unwrap_or_default();
    for link in in_head().filter(|it| it.is("alternate")) {
        if let Some(lang) = link.hreflang.as_deref().filter(|_| facts.alternates.len() < LIST_MAX) {
            facts.alternates.insert(lang.trim().to_ascii_lowercase());
        }
        let kind = page.passed.tree.node(link.node).and_then(|it| it.attribute("type"));
        let is_feed = kind.is_some_and(|it| it.contains("rss+xml") || it.contains("atom+xml"));
        let address = link.href.as_deref().and_then(|it| base.join(it.trim()).ok());
        facts.feeds.extend(address.filter(|_| is_feed && facts.feeds.len() < 5).map(String::from));
    }
    meta_offer(facts, page);
}

/// The canonical address; empty when it is the page's own.
fn canonical_of(canonical: &Url, url: &Url) -> String {
    let place = |it: &Url| format!("{}{}", host(it), it.path().trim_end_matches('/'));
    if place(canonical) == place(url) { String::new() } else { place(canonical) }
}

/// The price that a page names for social networks.
fn meta_offer(facts: &mut PageFacts, page: &Document) {
    for prefix in ["product:price:", "og:price:"] {
        let amount = property(page, &format!("{prefix}amount"));
        if let Some(mut price) = Price::parse(&amount) {
            price.currency = property(page, &format!("{prefix}currency"));
            let (plan, label) = (String::new(), String::new());
            facts.offers.push(Offer { plan, label, price, origin: Origin::Meta });
            return;
        }
    }
}

/// The content of a `meta` element with a property.
fn property(page: &Document, name: &str) -> String {
    let tree = &page.passed.tree;
    let nodes = page.facts.metas.iter().filter_map(|it| tree.node(it.node));
    let mut named = nodes.filter(|it| {
        ["property", "name"].iter().any(|key| it.attribute(key).is_some_and(|it| it == name))
    });
    let found = named.next().and_then(|it| it.attribute("content"));
    found.unwrap_or_default().trim().to_owned()
}

/// `(3) Title` is the title with three unread messages.
fn without_counter(title: &str) -> &str {
    let rest = title.trim().strip_prefix(['(', '[']).unwrap_or_default();
    let rest = rest.trim_start_matches(|it: char| it.is_ascii_digit() || it == '+');
    rest.strip_prefix([')', ']']).map_or_else(|| title.trim(), str::trim)
}

fn generators(page: &Document) -> Vec<String> {
    let metas = page.facts.metas.iter().filter(|it| it.name == "generator");
    metas.map(|it| it.content.trim().to_ascii_lowercase()).take(LIST_MAX).collect()
}

fn link_facts(facts: &mut PageFacts, url: &Url, base: &Url, outline: &Outline) {
    for link in &outline.links {
        let address = link.href.as_deref().and_then(|it| target(base, it));
        if let Some(profile) = address.as_ref().and_then(is_social) {
            facts.socials.insert(profile);
            continue;
        }
        let text = Text::of(&link.text);
        if text.is_empty() {
            continue;
        }
        let path = address.as_ref().map(|it| place_of(it, url)).unwrap_or_default();
        let zone = link.zone;
        let is_short = text.shown.chars().count() < CALL_CHARS_MAX;
        let lower = text.lower();
        let calls =
            link.is_call || (zone == Zone::Main && CALLS.iter().any(|it| begins(&lower, it)));
        let to = if calls && is_short && zone != Zone::Footer {
            &mut facts.calls
        } else if zone == Zone::Nav && is_short {
            &mut facts.nav
        } else {
            &mut facts.links
        };
        if to.len() < LINKS_MAX && !to.iter().any(|it: &LinkFact| it.text.key == text.key) {
            to.push(LinkFact { text, path, zone });
        }
    }
}

/// Whether a text begins with a call, as whole words.
fn begins(lower: &str, call: &str) -> bool {
    lower.starts_with(call) && has(lower, call)
}

fn body(facts: &mut PageFacts, page: &Document, blocks: &[(Block, Text)], url: &Url, base: &Url) {
    let tree = &page.passed.tree;
    let cells = cells(tree);
    let cards = Cards::of(tree, blocks, &cells);
    facts.offers.extend(cards.offers());
    facts.plans = cards.plans().iter().map(|it| Text::of(it)).collect();
    facts.releases = releases(blocks);
    let posts: BTreeSet<String> = facts.posts.iter().map(|it| Text::of(&it.title).key).collect();
    let mut has_main_heading = false;
    for (block, text) in blocks {
        let place = cards.place(block);
        let leads_to = block.href.as_deref().and_then(|it| target(base, it));
        let is_post = leads_to
            .is_some_and(|it| facts.posts.iter().any(|post| post.path == place_of(&it, url)));
        if text.is_empty() || posts.contains(&text.key) || (is_post && block.level().is_some()) {
            continue;
        }
        if let Some(level) = block.level() {
            has_main_heading |= level == 1;
            let zone = block.zone;
            facts.headings.push(Heading { level, text: text.clone(), plan: place.plan, zone });
            continue;
        }
        if block.zone == Zone::Nav {
            continue;
        }
        if has_main_heading && facts.lead.is_empty() && &*block.tag == "p" {
            facts.lead = text.clone();
        }
        facts.segments.push(Segment {
            text: text.clone(),
            tag: block.tag.to_string(),
            label: place.label.unwrap_or_else(|| block.label.clone()),
            plan: place.plan,
            in_offer: place.in_offer,
            zone: block.zone,
        });
    }
}

/// Directives that change nothing.
const DEFAULT_ROBOTS: [&str; 7] = [
    "index",
    "follow",
    "all",
    "max-image-preview:large",
    "max-snippet:-1",
    "max-video-preview:-1",
    "noodp",
];
/// Entries of a list of the head.
const LIST_MAX: usize = 100;
/// Links of one kind.
const LINKS_MAX: usize = 600;
/// Characters of a call.
const CALL_CHARS_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::media::Kind;
    use crate::agents::parsers::Patience;

    #[track_caller]
    fn check_price(html: &str, expected: &str) {
        let html = format!("<div class=plan><h3>Crew</h3><p>{html}</p></div>");
        let page = Document::read(html.as_bytes(), Some("utf-8"), Kind::Html, &Patience::endless());
        let url = Url::parse("https://site.example/").unwrap();
        let facts = extract(&url, &Reply::default(), &page);
        let prices: Vec<String> = facts.offers.iter().map(|it| it.price.to_string()).collect();
        assert_eq!(prices, [expected], "{html}");
    }

    #[test]
    fn raised_digits_are_cents_or_a_footnote() {
        check_price("$29<sup>99</sup> / month", "29.99 USD / month");
        check_price("<sup>$</sup>29<sup><span>99</span></sup>", "29.99 USD");
        check_price("$29<sup>1</sup>", "29 USD");
        check_price("$29.50<sup>12</sup>", "29.50 USD");
        check_price("29<sup>99</sup> €", "29.99 EUR");
    }
}
