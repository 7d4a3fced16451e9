//! May search engines index the page: every tag, header and robots.txt line that says no.

use crate::agents::lists::{SEARCH_BOTS, SearchBot};
use crate::agents::page::document::Document;
use crate::agents::page::robots::Access;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::robots_tags::tags;
use crate::agents::seo::sources;
use crate::agents::seo::subject::Subject;

/// The rule about being found at all.
pub const RULES: &[Rule] = &[Rule {
    id: "is-crawlable",
    name: "Open to search engines",
    severity: Severity::Critical,
    group: Group::Alone,
    source: sources::GOOGLE_ROBOTS_TAGS,
    why: "A page that search engines may not fetch or index does not appear in their results, \
          whatever else is right.",
    how: "If the page is meant to be found, remove what stands in the way. If not, all is well.",
    judge: Judge::Document(is_crawlable),
}];

/// Something that keeps a crawler away from a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// What it does.
    pub kind: ObstacleKind,
    /// Where it stands.
    pub evidence: Evidence,
}

/// What an obstacle does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstacleKind {
    /// It forbids the index.
    Index,
    /// It forbids the fetch.
    Fetch,
    /// It forbids the fetch while the server is in trouble.
    Trouble,
}

/// Everything that keeps `bot` away from the page.
#[must_use]
pub fn obstacles(subject: &Subject, page: &Document, bot: &str) -> Vec<Obstacle> {
    let now = subject.fetched.at;
    let blocking =
        tags(subject, page).into_iter().filter(|it| it.is_for(bot) && it.directive.blocks(now));
    let mut found: Vec<Obstacle> = blocking
        .map(|it| Obstacle { kind: ObstacleKind::Index, evidence: it.evidence(page) })
        .collect();
    match subject.fetched.robots.access(bot, subject.url()) {
        Access::Disallowed { line, rule } => {
            let evidence = Evidence::robots_line(line, &rule);
            found.push(Obstacle { kind: ObstacleKind::Fetch, evidence });
        }
        Access::Suspended(Some(status @ 500..=599)) => {
            let value = format!("robots.txt answers {status}, which crawlers read as: stay away");
            let evidence = Evidence::value(Within::RobotsTxt, value);
            found.push(Obstacle { kind: ObstacleKind::Trouble, evidence });
        }
        // Too many requests and broken connections may have been meant for this audit alone.
        Access::Allowed | Access::Suspended(_) => {}
    }
    found.dedup();
    found
}

