//! What a scan knows of one page: what it offers and how it presents itself.
//!
//! Addresses of pictures and scripts, class names, attributes and their order never get in, so
//! that they can never be a change.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::agents::scan::price::Price;
use crate::agents::scan::texts::Text;

/// The facts of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFacts {
    /// The address that answered.
    pub url: String,
    /// Its host, without `www`.
    pub host: String,
    /// Its status.
    pub status: u16,
    /// The title.
    pub title: Text,
    /// The description for search engines.
    pub description: Text,
    /// The description for social networks.
    pub og_description: Text,
    /// The first paragraph under the main heading.
    pub lead: Text,
    /// The headings, outside of lists of articles.
    pub headings: Vec<Heading>,
    /// The declared language, without its region.
    pub lang: String,
    /// The languages that alternatives are offered in.
    pub alternates: BTreeSet<String>,
    /// The directives for robots that are not the default.
    pub robots: BTreeSet<String>,
    /// The canonical address, made complete; empty for none or its own.
    pub canonical: String,
    /// The links of the main menu.
    pub nav: Vec<LinkFact>,
    /// Links and buttons that want something from the visitor.
    pub calls: Vec<LinkFact>,
    /// Articles that are linked.
    pub posts: Vec<Post>,
    /// Other links.
    pub links: Vec<LinkFact>,
    /// Profiles on social networks.
    pub socials: BTreeSet<String>,
    /// What is on offer, with a price.
    pub offers: Vec<Offer>,
    /// The names of plans or products.
    pub plans: Vec<Text>,
    /// Everything else that is said, one entry a block.
    pub segments: Vec<Segment>,
    /// Versions of a product: major and minor.
    pub releases: BTreeSet<String>,
    /// Types of structured data.
    pub schema: BTreeSet<String>,
    /// What the page is made with.
    pub tech: BTreeSet<Tech>,
    /// Addresses of feeds.
    pub feeds: Vec<String>,
    /// What was measured; never a change.
    pub size: Size,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// What it says.
    pub text: Text,
    /// The plan whose card it stands in.
    pub plan: Option<String>,
    /// The part of the page.
    pub zone: Zone,
}

/// A part of a page.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// Where the content is.
    #[default]
    Main,
    /// The menu.
    Nav,
    /// Beside the content.
    Aside,
    /// The end of the page.
    Footer,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFact {
    /// What it says.
    pub text: Text,
    /// Where it leads: a path on this host, or a host and a path; without query.
    pub path: String,
    /// The part of the page.
    pub zone: Zone,
}

/// An article.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Its path, or its id in a feed.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its date, `2026-11-20`, when it is known.
    pub date: Option<String>,
}

/// Something with a price.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offer {
    /// The plan or product; empty when it is not clear.
    pub plan: String,
    /// What the price is for, within the plan.
    pub label: String,
    /// The price.
    pub price: Price,
    /// Where it stands.
    pub origin: Origin,
}

/// Where an offer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In the text.
    Text,
    /// In JSON-LD.
    JsonLd,
    /// In attributes of elements.
    Microdata,
    /// In `meta` elements.
    Meta,
}

/// A block of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// What it says.
    pub text: Text,
    /// The element that holds it.
    pub tag: String,
    /// The heading, question or row above it.
    pub label: String,
    /// The plan whose card or column it stands in.
    pub plan: Option<String>,
    /// Whether it stands among prices.
    pub in_offer: bool,
    /// The part of the page.
    pub zone: Zone,
}

/// A technology.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tech {
    /// Its name.
    pub name: String,
    /// Its category.
    pub category: String,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Words of the text.
    pub words: usize,
    /// Bytes of the page.
    pub bytes: usize,
    /// Bytes as they were sent.
    pub wire_bytes: usize,
    /// Milliseconds until the first byte.
    pub first_byte_ms: u64,
    /// Scripts, style sheets, pictures and frames that are asked for.
    pub requests: usize,
    /// How it was compressed.
    pub compression: Option<String>,
}

impl PageFacts {
    /// The main heading.
    #[must_use]
    pub fn main_heading(&self) -> Option<&Text> {
        self.headings.iter().find(|it| it.level == 1).map(|it| &it.text)
    }

    /// The offers that stand in the text.
    pub fn text_offers(&self) -> impl Iterator<Item = &Offer> {
        self.offers.iter().filter(|it| it.origin == Origin::Text)
    }
}
