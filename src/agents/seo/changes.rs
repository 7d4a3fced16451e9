//! What has changed since the last report, for people and for programs.

use serde_json::{Value, json};
use std::fmt::Write as _;

use crate::agents::lists::CHECKS_VERSION;
use crate::agents::page::text::{clip, quote};
use crate::agents::seo::history::History;
use crate::agents::seo::markdown::prose;
use crate::agents::seo::news::Changes;
use crate::agents::seo::report::moment;

/// The part of a report about what has changed, as Markdown; empty for a run that was asked for.
#[must_use]
pub fn of(history: &History) -> String {
    match history {
        History::None => String::new(),
        History::First => {
            "This is the first report of this schedule. The next one follows when something \
             changes.\n\n"
                .to_owned()
        }
        History::Reset(why) => format!(
            "{} So this report begins a new comparison, and the next one follows when something \
             changes.\n\n",
            prose(why)
        ),
        History::Changed(changes) => list(changes),
    }
}

fn list(changes: &Changes) -> String {
    let mut out = format!("## Changed since {}\n\n", moment(&changes.at));
    let mut lines: Vec<String> = Vec::new();
    let mut line = |text: String| lines.push(text);
    let (before, now) = changes.score;
    line(if before == now {
        format!("Score: {now}, as before")
    } else {
        format!("Score: {now}, before {before}")
    });
    if let Some(older) = changes.older_rules {
        line(format!(
            "The checks have changed too, from version {older} to {CHECKS_VERSION}; what only the \
             new rules say is not listed here"
        ));
    }
    for (name, before, now) in changes.facts.iter().chain(&changes.minor) {
        let shown = |it: &str| if it.is_empty() { "nothing".to_owned() } else { quote(it) };
        line(format!("{}: {}, before {}", capital(name), shown(now), shown(before)));
    }
    let groups =
        [("New", &changes.appeared), ("Fixed", &changes.fixed), ("Different", &changes.altered)];
    for (word, findings) in groups {
        for (id, title) in findings {
            line(format!("{word}: {} (`{id}`)", prose(&clip(title, TITLE_CHARS_MAX))));
        }
    }
    for text in lines.iter().take(LINES_MAX) {
        let _ = writeln!(out, "- {text}");
    }
    let more = lines.len().saturating_sub(LINES_MAX);
    if more > 0 {
        let _ = writeln!(out, "- … and {more} more");
    }
    out.push('\n');
    out
}

/// A name at the beginning of a line.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The same for programs.
#[must_use]
pub fn json(history: &History) -> Value {
    let findings = |all: &[(String, String)]| {
        let all = all.iter().map(|(id, title)| json!({ "id": id, "title": title }));
        all.collect::<Vec<_>>()
    };
    match history {
        History::None => Value::Null,
        History::First => json!({ "first": true }),
        History::Reset(why) => json!({ "reset": why }),
        History::Changed(it) => json!({
            "since_run": it.run,
            "since": it.at,
            "appeared": findings(&it.appeared),
            "fixed": findings(&it.fixed),
            "altered": findings(&it.altered),
            "older_checks_version": it.older_rules,
            "facts": it.facts.iter().chain(&it.minor).map(|(name, before, now)| {
                json!({ "name": name, "before": before, "now": now })
            }).collect::<Vec<_>>(),
            "score_delta": i64::from(it.score.1) - i64::from(it.score.0),
        }),
    }
}

/// Lines of the list.
const LINES_MAX: usize = 25;
/// Characters of the title of a finding.
const TITLE_CHARS_MAX: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_listed_the_page_first() {
        let entry = |id: &str, title: &str| vec![(id.to_owned(), title.to_owned())];
        let changes = Changes {
            run: "one".to_owned(),
            at: "2026-11-20T12:00:00Z".to_owned(),
            score: (90, 39),
            is_partial: false,
            appeared: entry("is-crawlable", "Google may not index <it>"),
            fixed: entry("h1", "There is no main heading"),
            altered: Vec::new(),
            facts: vec![("title".to_owned(), String::new(), "New `x`".to_owned())],
            minor: vec![("description".to_owned(), "7 boats".to_owned(), "8 boats".to_owned())],
            older_rules: Some(2),
        };
        let history = History::Changed(changes);
        assert_eq!(
            of(&history),
            "## Changed since 2026-11-20 12:00 UTC\n\n\
             - Score: 39, before 90\n\
             - The checks have changed too, from version 2 to 3; what only the new rules say is not \
             listed here\n\
             - Title: `New 'x'`, before nothing\n\
             - Description: `8 boats`, before `7 boats`\n\
             - New: Google may not index \\<it\\> (`is-crawlable`)\n\
             - Fixed: There is no main heading (`h1`)\n\n"
        );
        assert_eq!(json(&history)["score_delta"], -51);
        assert_eq!((of(&History::None).as_str(), json(&History::None)), ("", Value::Null));
    }
}
