//! Where links lead, as far as it matters: the path, the article, the profile.

use url::Url;

use crate::agents::scan::extract::host;
use crate::agents::scan::facts::{Post, Zone};
use crate::agents::scan::outline::Link;
use crate::agents::scan::texts::Text;
use crate::agents::scan::token::words;

/// The address that a link leads to, when it is one of the web.
#[must_use]
pub fn target(base: &Url, href: &str) -> Option<Url> {
    let url = base.join(href.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// The path on the page's own host, or host and path; without query and fragment.
#[must_use]
pub fn place_of(target: &Url, page: &Url) -> String {
    let path = target.path().trim_end_matches('/');
    let path = if path.is_empty() { "/" } else { path };
    if host(target) == host(page) { path.to_owned() } else { format!("{}{path}", host(target)) }
}

/// The profile that a link leads to, when it is one.
#[must_use]
pub fn is_social(target: &Url) -> Option<String> {
    let host = host(target);
    let host = host.strip_prefix("m.").unwrap_or(&host);
    let is_known = SOCIAL.contains(&host);
    let path = target.path().trim_end_matches('/').to_ascii_lowercase();
    let is_sharing = SHARING.iter().any(|it| path.starts_with(it));
    (is_known && !path.is_empty() && !is_sharing).then(|| format!("{host}{path}"))
}

/// The articles among the links of a page, each once, in order.
#[must_use]
pub fn posts(links: &[Link], page: &Url, base: &Url) -> Vec<Post> {
    let mut posts: Vec<Post> = Vec::new();
    for link in links.iter().filter(|it| it.zone != Zone::Nav && it.zone != Zone::Footer) {
        let Some(target) = link.href.as_deref().and_then(|it| target(base, it)) else { continue };
        let is_own = host(&target) == host(page);
        if !is_own || !is_article(target.path()) || posts.len() >= POSTS_MAX {
            continue;
        }
        let title = Text::of(&link.text).shown;
        let path = place_of(&target, page);
        match posts.iter_mut().find(|it| it.path == path) {
            // A picture and a title often lead to the same article.
            Some(known) if words(&known.title) == 0 => known.title = title,
            Some(_) => {}
            None => posts.push(Post { path, title, date: None }),
        }
    }
    posts.retain(|it| words(&it.title) > 0 && !is_more(&it.title));
    posts
}

/// Whether a path is that of an article: below a list of articles, or below a date.
fn is_article(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
    let is_list = |it: &str| LISTS.contains(&it.to_ascii_lowercase().as_str());
    let is_year = |it: &str| it.len() == 4 && it.starts_with("20") && it.parse::<u16>().is_ok();
    let below_list = parts.iter().position(|it| is_list(it));
    let rest = below_list.and_then(|it| parts.get(it + 1..)).unwrap_or_default();
    let is_page = rest.first().is_some_and(|it| NO_ARTICLES.contains(it));
    (!rest.is_empty() && !is_page)
        || parts
            .windows(2)
            .any(|it| matches!(it, [year, month] if is_year(year) && month.len() == 2))
}

/// Whether a link is to more of the same.
fn is_more(title: &str) -> bool {
    MORE.contains(&title.to_lowercase().as_str())
}

/// Whether a path is that of a list of articles.
#[must_use]
pub fn is_article_list(path: &str) -> bool {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    LISTS.contains(&last.to_ascii_lowercase().as_str())
}

/// Names of lists of articles in a path.
const LISTS: [&str; 42] = [
    "blog",
    "blogs",
    "news",
    "changelog",
    "changes",
    "press",
    "articles",
    "article",
    "releases",
    "release-notes",
    "updates",
    "update",
    "posts",
    "journal",
    "stories",
    "whats-new",
    "announcements",
    "insights",
    "magazine",
    "magazin",
    "aktuelles",
    "neuigkeiten",
    "presse",
    "meldungen",
    "beitraege",
    "actualites",
    "actualite",
    "actus",
    "noticias",
    "novedades",
    "prensa",
    "novita",
    "notizie",
    "nieuws",
    "nyheter",
    "novidades",
    "aktualnosci",
    "oshirase",
    "topics",
    "info",
    "newsroom",
    "column",
];
/// Parts below a list of articles that are no article.
const NO_ARTICLES: [&str; 9] =
    ["page", "tag", "tags", "category", "categories", "author", "feed", "feed.xml", "rss.xml"];
/// Texts of links to more of the same.
const MORE: [&str; 14] = [
    "read more",
    "more",
    "mehr",
    "weiterlesen",
    "mehr lesen",
    "lire la suite",
    "en savoir plus",
    "leer más",
    "leggi",
    "lees meer",
    "all posts",
    "view all",
    "alle beiträge",
    "もっと見る",
];
/// Hosts of social networks.
const SOCIAL: [&str; 26] = [
    "linkedin.com",
    "twitter.com",
    "x.com",
    "youtube.com",
    "instagram.com",
    "facebook.com",
    "tiktok.com",
    "github.com",
    "gitlab.com",
    "mastodon.social",
    "fosstodon.org",
    "discord.gg",
    "discord.com",
    "pinterest.com",
    "pinterest.de",
    "threads.net",
    "bsky.app",
    "reddit.com",
    "vimeo.com",
    "medium.com",
    "xing.com",
    "t.me",
    "wa.me",
    "line.me",
    "note.com",
    "de.linkedin.com",
];
/// Paths that share a page instead of leading to a profile.
const SHARING: [&str; 8] =
    ["/sharer", "/share", "/intent", "/sharearticle", "/pin/create", "/submit", "/watch", "/embed"];
/// Articles of a page.
const POSTS_MAX: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_lies_below_a_list_or_a_date() {
        assert!(is_article("/blog/tides") && is_article("/en/news/2026/x"));
        assert!(is_article("/2026/11/tides"));
        assert!(!is_article("/blog") && !is_article("/blog/page/2") && !is_article("/pricing"));
        assert!(is_article_list("/en/blog/") && !is_article_list("/blog/tides"));
    }

    #[test]
    fn a_profile_is_not_a_button_that_shares() {
        let social = |it: &str| is_social(&Url::parse(it).unwrap());
        assert_eq!(social("https://www.youtube.com/@boats").as_deref(), Some("youtube.com/@boats"));
        assert_eq!(social("https://www.facebook.com/sharer.php?u=x"), None);
        assert_eq!(social("https://x.example/boats"), None);
        assert_eq!(social("https://github.com/"), None);
    }
}
