//! Can the page be reached: status, redirects, encryption, type, speed of the server.

use std::time::Duration;

use url::Url;

use crate::agents::page::media::MediaType;
use crate::agents::page::text::quote;
use crate::agents::page::trail::Hop;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, is_local};

/// The rules about reaching a page.
pub const RULES: &[Rule] = &[
    Rule {
        id: "http-status-code",
        name: "HTTP status",
        severity: Severity::Critical,
        group: Group::Alone,
        source: sources::LIGHTHOUSE_STATUS,
        why: "Search engines drop pages that answer with an error and never show them.",
        how: "Let the address answer with status 200, or redirect it to the page that replaced it.",
        judge: Judge::Exchange(http_status_code),
    },
    Rule {
        id: "redirects",
        name: "Redirects",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::GOOGLE_REDIRECTS,
        why: "Every hop costs visitors a round trip, and crawlers give up on long chains. A \
              temporary redirect keeps the old address in the index.",
        how: "Redirect once, with status 301 or 308, straight to the final address, and link to \
              that address.",
        judge: Judge::Exchange(redirects),
    },
    Rule {
        id: "https",
        name: "HTTPS",
        severity: Severity::High,
        group: Group::Alone,
        source: sources::GOOGLE_PAGE_EXPERIENCE,
        why: "Browsers mark pages without encryption as not secure, and Google prefers the \
              encrypted address of two.",
        how: "Serve the page over https and redirect the http address to it.",
        judge: Judge::Exchange(https),
    },
    Rule {
        id: "tls-expiry",
        name: "TLS certificate",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::OWN,
        why: "When the certificate has run out, browsers show a warning instead of the page and \
              crawlers get nothing.",
        how: "Renew the certificate now, and let its renewal run by itself.",
        judge: Judge::Exchange(tls_expiry),
    },
    Rule {
        id: "content-type",
        name: "Content type",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::MIME_SNIFFING,
        why: "Without the header every reader has to guess from the first bytes what the document \
              is.",
        how: "Send `Content-Type: text/html; charset=utf-8`.",
        judge: Judge::Exchange(content_type),
    },
    Rule {
        id: "content-disposition",
        name: "Shown, not downloaded",
        severity: Severity::High,
        group: Group::Alone,
        source: sources::RFC_6266,
        why: "The header makes browsers save the page as a file instead of showing it.",
        how: "Remove `Content-Disposition: attachment` from the answer.",
        judge: Judge::Exchange(content_disposition),
    },
    Rule {
        id: "ttfb",
        name: "Time to first byte",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::WEB_DEV_TTFB,
        why: "Nothing can be shown before the first byte, and crawlers fetch less from slow \
              servers.",
        how: "Find out what the server does before it answers, and keep the finished page in a \
              cache.",
        judge: Judge::Exchange(ttfb),
    },
];

fn http_status_code(subject: &Subject) -> Judgement {
    let reply = &subject.fetched.visit.reply;
    if !(400..=599).contains(&reply.status) {
        return Judgement::Pass;
    }
    let status = reply.status;
    let retry = reply.header("retry-after").map(|it| Evidence::header("retry-after", it));
    let found = Found::new(format!("The page answers with status {status}{}", phrase(status)));
    let answer = Evidence::value(
        Within::Exchange,
        format!("{status} from {}", quote(subject.url().as_str())),
    );
    Judgement::Fail(found.at([answer]).at(retry))
}

/// What the commonest statuses mean.
const fn phrase(status: u16) -> &'static str {
    match status {
        401 => ": it wants a password",
        403 => ": it is forbidden",
        404 => ": there is no such page",
        410 => ": it is gone for good",
        429 => ": too many requests",
        500 => ": the server failed",
        502 | 504 => ": the server behind it failed",
        503 => ": the server is not available",
        _ => "",
    }
}

