//! One audit: what was fetched goes in, every rule is applied, a score comes out.
//!
//! No network and no clock: whoever has an answer can have it audited.

use crate::agents::page::charset::decode;
use crate::agents::page::document::Document;
use crate::agents::page::lines::Lines;
use crate::agents::page::media::{Kind, MediaType, kind};
use crate::agents::page::reply::Reply;
use crate::agents::page::text::{clip, printable, quote};
use crate::agents::page::xml;
use crate::agents::parsers::Patience;
use crate::agents::seo::checks::RULES;
use crate::agents::seo::comparable::lighthouse;
use crate::agents::seo::failure::{Code, Undone};
use crate::agents::seo::finding::{Check, EXCERPT_CHARS_MAX, Judge, Judgement, Rule};
use crate::agents::seo::history::History;
use crate::agents::seo::score::{Score, rate};
use crate::agents::seo::subject::{Fetched, Reading, Subject};
use crate::agents::seo::wall;

/// An audit that was done.
#[derive(Debug)]
pub struct Audit {
    /// What it is about.
    pub subject: Subject,
    /// What every rule says, in the order of the rules.
    pub checks: Vec<Check>,
    /// The score.
    pub score: Score,
    /// The number that Lighthouse would give, when the page has content to judge.
    pub lighthouse: Option<u32>,
    /// How it relates to the one before it.
    pub history: History,
}

/// Audits what was fetched.
///
/// # Errors
///
/// [`Undone`] when it is not a page at all: another type of document, or a firewall's question.
pub fn examine(fetched: Fetched, patience: &Patience) -> Result<Audit, Undone> {
    prepare(fetched, patience).map(judge)
}

/// Reads what was fetched, so that it can be judged, or seen what else must be asked first.
///
/// # Errors
///
/// As [`examine`].
pub fn prepare(fetched: Fetched, patience: &Patience) -> Result<Subject, Undone> {
    let reading = read(&fetched.visit.reply, patience)?;
    Ok(Subject::new(fetched, reading))
}

/// Applies every rule.
#[must_use]
pub fn judge(subject: Subject) -> Audit {
    let rules = RULES.iter().flat_map(|it| it.iter());
    let mut checks: Vec<Check> = rules.map(|it| apply(it, &subject)).collect();
    let score = rate(&mut checks);
    let lighthouse = subject.document().and_then(|_| lighthouse(&checks));
    Audit { subject, checks, score, lighthouse, history: History::None }
}

fn apply(rule: &'static Rule, subject: &Subject) -> Check {
    let judgement = match rule.judge {
        Judge::Exchange(judge) => judge(subject),
        Judge::Document(judge) => match &subject.reading {
            Reading::Page(page) => judge(subject, page),
            Reading::ErrorStatus => Judgement::NotApplicable("the answer is an error"),
            Reading::NotWellFormed { .. } => {
                Judgement::NotApplicable("browsers show nothing of the page")
            }
        },
    };
    Check { rule, judgement, points: 0 }
}

fn read(reply: &Reply, patience: &Patience) -> Result<Reading, Undone> {
    let header = reply.header("content-type").and_then(MediaType::parse);
    let label = header.as_ref().and_then(|it| it.charset.as_deref());
    let kind = kind(header.as_ref(), &reply.body);
    let is_document = kind != Kind::Other && !matches!(reply.status, 204 | 205);
    if wall::says_so(reply) {
        return Err(challenge());
    }
    if reply.status >= 400 {
        let is_question = || {
            let page = Document::read(&reply.body, label, kind, patience);
            wall::is_question(reply, &page)
        };
        return if is_document && is_question() {
            Err(challenge())
        } else {
            Ok(Reading::ErrorStatus)
        };
    }
    if !is_document {
        return Err(not_html(reply));
    }
    let decoded = decode(&reply.body, label, kind);
    if kind == Kind::Xhtml
        && let Err(mistake) = xml::check(&decoded.text)
    {
        let place = Lines::of(&decoded.text).place(&decoded.text, mistake.at);
        let rest = decoded.text.get(mistake.at..).unwrap_or_default();
        let rest: String = rest.chars().take(EXCERPT_CHARS_MAX * 2).collect();
        let excerpt = clip(&printable(&rest), EXCERPT_CHARS_MAX);
        let (line, column) = (place.line, place.column);
        return Ok(Reading::NotWellFormed { mistake, line, column, excerpt });
    }
    let page = Document::parse(decoded, kind, patience);
    if wall::is_question(reply, &page) {
        return Err(challenge());
    }
    Ok(Reading::Page(Box::new(page)))
}