fn is_crawlable(subject: &Subject, page: &Document) -> Judgement {
    let everybody = obstacles(subject, page, NO_BOT);
    let blocked: Vec<(&SearchBot, Vec<Obstacle>)> = SEARCH_BOTS
        .iter()
        .map(|bot| (bot, obstacles(subject, page, bot.name)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    let mut all: Vec<Obstacle> = Vec::new();
    for it in blocked.iter().flat_map(|(_, found)| found).chain(&everybody) {
        if !all.contains(it) {
            all.push(it.clone());
        }
    }
    if all.is_empty() {
        return unclear(subject);
    }
    let who = if blocked.len() == SEARCH_BOTS.len() || blocked.is_empty() {
        "Search engines".to_owned()
    } else {
        let names: Vec<_> = blocked.iter().map(|(bot, _)| bot.engine).collect();
        names.join(" and ")
    };
    let found = Found::new(format!("{who} {}", phrase(&all))).how(advice(&all));
    let found = found.at(all.into_iter().map(|it| it.evidence));
    let google = SEARCH_BOTS.first().is_some_and(|it| blocked.iter().any(|(bot, _)| *bot == it));
    if google || !everybody.is_empty() {
        Judgement::Fail(found)
    } else {
        Judgement::Fail(found.severity(Severity::High))
    }
}

/// What obstacles do, taken together.
fn phrase(obstacles: &[Obstacle]) -> &'static str {
    let does = |kind| obstacles.iter().any(|it| it.kind == kind);
    match (does(ObstacleKind::Index), does(ObstacleKind::Fetch), does(ObstacleKind::Trouble)) {
        (true, true, _) => "may neither fetch nor index this page",
        (true, false, _) => "may not index this page",
        (false, true, _) => "may not fetch this page",
        (false, false, _) => "stay away until robots.txt can be read again",
    }
}

/// What removes obstacles.
fn advice(obstacles: &[Obstacle]) -> String {
    let does = |kind| obstacles.iter().any(|it| it.kind == kind);
    let steps = [
        (does(ObstacleKind::Index), "remove the directive"),
        (does(ObstacleKind::Fetch), "allow its address in robots.txt"),
        (does(ObstacleKind::Trouble), "let robots.txt answer with the file, or with 404"),
    ];
    let steps: Vec<_> = steps.iter().filter(|(needed, _)| *needed).map(|(_, it)| *it).collect();
    format!("If the page is meant to be found, {}. If not, all is well.", steps.join(" and "))
}

/// Nothing is in the way as far as can be seen; perhaps robots.txt could not be seen.
fn unclear(subject: &Subject) -> Judgement {
    match subject.fetched.robots.access(NO_BOT, subject.url()) {
        Access::Suspended(_) => {
            let found = Found::new("The page is open, but robots.txt could not be read");
            let value = "crawlers that meet the same trouble stay away until it is over";
            Judgement::Info(found.at([Evidence::value(Within::RobotsTxt, value)]))
        }
        Access::Allowed | Access::Disallowed { .. } => Judgement::Pass,
    }
}

/// The name of a crawler that nobody names, so that what is for all is for it.
const NO_BOT: &str = "any-other-crawler";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    use crate::agents::page::robots::AnswerKind;

    const ID: &str = "is-crawlable";

    #[track_caller]
    fn check_head(head: &str, expected: &str) {
        Sample::head(head).is(ID, expected);
    }

    #[track_caller]
    fn check_header(value: &str, expected: &str) {
        Sample::body("").header("x-robots-tag", value).is(ID, expected);
    }

    #[test]
    fn every_tag_in_the_head_counts_and_the_strictest_wins() {
        check_head("", "pass");
        check_head("<meta name=robots content='index, follow'>", "pass");
        check_head("<META NAME=Robots CONTENT=NOINDEX>", "critical");
        check_head("<meta name=robots content=index><meta name=robots content=none>", "critical");
        check_head("<meta name=googlebot content=noindex>", "critical");
        check_head("<meta name=bingbot content=noindex>", "high");
        check_head("<meta name=robots content='unavailable_after: 2020-01-01'>", "critical");
        check_head("<meta name=robots content='unavailable_after: 2030-01-01'>", "pass");
        check_head("<meta name=other content=noindex>", "pass");
        Sample::body("<meta name=robots content=noindex>").is(ID, "pass");
    }

    #[test]
    fn headers_count_like_tags() {
        check_header("noindex", "critical");
        check_header("nofollow, none", "critical");
        check_header("googlebot: noindex", "critical");
        check_header("GoogleBot: nofollow, noindex", "critical");
        check_header("otherbot: noindex", "pass");
        check_header("DuckDuckBot: noindex", "high");
        check_header("unavailable_after: 25 Jun 2010 15:00:00 PST", "critical");
        check_header("unavailable_after: 25 Jun 2030, 15:00:00 PST, noindex", "critical");
        check_header("unavailable_after: 25 Jun 2030, 15:00:00 PST", "pass");
        check_header("unavailable_after: Friday, 25-Jun-10 15:00:00 UTC", "critical");
    }

    #[track_caller]
    fn check_robots(kind: AnswerKind, expected: &str) {
        Sample::body("").robots_answer(kind).is(ID, expected);
    }

    #[test]
    fn robots_txt_keeps_out_whom_it_names() {
        let file = |text: &'static str| AnswerKind::file(text.as_bytes().into());
        check_robots(file("User-agent: *\nDisallow: /"), "critical");
        check_robots(file("User-agent: *\nDisallow: /\nAllow: /page"), "pass");
        check_robots(file("User-agent: Googlebot\nDisallow: /page"), "critical");
        check_robots(file("User-agent: bingbot\nDisallow: /"), "high");
        check_robots(
            file("User-agent: *\nDisallow: /\nUser-agent: googlebot\nAllow: /"),
            "critical",
        );
        check_robots(AnswerKind::Refused(500), "critical");
        check_robots(AnswerKind::Refused(429), "info");
        check_robots(AnswerKind::Unreachable("closed".to_owned()), "info");
        check_robots(AnswerKind::Missing(403), "pass");
    }

    #[test]
    fn the_finding_names_who_is_kept_out_by_what_and_how_to_change_it() {
        let sample = Sample::head("<meta name=bingbot content=noindex>");
        let check = sample.robots("User-agent: DuckDuckBot\nDisallow: /p\n").check(ID);
        let found = check.fault().unwrap();
        assert_eq!(found.title, "Bing and DuckDuckGo may neither fetch nor index this page");
        let how = found.how.clone().unwrap();
        assert!(how.contains("remove the directive and allow its address in robots.txt"), "{how}");
        let places: Vec<_> = found.evidence.iter().map(|it| (it.within, it.line)).collect();
        assert_eq!(places, [(Within::Page, Some(8)), (Within::RobotsTxt, Some(2))]);
    }
}
