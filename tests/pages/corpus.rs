//! The corpus of pages as a network in memory, and an audit of any of its addresses.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use errand::agents::{Agent, Bench, Parsers, Progress, SeoAudit, Task};
use errand::domain::id::Id;
use errand::domain::outcome::{Outcome, Work};
use errand::domain::receiver::UrlPolicy;
use errand::domain::run::Trigger;
use errand::domain::time::Timestamp;
use errand::outbound::fake::Internet;
use errand::outbound::{Client, Guard, GuardConfig, Trust};
use errand::sys::clock::Clock;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::encryption::Encryption;

#[derive(Deserialize)]
pub(crate) struct Manifest {
    pub(crate) sites: BTreeMap<String, Site>,
    pub(crate) pages: Vec<Page>,
}

#[derive(Deserialize)]
pub(crate) struct Site {
    index: u16,
    tls: bool,
    robots: Robots,
}

#[derive(Deserialize)]
pub(crate) struct Robots {
    status: u16,
    body: Option<String>,
    pub(crate) file: Option<String>,
    headers: Vec<(String, String)>,
    delay_ms: u64,
    redirect: Option<String>,
    drop: bool,
}

#[derive(Deserialize)]
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) site: String,
    pub(crate) path: String,
    status: u16,
    headers: Vec<(String, String)>,
    pub(crate) file: Option<String>,
    encoding: Option<String>,
    pub(crate) expect: Expected,
    #[serde(default)]
    pub(crate) skip: bool,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    trickle_ms: u64,
    drop_after: Option<usize>,
}

#[derive(Default, Deserialize)]
pub(crate) struct Expected {
    pub(crate) outcome: Option<String>,
    #[serde(default)]
    pub(crate) fail: Vec<String>,
    #[serde(default)]
    pub(crate) info: Vec<String>,
}

/// What a server does with a request.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    head: String,
    body: Vec<u8>,
    delay: Duration,
    trickle: Duration,
    drops: bool,
}

/// The corpus on a network in memory: site `i` is `127.0.0.1:8100 + i`.
pub(crate) struct Corpus {
    pub(crate) manifest: Manifest,
    pub(crate) internet: Internet,
    pub(crate) bench: Bench,
    encryption: Encryption,
}

impl Corpus {
    pub(crate) fn serve() -> Self {
        let manifest: Manifest = serde_json::from_slice(&file("manifest.json")).unwrap();
        let clock = Clock::simulated(Timestamp::parse("2026-11-20T12:00:00Z").unwrap());
        let internet = Internet::new();
        let encryption = Encryption::new(&["127.0.0.1", BAKERY]);
        for (name, site) in &manifest.sites {
            let answers = Arc::new(answers(&manifest, name, site));
            let (clock, encryption) = (clock.clone(), encryption.clone());
            let is_encrypted = site.tls;
            internet.serve(&format!("127.0.0.1:{}", port(site)), move |stream| {
                let (answers, clock) = (Arc::clone(&answers), clock.clone());
                let encryption = encryption.clone();
                async move {
                    if !is_encrypted {
                        answer(stream, answers, clock).await;
                    } else if let Some(stream) = encryption.accept(stream).await {
                        answer(stream, answers, clock).await;
                    }
                }
            });
        }
        let client = Client::new(
            clock.clone(),
            Guard::new(GuardConfig::development()),
            Arc::new(internet.clone()),
            Arc::new(internet.clone()),
            Trust::new(clock.clone(), encryption.root.as_bytes()).unwrap(),
            Arc::default(),
        );
        let bench = Bench {
            parsers: Parsers::new(clock.clone()),
            clock,
            client,
            user_agent: "Errand/test (+https://example.com)".to_owned(),
            politeness: Duration::from_secs(1),
            confirm_pause: Duration::from_mins(1),
            targets: UrlPolicy::Development,
        };
        Self { manifest, internet, bench, encryption }
    }

    /// Serves pages of a host of their own: paths and their HTML.
    pub(crate) fn host(&self, address: &str, pages: impl IntoIterator<Item = (String, String)>) {
        let (answers, clock) = (pages_of(pages), self.bench.clock.clone());
        self.internet
            .serve(address, move |stream| answer(stream, Arc::clone(&answers), clock.clone()));
    }

    /// Serves pages of [`BAKERY`], encrypted.
    pub(crate) fn bakery(&self, pages: impl IntoIterator<Item = (String, String)>) {
        let (answers, clock) = (pages_of(pages), self.bench.clock.clone());
        let encryption = self.encryption.clone();
        self.internet.site(BAKERY, 443, move |stream| {
            let (answers, clock) = (Arc::clone(&answers), clock.clone());
            let encryption = encryption.clone();
            async move {
                if let Some(stream) = encryption.accept(stream).await {
                    answer(stream, answers, clock).await;
                }
            }
        });
    }

    pub(crate) fn page(&self, id: &str) -> &Page {
        self.manifest.pages.iter().find(|it| it.id == id).unwrap()
    }

    pub(crate) async fn audit(&self, page: &Page) -> Outcome {
        let site = &self.manifest.sites[&page.site];
        self.audit_url(&format!("{}{}", origin(site), page.path), Progress::default()).await
    }