fn challenge() -> Undone {
    let message = "A firewall answered with a question for browsers instead of the page. \
                   Allow the user agent of this audit in its settings.";
    Undone::new(Code::BotChallenge, message)
}

fn not_html(reply: &Reply) -> Undone {
    let what = match reply.header("content-type") {
        Some(value) => format!("a document of the type {}", quote(value)),
        None if reply.body.is_empty() => "no document".to_owned(),
        None => "a document without a type that is no HTML".to_owned(),
    };
    Undone::new(Code::NotHtml, format!("The answer has status {} and is {what}.", reply.status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;
    use proptest::prelude::*;

    #[track_caller]
    fn check_undone(sample: Sample, code: Code) {
        let undone = examine(sample.0, &Patience::endless()).map(|it| it.score);
        assert_eq!(undone.map_err(|it| it.code), Err(code));
    }

    #[test]
    fn other_documents_are_no_pages() {
        check_undone(Sample::html("{}").content_type("application/json"), Code::NotHtml);
        check_undone(Sample::html("%PDF").content_type(""), Code::NotHtml);
        check_undone(Sample::html("").status(204), Code::NotHtml);
        check_undone(Sample::html("").status(302).content_type(""), Code::NotHtml);
    }

    #[test]
    fn a_question_of_a_firewall_is_not_taken_for_the_page() {
        let page = "<title>Just a moment...</title>";
        check_undone(Sample::html(page).status(403), Code::BotChallenge);
        check_undone(Sample::html("x").header("cf-mitigated", "challenge"), Code::BotChallenge);
        assert_eq!(Sample::html(page).audit().subject.fetched.visit.reply.status, 200);
        assert_eq!(Sample::html("<title>Forbidden</title>").status(403).audit().score.value, 39);
    }

    #[test]
    fn a_page_without_faults_has_the_full_score_and_an_empty_one_has_not() {
        let audit = Sample::body("").audit();
        assert_eq!((audit.score.value, audit.lighthouse), (100, Some(100)));
        assert!(Sample::html("").audit().score.value < 80);
    }

    proptest! {
        #[test]
        fn any_page_is_audited_and_reported(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
            noise in "[a-zé<>/'\"= &;!-]{0,40}",
            kind in prop::sample::select(&["text/html", "application/xhtml+xml"][..]),
        ) {
            let html = pieces.concat() + &noise + &pieces.concat();
            let sample = Sample::html(html).content_type(kind);
            if let Ok(audit) = examine(sample.0, &Patience::endless()) {
                prop_assert!(audit.score.value <= 100);
                let report = crate::agents::seo::report::of(&audit);
                prop_assert!(report.chars().count() <= crate::domain::limits::OUTPUT_CHARS_MAX);
                let _ = crate::agents::seo::result::of(&audit).to_string();
            }
        }
    }

    /// Parts of pages, good and bad.
    const PIECES: &[&str] = &[
        "<!DOCTYPE html>",
        "<html lang=en>",
        "<head>",
        "</head>",
        "<title>Title</title>",
        "<meta name=robots content='noindex, unavailable_after: Fri, 1 Jan'>",
        "<link rel=canonical href='//x:y'>",
        "<link rel=alternate hreflang=zh-Hant href=/a>",
        "<base href='data:,x'>",
        "<body hidden>",
        "<a href='javascript:x'>click here",
        "<a href=/a title=b><img alt=''>",
        "</a>",
        "<h1>One",
        "<h5 aria-hidden=true>Five</h5>",
        "<table><tr><td>",
        "</table>",
        "<b><i><p>",
        "</b></p>",
        "<svg><title>t",
        "<math><annotation-xml encoding=text/html>",
        "</svg>",
        "<template><h1>",
        "</template>",
        "<select><option>",
        "<noscript><meta name=robots content=none></noscript>",
        "<script>if (a<b) '<a>'</script>",
        "<!-- comment -->",
        "<![CDATA[x]]>",
        "<frameset>",
        "\0\u{feff}\r\n",
        "&lt;&#0;&nosuch;",
        "<picture><source></picture>",
        "</p></br></body></html>",
    ];
}
