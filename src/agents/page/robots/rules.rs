//! The groups and rules of a robots.txt, and which of them decides about a crawler and a path.
//!
//! Source: RFC 9309, section 2.2: groups of the same crawler are merged, the longest matching
//! rule wins, and `Allow` wins a tie.

use url::Url;

use crate::agents::page::robots::pattern::{Pattern, comparable};
use crate::agents::page::robots::records::{Readable, readable, records};

/// A robots.txt that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Robots {
    groups: Vec<Group>,
    /// The addresses of sitemaps, with their lines.
    pub sitemaps: Vec<(u32, String)>,
    /// The `Content-Signal` lines.
    pub signals: Vec<(u32, String)>,
    /// The size of the whole file.
    pub bytes: usize,
    /// Whether it begins with a byte order mark.
    pub has_mark: bool,
    /// The first line that crawlers need not read, because the file is too large.
    pub ignored_from: Option<u32>,
}

/// Some crawlers and the rules for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Group {
    /// The crawlers, lower case; `*` for all that are not named anywhere.
    agents: Vec<String>,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    line: u32,
    effect: Effect,
    pattern: Pattern,
    written: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Allow,
    Disallow,
}

/// What a file says about one crawler and one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may be fetched.
    Allowed,
    /// It must not be fetched, because of this line.
    Disallowed {
        /// The line's number.
        line: u32,
        /// The rule as it stands there.
        rule: String,
    },
}

impl Robots {
    /// Reads a file; any bytes are a file.
    #[must_use]
    pub fn parse(file: &[u8]) -> Self {
        let Readable { bytes, has_mark, ignored_from } = readable(file);
        let mut robots = Self { bytes: file.len(), has_mark, ignored_from, ..Self::default() };
        let mut names_end = true;
        for record in records(bytes) {
            let Some(key) = record.key else { continue };
            if key.eq_ignore_ascii_case(b"user-agent") {
                if names_end {
                    robots.groups.push(Group::default());
                    names_end = false;
                }
                if let Some(group) = robots.groups.last_mut() {
                    group.agents.push(product_token(record.value));
                }
            } else if let Some(effect) = Effect::of(key) {
                names_end = true;
                // A rule before any group is for nobody, and an empty one says nothing.
                if let Some(group) = robots.groups.last_mut().filter(|_| !record.value.is_empty()) {
                    group.rules.push(Rule::new(record.line, effect, record.value));
                }
            } else if key.eq_ignore_ascii_case(b"sitemap") {
                push_capped(&mut robots.sitemaps, record.line, record.value);
            } else if key.eq_ignore_ascii_case(b"content-signal") {
                push_capped(&mut robots.signals, record.line, record.value);
            }
        }
        robots
    }

    /// What the file says about `crawler` and the path and query of `url`.
    ///
    /// The file itself may always be fetched.
    #[must_use]
    pub fn decide(&self, crawler: &str, url: &Url) -> Decision {
        if url.path() == "/robots.txt" {
            return Decision::Allowed;
        }
        let path = match url.query() {
            Some(query) => comparable(&format!("{}?{query}", url.path())),
            None => comparable(url.path()),
        };
        let matching = self.rules_for(crawler).filter(|it| it.pattern.matches(&path));
        // Among equals the last one in this order wins: the longer, then `Allow`.
        let best = matching.max_by_key(|it| (it.pattern.specificity(), it.effect == Effect::Allow));
        match best {
            Some(Rule { effect: Effect::Disallow, line, written, .. }) => {
                Decision::Disallowed { line: *line, rule: written.clone() }
            }
            Some(Rule { effect: Effect::Allow, .. }) | None => Decision::Allowed,
        }
    }

    /// Whether the file has a group that names this crawler.
    #[must_use]
    pub fn names(&self, crawler: &str) -> bool {
        self.groups.iter().any(|it| it.is_for(crawler))
    }

    fn rules_for<'a>(&'a self, crawler: &'a str) -> impl Iterator<Item = &'a Rule> {
        let wanted = if self.names(crawler) { crawler } else { ANYBODY };
        self.groups.iter().filter(move |it| it.is_for(wanted)).flat_map(|it| &it.rules)
    }
}

impl Group {
    fn is_for(&self, crawler: &str) -> bool {
        self.agents.iter().any(|it| it.eq_ignore_ascii_case(crawler))
    }
}

impl Rule {
    fn new(line: u32, effect: Effect, value: &[u8]) -> Self {
        let name = match effect {
            Effect::Allow => "Allow",
            Effect::Disallow => "Disallow",
        };
        let written = format!("{name}: {}", shown(value));
        Self { line, effect, pattern: Pattern::new(value), written }
    }
}

impl Effect {
    fn of(key: &[u8]) -> Option<Self> {
        if key.eq_ignore_ascii_case(b"allow") {
            Some(Self::Allow)
        } else if key.eq_ignore_ascii_case(b"disallow") {
            Some(Self::Disallow)
        } else {
            None
        }
    }
}

/// The name of a crawler without version and comment: `Googlebot/2.1` is `googlebot`.
fn product_token(value: &[u8]) -> String {
    if value.first() == Some(&b'*') {
        return ANYBODY.to_owned();
    }
    let is_token = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    let token: Vec<u8> = value.iter().copied().take_while(is_token).take(TOKEN_BYTES_MAX).collect();
    String::from_utf8_lossy(&token).to_ascii_lowercase()
}

