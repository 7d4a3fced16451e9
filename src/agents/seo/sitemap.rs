//! Reads a sitemap: which addresses it lists, and whether one page is among them.
//!
//! XML, or plain text with one address a line. Namespaces and extensions are passed over; what is
//! not well-formed is said to be so. Source: sitemaps.org, protocol 0.9.

use url::Url;

use crate::agents::page::lines::Lines;
use crate::agents::page::xml;

/// What stands in a sitemap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What kind of file it is.
    pub kind: FileKind,
    /// Addresses in it.
    pub entries: usize,
    /// Addresses of the page's host in it.
    pub of_host: usize,
    /// The page's own entry: its `lastmod`, empty when it has none.
    pub own: Option<String>,
    /// For an index: the first sitemaps in it.
    pub children: Vec<Url>,
    /// The newest `lastmod`.
    pub newest: Option<String>,
}

/// The kinds of file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileKind {
    /// A list of pages.
    #[default]
    Pages,
    /// A list of sitemaps.
    Index,
    /// A feed, which search engines also take.
    Feed,
}

/// Reads a sitemap that stands at `at`, looking for `page`.
///
/// # Errors
///
/// A sentence that says why it is not one.
pub fn read(text: &str, at: &Url, page: &Url) -> Result<Found, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    if text.is_empty() {
        return Err("The file is empty.".to_owned());
    }
    if !text.starts_with('<') {
        return read_lines(text, page);
    }
    let Some(root) = root_name(text) else {
        return Err("The file has no element.".to_owned());
    };
    let kind = match root {
        "urlset" => FileKind::Pages,
        "sitemapindex" => FileKind::Index,
        "rss" | "feed" | "RDF" => FileKind::Feed,
        "html" => return Err("The file is a web page.".to_owned()),
        _ => return Err("The first element is neither `urlset` nor `sitemapindex`.".to_owned()),
    };
    if let Err(mistake) = xml::check(text) {
        let place = Lines::of(text).place(text, mistake.at);
        return Err(format!("Line {}: {}", place.line, mistake.problem));
    }
    let mut found = Found { kind, ..Found::default() };
    let entry = if kind == FileKind::Index { "sitemap" } else { "url" };
    for block in elements(text, entry) {
        let Some(address) = elements(block, "loc").next().and_then(|it| address(it, at)) else {
            continue;
        };
        let modified = elements(block, "lastmod").next().map(|it| it.trim().to_owned());
        found.note(address, modified, page);
    }
    Ok(found)
}

impl Found {
    fn note(&mut self, address: Url, modified: Option<String>, page: &Url) {
        self.entries = self.entries.saturating_add(1);
        self.of_host = self.of_host.saturating_add(usize::from(address.host() == page.host()));
        if let Some(modified) = &modified
            && modified.len() <= DATE_BYTES_MAX
            && self.newest.as_ref().is_none_or(|it| it < modified)
        {
            self.newest = Some(modified.clone());
        }
        if self.kind == FileKind::Index {
            if self.children.len() < CHILDREN_MAX {
                self.children.push(address);
            }
        } else if address == *page {
            self.own = Some(modified.filter(|it| it.len() <= DATE_BYTES_MAX).unwrap_or_default());
        }
    }
}

/// One address a line.
fn read_lines(text: &str, page: &Url) -> Result<Found, String> {
    let mut found = Found::default();
    for line in text.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let url = Url::parse(line).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
        let Some(url) = url else {
            return Err("The file is neither XML nor a list of addresses.".to_owned());
        };
        found.note(url, None, page);
    }
    Ok(found)
}

/// The name of the first element, without its prefix.
fn root_name(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let (_, tag) = rest.split_once('<')?;
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1;
        } else if tag.starts_with(['?', '!']) {
            rest = tag.split_once('>')?.1;
        } else {
            let is_end = |it: char| it.is_whitespace() || matches!(it, '>' | '/');
            let name = tag.split(is_end).next()?;
            return Some(name.rsplit(':').next().unwrap_or(name));
        }
    }
}

