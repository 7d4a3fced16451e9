//! What an audit leaves for the next one of its schedule, and what has changed since.
//!
//! Compared is always with the last audit that was reported, so that slow drift adds up. Places,
//! order, white space, ids and classes are no part of what is kept: only what a reader or a search
//! engine would notice. A baseline that does not fit is never an error; it begins anew.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agents::lists::{CHECKS_VERSION, is_unchanged_since};
use crate::agents::seo::answers::{self, Answers};
use crate::agents::seo::audit::Audit;
use crate::agents::seo::news::{Changes, State, Traces};
use crate::agents::seo::noise::without_numbers;
use crate::agents::seo::trace;

/// What an audit leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The form of this record.
    format: u32,
    /// The version of the rules.
    rules: u32,
    /// The input that it was made for.
    input: String,
    /// The score.
    pub score: u32,
    /// Whether the score leaves out something that was known and could not be looked at.
    #[serde(default)]
    is_partial: bool,
    /// The run whose report it was.
    pub run: String,
    /// When that was fetched.
    pub at: String,
    /// The checks that found something, by their names; all others were fine.
    checks: BTreeMap<String, State>,
    /// What the page said about itself, by name.
    facts: BTreeMap<String, String>,
    /// What the addresses answered that it led to, by the names of checks.
    #[serde(default)]
    answers: BTreeMap<String, Answers>,
    /// The form of the traces that findings leave.
    #[serde(default)]
    traces: u32,
}

/// How an audit relates to the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// Not at all: somebody asked for it.
    #[default]
    None,
    /// It is the first one of its schedule.
    First,
    /// The earlier one does not compare; the sentence says why.
    Reset(String),
    /// This is what has changed.
    Changed(Changes),
}

impl Baseline {
    /// Reads what an earlier audit left for the same input.
    ///
    /// # Errors
    ///
    /// A sentence that says why it does not compare.
    pub fn read(bytes: &[u8], input: &str) -> Result<Self, String> {
        let unreadable = || "The earlier result could not be read.".to_owned();
        let found: Self = serde_json::from_slice(bytes).map_err(|_| unreadable())?;
        if found.format != FORMAT {
            return Err(unreadable());
        }
        if found.input != input {
            return Err("The schedule now checks another address.".to_owned());
        }
        if found.rules > CHECKS_VERSION {
            return Err(format!(
                "The last report was made by version {} of the checks, and this is {CHECKS_VERSION}.",
                found.rules
            ));
        }
        Ok(found)
    }

    /// What stays of an earlier audit when there was nothing to tell; none when it can stay as it
    /// is. The rules of today take the place of older ones.
    #[must_use]
    pub fn renewed(&self, audit: &Audit) -> Option<Self> {
        if self.rules == CHECKS_VERSION && self.traces == TRACES {
            return None;
        }
        let (run, at) = (self.run.clone(), self.at.clone());
        Some(Self { run, at, ..Self::of(audit, &self.input, "", Some(self)) })
    }

    /// What `audit` leaves; what it could not look at stays as it was in `earlier`.
    #[must_use]
    pub fn of(audit: &Audit, input: &str, run: &str, earlier: Option<&Self>) -> Self {
        let (mut checks, mut answers) = (BTreeMap::new(), BTreeMap::new());
        let mut is_partial = false;
        for check in &audit.checks {
            let id = check.rule.id;
            let before = || earlier.and_then(|it| it.checks.get(id)).cloned();
            let state = if let Some(now) = answers::of(audit, id) {
                let nothing = Answers::new();
                let known = earlier.and_then(|it| it.answers.get(id)).unwrap_or(&nothing);
                is_partial |= earlier.is_some() && answers::compare(known, &now).is_partial;
                let now = answers::merge(known, now);
                let is_wrong = answers::any_wrong(&now);
                answers.insert(id.to_owned(), now);
                let state = State::of(check).filter(|it| it.is_fault);
                if is_wrong { state.or_else(before) } else { None }
            } else if trace::is_known(audit, check) {
                State::of(check)
            } else {
                is_partial |= before().is_some();
                answers.extend(earlier.and_then(|it| it.answers.get_key_value(id)).map(owned));
                before()
            };
            if let Some(state) = state {
                checks.insert(id.to_owned(), state);
            }
        }
        let mut facts = earlier.map(|it| it.facts.clone()).unwrap_or_default();
        facts.extend(trace::facts(&audit.subject));
        Self {
            format: FORMAT,
            rules: CHECKS_VERSION,
            input: input.to_owned(),
            score: audit.score.value,
            is_partial,
            run: run.to_owned(),
            at: audit.subject.fetched.at.to_string(),
            checks,
            facts,
            answers,
            traces: TRACES,
        }
    }

