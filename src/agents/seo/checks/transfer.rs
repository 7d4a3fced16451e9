//! Does the page arrive whole and readable: encoding, size, document type, depth.

use crate::agents::page::charset::{Decoded, NamedBy};
use crate::agents::page::document::Document;
use crate::agents::page::gate::{DEPTH_KEPT, Stop};
use crate::agents::page::prescan::ATTRIBUTES_MAX;
use crate::agents::page::text::quote;
use crate::agents::page::tree::Span;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Reading, Subject, at_element, at_span};

/// The rules about what arrives.
pub const RULES: &[Rule] = &[
    Rule {
        id: "charset",
        name: "Character encoding",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::HTML_CHARSET,
        why: "When the encoding is missing or wrong, letters outside ASCII turn into nonsense on \
              the page and in search results.",
        how: "Save the page as UTF-8 and say so in the header, `Content-Type: text/html; \
              charset=utf-8`.",
        judge: Judge::Document(charset),
    },
    Rule {
        id: "compression",
        name: "Compression",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::LIGHTHOUSE_COMPRESSION,
        why: "Text shrinks to a fraction when it is compressed, and every visitor waits for the \
              rest.",
        how: "Switch on gzip or Brotli for text in the server's settings.",
        judge: Judge::Document(compression),
    },
    Rule {
        id: "html-size",
        name: "Size of the HTML",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::GOOGLE_CRAWLERS,
        why: "Crawlers read a page up to a limit and ignore what comes after it.",
        how: "Split the page, and move data, styles and scripts out of the HTML.",
        judge: Judge::Document(html_size),
    },
    Rule {
        id: "doctype",
        name: "Document type",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::HTML_DOCTYPE,
        why: "Without it browsers imitate the mistakes of the nineties, and the page may look \
              different everywhere.",
        how: "Let the document begin with `<!DOCTYPE html>`.",
        judge: Judge::Document(doctype),
    },
    Rule {
        id: "xhtml-wellformed",
        name: "Well-formed XHTML",
        severity: Severity::High,
        group: Group::Alone,
        source: sources::HTML_XML,
        why: "The page is sent as XML. Browsers stop at the first mistake and show an error \
              message instead of the page.",
        how: "Mend the mistake, or send the page as `text/html`.",
        judge: Judge::Exchange(xhtml_wellformed),
    },
    Rule {
        id: "html-nesting",
        name: "Depth of the HTML",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::OWN,
        why: "Browsers flatten what is nested too deeply, and every reader becomes slow. It is \
              mostly a generator's mistake.",
        how: "Find the template that opens elements without closing them.",
        judge: Judge::Document(html_nesting),
    },
];

fn charset(_: &Subject, page: &Document) -> Judgement {
    let decoded = &page.decoded;
    let name = decoded.encoding.name();
    if let Some(at) = decoded.bad_at {
        let found = Found::new(format!("Some bytes of the page are not {name}"));
        let what = format!("the first wrong byte is number {}", at.saturating_add(1));
        let looks = decoded.looks_like.map(|it| format!("; the page looks like {}", it.name()));
        let value = what + &looks.unwrap_or_default();
        return Judgement::Fail(
            found.at([Evidence::value(Within::Page, value)]).at(labels(decoded)),
        );
    }
    if let Some(looks) = decoded.looks_like {
        let found = Found::new(format!("The page says {name} but is {}", looks.name()));
        return Judgement::Fail(found.at(labels(decoded)));
    }
    match (decoded.named_by, contradicting_label(decoded)) {
        (NamedBy::Guess, _) => {
            let found = Found::new("The page does not say its encoding in time");
            let value = format!("nothing in the header or the first 1,024 bytes; guessed {name}");
            Judgement::Fail(found.at([Evidence::value(Within::Page, value)]))
        }
        (_, true) => Judgement::Fail(
            Found::new("Header and page name different encodings").at(labels(decoded)),
        ),
        (NamedBy::Mark | NamedBy::Header | NamedBy::Page | NamedBy::Default, false) => {
            if is_modern(name) {
                Judgement::Pass
            } else {
                let found = Found::new(format!("The page is in {name}; UTF-8 is the standard"));
                Judgement::Info(found.at(labels(decoded)))
            }
        }
    }
}

/// Whether the header and the page disagree about the encoding.
fn contradicting_label(decoded: &Decoded) -> bool {
    let encoding = |it: &Option<String>| {
        it.as_deref().and_then(|it| encoding_rs::Encoding::for_label(it.as_bytes()))
    };
    let (header, page) = (encoding(&decoded.header), encoding(&decoded.page));
    decoded.named_by == NamedBy::Header && page.is_some() && header != page
}

