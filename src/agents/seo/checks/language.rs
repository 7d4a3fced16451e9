//! The language that the page says it is in.

use crate::agents::languages::{Tag, read};
use crate::agents::page::document::Document;
use crate::agents::page::text::quote;
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rule about the language.
pub const RULES: &[Rule] = &[Rule {
    id: "html-lang",
    name: "Language of the page",
    severity: Severity::Medium,
    group: Group::Alone,
    source: sources::AXE_LANG,
    why: "Screen readers choose the voice by it, browsers offer translations, and quotes and \
          hyphens depend on it.",
    how: "Write the language into the first tag, such as `<html lang=\"en\">`.",
    judge: Judge::Document(html_lang),
}];

fn html_lang(_: &Subject, page: &Document) -> Judgement {
    let lang = page.facts.lang.as_deref().map(str::trim).unwrap_or_default();
    let title = match read(lang) {
        Tag::Known => return Judgement::Pass,
        _ if lang.is_empty() => "The page does not say its language".to_owned(),
        Tag::Language => format!("{} is no language", quote(lang)),
        Tag::Script(word) => format!("{} names an unknown script, {}", quote(lang), quote(word)),
        Tag::Region(word) => format!("{} names an unknown country, {}", quote(lang), quote(word)),
    };
    let place = page.facts.html.filter(|it| page.span(*it).is_some());
    Judgement::Fail(Found::new(title).at(place.map(|it| at_tag(page, it))))
}

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check_lang(html: &str, expected: &str) {
        Sample::html(format!("<!doctype html>{html}<p>x")).is("html-lang", expected);
    }

    #[test]
    fn a_page_says_its_language() {
        check_lang("<html lang=en>", "pass");
        check_lang("<html lang='pt-BR'>", "pass");
        check_lang("<html xml:lang=de>", "pass");
        check_lang("<html>", "medium");
        check_lang("", "medium");
        check_lang("<html lang=''>", "medium");
        check_lang("<html lang=english>", "medium");
        check_lang("<html lang=en_US>", "medium");
        check_lang("<html lang=en-UK>", "medium");
    }
}
