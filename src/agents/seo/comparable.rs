//! The number that Lighthouse would give, from the ten audits that both have.
//!
//! Same weights, same rounding, our verdicts: where ours are stricter on purpose, the number is
//! lower than Lighthouse's.

use crate::agents::seo::finding::{Check, Judgement};

/// The score of Lighthouse's SEO category, 0 to 100; none when one of its audits is missing.
#[must_use]
pub fn lighthouse(checks: &[Check]) -> Option<u32> {
    let (mut reached, mut possible) = (0, 0);
    for (id, weight) in AUDITS {
        let check = checks.iter().find(|it| it.rule.id == id)?;
        possible += weight;
        match check.judgement {
            Judgement::Pass | Judgement::Info(_) => reached += weight,
            Judgement::Fail(_) => {}
            // Lighthouse passes a page without translations.
            Judgement::NotApplicable(_) if id == "hreflang" => reached += weight,
            Judgement::NotApplicable(_) => possible -= weight,
        }
    }
    // Hundredths, rounded half up.
    (possible > 0).then(|| (reached * 200 + possible) / (possible * 2))
}

/// The audits and their weights, times 23: `is-crawlable` weighs 93/23.
///
/// Source: Lighthouse 13, default configuration.
const AUDITS: [(&str, u32); 10] = [
    ("is-crawlable", 93),
    ("document-title", 23),
    ("meta-description", 23),
    ("http-status-code", 23),
    ("link-text", 23),
    ("crawlable-anchors", 23),
    ("robots-txt", 23),
    ("image-alt", 23),
    ("hreflang", 23),
    ("canonical", 23),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::checks::rule;
    use crate::agents::seo::finding::Found;

    fn checks(failing: &[&str], missing: &[&str]) -> Vec<Check> {
        let judge = |id: &str| {
            if failing.contains(&id) {
                Judgement::Fail(Found::new("x"))
            } else if missing.contains(&id) {
                Judgement::NotApplicable("nothing")
            } else {
                Judgement::Pass
            }
        };
        let check = |(id, _): &(&str, u32)| Check {
            rule: rule(id).unwrap(),
            judgement: judge(id),
            points: 0,
        };
        AUDITS.iter().map(check).collect()
    }

    #[test]
    fn the_weights_are_those_of_lighthouse() {
        assert_eq!(lighthouse(&checks(&[], &[])), Some(100));
        assert_eq!(lighthouse(&checks(&["canonical"], &[])), Some(92));
        assert_eq!(lighthouse(&checks(&["link-text"], &["canonical", "image-alt"])), Some(91));
        assert_eq!(lighthouse(&checks(&["is-crawlable"], &["canonical", "image-alt"])), Some(63));
        assert_eq!(lighthouse(&checks(&[], &["hreflang", "canonical"])), Some(100));
        assert_eq!(lighthouse(&checks(&[], &[])[1..]), None);
    }
}
