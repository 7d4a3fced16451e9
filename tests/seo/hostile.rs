//! Pages made to hurt whoever reads them: they end soon, and with an answer.

use std::time::Duration;

use errand::agents::page::reply::Reply;
use errand::agents::seo::audit::{Audit, examine};
use errand::agents::seo::history::History;
use errand::agents::seo::news::Changes;
use errand::agents::seo::subject::Fetched;
use errand::agents::seo::{report, result};
use errand::agents::{Patience, Progress};
use errand::domain::limits::{OUTPUT_CHARS_MAX, RESULT_BYTES_MAX};
use errand::domain::outcome::Outcome;
use errand::domain::time::Timestamp;
use errand::sys::clock::Clock;
use proptest::prelude::*;
use tokio::io::AsyncWriteExt as _;
use url::Url;

use crate::corpus::{Corpus, file, gzip};

/// The audit of some bytes that came as HTML.
fn audit(body: Vec<u8>) -> Audit {
    let html = ("content-type".to_owned(), "text/html; charset=utf-8".to_owned());
    let reply = Reply { status: 200, headers: vec![html], body: body.into(), ..Reply::default() };
    let url = Url::parse("https://example.com/page").unwrap();
    let fetched = Fetched::alone(url, reply, Timestamp::parse("2026-11-20T12:00:00Z").unwrap());
    examine(fetched, &Patience::endless()).unwrap()
}

/// What this thread has used of a processor; other work on the machine does not count.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap())
}

/// Audits a page and writes both reports, within two seconds of a processor.
#[track_caller]
fn check_soon(name: &str, page: &str) {
    let start = processor_time();
    let audit = audit(page.as_bytes().to_vec());
    let (text, json) = (report::of(&audit), result::of(&audit).to_string());
    let spent = processor_time() - start;
    assert!(spent < Duration::from_secs(2), "{name}: {spent:?}");
    assert!(text.chars().count() <= OUTPUT_CHARS_MAX, "{name}: {}", text.len());
    assert!(json.len() <= RESULT_BYTES_MAX, "{name}: {}", json.len());
}

#[test]
fn hostile_pages_are_audited_within_two_seconds_of_a_processor() {
    let many = |count: u32, part: &str| part.repeat(usize::try_from(count).unwrap());
    let attributes: String = (0..60_000).map(|it| format!(" a{it}=1")).collect();
    let nested = "{\"@type\":\"Product\",\"offers\":[".to_owned() + &many(120, "[");
    let things = many(9_000, "{\"@context\":\"https://schema.org\",\"@type\":\"Product\"},");
    for (name, page) in [
        ("nested", many(100_000, "<div>")),
        ("nested and closed", many(100_000, "<div>") + &many(100_000, "</div>")),
        ("attributes", format!("<p{attributes}>x")),
        ("formatting", many(20_000, "<b><i></b>")),
        ("links", many(20_000, "<a href=/x>here</a>")),
        ("named headings", many(20_000, "<h1 aria-label='Not found'></h1>")),
        ("images", many(20_000, "<img src=a srcset='b 1x, c 2x'>")),
        ("metas", many(20_000, "<meta property=og:image content=/x>")),
        ("microdata", many(10_000, "<i itemscope itemprop=a itemtype=https://schema.org/Offer>")),
        ("values", format!("<div itemscope>{}", many(15_000, "<p itemprop=name>x"))),
        ("deep json", format!("<script type=application/ld+json>{nested}</script>")),
        ("much json", format!("<script type=application/ld+json>[{things}1]</script>")),
        ("blocks", many(10_000, "<script type=application/ld+json></script>")),
        ("prices", format!("<p>{}", many(100_000, "€9 "))),
        ("mains", many(5_000, "<main>x ")),
        ("hreflang", many(9_000, "<link rel=alternate hreflang=de href=https://a.example/>")),
    ] {
        check_soon(name, &page);
    }
}

#[test]
fn a_report_of_everything_at_once_still_fits() {
    let sly = "` <b> [x](http://evil.example) ".repeat(40).replace('<', "&lt;");
    let head = format!(
        "<title>{sly}</title><meta name=robots content='nofollow, {sly}'><link rel=canonical \
         href='{sly}'><link rel=alternate hreflang='{sly}' href='{sly}'><meta http-equiv=refresh \
         content='9;{sly}'><script type=application/ld+json>[{sly}</script>"
    );
    let body = format!("<h1>{sly}</h1><h5>{sly}</h5><a href='/{sly}'>more</a><img src='{sly}'>");
    let page = format!("<html lang='{sly}'>{}{}", head.repeat(20), body.repeat(500));
    let mut audit = audit(page.into_bytes());
    let entries = |count: usize| vec![("x".repeat(30), "y".repeat(500)); count];
    let changes = Changes {
        appeared: entries(40),
        fixed: entries(40),
        facts: vec![("title".to_owned(), sly.clone(), sly); 9],
        ..Changes::default()
    };
    audit.history = History::Changed(changes);
    let report = report::of(&audit);
    assert!(report.chars().count() <= OUTPUT_CHARS_MAX, "{}", report.chars().count());
    assert!(report.contains("## Changed since") && report.contains("## Facts"));
}

#[tokio::test]
async fn bombs_and_endless_bodies_end_with_a_code() {
    let corpus = Corpus::serve();
    let bomb = gzip(&vec![b' '; 64 * 1024 * 1024]);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        bomb.len()
    );
    let whole = [head.into_bytes(), bomb].concat();
    corpus.internet.serve("127.0.0.1:9101", move |mut stream| {
        let whole = whole.clone();
        async move {
            let _ = stream.write_all(&whole).await;
        }
    });
    corpus.internet.serve("127.0.0.1:9102", |mut stream| async move {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(head).await;
        while stream.write_all(&[b'x'; 4_096]).await.is_ok() {}
    });
    for (address, code) in [("127.0.0.1:9101", "too_large"), ("127.0.0.1:9102", "too_large")] {
        let start = Clock::host().mark();
        let outcome = corpus.audit_url(&format!("http://{address}/"), Progress::default()).await;
        let Outcome::Failed(failure) = outcome else { panic!("{address}: {outcome:?}") };
        assert_eq!(failure.code, code, "{}", failure.message);
        assert!(start.elapsed() < Duration::from_secs(2), "{address}: {:?}", start.elapsed());
    }
}

/// Pages that are broken on purpose: parts cut out, doubled, swapped, bytes overwritten.
const SEEDS: [&str; 6] = [
    "fresh/bakery-de.html",
    "fresh/recipe-microdata.html",
    "fresh/nineties.html",
    "fresh/hreflang-noreturn.html",
    "xhtml.html",
    "charset-utf16.html",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn broken_pages_are_audited_all_the_same(
        seed in 0..SEEDS.len(),
        cuts in prop::collection::vec((0..4_u8, 0..4_000_usize, 1..200_usize, any::<u8>()), 1..12),
    ) {
        let mut page = file(SEEDS[seed]);
        for (what, at, length, byte) in cuts {
            let at = at % page.len().max(1);
            let end = (at + length).min(page.len());
            match what {
                0 => drop(page.drain(at..end)),
                1 => page.splice(at..at, page[at..end].to_vec()).for_each(drop),
                2 => page[at..end].reverse(),
                _ => page[at..end].iter_mut().step_by(7).for_each(|it| *it = byte),
            }
        }
        let audit = audit(page);
        prop_assert!(audit.score.value <= 100);
        prop_assert!(report::of(&audit).chars().count() <= OUTPUT_CHARS_MAX);
    }
}
