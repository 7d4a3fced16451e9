//! The agent itself: input, the order of its work, and the outcome.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::task::JoinSet;

use crate::agents::agent::{Agent, Entry, Task};
use crate::agents::bench::Bench;
use crate::agents::input::InputError;
use crate::agents::parsers::Patience;
use crate::agents::scan::baseline::{Baseline, Past};
use crate::agents::scan::looks::{by_host, known_pages, look_again};
use crate::agents::scan::order::{Order, input_schema};
use crate::agents::scan::report::{self, Scan};
use crate::agents::scan::result;
use crate::agents::scan::roles::Role;
use crate::agents::scan::settle::{Second, Settled, begin, settle};
use crate::agents::scan::visit::{SiteStatus, SiteVisit, visit};
use crate::agents::scan::weigh::to_confirm;
use crate::agents::seo::markdown::count;
use crate::domain::outcome::{Failure, Outcome, Reason, Report, Work};
use crate::domain::receiver::UrlPolicy;
use crate::domain::target::PageUrl;
use crate::domain::time::Timestamp;
use crate::outbound::BoxFuture;

/// Compares competitors, and tells what changed at them.
#[derive(Debug)]
pub struct CompetitorScan {
    entry: Entry,
    targets: UrlPolicy,
}

impl CompetitorScan {
    /// The agent, taking the pages that `targets` allows.
    #[must_use]
    pub fn new(targets: UrlPolicy) -> Self {
        let entry = Entry {
            kind: "competitor_scan".to_owned(),
            name: "Competitor scan".to_owned(),
            description: "Compares two to five competitors, and your own site with them: prices, \
                          plans, messages, technology. On a schedule it tells what changed, and \
                          stays silent when nothing did."
                .to_owned(),
            schedulable: true,
            timeout: TIMEOUT,
            input_schema: input_schema(),
        };
        Self { entry, targets }
    }
}

impl Agent for CompetitorScan {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn accept(&self, input: &Map<String, Value>) -> Result<String, InputError> {
        Order::accept(input, self.targets).map(|it| it.to_json())
    }

    fn run<'a>(&'a self, task: &'a Task, bench: &'a Bench) -> BoxFuture<'a, Work> {
        Box::pin(async move {
            match bench.clock.within(TIME_MAX, Box::pin(scan(task, bench))).await {
                Ok(work) => work,
                Err(_) => failed("timeout", "The scan took longer than three minutes."),
            }
        })
    }
}

async fn scan(task: &Task, bench: &Bench) -> Work {
    let begun = bench.clock.mark();
    let Some(order) = Order::stored(&task.input, bench.targets) else {
        return failed("url_invalid", "The addresses of the sites are not ones that are fetched.");
    };
    let is_scheduled = task.trigger.schedule().is_some();
    let past = past(task, bench, is_scheduled).await;
    let visits = visit_all(task, bench, &order, &past).await;
    let own = order.own();
    // Comparing is work for the hands, and they take what they work on.
    let compared = bench.parsers.run(move |patience| {
        let wanted = match &past {
            Past::Known(base) => to_confirm(base, &visits, own, patience),
            Past::None | Past::Reset(_) if is_scheduled => all_pages(&visits, own),
            Past::None | Past::Reset(_) => Vec::new(),
        };
        (past, visits, wanted)
    });
    let Ok((past, visits, wanted)) = compared.await else { return broken() };
    let steps = steps(&order);
    let mut seconds = Vec::new();
    if !wanted.is_empty() {
        let done = steps.saturating_sub(2);
        task.progress.report(done, steps, "Waiting to look a second time");
        seconds = look_again(bench, &visits, &wanted, &past, begun).await;
    }
    task.progress.report(steps.saturating_sub(1), steps, "Comparing");
    let finding = Finding { order, visits, seconds, is_scheduled };
    let (input, now) = (task.input.clone(), bench.clock.now());
    let work = bench.parsers.run(move |it| conclude(finding, past, &input, now, it)).await;
    task.progress.report(steps, steps, "Done");
    work.unwrap_or_else(|_| broken())
}

fn broken() -> Work {
    failed("internal", "The scan could not be written down.")
}

/// What was fetched.
struct Finding {
    order: Order,
    visits: Vec<SiteVisit>,
    seconds: Vec<Second>,
    is_scheduled: bool,
}

/// Decides what the run says and what it leaves to the next one.
fn conclude(
    finding: Finding,
    past: Past,
    input: &str,
    now: Timestamp,
    patience: &Patience,
) -> Work {
    let Finding { order, visits, seconds, is_scheduled } = finding;
    let own = order.own();
    let mut scan =
        Scan { at: now, sites: visits, own, since: None, reset: None, settled: Settled::default() };
    let competitors = |scan: &Scan| {
        let others = scan.sites.iter().enumerate().filter(|it| Some(it.0) != own);
        others.map(|it| it.1.status.clone()).collect::<Vec<_>>()
    };
    let nothing_read = !competitors(&scan).contains(&SiteStatus::Ok);
    let (mut baseline, is_first) = match past {
        Past::Known(mut base) => {
            scan.settled = settle(&mut base, &scan.sites, &seconds, own, patience);
            scan.since = Some(base.reported_at.clone());
            scan.reset = lost(base.lost());
            (*base, false)
        }
        Past::None => (begin(input, &now.to_string(), &scan.sites, &seconds, patience), true),
        Past::Reset(reason) => {
            scan.reset = Some(reason.to_owned());
            (begin(input, &now.to_string(), &scan.sites, &seconds, patience), true)
        }
    };
    let has_news = scan.notable().next().is_some();
    if has_news {
        baseline.reported_at = now.to_string();
    }
    let outcome = if nothing_read && !has_news {
        Outcome::Failed(nothing_readable(&competitors(&scan)))
    } else if is_first || has_news {
        Outcome::Succeeded(write(&scan, report::of(&scan)))
    } else {
        Outcome::NoSignal(write(&scan, report::nothing_new(&scan)))
    };
    // A first scan that read nothing is no beginning.
    let keeps = is_scheduled && !(is_first && nothing_read);
    Work { outcome, baseline: keeps.then(|| baseline.encode()).flatten() }
}

