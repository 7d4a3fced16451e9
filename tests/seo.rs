//! The audit against a corpus of pages: each has a fault by design, or none, and the manifest says
//! which. The pages are served in memory, with their statuses, headers, codings and delays; the
//! real client fetches them and the real guard judges every hop.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
#![expect(clippy::indexing_slicing, reason = "a test stops at what it did not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use errand::agents::page::fetch::Visit;
use errand::agents::page::reply::Reply;
use errand::agents::page::robots::{AnswerKind, RobotsAnswer};
use errand::agents::seo::audit::examine;
use errand::agents::seo::subject::Fetched;
use errand::agents::{Agent, Bench, Parsers, Patience, Progress, SeoAudit, Step, Task};
use errand::domain::id::Id;
use errand::domain::outcome::{Outcome, Reason};
use errand::domain::receiver::UrlPolicy;
use errand::domain::run::Trigger;
use errand::domain::time::Timestamp;
use errand::outbound::fake::{Internet, Lookup, Served};
use errand::outbound::{Client, Guard, GuardConfig, Trust};
use errand::sys::clock::Clock;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use url::Url;

#[derive(Deserialize)]
struct Manifest {
    sites: BTreeMap<String, Site>,
    pages: Vec<Page>,
}

#[derive(Deserialize)]
struct Site {
    index: u16,
    tls: bool,
    robots: Robots,
}

#[derive(Deserialize)]
struct Robots {
    status: u16,
    body: Option<String>,
    file: Option<String>,
    headers: Vec<(String, String)>,
    delay_ms: u64,
    redirect: Option<String>,
    drop: bool,
}

#[derive(Deserialize)]
struct Page {
    id: String,
    site: String,
    path: String,
    status: u16,
    headers: Vec<(String, String)>,
    file: Option<String>,
    encoding: Option<String>,
    expect: Expected,
    #[serde(default)]
    skip: bool,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    trickle_ms: u64,
    drop_after: Option<usize>,
}

#[derive(Default, Deserialize)]
struct Expected {
    outcome: Option<String>,
    #[serde(default)]
    fail: Vec<String>,
    #[serde(default)]
    info: Vec<String>,
}

/// What a server does with a request.
#[derive(Clone, Default)]
struct Answer {
    head: String,
    body: Vec<u8>,
    delay: Duration,
    trickle: Duration,
    drops: bool,
}

/// The corpus on a network in memory: site `i` is `127.0.0.1:8100 + i`.
struct Corpus {
    manifest: Manifest,
    internet: Internet,
    bench: Bench,
}

impl Corpus {
    fn serve() -> Self {
        let manifest: Manifest = serde_json::from_slice(&file("manifest.json")).unwrap();
        let clock = Clock::simulated(Timestamp::parse("2026-11-20T12:00:00Z").unwrap());
        let internet = Internet::new();
        for (name, site) in manifest.sites.iter().filter(|(_, it)| !it.tls) {
            let answers = Arc::new(answers(&manifest, name, site));
            let clock = clock.clone();
            internet.serve(&format!("127.0.0.1:{}", port(site)), move |stream| {
                answer(stream, Arc::clone(&answers), clock.clone())
            });
        }
        let client = Client::new(
            clock.clone(),
            Guard::new(GuardConfig::development()),
            Arc::new(internet.clone()),
            Arc::new(internet.clone()),
            Trust::new(clock.clone(), b"").unwrap(),
            Arc::default(),
        );
        let bench = Bench {
            parsers: Parsers::new(clock.clone()),
            clock,
            client,
            user_agent: "Errand/test (+https://example.com)".to_owned(),
            politeness: Duration::from_secs(1),
            targets: UrlPolicy::Development,
        };
        Self { manifest, internet, bench }
    }

    fn page(&self, id: &str) -> &Page {
        self.manifest.pages.iter().find(|it| it.id == id).unwrap()
    }

    async fn audit(&self, page: &Page) -> Outcome {
        let site = &self.manifest.sites[&page.site];
        self.audit_url(&format!("{}{}", origin(site), page.path), Progress::default()).await
    }

    async fn audit_url(&self, url: &str, progress: Progress) -> Outcome {
        let agent = SeoAudit::new(UrlPolicy::Development);
        let input = serde_json::json!({ "url": url });
        let task = Task {
            run: Id::from_bytes([1; 16]),
            input: agent.accept(input.as_object().unwrap()).unwrap(),
            trigger: Trigger::Api,
            progress,
        };
        agent.run(&task, &self.bench).await
    }

    fn is_tls(&self, page: &Page) -> bool {
        self.manifest.sites[&page.site].tls
    }
}

