//! Audits of a schedule: the first one reports, the next are silent until something has changed.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use errand::agents::Progress;
use errand::domain::outcome::{Outcome, Work};
use serde_json::Value;

use crate::corpus::{BAKERY, Corpus, file};
use crate::{asking, check_approved};

const HOST: &str = "127.0.0.1:9100";
const URL: &str = "http://127.0.0.1:9100/bakery-de";

/// Serves the bakery's page, changed, beside those that it links to.
fn serve(corpus: &Corpus, change: impl Fn(String) -> String) {
    let page = |id: &str| {
        let html = String::from_utf8(file(&format!("fresh/{id}.html"))).unwrap();
        let html = html.replace("{{ORIGIN}}", &format!("http://{HOST}"));
        (format!("/{id}"), if id == "bakery-de" { change(html) } else { html })
    };
    corpus.host(HOST, ["bakery-de", "docs-api", "listing", "blog-index"].map(page));
}

#[track_caller]
fn report(work: &Work) -> (String, Value) {
    let Outcome::Succeeded(report) = &work.outcome else { panic!("{work:?}") };
    (report.output.clone(), serde_json::from_str(report.result.as_deref().unwrap()).unwrap())
}

#[track_caller]
fn check_silent(work: &Work) {
    let Outcome::NoSignal(report) = &work.outcome else { panic!("{work:?}") };
    assert!(report.output.starts_with("Nothing has changed at ") && work.baseline.is_none());
    assert_eq!(report.output.matches(". ").count(), 0, "{}", report.output);
}

#[tokio::test(start_paused = true)]
async fn noise_is_passed_over_and_changes_are_told() {
    let corpus = Corpus::serve();
    serve(&corpus, |it| it);
    let first = corpus.audit_again(URL, None).await;
    assert_eq!(report(&first).1["changed"]["first"], true);
    let baseline = first.baseline.clone();

    check_silent(&corpus.audit_again(URL, baseline.clone()).await);
    serve(&corpus, |it| {
        let it =
            it.replace("<link rel=\"icon\" href=\"/icon.svg\">", "<link href=/icon.svg rel=icon>");
        let it = it.replace("<h2>", "<h2 id=\"a17\" class=\"x\">\n").replace("1924", "1923");
        it.replace("</main>", "<p>Heute schon 412 Brote verkauft.</p></main>")
    });
    check_silent(&corpus.audit_again(URL, baseline.clone()).await);

    serve(&corpus, |it| it.replace("Brot aus dem Holzofen in Plauen</t", "Backhaus in Plauen</t"));
    let renamed = corpus.audit_again(URL, baseline.clone()).await;
    assert_eq!(report(&renamed).1["changed"]["facts"][0]["name"], "title");

    serve(&corpus, |it| it.replace("{\"@context\"", "{\"@context\",").replace("<h1>", "<h2>"));
    let broken = corpus.audit_again(URL, baseline).await;
    let appeared = &report(&broken).1["changed"]["appeared"];
    let ids: Vec<_> = appeared.as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, ["h1", "structured-data-parse"]);
    assert_eq!(report(&broken).1["changed"]["since"], "2026-11-20T12:00:00.000+00:00");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_away_is_told_once_and_so_is_its_return() {
    let corpus = Corpus::serve();
    serve(&corpus, |it| it);
    let first = corpus.audit_again(URL, None).await;
    corpus.host(HOST, []);
    let away = corpus.audit_again(URL, first.baseline).await;
    assert_eq!(report(&away).1["changed"]["appeared"][0]["id"], "http-status-code");
    check_silent(&corpus.audit_again(URL, away.baseline.clone()).await);
    serve(&corpus, |it| it);
    let back = corpus.audit_again(URL, away.baseline).await;
    let changed = report(&back).1["changed"].clone();
    assert_eq!(changed["fixed"][0]["id"], "http-status-code");
    assert_eq!(changed["appeared"], serde_json::json!([]), "{changed}");
}

