//! What every connection of one kind shares: settings, the doors of the host, and the places.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::header::HeaderValue;
use hyper::server::conn::http1;

use crate::inbound::config::Config;
use crate::inbound::places::Places;
use crate::sys::clock::Clock;
use crate::sys::entropy::Entropy;
use crate::sys::metrics::Metrics;
use crate::sys::shutdown::Shutdown;

/// Everything that a connection needs; cheap to clone.
///
/// The connections of one edge share its places, so listeners that must not starve each other,
/// such as the public one and the control socket, get an edge each.
#[derive(Clone)]
pub struct Edge(Arc<Shared>);

struct Shared {
    config: Config,
    clock: Clock,
    entropy: Entropy,
    metrics: Arc<Metrics>,
    shutdown: Shutdown,
    places: Arc<Places>,
    http: http1::Builder,
    date: Mutex<Date>,
}

/// The `Date` of one second.
struct Date {
    second: i64,
    text: HeaderValue,
}

impl Edge {
    /// An edge with no connections yet.
    #[must_use]
    pub fn new(
        config: Config,
        clock: Clock,
        entropy: Entropy,
        metrics: Arc<Metrics>,
        shutdown: Shutdown,
    ) -> Self {
        let places = Places::new(config.max_connections, config.max_connections_per_ip);
        let http = http(&config);
        let date = Date { second: i64::MIN, text: HeaderValue::from_static("") };
        Self(Arc::new(Shared {
            config,
            clock,
            entropy,
            metrics,
            shutdown,
            places: Arc::new(places),
            http,
            date: Mutex::new(date),
        }))
    }

    pub(super) fn config(&self) -> &Config {
        &self.0.config
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub(super) fn entropy(&self) -> &Entropy {
        &self.0.entropy
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(super) fn shutdown(&self) -> &Shutdown {
        &self.0.shutdown
    }

    pub(super) fn places(&self) -> &Arc<Places> {
        &self.0.places
    }

    pub(super) fn http(&self) -> &http1::Builder {
        &self.0.http
    }

    /// The value of `Date` now; its text is made once a second.
    pub(super) fn date(&self) -> HeaderValue {
        let now = self.0.clock.now();
        let mut date = self.0.date.lock().unwrap_or_else(PoisonError::into_inner);
        if date.second != now.seconds() {
            let text = HeaderValue::try_from(now.to_http_date());
            // Letters, digits and punctuation only.
            *date = Date {
                second: now.seconds(),
                text: text.unwrap_or_else(|_| HeaderValue::from_static("")),
            };
        }
        date.text.clone()
    }
}

/// How hyper reads and writes.
///
/// Its own timer stays off, because [`Watch`](crate::inbound::watch::Watch) keeps all deadlines
/// with one timer a connection. So does `pipeline_flush`: with it, hyper holds a streamed answer
/// back, in memory and without a limit, for as long as there is pipelined input.
fn http(config: &Config) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.header_read_timeout(None)
        .auto_date_header(false)
        .half_close(false)
        .max_headers(config.headers)
        .max_header_size(config.header_bytes)
        .max_buf_size(BUFFER_BYTES_MAX.max(config.header_bytes));
    http
}

/// Bytes that hyper keeps of what it has read, and of what it has to write.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
