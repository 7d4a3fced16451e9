//! What has changed between two audits of a page, check by check, and whether it is worth telling.

use serde::{Deserialize, Serialize};

use crate::agents::seo::answers::Turn;
use crate::agents::seo::finding::{Check, Severity};
use crate::agents::seo::trace;

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
    /// The same where nothing but numbers is different, which is no news by itself.
    pub minor: Vec<(String, String, String)>,
    /// The version of the checks then, when it was another: what a new rule says is not compared.
    pub older_rules: Option<u32>,
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

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Whether it was a fault.
    pub is_fault: bool,
    /// How severe it was.
    pub severity: String,
    /// It in one sentence.
    pub title: String,
    /// What it was found in: sorted hashes.
    pub evidence: Vec<String>,
}

/// Whether the traces that findings left can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// They have the same form.
    Compare,
    /// They have not.
    Ignore,
}

impl Changes {
    /// Notes what has become of a check.
    pub fn note(&mut self, id: &str, before: Option<&State>, now: Option<&State>, traces: Traces) {
        let is_fault = |it: Option<&State>| it.is_some_and(|it| it.is_fault);
        let entry = |it: &State| (id.to_owned(), it.title.clone());
        match (before, now) {
            (Some(before), _) if before.is_fault && !is_fault(now) => {
                self.fixed.push(entry(before));
            }
            (_, Some(now)) if now.is_fault && !is_fault(before) => {
                self.appeared.push(entry(now));
            }
            (Some(before), Some(now)) if before.differs(now, traces) => {
                self.altered.push(entry(now));
            }
            (None, Some(now)) => self.altered.push(entry(now)),
            (Some(before), None) => {
                let title = format!("No longer: {}", before.title);
                self.altered.push((id.to_owned(), title));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    /// Notes what has become of the addresses of a check.
    pub fn note_turn(&mut self, id: &str, turn: Turn, before: Option<&State>, now: Option<&State>) {
        self.is_partial |= turn.is_partial;
        if !turn.has_changed {
            return;
        }
        let title = |it: Option<&State>| it.map(|it| it.title.clone()).unwrap_or_default();
        let entry = |title: String| (id.to_owned(), title);
        match (turn.was_wrong, turn.is_wrong, now) {
            (false, _, now) => self.appeared.push(entry(title(now))),
            (true, false, _) => self.fixed.push(entry(title(before))),
            (true, true, Some(now)) => self.altered.push(entry(now.title.clone())),
            (true, true, None) => {
                self.altered.push(entry(format!("In part no longer: {}", title(before))));
            }
        }
    }
}

impl State {
    /// What a check found; none when it is fine.
    #[must_use]
    pub fn of(check: &Check) -> Option<Self> {
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

    /// Whether a fault is no longer the same. Of what is no fault only its presence is news.
    fn differs(&self, other: &Self, traces: Traces) -> bool {
        let has_moved = match traces {
            Traces::Compare => self.evidence != other.evidence,
            Traces::Ignore => false,
        };
        other.is_fault && (self.severity != other.severity || has_moved)
    }
}

/// The least change of the score that is worth a message by itself.
const SCORE_CHANGE_MIN: u32 = 3;