/// Audits a host for its schedule; the first requests for `path` meet a server in trouble.
async fn audit_flaky(baseline: Option<Vec<u8>>, path: &'static str, troubles: usize) -> Work {
    let corpus = Corpus::serve();
    let left = AtomicUsize::new(troubles);
    asking::serve(&corpus, Duration::ZERO, move |asked| {
        let is_down = || left.fetch_update(SeqCst, SeqCst, |it| it.checked_sub(1)).is_ok();
        if asked == path && is_down() {
            return Some(String::new());
        }
        let origin = format!("http://{}", asking::HOST);
        match asked {
            "/page" => Some("<!DOCTYPE html><title>Tickets</title><h1>Tickets</h1>".to_owned()),
            "/robots.txt" => Some(format!("User-agent: *\nAllow: /\nSitemap: {origin}/map.xml\n")),
            "/map.xml" => Some(format!("<urlset><url><loc>{origin}/page</loc></url></urlset>")),
            _ => None,
        }
    });
    corpus.audit_again(&format!("http://{}/page", asking::HOST), baseline).await
}

#[tokio::test(start_paused = true)]
async fn a_moment_of_trouble_is_no_news_and_lasting_trouble_is() {
    let first = audit_flaky(None, "", 0).await;
    for (path, id) in
        [("/page", "http-status-code"), ("/robots.txt", "is-crawlable"), ("/map.xml", "sitemap")]
    {
        check_silent(&audit_flaky(first.baseline.clone(), path, 1).await);
        let lasting = audit_flaky(first.baseline.clone(), path, 9).await;
        let appeared = report(&lasting).1["changed"]["appeared"].clone();
        let ids: Vec<_> = appeared.as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert!(ids.contains(&&Value::from(id)), "{path}: {appeared}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_baseline_of_something_else_begins_anew() {
    let corpus = Corpus::serve();
    serve(&corpus, |it| it);
    let first = corpus.audit_again(URL, None).await;
    let other = format!("http://{HOST}/docs-api");
    let moved = corpus.audit_again(&other, first.baseline).await;
    let reset = report(&moved).1["changed"]["reset"].clone();
    assert_eq!(reset, "The schedule now checks another address.");
    for rubbish in [&b""[..], b"null", b"{\"format\":1}", &[0xff; 9]] {
        let work = corpus.audit_again(URL, Some(rubbish.to_vec())).await;
        let reset = report(&work).1["changed"]["reset"].clone();
        assert_eq!(reset, "The earlier result could not be read.");
    }
}

#[tokio::test(start_paused = true)]
async fn the_examples_are_reports_of_this_version() {
    let corpus = Corpus::serve();
    let page = |id: &str| {
        let html = String::from_utf8(file(&format!("fresh/{id}.html"))).unwrap();
        (format!("/{id}"), html.replace("{{ORIGIN}}", &format!("https://{BAKERY}")))
    };
    let (path, html) = page("nineties");
    let lost = "<a href=\"/programme-2019\">as planned</a>, with <a href=\"/docs-api\">orders</a>";
    let old = (path, html.replace("every Thursday", lost));
    corpus.bakery([old, page("blog-index"), page("listing"), page("docs-api")]);
    let nineties = corpus.audit_url(&format!("{BAKERY}/nineties"), Progress::default()).await;
    let Outcome::Succeeded(nineties) = nineties else { panic!("{nineties:?}") };
    check_approved("examples/reports/seo_audit.md", &nineties.output);

    let url = format!("https://{BAKERY}/bakery-de");
    let others = || ["listing", "docs-api"].map(page);
    corpus.bakery(others().into_iter().chain([page("bakery-de")]));
    let first = corpus.audit_again(&url, None).await;
    corpus.bench.clock.sleep(Duration::from_hours(24)).await;
    let (path, html) = page("bakery-de");
    let noindex = "<meta name=\"robots\" content=\"noindex\">\n<meta charset";
    let html = html.replace("<meta charset", noindex);
    let html = html.replace(" – Brot aus dem Holzofen in Plauen", "");
    let image = "<img src=\"/ofen.jpg\" width=\"600\" height=\"400\">\n<h2>Vorbestellen";
    let html = html.replace("<h2>Vorbestellen", image);
    corpus.bakery(others().into_iter().chain([(path, html)]));
    let second = corpus.audit_again(&url, first.baseline).await;
    check_approved("examples/reports/seo_audit_changed.md", &report(&second).0);
}
