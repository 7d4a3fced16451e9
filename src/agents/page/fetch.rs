//! Fetches a page and its robots.txt: one request a hop, each judged by the guard again.
//!
//! Nothing is kept between requests: no cookie, no connection, no cache. The user agent says
//! who asks; it never pretends to be a browser.

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use url::Url;

use crate::agents::bench::Bench;
use crate::agents::page::reply::Reply;
use crate::agents::page::robots::records::BYTES_MAX;
use crate::agents::page::robots::{AnswerKind, RobotsAnswer};
use crate::agents::page::trail::{Astray, Hop, Next, Trail};
use crate::domain::target::PageUrl;
use crate::outbound::{ACCEPT_ENCODING, Ask, Error, Limits, Method, Opened};

/// A page that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The address that was asked for.
    pub asked: Url,
    /// The answers that led on.
    pub hops: Vec<Hop>,
    /// The address that answered in the end.
    pub url: Url,
    /// Its answer.
    pub reply: Reply,
}

/// Why a page did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfetched {
    /// The address that was asked last.
    pub url: Url,
    /// Whether a redirect had led there.
    pub was_redirected: bool,
    /// What went wrong.
    pub why: Trouble,
}

/// What went wrong with a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The exchange failed.
    Exchange(Error),
    /// The redirects lead nowhere.
    Astray(Astray),
}

/// Fetches `start`, following its redirects.
///
/// # Errors
///
/// [`Unfetched`] when there is no whole answer; an error status is an answer.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn page(bench: &Bench, start: &PageUrl) -> Result<Visit, Unfetched> {
    let mut trail = trail(bench, start);
    loop {
        if let Some(visit) = hop(bench, start, &mut trail).await? {
            return Ok(visit);
        }
    }
}

/// The trail of a page, for those who judge every address before it is asked.
#[must_use]
pub fn trail(bench: &Bench, start: &PageUrl) -> Trail {
    Trail::new(start.clone(), bench.targets, HOPS_MAX)
}

/// Asks the address that a trail of `start` is at; nothing when the answer leads on.
///
/// # Errors
///
/// [`Unfetched`] when there is no whole answer; an error status is an answer.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves the trail where it is.
pub async fn hop(
    bench: &Bench,
    start: &PageUrl,
    trail: &mut Trail,
) -> Result<Option<Visit>, Unfetched> {
    let limits = Limits::default();
    let failed = |trail: &Trail, why| Unfetched {
        url: trail.url().clone(),
        was_redirected: !trail.hops().is_empty(),
        why,
    };
    let ask = ask(bench, trail.url(), limits);
    let answer = match bench.client.open(&ask).await {
        Ok(answer) => answer,
        Err(error) => return Err(failed(trail, Trouble::Exchange(error))),
    };
    match trail.step(answer.status, answer.headers.first("location")) {
        Ok(Next::On) => Ok(None),
        Ok(Next::Arrived) => {
            let (asked, url) = (start.url().clone(), trail.url().clone());
            let hops = trail.hops().to_vec();
            let head = Reply::from_head(&answer);
            match answer.read(&limits).await {
                Ok(answer) => Ok(Some(Visit { asked, hops, url, reply: answer.into() })),
                // The status says it all; nobody needs the rest.
                Err(_) if head.status >= 400 => Ok(Some(Visit { asked, hops, url, reply: head })),
                Err(error) => Err(failed(trail, Trouble::Exchange(error))),
            }
        }
        Err(astray) => Err(failed(trail, Trouble::Astray(astray))),
    }
}

/// Asks the host of `page` for its robots.txt.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn robots(bench: &Bench, page: &Url) -> RobotsAnswer {
    let start = bench.clock.mark();
    let mut url = page.clone();
    url.set_path("/robots.txt");
    url.set_query(None);
    url.set_fragment(None);
    let kind = match PageUrl::parse(url.as_str(), bench.targets) {
        Ok(url) => ask_robots(bench, &url).await,
        Err(_) => AnswerKind::Unreachable("its address is not fetched".to_owned()),
    };
    RobotsAnswer { kind, url, took: start.elapsed() }
}

/// Asks one address once; a redirect is an answer.
///
/// # Errors
///
/// [`Error`] says in which stage it broke.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn once(bench: &Bench, url: &PageUrl) -> Result<Reply, Error> {
    let ask = ask(bench, url.url(), Limits::default());
    let answer = bench.client.open(&ask).await?;
    if !(200..300).contains(&answer.status) {
        return Ok(Reply::from_head(&answer));
    }
    answer.read(&ask.limits).await.map(Reply::from)
}

