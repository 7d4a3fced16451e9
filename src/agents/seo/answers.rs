//! What the addresses answered that a page leads to, kept and compared one by one.
//!
//! An address that gave no telling answer says nothing about what has changed, and it keeps what
//! was known of it. So one address that stays closed to the audit hides no other.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::agents::seo::audit::Audit;
use crate::agents::seo::checks::hreflang;
use crate::agents::seo::checks::hreflang_return::returns;
use crate::agents::seo::checks::link_targets::{LinkEnd, ends};
use crate::agents::seo::target::hash;

/// What the addresses of one check answered, by hashes of the addresses.
pub type Answers = BTreeMap<String, Answer>;

/// What an address answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Nothing that tells.
    Unanswered,
    /// What it should.
    Fine,
    /// With a redirect.
    Moved,
    /// That nothing is there.
    Gone,
    /// That the server is in trouble.
    Trouble,
    /// With a page that does not link back.
    Silent,
}

/// How the answers of one check have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Whether any address answers differently.
    pub has_changed: bool,
    /// Whether an address was wrong.
    pub was_wrong: bool,
    /// Whether an address is wrong, as far as is known.
    pub is_wrong: bool,
    /// Whether an address told something in one of the two audits only.
    pub is_partial: bool,
}

/// What the addresses of the check `id` answered; none for a check of something else, or when
/// there was no page to lead anywhere.
#[must_use]
pub fn of(audit: &Audit, id: &str) -> Option<Answers> {
    let subject = &audit.subject;
    let page = subject.document()?;
    let (mut answers, linked): (Answers, Vec<Url>) = match id {
        "links-broken" => {
            let ends = ends(subject).into_iter();
            let linked = subject.targets().filter_map(|(_, it)| it.cloned()).collect();
            (ends.map(|(url, end)| (name(url), end.into())).collect(), linked)
        }
        "hreflang-return" => {
            let back = returns(subject).into_iter();
            let linked = hreflang::addresses(subject, page);
            (back.map(|(url, is_back)| (name(url), of_return(is_back))).collect(), linked)
        }
        _ => return None,
    };
    // What the page still names and this audit did not ask.
    let linked: BTreeSet<String> = linked.iter().take(LINKED_MAX).map(name).collect();
    for name in linked {
        answers.entry(name).or_insert(Answer::Unanswered);
    }
    Some(answers)
}

/// How answers have changed.
#[must_use]
pub fn compare(before: &Answers, now: &Answers) -> Turn {
    let mut turn = Turn { was_wrong: any_wrong(before), ..Turn::default() };
    turn.is_wrong = any_wrong(&merge(before, now.clone()));
    for (address, is) in now {
        match (before.get(address), is) {
            (was, Answer::Unanswered) => turn.is_partial |= was.is_some(),
            (None, is) => {
                // Nobody was told of it yet.
                turn.has_changed |= is.is_wrong();
                turn.is_partial = true;
            }
            (Some(was), is) => turn.has_changed |= was != is,
        }
    }
    let is_off = |(address, was): (&String, &Answer)| was.is_wrong() && !now.contains_key(address);
    turn.has_changed |= before.iter().any(is_off);
    turn
}

/// The answers of `now`; where there was none, the one before. What is unknown is left out.
#[must_use]
pub fn merge(before: &Answers, mut now: Answers) -> Answers {
    for (address, is) in &mut now {
        if *is == Answer::Unanswered {
            *is = before.get(address).copied().unwrap_or(*is);
        }
    }
    now.retain(|_, it| *it != Answer::Unanswered);
    now
}

/// Whether an address is wrong.
#[must_use]
pub fn any_wrong(answers: &Answers) -> bool {
    answers.values().any(|it| it.is_wrong())
}

impl Answer {
    const fn is_wrong(self) -> bool {
        match self {
            Self::Unanswered | Self::Fine => false,
            Self::Moved | Self::Gone | Self::Trouble | Self::Silent => true,
        }
    }
}

impl From<Option<LinkEnd>> for Answer {
    fn from(end: Option<LinkEnd>) -> Self {
        match end {
            None => Self::Unanswered,
            Some(LinkEnd::There) => Self::Fine,
            Some(LinkEnd::Moved) => Self::Moved,
            Some(LinkEnd::Gone) => Self::Gone,
            Some(LinkEnd::Trouble) => Self::Trouble,
        }
    }
}

const fn of_return(is_back: Option<bool>) -> Answer {
    match is_back {
        None => Answer::Unanswered,
        Some(true) => Answer::Fine,
        Some(false) => Answer::Silent,
    }
}

/// A short name of an address, without its fragment.
fn name(url: &Url) -> String {
    let text = url.as_str();
    let text = text.split_once('#').map_or(text, |(it, _)| it);
    format!("{:016x}", hash(text.bytes()))
}

