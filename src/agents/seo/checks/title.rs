//! Title and description: what a result in a search engine shows.

use crate::agents::lists::is_generic_title;
use crate::agents::page::document::Document;
use crate::agents::page::facts::{Meta, Part, Title};
use crate::agents::page::text::{columns, is_mostly_wide, printable, squeeze};
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_element, at_tag};

/// The rules about title and description.
pub const RULES: &[Rule] = &[
    Rule {
        id: "document-title",
        name: "Title",
        severity: Severity::High,
        group: Group::Alone,
        source: sources::AXE_TITLE,
        why: "The title is the headline of a search result and the name of the tab. Without it \
              search engines make one up.",
        how: "Add `<title>` to the head, with a few words about what this page has and others do \
              not.",
        judge: Judge::Document(document_title),
    },
    Rule {
        id: "title-single",
        name: "One title",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::GOOGLE_TITLE,
        why: "Browsers take the first title; a second one is mostly a mistake of a template.",
        how: "Keep one `<title>`.",
        judge: Judge::Document(title_single),
    },
    Rule {
        id: "title-length",
        name: "Length of the title",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::OWN,
        why: "A very short title says little, and results cut off a long one. There is no fixed \
              limit; results show about 60 to 70 columns.",
        how: "Put what matters into the first 60 characters.",
        judge: Judge::Document(title_length),
    },
    Rule {
        id: "title-generic",
        name: "Title with a meaning",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::GOOGLE_TITLE,
        why: "The title does not say what the page is about, so nobody can choose it among other \
              results.",
        how: "Name the subject of this page, then the site.",
        judge: Judge::Document(title_generic),
    },
    Rule {
        id: "meta-description",
        name: "Description",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::LIGHTHOUSE_DESCRIPTION,
        why: "Search engines often show the description under the title. Without one they pick \
              sentences from the page.",
        how: "Add `<meta name=\"description\" content=\"…\">` to the head, with one or two \
              sentences about this page.",
        judge: Judge::Document(meta_description),
    },
    Rule {
        id: "description-single",
        name: "One description",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::GOOGLE_SNIPPET,
        why: "With several descriptions nobody knows which one is shown.",
        how: "Keep one description; a plugin and the template often both write one.",
        judge: Judge::Document(description_single),
    },
    Rule {
        id: "description-length",
        name: "Length of the description",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::OWN,
        why: "A very short description is rarely shown, and a long one is cut off. There is no \
              fixed limit.",
        how: "Write one or two full sentences, 40 to 200 characters.",
        judge: Judge::Document(description_length),
    },
    Rule {
        id: "description-duplicate",
        name: "Description of its own",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::GOOGLE_SNIPPET,
        why: "The description repeats what the result shows already, and gives no reason to choose \
              it.",
        how: "Say in the description what the title does not.",
        judge: Judge::Document(description_duplicate),
    },
];

fn document_title(_: &Subject, page: &Document) -> Judgement {
    if page.facts.title().is_some() {
        return Judgement::Pass;
    }
    let blank = &page.facts.titles;
    let title = if blank.is_empty() { "The page has no title" } else { "The title is empty" };
    Judgement::Fail(Found::new(title).at_each(blank, |it| at_element(page, it.node)))
}

fn title_single(_: &Subject, page: &Document) -> Judgement {
    let titles: Vec<&Title> = page.facts.titles.iter().filter(|it| it.part == Part::Head).collect();
    match titles.len() {
        0 => Judgement::NotApplicable("the head has no title"),
        1 => Judgement::Pass,
        count => {
            let found = Found::new(format!("The head has {count} titles"));
            Judgement::Fail(found.at_each(&titles, |it| at_element(page, it.node)))
        }
    }
}

fn title_length(_: &Subject, page: &Document) -> Judgement {
    let Some(title) = page.facts.title() else {
        return Judgement::NotApplicable("the page has no title");
    };
    let width = columns(&title.text);
    let text = if width < TITLE_COLUMNS.0 {
        format!("The title is only {width} columns wide")
    } else if width > TITLE_COLUMNS.1 {
        format!("The title is {width} columns wide; results show about {}", TITLE_COLUMNS.1)
    } else {
        return Judgement::Pass;
    };
    Judgement::Fail(Found::new(text).at([at_element(page, title.node)]))
}

fn title_generic(subject: &Subject, page: &Document) -> Judgement {
    let Some(title) = page.facts.title() else {
        return Judgement::NotApplicable("the page has no title");
    };
    let plain = title.text.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
    let host = subject.url().host_str().unwrap_or_default();
    let is_host = plain == host || Some(plain.as_str()) == host.strip_prefix("www.");
    if !is_host && !is_generic_title(&plain) {
        return Judgement::Pass;
    }
    let text =
        if is_host { "The title is the name of the host" } else { "The title names no subject" };
    Judgement::Fail(Found::new(text).at([at_element(page, title.node)]))
}

