//! Does the page fit small screens, and may readers zoom.

use crate::agents::page::document::Document;
use crate::agents::page::facts::Meta;
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rules about the viewport.
pub const RULES: &[Rule] = &[
    Rule {
        id: "viewport",
        name: "Small screens",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::MDN_VIEWPORT,
        why: "Without it phones show the page as a tiny picture of the desktop. Google indexes \
              what phones see.",
        how: "Add `<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">` to \
              the head.",
        judge: Judge::Document(viewport),
    },
    Rule {
        id: "viewport-zoom",
        name: "Zooming",
        severity: Severity::Low,
        group: Group::Alone,
        source: sources::AXE_VIEWPORT,
        why: "People who see badly cannot enlarge the page.",
        how: "Remove `user-scalable=no` and `maximum-scale` from the viewport.",
        judge: Judge::Document(viewport_zoom),
    },
];

/// Browsers apply the last viewport, wherever it stands.
fn last(page: &Document) -> Option<&Meta> {
    page.facts.metas.iter().rev().find(|it| it.name == "viewport")
}

fn viewport(_: &Subject, page: &Document) -> Judgement {
    match last(page) {
        None => Judgement::Fail(Found::new("The page is not made for small screens")),
        Some(meta) if meta.content.trim().is_empty() => {
            Judgement::Fail(Found::new("The viewport is empty").at([at_tag(page, meta.node)]))
        }
        Some(_) => Judgement::Pass,
    }
}

fn viewport_zoom(_: &Subject, page: &Document) -> Judgement {
    let Some(meta) = last(page) else {
        return Judgement::NotApplicable("there is no viewport");
    };
    let content = meta.content.to_ascii_lowercase();
    let forbids =
        content.split([',', ';']).filter_map(|it| it.split_once('=')).any(|(name, value)| {
            let value = value.trim();
            match name.trim() {
                "user-scalable" => matches!(value, "no" | "0"),
                "maximum-scale" => value.parse::<f32>().is_ok_and(|it| it < ZOOM_MIN),
                _ => false,
            }
        });
    if !forbids {
        return Judgement::Pass;
    }
    Judgement::Fail(Found::new("Readers may not zoom").at([at_tag(page, meta.node)]))
}

/// The zoom that readers must have. Source: WCAG 2.2, 1.4.4.
const ZOOM_MIN: f32 = 2.0;

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check(content: Option<&str>, id: &str, expected: &str) {
        let meta = content.map(|it| format!("<meta name=viewport content='{it}'>"));
        Sample::html(format!("<!doctype html>{}<p>x", meta.unwrap_or_default())).is(id, expected);
    }

    #[test]
    fn a_page_fits_small_screens_and_can_be_enlarged() {
        check(None, "viewport", "medium");
        check(Some(""), "viewport", "medium");
        check(Some("width=device-width"), "viewport", "pass");
        check(None, "viewport-zoom", "na");
        check(Some("width=device-width, user-scalable=no"), "viewport-zoom", "low");
        check(Some("user-scalable = 0; width=300"), "viewport-zoom", "low");
        check(Some("maximum-scale=1.0"), "viewport-zoom", "low");
        check(Some("maximum-scale=5, user-scalable=yes"), "viewport-zoom", "pass");
    }
}
