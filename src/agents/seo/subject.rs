//! What an audit is about: the exchange, the robots.txt, and the page if there is one.

use std::time::Duration;

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::facts::{Anchor, Facts};
use crate::agents::page::fetch::Visit;
use crate::agents::page::reply::Reply;
use crate::agents::page::robots::{AnswerKind, RobotsAnswer};
use crate::agents::page::tree::{NodeId, Span};
use crate::agents::page::xml::Malformed;
use crate::agents::seo::around::Around;
use crate::agents::seo::content::Content;
use crate::agents::seo::finding::{EXCERPT_CHARS_MAX, Evidence};
use crate::agents::seo::items::Items;
use crate::agents::seo::trace;
use crate::domain::time::Timestamp;

/// What was fetched for one audit.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The page's answer.
    pub visit: Visit,
    /// Time to the first byte when the page was asked a second time, because the first was slow.
    pub second_first_byte: Option<Duration>,
    /// The robots.txt of the final host.
    pub robots: RobotsAnswer,
    /// What else was asked.
    pub around: Around,
    /// When it was fetched.
    pub at: Timestamp,
}

/// What the checks look at.
#[derive(Debug)]
pub struct Subject {
    /// What was fetched.
    pub fetched: Fetched,
    /// What came of reading it.
    pub reading: Reading,
    /// The page's text and what it loads; nothing when there is no page.
    pub content: Content,
    /// The things that the page describes for programs.
    pub items: Items,
    /// What relative addresses on the page are relative to.
    base: Url,
    /// Where the links of the page lead, in their order; none for what is no address.
    targets: Vec<Option<Url>>,
}

/// What came of reading a page.
#[derive(Debug)]
pub enum Reading {
    /// A page.
    Page(Box<Document>),
    /// The page of an error status; its content does not count.
    ErrorStatus,
    /// XHTML that is not well-formed, so that browsers show nothing of it.
    NotWellFormed {
        /// The mistake.
        mistake: Malformed,
        /// Its line, from 1.
        line: u32,
        /// The character in the line, from 1.
        column: u32,
        /// The source there.
        excerpt: String,
    },
}

impl Fetched {
    /// One answer and nothing else.
    #[must_use]
    pub fn alone(url: Url, reply: Reply, at: Timestamp) -> Self {
        let robots =
            RobotsAnswer { kind: AnswerKind::NotAsked, url: url.clone(), took: Duration::ZERO };
        let visit = Visit { asked: url.clone(), hops: Vec::new(), url, reply };
        Self { visit, second_first_byte: None, robots, around: Around::default(), at }
    }
}

impl Subject {
    /// Puts together what was fetched and what came of reading it.
    #[must_use]
    pub fn new(fetched: Fetched, reading: Reading) -> Self {
        let base = fetched.visit.url.clone();
        let (content, items) = (Content::default(), Items::default());
        let mut subject = Self { fetched, reading, content, items, base, targets: Vec::new() };
        if let Some(page) = subject.document() {
            (subject.content, subject.items) = (Content::of(page), Items::of(page));
        }
        if let Some(facts) = subject.facts() {
            let written = facts.base.as_deref().and_then(|it| subject.base.join(it.trim()).ok());
            // Source: HTML standard, section 4.2.3: others are as if there were none.
            let written = written.filter(|it| !matches!(it.scheme(), "data" | "javascript"));
            let base = written.unwrap_or_else(|| subject.base.clone());
            let target = |it: &Anchor| base.join(it.href.as_deref()?.trim()).ok();
            let targets = facts.anchors.iter().map(target).collect();
            (subject.base, subject.targets) = (base, targets);
        }
        subject
    }

    /// The address that answered.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.fetched.visit.url
    }

    /// The page, when there is one.
    #[must_use]
    pub fn document(&self) -> Option<&Document> {
        match &self.reading {
            Reading::Page(document) => Some(document),
            Reading::ErrorStatus | Reading::NotWellFormed { .. } => None,
        }
    }

    /// What the page says, when there is one.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        self.document().map(|it| &it.facts)
    }

    /// An address on the page, made complete: against its `base`, then its own address.
    ///
    /// `None` when it is not an address at all.
    #[must_use]
    pub fn resolve(&self, href: &str) -> Option<Url> {
        self.base.join(href.trim()).ok()
    }

    /// The links of the page that have an address, and where it leads: none for what is none.
    pub fn targets(&self) -> impl Iterator<Item = (&Anchor, Option<&Url>)> {
        let anchors = self.facts().map(|it| it.anchors.as_slice()).unwrap_or_default();
        let both = anchors.iter().zip(self.targets.iter().map(Option::as_ref));
        both.filter(|(anchor, _)| anchor.href.is_some())
    }
}

/// Evidence at an element: its place, its path, its source up to the closing tag.
#[must_use]
pub fn at_element(page: &Document, id: NodeId) -> Evidence {
    let selector = Some(page.selector(id));
    let excerpt = page.element(id, EXCERPT_CHARS_MAX);
    let key = trace::key(page, id);
    match page.span(id) {
        Some(span) => Evidence { selector, excerpt, key, ..at_span(page, span) },
        None => Evidence { selector, key, ..Evidence::default() },
    }
}

/// Evidence at a start tag, of which nothing but the tag is shown.
#[must_use]
pub fn at_tag(page: &Document, id: NodeId) -> Evidence {
    let excerpt = Some(page.tag(id, EXCERPT_CHARS_MAX)).filter(|it| !it.is_empty());
    Evidence { excerpt, ..at_element(page, id) }
}

/// Evidence at a place in the source.
#[must_use]
pub fn at_span(page: &Document, span: Span) -> Evidence {
    let place = page.place(span.start);
    Evidence {
        line: Some(place.line),
        column: Some(place.column),
        excerpt: Some(page.excerpt(span, EXCERPT_CHARS_MAX)),
        ..Evidence::default()
    }
}

/// Whether an address is of this machine or of a private network, which no visitor can reach.
#[must_use]
pub fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => is_local_name(name),
        Some(url::Host::Ipv4(ip)) => is_private(ip.into()),
        Some(url::Host::Ipv6(ip)) => is_private(ip.into()),
        None => false,
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || LOCAL_SUFFIXES.iter().any(|it| name.ends_with(it))
}

fn is_private(ip: std::net::IpAddr) -> bool {
    crate::domain::address::judge(ip) != crate::domain::address::Verdict::Public
}

/// Endings of names that exist in one machine or network only.
const LOCAL_SUFFIXES: [&str; 6] =
    [".localhost", ".local", ".internal", ".home.arpa", ".lan", ".localdomain"];
