//! Do the translations of a page link back to it.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::seo::around::TargetAnswer;
use crate::agents::seo::checks::hreflang::{NONE, entries};
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources::GOOGLE_HREFLANG;
use crate::agents::seo::subject::Subject;
use crate::agents::seo::target::Target;

/// The rule about links back.
pub const RULES: &[Rule] = &[Rule {
    id: "hreflang-return",
    name: "Translations link back",
    severity: Severity::Medium,
    group: Group::Hreflang,
    source: GOOGLE_HREFLANG,
    why: "A link to a translation counts only when the translation links back. Otherwise \
          anybody could claim other people's pages.",
    how: "Let every version carry the same list of all versions.",
    judge: Judge::Document(hreflang_return),
}];

/// The translations that are asked whether they link back: the first ones that can be read.
#[must_use]
pub fn wanted(subject: &Subject, page: &Document) -> Vec<Url> {
    let mut found: Vec<Url> = Vec::new();
    for entry in entries(subject, page) {
        let url = Url::parse(entry.href.trim()).ok().and_then(|_| entry.url(subject));
        let url = url.filter(|_| entry.has_language());
        let url = url.filter(|it| matches!(it.scheme(), "http" | "https") && it != subject.url());
        if let Some(url) = url.filter(|it| found.len() < ASKED_MAX && !found.contains(it)) {
            found.push(url);
        }
    }
    found
}

fn hreflang_return(subject: &Subject, page: &Document) -> Judgement {
    let all = entries(subject, page);
    if all.is_empty() {
        return Judgement::NotApplicable(NONE);
    }
    let asked: Vec<(&Url, &Target)> = subject
        .fetched
        .around
        .translations
        .iter()
        .filter_map(|(url, answer)| match answer {
            TargetAnswer::Answered(target) => Some((url, &**target)),
            TargetAnswer::Failed(_) | TargetAnswer::NotAsked(_) => None,
        })
        .collect();
    if asked.is_empty() {
        return Judgement::NotApplicable("no translation was asked");
    }
    let silent: Vec<_> =
        asked.iter().filter_map(|(url, it)| Some((*url, silence(subject, it)?))).collect();
    if silent.is_empty() {
        return Judgement::Pass;
    }
    let verb = if silent.len() == 1 { "does" } else { "do" };
    let title = format!("{} of {} translations {verb} not link back", silent.len(), asked.len());
    let found = Found::new(title).of(silent.len(), asked.len(), "translations that were asked");
    Judgement::Fail(found.at_each(&silent, |(url, why)| {
        let entry = all.iter().find(|it| it.url(subject).as_ref() == Some(*url));
        entry.map(|it| it.evidence(page)).unwrap_or_default().saying(why)
    }))
}

/// Which translations link back; none where an answer says nothing about its page.
#[must_use]
pub fn returns(subject: &Subject) -> Vec<(&Url, Option<bool>)> {
    let is_back = |answer: &TargetAnswer| match answer {
        TargetAnswer::Answered(it) if is_in_trouble(it.status) => None,
        TargetAnswer::Answered(it) => Some(silence(subject, it).is_none()),
        TargetAnswer::Failed(_) | TargetAnswer::NotAsked(_) => None,
    };
    let all = subject.fetched.around.translations.iter();
    all.map(|(url, answer)| (url, is_back(answer))).collect()
}

/// Whether a status is that of a server in trouble, which says nothing about its pages.
const fn is_in_trouble(status: u16) -> bool {
    matches!(status, 429 | 500..=599)
}

/// Why a translation does not link back; none when it does.
fn silence(subject: &Subject, target: &Target) -> Option<String> {
    match (&target.page, target.status) {
        (Some(page), 200..=299) => {
            let is_back = page.translations.contains(subject.url());
            (!is_back).then(|| "its list leaves out this page".to_owned())
        }
        (None, 200..=299) => None,
        (_, status) if is_in_trouble(status) => None,
        (_, status) => Some(format!("it answers with status {status}")),
    }
}

/// Translations that are asked whether they link back.
const ASKED_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    fn listing(entries: &[(&str, &str)]) -> Sample {
        let link =
            |it: &(&str, &str)| format!("<link rel=alternate hreflang='{}' href='{}'>", it.0, it.1);
        Sample::head(&entries.iter().map(link).collect::<String>())
    }

    const OWN: (&str, &str) = ("en", "https://example.com/page");

    #[test]
    fn a_translation_links_back() {
        let german = ("de", "https://example.com/de");
        let check = |back: Option<Sample>, expected: &str| {
            let mut sample = listing(&[OWN, german]);
            let subject = sample.clone().audit().subject;
            let wanted = wanted(&subject, subject.document().unwrap());
            assert_eq!(wanted.iter().map(Url::as_str).collect::<Vec<_>>(), [german.1]);
            let answer = back.map(|it| it.at(german.1).into_target());
            sample.0.around.translations =
                wanted.into_iter().zip(answer.into_iter().cycle()).collect();
            sample.is("hreflang-return", expected);
        };
        check(None, "na");
        check(Some(listing(&[OWN, german])), "pass");
        check(Some(listing(&[german])), "medium");
        check(Some(Sample::html("").status(404)), "medium");
        check(Some(Sample::html("").status(503)), "pass");
        check(Some(Sample::html("%PDF").content_type("application/pdf")), "pass");
        listing(&[]).is("hreflang-return", "na");
    }
}
