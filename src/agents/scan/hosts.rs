//! The rules of the hosts that a visit meets: what may be fetched, and how slowly.
//!
//! A redirect is one more request: its address is judged by the robots.txt of its own host
//! before anything is asked of it.

use std::time::Duration;

use url::Url;

use crate::agents::bench::Bench;
use crate::agents::page::fetch::{self, Trouble, Unfetched, Visit};
use crate::agents::page::robots::{Access, AnswerKind, RobotsAnswer, crawl_delay};
use crate::agents::page::text::quote;
use crate::domain::target::PageUrl;

/// The robots.txt of every host that a visit met.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    answers: Vec<RobotsAnswer>,
}

/// Why a page was not fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A robots.txt forbids it, or the address that it led to: the reason, a fragment.
    Refused(String),
    /// It did not answer.
    Unfetched(Unfetched),
}

impl Hosts {
    /// Asks the host of an address for its rules, once.
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped call leaves nothing behind.
    pub async fn meet(&mut self, bench: &Bench, url: &Url) -> &AnswerKind {
        let known = self.answers.iter().position(|it| it.url.origin() == url.origin());
        let at = known.unwrap_or(self.answers.len());
        if known.is_none() {
            self.answers.push(fetch::robots(bench, url).await);
            bench.clock.sleep(self.pause(bench, url)).await;
        }
        self.answers.get(at).map_or(&AnswerKind::NotAsked, |it| &it.kind)
    }

    /// Fetches a page, if the rules of every host on the way allow it.
    ///
    /// # Errors
    ///
    /// [`Stopped`] when they do not, or when there is no whole answer.
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped call leaves nothing behind.
    pub async fn page(&mut self, bench: &Bench, start: &PageUrl) -> Result<Visit, Stopped> {
        let mut trail = fetch::trail(bench, start);
        loop {
            self.meet(bench, trail.url()).await;
            if let Some(reason) = self.refusal(trail.url()) {
                return Err(Stopped::Refused(reason));
            }
            let hop = fetch::hop(bench, start, &mut trail).await.map_err(Stopped::Unfetched)?;
            if let Some(visit) = hop {
                return Ok(visit);
            }
        }
    }

    /// Why the rules keep an address from being fetched: a fragment.
    #[must_use]
    pub fn refusal(&self, url: &Url) -> Option<String> {
        let Some(answer) = self.answer(url) else { return Some(UNREAD.to_owned()) };
        match answer.access(ROBOTS_TOKEN, url) {
            Access::Allowed => None,
            Access::Disallowed { line, rule } => {
                Some(format!("robots.txt forbids it in line {line}: {}", quote(&rule)))
            }
            Access::Suspended(Some(status)) => Some(format!(
                "its robots.txt answered with status {status}, which forbids all for now"
            )),
            Access::Suspended(None) => Some(UNREAD.to_owned()),
        }
    }

    /// The pause between two requests to the host of an address.
    #[must_use]
    pub fn pause(&self, bench: &Bench, url: &Url) -> Duration {
        let asked = match self.answer(url).map(|it| &it.kind) {
            Some(AnswerKind::File { body, .. }) => crawl_delay(body, ROBOTS_TOKEN),
            Some(
                AnswerKind::Missing(_)
                | AnswerKind::Refused(_)
                | AnswerKind::Unreachable(_)
                | AnswerKind::NotAsked,
            )
            | None => None,
        };
        bench.politeness.max(asked.unwrap_or_default().min(PAUSE_MAX))
    }

    /// The sitemaps that the host of an address names.
    pub fn sitemaps(&self, url: &Url) -> impl Iterator<Item = &str> {
        let robots = self.answer(url).and_then(RobotsAnswer::robots);
        robots.into_iter().flat_map(|it| &it.sitemaps).map(|it| it.1.as_str())
    }

    fn answer(&self, url: &Url) -> Option<&RobotsAnswer> {
        self.answers.iter().find(|it| it.url.origin() == url.origin())
    }
}

impl Stopped {
    /// What happened: a fragment.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Refused(reason) => reason.clone(),
            Self::Unfetched(Unfetched { why: Trouble::Exchange(error), .. }) => error.to_string(),
            Self::Unfetched(Unfetched { why: Trouble::Astray(astray), .. }) => astray.to_string(),
        }
    }
}

/// Why nothing is fetched from a host whose rules are not known.
const UNREAD: &str = "its robots.txt could not be read";
/// The name under which robots.txt files can give this agent rules.
const ROBOTS_TOKEN: &str = "Errand";
/// The longest pause that a site can ask for. Source: the contract, section 6.
const PAUSE_MAX: Duration = Duration::from_secs(10);
