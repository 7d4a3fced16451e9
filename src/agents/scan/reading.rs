//! A page that answered: whether it can be used, and what it says.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::fetch::Visit;
use crate::agents::page::media::{Kind as Media, MediaType, kind};
use crate::agents::page::reply::Reply;
use crate::agents::parsers::Patience;
use crate::agents::scan::change::{Change, Diff, Kind};
use crate::agents::scan::compare::compare;
use crate::agents::scan::extract::extract;
use crate::agents::scan::facts::PageFacts;
use crate::agents::scan::memory::hash;
use crate::agents::scan::reduce::reduce;
use crate::agents::scan::usable::{Usability, usability};

/// A page that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The address that answered.
    pub url: Url,
    /// Its status.
    pub status: u16,
    /// What it says; none for what is no page.
    pub facts: Option<PageFacts>,
    /// Whether it is the page itself.
    pub usability: Usability,
    /// The page without what is never looked at, from which it can be read again.
    pub source: String,
}

impl Reading {
    /// Reads an answer.
    ///
    /// Takes a while: this is work for a [`Parsers`](crate::agents::parsers::Parsers).
    #[must_use]
    pub fn of(visit: &Visit, patience: &Patience) -> Self {
        let reply = &visit.reply;
        let media = reply.header("content-type").and_then(MediaType::parse);
        let media_kind = kind(media.as_ref(), &reply.body);
        let label = media.as_ref().and_then(|it| it.charset.as_deref());
        let page = (media_kind != Media::Other && !reply.body.is_empty())
            .then(|| Document::read(&reply.body, label, media_kind, patience));
        let facts = page.as_ref().map(|it| extract(&visit.url, reply, it));
        let source = page.as_ref().map(|it| reduce(&it.passed.tree)).unwrap_or_default();
        Self {
            url: visit.url.clone(),
            status: reply.status,
            usability: usability(reply, facts.as_ref()),
            facts,
            source,
        }
    }

    /// Reads a page again from what was kept of it, by the rules of today.
    #[must_use]
    pub fn again(earlier: &PageFacts, source: &str, patience: &Patience) -> Option<PageFacts> {
        let url = Url::parse(&earlier.url).ok()?;
        let reply = Reply { status: earlier.status, ..Reply::default() };
        let page = Document::read(source.as_bytes(), Some("utf-8"), Media::Html, patience);
        let facts = extract(&url, &reply, &page);
        let size = earlier.size.clone();
        Some(PageFacts {
            tech: earlier.tech.clone(),
            robots: earlier.robots.clone(),
            size,
            ..facts
        })
    }

    /// The facts, when this is the page itself.
    #[must_use]
    pub fn page(&self) -> Option<&PageFacts> {
        self.facts.as_ref().filter(|_| self.usability == Usability::Usable)
    }

    /// What changed since `before`; nothing when this cannot be compared.
    #[must_use]
    pub fn changed_since(&self, before: &PageFacts, patience: &Patience) -> Option<Diff> {
        match self.usability {
            Usability::Missing | Usability::Gone => {
                let (old, new) =
                    (format!("status {}", before.status), format!("status {}", self.status));
                let mut diff = Diff::default();
                if before.status != self.status {
                    diff.push(Change::new(Kind::Status, Some(&old), Some(&new)));
                }
                Some(diff)
            }
            Usability::Usable => {
                let facts = self.facts.as_ref()?;
                (!self.is_rest_of(before)).then(|| compare(before, facts, patience))
            }
            Usability::Challenge | Usability::Degraded(_) => None,
        }
    }

    /// Whether this is a page with less than a fifth of the words that it had.
    #[must_use]
    pub fn is_rest_of(&self, before: &PageFacts) -> bool {
        self.page().is_some_and(|it| it.size.words.saturating_mul(5) < before.size.words)
    }

    /// What changed since `before` on a page of which most is gone; nothing when it is no page.
    #[must_use]
    pub fn rest_since(&self, before: &PageFacts, patience: &Patience) -> Option<Diff> {
        let facts = self.page()?;
        let old = format!("{} words", before.size.words);
        let new = format!("{} words: most of the page is gone", facts.size.words);
        let mut diff = compare(before, facts, patience);
        diff.changes.insert(0, Change::new(Kind::Status, Some(&old), Some(&new)));
        Some(diff)
    }

    /// What it says, as a number; the same for pages that differ in noise only.
    #[must_use]
    pub fn says(&self) -> u64 {
        let Some(facts) = &self.facts else { return 0 };
        let headings = facts.headings.iter().map(|it| it.text.key.as_str());
        let segments = facts.segments.iter().map(|it| it.text.key.as_str());
        let mut texts: Vec<&str> = headings.chain(segments).chain([&*facts.title.key]).collect();
        texts.sort_unstable();
        hash(&texts)
    }
}
