//! Decides whether a difference of two texts matters.

use crate::agents::scan::amount::{Scaled, UNIT};
use crate::agents::scan::claims::{AUDIENCE, LEGAL, LIVE, RATINGS};
use crate::agents::scan::facts::{Segment, Zone};
use crate::agents::scan::lexicon::has_any;
use crate::agents::scan::terms::{COMMERCIAL, COMMERCIAL_MORE, LIMITS};
use crate::agents::scan::texts::Text;
use crate::agents::scan::token::words;

/// What is thought of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is worth a message.
    Notable,
    /// It is listed when there is a message.
    Minor,
    /// It is none, for this reason.
    Ignored(&'static str),
}

/// Judges two texts that differ in their numbers only.
#[must_use]
pub fn numbers(before: &Segment, after: &Segment) -> Verdict {
    let lower = after.text.lower();
    let label = after.label.to_lowercase();
    if has_any(&lower, LIVE) {
        return Verdict::Ignored("numbers of the moment");
    }
    if has_any(&lower, LIMITS) {
        return Verdict::Notable;
    }
    let is_rating = has_any(&lower, RATINGS);
    let is_offer = after.in_offer && !is_rating;
    if !is_offer && (is_rating || has_any(&lower, AUDIENCE) || has_any(&label, RATINGS)) {
        return if grew(&before.text, &after.text) {
            Verdict::Notable
        } else {
            Verdict::Ignored("counters that drift")
        };
    }
    if is_offer || is_commercial(&lower) || is_commercial(&label) {
        return Verdict::Notable;
    }
    Verdict::Minor
}

/// Judges two texts that differ, of which one took the place of the other.
#[must_use]
pub fn replaced(before: &Segment, after: &Segment) -> Verdict {
    let is_live = |it: &Segment| !it.text.numbers.is_empty() && has_any(&it.text.lower(), LIVE);
    if is_live(before) && is_live(after) {
        return Verdict::Ignored("texts of the moment");
    }
    let verdicts = [one_sided(before), one_sided(after)];
    if verdicts.contains(&Verdict::Notable) { Verdict::Notable } else { Verdict::Minor }
}

/// Whether a text stands in an offer or names a limit.
#[must_use]
pub fn is_of_offer(segment: &Segment) -> bool {
    segment.in_offer || has_any(&segment.text.lower(), LIMITS)
}

/// Judges a text that came or went.
#[must_use]
pub fn one_sided(segment: &Segment) -> Verdict {
    let lower = segment.text.lower();
    if !segment.text.numbers.is_empty() && has_any(&lower, LIVE) && !segment.in_offer {
        return Verdict::Ignored("texts of the moment");
    }
    if segment.zone == Zone::Footer && has_any(&lower, LEGAL) {
        return Verdict::Minor;
    }
    let count = words(&segment.text.shown);
    let is_entry = matches!(segment.tag.as_str(), "li" | "dd" | "dt" | "td" | "th" | "summary");
    let matters = count >= WORDS_MIN
        || (is_entry && count >= ENTRY_WORDS_MIN)
        || segment.in_offer
        || is_commercial(&lower);
    if matters { Verdict::Notable } else { Verdict::Minor }
}

/// Whether a text speaks of what is offered.
fn is_commercial(lower: &str) -> bool {
    has_any(lower, COMMERCIAL) || has_any(lower, COMMERCIAL_MORE)
}

/// Whether a claim about many people moved far, or into another order of magnitude.
fn grew(before: &Text, after: &Text) -> bool {
    let mut pairs = before.numbers.iter().zip(&after.numbers);
    pairs.any(|(before, after)| before != after && moved_far(*before, *after))
}

fn moved_far(before: Scaled, after: Scaled) -> bool {
    let is_large = before.0.min(after.0) >= LARGE * UNIT;
    before.moved(after, STEP_PERCENT) || (is_large && before.magnitude() != after.magnitude())
}

/// Words that make a text worth a message when it comes or goes.
const WORDS_MIN: usize = 4;
/// Words that make an entry of a list worth one.
const ENTRY_WORDS_MIN: usize = 2;
/// The step of a claim that is worth a message, in percent.
const STEP_PERCENT: i64 = 25;
/// Numbers from which on another order of magnitude counts.
const LARGE: i64 = 90;

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(text: &str) -> Segment {
        Segment {
            text: Text::of(text),
            tag: "p".to_owned(),
            label: String::new(),
            plan: None,
            in_offer: false,
            zone: Zone::Main,
        }
    }

    #[track_caller]
    fn check_numbers(before: &str, after: &str, expected: Verdict) {
        let (one, other) = (segment(before), segment(after));
        assert_eq!(one.text.template, other.text.template);
        assert_eq!(numbers(&one, &other), expected, "{before:?} to {after:?}");
    }

    #[test]
    fn numbers_matter_where_they_are_part_of_an_offer() {
        let live = Verdict::Ignored("numbers of the moment");
        let drift = Verdict::Ignored("counters that drift");
        check_numbers(
            "37 people are looking at this right now",
            "52 people are looking at this right now",
            live,
        );
        check_numbers("Trusted by 12,431 crews.", "Trusted by 12,480 crews.", drift);
        check_numbers("Trusted by 12,431 crews.", "Trusted by 25,000 crews.", Verdict::Notable);
        check_numbers("Trusted by 9,990 crews.", "Trusted by 10,010 crews.", Verdict::Notable);
        check_numbers("4,8 von 5 (1.204 Bewertungen)", "4,9 von 5 (1.219 Bewertungen)", drift);
        check_numbers("14-day free trial", "7-day free trial", Verdict::Notable);
        check_numbers("Up to 50 users", "Up to 45 users", Verdict::Notable);
        check_numbers("30日間無料", "14日間無料", Verdict::Notable);
        check_numbers("Chapter 3", "Chapter 4", Verdict::Minor);
    }

    #[test]
    fn the_question_above_an_answer_counts() {
        let answer = |days: u32| Segment {
            label: "Do you offer refunds?".to_owned(),
            ..segment(&format!("Yes, within {days} days."))
        };
        assert_eq!(numbers(&answer(14), &answer(30)), Verdict::Notable);
    }

    #[test]
    fn long_texts_and_entries_of_lists_matter_and_legal_lines_do_not() {
        assert_eq!(one_sided(&segment("One two three four")), Verdict::Notable);
        assert_eq!(one_sided(&segment("One two")), Verdict::Minor);
        let entry = Segment { tag: "li".to_owned(), ..segment("Single sign-on") };
        assert_eq!(one_sided(&entry), Verdict::Notable);
        let legal =
            Segment { zone: Zone::Footer, ..segment("© 2026 Boats Ltd. All rights reserved") };
        assert_eq!(one_sided(&legal), Verdict::Minor);
        assert_eq!(one_sided(&segment("Sold out")), Verdict::Notable);
    }
}
