//! Every counter and gauge of the daemon, in one struct, and their text for Prometheus.
//!
//! Counting is one atomic addition. Labels come from closed sets only, so the number of series
//! is fixed.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

/// A number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

/// How often something took how long, in seconds.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS_MICROS.len()],
    count: AtomicU64,
    sum_micros: AtomicU64,
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Requests answered, by hundreds of the status: 1xx at 0 to 5xx at 4.
    pub requests: [Counter; 5],
    /// Time from a request's head to its answer's head.
    pub request_seconds: Histogram,
    /// Connections that are open.
    pub connections: Gauge,
    /// Connections that were closed at once because too many were open.
    pub connections_refused: Counter,
    /// Requests without a valid key.
    pub auth_failures: Counter,
    /// Requests refused because of a rate.
    pub rate_limited: Counter,
    /// Commits of the store.
    pub commits: Counter,
    /// Writes in those commits.
    pub writes: Counter,
    /// Time of a commit, from its first write until it is on disk.
    pub commit_seconds: Histogram,
    /// Commits that failed.
    pub commit_failures: Counter,
    /// Runs accepted.
    pub runs_created: Counter,
    /// Runs ended, by terminal status: succeeded, `no_signal`, failed.
    pub runs_finished: [Counter; 3],
    /// Slots of schedules decided: fired, skipped, missed.
    pub slots: [Counter; 3],
    /// Chats whose upstream claimed more tokens than can have been used.
    pub usage_clamped: Counter,
    /// Runs under way.
    pub runs_running: Gauge,
    /// Results that came too late to count.
    pub late_results: Counter,
    /// Loops and executions that panicked.
    pub panics: Counter,
    /// Attempts to deliver an event: answered with 2xx, and all others.
    pub attempts: [Counter; 2],
    /// Time of an attempt, until it was decided.
    pub attempt_seconds: Histogram,
    /// Deliveries given up after six attempts, or because too many waited.
    pub deliveries_failed: Counter,
    /// Whether several receivers agree that our clock is wrong: 0 or 1.
    pub clock_skew_suspected: Gauge,
    /// Exchanges with other servers.
    pub outbound_requests: Counter,
    /// Exchanges that the guard refused.
    pub outbound_forbidden: Counter,
}

impl Counter {
    /// Counts one more.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The number so far.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Gauge {
    /// One more.
    pub fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// This many.
    pub fn set(&self, number: u64) {
        self.0.store(number, Ordering::Relaxed);
    }