/// Whether nothing is to be gained by changing the encoding: UTF-8, or the Latin one that every
/// reader treats as the default.
fn is_modern(name: &str) -> bool {
    matches!(name, "UTF-8" | "windows-1252")
}

fn labels(decoded: &Decoded) -> Vec<Evidence> {
    let said = |who: &str, label: &Option<String>| {
        label.as_ref().map(|it| Evidence::value(Within::Page, format!("{who} says {}", quote(it))))
    };
    let mark = (decoded.named_by == NamedBy::Mark).then(|| {
        Evidence::value(
            Within::Page,
            format!("the byte order mark says {}", decoded.encoding.name()),
        )
    });
    let said = [said("the header", &decoded.header), said("the page", &decoded.page), mark];
    said.into_iter().flatten().collect()
}

fn compression(subject: &Subject, page: &Document) -> Judgement {
    let reply = &subject.fetched.visit.reply;
    let bytes = reply.body.len();
    if reply.coding.is_some() || bytes <= FIRST_FLIGHT_BYTES {
        return Judgement::Pass;
    }
    let found = Found::new(format!("The page is sent uncompressed, {}", kilobytes(bytes)));
    let found = found.at([Evidence::value(Within::Headers, "no `content-encoding`")]);
    if page.facts.text.prose_bytes > PROSE_BYTES_MIN {
        Judgement::Fail(found)
    } else {
        Judgement::Info(found)
    }
}

fn html_size(subject: &Subject, page: &Document) -> Judgement {
    let bytes = subject.fetched.visit.reply.body.len();
    if bytes <= LARGE_HTML_BYTES {
        return Judgement::Pass;
    }
    let found = Found::new(format!("The HTML is {} large", kilobytes(bytes)));
    let last = page.facts.headings.last().map(|it| {
        let at = page.span(it.node).map_or(0, |it| it.start);
        at_element(page, it.node)
            .saying(format!("the last heading, {} into the page", kilobytes(at)))
    });
    let size = Evidence::value(Within::Page, format!("{bytes} bytes when decompressed"));
    let found = found.at([size]).at(last);
    Judgement::Fail(if bytes > HUGE_HTML_BYTES { found.severity(Severity::High) } else { found })
}

fn doctype(_: &Subject, page: &Document) -> Judgement {
    if !page.passed.in_quirks_mode {
        return Judgement::Pass;
    }
    let start = Span { start: 0, end: page.decoded.text.len() };
    Judgement::Fail(Found::new("The page is shown in quirks mode").at([at_span(page, start)]))
}

fn xhtml_wellformed(subject: &Subject) -> Judgement {
    match &subject.reading {
        Reading::NotWellFormed { mistake, line, column, excerpt } => {
            let evidence = Evidence {
                line: Some(*line),
                column: Some(*column),
                excerpt: Some(excerpt.clone()).filter(|it| !it.is_empty()),
                value: Some(mistake.problem.to_owned()),
                ..Evidence::default()
            };
            Judgement::Fail(Found::new("Browsers cannot read the page as XML").at([evidence]))
        }
        Reading::Page(page) if page.is_xml() => Judgement::Pass,
        Reading::Page(_) | Reading::ErrorStatus => Judgement::NotApplicable("the page is HTML"),
    }
}

fn html_nesting(_: &Subject, page: &Document) -> Judgement {
    let passed = &page.passed;
    let deep = passed.depth > DEPTH_KEPT as usize;
    let mut evidence = Vec::new();
    if deep {
        evidence.push(format!("elements are nested {} deep", passed.depth));
    }
    if page.attributes > ATTRIBUTES_MAX {
        evidence.push(format!("a tag has {} attributes", page.attributes));
    }
    evidence.extend(passed.stopped.map(|it| stop_phrase(it).to_owned()));
    let is_fault =
        passed.depth > DEPTH_MAX || page.attributes > ATTRIBUTES_MAX || passed.stopped.is_some();
    let title = match passed.stopped {
        Some(_) => "The page is too complex to be read to its end",
        None => "The page is nested so deeply that browsers flatten it",
    };
    let evidence = evidence.into_iter().map(|it| Evidence::value(Within::Page, it));
    let found = Found::new(title).at(evidence);
    match (is_fault, deep) {
        (true, _) => Judgement::Fail(found),
        (false, true) => Judgement::Info(found),
        (false, false) => Judgement::Pass,
    }
}

/// Why a page was not read to its end.
#[must_use]
pub const fn stop_phrase(stop: Stop) -> &'static str {
    match stop {
        Stop::Elements => "there are more than 200,000 elements; the rest was not read",
        Stop::Attributes => {
            "there are too many attributes, or too large ones; the rest was not read"
        }
        Stop::Depth => "the nesting cannot be followed; the rest was not read",
        Stop::Time => "reading took too long; the rest was not read",
    }
}

