//! The robots.txt of the page's host: can it be read, is it right, whom does it keep out.

use crate::agents::lists::{AI_BOTS, AiUse};
use crate::agents::page::media::begins_like_html;
use crate::agents::page::robots::records::BYTES_MAX;
use crate::agents::page::robots::{Access, AnswerKind, RobotsAnswer, faults};
use crate::agents::page::text::quote;
use crate::agents::seo::checks::transfer::kilobytes;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::sources;
use crate::agents::seo::subject::Subject;

/// The rules about robots.txt.
pub const RULES: &[Rule] = &[
    Rule {
        id: "robots-txt",
        name: "robots.txt",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::LIGHTHOUSE_ROBOTS_TXT,
        why: "Crawlers ask for this file first. What they cannot read they ignore, and when the \
              server fails they stay away from the whole site.",
        how: "Mend the lines named here; a file that says nothing wrong may also be empty.",
        judge: Judge::Exchange(robots_txt),
    },
    Rule {
        id: "robots-txt-size",
        name: "Size of robots.txt",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::RFC_9309,
        why: "Crawlers read 500 KiB of the file and ignore all rules after that.",
        how: "Replace lists of single addresses by patterns.",
        judge: Judge::Exchange(robots_txt_size),
    },
    Rule {
        id: "ai-access",
        name: "Access for AI crawlers",
        severity: Severity::Info,
        group: Group::Alone,
        source: sources::RFC_9309,
        why: "Some crawlers fetch pages to train models, some to answer with links. Each obeys \
              rules of its own.",
        how: "Name a crawler in robots.txt to give it rules of its own.",
        judge: Judge::Exchange(ai_access),
    },
];

fn robots_txt(subject: &Subject) -> Judgement {
    let answer = &subject.fetched.robots;
    match &answer.kind {
        AnswerKind::NotAsked => Judgement::NotApplicable("robots.txt was not asked for"),
        AnswerKind::Missing(_) => {
            Judgement::NotApplicable("there is no robots.txt, which allows everything")
        }
        AnswerKind::Refused(status) => {
            let found = Found::new(format!("robots.txt answers with status {status}"));
            let value = Evidence::value(
                Within::RobotsTxt,
                format!("{status} from {}", quote(answer.url.as_str())),
            );
            Judgement::Fail(found.severity(Severity::High).how(TROUBLE).at([value]))
        }
        AnswerKind::Unreachable(why) => {
            let found = Found::new("robots.txt could not be read");
            let value = Evidence::value(Within::RobotsTxt, why.clone());
            Judgement::Fail(found.severity(Severity::High).how(TROUBLE).at([value]))
        }
        AnswerKind::File { body, .. } => file(answer, body),
    }
}

fn file(answer: &RobotsAnswer, body: &[u8]) -> Judgement {
    if begins_like_html(body) {
        let found = Found::new("robots.txt is a web page").how(NO_FILE);
        let first = String::from_utf8_lossy(body.get(..120).unwrap_or(body)).into_owned();
        return Judgement::Fail(found.at([Evidence::robots_line(1, &first)]));
    }
    let (kept, count) = faults(body);
    let faults =
        kept.into_iter().map(|it| Evidence::robots_line(it.line, &it.text).saying(it.problem));
    let slow = answer.took > SLOW;
    if count > 0 {
        let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        let found = Found::new(format!("Crawlers ignore {lines} of robots.txt")).at(faults);
        return Judgement::Fail(Found { places: count, ..found });
    }
    if slow {
        let found = Found::new("robots.txt takes too long").how(TROUBLE).severity(Severity::High);
        let value = format!("it was there after {} ms", answer.took.as_millis());
        return Judgement::Fail(found.at([Evidence::value(Within::RobotsTxt, value)]));
    }
    if answer.robots().is_some_and(|it| it.has_mark) {
        let found = Found::new("robots.txt begins with a byte order mark");
        let value = "Google skips it; some crawlers lose the first line";
        return Judgement::Info(found.at([Evidence::value(Within::RobotsTxt, value)]));
    }
    if body.iter().all(u8::is_ascii_whitespace) {
        return Judgement::NotApplicable("robots.txt is empty, which allows everything");
    }
    Judgement::Pass
}