    /// One less.
    pub fn down(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// The number now.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Histogram {
    /// Counts one that took `span`.
    pub fn observe(&self, span: Duration) {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MICROS.iter().position(|bound| micros <= *bound);
        if let Some(bucket) = bucket.and_then(|it| self.buckets.get(it)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn write(&self, out: &mut String, name: &str, help: &str) {
        head(out, name, help, "histogram");
        let mut below = 0;
        for (bound, bucket) in BOUNDS_MICROS.iter().zip(&self.buckets) {
            below += bucket.load(Ordering::Relaxed);
            line(out, &format!("{name}_bucket{{le=\"{}\"}}", seconds(*bound)), &below.to_string());
        }
        let count = self.count.load(Ordering::Relaxed).max(below).to_string();
        line(out, &format!("{name}_bucket{{le=\"+Inf\"}}"), &count);
        line(out, &format!("{name}_sum"), &seconds(self.sum_micros.load(Ordering::Relaxed)));
        line(out, &format!("{name}_count"), &count);
    }
}

impl Metrics {
    /// Writes everything in the text format of Prometheus, version 0.0.4.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(8 * 1024);
        let families = ["1xx", "2xx", "3xx", "4xx", "5xx"];
        head(&mut out, "errand_requests_total", "Requests answered.", "counter");
        for (family, counter) in families.iter().zip(&self.requests) {
            let name = format!("errand_requests_total{{status=\"{family}\"}}");
            line(&mut out, &name, &counter.value().to_string());
        }
        head(&mut out, "errand_runs_finished_total", "Runs ended.", "counter");
        for (status, counter) in
            ["succeeded", "no_signal", "failed"].iter().zip(&self.runs_finished)
        {
            let name = format!("errand_runs_finished_total{{status=\"{status}\"}}");
            line(&mut out, &name, &counter.value().to_string());
        }
        head(&mut out, "errand_slots_total", "Slots of schedules decided.", "counter");
        for (outcome, counter) in ["fired", "skipped", "missed"].iter().zip(&self.slots) {
            let name = format!("errand_slots_total{{outcome=\"{outcome}\"}}");
            line(&mut out, &name, &counter.value().to_string());
        }
        head(&mut out, "errand_attempts_total", "Attempts to deliver an event.", "counter");
        for (outcome, counter) in ["delivered", "failed"].iter().zip(&self.attempts) {
            let name = format!("errand_attempts_total{{outcome=\"{outcome}\"}}");
            line(&mut out, &name, &counter.value().to_string());
        }
        for (name, help, value) in self.plain_counters() {
            head(&mut out, name, help, "counter");
            line(&mut out, name, &value.value().to_string());
        }
        for (name, help, value) in self.gauges() {
            head(&mut out, name, help, "gauge");
            line(&mut out, name, &value.value().to_string());
        }
        let help = "Time from a request's head to its answer's head.";
        self.request_seconds.write(&mut out, "errand_request_seconds", help);
        let help = "Time of a commit until it is on disk.";
        self.commit_seconds.write(&mut out, "errand_commit_seconds", help);
        let help = "Time of an attempt to deliver an event, until it was decided.";
        self.attempt_seconds.write(&mut out, "errand_attempt_seconds", help);
        out
    }

    fn plain_counters(&self) -> [(&'static str, &'static str, &Counter); 13] {
        [
            (
                "errand_connections_refused_total",
                "Connections above the limit.",
                &self.connections_refused,
            ),
            ("errand_auth_failures_total", "Requests without a valid key.", &self.auth_failures),
            (
                "errand_rate_limited_total",
                "Requests refused because of a rate.",
                &self.rate_limited,
            ),
            ("errand_commits_total", "Commits of the store.", &self.commits),
            ("errand_writes_total", "Writes in those commits.", &self.writes),
            ("errand_commit_failures_total", "Commits that failed.", &self.commit_failures),
            ("errand_runs_created_total", "Runs accepted.", &self.runs_created),
            ("errand_late_results_total", "Results that came too late.", &self.late_results),
            ("errand_panics_total", "Loops and executions that panicked.", &self.panics),
            (
                "errand_usage_clamped_total",
                "Chats with an impossible number of tokens.",
                &self.usage_clamped,
            ),
            ("errand_deliveries_failed_total", "Deliveries given up.", &self.deliveries_failed),
            (
                "errand_outbound_requests_total",
                "Exchanges with other servers.",
                &self.outbound_requests,
            ),
            (
                "errand_outbound_forbidden_total",
                "Exchanges the guard refused.",
                &self.outbound_forbidden,
            ),
        ]
    }

    fn gauges(&self) -> [(&'static str, &'static str, &Gauge); 3] {
        [
            ("errand_connections", "Connections that are open.", &self.connections),
            ("errand_runs_running", "Runs under way.", &self.runs_running),
            (
                "errand_clock_skew_suspected",
                "Whether receivers agree that our clock is wrong.",
                &self.clock_skew_suspected,
            ),
        ]
    }
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(out, "{name} {value}");
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Upper bounds of the buckets, in microseconds: 100 µs to 10 s.
const BOUNDS_MICROS: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_every_series_once_and_adds_up() {
        let metrics = Metrics::default();
        metrics.commits.add(3);
        metrics.commit_seconds.observe(Duration::from_micros(300));
        metrics.commit_seconds.observe(Duration::from_secs(60));
        let text = metrics.to_text();
        assert!(text.contains("\nerrand_commits_total 3\n"), "{text}");
        assert!(text.contains("errand_commit_seconds_bucket{le=\"0.000250\"} 0\n"));
        assert!(text.contains("errand_commit_seconds_bucket{le=\"0.000500\"} 1\n"));
        assert!(text.contains("errand_commit_seconds_bucket{le=\"+Inf\"} 2\n"));
        assert!(text.contains("errand_commit_seconds_sum 60.000300\n"));
        let mut names: Vec<_> = text.lines().filter_map(|it| it.strip_prefix("# TYPE ")).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
