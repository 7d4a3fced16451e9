//! What is asked besides the page: only what robots.txt allows, politely, and never too much.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use errand::agents::Progress;
use errand::domain::outcome::Outcome;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::corpus::Corpus;

pub(crate) const HOST: &str = "127.0.0.1:9200";

/// A host that answers by a function of the path, slowly or not, and what it was asked.
pub(crate) fn serve(
    corpus: &Corpus,
    delay: Duration,
    answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Arc<Mutex<Vec<String>>> {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let (log, clock, answer) = (Arc::clone(&asked), corpus.bench.clock.clone(), Arc::new(answer));
    corpus.internet.serve(HOST, move |mut stream| {
        let (log, clock, answer) = (Arc::clone(&log), clock.clone(), Arc::clone(&answer));
        async move {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read_exact(&mut byte).await.is_err() {
                    return;
                }
                request.extend(byte);
            }
            let request = String::from_utf8(request).unwrap();
            let line = request.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
            log.lock().unwrap().push(line.clone());
            clock.sleep(delay).await;
            let body = answer(line.split(' ').nth(1).unwrap());
            let status = body.as_deref().map_or("404 X", |it| match it {
                "" => "503 X",
                _ => "200 X",
            });
            let body = body.unwrap_or_default();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n\
                 Content-Length: {}\r\n\r\n",
                body.len()
            );
            let body = if line.starts_with("HEAD") { String::new() } else { body };
            let _ = stream.write_all((head + &body).as_bytes()).await;
        }
    });
    asked
}

async fn audit(corpus: &Corpus) -> Value {
    let outcome = corpus.audit_url(&format!("http://{HOST}/page"), Progress::default()).await;
    let Outcome::Succeeded(report) = outcome else { panic!("{outcome:?}") };
    serde_json::from_str(&report.result.unwrap()).unwrap()
}

fn verdict(result: &Value, id: &str) -> (String, String) {
    let check = result["checks"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
    let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("reason"))
}

/// A page that leads to everything that can be asked.
fn greedy() -> String {
    let links: String = (0..50).map(|it| format!("<a href=/lost/{it}>Link {it}</a> ")).collect();
    let codes = ["de", "fr", "es", "it", "nl", "pl"];
    let versions: String = codes
        .iter()
        .map(|it| format!("<link rel=alternate hreflang={it} href=http://{HOST}/{it}>"))
        .collect();
    format!(
        "<!DOCTYPE html><html lang=en><title>Page not found</title><link rel=canonical \
         href=http://{HOST}/other>{versions}<meta property=og:image content=http://{HOST}/i.png>\
         <h1>Sorry</h1>{links}"
    )
}

#[tokio::test(start_paused = true)]
async fn no_page_makes_an_audit_ask_without_end() {
    let corpus = Corpus::serve();
    let asked = serve(&corpus, Duration::ZERO, |path| match path {
        "/page" => Some(greedy()),
        "/robots.txt" => Some("User-agent: *\nAllow: /\n".to_owned()),
        "/sitemap.xml" => {
            let one = |it: u32| format!("<sitemap><loc>http://{HOST}/map-{it}.xml</loc></sitemap>");
            Some(format!("<sitemapindex>{}</sitemapindex>", (0..99).map(one).collect::<String>()))
        }
        path if path.starts_with("/map-") => Some("<urlset></urlset>".to_owned()),
        _ => None,
    });
    let result = audit(&corpus).await;
    let asked = asked.lock().unwrap().clone();
    // The page itself, and 24 others.
    assert_eq!(asked.len(), 25, "{asked:#?}");
    assert_eq!(asked.iter().filter(|it| it.contains("/map-")).count(), 2);
    assert_eq!(asked[2..4], ["GET /other", "GET /errand-asks-for-a-page-that-is-not-there"]);
    let limits = result["limits"].to_string();
    assert!(limits.contains("links were not asked: the limits of one audit"), "{limits}");
}

#[tokio::test(start_paused = true)]
async fn what_robots_txt_closes_is_not_asked() {
    let corpus = Corpus::serve();
    let asked = serve(&corpus, Duration::ZERO, |path| match path {
        "/page" => {
            Some("<title>Tickets</title><a href=/private/a>A</a><a href=/open>B</a>".to_owned())
        }
        "/robots.txt" => {
            Some("User-agent: Errand\nDisallow: /private\nDisallow: /llms.txt\n".to_owned())
        }
        "/open" => Some("x".to_owned()),
        _ => None,
    });
    let result = audit(&corpus).await;
    let asked = asked.lock().unwrap().join("; ");
    assert!(asked.contains("HEAD /open") && !asked.contains("/private"), "{asked}");
    assert_eq!(verdict(&result, "links-broken").0, "pass");
    let why = "robots.txt keeps this audit from asking it";
    assert_eq!(verdict(&result, "llms-txt"), ("na".to_owned(), why.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_slow_host_costs_checks_and_not_the_report() {
    let corpus = Corpus::serve();
    let start = corpus.bench.clock.mark();
    let asked = serve(&corpus, Duration::from_millis(4_500), |path| match path {
        "/page" => Some(greedy()),
        "/robots.txt" => Some("User-agent: *\nCrawl-delay: 5\n".to_owned()),
        _ => None,
    });
    let result = audit(&corpus).await;
    assert!(start.elapsed() < Duration::from_secs(50), "{:?}", start.elapsed());
    assert!(asked.lock().unwrap().len() < 10);
    assert_eq!(verdict(&result, "llms-txt").1, "the limits of one audit were reached");
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_host_is_left_alone() {
    let corpus = Corpus::serve();
    let asked = serve(&corpus, Duration::ZERO, |path| match path {
        "/page" => Some(greedy().replace("Page not found", "Tickets")),
        "/robots.txt" => None,
        _ => Some(String::new()),
    });
    let result = audit(&corpus).await;
    assert_eq!(asked.lock().unwrap().len(), 3);
    assert_eq!(verdict(&result, "links-broken").0, "na");
    assert_eq!(verdict(&result, "sitemap").1, "its host asked for a pause");
}