    pub(crate) async fn audit_url(&self, url: &str, progress: Progress) -> Outcome {
        self.run(url, Trigger::Api, None, progress).await.outcome
    }

    /// Audits for a schedule whose last report left `baseline`.
    pub(crate) async fn audit_again(&self, url: &str, baseline: Option<Vec<u8>>) -> Work {
        let trigger = Trigger::RunNow { schedule: Id::from_bytes([2; 16]) };
        self.run(url, trigger, baseline, Progress::default()).await
    }

    async fn run(
        &self,
        url: &str,
        trigger: Trigger,
        baseline: Option<Vec<u8>>,
        progress: Progress,
    ) -> Work {
        let agent = SeoAudit::new(UrlPolicy::Development);
        let input = serde_json::json!({ "url": url });
        let input = agent.accept(input.as_object().unwrap()).unwrap();
        let task = Task { run: Id::from_bytes([1; 16]), input, trigger, baseline, progress };
        agent.run(&task, &self.bench).await
    }
}

/// A host with a name and a certificate.
pub(crate) const BAKERY: &str = "lindner.example";

fn pages_of(pages: impl IntoIterator<Item = (String, String)>) -> Arc<BTreeMap<String, Answer>> {
    let html = [("Content-Type".to_owned(), "text/html; charset=utf-8".to_owned())];
    let answers = pages.into_iter().map(|(path, page)| {
        let body = page.into_bytes();
        (path, Answer { head: head(200, &html, body.len()), body, ..Answer::default() })
    });
    Arc::new(answers.collect())
}

/// The answers of a site, by path.
pub(crate) fn answers(manifest: &Manifest, name: &str, site: &Site) -> BTreeMap<String, Answer> {
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
    // Some targets are not in the corpus. This page has no fault without its header.
    let plain = manifest.pages.iter().find(|it| it.id == "noindex-header");
    if let Some(page) = plain.filter(|_| name == "main") {
        let body = fill(&page.file.as_deref().map(file).unwrap());
        let html = ("Content-Type".to_owned(), "text/html; charset=utf-8".to_owned());
        let head = head(200, &[html], body.len());
        let plain = Answer { head, body, ..Answer::default() };
        let items = (0..10).map(|it| format!("/ok/item-{it}"));
        for path in
            ["/ok/good-basic", "/ok/good-article"].map(str::to_owned).into_iter().chain(items)
        {
            answers.insert(path, plain.clone());
        }
        let moved = self::head(301, &[("Location".to_owned(), "/ok/good-basic".to_owned())], 0);
        answers.insert("/r/one".to_owned(), Answer { head: moved, ..Answer::default() });
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

pub(crate) async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    answers: Arc<BTreeMap<String, Answer>>,
    clock: Clock,
) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read_exact(&mut byte).await.is_err() {
            return;
        }
        request.extend(byte);
    }
    let request = String::from_utf8(request).unwrap();
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let missing = Answer { head: head(404, &[], 0), ..Answer::default() };
    let plain = path.split('?').next().unwrap();
    let answer = answers.get(path).or(answers.get(plain)).cloned().unwrap_or(missing);
    clock.sleep(answer.delay).await;
    if answer.drops || stream.write_all(answer.head.as_bytes()).await.is_err() {
        return;
    }
    if method == "HEAD" {
        let _ = stream.flush().await;
        return;
    }
    let step = if answer.trickle.is_zero() { answer.body.len().max(1) } else { 1 };
    for part in answer.body.chunks(step) {
        if stream.write_all(part).await.is_err() {
            return;
        }
        clock.sleep(answer.trickle).await;
    }
    let _ = stream.flush().await;
}

pub(crate) fn head(status: u16, headers: &[(String, String)], length: usize) -> String {
    let mut head = format!("HTTP/1.1 {status} X\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if status != 204 {
        head += &format!("Content-Length: {length}\r\n");
    }
    head + "\r\n"
}

pub(crate) fn encode(body: Vec<u8>, encoding: Option<&str>) -> (Vec<u8>, Option<&'static str>) {
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

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn replace(text: &[u8], wanted: &str, by: &str) -> Vec<u8> {
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
pub(crate) fn file(name: &str) -> Vec<u8> {
    match name {
        "robots-big.txt" => {
            let rules = (0..24_000).map(|it| format!("Disallow: /filler/{it:06}\n"));
            let rules: String = rules.collect();
            format!("User-agent: *\n{rules}Disallow: /page\n").into_bytes()
        }
        "html-huge.html" => {
            let rows = (0..36_000).map(|it| {
                format!(
                    "<p>Row {it} of the long register of boats, with its owner and the date of \
                     the last inspection.</p>\n"
                )
            });
            let rows: String = rows.collect();
            let page = String::from_utf8(file("gzip.html")).unwrap();
            page.replacen("</main>", &(rows + "</main>"), 1).into_bytes()
        }
        _ => std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name))
            .unwrap(),
    }
}

pub(crate) fn origin(site: &Site) -> String {
    let scheme = if site.tls { "https" } else { "http" };
    format!("{scheme}://127.0.0.1:{}", port(site))
}

pub(crate) fn port(site: &Site) -> u16 {
    8100 + site.index
}