fn push_capped(list: &mut Vec<(u32, String)>, line: u32, value: &[u8]) {
    if list.len() < LINES_KEPT_MAX {
        list.push((line, shown(value)));
    }
}

/// A value as text, short enough to be kept for a report.
fn shown(value: &[u8]) -> String {
    let short = value.get(..SHOWN_BYTES_MAX).unwrap_or(value);
    String::from_utf8_lossy(short).into_owned()
}

/// The name of the group for crawlers that no other group names.
const ANYBODY: &str = "*";
/// Bytes of a crawler's name that count.
const TOKEN_BYTES_MAX: usize = 200;
/// Bytes of a value that a report may show.
const SHOWN_BYTES_MAX: usize = 300;
/// Sitemap and signal lines that are kept.
const LINES_KEPT_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(file: &str, crawler: &str, path: &str, line: Option<u32>) {
        let url = Url::parse(&format!("https://example.com{path}")).unwrap();
        let found = match Robots::parse(file.as_bytes()).decide(crawler, &url) {
            Decision::Allowed => None,
            Decision::Disallowed { line, .. } => Some(line),
        };
        assert_eq!(found, line, "{crawler} at {path} in {file:?}");
    }

    #[test]
    fn the_longest_rule_wins_and_allow_wins_a_tie() {
        check("User-agent: *\nDisallow: /\nAllow: /page", "googlebot", "/page", None);
        check("User-agent: *\nAllow: /\nDisallow: /page", "googlebot", "/page", Some(3));
        check("User-agent: *\nDisallow: /page\nAllow: /page", "googlebot", "/page", None);
        check("User-agent: *\nAllow: /page\nDisallow: /page", "googlebot", "/page", None);
        check("User-agent: *\nDisallow: /p*e\nAllow: /pa", "googlebot", "/page", Some(2));
        check("User-agent: *\nDisallow:", "googlebot", "/page", None);
        check("User-agent: *\nDisallow: /*.php$", "googlebot", "/a.php", Some(2));
    }

    #[test]
    fn a_named_group_replaces_the_general_one_and_equal_names_are_merged() {
        let file = "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /a\n\n\
                    user-agent: GOOGLEBOT/2.1 (x)\nDisallow: /b\n";
        check(file, "googlebot", "/page", None);
        check(file, "googlebot", "/a", Some(5));
        check(file, "Googlebot", "/b", Some(8));
        check(file, "bingbot", "/page", Some(2));
        check("User-agent: Googlebot-News\nDisallow: /", "googlebot", "/page", None);
    }

    #[test]
    fn names_in_a_row_share_their_rules_and_other_lines_do_not_part_them() {
        let file = "User-agent: GPTBot\nCrawl-delay: 5\nUser-agent: CCBot\nSitemap: https://x/s\n\
                    Disallow: /\nUser-agent: *\nDisallow:\n";
        check(file, "gptbot", "/", Some(5));
        check(file, "ccbot", "/", Some(5));
        check(file, "googlebot", "/", None);
    }

    #[test]
    fn rules_without_a_group_are_ignored_and_the_file_itself_is_always_allowed() {
        check("Disallow: /\nAllow: /", "googlebot", "/page", None);
        check("User-agent: *\nDisallow: /", "googlebot", "/robots.txt", None);
    }

    #[test]
    fn keys_marks_and_line_ends_are_read_generously() {
        check("\u{feff}USER-AGENT: *\rDISALLOW: /page\r", "googlebot", "/page", Some(2));
        check("User-agent:*\r\n  disallow :/page # why", "googlebot", "/page?a", Some(2));
        check("User-agent: *\nDisallow: /caf%C3%A9", "googlebot", "/café", Some(2));
        check("User-agent: *\nDisallow: /*?x=", "googlebot", "/page?x=1", Some(2));
    }

    #[test]
    fn rules_past_the_size_limit_do_not_exist() {
        let filler = "Disallow: /filler/000000\n".repeat(24_000);
        check(&format!("User-agent: *\n{filler}Disallow: /page\n"), "googlebot", "/page", None);
        check(&format!("User-agent: *\nDisallow: /page\n{filler}"), "googlebot", "/page", Some(2));
    }

    #[test]
    fn what_else_is_said_is_kept_with_its_line() {
        let file = "Sitemap: https://example.com/s.xml\nContent-Signal: search=yes, ai-train=no\n";
        let robots = Robots::parse(file.as_bytes());
        assert_eq!(robots.sitemaps, [(1, "https://example.com/s.xml".to_owned())]);
        assert_eq!(robots.signals, [(2, "search=yes, ai-train=no".to_owned())]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_file(
            file: Vec<u8>,
            lines in "([UDAuda*:/$ #\r\n-]|ser-agent|llow|isallow){0,40}",
        ) {
            let url = Url::parse("https://example.com/a/b?c").unwrap();
            let _ = Robots::parse(&file).decide("googlebot", &url);
            let _ = Robots::parse(lines.as_bytes()).decide("googlebot", &url);
        }
    }
}
