//! Asks what a page leads to: one request at a time, within a number and a time, and only where
//! the rules of the host allow it.
//!
//! Between two requests to one host lies the pause of the bench, or the longer one that its
//! robots.txt wishes. A host that is overloaded is not asked again.

use std::time::Duration;

use url::{Origin, Url};

use crate::agents::bench::Bench;
use crate::agents::page::fetch;
use crate::agents::page::reply::Reply;
use crate::agents::page::robots::records::{readable, records};
use crate::agents::page::robots::{Access, AnswerKind, RobotsAnswer};
use crate::agents::seo::around::{FileAnswer, TargetAnswer};
use crate::agents::seo::target::Target;
use crate::domain::target::PageUrl;
use crate::domain::time::Timestamp;
use crate::outbound::{Error, Method};
use crate::sys::clock::Mark;

/// Whoever asks, for one audit.
#[derive(Debug)]
pub struct Asker<'a> {
    bench: &'a Bench,
    hosts: Vec<Host>,
    /// Requests that may still be made.
    left: u32,
    /// When no more are begun.
    until: Mark,
    /// The time of the audit, for dates on pages.
    now: Timestamp,
    /// The pause before one second try, while there is one.
    again: Option<Duration>,
}

/// What is known about a host.
#[derive(Debug)]
struct Host {
    origin: Origin,
    robots: RobotsAnswer,
    asked_at: Mark,
    pause: Duration,
    is_overloaded: bool,
}

/// Why there is no answer.
enum Silence {
    Failed(String),
    NotAsked(&'static str),
}

impl<'a> Asker<'a> {
    /// Begins with what is known of the page's own host, of which `asked` requests are counted;
    /// nothing is begun after `until`.
    #[must_use]
    pub fn new(
        bench: &'a Bench,
        robots: &RobotsAnswer,
        now: Timestamp,
        until: Mark,
        asked: u32,
    ) -> Self {
        let left = REQUESTS_MAX.saturating_sub(asked);
        let host = Host::new(bench, robots.clone());
        Self { bench, hosts: vec![host], left, until, now, again: None }
    }

    /// The same with one second try after this pause, for a host that is in trouble.
    #[must_use]
    pub const fn confirming(mut self, pause: Duration) -> Self {
        self.again = Some(pause);
        self
    }

    /// Waits for the host of `url` to recover; whether it may be asked again.
    pub async fn wait_for(&mut self, url: &Url) -> bool {
        let Some(pause) = self.again.take().filter(|it| *it < self.until.left()) else {
            return false;
        };
        self.bench.clock.sleep(pause).await;
        let origin = url.origin();
        for host in self.hosts.iter_mut().filter(|it| it.origin == origin) {
            host.is_overloaded = false;
        }
        true
    }

    /// The bench that it works at.
    #[must_use]
    pub const fn bench(&self) -> &'a Bench {
        self.bench
    }

    /// Whether no more requests will be made.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.left == 0 || self.until.left().is_zero()
    }

    /// Asks whether something is there.
    pub async fn head(&mut self, url: &Url) -> TargetAnswer {
        let mut answer = self.ask(url, Question::Head(Method::Head)).await;
        // Some servers know no `HEAD`, and some answer it wrongly: an error is asked for twice.
        if answer.as_ref().is_ok_and(|it| it.status >= 400) && !self.is_done() {
            answer = self.ask(url, Question::Head(Method::Get)).await;
        }
        match answer {
            Ok(reply) => TargetAnswer::Answered(Box::new(Target::of_head(&reply))),
            Err(silence) => silence.into(),
        }
    }

    /// Asks for a page and reads it.
    pub async fn page(&mut self, url: &Url) -> TargetAnswer {
        let reply = match self.ask(url, Question::Page).await {
            Ok(reply) => reply,
            Err(silence) => return silence.into(),
        };
        let (at, now) = (url.clone(), self.now);
        let read = self.bench.parsers.run(move |it| Target::read(&at, &reply, now, it)).await;
        match read {
            Ok(target) => TargetAnswer::Answered(Box::new(target)),
            Err(_) => TargetAnswer::Failed("the page could not be read".to_owned()),
        }
    }

    /// Asks for a text file, following a few redirects.
    pub async fn file(&mut self, url: &Url, bytes: usize) -> FileAnswer {
        let mut url = url.clone();
        for _ in 0..=FILE_HOPS_MAX {
            let reply = match self.ask(&url, Question::File(bytes)).await {
                Ok(reply) => reply,
                Err(Silence::Failed(why)) => return FileAnswer::Failed(why),
                Err(Silence::NotAsked(why)) => return FileAnswer::NotAsked(why),
            };
            match (reply.status, reply.header("location").and_then(|it| url.join(it).ok())) {
                (300..=399, Some(next)) => url = next,
                (200..=299, _) => {
                    return FileAnswer::Text(String::from_utf8_lossy(&reply.body).into_owned());
                }
                (status, _) => return FileAnswer::Status(status),
            }
        }
        FileAnswer::Failed("there are too many redirects".to_owned())
    }

    async fn ask(&mut self, url: &Url, question: Question) -> Result<Reply, Silence> {
        let page = PageUrl::parse(url.as_str(), self.bench.targets)
            .map_err(|_| Silence::NotAsked("it is not an address that is fetched"))?;
        let host = self.host(page.url()).await?;
        let known = self.hosts.get_mut(host).ok_or(Silence::NotAsked(LIMIT))?;
        if known.is_overloaded {
            return Err(Silence::NotAsked("its host asked for a pause"));
        }
        if known.robots.access(ROBOTS_TOKEN, page.url()) != Access::Allowed {
            return Err(Silence::NotAsked("robots.txt keeps this audit from asking it"));
        }
        let wait = known.pause.saturating_sub(known.asked_at.elapsed());
        if self.left == 0 || self.until.left() <= wait {
            return Err(Silence::NotAsked(LIMIT));
        }
        self.left = self.left.saturating_sub(1);
        self.bench.clock.sleep(wait).await;
        let work = Box::pin(question.put(self.bench, &page));
        let answer = self.bench.clock.within(self.until.left(), work).await;
        if let Some(known) = self.hosts.get_mut(host) {
            known.asked_at = self.bench.clock.mark();
            let is_overloaded = |it: &Reply| matches!(it.status, 429 | 503);
            known.is_overloaded = matches!(&answer, Ok(Ok(it)) if is_overloaded(it));
        }
        match answer {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) => Err(Silence::Failed(error.to_string())),
            Err(_) => Err(Silence::NotAsked(LIMIT)),
        }
    }

    /// The place of a host in the list; an unknown one is asked for its rules first.
    async fn host(&mut self, url: &Url) -> Result<usize, Silence> {
        let origin = url.origin();
        if let Some(at) = self.hosts.iter().position(|it| it.origin == origin) {
            return Ok(at);
        }
        if self.is_done() {
            return Err(Silence::NotAsked(LIMIT));
        }
        self.left = self.left.saturating_sub(1);
        let work = Box::pin(fetch::robots(self.bench, url));
        let robots = self.bench.clock.within(self.until.left(), work).await;
        let robots = robots.map_err(|_| Silence::NotAsked(LIMIT))?;
        self.hosts.push(Host::new(self.bench, robots));
        Ok(self.hosts.len().saturating_sub(1))
    }
}

