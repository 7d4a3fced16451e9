//! Where a chain of redirects leads, decided step by step without a network.
//!
//! The client never follows a redirect by itself, so every hop is a new request whose address
//! is judged again.

use std::fmt;

use url::Url;

use crate::domain::receiver::UrlPolicy;
use crate::domain::target::PageUrl;

/// The hops so far, and where the chain is now.
#[derive(Clone, Debug)]
pub struct Trail {
    hops: Vec<Hop>,
    at: PageUrl,
    policy: UrlPolicy,
    hops_max: usize,
}

/// An answer that led somewhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The address that answered.
    pub url: Url,
    /// Its status.
    pub status: u16,
}

/// Where a chain goes after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To another address, which is now the trail's.
    On,
    /// Nowhere: this is the answer.
    Arrived,
}

/// A chain that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Astray {
    /// It comes back to an address it was at.
    Loop,
    /// It is too long.
    TooLong,
    /// It leads to an address that is not fetched, such as `file:` or a private one.
    Forbidden,
    /// It says that it leads somewhere, and not where.
    Nowhere(u16),
}

impl Trail {
    /// Begins at `start`; at most `hops_max` redirects will be followed.
    #[must_use]
    pub const fn new(start: PageUrl, policy: UrlPolicy, hops_max: usize) -> Self {
        Self { hops: Vec::new(), at: start, policy, hops_max }
    }

    /// The address to ask now.
    #[must_use]
    pub const fn url(&self) -> &Url {
        self.at.url()
    }

    /// The answers that led on.
    #[must_use]
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// Takes an answer from the present address into account.
    ///
    /// # Errors
    ///
    /// [`Astray`]; the trail stays where it is.
    pub fn step(&mut self, status: u16, location: Option<&str>) -> Result<Next, Astray> {
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Ok(Next::Arrived);
        }
        let location = location.map(str::trim).filter(|it| !it.is_empty());
        let location = location.ok_or(Astray::Nowhere(status))?;
        let next = self.url().join(location).map_err(|_| Astray::Nowhere(status))?;
        let next = PageUrl::parse(next.as_str(), self.policy).map_err(|_| Astray::Forbidden)?;
        let been_there = self.hops.iter().any(|it| it.url == *next.url());
        if been_there || next == self.at {
            return Err(Astray::Loop);
        }
        if self.hops.len() >= self.hops_max {
            return Err(Astray::TooLong);
        }
        self.hops.push(Hop { url: self.url().clone(), status });
        self.at = next;
        Ok(Next::On)
    }
}

impl fmt::Display for Astray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loop => f.write_str("the redirects lead in a circle"),
            Self::TooLong => f.write_str("there are too many redirects"),
            Self::Forbidden => f.write_str("a redirect leads to an address that is not fetched"),
            Self::Nowhere(status) => {
                write!(f, "the answer is a redirect ({status}) that does not say where to")
            }
        }
    }
}

impl std::error::Error for Astray {}

#[cfg(test)]
mod tests {
    use super::*;

    fn trail() -> Trail {
        let start = PageUrl::parse("https://example.com/a", UrlPolicy::Public).unwrap();
        Trail::new(start, UrlPolicy::Public, 3)
    }

    #[track_caller]
    fn check_step(status: u16, location: Option<&str>, expected: Result<&str, Astray>) {
        let expected = expected.map(str::to_owned);
        let mut trail = trail();
        let found = trail.step(status, location).map(|_| trail.url().to_string());
        assert_eq!(found, expected, "{status} {location:?}");
    }

    #[test]
    fn redirects_are_followed_wherever_a_page_may_be() {
        check_step(200, Some("/b"), Ok("https://example.com/a"));
        check_step(304, Some("/b"), Ok("https://example.com/a"));
        check_step(302, Some(" /b#top "), Ok("https://example.com/b"));
        check_step(308, Some("//example.org"), Ok("https://example.org/"));
        check_step(301, Some("http://example.com/a"), Ok("http://example.com/a"));
    }

    #[test]
    fn redirects_to_other_places_are_not_followed() {
        check_step(302, None, Err(Astray::Nowhere(302)));
        check_step(302, Some(""), Err(Astray::Nowhere(302)));
        check_step(302, Some("https://:x"), Err(Astray::Nowhere(302)));
        check_step(302, Some("http://169.254.169.254/latest"), Err(Astray::Forbidden));
        check_step(302, Some("http://127.0.0.1/"), Err(Astray::Forbidden));
        check_step(302, Some("file:///etc/passwd"), Err(Astray::Forbidden));
        check_step(302, Some("https://u:p@example.com/"), Err(Astray::Forbidden));
        check_step(302, Some("https://example.com:22/"), Err(Astray::Forbidden));
        check_step(302, Some("#x"), Err(Astray::Loop));
    }

    #[test]
    fn circles_and_endless_chains_end() {
        let mut circle = trail();
        assert_eq!(circle.step(302, Some("/b")), Ok(Next::On));
        assert_eq!(circle.step(302, Some("/a")), Err(Astray::Loop));
        let mut endless = trail();
        for it in ["/1", "/2", "/3"] {
            assert_eq!(endless.step(301, Some(it)), Ok(Next::On));
        }
        assert_eq!(endless.step(301, Some("/4")), Err(Astray::TooLong));
        assert_eq!(endless.step(200, None), Ok(Next::Arrived));
        let statuses: Vec<_> = endless.hops().iter().map(|it| it.status).collect();
        assert_eq!((statuses.as_slice(), endless.url().path()), (&[301, 301, 301][..], "/3"));
    }
}