fn meta_description(_: &Subject, page: &Document) -> Judgement {
    match page.facts.description() {
        None => Judgement::Fail(Found::new("The page has no description")),
        Some(meta) if meta.content.trim().is_empty() => {
            Judgement::Fail(Found::new("The description is empty").at([at_tag(page, meta.node)]))
        }
        Some(_) => Judgement::Pass,
    }
}

fn description_single(_: &Subject, page: &Document) -> Judgement {
    let all: Vec<&Meta> = page.facts.metas_in_head("description").collect();
    match all.len() {
        0 => Judgement::NotApplicable("the page has no description"),
        1 => Judgement::Pass,
        count => {
            let found = Found::new(format!("The head has {count} descriptions"));
            Judgement::Fail(found.at_each(&all, |it| at_tag(page, it.node)))
        }
    }
}

fn description_length(_: &Subject, page: &Document) -> Judgement {
    let Some((meta, text)) = description(page) else {
        return Judgement::NotApplicable("the page has no description");
    };
    let width = columns(&text);
    // A character of Chinese or Japanese says as much as several letters.
    let least =
        if is_mostly_wide(&text) { WIDE_DESCRIPTION_COLUMNS_MIN } else { DESCRIPTION_COLUMNS.0 };
    let title = if width < least {
        format!("The description is only {width} columns wide")
    } else if width > DESCRIPTION_COLUMNS.1 {
        format!("The description is {width} columns wide")
    } else {
        return Judgement::Pass;
    };
    Judgement::Fail(Found::new(title).at([at_tag(page, meta.node)]))
}

fn description_duplicate(_: &Subject, page: &Document) -> Judgement {
    let Some((meta, text)) = description(page) else {
        return Judgement::NotApplicable("the page has no description");
    };
    let plain = |it: &str| printable(it).to_lowercase();
    let text = plain(&text);
    let title =
        page.facts.title().filter(|it| plain(&it.text) == text).map(|it| (it.node, "title"));
    let heading = page.facts.main_headings().find(|it| plain(&it.text) == text);
    let heading = heading.map(|it| (it.node, "main heading"));
    let Some((node, name)) = title.or(heading) else { return Judgement::Pass };
    let found = Found::new(format!("The description repeats the {name}"));
    Judgement::Fail(found.at([at_tag(page, meta.node), at_element(page, node)]))
}

/// The first description that is not blank, with its text.
fn description(page: &Document) -> Option<(&Meta, String)> {
    let meta = page.facts.description()?;
    let text = squeeze(&meta.content);
    (!text.is_empty()).then_some((meta, text))
}

/// Least and greatest width of a title, in columns.
pub const TITLE_COLUMNS: (usize, usize) = (10, 70);
/// Least and greatest width of a description, in columns.
pub const DESCRIPTION_COLUMNS: (usize, usize) = (40, 200);
/// Least width of a description in wide characters, in columns.
const WIDE_DESCRIPTION_COLUMNS_MIN: usize = 24;

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    fn titled(title: &str) -> Sample {
        Sample::html(format!("<!doctype html><head>{title}</head><body><h1>Tickets and hours</h1>"))
    }

    #[test]
    fn a_page_has_one_title_that_says_something() {
        titled("").is("document-title", "high");
        titled("<title> </title>").is("document-title", "high");
        titled("<title>x</title>").is("document-title", "pass");
        Sample::html("<!doctype html><svg><title>x</title></svg>").is("document-title", "high");
        titled("<title>a</title><title>b</title>").is("title-single", "low");
        titled("<title>Home</title>").is("title-generic", "medium");
        titled("<title>www.Example.com</title>").is("title-generic", "pass");
        titled("<title>Example.com</title>").is("title-generic", "medium");
        titled("<title>Locks &amp; weirs</title>").is("title-generic", "pass");
    }

    #[test]
    fn widths_are_counted_in_columns() {
        titled("<title>Tickets</title>").is("title-length", "low");
        titled("<title>水の博物館のご案内</title>").is("title-length", "pass");
        titled(&format!("<title>{}</title>", "x".repeat(71))).is("title-length", "low");
        titled(&format!("<title>{}</title>", "水".repeat(36))).is("title-length", "low");
    }

    fn described(content: &str) -> Sample {
        titled(&format!("<title>Tickets</title><meta name=Description content='{content}'>"))
    }

    #[test]
    fn a_page_has_one_description_of_its_own() {
        titled("").is("meta-description", "medium");
        described(" ").is("meta-description", "medium");
        described("x").is("meta-description", "pass");
        titled("<meta name=description><meta name=description content=x>")
            .is("meta-description", "medium");
        titled("<meta name=description><meta name=description content=x>")
            .is("description-single", "low");
        described("x").is("description-length", "low");
        described(&"x ".repeat(60)).is("description-length", "pass");
        described(&"x".repeat(201)).is("description-length", "low");
        described("水の博物館の開館時間と入場券").is("description-length", "pass");
        described("水の博物館").is("description-length", "low");
        described("tickets").is("description-duplicate", "low");
        described("Tickets  and hours").is("description-duplicate", "low");
        described("Something else").is("description-duplicate", "pass");
    }
}
