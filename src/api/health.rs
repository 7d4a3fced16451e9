//! Whether the daemon lives and works, and what it counts.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use crate::api::view;
use crate::app::App;
use crate::app::upkeep::{self, Disk};
use crate::inbound::{BoxFuture, Method, Request, Response, Service};

/// The process answers.
pub(in crate::api) fn alive() -> Response {
    Response::text(200, "ok\n")
}

/// Whether the file can be written and every loop turns: 200, or 503 with what does not.
pub(in crate::api) fn ready(app: &App) -> Response {
    let (ready, parts) = parts(app);
    view::json(if ready { 200 } else { 503 }, &json!({ "ready": ready, "parts": parts }))
}

/// Whether all is well, and each part of it.
pub(in crate::api) fn parts(app: &App) -> (bool, BTreeMap<&'static str, &'static str>) {
    let storage = match upkeep::disk(app) {
        Disk::Good => "ok",
        Disk::Full => "full",
        Disk::Failing => "failing",
    };
    let mut parts = BTreeMap::from([("storage", storage)]);
    for (name, age) in app.beats().ages() {
        parts.insert(name, if age <= LOOP_AGE_MAX { "ok" } else { "stalled" });
    }
    if app.is_draining() {
        parts.insert("shutdown", "draining");
    }
    (parts.values().all(|it| *it == "ok"), parts)
}

/// The page of counters, for a listener of its own.
#[derive(Clone)]
pub struct MetricsPage {
    app: App,
}

impl MetricsPage {
    /// The page of one daemon.
    #[must_use]
    pub const fn new(app: App) -> Self {
        Self { app }
    }
}

impl Service for MetricsPage {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        let is_get = matches!(request.head.method, Method::Get | Method::Head);
        let response = match request.head.path.as_str() {
            "/metrics" if is_get => Response::text(200, self.app.metrics().to_text())
                .with_header("content-type", "text/plain; version=0.0.4; charset=utf-8"),
            "/metrics" => Response::empty(405).with_header("allow", "GET, HEAD"),
            _ => Response::text(404, "the page is /metrics\n"),
        };
        Box::pin(std::future::ready(response))
    }
}

/// The age from which on a loop that has not turned counts as stalled.
const LOOP_AGE_MAX: Duration = Duration::from_secs(10);
