//! The audit against a corpus of pages: each has a fault by design, or none, and the manifest says
//! which. The pages are served in memory, with their statuses, headers, codings and delays; the
//! real client fetches them and the real guard judges every hop.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
#![expect(clippy::indexing_slicing, reason = "a test stops at what it did not expect")]

mod asking;
#[path = "../pages/corpus.rs"]
mod corpus;
#[path = "../pages/encryption.rs"]
mod encryption;
mod hostile;
mod schedule;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use errand::agents::{Progress, Step};
use errand::domain::outcome::{Outcome, Reason};
use errand::outbound::fake::Lookup;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use corpus::{Corpus, file, origin};

/// The ids of the checks with this verdict.
fn with_verdict(result: &Value, verdict: &str) -> BTreeSet<String> {
    let checks = result["checks"].as_array().unwrap().iter();
    let wanted = checks.filter(|it| it["verdict"] == verdict);
    wanted.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn every_page_of_the_corpus_is_judged_as_its_author_meant_it() {
    let corpus = Corpus::serve();
    let mut wrong = Vec::new();
    for page in corpus.manifest.pages.iter().filter(|it| !it.skip) {
        let expected = &page.expect;
        match (corpus.audit(page).await, expected.outcome.as_deref()) {
            (Outcome::Failed(_), Some("failed")) => {}
            (Outcome::Succeeded(report), Some("succeeded")) => {
                let result: Value = serde_json::from_str(&report.result.unwrap()).unwrap();
                let fail = with_verdict(&result, "fail");
                let wanted: BTreeSet<String> = expected.fail.iter().cloned().collect();
                if fail != wanted {
                    wrong.push(format!("{}: fails {fail:?}, not {wanted:?}", page.id));
                }
                let info = with_verdict(&result, "info");
                if !expected.info.iter().all(|it| info.contains(it)) {
                    wrong.push(format!("{}: informs {info:?}, not {:?}", page.id, expected.info));
                }
            }
            (outcome, _) => wrong.push(format!("{}: {outcome:?}", page.id)),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn twenty_other_pages_are_judged_as_their_author_meant_them() {
    let expected: BTreeMap<String, BTreeSet<String>> =
        serde_json::from_slice(&file("fresh/expectations.json")).unwrap();
    let (corpus, host) = (Corpus::serve(), "127.0.0.1:9100");
    let page = |id: &String| {
        let html = String::from_utf8(file(&format!("fresh/{id}.html"))).unwrap();
        (format!("/{id}"), html.replace("{{ORIGIN}}", &format!("http://{host}")))
    };
    corpus.host(host, expected.keys().map(page));
    let mut wrong = Vec::new();
    for (id, expected) in &expected {
        let outcome = corpus.audit_url(&format!("http://{host}/{id}"), Progress::default()).await;
        let Outcome::Succeeded(report) = outcome else { panic!("{id}: {outcome:?}") };
        let result: Value = serde_json::from_str(&report.result.unwrap()).unwrap();
        let fail = with_verdict(&result, "fail");
        if fail != *expected {
            wrong.push(format!("{id}: fails {fail:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty() && expected.len() == 20, "\n{}", wrong.join("\n"));
}

/// The codes with which pages fail that are no pages.
const FAILURES: [(&str, &str); 10] = [
    ("status-204", "not_html"),
    ("redirect-long", "too_many_redirects"),
    ("redirect-nolocation", "not_html"),
    ("redirect-metadata", "redirect_forbidden"),
    ("gzip-lie", "bad_encoding"),
    ("trickle", "timeout"),
    ("drop-midway", "connect_error"),
    ("json", "not_html"),
    ("pdf", "not_html"),
    ("image", "not_html"),
];

#[tokio::test(start_paused = true)]
async fn what_is_no_page_fails_with_a_precise_code() {
    let corpus = Corpus::serve();
    for (id, code) in FAILURES {
        let Outcome::Failed(failure) = corpus.audit(corpus.page(id)).await else {
            panic!("{id} did not fail");
        };
        assert_eq!(failure.code, code, "{id}: {}", failure.message);
        assert_eq!(failure.reason, Reason::AgentError);
        assert!(failure.message.ends_with('.') && !failure.message.contains("/ok/"), "{id}");
    }
}

/// Holds a text to the file where it was approved; with `APPROVE` set, the file is written anew.
#[track_caller]
fn check_approved(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("APPROVE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let approved = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, approved, "{} now reads:\n{text}", path.display());
}

#[tokio::test(start_paused = true)]
async fn reports_read_as_they_were_approved() {
    for id in ["good-shop", "noindex-meta", "headings-skip"] {
        let corpus = Corpus::serve();
        let Outcome::Succeeded(report) = corpus.audit(corpus.page(id)).await else {
            panic!("{id} failed");
        };
        check_approved(&format!("tests/pages/reports/{id}.md"), &report.output);
    }
}

/// Pages that Lighthouse and this audit judge differently on purpose, and why.
const OWN_VERDICTS: [(&str, &str); 7] = [
    ("noindex-header-bot-lower", "it misses a crawler's name in lower case"),
    ("robots-disallow-googlebot", "one open crawler is enough for it"),
    ("robots-500", "it lets the page pass as crawlable"),
    ("robots-429", "it takes 429 for a missing file"),
    ("robots-big", "it obeys rules past the limit"),
    ("xhtml-broken", "it judges the browser's error page"),
    ("js-noindex", "it runs scripts"),
];

#[tokio::test(start_paused = true)]
async fn the_number_beside_the_score_is_that_of_lighthouse() {
    let corpus = Corpus::serve();
    let lighthouse: Value = serde_json::from_slice(&file("lighthouse.json")).unwrap();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for page in corpus.manifest.pages.iter().filter(|it| !it.skip) {
        let theirs = &lighthouse[&page.id]["_score"];
        let is_own = OWN_VERDICTS.iter().any(|(id, _)| *id == page.id);
        let Outcome::Succeeded(report) = corpus.audit(page).await else { continue };
        let result: Value = serde_json::from_str(&report.result.unwrap()).unwrap();
        let ours = &result["lighthouse_comparable"];
        if theirs.is_number() && (ours == theirs) == is_own {
            wrong.push(format!("{}: {ours}, Lighthouse {theirs}", page.id));
        }
        compared += u32::from(theirs.is_number());
    }
    assert!(wrong.is_empty() && compared > 50, "{compared} compared\n{}", wrong.join("\n"));
}

/// The audits that Lighthouse and this one share.
const SHARED: [&str; 10] = [
    "is-crawlable",
    "document-title",
    "meta-description",
    "http-status-code",
    "link-text",
    "crawlable-anchors",
    "robots-txt",
    "image-alt",
    "hreflang",
    "canonical",
];

/// Single audits that are judged differently on purpose; [`OWN_VERDICTS`] says why.
const OWN_AUDITS: [(&str, &str); 6] = [
    ("noindex-header-bot-lower", "is-crawlable"),
    ("robots-disallow-googlebot", "is-crawlable"),
    ("robots-500", "is-crawlable"),
    ("robots-big", "is-crawlable"),
    ("js-noindex", "is-crawlable"),
    ("xhtml-broken", "meta-description"),
];

#[tokio::test(start_paused = true)]
async fn the_ten_shared_audits_are_judged_as_lighthouse_judges_them() {
    let corpus = Corpus::serve();
    let lighthouse: Value = serde_json::from_slice(&file("lighthouse.json")).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for page in corpus.manifest.pages.iter().filter(|it| !it.skip) {
        let Outcome::Succeeded(report) = corpus.audit(page).await else { continue };
        let result: Value = serde_json::from_str(&report.result.unwrap()).unwrap();
        let fail = with_verdict(&result, "fail");
        for id in SHARED {
            let theirs = &lighthouse[&page.id][id];
            if theirs != "pass" && theirs != "fail" {
                continue;
            }
            compared += 1;
            let is_own = OWN_AUDITS.contains(&(&page.id, id));
            if (fail.contains(id) == (theirs == "fail")) == is_own {
                wrong.push(format!("{}, {id}: Lighthouse says {theirs}", page.id));
            }
        }
    }
    assert!(wrong.is_empty() && compared > 500, "{compared} compared\n{}", wrong.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_be_reached_is_named_with_the_reason() {
    let corpus = Corpus::serve();
    let internet = &corpus.internet;
    internet.name("private.example", "8.8.8.8 10.0.0.1 169.254.169.254");
    internet.name("closed.example", "8.8.8.8");
    internet.name("silent.example", "9.9.9.9");
    internet.hang("9.9.9.9:80");
    internet.names("lost.example", vec![Lookup::Hangs]);
    internet.site("plain.example", 443, async |mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 X\r\n\r\n").await;
    });
    for (url, code) in [
        ("http://nobody.example/", "dns_error"),
        ("http://lost.example/", "dns_error"),
        ("http://private.example/", "address_forbidden"),
        ("http://169.254.169.254/", "address_forbidden"),
        ("http://closed.example/", "connect_error"),
        ("http://silent.example/", "timeout"),
        ("https://plain.example/", "tls_error"),
    ] {
        let Outcome::Failed(failure) = corpus.audit_url(url, Progress::default()).await else {
            panic!("{url} did not fail");
        };
        assert_eq!(failure.code, code, "{url}: {}", failure.message);
    }
    let dialled: Vec<_> = internet.dialled().iter().map(ToString::to_string).collect();
    assert_eq!(dialled[..2], ["8.8.8.8:80", "9.9.9.9:80"]);
    assert!(dialled.len() == 3 && dialled[2].ends_with(":443"), "{dialled:?}");
}

#[tokio::test(start_paused = true)]
async fn sizes_that_do_not_matter_do_not_fail_an_audit() {
    let corpus = Corpus::serve();
    corpus.internet.site("gone.example", 80, async |mut stream| {
        let mut request = [0; 16];
        let _ = stream.read_exact(&mut request).await;
        let head = "HTTP/1.1 404 X\r\nContent-Type: text/html\r\nContent-Length: 99999999\r\n\r\n";
        let rules = "HTTP/1.1 200 X\r\nContent-Length: 9999999\r\n\r\nUser-agent: *\n";
        let is_rules = request.starts_with(b"GET /robots.txt");
        let _ = stream.write_all(if is_rules { rules } else { head }.as_bytes()).await;
        let filler = b"Disallow: /x\n".repeat(10_000);
        while is_rules && stream.write_all(&filler).await.is_ok() {}
    });
    let outcome = corpus.audit_url("http://gone.example/", Progress::default()).await;
    let Outcome::Succeeded(report) = outcome else { panic!("{outcome:?}") };
    let result: Value = serde_json::from_str(&report.result.unwrap()).unwrap();
    let expected = ["http-status-code", "https", "robots-txt-size"];
    assert_eq!(with_verdict(&result, "fail"), expected.map(str::to_owned).into());
}

#[tokio::test(start_paused = true)]
async fn an_audit_is_polite_and_tells_how_far_it_is() {
    let corpus = Corpus::serve();
    let (sender, receiver) = tokio::sync::watch::channel(Step::default());
    let start = corpus.bench.clock.mark();
    let page = corpus.page("slow-ttfb");
    let url = format!("{}{}", origin(&corpus.manifest.sites["main"]), page.path);
    let outcome = corpus.audit_url(&url, Progress::into_channel(sender)).await;
    assert!(matches!(outcome, Outcome::Succeeded(_)), "{outcome:?}");
    // The page, robots.txt, the page again, the sitemap, three links and llms.txt, with a second
    // between them.
    assert_eq!(corpus.internet.dialled().len(), 8);
    let spent = start.elapsed();
    let expected = Duration::from_millis(11_400)..Duration::from_millis(11_700);
    assert!(expected.contains(&spent), "{spent:?}");
    assert_eq!((receiver.borrow().done, receiver.borrow().total), (6, 6));
}
