//! Every check, group by group, in the order of the report's tables.

pub mod address;
pub mod mixed;
pub mod reach;
pub mod transfer;

pub mod canonical;
pub mod canonical_target;
pub mod crawlable;
pub mod directives;
pub mod head;
pub mod hreflang;
pub mod hreflang_return;
pub mod robots;
pub mod sitemap;

pub mod amount;
pub mod anchors;
pub mod headings;
pub mod images;
pub mod language;
pub mod link_targets;
pub mod links;
pub mod social;
pub mod soft_404;
pub mod structured;
pub mod title;
pub mod viewport;

use crate::agents::seo::finding::Rule;

/// All rules, group by group.
pub const RULES: [&[Rule]; 25] = [
    reach::RULES,
    transfer::RULES,
    mixed::RULES,
    crawlable::RULES,
    robots::RULES,
    directives::RULES,
    canonical::RULES,
    canonical_target::RULES,
    head::RULES,
    hreflang::RULES,
    hreflang_return::RULES,
    sitemap::RULES,
    address::RULES,
    title::RULES,
    headings::RULES,
    language::RULES,
    amount::RULES,
    soft_404::RULES,
    links::RULES,
    anchors::RULES,
    link_targets::RULES,
    images::RULES,
    viewport::RULES,
    structured::RULES,
    social::RULES,
];

/// The rule of this name.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().flat_map(|it| it.iter()).find(|it| it.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_one_name_and_says_why_and_how() {
        let mut ids: Vec<_> = RULES.iter().flat_map(|it| it.iter()).map(|it| it.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
        for rule in RULES.iter().flat_map(|it| it.iter()) {
            for text in [rule.why, rule.how] {
                let is_sentence = text.ends_with('.') && text.starts_with(char::is_uppercase);
                assert!(is_sentence || text.starts_with('`'), "{}: {text}", rule.id);
                assert!(text.len() <= 320, "{}: {text}", rule.id);
            }
            assert!(rule.source.url.is_none_or(|it| it.starts_with("https://")), "{}", rule.id);
            assert!(
                rule.id
                    .bytes()
                    .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
            );
        }
    }
}
