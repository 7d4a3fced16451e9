//! The table of settings, its first half: the daemon itself.
//!
//! A setting is here when the daemon acts on it, and not before.

use crate::app::limiter::Rate;
use crate::config::fit::{block, of_ourselves, tls, workers};
use crate::config::kind::Kind;
use crate::config::table::Preset::{DataDir, Is, Modes, Unset};
use crate::config::table::Reload::{Hangup, Restart};
use crate::config::table::{Preset, Reload, Setting};
use crate::store::Verify;
use crate::sys::telemetry::Format;
use std::time::Duration;

pub(super) const fn row(
    name: &'static str,
    kind: Kind,
    default: Preset,
    reload: Reload,
    meaning: &'static str,
) -> Setting {
    Setting { name, reload, meaning, kind, default }
}

/// The settings of the daemon itself.
pub(super) static ROWS: [Setting; 27] = [
    row(
        "data.dir",
        Kind::Path(|it, dir| it.data.dir = dir),
        DataDir("./.errand"),
        Restart,
        "The directory of the data. It holds errand.redb, its lock and the control socket; network \
         file systems are refused.",
    ),
    row(
        "data.cache_size",
        Kind::Size(MIB, 64 * 1024 * MIB, |it, bytes| {
            it.data.cache_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        }),
        Is("64MiB"),
        Restart,
        "Pages of the data file that are kept in memory.",
    ),
    row(
        "data.verify",
        Kind::Word(&["small", "always", "never"], |it, word| {
            it.data.verify = match word {
                "always" => Verify::Always,
                "never" => Verify::Never,
                _ => Verify::Small,
            };
        }),
        Is("small"),
        Restart,
        "Which files are read whole at the start, to find damage: small ones up to 1 GiB, all, or \
         only those that were not closed properly.",
    ),
    row(
        "data.master_key_file",
        Kind::Path(|it, path| it.data.master_key_file = Some(path)),
        Unset,
        Restart,
        "The file with the key that the secrets in the data are sealed with; without it, master.key \
         in the data directory, which is made when it is needed. Keep a copy apart from the data.",
    ),
    row(
        "http.listen",
        Kind::Addresses(|it, addresses| it.http.listen = addresses),
        Is("127.0.0.1:7270"),
        Restart,
        "Where the API listens; port 0 takes a free one.",
    ),
    row(
        "http.max_connections",
        Kind::Count(1, 100_000, |it, count| {
            it.http.edge.max_connections = usize::try_from(count).unwrap_or(usize::MAX);
        }),
        Is("1024"),
        Restart,
        "Open connections; more are refused until one ends.",
    ),
    row(
        "http.header_timeout",
        Kind::Span(SECOND, HOUR, |it, span| it.http.edge.header_timeout = span),
        Is("10s"),
        Restart,
        "Time for the head of a request, and for a TLS handshake.",
    ),
    row(
        "http.body_timeout",
        Kind::Span(SECOND, HOUR, |it, span| it.http.edge.body_timeout = span),
        Is("15s"),
        Restart,
        "Time for the body of a request, beyond what its length needs at 16 KiB a second.",
    ),
    row(
        "http.idle_timeout",
        Kind::Span(SECOND, HOUR, |it, span| it.http.edge.idle_timeout = span),
        Is("75s"),
        Restart,
        "Time between two requests of a connection; keep it above that of a proxy in front.",
    ),
    row(
        "http.write_timeout",
        Kind::Span(SECOND, HOUR, |it, span| it.http.edge.write_timeout = span),
        Is("30s"),
        Restart,
        "Time without progress while an answer is being sent.",
    ),
    row(
        "http.drain_timeout",
        Kind::Span(Duration::ZERO, HOUR, |it, span| it.http.edge.drain = span),
        Modes("30s", "5s"),
        Restart,
        "Time for requests under way to be answered when the daemon stops.",
    ),
    row(
        "tls.cert",
        Kind::Path(|it, path| tls(it).cert = path),
        Unset,
        Hangup,
        "The certificate and those that vouch for it, in PEM; with tls.key, the API speaks TLS only.",
    ),
    row(
        "tls.key",
        Kind::Path(|it, path| tls(it).key = path),
        Unset,
        Hangup,
        "The private key of the certificate, in PEM.",
    ),
    row(
        "proxy.trusted",
        Kind::Networks(|it, networks| {
            it.http.edge.trusted_proxies = networks.iter().filter_map(block).collect();
        }),
        Is(""),
        Restart,
        "Networks of reverse proxies whose X-Forwarded-For is believed.",
    ),
    row(
        "metrics.listen",
        Kind::AddressOr(|it, address| it.metrics = address),
        Is("off"),
        Restart,
        "Where the counters are shown, at /metrics, to whoever can connect.",
    ),
    row(
        "log.level",
        Kind::Filter(|it, filter| it.log.filter = of_ourselves(filter)),
        Is("info"),
        Restart,
        "What is logged, on standard error. A level alone is that of the daemon itself; libraries \
         log warnings.",
    ),
    row(
        "log.format",
        Kind::Word(&["auto", "text", "json"], |it, word| {
            it.log.format = Format::parse(word).unwrap_or(Format::Auto);
        }),
        Is("auto"),
        Restart,
        "How log lines look; auto is text on a terminal and JSON elsewhere.",
    ),
    row(
        "limits.requests",
        Kind::CountOr(1, RATE_MAX, "off", |it, count| {
            let burst = it.limits.rates.key.map_or(1, |it| it.burst);
            it.limits.rates.key = count.map(|per_minute| Rate { per_minute, burst });
        }),
        Modes("600", "off"),
        Restart,
        "Requests a minute of one API key.",
    ),
    row(
        "limits.burst",
        Kind::Count(1, RATE_MAX / 2, |it, burst| {
            let rates = &mut it.limits.rates;
            rates.key = rates.key.map(|it| Rate { burst, ..it });
            let double = burst.saturating_mul(2);
            rates.account = rates.account.map(|it| Rate { burst: double, ..it });
        }),
        Is("60"),
        Restart,
        "Requests that one key may make at once; an account may make twice as many.",
    ),
    row(
        "limits.account_requests",
        Kind::CountOr(1, RATE_MAX, "off", |it, count| {
            let burst = it.limits.rates.account.map_or(1, |it| it.burst);
            it.limits.rates.account = count.map(|per_minute| Rate { per_minute, burst });
        }),
        Modes("1200", "off"),
        Restart,
        "Requests a minute of all keys of one account.",
    ),
    row(
        "limits.auth_failures",
        Kind::CountOr(1, RATE_MAX, "off", |it, count| {
            let rate = |it| Rate { per_minute: it, burst: it };
            it.limits.rates.strangers = count.map(rate);
        }),
        Modes("30", "off"),
        Restart,
        "Requests a minute without a valid key from one address.",
    ),
    row(
        "limits.pending_runs",
        Kind::CountOr(1, 10_000_000, "off", |it, count| it.limits.pending_runs = count),
        Is("1000"),
        Restart,
        "Runs of one account that may wait or run at the same time.",
    ),
    row(
        "limits.chats_in_flight",
        Kind::CountOr(1, 1_000_000, "off", |it, count| it.limits.chats_in_flight = count),
        Is("32"),
        Restart,
        "Chats of one API key that may be under way at the same time.",
    ),
    row(
        "queue.workers",
        Kind::CountOr(0, 1_024, "auto", |it, count| it.queue.workers = workers(count)),
        Is("auto"),
        Restart,
        "Runs that are executed at the same time; auto is one for each processor, at least 2. \
         With 0, work is accepted and waits.",
    ),
    row(
        "queue.account_workers",
        Kind::CountOr(1, 1_024, "auto", |it, count| {
            let half = u32::try_from(it.queue.workers / 2).unwrap_or(u32::MAX).max(1);
            it.queue.account_workers = count.unwrap_or(half);
        }),
        Is("auto"),
        Restart,
        "Runs of one account that are executed at the same time; auto is half of the workers.",
    ),
    row(
        "queue.shutdown_grace",
        Kind::Span(Duration::ZERO, HOUR, |it, span| it.queue.shutdown_grace = span),
        Modes("30s", "5s"),
        Restart,
        "Time for runs under way to end when the daemon stops; what is left then starts again at \
         the next start.",
    ),
    row(
        "instance.name",
        Kind::Line(100, |it, name| it.data.name = name),
        Is("errand"),
        Restart,
        "The name that a new data file gives to this installation; an old file keeps its own.",
    ),
];

const MIB: u64 = 1024 * 1024;
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);
/// Requests a minute beyond which no rate is a limit.
const RATE_MAX: u32 = 1_000_000;
