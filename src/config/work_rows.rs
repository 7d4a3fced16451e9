//! The table of settings, its second half: what the daemon does for its callers.

use std::time::Duration;

use crate::config::fit::of_usize;
use crate::config::kind::Kind;
use crate::config::rows::row;
use crate::config::table::Preset::{Is, Modes, Unset};
use crate::config::table::Reload::Restart;
use crate::config::table::Setting;
use crate::delivery::StandardHeaders;
use crate::domain::limits::{RECEIVERS_MAX, SCHEDULES_MAX};
use crate::domain::retry::FirstAttempt;
use crate::models::{Label, UpstreamTexts};

/// The settings of what it does.
pub(super) static ROWS: [Setting; 27] = [
    row(
        "runs.retention",
        Kind::SpanOr(MINUTE, TEN_YEARS, "never", |it, span| it.runs.retention = span),
        Is("180d"),
        Restart,
        "How long a run is kept after it was accepted; never means that none is forgotten.",
    ),
    row(
        "billing.currency",
        Kind::Currency(|it, currency| it.billing.currency = currency),
        Is("EUR"),
        Restart,
        "The currency that prices are written in, and that a new account has.",
    ),
    row(
        "billing.rates",
        Kind::Rates(|it, rates| it.billing.rates = rates),
        Is(""),
        Restart,
        "Units of another currency for one unit of billing.currency, for accounts that have it.",
    ),
    row(
        "agents.price_seo_audit",
        Kind::Money(|it, price| {
            it.agents.prices.insert("seo_audit".to_owned(), price);
        }),
        Is("0.02"),
        Restart,
        "What one run of seo_audit costs; a failed one costs nothing.",
    ),
    row(
        "agents.price_competitor_scan",
        Kind::Money(|it, price| it.agents.set_price("competitor_scan", price)),
        Is("0.05"),
        Restart,
        "What one run of competitor_scan costs; a failed one costs nothing.",
    ),
    row(
        "agents.narrative_model",
        Kind::Line(128, |it, id| it.agents.narrative_model = Some(id).filter(|it| it != "off")),
        Is("off"),
        Restart,
        "A model that adds its words to every report, or \"off\". The customer pays for what it uses.",
    ),
    row(
        "agents.user_agent",
        Kind::Line(200, |it, text| it.agents.user_agent = text),
        Is(concat!("Errand/", env!("CARGO_PKG_VERSION"))),
        Restart,
        "What agents call themselves when they fetch a page.",
    ),
    row(
        "agents.politeness",
        Kind::Span(Duration::ZERO, MINUTE, |it, span| it.agents.politeness = span),
        Modes("1s", "0s"),
        Restart,
        "The shortest time between two requests of a run to one host.",
    ),
    row(
        "agents.confirm_pause",
        Kind::Span(Duration::ZERO, MINUTE, |it, span| it.agents.confirm_pause = span),
        Modes("60s", "1s"),
        Restart,
        "How long an agent waits before it looks a second time at what changed or failed.",
    ),
    row(
        "schedules.enabled",
        Kind::Word(&["on", "off"], |it, word| it.schedules.is_on = word != "off"),
        Is("on"),
        Restart,
        "Whether schedules fire; what is missed meanwhile is treated as if the daemon was down.",
    ),
    row(
        "schedules.max_per_account",
        Kind::Count(1, SCHEDULES_MAX, |it, count| it.schedules.rules.per_account = count),
        Is("100"),
        Restart,
        "Schedules of one account.",
    ),
    row(
        "schedules.missed_window",
        Kind::Span(MINUTE, YEAR, |it, span| it.schedules.rules.missed_window = span),
        Is("24h"),
        Restart,
        "How old a missed slot may be that still becomes a late run.",
    ),
    row(
        "webhooks.first_attempt",
        Kind::Word(&["tick", "commit"], |it, word| {
            it.webhooks.rules.first_attempt = match word {
                "commit" => FirstAttempt::Commit,
                _ => FirstAttempt::Tick,
            };
        }),
        Modes("tick", "commit"),
        Restart,
        "When an event is first sent: at the next full minute, or as soon as it is on disk.",
    ),
    row(
        "webhooks.max_receivers",
        Kind::Count(1, RECEIVERS_MAX, |it, count| it.webhooks.rules.receivers = count),
        Is("10"),
        Restart,
        "Receivers of one account.",
    ),
    row(
        "webhooks.fast_lane",
        Kind::Count(1, 65_536, |it, count| it.webhooks.rules.lanes.fast = of_usize(count)),
        Is("512"),
        Restart,
        "Events that are sent at the same time to receivers that answer.",
    ),
    row(
        "webhooks.slow_lane",
        Kind::Count(1, 65_536, |it, count| it.webhooks.rules.lanes.slow = of_usize(count)),
        Is("2048"),
        Restart,
        "Events that are sent at the same time to receivers that fail or are slow.",
    ),
    row(
        "webhooks.retention",
        Kind::Span(DAY, YEAR, |it, span| it.webhooks.rules.retention = span),
        Is("30d"),
        Restart,
        "How long a delivery stays in the log after it is over.",
    ),
    row(
        "webhooks.standard_headers",
        Kind::Word(&["on", "off"], |it, word| {
            it.webhooks.standard = match word {
                "off" => StandardHeaders::Absent,
                _ => StandardHeaders::Sent,
            };
        }),
        Is("on"),
        Restart,
        "Whether the headers of Standard Webhooks are sent beside the service's own.",
    ),
    row(
        "chat.offline_models",
        Kind::Word(&["on", "off"], |it, word| it.chat.offers_offline = word != "off"),
        Is("on"),
        Restart,
        "Whether the models that need no network are offered: offline/echo, offline/extract and \
         offline/lorem-stream.",
    ),
    row(
        "chat.offline_label",
        Kind::Word(&["on", "off"], |it, word| {
            it.chat.label = match word {
                "off" => Label::Hidden,
                _ => Label::Shown,
            };
        }),
        Is("on"),
        Restart,
        "Whether every answer of an offline model begins with [offline model].",
    ),
    row(
        "chat.discover",
        Kind::Word(&["on", "off"], |it, word| it.chat.discovers = word != "off"),
        Modes("off", "on"),
        Restart,
        "Whether the models of Ollama at 127.0.0.1:11434 and of llama.cpp at 127.0.0.1:8080 are \
         offered free of charge; for `errand dev` only.",
    ),
    row(
        "chat.expose_upstream_errors",
        Kind::Word(&["on", "off"], |it, word| {
            it.chat.texts = match word {
                "on" => UpstreamTexts::Show,
                _ => UpstreamTexts::Hide,
            };
        }),
        Is("off"),
        Restart,
        "Whether callers see in an upstream's own words, cut and without secrets, why it refuses a \
         request.",
    ),
    row(
        "outbound.extra_roots",
        Kind::Path(|it, path| it.outbound.extra_roots = Some(path)),
        Unset,
        Restart,
        "Certificates, in PEM, that are trusted besides the public ones for what the daemon fetches.",
    ),
    row(
        "outbound.allow",
        Kind::Networks(|it, networks| it.outbound.allow = networks),
        Modes("", LOCAL),
        Restart,
        "Networks that agents and webhooks may reach although they are not public.",
    ),
    row(
        "outbound.deny",
        Kind::Networks(|it, networks| it.outbound.deny = networks),
        Is(""),
        Restart,
        "Networks that agents and webhooks may not reach; stronger than outbound.allow.",
    ),
    row(
        "outbound.nat64",
        Kind::Networks(|it, networks| it.outbound.nat64 = networks),
        Is(""),
        Restart,
        "Networks of a NAT64 of your own: an address in them is judged by the IPv4 address at its \
         end. The well-known 64:ff9b::/96 always is.",
    ),
    row(
        "outbound.ports",
        Kind::Ports(|it, ports| it.outbound.ports = ports),
        Modes("80,443,8080,8443", "any"),
        Restart,
        "Ports that agents may reach.",
    ),
];

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);
const YEAR: Duration = Duration::from_hours(24 * 365);
const TEN_YEARS: Duration = Duration::from_hours(24 * 3_650);
/// Loopback and the private networks, which a developer's agents may reach.
const LOCAL: &str = "127.0.0.0/8,::1/128,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7";