/// Asks one address with `method` and reads nothing but the head; a redirect is an answer.
///
/// # Errors
///
/// [`Error`] says in which stage it broke.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn head(bench: &Bench, url: &PageUrl, method: Method) -> Result<Reply, Error> {
    let ask = Ask { method, ..ask(bench, url.url(), FILE_LIMITS) };
    let answer = bench.client.open(&ask).await?;
    Ok(Reply::from_head(&answer))
}

/// Asks for a file, of which at most `bytes` are read; a redirect is an answer.
///
/// # Errors
///
/// [`Error`] says in which stage it broke.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn file(bench: &Bench, url: &PageUrl, bytes: usize) -> Result<Reply, Error> {
    let limits = Limits { wire_bytes: bytes, decoded_bytes: bytes, ..FILE_LIMITS };
    let ask = ask(bench, url.url(), limits);
    let answer = bench.client.open(&ask).await?;
    if !(200..300).contains(&answer.status) {
        return Ok(Reply::from_head(&answer));
    }
    answer.read(&ask.limits).await.map(Reply::from)
}

/// The time until the head of the page's answer is there, asked for once more.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn first_byte(bench: &Bench, url: &Url) -> Option<Duration> {
    let answer = bench.client.open(&ask(bench, url, Limits::default())).await.ok()?;
    Some(answer.timing.first_byte)
}

async fn ask_robots(bench: &Bench, start: &PageUrl) -> AnswerKind {
    let mut trail = Trail::new(start.clone(), bench.targets, ROBOTS_HOPS_MAX);
    loop {
        let ask = ask(bench, trail.url(), ROBOTS_LIMITS);
        let answer = match bench.client.open(&ask).await {
            Ok(answer) => answer,
            Err(error) => return AnswerKind::Unreachable(error.to_string()),
        };
        let status = answer.status;
        match trail.step(status, answer.headers.first("location")) {
            Ok(Next::On) => {}
            // Source: RFC 9309, section 2.3.1.2: redirects that lead nowhere are a missing file.
            Err(_) => return AnswerKind::Missing(status),
            Ok(Next::Arrived) => {
                return match status {
                    200..=299 => read_robots(answer).await,
                    429 | 500..=599 => AnswerKind::Refused(status),
                    _ => AnswerKind::Missing(status),
                };
            }
        }
    }
}

/// Reads as much of a file as crawlers must, and a little more.
async fn read_robots(mut answer: Opened) -> AnswerKind {
    let mut body = BytesMut::new();
    while body.len() <= BYTES_MAX {
        match answer.chunk(&ROBOTS_LIMITS).await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => return AnswerKind::Unreachable(error.to_string()),
        }
    }
    AnswerKind::file(body.freeze())
}

fn ask(bench: &Bench, url: &Url, limits: Limits) -> Ask {
    let headers = vec![
        ("user-agent", bench.user_agent.clone()),
        ("accept", ACCEPT.to_owned()),
        ("accept-encoding", ACCEPT_ENCODING.to_owned()),
    ];
    Ask { method: Method::Get, url: url.clone(), headers, body: Bytes::new(), limits }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(error) => error.fmt(f),
            Self::Astray(astray) => astray.fmt(f),
        }
    }
}

/// Redirects that are followed; Google follows as many.
const HOPS_MAX: usize = 10;
/// Redirects of a robots.txt that are followed. Source: RFC 9309, section 2.3.1.2.
const ROBOTS_HOPS_MAX: usize = 5;
/// What is asked for: pages, and anything for want of one.
const ACCEPT: &str = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1";
/// The limits of what is asked besides a page.
const FILE_LIMITS: Limits = Limits {
    dns: Duration::from_secs(3),
    connect: Duration::from_secs(3),
    tls: Duration::from_secs(3),
    head: Duration::from_secs(6),
    total: Duration::from_secs(10),
    wire_bytes: 1024 * 1024,
    decoded_bytes: 1024 * 1024,
};
/// The limits of a robots.txt; whoever reads it stops long before these sizes.
const ROBOTS_LIMITS: Limits = Limits {
    dns: Duration::from_secs(3),
    connect: Duration::from_secs(5),
    tls: Duration::from_secs(5),
    head: Duration::from_secs(10),
    total: Duration::from_secs(15),
    wire_bytes: 64 * 1024 * 1024,
    decoded_bytes: 64 * 1024 * 1024,
};