    /// The faults that were known.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.checks.values().filter(|it| it.is_fault).count()
    }

    /// What is different in `audit`.
    #[must_use]
    pub fn compare(&self, audit: &Audit) -> Changes {
        let mut changes = Changes {
            run: self.run.clone(),
            at: self.at.clone(),
            score: (self.score, audit.score.value),
            ..Changes::default()
        };
        let traces = if self.traces == TRACES { Traces::Compare } else { Traces::Ignore };
        let is_older = self.rules != CHECKS_VERSION;
        changes.older_rules = is_older.then_some(self.rules);
        changes.is_partial = is_older || self.is_partial;
        for check in &audit.checks {
            let (id, before) = (check.rule.id, self.checks.get(check.rule.id));
            if !is_unchanged_since(id, self.rules) {
                continue;
            }
            if let Some(now) = answers::of(audit, id) {
                let known = self.answers.get(id);
                let turn = answers::compare(known.unwrap_or(&Answers::new()), &now);
                changes.note_turn(id, turn, before, State::of(check).as_ref());
            } else if trace::is_known(audit, check) {
                let now = State::of(check);
                changes.note(id, before, now.as_ref(), traces);
            } else {
                changes.is_partial |= before.is_some();
            }
        }
        for (name, now) in trace::facts(&audit.subject) {
            let before = self.facts.get(&name).cloned().unwrap_or_default();
            let is_text = TEXTS.contains(&name.as_str());
            if before == now {
                continue;
            } else if is_text && without_numbers(&before) == without_numbers(&now) {
                changes.minor.push((name, before, now));
            } else {
                changes.facts.push((name, before, now));
            }
        }
        changes
    }
}

fn owned((id, answers): (&String, &Answers)) -> (String, Answers) {
    (id.clone(), answers.clone())
}