/// What is said of pages that the rules of today could not read again.
fn lost(pages: usize) -> Option<String> {
    (pages > 0).then(|| {
        format!(
            "{} of the last scan could not be compared, because the rules have changed since.",
            count(pages, "page")
        )
    })
}

fn write(scan: &Scan, output: String) -> Report {
    Report { output, result: Some(result::of(scan)) }
}

fn nothing_readable(statuses: &[SiteStatus]) -> Failure {
    let all = |is: fn(&SiteStatus) -> bool| statuses.iter().all(is);
    let (code, message) = if all(|it| matches!(it, SiteStatus::Refused(_))) {
        ("all_refused", "The robots.txt of every competitor forbids the scan.".to_owned())
    } else if all(|it| matches!(it, SiteStatus::Challenge)) {
        ("all_challenged", "A firewall at every competitor asked for a browser.".to_owned())
    } else {
        let reason = statuses.first().map(|it| it.reason().to_owned()).unwrap_or_default();
        ("all_unreachable", format!("No competitor could be read; the first one: {reason}."))
    };
    Failure { reason: Reason::AgentError, code: code.to_owned(), message }
}

fn failed(code: &str, message: &str) -> Work {
    let (code, message) = (code.to_owned(), message.to_owned());
    Work::from(Outcome::Failed(Failure { reason: Reason::AgentError, code, message }))
}

/// What the last scan of the same schedule left, read by the rules of today.
async fn past(task: &Task, bench: &Bench, is_scheduled: bool) -> Past {
    if !is_scheduled {
        return Past::None;
    }
    let (stored, input) = (task.baseline.clone(), task.input.clone());
    let read = bench.parsers.run(move |patience| {
        let mut past = Baseline::decode(stored.as_deref(), &input);
        if let Past::Known(base) = &mut past {
            base.renew(patience);
        }
        past
    });
    read.await.unwrap_or(Past::Reset("Nothing was compared: the last scan could not be read."))
}

/// Visits every site; sites of one host after each other, others at the same time.
async fn visit_all(task: &Task, bench: &Bench, order: &Order, past: &Past) -> Vec<SiteVisit> {
    let mut visits = JoinSet::new();
    for group in by_host(order.sites().map(PageUrl::url)) {
        let of_group = order.sites().enumerate().filter(|it| group.contains(&it.0));
        let group: Vec<_> =
            of_group.map(|(site, url)| (site, url.clone(), known_pages(past, site))).collect();
        let bench = bench.clone();
        visits.spawn(async move {
            let mut done: Vec<(usize, SiteVisit)> = Vec::new();
            let turns = u32::try_from(group.len()).unwrap_or(u32::MAX);
            for (site, url, known) in group {
                if let Some((_, last)) = done.last() {
                    bench.clock.sleep(last.hosts.pause(&bench, url.url())).await;
                }
                let visited = bench
                    .clock
                    .within(VISIT_TIME_MAX, Box::pin(visit(&bench, &url, &known, turns)))
                    .await;
                let slow = |_| SiteVisit::unreachable(url.clone(), "it took too long");
                done.push((site, visited.unwrap_or_else(slow)));
            }
            done
        });
    }
    let total = steps(order);
    task.progress.report(0, total, &format!("Visiting {} sites", order.sites().count()));
    let mut found: Vec<(usize, SiteVisit)> = Vec::new();
    while let Some(group) = visits.join_next().await {
        for (site, visited) in group.unwrap_or_default() {
            let host = visited.start.url().host_str().unwrap_or_default();
            let message = if visited.is_ok() {
                format!("Read {} pages of {host}", visited.pages.len())
            } else {
                format!("Could not read {host}: {}", visited.status.reason())
            };
            found.push((site, visited));
            let done = u32::try_from(found.len()).unwrap_or(u32::MAX);
            task.progress.report(done, total, &message);
        }
    }
    let visit_of = |(site, url): (usize, &PageUrl)| {
        let at = found.iter().position(|it| it.0 == site);
        let lost = || SiteVisit::unreachable(url.clone(), "its page could not be read");
        at.map_or_else(lost, |it| found.swap_remove(it).1)
    };
    order.sites().enumerate().map(visit_of).collect()
}

/// Every page that was read of competitors.
fn all_pages(visits: &[SiteVisit], own: Option<usize>) -> Vec<(usize, Role)> {
    let others = visits.iter().enumerate().filter(|it| Some(it.0) != own && it.1.is_ok());
    others.flat_map(|(site, it)| it.pages.iter().map(move |it| (site, it.0))).collect()
}

/// Steps of a scan, for its progress: one a site, a second look, the comparison.
fn steps(order: &Order) -> u32 {
    u32::try_from(order.sites().count()).unwrap_or(u32::MAX).saturating_add(2)
}

/// The time that the catalogue promises at most. Source: the contract, section 6.
const TIMEOUT: Duration = Duration::from_mins(3);
/// The time after which a scan gives up by itself, shortly before it would be stopped.
const TIME_MAX: Duration = Duration::from_secs(177);
/// Time for one site.
const VISIT_TIME_MAX: Duration = Duration::from_secs(80);
