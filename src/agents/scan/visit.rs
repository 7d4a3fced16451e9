//! Visits a site: robots.txt, the page that was named, up to three more, a feed and a sitemap.
//!
//! One request at a time, with pauses; what robots.txt forbids is not asked for.

use std::time::Duration;

use url::Url;

use crate::agents::bench::Bench;
use crate::agents::page::fetch::{self, Visit};
use crate::agents::page::robots::AnswerKind;
use crate::agents::scan::facts::Post;
use crate::agents::scan::feed;
use crate::agents::scan::hosts::{Hosts, Stopped};
use crate::agents::scan::reading::Reading;
use crate::agents::scan::roles::{Role, further};
use crate::agents::scan::usable::Usability;
use crate::domain::target::PageUrl;
use crate::sys::clock::Mark;

/// What came of a visit to a site.
#[derive(Clone, Debug)]
pub struct SiteVisit {
    /// The address that was named.
    pub start: PageUrl,
    /// How it went.
    pub status: SiteStatus,
    /// The pages that answered; the entry first.
    pub pages: Vec<(Role, Reading)>,
    /// The entries of its feed.
    pub feed: Vec<Post>,
    /// Addresses in its sitemap, and the newest change.
    pub sitemap: Option<(usize, Option<String>)>,
    /// What was not looked at, and why.
    pub limits: Vec<String>,
    /// The rules of its hosts, for asking again.
    pub hosts: Hosts,
}

/// How a visit went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteStatus {
    /// The page could be read.
    Ok,
    /// Something came back that is not the page: the reason, a fragment.
    Degraded(String),
    /// Its robots.txt forbids it: the reason, a fragment.
    Refused(String),
    /// It did not answer: the reason, a fragment.
    Unreachable(String),
    /// A firewall wants to see a browser.
    Challenge,
}

impl SiteStatus {
    /// The word for it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded(_) => "degraded",
            Self::Refused(_) => "refused",
            Self::Unreachable(_) => "unreachable",
            Self::Challenge => "challenge",
        }
    }

    /// Why the site could not be read: a fragment.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Ok => "",
            Self::Degraded(reason) | Self::Refused(reason) | Self::Unreachable(reason) => reason,
            Self::Challenge => "a firewall asked for a browser",
        }
    }
}

impl SiteVisit {
    fn new(start: PageUrl, status: SiteStatus) -> Self {
        let (pages, feed, limits) = (Vec::new(), Vec::new(), Vec::new());
        Self { start, status, pages, feed, sitemap: None, limits, hosts: Hosts::default() }
    }

    /// A visit that was given up.
    #[must_use]
    pub fn unreachable(start: PageUrl, reason: &str) -> Self {
        Self::new(start, SiteStatus::Unreachable(reason.to_owned()))
    }

    /// The page of a role.
    #[must_use]
    pub fn page(&self, role: Role) -> Option<&Reading> {
        self.pages.iter().find(|it| it.0 == role).map(|it| &it.1)
    }

    /// Whether the page that was named could be read.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.status == SiteStatus::Ok
    }
}

/// Visits a site; `known` are the pages that earlier visits found, `turns` the sites of its host,
/// which share the time for it.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn visit(bench: &Bench, start: &PageUrl, known: &[(Role, Url)], turns: u32) -> SiteVisit {
    let time_good = VISIT_TIME_GOOD / turns.max(1);
    let enough = bench.clock.mark().after(time_good);
    let mut hosts = Hosts::default();
    if let AnswerKind::Unreachable(reason) = hosts.meet(bench, start.url()).await {
        return SiteVisit::unreachable(start.clone(), reason);
    }
    let entry = match hosts.page(bench, start).await {
        Ok(entry) => entry,
        Err(Stopped::Refused(reason)) => {
            return SiteVisit::new(start.clone(), SiteStatus::Refused(reason));
        }
        Err(stopped) => return SiteVisit::unreachable(start.clone(), &stopped.reason()),
    };
    let Some(reading) = read(bench, entry).await else {
        return SiteVisit::unreachable(start.clone(), "its page could not be read");
    };
    let mut site = SiteVisit::new(start.clone(), status_of(&reading));
    let url = reading.url.clone();
    let found = reading.page().map(|it| further(it, &url)).unwrap_or_default();
    site.pages.push((Role::Entry, reading));
    site.hosts = hosts;
    if site.is_ok() {
        more_pages(bench, &mut site, known, found, enough).await;
        extras(bench, &mut site, &url, enough).await;
    }
    site
}

