//! What a site answered when it was asked for its robots.txt, and what that means for crawlers.
//!
//! Source: RFC 9309, section 2.3.1, and Google's reading of it: a missing file allows
//! everything, a server error or too many requests forbid everything for the time being.

use std::time::Duration;

use bytes::Bytes;
use url::Url;

use crate::agents::page::robots::rules::{Decision, Robots};

/// An answer to the question for robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsAnswer {
    /// What it was.
    pub kind: AnswerKind,
    /// The address that was asked.
    pub url: Url,
    /// How long it took.
    pub took: Duration,
}

/// The kinds of answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerKind {
    /// A file.
    File {
        /// The bytes, up to a little more than crawlers read.
        body: Bytes,
        /// Its rules.
        robots: Robots,
    },
    /// There is none: a status of 400 to 499, but 429.
    Missing(u16),
    /// The server is in trouble: a status of 500 to 599, or 429.
    Refused(u16),
    /// No usable answer came; the fragment says why.
    Unreachable(String),
    /// It was not asked, because the page itself gave no answer worth it.
    NotAsked,
}

/// Whether a crawler may fetch an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// It may.
    Allowed,
    /// A line of the file says no.
    Disallowed {
        /// The line's number.
        line: u32,
        /// The rule as it stands there.
        rule: String,
    },
    /// It may not until the file can be read again; the status says why, none for no answer.
    Suspended(Option<u16>),
}

impl AnswerKind {
    /// A file that was read.
    #[must_use]
    pub fn file(body: Bytes) -> Self {
        let robots = Robots::parse(&body);
        Self::File { body, robots }
    }
}

impl RobotsAnswer {
    /// The rules, when there are any.
    #[must_use]
    pub const fn robots(&self) -> Option<&Robots> {
        match &self.kind {
            AnswerKind::File { robots, .. } => Some(robots),
            AnswerKind::Missing(_)
            | AnswerKind::Refused(_)
            | AnswerKind::Unreachable(_)
            | AnswerKind::NotAsked => None,
        }
    }

    /// Whether `crawler` may fetch `url`.
    #[must_use]
    pub fn access(&self, crawler: &str, url: &Url) -> Access {
        match &self.kind {
            AnswerKind::File { robots, .. } => match robots.decide(crawler, url) {
                Decision::Allowed => Access::Allowed,
                Decision::Disallowed { line, rule } => Access::Disallowed { line, rule },
            },
            AnswerKind::Missing(_) | AnswerKind::NotAsked => Access::Allowed,
            AnswerKind::Refused(status) => Access::Suspended(Some(*status)),
            AnswerKind::Unreachable(_) => Access::Suspended(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_access(kind: AnswerKind, expected: &Access) {
        let url = Url::parse("https://example.com/robots.txt").unwrap();
        let answer = RobotsAnswer { kind, url, took: Duration::ZERO };
        let page = Url::parse("https://example.com/page").unwrap();
        assert_eq!(answer.access("googlebot", &page), *expected, "{:?}", answer.kind);
    }

    #[test]
    fn a_missing_file_allows_and_trouble_forbids_for_the_time_being() {
        check_access(AnswerKind::Missing(404), &Access::Allowed);
        check_access(AnswerKind::Missing(403), &Access::Allowed);
        check_access(AnswerKind::Refused(500), &Access::Suspended(Some(500)));
        check_access(AnswerKind::Refused(429), &Access::Suspended(Some(429)));
        check_access(AnswerKind::Unreachable("closed".to_owned()), &Access::Suspended(None));
        check_access(AnswerKind::NotAsked, &Access::Allowed);
        let file = AnswerKind::file(Bytes::from_static(b"User-agent: *\nDisallow: /page"));
        let rule = "Disallow: /page".to_owned();
        check_access(file, &Access::Disallowed { line: 2, rule });
    }
}
