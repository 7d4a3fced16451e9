//! What an audit leaves for the next one of its schedule, and what has changed since.
//!
//! Compared is always with the last audit that was reported, so that slow drift adds up. Places,
//! order, white space, ids and classes are no part of what is kept: only what a reader or a search
//! engine would notice. A baseline that does not fit is never an error; it begins anew.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agents::lists::CHECKS_VERSION;
use crate::agents::seo::audit::Audit;
use crate::agents::seo::finding::{Check, Severity};
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
    /// The run whose report it was.
    pub run: String,
    /// When that was fetched.
    pub at: String,
    /// The checks that found something, by their names; all others were fine.
    checks: BTreeMap<String, State>,
    /// What the page said about itself, by name.
    facts: BTreeMap<String, String>,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Whether it was a fault.
    is_fault: bool,
    /// How severe it was.
    severity: String,
    /// It in one sentence.
    title: String,
    /// What it was found in: sorted hashes.
    evidence: Vec<String>,
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

/// What has changed since an earlier audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The run of the earlier one.
    pub run: String,
    /// When that was.
    pub at: String,
    /// The scores, then and now.
    pub score: (u32, u32),
    /// Whether the score leaves out something that was found then and could not be looked at now.
    pub is_partial: bool,
    /// Faults that were not there: names and sentences.
    pub appeared: Vec<(String, String)>,
    /// Faults that are gone.
    pub fixed: Vec<(String, String)>,
    /// Findings that are there as before, but different.
    pub altered: Vec<(String, String)>,
    /// What the page says about itself: name, before, now.
    pub facts: Vec<(String, String, String)>,
}

impl Changes {
    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.appeared.is_empty()
            && self.fixed.is_empty()
            && self.altered.is_empty()
            && self.facts.is_empty()
            && (self.is_partial || self.score.0.abs_diff(self.score.1) < SCORE_CHANGE_MIN)
    }
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
        if found.rules != CHECKS_VERSION {
            return Err(format!(
                "The checks have changed since the last report, from version {} to {CHECKS_VERSION}.",
                found.rules
            ));
        }
        Ok(found)
    }

    /// What `audit` leaves; what it could not look at stays as it was in `earlier`.
    #[must_use]
    pub fn of(audit: &Audit, input: &str, run: &str, earlier: Option<&Self>) -> Self {
        let mut checks = BTreeMap::new();
        for check in &audit.checks {
            let id = check.rule.id;
            let state = match trace::is_known(audit, check) {
                true => State::of(check),
                false => earlier.and_then(|it| it.checks.get(id)).cloned(),
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
            run: run.to_owned(),
            at: audit.subject.fetched.at.to_string(),
            checks,
            facts,
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
        for check in &audit.checks {
            let (id, before) = (check.rule.id, self.checks.get(check.rule.id));
            if trace::is_known(audit, check) {
                changes.note(id, before, State::of(check).as_ref());
            } else {
                changes.is_partial |= before.is_some();
            }
        }
        for (name, now) in trace::facts(&audit.subject) {
            let before = self.facts.get(&name).cloned().unwrap_or_default();
            if before != now {
                changes.facts.push((name, before, now));
            }
        }
        changes
    }
}

impl Changes {
    fn note(&mut self, id: &str, before: Option<&State>, now: Option<&State>) {
        let is_fault = |it: Option<&State>| it.is_some_and(|it| it.is_fault);
        let entry = |it: &State| (id.to_owned(), it.title.clone());
        match (before, now) {
            (Some(before), _) if before.is_fault && !is_fault(now) => {
                self.fixed.push(entry(before));
            }
            (_, Some(now)) if now.is_fault && !is_fault(before) => {
                self.appeared.push(entry(now));
            }
            (Some(before), Some(now)) if before.differs(now) => self.altered.push(entry(now)),
            (None, Some(now)) => self.altered.push(entry(now)),
            (Some(before), None) => {
                let title = format!("No longer: {}", before.title);
                self.altered.push((id.to_owned(), title));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}

impl State {
    /// What a check found; none when it is fine.
    fn of(check: &Check) -> Option<Self> {
        let found = check.found()?;
        let severity = check.severity();
        // How fast a server answers changes with the hour; only a slow one is worth a message.
        if check.rule.id == "ttfb" && severity < Severity::Medium {
            return None;
        }
        Some(Self {
            is_fault: check.fault().is_some(),
            severity: severity.as_str().to_owned(),
            title: found.title.clone(),
            evidence: trace::evidence(found),
        })
    }

    fn differs(&self, other: &Self) -> bool {
        self.severity != other.severity || self.evidence != other.evidence
    }
}

/// The form of the record.
const FORMAT: u32 = 1;
/// The least change of the score that is worth a message by itself.
const SCORE_CHANGE_MIN: u32 = 3;
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
    fn a_question_without_an_answer_changes_nothing() {
        use crate::agents::seo::around::TargetAnswer;
        use crate::agents::seo::target::Target;
        let sample = |answers: [u16; 3]| {
            let mut sample = Sample::body("<a href=/a>Alpha</a><a href=/b>Beta</a>");
            let url =
                |path: &str| url::Url::parse("https://example.com/").unwrap().join(path).unwrap();
            sample.0.around.links = ["/a", "/b", "/tickets"]
                .map(url)
                .into_iter()
                .zip(answers.map(|it| {
                    let target = Box::new(Target { status: it, ..Target::default() });
                    if it == 0 {
                        TargetAnswer::NotAsked("x")
                    } else {
                        TargetAnswer::Answered(target)
                    }
                }))
                .collect();
            sample
        };
        assert!(changes(sample([404, 200, 200]), sample([404, 200, 200])).is_silent());
        assert!(changes(sample([404, 200, 200]), sample([0, 200, 200])).is_silent());
        assert!(!changes(sample([404, 200, 200]), sample([200, 200, 200])).is_silent());
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
        baseline.rules = 1;
        assert!(read(&baseline, "a").unwrap_err().contains("from version 1 to"));
        baseline.format = 9;
        assert!(read(&baseline, "a").unwrap_err().contains("could not be read"));
        assert!(Baseline::read(b"\xff", "a").unwrap_err().contains("could not be read"));
    }
}
