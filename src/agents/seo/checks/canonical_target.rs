//! The page that a canonical link leads to: is it there, and does it want to be shown.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::text::quote;
use crate::agents::seo::around::TargetAnswer;
use crate::agents::seo::checks::canonical;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::sources;
use crate::agents::seo::subject::Subject;
use crate::agents::seo::target::Target;

/// The rule about the target of the canonical link.
pub const RULES: &[Rule] = &[Rule {
    id: "canonical-target",
    name: "Target of the canonical link",
    severity: Severity::High,
    group: Group::Alone,
    source: sources::GOOGLE_CANONICAL,
    why: "The page gives way to another one that cannot be shown, so search engines may show \
          neither of them, or choose by themselves.",
    how: "Name an address that answers with status 200, may be indexed and names itself.",
    judge: Judge::Document(canonical_target),
}];

/// The address that must be asked to judge a page: its canonical one, when that is another and
/// nothing is wrong with the link itself.
#[must_use]
pub fn wanted(subject: &Subject) -> Option<Url> {
    let page = subject.document()?;
    let is_sound = canonical::is_sound(subject, page);
    canonical::address(subject, page).filter(|it| is_sound && it != subject.url())
}

fn canonical_target(subject: &Subject, page: &Document) -> Judgement {
    let Some(url) = wanted(subject) else {
        return Judgement::NotApplicable("the page names no other address");
    };
    let problem = match &subject.fetched.around.canonical {
        None => return Judgement::NotApplicable("the address was not asked"),
        Some(TargetAnswer::NotAsked(why)) => return Judgement::NotApplicable(why),
        Some(TargetAnswer::Failed(why)) => Some(format!("it does not answer: {why}")),
        Some(TargetAnswer::Answered(target)) => problem(&url, target),
    };
    let Some(problem) = problem else { return Judgement::Pass };
    let found = Found::new("The canonical link leads to a page that cannot be shown");
    let target = format!("{}: {problem}", quote(url.as_str()));
    let link = canonical::links(subject, page);
    Judgement::Fail(found.at(link).at([Evidence::value(Within::Exchange, target)]))
}

/// Why the page at `url` cannot be shown in place of another.
fn problem(url: &Url, target: &Target) -> Option<String> {
    match target.status {
        300..=399 => {
            let location = target.location.as_deref().map(|it| format!(" to {}", quote(it)));
            let location = location.unwrap_or_default();
            return Some(format!("it redirects with status {}{location}", target.status));
        }
        400.. => return Some(format!("it answers with status {}", target.status)),
        _ => {}
    }
    let page = target.page.as_ref()?;
    if page.is_blocked {
        return Some("it may not be indexed".to_owned());
    }
    let other = page.canonical.as_ref().filter(|it| *it != url)?;
    Some(format!("it names another address, {}", quote(other.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    const OTHER: &str = "<link rel=canonical href=https://example.com/other>";

    #[track_caller]
    fn check(target: TargetAnswer, expected: &str) {
        let mut sample = Sample::head(OTHER);
        sample.0.around.canonical = Some(target);
        sample.is("canonical-target", expected);
    }

    fn reply(sample: Sample) -> TargetAnswer {
        sample.at("https://example.com/other").into_target()
    }

    #[test]
    fn the_target_answers_may_be_indexed_and_names_itself() {
        check(reply(Sample::body("")), "pass");
        check(reply(Sample::head(OTHER)), "pass");
        check(reply(Sample::html("").status(404)), "high");
        check(reply(Sample::html("").status(301).header("location", "/x")), "high");
        check(reply(Sample::head("<meta name=robots content=noindex>")), "high");
        check(reply(Sample::body("").header("x-robots-tag", "none")), "high");
        check(reply(Sample::body("").header("x-robots-tag", "GoogleBot: noindex")), "high");
        check(reply(Sample::head("<link rel=canonical href=/third>")), "pass");
        check(reply(Sample::head("<link rel=canonical href=https://example.com/3>")), "high");
        check(reply(Sample::html("%PDF").content_type("application/pdf")), "pass");
        check(TargetAnswer::Failed("the connection was refused".to_owned()), "high");
        check(TargetAnswer::NotAsked("robots.txt forbids it"), "na");
    }

    #[test]
    fn what_other_crawlers_are_told_hides_no_page_from_google() {
        for bot in ["AhrefsBot", "bingbot"] {
            let header = format!("{bot}: noindex");
            check(reply(Sample::body("").header("x-robots-tag", &header)), "pass");
        }
        check(reply(Sample::head("<meta name=bingbot content=noindex>")), "pass");
    }

    #[test]
    fn only_a_sound_link_to_another_page_is_followed() {
        let wanted = |head: &str| wanted(&Sample::head(head).audit().subject).map(String::from);
        assert_eq!(wanted(OTHER).as_deref(), Some("https://example.com/other"));
        assert_eq!(wanted(""), None);
        assert_eq!(wanted("<link rel=canonical href=https://example.com/page#top>"), None);
        assert_eq!(wanted("<link rel=canonical href=/other>"), None);
        assert_eq!(wanted("<link rel=canonical href=https://example.com/>"), None);
        assert_eq!(wanted(&format!("{OTHER}<link rel=canonical href=https://a.example/>")), None);
        Sample::head(OTHER).is("canonical-target", "na");
    }
}