/// Asks a page of a site with these hosts once more, with a connection of its own.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn again(bench: &Bench, hosts: &mut Hosts, url: &Url) -> Option<Reading> {
    let url = PageUrl::parse(url.as_str(), bench.targets).ok()?;
    let visit = hosts.page(bench, &url).await.ok()?;
    read(bench, visit).await
}

async fn more_pages(
    bench: &Bench,
    site: &mut SiteVisit,
    known: &[(Role, Url)],
    found: Vec<(Role, Url)>,
    enough: Mark,
) {
    // Pages that were compared before stay the same ones.
    let is_known = |role: Role| known.iter().any(|it| it.0 == role);
    let new = found.into_iter().filter(|it| !is_known(it.0));
    let wanted = known.iter().filter(|it| it.0 != Role::Entry).cloned().chain(new);
    for (role, url) in wanted.take(Role::FOUND.len()).collect::<Vec<_>>() {
        if enough.left().is_zero() {
            site.limits.push(format!("the {role} page was left out, because the site is slow"));
            return;
        }
        let Ok(target) = PageUrl::parse(url.as_str(), bench.targets) else { continue };
        bench.clock.sleep(site.hosts.pause(bench, &url)).await;
        let visit = match site.hosts.page(bench, &target).await {
            Ok(visit) => visit,
            Err(Stopped::Refused(reason)) => {
                site.limits.push(format!("the {role} page was left out: {reason}"));
                continue;
            }
            Err(Stopped::Unfetched(_)) => {
                site.limits.push(format!("the {role} page did not answer"));
                continue;
            }
        };
        let asks_for_rest = matches!(visit.reply.status, 429 | 503);
        if let Some(reading) = read(bench, visit).await {
            site.pages.push((role, reading));
        }
        if asks_for_rest {
            site.limits.push("the site asked for fewer requests and was left alone".to_owned());
            return;
        }
    }
}

/// Reads the first feed, and the sitemap that robots.txt names.
async fn extras(bench: &Bench, site: &mut SiteVisit, entry: &Url, enough: Mark) {
    let feeds = site.pages.iter().filter_map(|it| it.1.page()).flat_map(|it| it.feeds.clone());
    let feed = feeds.into_iter().next();
    let is_own = |it: &&str| Url::parse(it).is_ok_and(|it| it.origin() == entry.origin());
    let sitemap = site.hosts.sitemaps(entry).find(is_own).map(str::to_owned);
    if let Some(text) = extra(bench, site, feed.as_deref(), enough).await {
        site.feed = feed::entries(&text);
    }
    if let Some(text) = extra(bench, site, sitemap.as_deref(), enough).await {
        site.sitemap = Some(feed::sitemap(&text));
    }
}

async fn extra(
    bench: &Bench,
    site: &SiteVisit,
    address: Option<&str>,
    enough: Mark,
) -> Option<String> {
    let url = PageUrl::parse(address?, bench.targets).ok()?;
    let is_own = site.pages.first().is_some_and(|it| it.1.url.origin() == url.url().origin());
    if !is_own || site.hosts.refusal(url.url()).is_some() || enough.left().is_zero() {
        return None;
    }
    bench.clock.sleep(site.hosts.pause(bench, url.url())).await;
    let reply = fetch::once(bench, &url).await.ok()?;
    (reply.status == 200).then(|| String::from_utf8_lossy(&reply.body).into_owned())
}

async fn read(bench: &Bench, visit: Visit) -> Option<Reading> {
    bench.parsers.run(move |patience| Reading::of(&visit, patience)).await.ok()
}

fn status_of(reading: &Reading) -> SiteStatus {
    match reading.usability {
        Usability::Usable => SiteStatus::Ok,
        Usability::Challenge => SiteStatus::Challenge,
        Usability::Degraded(reason) => SiteStatus::Degraded(reason.to_owned()),
        Usability::Missing => SiteStatus::Degraded("its page was not found (404)".to_owned()),
        Usability::Gone => SiteStatus::Degraded("its page is gone (410)".to_owned()),
    }
}

/// The time after which no further page of a host is asked for.
const VISIT_TIME_GOOD: Duration = Duration::from_secs(45);
