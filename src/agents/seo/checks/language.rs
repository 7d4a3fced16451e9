//! The language that the page says it is in, and the one that its text is in.

use crate::agents::languages::{Tag, read};
use crate::agents::page::document::Document;
use crate::agents::page::text::quote;
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rules about the language.
pub const RULES: &[Rule] = &[
    Rule {
        id: "html-lang",
        name: "Language of the page",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::AXE_LANG,
        why: "Screen readers choose the voice by it, browsers offer translations, and quotes and \
              hyphens depend on it.",
        how: "Write the language into the first tag, such as `<html lang=\"en\">`.",
        judge: Judge::Document(html_lang),
    },
    Rule {
        id: "lang-mismatch",
        name: "Language of the text",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::OWN,
        why: "The text is in another language than the page says, so it is read out wrongly and \
              offered for translation to those who can read it.",
        how: "Correct the `lang` of the first tag, or mark the foreign part with a `lang` of its \
              own.",
        judge: Judge::Document(lang_mismatch),
    },
];

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

fn lang_mismatch(subject: &Subject, page: &Document) -> Judgement {
    let lang = page.facts.lang.as_deref().map(str::trim).unwrap_or_default();
    if read(lang) == Tag::Language {
        return Judgement::NotApplicable("the page does not say its language");
    }
    let text = &subject.content.text;
    let end = text.char_indices().nth(DETECTED_CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let text = text.get(..end).unwrap_or_default();
    if text.chars().count() < DETECTED_CHARS_MIN {
        return Judgement::NotApplicable("there is too little text to tell its language");
    }
    let Some(found) = detect(text) else {
        return Judgement::NotApplicable("the language of the text is not certain");
    };
    let said = lang.split('-').next().unwrap_or_default().to_ascii_lowercase();
    if said == found || alias(&said) == found {
        return Judgement::Pass;
    }
    let is_rare = said.len() == 3 && two_letters(&said).is_none();
    if is_rare || COUSINS.contains(&said.as_str()) {
        return Judgement::NotApplicable("its language is taken for a related one");
    }
    let title = format!("The page says it is in {} and is in `{found}`", quote(&said));
    let place = page.facts.html.filter(|it| page.span(*it).is_some());
    Judgement::Fail(Found::new(title).at(place.map(|it| at_tag(page, it))))
}

/// The language of a text by its two letters, when two independent ways agree on it.
fn detect(text: &str) -> Option<&'static str> {
    let one = whatlang::detect(text).filter(whatlang::Info::is_reliable)?;
    let other = whichlang::detect_language(text).three_letter_code();
    let code = one.lang().code();
    (code == other).then_some(code).and_then(two_letters)
}

fn two_letters(code: &str) -> Option<&'static str> {
    DETECTED.iter().find(|(long, _)| *long == code).map(|(_, short)| *short)
}

/// The code that stands for the same language, when a page uses its long or an older one.
fn alias(code: &str) -> &str {
    two_letters(code).unwrap_or(code)
}

/// Characters of a text whose language can be told.
const DETECTED_CHARS_MIN: usize = 200;
/// Characters of a text that are enough.
const DETECTED_CHARS_MAX: usize = 4_000;
/// Languages that are taken for a larger relative, because nobody has taught them.
const COUSINS: [&str; 14] =
    ["an", "br", "co", "fo", "fy", "gd", "gl", "ht", "lb", "li", "oc", "rm", "sc", "wa"];
/// The languages that both ways know.
const DETECTED: [(&str, &str); 16] = [
    ("ara", "ar"),
    ("cmn", "zh"),
    ("deu", "de"),
    ("eng", "en"),
    ("fra", "fr"),
    ("hin", "hi"),
    ("ita", "it"),
    ("jpn", "ja"),
    ("kor", "ko"),
    ("nld", "nl"),
    ("por", "pt"),
    ("rus", "ru"),
    ("spa", "es"),
    ("swe", "sv"),
    ("tur", "tr"),
    ("vie", "vi"),
];

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

    #[test]
    fn the_text_is_in_the_language_that_the_page_says() {
        let german = "Das Pumpwerk am Bach wurde nach dem Hochwasser neu gebaut und bewegt heute \
                      vierzig Liter Wasser in der Sekunde durch zwei eiserne Räder. Besucher gehen \
                      den Treidelpfad von der unteren Schleuse bis zur Mühle, wo ihnen jemand zeigt, \
                      wie die Tore jeden Morgen von Hand gehoben werden.";
        let check = |lang: &str, text: &str, expected: &str| {
            let html = format!("<!doctype html><html lang={lang}><body><main>{text}</main>");
            Sample::html(html).is("lang-mismatch", expected);
        };
        check("de-AT", german, "pass");
        check("deu", german, "pass");
        check("en", german, "medium");
        check("en", "Das Pumpwerk am Bach", "na");
        check("x-klingon", german, "na");
        check("lb", german, "na");
        check("gsw", german, "na");
    }
}
