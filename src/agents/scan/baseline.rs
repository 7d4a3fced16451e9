//! What a schedule keeps of its last report: the facts that the next scan is compared with.
//!
//! The form is this agent's own: a mark, then compressed JSON. What cannot be read counts as
//! none, and the report says why.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

use crate::agents::parsers::Patience;
use crate::agents::scan::RULES_VERSION;
use crate::agents::scan::facts::{PageFacts, Post};
use crate::agents::scan::memory::Memory;
use crate::agents::scan::reading::Reading;
use crate::agents::scan::roles::Role;
use crate::domain::limits::BASELINE_BYTES_MAX;

/// What a schedule keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The version of the rules that read the facts.
    pub rules_version: u32,
    /// The input that it belongs to.
    pub input: String,
    /// When something was last reported.
    pub reported_at: String,
    /// Scans so far.
    pub scans: u32,
    /// The sites.
    pub sites: Vec<SiteBase>,
}

/// What is kept of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteBase {
    /// The address that was named.
    pub url: String,
    /// Scans in a row that could not read it.
    pub failures: u32,
    /// Whether it was reported as unreachable.
    pub told_unreachable: bool,
    /// Its pages, as they were last reported.
    pub pages: Vec<PageBase>,
    /// The entries of its feed.
    pub feed: Vec<Post>,
    /// What is remembered of later scans.
    pub memory: Memory,
    /// Pages that the rules of today could not read again; of this scan only.
    #[serde(skip)]
    pub lost: usize,
}

/// What is kept of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageBase {
    /// What it is for.
    pub role: Role,
    /// The address that is asked.
    pub url: String,
    /// Its facts.
    pub facts: PageFacts,
    /// The page itself, reduced, for rules of later versions; empty when it is too large.
    pub source: String,
    /// What was left of it in the last scans, when that was little.
    #[serde(default)]
    pub rest: Rest,
}

/// A page of which most was missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// Scans in a row that found so little.
    pub scans: u32,
    /// What it said last.
    says: u64,
}

impl Rest {
    /// Whether the last scan found the same little.
    #[must_use]
    pub fn is(&self, reading: &Reading) -> bool {
        self.scans > 0 && self.says == reading.says()
    }

    /// Adds what a scan found.
    pub fn add(&mut self, reading: &Reading) {
        *self = Self { scans: self.scans.saturating_add(1), says: reading.says() };
    }
}

/// What a scan has to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Past {
    /// Nothing: it is the first.
    None,
    /// Nothing any more, for this reason: a sentence.
    Reset(&'static str),
    /// This.
    Known(Box<Baseline>),
}

impl Baseline {
    /// The form in which it is stored, never longer than it may be.
    ///
    /// The largest pages lose their source first; that costs comparability across versions only.
    #[must_use]
    pub fn encode(mut self) -> Option<Vec<u8>> {
        for _ in 0..PAGES_MAX {
            let bytes = self.compressed()?;
            if bytes.len() <= BASELINE_BYTES_MAX {
                return Some(bytes);
            }
            let pages = self.sites.iter_mut().flat_map(|it| &mut it.pages);
            pages.max_by_key(|it| it.source.len())?.source.clear();
        }
        None
    }

    fn compressed(&self) -> Option<Vec<u8>> {
        let json = serde_json::to_vec(self).ok()?;
        let mut encoder = ZlibEncoder::new(MARK.to_vec(), Compression::default());
        encoder.write_all(&json).ok()?;
        encoder.finish().ok()
    }

    /// Reads what was stored, for a scan with `input`.
    #[must_use]
    pub fn decode(stored: Option<&[u8]>, input: &str) -> Past {
        let Some(stored) = stored else { return Past::None };
        let Some(bytes) = stored.strip_prefix(MARK) else {
            return Past::Reset("Nothing was compared: the last scan was kept in another form.");
        };
        let mut json = Vec::new();
        let read = ZlibDecoder::new(bytes).take(JSON_BYTES_MAX).read_to_end(&mut json);
        let baseline = read.ok().and_then(|_| serde_json::from_slice::<Self>(&json).ok());
        match baseline {
            Some(it) if it.input == input => Past::Known(Box::new(it)),
            Some(_) => {
                Past::Reset("Nothing was compared: the sites to scan are others than last time.")
            }
            None => Past::Reset("Nothing was compared: the last scan could not be read."),
        }
    }

    /// Reads every page again when the rules have changed since; counts what could not be.
    pub fn renew(&mut self, patience: &Patience) {
        if self.rules_version == RULES_VERSION {
            return;
        }
        self.rules_version = RULES_VERSION;
        for site in &mut self.sites {
            site.pages.retain_mut(|page| {
                let again = Some(&page.source).filter(|it| !it.is_empty());
                let again = again.and_then(|it| Reading::again(&page.facts, it, patience));
                // What was read in a hurry may be half a page.
                let again = again.filter(|_| !patience.is_over());
                site.lost += usize::from(again.is_none());
                again.map(|it| page.facts = it).is_some()
            });
        }
    }

    /// Pages that [`renew`](Self::renew) could not read.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.sites.iter().map(|it| it.lost).sum()
    }
}

/// The first bytes: the agent and the version of the form.
const MARK: &[u8] = b"scan-1\n";
/// Bytes of the JSON text.
const JSON_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Pages of all sites.
const PAGES_MAX: usize = 6 * 4 + 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(source: String) -> Baseline {
        let url = "https://a.example/".to_owned();
        let facts = PageFacts { url: url.clone(), status: 200, ..PageFacts::default() };
        let page =
            PageBase { role: Role::Entry, url: url.clone(), facts, source, rest: Rest::default() };
        let site = SiteBase { url, pages: vec![page], ..SiteBase::default() };
        Baseline {
            rules_version: RULES_VERSION,
            input: "{}".to_owned(),
            reported_at: String::new(),
            scans: 1,
            sites: vec![site],
        }
    }

    #[test]
    fn what_is_stored_can_be_read_for_the_same_input_only() {
        let kept = baseline("<p>x".to_owned());
        let bytes = kept.clone().encode().unwrap();
        assert_eq!(Baseline::decode(Some(&bytes), "{}"), Past::Known(Box::new(kept)));
        assert!(matches!(Baseline::decode(Some(&bytes), "{1}"), Past::Reset(_)));
        assert_eq!(Baseline::decode(None, "{}"), Past::None);
        for broken in [&b""[..], b"scan-1\n", b"scan-0\nx", &bytes[..bytes.len() / 2]] {
            assert!(matches!(Baseline::decode(Some(broken), "{}"), Past::Reset(_)));
        }
    }

    #[test]
    fn pages_are_read_again_when_the_rules_have_changed() {
        let mut kept = baseline("<title>Boats</title><p>x".to_owned());
        kept.rules_version = 0;
        kept.renew(&Patience::endless());
        assert_eq!(kept.lost(), 0);
        assert_eq!(kept.sites[0].pages[0].facts.title.shown, "Boats");
        let mut without = baseline(String::new());
        without.rules_version = 0;
        without.renew(&Patience::endless());
        assert_eq!(without.lost(), 1);
        assert!(without.sites[0].pages.is_empty());
    }
}
