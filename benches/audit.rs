//! The CPU work of the two agents on a page of 100 KB, against parsing it alone; no network.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and stops at the first surprise"
)]

mod rig;

use std::hint::black_box;
use std::time::Duration;

use bytes::Bytes;
use errand::agents::Patience;
use errand::agents::page::document::Document;
use errand::agents::page::fetch::Visit;
use errand::agents::page::media::Kind;
use errand::agents::page::reply::Reply;
use errand::agents::page::robots::{AnswerKind, RobotsAnswer};
use errand::agents::scan::reading::Reading;
use errand::agents::seo::around::Around;
use errand::agents::seo::audit::examine;
use errand::agents::seo::subject::Fetched;
use errand::agents::seo::{report, result};
use errand::sys::clock::Clock;
use url::Url;

fn main() {
    rig::print_machine();
    let visit = visit();
    println!("page of {} bytes, one core", visit.reply.body.len());
    println!("work | a second | p50 | p99 | against parsing");
    let clock = Clock::host();
    let parse = || {
        let page =
            Document::read(&visit.reply.body, Some("utf-8"), Kind::Html, &Patience::endless());
        black_box(&page);
    };
    let audit = || {
        let audit = examine(fetched(&visit, &clock), &Patience::endless()).unwrap();
        black_box((report::of(&audit), result::of(&audit).to_string()));
    };
    let read = || {
        black_box(Reading::of(&visit, &Patience::endless()));
    };
    let before = Reading::of(&visit, &Patience::endless());
    let compare = || {
        let after = Reading::of(&visit, &Patience::endless());
        black_box(after.changed_since(before.page().unwrap(), &Patience::endless()));
    };
    let alone = measure(&clock, "parsing alone", None, parse);
    measure(&clock, "a whole audit", Some(alone), audit);
    measure(&clock, "facts of a scan", Some(alone), read);
    measure(&clock, "facts and comparison", Some(alone), compare);
}

/// Does the work for a while, prints how fast it was, and hands out the median.
fn measure(clock: &Clock, name: &str, alone: Option<Duration>, work: impl Fn()) -> Duration {
    for _ in 0..WARM_UP {
        work();
    }
    let start = clock.mark();
    let mut times = Vec::new();
    while start.elapsed() < TIME {
        let one = clock.mark();
        work();
        times.push(one.elapsed());
    }
    let total: Duration = times.iter().sum();
    times.sort();
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    let per_second = times.len() as f64 / total.as_secs_f64();
    let ratio = alone.map_or(1.0, |it| p50.as_secs_f64() / it.as_secs_f64());
    println!("{name:20} | {per_second:8.0} | {p50:9.1?} | {p99:9.1?} | {ratio:4.1} times");
    p50
}

/// A page of a hundred kilobytes: headings, texts, links, pictures, prices.
fn visit() -> Visit {
    let section = "<section><h2>Boats of the north</h2><p>Every boat has its own papers, and a \
                   crew that knows the tides by heart.</p><ul><li><a href=\"/boats/7\">The seventh \
                   boat</a></li><li><img src=\"/7.jpg\" alt=\"Boat\" width=\"4\" height=\"3\"></li>\
                   </ul><div class=\"plan\"><h3>Crew</h3><p>$29 / month</p></div></section>\n";
    let sections = section.repeat(PAGE_BYTES / section.len());
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Boats and tides\
         </title><meta name=\"description\" content=\"Boats, crews and tides of the north.\">\
         </head><body><main><h1>Boats</h1>{sections}</main></body></html>"
    );
    let url = Url::parse("https://site.example/").unwrap();
    let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
    let reply = Reply { status: 200, headers, body: Bytes::from(html), ..Reply::default() };
    Visit { asked: url.clone(), hops: Vec::new(), url, reply }
}

fn fetched(visit: &Visit, clock: &Clock) -> Fetched {
    let url = visit.url.join("/robots.txt").unwrap();
    let robots = RobotsAnswer { kind: AnswerKind::Missing(404), url, took: Duration::ZERO };
    let (visit, at) = (visit.clone(), clock.now());
    Fetched { visit, second_first_byte: None, robots, around: Around::default(), at }
}

/// Bytes of the page.
const PAGE_BYTES: usize = 100_000;
/// Times before anything is measured.
const WARM_UP: usize = 20;
/// Time for each work.
const TIME: Duration = Duration::from_secs(3);