/// The answers of a site, by path.
fn answers(manifest: &Manifest, name: &str, site: &Site) -> BTreeMap<String, Answer> {
    let fill = |text: &[u8]| {
        let mut text = text.to_vec();
        if !text.contains(&b'{') {
            return text;
        }
        for (other, it) in &manifest.sites {
            text = replace(&text, &format!("{{{{ORIGIN:{other}}}}}"), &origin(it));
        }
        replace(&text, "{{ORIGIN}}", &origin(site))
    };
    let mut answers = BTreeMap::new();
    for page in manifest.pages.iter().filter(|it| it.site == name) {
        let body = fill(&page.file.as_deref().map(file).unwrap_or_default());
        let (mut body, coding) = encode(body, page.encoding.as_deref());
        let mut headers = page.headers.clone();
        headers.extend(coding.map(|it| ("Content-Encoding".to_owned(), it.to_owned())));
        let head = fill(head(page.status, &headers, body.len()).as_bytes());
        body.truncate(page.drop_after.unwrap_or(usize::MAX));
        let answer = Answer {
            head: String::from_utf8(head).unwrap(),
            body,
            delay: Duration::from_millis(page.delay_ms),
            trickle: Duration::from_millis(page.trickle_ms),
            drops: false,
        };
        answers.insert(page.path.clone(), answer);
    }
    // The target of the redirects is not in the corpus; this page has no fault without its header.
    let plain = manifest.pages.iter().find(|it| it.id == "noindex-header");
    if let Some(page) = plain.filter(|_| name == "main") {
        let body = fill(&page.file.as_deref().map(file).unwrap());
        let html = ("Content-Type".to_owned(), "text/html; charset=utf-8".to_owned());
        let head = head(200, &[html], body.len());
        answers.insert("/ok/good-basic".to_owned(), Answer { head, body, ..Answer::default() });
    }
    let robots = &site.robots;
    let body = match (&robots.file, &robots.body) {
        (Some(name), _) => file(name),
        (None, body) => body.clone().unwrap_or_default().into_bytes(),
    };
    let body = fill(&body);
    let mut headers = robots.headers.clone();
    headers.extend(robots.redirect.clone().map(|it| ("Location".to_owned(), it)));
    let delay = Duration::from_millis(robots.delay_ms);
    let head_text = head(robots.status, &headers, body.len());
    let drops = robots.drop;
    let answer = Answer { head: head_text, body, delay, drops, trickle: Duration::ZERO };
    answers.insert("/robots.txt".to_owned(), answer);
    if let Some(moved) = &robots.redirect {
        let body = b"User-agent: *\nAllow: /\n".to_vec();
        let head = head(200, &robots.headers, body.len());
        answers.insert(moved.clone(), Answer { head, body, ..Answer::default() });
    }
    answers
}

async fn answer(mut stream: Served, answers: Arc<BTreeMap<String, Answer>>, clock: Clock) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read_exact(&mut byte).await.is_err() {
            return;
        }
        request.extend(byte);
    }
    let request = String::from_utf8(request).unwrap();
    let path = request.split(' ').nth(1).unwrap();
    let missing = Answer { head: head(404, &[], 0), ..Answer::default() };
    let answer = answers.get(path).cloned().unwrap_or(missing);
    clock.sleep(answer.delay).await;
    if answer.drops || stream.write_all(answer.head.as_bytes()).await.is_err() {
        return;
    }
    let step = if answer.trickle.is_zero() { answer.body.len().max(1) } else { 1 };
    for part in answer.body.chunks(step) {
        if stream.write_all(part).await.is_err() {
            return;
        }
        clock.sleep(answer.trickle).await;
    }
}

fn head(status: u16, headers: &[(String, String)], length: usize) -> String {
    let mut head = format!("HTTP/1.1 {status} X\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if status != 204 {
        head += &format!("Content-Length: {length}\r\n");
    }
    head + "\r\n"
}

