//! What a page says that another page leads to: enough to judge the way, not a whole audit.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::media::{Kind, MediaType, kind};
use crate::agents::page::reply::Reply;
use crate::agents::parsers::Patience;
use crate::agents::seo::checks::{canonical, hreflang};
use crate::agents::seo::indexing::GOOGLE;
use crate::agents::seo::robots_tags::tags;
use crate::agents::seo::subject::{Fetched, Reading, Subject};
use crate::domain::time::Timestamp;

/// What an address answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The status.
    pub status: u16,
    /// Where a redirect leads, as written.
    pub location: Option<String>,
    /// The page, when it is one and was read.
    pub page: Option<TargetPage>,
}

/// What a page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetPage {
    /// Whether it asks Google not to index it.
    pub is_blocked: bool,
    /// The address it names in its place, its own included.
    pub canonical: Option<Url>,
    /// The addresses of its translations.
    pub translations: Vec<Url>,
    /// What its main text is made of; see [`likeness`].
    pub shingles: Vec<u64>,
}

impl Target {
    /// An answer of which only the head matters.
    #[must_use]
    pub fn of_head(reply: &Reply) -> Self {
        let location = reply.header("location").map(str::to_owned);
        Self { status: reply.status, location, page: None }
    }

    /// Reads an answer that may be a page.
    #[must_use]
    pub fn read(url: &Url, reply: &Reply, now: Timestamp, patience: &Patience) -> Self {
        let media = reply.header("content-type").and_then(MediaType::parse);
        let label = media.as_ref().and_then(|it| it.charset.as_deref());
        let kind = kind(media.as_ref(), &reply.body);
        let head = Self::of_head(reply);
        if kind == Kind::Other || (300..400).contains(&reply.status) {
            return head;
        }
        let page = Document::read(&reply.body, label, kind, patience);
        let fetched = Fetched::alone(url.clone(), reply.clone(), now);
        let subject = Subject::new(fetched, Reading::Page(Box::new(page)));
        let Some(page) = subject.document() else { return head };
        let mut tags = tags(&subject, page).into_iter().filter(|it| it.is_for(GOOGLE));
        let page = TargetPage {
            is_blocked: tags.any(|it| it.directive.blocks(now)),
            canonical: canonical::address(&subject, page),
            translations: hreflang::addresses(&subject, page),
            shingles: shingles(&subject.content.text),
        };
        Self { page: Some(page), ..head }
    }
}

/// The runs of three words in a text, as sorted hashes, each once.
///
/// Numbers count as one word, because error messages often repeat the address or a time.
#[must_use]
pub fn shingles(text: &str) -> Vec<u64> {
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let words: Vec<u64> = words
        .take(WORDS_MAX)
        .map(|it| if is_number(it) { 0 } else { hash(it.to_lowercase().bytes()) })
        .collect();
    let run = |it: &[u64]| hash(it.iter().flat_map(|it| it.to_le_bytes()));
    let mut found: Vec<u64> = match words.len() {
        0 => Vec::new(),
        1..SHINGLE_WORDS => vec![run(&words)],
        _ => words.windows(SHINGLE_WORDS).map(run).collect(),
    };
    found.sort_unstable();
    found.dedup();
    found
}

/// How much of the smaller of two texts is in the other, in percent.
#[must_use]
pub fn likeness(one: &[u64], other: &[u64]) -> u32 {
    let (small, large) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if small.is_empty() {
        return if large.is_empty() { 100 } else { 0 };
    }
    let shared = small.iter().filter(|it| large.binary_search(it).is_ok()).count();
    let percent = shared.saturating_mul(100).checked_div(small.len()).unwrap_or_default();
    u32::try_from(percent).unwrap_or(100)
}

/// FNV-1a: short, stable between versions, and nothing secret depends on it.
#[must_use]
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Words of a run.
const SHINGLE_WORDS: usize = 3;
/// Words of a text that are looked at.
const WORDS_MAX: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_message_is_recognised_with_other_numbers() {
        let like = |a: &str, b: &str| likeness(&shingles(a), &shingles(b));
        assert_eq!(like("Not found: error 17 in /a/1", "Not found: error 4 in /a/2!"), 100);
        assert_eq!(like("", ""), 100);
        assert_eq!(like("", "one two three"), 0);
        assert_eq!(like("one two three four", "five six seven eight"), 0);
        assert!((40..70).contains(&like("one two three four", "one two three five six")));
    }
}