/// What stands inside each element of this name, in order; elements of one name do not nest.
fn elements<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (_, tag) = rest.split_once('<')?;
            rest = tag;
            let (head, _) = tag.split_once('>')?;
            let written = head.split_whitespace().next().unwrap_or_default();
            let local = written.rsplit(':').next().unwrap_or(written);
            if local != name || written.starts_with('/') || head.ends_with('/') {
                continue;
            }
            let inside = tag.get(head.len().saturating_add(1)..)?;
            let end = inside.match_indices("</").map(|(at, _)| at).find(|at| {
                let closing = inside.get(at.saturating_add(2)..).unwrap_or_default();
                closing.strip_prefix(written).is_some_and(|it| it.trim_start().starts_with('>'))
            })?;
            rest = inside.get(end..)?;
            return inside.get(..end);
        }
    })
}

/// An address in a `loc`, references undone.
fn address(text: &str, base: &Url) -> Option<Url> {
    let text = text.trim();
    let plain = text.strip_prefix("<![CDATA[").and_then(|it| it.strip_suffix("]]>"));
    let text = match plain {
        Some(plain) => plain.trim().to_owned(),
        None => REFERENCES.iter().fold(text.to_owned(), |it, (from, to)| it.replace(from, to)),
    };
    let mut url = base.join(&text).ok()?;
    url.set_fragment(None);
    Some(url)
}

/// References that addresses contain; the ampersand last, so that nothing is undone twice.
const REFERENCES: [(&str, &str); 6] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&apos;", "'"),
    ("&#38;", "&"),
    ("&amp;", "&"),
];
/// Sitemaps of an index that are kept.
const CHILDREN_MAX: usize = 200;
/// Bytes of a date.
const DATE_BYTES_MAX: usize = 40;

/// Addresses that one file may list. Source: sitemaps.org.
pub const ENTRIES_MAX: usize = 50_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> Url {
        Url::parse("https://example.com/").unwrap().join(path).unwrap()
    }

    fn found(text: &str) -> Result<Found, String> {
        read(text, &url("/sitemap.xml"), &url("/a?x=1&y=2"))
    }

    #[test]
    fn a_sitemap_lists_pages_and_says_when_they_changed() {
        let found = found(
            "\u{feff}<?xml version='1.0'?><!-- x --><urlset xmlns='s'>\
             <url><loc> https://example.com/a?x=1&amp;y=2 </loc><lastmod>2026-05-01</lastmod></url>\
             <url><loc><![CDATA[https://other.example/b]]></loc><image:image xmlns:image='i'>\
             <image:loc>https://example.com/c.png</image:loc></image:image></url></urlset>",
        )
        .unwrap();
        assert_eq!((found.entries, found.of_host, found.kind), (2, 1, FileKind::Pages));
        assert_eq!(found.own.as_deref(), Some("2026-05-01"));
        assert_eq!(found.newest.as_deref(), Some("2026-05-01"));
    }

    #[test]
    fn an_index_lists_sitemaps_and_a_text_is_a_list() {
        let index = "<sitemapindex><sitemap><loc>/one.xml</loc></sitemap></sitemapindex>";
        let index = found(index).unwrap();
        assert_eq!((index.kind, index.children), (FileKind::Index, vec![url("/one.xml")]));
        let list = found("https://example.com/a?x=1&y=2\nhttps://example.com/b\n").unwrap();
        assert_eq!((list.entries, list.own.as_deref()), (2, Some("")));
    }

    #[test]
    fn what_is_no_sitemap_says_why() {
        let why = |text: &str| found(text).unwrap_err();
        assert_eq!(why(" "), "The file is empty.");
        assert_eq!(why("hello"), "The file is neither XML nor a list of addresses.");
        assert_eq!(why("<!DOCTYPE html><html></html>"), "The file is a web page.");
        assert_eq!(
            why("<urlset>\n<url></urlset>"),
            "Line 2: The closing tag is not that of the open element."
        );
        assert!(why("<x/>").starts_with("The first element"));
        assert_eq!(why("<!-- x"), "The file has no element.");
    }
}
