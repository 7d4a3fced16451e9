//! Looks at some pages a second time, after the pause that makes it worth it.
//!
//! Sites of one host take turns, and each host gets the pauses that it asks for. What there is no
//! time for stays open: it is compared once more in the next scan.

use std::time::Duration;

use tokio::task::JoinSet;
use url::Url;

use crate::agents::bench::Bench;
use crate::agents::scan::baseline::Past;
use crate::agents::scan::hosts::Hosts;
use crate::agents::scan::roles::Role;
use crate::agents::scan::settle::Second;
use crate::agents::scan::visit::{SiteVisit, again};
use crate::sys::clock::Mark;

/// The pages of one site that are looked at again.
struct Looks {
    site: usize,
    hosts: Hosts,
    pages: Vec<(Role, Option<Url>)>,
}

/// Looks at the `wanted` pages again; the scan began at `begun`.
///
/// # Cancel safety
///
/// Safe: dropped looks end at once.
pub async fn look_again(
    bench: &Bench,
    visits: &[SiteVisit],
    wanted: &[(usize, Role)],
    past: &Past,
    begun: Mark,
) -> Vec<Second> {
    bench.clock.sleep(bench.confirm_pause).await;
    let mut looks = JoinSet::new();
    for group in by_host(visits.iter().map(|it| it.start.url())) {
        let group: Vec<Looks> =
            group.into_iter().filter_map(|it| of_site(it, visits, wanted, past)).collect();
        let bench = bench.clone();
        looks.spawn(async move {
            let mut seconds = Vec::new();
            for Looks { site, mut hosts, pages } in group {
                for (role, url) in pages {
                    let reading = match &url {
                        Some(url) if begun.elapsed() < LOOKS_TIME_GOOD => {
                            let look = Box::pin(again(&bench, &mut hosts, url));
                            let reading = bench.clock.within(LOOK_TIME_MAX, look).await;
                            bench.clock.sleep(hosts.pause(&bench, url)).await;
                            reading.ok().flatten()
                        }
                        Some(_) | None => None,
                    };
                    seconds.push(Second { site, role, reading });
                }
            }
            seconds
        });
    }
    let mut seconds = Vec::new();
    while let Some(more) = looks.join_next().await {
        seconds.extend(more.unwrap_or_default());
    }
    seconds
}

/// The positions of addresses, those of one host together.
pub fn by_host<'a>(urls: impl Iterator<Item = &'a Url>) -> Vec<Vec<usize>> {
    let mut groups: Vec<(&Url, Vec<usize>)> = Vec::new();
    for (at, url) in urls.enumerate() {
        match groups.iter_mut().find(|it| it.0.origin() == url.origin()) {
            Some(group) => group.1.push(at),
            None => groups.push((url, vec![at])),
        }
    }
    groups.into_iter().map(|it| it.1).collect()
}

/// The pages of a site that were compared last time.
#[must_use]
pub fn known_pages(past: &Past, site: usize) -> Vec<(Role, Url)> {
    let Past::Known(base) = past else { return Vec::new() };
    let pages = base.sites.get(site).map(|it| it.pages.as_slice()).unwrap_or_default();
    pages.iter().filter_map(|it| Some((it.role, Url::parse(&it.url).ok()?))).collect()
}

fn of_site(
    site: usize,
    visits: &[SiteVisit],
    wanted: &[(usize, Role)],
    past: &Past,
) -> Option<Looks> {
    let visit = visits.get(site)?;
    let known = known_pages(past, site);
    let address = |role: Role| {
        let asked = known.iter().find(|it| it.0 == role).map(|it| it.1.clone());
        let start = (role == Role::Entry).then(|| visit.start.url().clone());
        asked.or(start).or_else(|| visit.page(role).map(|it| it.url.clone()))
    };
    let roles = wanted.iter().filter(|it| it.0 == site).map(|it| it.1);
    let pages = roles.map(|it| (it, address(it))).collect();
    Some(Looks { site, hosts: visit.hosts.clone(), pages })
}

/// Time for one page that is looked at a second time.
const LOOK_TIME_MAX: Duration = Duration::from_secs(8);
/// The time of a scan after which no page is looked at any more: a last look, the longest pause
/// and the comparison still have to fit into it.
const LOOKS_TIME_GOOD: Duration = Duration::from_secs(150);
