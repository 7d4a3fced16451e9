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