/// The form of the record.
const FORMAT: u32 = 1;
/// The form of the traces.
const TRACES: u32 = 1;
/// What a page says about itself in texts of which numbers are a minor part.
const TEXTS: [&str; 3] = ["title", "description", "main heading"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    fn changes(before: Sample, after: Sample) -> Changes {
        let baseline = Baseline::of(&before.audit(), "{}", "run", None);
        let bytes = serde_json::to_vec(&baseline).unwrap();
        Baseline::read(&bytes, "{}").unwrap().compare(&after.audit())
    }

    fn ids(of: &[(String, String)]) -> Vec<&str> {
        of.iter().map(|(id, _)| id.as_str()).collect()
    }

    #[test]
    fn the_same_page_is_nothing_to_tell() {
        let page = || Sample::body("<h5>Boats</h5><img src=/a.png>").status(200);
        assert!(changes(page(), page()).is_silent());
        let slow = |millis| {
            let mut sample = page();
            sample.0.visit.reply.timing.first_byte = std::time::Duration::from_millis(millis);
            sample.0.second_first_byte = Some(std::time::Duration::from_millis(millis));
            sample
        };
        assert!(changes(slow(700), slow(900)).is_silent());
        assert!(!changes(slow(700), slow(2_500)).is_silent());
    }

    #[test]
    fn faults_appear_are_fixed_and_change() {
        let image = |src: &str| Sample::body(&format!("<img src={src} width=1 height=1>"));
        assert_eq!(ids(&changes(Sample::body(""), image("/a.png")).appeared), ["image-alt"]);
        assert_eq!(ids(&changes(image("/a.png"), Sample::body("")).fixed), ["image-alt"]);
        assert_eq!(ids(&changes(image("/a.png"), image("/b.png")).altered), ["image-alt"]);
        assert!(changes(image("/a.png?v=1"), image("/a.png?v=2")).is_silent());
    }

    #[test]
    fn of_what_is_no_fault_only_its_presence_is_news() {
        let page = |heading: &str| Sample::body(&format!("<h1>{heading}</h1>"));
        assert!(changes(page("The flood"), page("The lock")).is_silent());
        assert_eq!(ids(&changes(Sample::body(""), page("The lock")).altered), ["h1-multiple"]);
    }

    #[test]
    fn numbers_in_texts_are_no_news_by_themselves() {
        let page = |title: &str, description: &str| {
            let description = format!("<meta name=description content='{description}'>");
            Sample::html(format!(
                "<!doctype html><html lang=en><title>{title}</title>{description}"
            ))
        };
        let before = || page("1,204 jobs in Alder", "999 of them new");
        let found = changes(before(), page("1,209 jobs in Alder", "1,003 of them new"));
        assert!(found.is_silent() && found.minor.len() == 2, "{found:?}");
        let found = changes(before(), page("1,209 jobs in Birch", "999 of them new"));
        assert_eq!((found.facts[0].0.as_str(), found.minor.len()), ("title", 0));
        let moved = changes(Sample::head(""), Sample::head("").at("https://example.com/page-2"));
        assert_eq!(moved.facts[0].0, "final address");
    }

    /// What an audit would have left when the checks had version 2.
    fn older(sample: Sample) -> Baseline {
        let baseline = Baseline::of(&sample.audit(), "{}", "run", None);
        let mut value = serde_json::to_value(baseline).unwrap();
        value["rules"] = 2.into();
        for added in ["answers", "traces"] {
            value.as_object_mut().unwrap().remove(added);
        }
        Baseline::read(value.to_string().as_bytes(), "{}").unwrap()
    }

    #[test]
    fn an_upgrade_of_the_checks_is_no_news_and_hides_none() {
        let page = || Sample::body("<img src=/a.png width=1 height=1>");
        let before = older(page());
        let found = before.compare(&page().audit());
        assert!(found.is_silent() && found.older_rules == Some(2), "{found:?}");
        let noindex = Sample::head("<meta name=robots content=noindex>");
        let found = before.compare(&noindex.audit());
        assert_eq!(
            (ids(&found.appeared), ids(&found.fixed)),
            (vec!["is-crawlable"], vec!["image-alt"])
        );
        assert_eq!(found.facts[0].0, "robots directives");
        let renewed = before.renewed(&page().audit()).unwrap();
        assert_eq!((renewed.rules, renewed.run.as_str()), (CHECKS_VERSION, "run"));
        assert!(renewed.compare(&page().audit()).is_silent());
        assert_eq!(renewed.renewed(&page().audit()), None);
    }

    #[test]
    fn what_only_a_new_rule_finds_is_not_told_as_a_change() {
        let other = "<link rel=canonical href=https://example.com/other>";
        let page = |target: Sample| {
            let mut sample = Sample::head(other);
            sample.0.around.canonical = Some(target.at("https://example.com/other").into_target());
            sample
        };
        let before = older(page(Sample::html("").status(404)));
        assert!(before.compare(&page(Sample::body("")).audit()).is_silent());
        let broken = page(Sample::html("").status(410));
        let renewed = older(page(Sample::body(""))).renewed(&broken.clone().audit()).unwrap();
        assert!(renewed.compare(&broken.audit()).is_silent());
        assert_eq!(
            ids(&renewed.compare(&page(Sample::body("")).audit()).fixed),
            ["canonical-target"]
        );
    }

    #[test]
    fn what_a_page_says_about_itself_is_watched() {
        let head = |html: &str| Sample::head(html);
        let robots = changes(head(""), head("<meta name=robots content=nosnippet>"));
        assert_eq!(robots.facts[0].0, "robots directives");
        let canonical =
            changes(head(""), head("<link rel=canonical href=https://example.com/page>"));
        assert_eq!(canonical.facts[0].0, "canonical address");
        assert!(!changes(head(""), head("").at("https://example.com/moved")).is_silent());
    }

    #[test]
    fn a_page_that_is_gone_for_a_time_is_not_mended_by_that() {
        let faulty = || Sample::body("<img src=/a.png width=1 height=1>");
        let gone = || Sample::html("").status(503);
        let away = changes(faulty(), gone());
        assert_eq!((ids(&away.appeared), away.fixed.len()), (vec!["http-status-code"], 0));
        let first = Baseline::of(&faulty().audit(), "{}", "one", None);
        let second = Baseline::of(&gone().audit(), "{}", "two", Some(&first));
        let back = second.compare(&faulty().audit());
        assert_eq!((ids(&back.fixed), back.appeared.len()), (vec!["http-status-code"], 0));
    }

    #[test]
    fn slow_drift_adds_up_against_the_last_report() {
        let page = |broken: usize| {
            let mut body = "<a href=/a>Alpha</a>".repeat(60);
            body += &"<a href=/b>more</a>".repeat(broken);
            Sample::body(&body)
        };
        let first = Baseline::of(&page(20).audit(), "{}", "one", None);
        let told: Vec<bool> =
            [20, 21, 30].map(|it| first.compare(&page(it).audit()).is_silent()).into();
        assert_eq!(told, [true, false, false]);
    }

    #[test]
    fn a_baseline_that_does_not_fit_says_why() {
        let mut baseline = Baseline::of(&Sample::body("").audit(), "a", "run", None);
        let read = |it: &Baseline, input: &str| {
            Baseline::read(&serde_json::to_vec(it).unwrap(), input).map(|_| ())
        };
        assert_eq!(read(&baseline, "a"), Ok(()));
        assert!(read(&baseline, "b").unwrap_err().contains("another address"));
        baseline.rules = 99;
        assert!(read(&baseline, "a").unwrap_err().contains("version 99 of the checks"));
        baseline.format = 9;
        assert!(read(&baseline, "a").unwrap_err().contains("could not be read"));
        assert!(Baseline::read(b"\xff", "a").unwrap_err().contains("could not be read"));
    }
}
