//! Decides how a run ends that a schedule started: with a report, or with nothing to tell.

use crate::agents::agent::Task;
use crate::agents::page::text::quote;
use crate::agents::seo::audit::Audit;
use crate::agents::seo::history::{Baseline, History};
use crate::agents::seo::markdown::count;
use crate::agents::seo::report::moment;
use crate::agents::seo::{report, result};
use crate::domain::outcome::{Outcome, Report, Work};

/// What a run knows of the runs before it.
#[derive(Clone, Debug)]
pub struct Past {
    run: String,
    input: String,
    is_scheduled: bool,
    baseline: Option<Vec<u8>>,
}

impl Past {
    /// What `task` knows.
    #[must_use]
    pub fn of(task: &Task) -> Self {
        Self {
            run: task.run.to_string(),
            input: task.input.clone(),
            is_scheduled: task.trigger.schedule().is_some(),
            baseline: task.baseline.clone(),
        }
    }

    /// Whether the run is one of a schedule.
    #[must_use]
    pub const fn is_scheduled(&self) -> bool {
        self.is_scheduled
    }

    /// The outcome of an audit, and what the next one compares with.
    #[must_use]
    pub fn conclude(&self, mut audit: Audit) -> Work {
        if !self.is_scheduled {
            return Work::from(Outcome::Succeeded(write(&audit)));
        }
        let read = self.baseline.as_deref().map(|it| Baseline::read(it, &self.input));
        let earlier = match read {
            None => {
                audit.history = History::First;
                None
            }
            Some(Err(why)) => {
                audit.history = History::Reset(why);
                None
            }
            Some(Ok(earlier)) => {
                let changes = earlier.compare(&audit);
                let is_silent = changes.is_silent();
                audit.history = History::Changed(changes);
                if is_silent {
                    let outcome = Outcome::NoSignal(silence(&audit, &earlier));
                    let renewed = earlier.renewed(&audit);
                    let baseline = renewed.and_then(|it| serde_json::to_vec(&it).ok());
                    return Work { outcome, baseline };
                }
                Some(earlier)
            }
        };
        let baseline = Baseline::of(&audit, &self.input, &self.run, earlier.as_ref());
        let outcome = Outcome::Succeeded(write(&audit));
        Work { outcome, baseline: serde_json::to_vec(&baseline).ok() }
    }
}

fn write(audit: &Audit) -> Report {
    Report { output: report::of(audit), result: Some(result::of(audit).to_string()) }
}

/// The one sentence of a run with nothing to tell.
fn silence(audit: &Audit, earlier: &Baseline) -> Report {
    let output = format!(
        "Nothing has changed at {} since the report of {}: the score is {}, with {} known (run {}).",
        quote(audit.subject.url().as_str()),
        moment(&earlier.at),
        audit.score.value,
        count(earlier.faults(), "fault"),
        earlier.run,
    );
    Report { output, result: Some(result::of(audit).to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    fn past(baseline: Option<Vec<u8>>) -> Past {
        Past { run: "two".to_owned(), input: "{}".to_owned(), is_scheduled: true, baseline }
    }

    fn page() -> Audit {
        Sample::body("<img src=/a.png width=1 height=1>").audit()
    }

    #[test]
    fn the_first_run_of_a_schedule_reports_and_the_next_is_silent() {
        let first = past(None).conclude(page());
        let Outcome::Succeeded(report) = &first.outcome else { panic!("{first:?}") };
        assert!(report.output.contains("first report of this schedule"));
        let second = past(first.baseline.clone()).conclude(page());
        let Outcome::NoSignal(report) = &second.outcome else { panic!("{second:?}") };
        let expected = "Nothing has changed at `https://example.com/page` since the report of \
                        2026-11-20 12:00 UTC: the score is 96, with 1 fault known (run two).";
        assert_eq!((report.output.as_str(), &second.baseline), (expected, &None));
        let third = past(first.baseline).conclude(Sample::body("").audit());
        let Outcome::Succeeded(report) = &third.outcome else { panic!("{third:?}") };
        assert!(report.output.contains("## Changed since 2026-11-20 12:00 UTC"));
        assert!(
            report.output.contains("Fixed: An image has no text (`image-alt`)"),
            "{}",
            report.output
        );
        assert!(third.baseline.is_some());
    }

    #[test]
    fn an_upgrade_of_the_checks_is_silent_and_said_when_something_has_changed() {
        let first = past(None).conclude(page()).baseline.unwrap();
        let mut older: serde_json::Value = serde_json::from_slice(&first).unwrap();
        older["rules"] = 2.into();
        let older = older.to_string().into_bytes();
        let silent = past(Some(older.clone())).conclude(page());
        assert!(matches!(silent.outcome, Outcome::NoSignal(_)), "{silent:?}");
        assert_eq!(silent.baseline, Some(first));
        let closed = Sample::head("<meta name=robots content=noindex>").audit();
        let work = past(Some(older)).conclude(closed);
        let Outcome::Succeeded(report) = &work.outcome else { panic!("{work:?}") };
        for line in ["The checks have changed too, from version 2", "New: Search engines may not"] {
            assert!(report.output.contains(line), "{}", report.output);
        }
    }

    #[test]
    fn a_foreign_baseline_begins_anew_and_the_report_says_why() {
        let work = past(Some(b"{".to_vec())).conclude(page());
        let Outcome::Succeeded(report) = &work.outcome else { panic!("{work:?}") };
        assert!(report.output.contains("The earlier result could not be read."));
        assert!(work.baseline.is_some());
    }

    #[test]
    fn a_run_that_was_asked_for_compares_nothing() {
        let past = Past { is_scheduled: false, ..past(Some(b"{".to_vec())) };
        let work = past.conclude(page());
        assert!(matches!(work.outcome, Outcome::Succeeded(_)) && work.baseline.is_none());
    }
}
