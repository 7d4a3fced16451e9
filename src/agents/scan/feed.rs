//! Reads a feed as far as it matters: ids, titles and dates of its entries. And counts a sitemap.
//!
//! Feeds in the wild are often not XML, so this looks for tags and trusts nothing else.

use crate::agents::page::text::{clip, printable};
use crate::agents::scan::facts::Post;

/// The entries of an RSS or Atom feed, newest first as the feed has them.
#[must_use]
pub fn entries(feed: &str) -> Vec<Post> {
    let opening = if feed.contains("<entry") { "<entry" } else { "<item" };
    let pieces = feed.split(opening).skip(1).take(ENTRIES_MAX);
    let post = |piece: &str| {
        let piece = piece.split(&opening.replace('<', "</")).next().unwrap_or_default();
        let title = text_of(piece, "title")?;
        let id =
            text_of(piece, "link").or_else(|| href_of(piece)).or_else(|| text_of(piece, "guid"));
        let id = id.or_else(|| text_of(piece, "id")).unwrap_or_else(|| title.clone());
        let date = ["pubDate", "published", "updated", "dc:date"];
        let date = date.iter().find_map(|it| day_of(&text_of(piece, it)?));
        Some(Post { path: id, title, date })
    };
    pieces.filter_map(post).collect()
}

/// The number of addresses in a sitemap and its newest change, `2026-11-20`.
#[must_use]
pub fn sitemap(text: &str) -> (usize, Option<String>) {
    let addresses = text.matches("<loc>").count();
    let changes = text.split("<lastmod>").skip(1).filter_map(|it| day_of(it.split('<').next()?));
    (addresses, changes.max())
}

/// The text of the first element of this name.
fn text_of(piece: &str, name: &str) -> Option<String> {
    let opening = format!("<{name}");
    let at = piece.match_indices(&opening).find_map(|(at, _)| {
        let rest = piece.get(at + opening.len()..)?;
        rest.starts_with(['>', ' ']).then_some(rest)
    })?;
    let (head, rest) = at.split_once('>')?;
    if head.ends_with('/') {
        return None;
    }
    let text = rest.split(&format!("</{name}")).next()?.trim();
    let text = text.strip_prefix("<![CDATA[").map_or(text, |it| it.trim_end_matches("]]>"));
    let text = text.replace("&amp;", "&").replace("&#39;", "'").replace("&quot;", "\"");
    let text = clip(&printable(&text), TEXT_CHARS_MAX);
    (!text.is_empty()).then_some(text)
}

/// The address of an Atom link.
fn href_of(piece: &str) -> Option<String> {
    let link = piece.split("<link").nth(1)?.split('>').next()?;
    let href = link.split("href=").nth(1)?;
    let quote = href.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    href.split(quote).nth(1).map(str::to_owned)
}

/// The day in an ISO or RFC 822 date.
#[must_use]
pub fn day_of(date: &str) -> Option<String> {
    let date = date.trim();
    let day = date.get(..10)?;
    let is_iso = day.bytes().enumerate().all(|(at, it)| match at {
        4 | 7 => it == b'-',
        _ => it.is_ascii_digit(),
    });
    if is_iso {
        return Some(day.to_owned());
    }
    let rest = date.split_once(", ").map_or(date, |it| it.1);
    let mut parts = rest.split_ascii_whitespace();
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|it| month.starts_with(it))?.saturating_add(1);
    let (day, year): (u8, u16) = (day.parse().ok()?, year.parse().ok()?);
    ((1990..2100).contains(&year)).then(|| format!("{year}-{month:02}-{day:02}"))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Entries of a feed that are read.
const ENTRIES_MAX: usize = 100;
/// Characters of a title or an id.
const TEXT_CHARS_MAX: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_both_kinds_of_feed_are_read() {
        let rss = "<rss><channel><title>x</title><item><title><![CDATA[Tides & boats]]></title>\
                   <link>https://a.example/blog/tides</link>\
                   <pubDate>Fri, 20 Nov 2026 10:00:00 GMT</pubDate></item><item></item></channel>";
        let found = entries(rss);
        let post = |path: &str, title: &str, date: &str| Post {
            path: path.to_owned(),
            title: title.to_owned(),
            date: Some(date.to_owned()),
        };
        assert_eq!(found, [post("https://a.example/blog/tides", "Tides & boats", "2026-11-20")]);
        let atom = "<feed><entry><title type='text'>Rest</title><link rel=x href=\"/blog/rest\"/>\
                    <updated>2026-11-02T10:00:00Z</updated></entry></feed>";
        assert_eq!(entries(atom), [post("/blog/rest", "Rest", "2026-11-02")]);
        assert!(entries("<item").is_empty() && entries("").is_empty());
    }

    #[test]
    fn a_sitemap_is_counted() {
        let text = "<url><loc>a</loc><lastmod>2026-11-01</lastmod></url><url><loc>b</loc>\
                    <lastmod>2026-11-20T01:00:00Z</lastmod>";
        assert_eq!(sitemap(text), (2, Some("2026-11-20".to_owned())));
        assert_eq!(sitemap("x"), (0, None));
    }
}
