//! What else was asked besides the page itself, and what it answered.

use url::Url;

use crate::agents::seo::sitemap::Found as SitemapFound;
use crate::agents::seo::target::Target;

/// Everything else that was asked. What was not wanted, or not reached, is missing here.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The canonical address, when it is another.
    pub canonical: Option<TargetAnswer>,
    /// An address that cannot exist, to compare an error message with.
    pub missing: Option<TargetAnswer>,
    /// The sitemaps of the host.
    pub sitemaps: Option<Sitemaps>,
    /// Versions in other languages, as far as they were asked.
    pub translations: Vec<(Url, TargetAnswer)>,
    /// Where links to pages of the same host lead, as far as they were asked.
    pub links: Vec<(Url, TargetAnswer)>,
    /// The home page of the host, asked as the links were when none of them led anywhere.
    pub home: Option<TargetAnswer>,
    /// The image of the preview.
    pub image: Option<(Url, TargetAnswer)>,
    /// The icon at its usual place, when the page names none.
    pub icon: Option<TargetAnswer>,
    /// The file `/llms.txt`.
    pub llms: Option<FileAnswer>,
    /// What was left out because of a limit, as fragments.
    pub limits: Vec<String>,
}

/// What another address answered that the page leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetAnswer {
    /// An answer, redirects included.
    Answered(Box<Target>),
    /// Nothing; the fragment says why.
    Failed(String),
    /// It was not asked; the fragment says why.
    NotAsked(&'static str),
}

/// What an address answered that may be a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAnswer {
    /// A file, or the beginning of one.
    Text(String),
    /// A status other than success.
    Status(u16),
    /// Nothing; the fragment says why.
    Failed(String),
    /// It was not asked; the fragment says why.
    NotAsked(&'static str),
}

/// What was found in the sitemaps of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemaps {
    /// The files that were asked, with what came of each.
    pub files: Vec<(Url, SitemapAnswer)>,
    /// Whether robots.txt named them; otherwise the usual place was tried.
    pub are_named: bool,
    /// Whether there are more files than were asked.
    pub has_more: bool,
}

/// What came of a sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SitemapAnswer {
    /// A sitemap.
    Read(SitemapFound),
    /// A status other than success.
    Status(u16),
    /// It cannot be read; the sentence says why.
    Broken(String),
    /// Nothing came; the fragment says why.
    Failed(String),
    /// It was not asked; the fragment says why.
    NotAsked(&'static str),
}
