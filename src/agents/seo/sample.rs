//! Pages for tests: an answer as it would have been fetched, changed where a test wants it.

use std::time::Duration;

use bytes::Bytes;
use url::Url;

use crate::agents::page::fetch::Visit;
use crate::agents::page::reply::Reply;
use crate::agents::page::robots::{AnswerKind, RobotsAnswer};
use crate::agents::page::trail::Hop;
use crate::agents::parsers::Patience;
use crate::agents::seo::around::{Around, TargetAnswer};
use crate::agents::seo::audit::{Audit, examine};
use crate::agents::seo::finding::{Check, Severity};
use crate::agents::seo::subject::Fetched;
use crate::agents::seo::target::Target;
use crate::domain::time::Timestamp;

/// What would have been fetched.
#[derive(Clone, Debug)]
pub(crate) struct Sample(pub(crate) Fetched);

impl Sample {
    /// This document, from `https://example.com/page`; there is no robots.txt.
    pub(crate) fn html(html: impl AsRef<[u8]>) -> Self {
        let url = Url::parse("https://example.com/page").unwrap();
        let html = ("content-type".to_owned(), "text/html; charset=utf-8".to_owned(), html);
        let reply = Reply {
            status: 200,
            headers: vec![(html.0, html.1)],
            body: Bytes::copy_from_slice(html.2.as_ref()),
            ..Reply::default()
        };
        let robots = url.join("/robots.txt").unwrap();
        Self(Fetched {
            visit: Visit { asked: url.clone(), hops: vec![], url, reply },
            second_first_byte: None,
            around: Around::default(),
            robots: RobotsAnswer {
                kind: AnswerKind::Missing(404),
                url: robots,
                took: Duration::ZERO,
            },
            at: Timestamp::parse("2026-11-20T12:00:00Z").unwrap(),
        })
    }

    /// A page without faults whose head ends with `head` and whose body begins with `body`.
    pub(crate) fn page(head: &str, body: &str) -> Self {
        Self::html(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <title>Alder Creek Water Museum: visits and tours</title>\n\
             <meta name=\"description\" content=\"Opening hours, tickets and guided tours of the \
             pump station at Alder Creek.\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n{head}</head>\n<body>\n{body}\
             <h1>Water museum</h1><p><a href=\"/tickets\">Tickets</a></p>\n<p>{TEXT}</p>\n\
             </body>\n</html>\n"
        ))
    }

    /// The same with a head element.
    pub(crate) fn head(head: &str) -> Self {
        Self::page(head, "")
    }

    /// The same with something in the body.
    pub(crate) fn body(body: &str) -> Self {
        Self::page("", body)
    }

    /// The same from another address.
    pub(crate) fn at(mut self, url: &str) -> Self {
        self.0.visit.url = Url::parse(url).unwrap();
        self
    }

    /// The same with another status.
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.0.visit.reply.status = status;
        self
    }

    /// The same with a header more.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.0.visit.reply.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with this content type alone; an empty one is none.
    pub(crate) fn content_type(mut self, value: &str) -> Self {
        self.0.visit.reply.headers.retain(|(name, _)| name != "content-type");
        if value.is_empty() { self } else { self.header("content-type", value) }
    }

    /// The same behind redirects: statuses and addresses.
    pub(crate) fn behind(mut self, hops: &[(u16, &str)]) -> Self {
        let hop = |it: &(u16, &str)| Hop { status: it.0, url: Url::parse(it.1).unwrap() };
        self.0.visit.hops = hops.iter().map(hop).collect();
        self
    }

    /// The same with a robots.txt.
    pub(crate) fn robots(self, text: &str) -> Self {
        self.robots_answer(AnswerKind::file(Bytes::copy_from_slice(text.as_bytes())))
    }

    /// The same with another answer to the question for robots.txt.
    pub(crate) fn robots_answer(mut self, kind: AnswerKind) -> Self {
        self.0.robots.kind = kind;
        self
    }

    /// What it says as the target of another page.
    pub(crate) fn into_target(self) -> TargetAnswer {
        let visit = &self.0.visit;
        let target = Target::read(&visit.url, &visit.reply, self.0.at, &Patience::endless());
        TargetAnswer::Answered(Box::new(target))
    }

    /// The audit of it.
    #[track_caller]
    pub(crate) fn audit(self) -> Audit {
        examine(self.0, &Patience::endless()).unwrap()
    }

    /// The check of this name.
    #[track_caller]
    pub(crate) fn check(self, id: &str) -> Check {
        self.audit().checks.into_iter().find(|it| it.rule.id == id).unwrap()
    }

    /// Holds a check to its verdict: `pass`, `na`, `info`, or how severe the fault is.
    #[track_caller]
    pub(crate) fn is(self, id: &str, expected: &str) {
        let check = self.check(id);
        let found = match check.fault() {
            Some(_) => check.severity().as_str(),
            None => check.verdict(),
        };
        assert_eq!(found, expected, "{id}: {:?}", check.judgement);
        assert!(check.fault().is_none() || check.severity() != Severity::Info, "{id}");
    }
}

/// Something to read, so that a page is not thin.
const TEXT: &str = "The pump station at Alder Creek was rebuilt after the flood and moves forty litres \
    of water a second through two cast iron wheels. Visitors walk the tow path from the lower lock \
    to the mill, where a volunteer shows how the gates are raised by hand each morning. The season \
    begins in spring and ends with the first frost, when the boats are taken out of the water.";