fn redirects(subject: &Subject) -> Judgement {
    let visit = &subject.fetched.visit;
    let hops = visit.hops.as_slice();
    if hops.is_empty() {
        return Judgement::Pass;
    }
    let lost = hops_to_plain(hops, &visit.url);
    let is_temporary = hops.iter().any(|it| matches!(it.status, 302 | 303 | 307));
    let count = hops.len();
    let title = match (lost, count, is_temporary) {
        (true, ..) => "A redirect leads from https back to http".to_owned(),
        (false, 1, true) => "The address redirects once, temporarily".to_owned(),
        (false, 1, false) => "The address redirects once".to_owned(),
        (false, _, true) => format!("{count} redirects in a row, with a temporary one among them"),
        (false, _, false) => format!("{count} redirects in a row"),
    };
    let hop = |it: &Hop| Evidence::value(Within::Exchange, address(it.status, &it.url));
    let end = Evidence::value(Within::Exchange, address(visit.reply.status, &visit.url));
    let chain = hops.iter().map(hop).chain([end]);
    let found = Found::new(title).at(chain);
    if lost || count > LONG_CHAIN {
        Judgement::Fail(found.severity(Severity::High))
    } else if count > 1 {
        Judgement::Fail(found)
    } else {
        Judgement::Info(found)
    }
}

fn address(status: u16, url: &Url) -> String {
    format!("{status} {}", quote(url.as_str()))
}

/// Whether a hop leaves encryption behind.
fn hops_to_plain(hops: &[Hop], last: &Url) -> bool {
    let addresses: Vec<&Url> = hops.iter().map(|it| &it.url).chain([last]).collect();
    addresses
        .windows(2)
        .any(|it| matches!(it, [from, to] if from.scheme() == "https" && to.scheme() == "http"))
}

fn https(subject: &Subject) -> Judgement {
    let url = subject.url();
    match url.scheme() {
        "http" if is_local(url) => Judgement::NotApplicable("the page is on this machine"),
        "http" => {
            let found = Found::new("The page is not encrypted");
            Judgement::Fail(found.at([Evidence::value(Within::Exchange, quote(url.as_str()))]))
        }
        _ => Judgement::Pass,
    }
}

fn tls_expiry(subject: &Subject) -> Judgement {
    let Some(tls) = &subject.fetched.visit.reply.tls else {
        return Judgement::NotApplicable("the page is not encrypted");
    };
    let left = tls.not_after.since(subject.fetched.at);
    if left >= EXPIRY_SOON {
        return Judgement::Pass;
    }
    let days = left.as_secs() / 86_400;
    let unit = if days == 1 { "day" } else { "days" };
    let issuer = if tls.issuer.is_empty() { "nobody named".to_owned() } else { quote(&tls.issuer) };
    let value = format!("valid until {}, issued by {issuer}", tls.not_after);
    let found = Found::new(format!("The certificate runs out in {days} {unit}"));
    let found = found.at([Evidence::value(Within::Exchange, value)]);
    Judgement::Fail(if left < EXPIRY_NOW { found.severity(Severity::High) } else { found })
}

fn content_type(subject: &Subject) -> Judgement {
    match subject.fetched.visit.reply.header("content-type") {
        None => Judgement::Fail(Found::new("The answer has no `Content-Type` header")),
        Some(value) => match MediaType::parse(value) {
            Some(media) if !media.is_unknown() => Judgement::Pass,
            Some(_) | None => {
                let found = Found::new("The `Content-Type` header names no type");
                Judgement::Fail(found.at([Evidence::header("content-type", value)]))
            }
        },
    }
}

fn content_disposition(subject: &Subject) -> Judgement {
    let value = subject.fetched.visit.reply.header("content-disposition").unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("attachment") {
        return Judgement::Pass;
    }
    let found = Found::new("The page is sent as a file to download");
    Judgement::Fail(found.at([Evidence::header("content-disposition", value)]))
}

fn ttfb(subject: &Subject) -> Judgement {
    let first = subject.fetched.visit.reply.timing.first_byte;
    let second = subject.fetched.second_first_byte;
    let best = second.map_or(first, |it| it.min(first));
    if best <= FIRST_BYTE_GOOD {
        return Judgement::Pass;
    }
    let found = Found::new(format!("The server takes {} to begin its answer", seconds(best)));
    let times = match second {
        Some(second) => format!("{}, then {}", seconds(first), seconds(second)),
        None => format!("{}, measured once", seconds(first)),
    };
    let found = found.at([Evidence::value(Within::Exchange, times)]);
    match second {
        None => Judgement::Info(found),
        Some(_) if best > FIRST_BYTE_POOR => Judgement::Fail(found),
        Some(_) => Judgement::Fail(found.severity(Severity::Low)),
    }
}

/// A time for people, such as `2.21 s`.
fn seconds(span: Duration) -> String {
    format!("{}.{:02} s", span.as_secs(), span.subsec_millis() / 10)
}

