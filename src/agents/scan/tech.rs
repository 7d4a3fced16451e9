//! Finds out what a page is made with, by the clues it gives.

use std::collections::BTreeSet;

use url::Url;

use crate::agents::page::reply::Reply;
use crate::agents::scan::clues::{CLUES, Clue};
use crate::agents::scan::facts::Tech;

/// What a page is made with. Versions are left out: they change without being news.
#[must_use]
pub fn technologies(
    base: &Url,
    generators: &[String],
    resources: &[String],
    reply: &Reply,
) -> BTreeSet<Tech> {
    let resources: Vec<(String, String)> = resources
        .iter()
        .filter_map(|it| base.join(it).ok())
        .map(|it| (it.host_str().unwrap_or_default().to_owned(), it.path().to_owned()))
        .collect();
    let cookies: Vec<String> = reply.headers("set-cookie").map(str::to_ascii_lowercase).collect();
    let is_seen = |clue: &Clue| match clue {
        Clue::Generator(name) => generators.iter().any(|it| it.starts_with(name)),
        Clue::Header(name, part) => {
            reply.headers(name).any(|it| it.to_ascii_lowercase().contains(part))
        }
        Clue::Cookie(name) => cookies.iter().any(|it| it.starts_with(name)),
        Clue::Host(host) => resources.iter().any(|it| is_of(&it.0, host)),
        Clue::Path(part) => resources.iter().any(|it| it.1.contains(part)),
    };
    let seen = CLUES.iter().filter(|(_, _, clue)| is_seen(clue));
    seen.map(|(name, category, _)| Tech {
        name: (*name).to_owned(),
        category: category.as_str().to_owned(),
    })
    .collect()
}

/// Whether a host is this one or below it.
fn is_of(host: &str, wanted: &str) -> bool {
    host.strip_suffix(wanted).is_some_and(|it| it.is_empty() || it.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_names(generator: &str, resource: &str, header: (&str, &str), expected: &[&str]) {
        let base = Url::parse("https://site.example/").unwrap();
        let headers = vec![(header.0.to_owned(), header.1.to_owned())];
        let reply = Reply { headers, ..Reply::default() };
        let found = technologies(&base, &[generator.to_owned()], &[resource.to_owned()], &reply);
        let names: Vec<_> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn technologies_are_known_by_what_anybody_can_see() {
        check_names("", "", ("x", ""), &[]);
        check_names("wordpress 6.6", "", ("server", "nginx/1.2"), &["WordPress", "nginx"]);
        check_names("", "https://cdn.shopify.com/s/theme.js?v=1", ("x", ""), &["Shopify"]);
        check_names("", "//widget.intercom.io/widget/abc", ("x", ""), &["Intercom"]);
        check_names("", "https://notintercom.io/x", ("x", ""), &[]);
        check_names("", "", ("set-cookie", "laravel_session=x; path=/"), &["Laravel"]);
    }

    #[test]
    fn every_clue_is_written_as_it_is_looked_for() {
        for (name, _, clue) in CLUES {
            let text = match clue {
                Clue::Generator(it) | Clue::Cookie(it) | Clue::Host(it) | Clue::Path(it) => it,
                Clue::Header(it, _) => it,
            };
            assert!(!text.is_empty() && *text == text.to_lowercase(), "{name}: {text}");
        }
        assert!(CLUES.len() >= 150);
    }
}
