//! What is wrong with the lines of a robots.txt, in the words of the person who must mend it.

use url::Url;

use crate::agents::page::robots::records::{Record, readable, records};

/// A line that crawlers will not read as it was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line's number.
    pub line: u32,
    /// The line, cut when it is long.
    pub text: String,
    /// What is wrong with it, as a sentence.
    pub problem: &'static str,
}

/// The first fifty faults of a file, and how many there are in all.
#[must_use]
pub fn faults(file: &[u8]) -> (Vec<Fault>, usize) {
    let mut kept = Vec::new();
    let mut count: usize = 0;
    let mut in_group = false;
    for record in records(readable(file).bytes) {
        let key = record.key.map(|it| String::from_utf8_lossy(it).to_ascii_lowercase());
        let problem = match key.as_deref() {
            None => Some("A line is a key, a colon and a value. There is no colon."),
            Some("user-agent") => {
                in_group = true;
                record.value.is_empty().then_some("The name of the crawler is missing.")
            }
            Some("allow" | "disallow") if !in_group => {
                Some("The rule stands before the first `User-agent` line, so it is for nobody.")
            }
            Some("allow" | "disallow") => pattern_problem(record.value),
            Some("sitemap") => sitemap_problem(record.value),
            Some(key) => (!KEYS.contains(&key)).then_some("Crawlers do not know this key."),
        };
        if let Some(problem) = problem {
            count = count.saturating_add(1);
            if kept.len() < FAULTS_MAX {
                kept.push(Fault { line: record.line, text: shown(&record), problem });
            }
        }
    }
    (kept, count)
}

fn pattern_problem(value: &[u8]) -> Option<&'static str> {
    let inner_end = value.iter().rev().skip(1).any(|it| *it == b'$');
    match value.first() {
        None | Some(b'/' | b'*') if inner_end => {
            Some("`$` means the end of the address; it can only stand last.")
        }
        None | Some(b'/' | b'*') => None,
        Some(_) => Some("A path begins with `/` or `*`. This rule can never match."),
    }
}

fn sitemap_problem(value: &[u8]) -> Option<&'static str> {
    let url = std::str::from_utf8(value).ok().and_then(|it| Url::parse(it).ok());
    match url {
        Some(url) if matches!(url.scheme(), "http" | "https") => None,
        Some(_) | None => Some("A sitemap needs a complete address, with `https://` and the host."),
    }
}

fn shown(record: &Record<'_>) -> String {
    let key = record.key.map(|it| format!("{}: ", String::from_utf8_lossy(it)));
    let short = record.value.get(..TEXT_BYTES_MAX).unwrap_or(record.value);
    let line = key.unwrap_or_default() + &String::from_utf8_lossy(short);
    line.chars().take(TEXT_BYTES_MAX).collect()
}

/// Keys that some crawler understands, besides those with rules of their own.
const KEYS: [&str; 9] = [
    "clean-param",
    "content-signal",
    "content-usage",
    "crawl-delay",
    "host",
    "indexpage",
    "noindex",
    "request-rate",
    "visit-time",
];
/// Faults that are kept.
const FAULTS_MAX: usize = 50;
/// Bytes of a line that are kept.
const TEXT_BYTES_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_lines(file: &str, lines: &[u32]) {
        let (found, count) = faults(file.as_bytes());
        let found: Vec<_> = found.iter().map(|it| it.line).collect();
        assert_eq!(found, lines, "{file:?}");
        assert_eq!(count, lines.len());
    }

    #[test]
    fn a_good_file_has_no_faults() {
        check_lines("", &[]);
        check_lines("# nothing\n\n", &[]);
        let file = "User-agent: *\nDisallow:\nDisallow: /*.php$\nAllow: /\nCrawl-Delay: 10\n\
                    Sitemap: https://example.com/s.xml\nContent-Signal: search=yes\n";
        check_lines(file, &[]);
    }

    #[test]
    fn each_kind_of_fault_is_found_on_its_line() {
        check_lines("this is not a rule", &[1]);
        check_lines("Disallow: /x\nUser-agent: *\nDisallow: /x", &[1]);
        check_lines("User-agent:", &[1]);
        check_lines("User-agent: *\nDisalow: /x", &[2]);
        check_lines("User-agent: *\nDisallow: private", &[2]);
        check_lines("User-agent: *\nAllow: /a$b", &[2]);
        check_lines("Sitemap: sitemap.xml\nSitemap: //example.com/s.xml", &[1, 2]);
    }

    #[test]
    fn a_web_page_in_its_place_is_a_fault() {
        check_lines("<!DOCTYPE html><html><body><h1>Not found</h1></body></html>", &[1]);
    }

    #[test]
    fn endless_faults_are_counted_but_not_kept() {
        let (kept, count) = faults("nonsense\n".repeat(1_000).as_bytes());
        assert_eq!((kept.len(), count), (FAULTS_MAX, 1_000));
    }

    proptest! {
        #[test]
        fn any_bytes_have_faults_or_none(file: Vec<u8>) {
            let (kept, count) = faults(&file);
            prop_assert!(kept.len() <= count);
        }
    }
}