/// Redirects that are still not a long chain.
const LONG_CHAIN: usize = 5;
/// Time before the end of a certificate at which it is mentioned.
const EXPIRY_SOON: Duration = Duration::from_hours(21 * 24);
/// Time before the end of a certificate at which it is urgent.
const EXPIRY_NOW: Duration = Duration::from_hours(3 * 24);
/// Time to the first byte up to which a server is fast enough. Source: web.dev.
pub const FIRST_BYTE_GOOD: Duration = Duration::from_millis(800);
/// Time to the first byte from which a server is slow. Source: web.dev.
const FIRST_BYTE_POOR: Duration = Duration::from_millis(1_800);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    use crate::domain::time::Timestamp;
    use crate::outbound::{TlsFacts, TlsVersion};

    #[test]
    fn only_an_error_status_is_a_fault_and_then_nothing_else_is_judged() {
        for status in [400, 401, 404, 410, 429, 500, 503, 599] {
            let audit = Sample::html("x").status(status).audit();
            let faults: Vec<_> = audit.checks.iter().filter(|it| it.fault().is_some()).collect();
            assert_eq!(
                faults.iter().map(|it| it.rule.id).collect::<Vec<_>>(),
                ["http-status-code"]
            );
            assert_eq!((audit.score.value, audit.lighthouse), (39, None));
        }
        Sample::body("").is("http-status-code", "pass");
        let busy = Sample::html("x").status(503).header("retry-after", "120");
        assert_eq!(busy.check("http-status-code").fault().unwrap().places, 2);
    }

    #[track_caller]
    fn check_redirects(hops: &[(u16, &str)], expected: &str) {
        Sample::body("").behind(hops).is("redirects", expected);
    }

    #[test]
    fn redirects_cost_when_there_are_several_or_encryption_is_lost() {
        let (a, b, plain) =
            ("https://example.com/a", "https://example.com/b", "http://example.com/");
        check_redirects(&[], "pass");
        check_redirects(&[(301, a)], "info");
        check_redirects(&[(302, a)], "info");
        check_redirects(&[(301, plain)], "info");
        check_redirects(&[(301, a), (308, b)], "medium");
        check_redirects(&[(301, a), (301, plain)], "high");
        check_redirects(&[(301, a); 6], "high");
        Sample::body("").at(plain).behind(&[(301, a)]).is("redirects", "high");
    }

    #[test]
    fn a_page_is_encrypted_unless_it_is_on_this_machine() {
        Sample::body("").is("https", "pass");
        Sample::body("").at("http://example.com/").is("https", "high");
        Sample::body("").at("http://127.0.0.1:4000/").is("https", "na");
    }

    #[track_caller]
    fn check_certificate(not_after: &str, expected: &str) {
        let mut sample = Sample::body("");
        let not_after = Timestamp::parse(not_after).unwrap();
        let issuer = "CA`x".to_owned();
        sample.0.visit.reply.tls = Some(TlsFacts { version: TlsVersion::V13, not_after, issuer });
        sample.is("tls-expiry", expected);
    }

    #[test]
    fn a_certificate_is_mentioned_before_it_runs_out() {
        Sample::body("").is("tls-expiry", "na");
        check_certificate("2027-01-01T00:00:00Z", "pass");
        check_certificate("2026-12-01T00:00:00Z", "low");
        check_certificate("2026-11-22T00:00:00Z", "high");
        check_certificate("2026-11-01T00:00:00Z", "high");
    }

    #[test]
    fn headers_say_that_it_is_a_page_to_be_shown() {
        Sample::body("").is("content-type", "pass");
        Sample::body("").content_type("").is("content-type", "medium");
        Sample::body("").content_type("*/*").is("content-type", "medium");
        Sample::body("").header("content-disposition", "inline").is("content-disposition", "pass");
        let file = Sample::body("").header("content-disposition", "Attachment; filename=a.html");
        file.is("content-disposition", "high");
    }

    #[track_caller]
    fn check_first_byte(first: u64, second: Option<u64>, expected: &str) {
        let mut sample = Sample::body("");
        sample.0.visit.reply.timing.first_byte = Duration::from_millis(first);
        sample.0.second_first_byte = second.map(Duration::from_millis);
        sample.is("ttfb", expected);
    }

    #[test]
    fn a_slow_server_is_one_that_is_slow_twice() {
        check_first_byte(800, None, "pass");
        check_first_byte(5_000, Some(200), "pass");
        check_first_byte(5_000, None, "info");
        check_first_byte(5_000, Some(900), "low");
        check_first_byte(1_801, Some(2_200), "medium");
    }
}
