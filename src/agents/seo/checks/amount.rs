//! Is there something to read: thin pages, pages that only scripts fill.

use crate::agents::page::document::Document;
use crate::agents::seo::checks::soft_404;
use crate::agents::seo::content::Amount;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rules about how much there is.
pub const RULES: &[Rule] = &[
    Rule {
        id: "thin-content",
        name: "Enough to read",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::OWN,
        why: "With so little text search engines can hardly tell what the page is about. No number \
              of words is documented; short pages can be right.",
        how: "Say what a visitor wants to know here, or merge the page with a related one.",
        judge: Judge::Document(thin_content),
    },
    Rule {
        id: "js-shell",
        name: "Content without scripts",
        severity: Severity::High,
        group: Group::Alone,
        source: sources::GOOGLE_JAVASCRIPT,
        why: "Without scripts the page is empty. Google runs them, later and not always; many other \
              crawlers, previews in chats and AI crawlers do not.",
        how: "Let the server or the build write the content into the HTML. This audit does not run \
              scripts and has not seen what they show.",
        judge: Judge::Document(js_shell),
    },
];

fn thin_content(subject: &Subject, page: &Document) -> Judgement {
    if is_shell(subject, page) {
        return Judgement::NotApplicable("scripts fill the page");
    }
    if soft_404::looks_missing(subject, page).is_some() {
        return Judgement::NotApplicable("the page is an error message");
    }
    let size = subject.content.size;
    let (amount, unit, limits) = measure(size);
    if amount >= limits.1 {
        return Judgement::Pass;
    }
    let text = match amount {
        0 => "The page has no text".to_owned(),
        _ => format!("The main text has only {amount} {unit}"),
    };
    let body = measure(subject.content.body).0;
    let more = (body > amount).then(|| format!("with navigation and the like {body} {unit}"));
    let found = Found::new(text).at(more.map(|it| Evidence::value(Within::Page, it)));
    if amount < limits.0 { Judgement::Fail(found) } else { Judgement::Info(found) }
}

/// How much text there is, in which unit, and what is thin and short in it.
const fn measure(size: Amount) -> (usize, &'static str, (usize, usize)) {
    if size.is_unspaced() {
        (size.unspaced, "characters", THIN_CHARACTERS)
    } else {
        (size.words, "words", THIN_WORDS)
    }
}

fn js_shell(subject: &Subject, page: &Document) -> Judgement {
    if !is_shell(subject, page) {
        return Judgement::Pass;
    }
    let content = &subject.content;
    let root = content.shell.map(|it| at_tag(page, it).saying("empty until a script fills it"));
    let asking = page.facts.noscripts.iter().find(|(_, it)| asks_for_scripts(it));
    let asking = asking.map(|(node, _)| at_tag(page, *node).saying("asks to switch scripts on"));
    let scripts = format!("{} words in the body, {} scripts", content.body.words, content.scripts);
    let found = Found::new("Without scripts the page is empty");
    Judgement::Fail(found.at(root).at(asking).at([Evidence::value(Within::Page, scripts)]))
}

/// Whether there is next to nothing on the page, and a script that will bring it.
fn is_shell(subject: &Subject, page: &Document) -> bool {
    let content = &subject.content;
    let waits =
        content.shell.is_some() || page.facts.noscripts.iter().any(|(_, it)| asks_for_scripts(it));
    let is_empty = content.body.words < SHELL_WORDS && content.body.unspaced < SHELL_CHARACTERS;
    content.scripts > 0 && is_empty && waits
}

/// Whether a text for browsers without scripts asks for them; the word is the same everywhere.
fn asks_for_scripts(text: &str) -> bool {
    text.to_lowercase().contains("javascript")
}

/// Words below which a page is thin, and below which it is short.
const THIN_WORDS: (usize, usize) = (50, 150);
/// The same in characters of scripts without spaces.
const THIN_CHARACTERS: (usize, usize) = (50, 300);
/// Words in the body of a page that only scripts fill.
const SHELL_WORDS: usize = 25;
/// The same in characters of scripts without spaces.
const SHELL_CHARACTERS: usize = 50;

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    fn sample(body: &str) -> Sample {
        Sample::html(format!("<!doctype html><title>Tickets</title><body>{body}"))
    }

    #[test]
    fn thin_pages_are_told_from_short_ones() {
        sample("").is("thin-content", "medium");
        sample(&"word ".repeat(49)).is("thin-content", "medium");
        sample(&"word ".repeat(50)).is("thin-content", "info");
        sample(&"word ".repeat(150)).is("thin-content", "pass");
        sample(&"水".repeat(49)).is("thin-content", "medium");
        sample(&"水".repeat(60)).is("thin-content", "info");
        sample(&format!("<nav>{}</nav>", "word ".repeat(400))).is("thin-content", "medium");
    }

    #[test]
    fn a_page_that_only_scripts_fill_is_said_to_be_one() {
        let script = "<script src=/app.js></script>";
        sample(&format!("<div id=root></div>{script}")).is("js-shell", "high");
        sample(&format!("<div id=root></div>{script}")).is("thin-content", "na");
        let ask = "<noscript>Bitte JavaScript einschalten.</noscript>";
        sample(&format!("{ask}<div></div>{script}")).is("js-shell", "high");
        sample("<div id=root></div>").is("js-shell", "pass");
        sample(&format!("<div id=root>{}</div>{script}", "x ".repeat(30))).is("js-shell", "pass");
        sample(script).is("js-shell", "pass");
    }
}