fn robots_txt_size(subject: &Subject) -> Judgement {
    let Some(robots) = subject.fetched.robots.robots() else {
        return Judgement::NotApplicable("there is no robots.txt");
    };
    let Some(line) = robots.ignored_from else { return Judgement::Pass };
    let found = Found::new("robots.txt is larger than crawlers read");
    let value = format!(
        "only {} are read; line {line} and all after it count for nothing",
        kilobytes(BYTES_MAX)
    );
    Judgement::Fail(found.at([Evidence::value(Within::RobotsTxt, value)]))
}

fn ai_access(subject: &Subject) -> Judgement {
    let Some(robots) = subject.fetched.robots.robots() else {
        return Judgement::NotApplicable("there is no robots.txt");
    };
    let closed = |bot: &str| subject.fetched.robots.access(bot, subject.url()) != Access::Allowed;
    let bots =
        |wanted: AiUse| AI_BOTS.iter().filter(move |(_, it)| *it == wanted).map(|(bot, _)| *bot);
    let mut evidence = Vec::new();
    for (wanted, name) in [
        (AiUse::Training, "training"),
        (AiUse::Search, "search"),
        (AiUse::Visit, "visits for a person"),
    ] {
        let out: Vec<_> = bots(wanted).filter(|it| closed(it)).collect();
        if !out.is_empty() {
            let of = bots(wanted).count();
            let value =
                format!("{name}: {} of {of} crawlers are kept out ({})", out.len(), out.join(", "));
            evidence.push(Evidence::value(Within::RobotsTxt, value));
        }
    }
    let signals = robots.signals.iter();
    let signals =
        signals.map(|(line, it)| Evidence::robots_line(*line, &format!("Content-Signal: {it}")));
    if evidence.is_empty() && robots.signals.is_empty() {
        return Judgement::Pass;
    }
    let title = if evidence.is_empty() {
        "robots.txt says how content may be used"
    } else {
        "robots.txt keeps AI crawlers out"
    };
    Judgement::Info(Found::new(title).at(evidence).at(signals))
}

/// What to do when the file cannot be had.
const TROUBLE: &str =
    "Let the server answer at once with the file, or with 404 when there is none.";
/// What to do when a page is sent instead of the file.
const NO_FILE: &str = "Answer `/robots.txt` with a text file, or with 404 when there is none.";
/// Time after which Lighthouse gives the file up.
const SLOW: std::time::Duration = std::time::Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check_file(text: &str, expected: &str) {
        Sample::body("").robots(text).is("robots-txt", expected);
    }

    #[test]
    fn a_file_is_right_or_its_lines_are_named() {
        check_file("User-agent: *\nAllow: /\n", "pass");
        check_file("\n\n", "na");
        check_file("\u{feff}User-agent: *\nAllow: /\n", "info");
        check_file("Disallow: /", "medium");
        check_file("<!DOCTYPE html><p>", "medium");
        let check = Sample::body("").robots(&"nonsense\n".repeat(99)).check("robots-txt");
        let found = check.fault().unwrap();
        assert_eq!((found.evidence.len(), found.places), (10, 99));
    }

    #[test]
    fn trouble_with_the_file_is_worse_than_mistakes_in_it() {
        let check = |kind, expected: &str| {
            Sample::body("").robots_answer(kind).is("robots-txt", expected);
        };
        check(AnswerKind::Missing(404), "na");
        check(AnswerKind::Refused(500), "high");
        check(AnswerKind::Refused(429), "high");
        check(AnswerKind::Unreachable("the connection was reset".to_owned()), "high");
        let mut slow = Sample::body("").robots("User-agent: *\nAllow: /\n");
        slow.0.robots.took = std::time::Duration::from_secs(4);
        slow.is("robots-txt", "high");
    }

    #[test]
    fn what_is_past_the_limit_is_pointed_out() {
        let large = format!("User-agent: *\n{}", "Disallow: /filler\n".repeat(30_000));
        Sample::body("").robots(&large).is("robots-txt-size", "medium");
        Sample::body("").robots("User-agent: *\n").is("robots-txt-size", "pass");
        Sample::body("").is("robots-txt-size", "na");
    }

    #[test]
    fn crawlers_of_ai_companies_are_listed_by_what_they_do() {
        let closed = "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\
                      Content-Signal: search=yes, ai-train=no\n";
        let check = Sample::body("").robots(closed).check("ai-access");
        let found = check.found().unwrap();
        let first = found.evidence[0].value.clone().unwrap();
        assert_eq!(first, "training: 2 of 9 crawlers are kept out (GPTBot, CCBot)");
        assert_eq!(found.evidence[1].line, Some(4));
        Sample::body("").robots("User-agent: *\nDisallow:").is("ai-access", "pass");
    }
}