/// Addresses of a page that are kept.
const LINKED_MAX: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::around::TargetAnswer;
    use crate::agents::seo::history::Baseline;
    use crate::agents::seo::news::Changes;
    use crate::agents::seo::sample::Sample;
    use crate::agents::seo::target::Target;

    const LINKS: &str = "<a href=/cart>Cart</a><a href=/about>About</a><a href=/p1>One</a>";

    /// A page whose links answer with these statuses; 0 is a link that may not be asked.
    fn page(statuses: [u16; 3]) -> Sample {
        linking(LINKS, &["/cart", "/about", "/p1"], &statuses)
    }

    fn linking(body: &str, paths: &[&str], statuses: &[u16]) -> Sample {
        let mut sample = Sample::body(body);
        for (path, status) in paths.iter().zip(statuses) {
            let url = Url::parse("https://example.com/").unwrap().join(path).unwrap();
            let target = Target { status: *status, ..Target::default() };
            let answer = match status {
                0 => TargetAnswer::NotAsked("robots.txt keeps this audit from asking it"),
                _ => TargetAnswer::Answered(Box::new(target)),
            };
            sample.0.around.links.push((url, answer));
        }
        sample
    }

    fn keep(sample: Sample, earlier: Option<&Baseline>) -> Baseline {
        Baseline::of(&sample.audit(), "{}", "run", earlier)
    }

    fn changes(before: Sample, after: Sample) -> Changes {
        keep(before, None).compare(&after.audit())
    }

    #[test]
    fn a_link_that_may_not_be_asked_hides_no_other() {
        let first = keep(page([0, 200, 200]), None);
        assert!(first.compare(&page([0, 200, 200]).audit()).is_silent());
        let broken = first.compare(&page([0, 404, 200]).audit());
        assert_eq!(broken.appeared[0].0, "links-broken");
        let second = keep(page([0, 404, 200]), Some(&first));
        assert_eq!(second.faults(), 1);
        let worse = second.compare(&page([0, 404, 404]).audit());
        assert_eq!((worse.appeared.len(), worse.altered[0].0.as_str()), (0, "links-broken"));
        let mended = second.compare(&page([0, 200, 200]).audit());
        assert_eq!(mended.fixed[0].0, "links-broken");
    }

    #[test]
    fn a_link_without_an_answer_keeps_what_was_known_of_it() {
        assert!(changes(page([200, 404, 200]), page([200, 0, 200])).is_silent());
        assert!(changes(page([200, 404, 200]), page([0, 0, 0])).is_silent());
        let first = keep(page([200, 404, 200]), None);
        let unsure = keep(page([200, 0, 200]), Some(&first));
        assert!(unsure.compare(&page([200, 404, 200]).audit()).is_silent());
        assert_eq!(unsure.faults(), 1);
        assert_eq!(unsure.compare(&page([200, 200, 200]).audit()).fixed.len(), 1);
        // It was wrong before anybody could know.
        assert!(!changes(page([200, 0, 200]), page([200, 404, 200])).is_silent());
    }

    #[test]
    fn answers_that_turn_the_audit_away_tell_nothing() {
        assert!(changes(page([200, 200, 200]), page([503, 503, 200])).is_silent());
        assert!(changes(page([503, 503, 200]), page([200, 200, 200])).is_silent());
    }

    #[test]
    fn links_come_and_go_with_the_page() {
        let without = || linking("<a href=/p1>One</a>", &["/p1"], &[200]);
        assert_eq!(changes(page([200, 404, 200]), without()).fixed.len(), 1);
        assert_eq!(changes(without(), page([200, 404, 200])).appeared.len(), 1);
        assert!(changes(without(), page([200, 200, 200])).is_silent());
        // A link that was not tried this time is not mended by that.
        let fewer = linking(LINKS, &["/cart"], &[200]);
        assert!(changes(page([200, 404, 200]), fewer).is_silent());
        let none = Sample::body("");
        assert_eq!(changes(page([200, 404, 200]), none).fixed.len(), 1);
    }

    #[test]
    fn translations_are_compared_one_by_one_too() {
        let link =
            |it: &str| format!("<link rel=alternate hreflang={it} href=https://example.com/{it}>");
        let own = "<link rel=alternate hreflang=en href=https://example.com/page>";
        let head = own.to_owned() + &link("de") + &link("fr");
        let page = |german: Option<Sample>| {
            let mut sample = Sample::head(&head);
            let url = |it: &str| Url::parse("https://example.com/").unwrap().join(it).unwrap();
            let answer = german.map(|it| it.at("https://example.com/de").into_target());
            let answer = answer.unwrap_or(TargetAnswer::NotAsked("closed"));
            let closed = TargetAnswer::NotAsked("closed");
            sample.0.around.translations = vec![(url("/de"), answer), (url("/fr"), closed)];
            sample
        };
        let back = || Some(Sample::head(&head));
        let silent = || Some(Sample::head(""));
        assert!(changes(page(back()), page(back())).is_silent());
        let lost = changes(page(back()), page(silent()));
        assert_eq!(lost.appeared[0].0, "hreflang-return");
        assert_eq!(changes(page(silent()), page(back())).fixed[0].0, "hreflang-return");
        assert!(changes(page(silent()), page(None)).is_silent());
        let trouble = || Some(Sample::html("").status(503));
        assert!(changes(page(silent()), page(trouble())).is_silent());
    }
}
