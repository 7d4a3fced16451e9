//! What a link to the page looks like elsewhere: previews in chats and networks, the icon.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::facts::{Meta, Part};
use crate::agents::page::text::quote;
use crate::agents::seo::around::TargetAnswer;
use crate::agents::seo::checks::canonical;
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rules about previews.
pub const RULES: &[Rule] = &[
    Rule {
        id: "social",
        name: "Preview in chats and networks",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::OPEN_GRAPH,
        why: "Networks and chats take title, image and text of a preview from these elements. \
              Search engines do not rank by them.",
        how: "Add `og:title`, `og:image` with a complete address, and `og:url` to the head.",
        judge: Judge::Document(social),
    },
    Rule {
        id: "favicon",
        name: "Icon",
        severity: Severity::Info,
        group: Group::Alone,
        source: sources::GOOGLE_FAVICON,
        why: "Results show a small icon beside the name of the site, and tabs do too.",
        how: "Add `<link rel=\"icon\" href=\"/favicon.ico\">` to the head.",
        judge: Judge::Document(favicon),
    },
];

/// The image of the preview, when its address is complete.
#[must_use]
pub fn image(subject: &Subject, page: &Document) -> Option<Url> {
    let content = property(page, "og:image")?.content.trim();
    let is_web = |it: &Url| matches!(it.scheme(), "http" | "https");
    Url::parse(content).ok().filter(|it| is_web(it) && it != subject.url())
}

/// Whether the head names an icon.
#[must_use]
pub fn names_icon(page: &Document) -> bool {
    let is_icon = |word: &str| ICON_RELS.contains(&word);
    let mut links = page.facts.links.iter().filter(|it| it.part == Part::Head && it.href.is_some());
    links.any(|it| it.rel.split(' ').any(is_icon))
}

/// The first `meta` in the head whose `property`, or for want of it `name`, is this one.
fn property<'a>(page: &'a Document, wanted: &str) -> Option<&'a Meta> {
    let named = |it: &&Meta| {
        let node = page.passed.tree.node(it.node);
        let property = node.and_then(|it| it.attribute("property")).map(str::trim);
        property.unwrap_or(&it.name).eq_ignore_ascii_case(wanted)
    };
    let metas = page.facts.metas.iter().filter(|it| it.part == Part::Head);
    metas.filter(named).find(|it| !it.content.trim().is_empty())
}

fn social(subject: &Subject, page: &Document) -> Judgement {
    let picture = property(page, "og:image");
    if let (Some(meta), Some((url, TargetAnswer::Answered(target)))) =
        (picture, &subject.fetched.around.image)
        && matches!(target.status, 400..=599)
    {
        let found = Found::new("The image of the preview is missing");
        let value = format!("{} answers with status {}", quote(url.as_str()), target.status);
        return Judgement::Fail(found.at([at_tag(page, meta.node).saying(value)]));
    }
    let mut evidence = Vec::new();
    let mut missing = Vec::new();
    for (name, other) in [("og:title", None), ("og:image", None), ("twitter:card", Some("og:type"))]
    {
        let is_there =
            [Some(name), other].into_iter().flatten().any(|it| property(page, it).is_some());
        if !is_there {
            missing.push(name);
        }
    }
    if let Some(meta) = picture
        && Url::parse(meta.content.trim()).is_err()
    {
        evidence.push(at_tag(page, meta.node).saying("the address is not complete"));
    }
    if let (Some(meta), Some(own)) = (property(page, "og:url"), canonical::address(subject, page))
        && subject.resolve(&meta.content).is_some_and(|it| it != own)
    {
        evidence.push(at_tag(page, meta.node).saying("it is not the canonical address"));
    }
    match (missing.as_slice(), evidence.is_empty()) {
        ([], true) => Judgement::Pass,
        ([], false) => Judgement::Info(Found::new("The preview is not quite right").at(evidence)),
        (missing, _) => {
            let names: Vec<_> = missing.iter().map(|it| format!("`{it}`")).collect();
            let text = format!("Previews lack {}", names.join(", "));
            Judgement::Info(Found::new(text).at(evidence))
        }
    }
}

fn favicon(subject: &Subject, page: &Document) -> Judgement {
    if names_icon(page) {
        return Judgement::Pass;
    }
    match &subject.fetched.around.icon {
        Some(TargetAnswer::Answered(target)) if target.status < 400 => Judgement::Pass,
        Some(TargetAnswer::Answered(_)) | None => {
            Judgement::Info(Found::new("The page has no icon"))
        }
        Some(TargetAnswer::Failed(_)) => Judgement::NotApplicable("the icon was not answered"),
        Some(TargetAnswer::NotAsked(why)) => Judgement::NotApplicable(why),
    }
}

/// Words in `rel` that name an icon.
const ICON_RELS: [&str; 4] =
    ["icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;
    use crate::agents::seo::target::Target;

    const WHOLE: &str = "<meta property=og:title content=x><meta property=og:image \
                         content=https://example.com/i.png><meta name=twitter:card content=summary>";

    fn answered(status: u16) -> TargetAnswer {
        TargetAnswer::Answered(Box::new(Target { status, ..Target::default() }))
    }

    #[test]
    fn a_preview_has_a_title_and_an_image_that_is_there() {
        Sample::head("").is("social", "info");
        Sample::head(WHOLE).is("social", "pass");
        Sample::head(&WHOLE.replace("https://example.com", "")).is("social", "info");
        let url = "<meta property=og:url content=/other><link rel=canonical \
                   href=https://example.com/page>";
        Sample::head(&format!("{WHOLE}{url}")).is("social", "info");
        for (status, expected) in [(200, "pass"), (404, "low"), (301, "pass")] {
            let mut sample = Sample::head(WHOLE);
            let url = Url::parse("https://example.com/i.png").unwrap();
            sample.0.around.image = Some((url, answered(status)));
            sample.is("social", expected);
        }
    }

    #[test]
    fn an_icon_is_named_or_at_its_usual_place() {
        Sample::head("<link rel='Shortcut Icon' href=/i.ico>").is("favicon", "pass");
        for (status, expected) in [(200, "pass"), (404, "info")] {
            let mut sample = Sample::head("");
            sample.0.around.icon = Some(answered(status));
            sample.is("favicon", expected);
        }
    }
}