fn encode(body: Vec<u8>, encoding: Option<&str>) -> (Vec<u8>, Option<&'static str>) {
    match encoding {
        None => (body, None),
        Some("gzip") => (gzip(&body), Some("gzip")),
        Some("gzip-double") => (gzip(&gzip(&body)), Some("gzip, gzip")),
        Some("gzip-lie") => (body, Some("gzip")),
        Some("deflate") => {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(&body).unwrap();
            (encoder.finish().unwrap(), Some("deflate"))
        }
        Some(other) => panic!("the manifest has a new coding: {other}"),
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn replace(text: &[u8], wanted: &str, by: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(wanted.len()).position(|it| it == wanted.as_bytes()) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by.as_bytes());
        rest = &rest[at + wanted.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// A file of the corpus; the two large ones are made here.
fn file(name: &str) -> Vec<u8> {
    match name {
        "robots-big.txt" => {
            let rules = (0..24_000).map(|it| format!("Disallow: /filler/{it:06}\n"));
            let rules: String = rules.collect();
            format!("User-agent: *\n{rules}Disallow: /page\n").into_bytes()
        }
        "html-huge.html" => {
            let rows = (0..36_000).map(|it| {
                format!("<p>Row {it} of the long register of boats, with its owner and the date of the last inspection.</p>\n")
            });
            let rows: String = rows.collect();
            let page = String::from_utf8(file("gzip.html")).unwrap();
            page.replacen("</main>", &(rows + "</main>"), 1).into_bytes()
        }
        _ => std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name))
            .unwrap(),
    }
}

fn origin(site: &Site) -> String {
    let scheme = if site.tls { "https" } else { "http" };
    format!("{scheme}://127.0.0.1:{}", port(site))
}

fn port(site: &Site) -> u16 {
    8100 + site.index
}

/// The ids of the checks with this verdict.
fn with_verdict(result: &Value, verdict: &str) -> BTreeSet<String> {
    let checks = result["checks"].as_array().unwrap().iter();
    let wanted = checks.filter(|it| it["verdict"] == verdict);
    wanted.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

/// Checks that the manifest names and this audit does not have.
const NOT_BUILT: [&str; 4] =
    ["canonical-target", "structured-data-parse", "structured-data-required", "mixed-content"];

#[tokio::test(start_paused = true)]
async fn every_page_of_the_corpus_is_judged_as_its_author_meant_it() {
    let corpus = Corpus::serve();
    let mut wrong = Vec::new();
    for page in corpus.manifest.pages.iter().filter(|it| !it.skip && !corpus.is_tls(it)) {
        let expected = &page.expect;
        match (corpus.audit(page).await, expected.outcome.as_deref()) {
            (Outcome::Failed(_), Some("failed")) => {}
            (Outcome::Succeeded(report), Some("succeeded")) => {
                let result: Value = serde_json::from_str(&report.result.unwrap()).unwrap();
                let fail = with_verdict(&result, "fail");
                let built = expected.fail.iter().filter(|it| !NOT_BUILT.contains(&it.as_str()));
                let built: BTreeSet<String> = built.cloned().collect();
                if fail != built {
                    wrong.push(format!("{}: fails {fail:?}, not {built:?}", page.id));
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

#[tokio::test(start_paused = true)]
async fn reports_read_as_they_were_approved() {
    for id in ["good-shop", "noindex-meta", "headings-skip"] {
        let corpus = Corpus::serve();
        let Outcome::Succeeded(report) = corpus.audit(corpus.page(id)).await else {
            panic!("{id} failed");
        };
        let approved = String::from_utf8(file(&format!("reports/{id}.md"))).unwrap();
        assert_eq!(report.output, approved, "{id} now reads:\n{}", report.output);
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
    for page in corpus.manifest.pages.iter().filter(|it| !it.skip && !corpus.is_tls(it)) {
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
async fn an_audit_is_polite_and_tells_how_far_it_is() {
    let corpus = Corpus::serve();
    let (sender, receiver) = tokio::sync::watch::channel(Step::default());
    let start = corpus.bench.clock.mark();
    let page = corpus.page("slow-ttfb");
    let url = format!("{}{}", origin(&corpus.manifest.sites["main"]), page.path);
    let outcome = corpus.audit_url(&url, Progress::into_channel(sender)).await;
    assert!(matches!(outcome, Outcome::Succeeded(_)), "{outcome:?}");
    // The page, robots.txt and the page again, with a second between them.
    assert_eq!(corpus.internet.dialled().len(), 3);
    let spent = start.elapsed();
    assert!(
        (Duration::from_millis(6_400)..Duration::from_millis(6_600)).contains(&spent),
        "{spent:?}"
    );
    assert_eq!((receiver.borrow().done, receiver.borrow().total), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn the_encrypted_page_of_the_corpus_has_no_fault_that_is_looked_for() {
    let corpus = Corpus::serve();
    let page = corpus.page("tls-mixed");
    let url =
        Url::parse(&format!("{}{}", origin(&corpus.manifest.sites["tls"]), page.path)).unwrap();
    let html = String::from_utf8(file("tls-mixed.html")).unwrap();
    let html = html.replace("{{ORIGIN}}", "https://127.0.0.1:8125");
    let html = html.replace("{{ORIGIN:main}}", "http://127.0.0.1:8100");
    let reply = Reply {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())],
        body: html.into(),
        ..Reply::default()
    };
    let kind = AnswerKind::file("User-agent: *\nAllow: /\n".into());
    let robots = RobotsAnswer { kind, url: url.join("/robots.txt").unwrap(), took: Duration::ZERO };
    let visit = Visit { asked: url.clone(), hops: vec![], url, reply };
    let at = corpus.bench.clock.now();
    let audit =
        examine(Fetched { visit, second_first_byte: None, robots, at }, &Patience::endless());
    let faults = audit.unwrap().checks.into_iter().filter(|it| it.fault().is_some());
    assert_eq!(faults.map(|it| it.rule.id).collect::<Vec<_>>(), [""; 0]);
}
