//! Pairs of pages from the corpus, read as the scan reads them.

use std::collections::BTreeSet;
use std::path::Path;

use bytes::Bytes;
use errand::agents::Patience;
use errand::agents::page::fetch::Visit;
use errand::agents::page::reply::Reply;
use errand::agents::scan::change::Change;
use errand::agents::scan::reading::Reading;
use serde::Deserialize;
use url::Url;

/// A pair and what its author decided.
#[derive(Deserialize)]
pub(crate) struct Pair {
    pub(crate) id: String,
    pub(crate) expect: String,
    pub(crate) kinds: Vec<String>,
    url: String,
    status_b: u16,
    headers_b: Vec<(String, String)>,
    final_url_b: Option<String>,
}

#[derive(Deserialize)]
struct Set {
    pairs: Vec<Pair>,
}

/// What the scan thinks of a pair.
pub(crate) struct Verdict {
    /// The kinds of its notable changes.
    pub(crate) kinds: BTreeSet<String>,
    /// All of its changes, for a failing test.
    pub(crate) shown: String,
}

/// The pairs of a set.
pub(crate) fn pairs(set: &str) -> Vec<Pair> {
    let text = std::fs::read(folder().join(format!("{set}.json"))).unwrap();
    serde_json::from_slice::<Set>(&text).unwrap().pairs
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages"))
}

/// Reads a page that answered with a status.
pub(crate) fn read(url: &str, status: u16, headers: &[(String, String)], body: &[u8]) -> Reading {
    let url = Url::parse(url).unwrap();
    let mut headers = headers.to_vec();
    headers.push(("content-type".to_owned(), "text/html; charset=utf-8".to_owned()));
    let body = Bytes::copy_from_slice(body);
    let reply = Reply { status, headers, body, ..Reply::default() };
    let visit = Visit { asked: url.clone(), hops: Vec::new(), url, reply };
    Reading::of(&visit, &Patience::endless())
}

/// Compares the pages of a pair.
pub(crate) fn compare(set: &str, pair: &Pair) -> Verdict {
    let file = |side: char| {
        std::fs::read(folder().join(set).join(format!("{}.{side}.html", pair.id))).unwrap()
    };
    let before = read(&pair.url, 200, &[], &file('a'));
    let url = pair.final_url_b.as_deref().unwrap_or(&pair.url);
    let after = read(url, pair.status_b, &pair.headers_b, &file('b'));
    let changes =
        after.changed_since(before.page().unwrap(), &Patience::endless()).map(|it| it.changes);
    verdict(&changes.unwrap_or_default())
}

/// What these changes mean.
pub(crate) fn verdict(changes: &[Change]) -> Verdict {
    let line = |it: &Change| {
        format!(
            "  {:?} {}: {:?} > {:?} at {:?}",
            it.severity,
            it.kind.as_str(),
            it.before,
            it.after,
            it.place
        )
    };
    let notable = changes.iter().filter(|it| it.is_notable());
    let kinds = notable.map(|it| it.kind.as_str().to_owned()).collect();
    Verdict { kinds, shown: changes.iter().map(line).collect::<Vec<_>>().join("\n") }
}