/// A size for people, such as `58.3 kB`.
#[must_use]
pub fn kilobytes(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Bytes that arrive with the first ten packets, however they are coded.
const FIRST_FLIGHT_BYTES: usize = 14_600;
/// Bytes of running text above which a page is mostly text.
const PROSE_BYTES_MIN: usize = 1_400;
/// Bytes of HTML that are many.
const LARGE_HTML_BYTES: usize = 1_000_000;
/// Bytes of HTML that Googlebot may not read. Source: Google, crawler overview.
const HUGE_HTML_BYTES: usize = 2_000_000;
/// Depth above which a page is broken rather than deep.
const DEPTH_MAX: usize = 5_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    use crate::agents::seo::checks::rule;

    #[test]
    fn an_encoding_is_named_once_in_time_and_truly() {
        let text = "<!doctype html><title>Café</title>";
        Sample::html(text).is("charset", "pass");
        Sample::html(text).content_type("text/html").is("charset", "medium");
        let late = format!("<!--{}--><meta charset=utf-8>é", "x".repeat(1_100));
        Sample::html(late).content_type("text/html").is("charset", "medium");
        Sample::html(format!("<meta charset=utf-8>{text}"))
            .content_type("text/html")
            .is("charset", "pass");
        Sample::html(format!("<meta charset=koi8-r>{text}")).is("charset", "medium");
        Sample::html(text).content_type("text/html; charset=latin1").is("charset", "medium");
        Sample::html(b"caf\xe9").is("charset", "medium");
        Sample::html(b"caf\xe9").content_type("text/html; charset=latin1").is("charset", "pass");
        Sample::html(b"\xff\xfe<\0p\0>\0").is("charset", "info");
    }

    #[test]
    fn only_text_that_is_worth_it_must_be_compressed() {
        let prose = format!("<p>{}", "word ".repeat(4_000));
        Sample::body(&prose).is("compression", "low");
        Sample::body("<p>short").is("compression", "pass");
        Sample::body(&"<a href=/x>x</a>".repeat(2_000)).is("compression", "info");
        let mut coded = Sample::body(&prose);
        coded.0.visit.reply.coding = Some("br".to_owned());
        coded.is("compression", "pass");
    }

    #[test]
    fn large_pages_cost_more_the_larger_they_are() {
        Sample::body(&"x".repeat(900_000)).is("html-size", "pass");
        Sample::body(&"x".repeat(1_000_001)).is("html-size", "medium");
        let huge = Sample::body(&"x".repeat(2_000_001)).check("html-size");
        assert_eq!(huge.severity(), Severity::High);
        let last = huge.fault().unwrap().evidence[1].value.clone().unwrap();
        assert_eq!(last, "the last heading, 2.0 MB into the page");
        assert_eq!(
            [999, 1_050, 58_324, 3_590_408].map(kilobytes),
            ["999 bytes", "1.0 kB", "58.3 kB", "3.5 MB"]
        );
    }

    #[test]
    fn a_document_begins_with_its_type() {
        Sample::html("<!DOCTYPE html><p>").is("doctype", "pass");
        Sample::html("<html><p>").is("doctype", "low");
        Sample::html("<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 3.2//EN\">").is("doctype", "low");
    }

    #[test]
    fn xhtml_that_cannot_be_read_is_not_judged_further() {
        let xhtml = "application/xhtml+xml";
        Sample::html("<p>").is("xhtml-wellformed", "na");
        Sample::html("<html><p/></html>").content_type(xhtml).is("xhtml-wellformed", "pass");
        let broken = Sample::html("<?xml version='1.0'?>\n<html><p></html>").content_type(xhtml);
        let audit = broken.clone().audit();
        let judged = audit.checks.iter().filter(|it| matches!(it.rule.judge, Judge::Document(_)));
        assert!(judged.clone().count() > 30 && judged.into_iter().all(|it| it.verdict() == "na"));
        let check = broken.check("xhtml-wellformed");
        let place = &check.fault().unwrap().evidence[0];
        assert_eq!((place.line, place.column), (Some(2), Some(10)));
    }

    #[test]
    fn deep_pages_are_mentioned_and_bottomless_ones_are_faults() {
        let nested = |depth| format!("{}x{}", "<div>".repeat(depth), "</div>".repeat(depth));
        Sample::body(&nested(400)).is("html-nesting", "pass");
        Sample::body(&nested(4_000)).is("html-nesting", "info");
        Sample::body(&nested(6_000)).is("html-nesting", "medium");
        let many: String = (0..501).map(|it| format!(" a{it}")).collect();
        Sample::body(&format!("<p{many}>")).is("html-nesting", "medium");
        assert_eq!(rule("html-nesting").unwrap().severity, Severity::Medium);
    }
}