/// What is asked of an address.
#[derive(Clone, Copy)]
enum Question {
    Head(Method),
    Page,
    File(usize),
}

impl Question {
    async fn put(self, bench: &Bench, url: &PageUrl) -> Result<Reply, Error> {
        match self {
            Self::Head(method) => fetch::head(bench, url, method).await,
            Self::Page => fetch::once(bench, url).await,
            Self::File(bytes) => fetch::file(bench, url, bytes).await,
        }
    }
}

impl Host {
    /// A host whose robots.txt was asked just now.
    fn new(bench: &Bench, robots: RobotsAnswer) -> Self {
        let wished = match &robots.kind {
            AnswerKind::File { body, .. } => crawl_delay(body),
            AnswerKind::Missing(_)
            | AnswerKind::Refused(_)
            | AnswerKind::Unreachable(_)
            | AnswerKind::NotAsked => None,
        };
        // In development there is no pause at all.
        let wished = wished.filter(|_| !bench.politeness.is_zero()).unwrap_or_default();
        let pause = bench.politeness.max(wished);
        let (origin, asked_at) = (robots.url.origin(), bench.clock.mark());
        Self { origin, robots, asked_at, pause, is_overloaded: false }
    }
}

impl From<Silence> for TargetAnswer {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Failed(why) => Self::Failed(why),
            Silence::NotAsked(why) => Self::NotAsked(why),
        }
    }
}

/// The pause that a robots.txt wishes of this audit or of everybody, as far as it is honoured.
fn crawl_delay(file: &[u8]) -> Option<Duration> {
    let (mut is_ours, mut names_end) = (false, true);
    let mut wished = None;
    for record in records(readable(file).bytes) {
        let Some(key) = record.key else { continue };
        if key.eq_ignore_ascii_case(b"user-agent") {
            is_ours = !std::mem::take(&mut names_end) && is_ours;
            let name = record.value;
            is_ours |= name == b"*" || name.eq_ignore_ascii_case(ROBOTS_TOKEN.as_bytes());
        } else {
            names_end = true;
            if is_ours && key.eq_ignore_ascii_case(b"crawl-delay") {
                let value = std::str::from_utf8(record.value).ok()?;
                let seconds: f64 = value.parse().ok()?;
                wished = Duration::try_from_secs_f64(seconds).ok();
            }
        }
    }
    wished.map(|it| it.min(CRAWL_DELAY_MAX))
}

/// The name under which robots.txt files can give this audit rules.
const ROBOTS_TOKEN: &str = "Errand";
/// Requests besides those for the page itself.
pub const REQUESTS_MAX: u32 = 24;
/// The longest pause that a robots.txt can ask for.
const CRAWL_DELAY_MAX: Duration = Duration::from_secs(10);
/// Redirects of a file that are followed.
const FILE_HOPS_MAX: usize = 3;
/// Why something was not asked when there was no room for it.
pub const LIMIT: &str = "the limits of one audit were reached";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_for_pauses_is_heard_and_bounded() {
        let wish = |text: &str| crawl_delay(text.as_bytes()).map(|it| it.as_millis());
        assert_eq!(wish("User-agent: *\nCrawl-delay: 2.5"), Some(2_500));
        assert_eq!(wish("User-agent: *\nDisallow:\nCrawl-delay: 600"), Some(10_000));
        assert_eq!(wish("User-agent: bingbot\nCrawl-delay: 5"), None);
        assert_eq!(wish("User-agent: bingbot\nUser-agent: errand\nCrawl-delay: 5"), Some(5_000));
        assert_eq!(wish("User-agent: *\nDisallow:\nUser-agent: x\nCrawl-delay: 5"), None);
        assert_eq!(wish("User-agent: *\nCrawl-delay: -1"), None);
    }
}
