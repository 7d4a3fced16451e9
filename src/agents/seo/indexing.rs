//! The question that comes first: can Google index this page?

use crate::agents::lists::SEARCH_BOTS;
use crate::agents::page::robots::Access;
use crate::agents::page::text::quote;
use crate::agents::seo::checks::{canonical, crawlable};
use crate::agents::seo::finding::{Evidence, Within};
use crate::agents::seo::subject::{Reading, Subject};

/// The answer, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// Yes; the sentence is a reservation.
    Yes(Option<String>),
    /// No, because of these.
    No(Vec<String>),
    /// It cannot be told; the sentence says why.
    Unclear(String),
}

impl Indexing {
    /// The answer for a page.
    #[must_use]
    pub fn of(subject: &Subject) -> Self {
        let page = match &subject.reading {
            Reading::Page(page) => page,
            Reading::ErrorStatus => {
                let status = subject.fetched.visit.reply.status;
                return Self::No(vec![format!("its status, {status}")]);
            }
            Reading::NotWellFormed { .. } => {
                return Self::Unclear("Browsers cannot read it as XML.".to_owned());
            }
        };
        let obstacles = crawlable::obstacles(subject, page, GOOGLE);
        if !obstacles.is_empty() {
            return Self::No(obstacles.iter().map(|it| phrase(&it.evidence)).collect());
        }
        if matches!(subject.fetched.robots.access(GOOGLE, subject.url()), Access::Suspended(_)) {
            let why = "Nothing on the page forbids it, but robots.txt could not be read.";
            return Self::Unclear(why.to_owned());
        }
        let other = canonical::address(subject, page).filter(|it| it != subject.url());
        Self::Yes(
            other.map(|it| format!("But it asks to show {} in its place.", quote(it.as_str()))),
        )
    }

    /// The word for it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Yes(_) => "yes",
            Self::No(_) => "no",
            Self::Unclear(_) => "unclear",
        }
    }

    /// The reasons or the reservation, as texts.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::Yes(reservation) => reservation.iter().cloned().collect(),
            Self::No(reasons) => reasons.clone(),
            Self::Unclear(reason) => vec![reason.clone()],
        }
    }
}

/// Evidence as a part of a sentence after "because of".
fn phrase(evidence: &Evidence) -> String {
    let what = evidence.excerpt.as_deref().or(evidence.value.as_deref()).unwrap_or_default();
    match (evidence.within, evidence.line) {
        (Within::Page, Some(line)) => format!("{} in line {line}", quote(what)),
        (Within::RobotsTxt, Some(line)) => format!("line {line} of robots.txt, {}", quote(what)),
        (Within::Headers, _) => format!("the header {}", quote(what)),
        (Within::Page | Within::RobotsTxt | Within::Exchange, _) => what.to_owned(),
    }
}

/// The crawler whose view is asked for.
pub const GOOGLE: &str = SEARCH_BOTS[0].name;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check(sample: Sample, word: &str, reasons: &[&str]) {
        let found = Indexing::of(&sample.audit().subject);
        assert_eq!(
            (found.as_str(), found.reasons()),
            (word, reasons.iter().map(ToString::to_string).collect())
        );
    }

    #[test]
    fn the_answer_gives_its_reasons() {
        check(Sample::body(""), "yes", &[]);
        let tag = "`<meta name=robots content=noindex>` in line 8";
        check(Sample::head("<meta name=robots content=noindex>"), "no", &[tag]);
        let header = Sample::body("").header("x-robots-tag", "googlebot: none");
        check(header, "no", &["the header `x-robots-tag: googlebot: none`"]);
        let closed = Sample::body("").robots("User-agent: *\nDisallow: /");
        check(closed, "no", &["line 2 of robots.txt, `Disallow: /`"]);
        check(Sample::html("").status(410), "no", &["its status, 410"]);
        check(Sample::head("<meta name=bingbot content=noindex>"), "yes", &[]);
        let other = Sample::head("<link rel=canonical href=https://example.com/b>");
        check(other, "yes", &["But it asks to show `https://example.com/b` in its place."]);
    }
}
