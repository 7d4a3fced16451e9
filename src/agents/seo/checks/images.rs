//! Images: can they be heard, found, and laid out before they arrive.

use crate::agents::page::document::Document;
use crate::agents::page::facts::{Image, ImageOrigin};
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rules about images.
pub const RULES: &[Rule] = &[
    Rule {
        id: "image-alt",
        name: "Texts for images",
        severity: Severity::Medium,
        group: Group::Images,
        source: sources::AXE_IMAGE,
        why: "People who do not see the image hear its text, and image search reads it.",
        how: "Describe the image in `alt`; leave `alt=\"\"` empty when it is decoration.",
        judge: Judge::Document(image_alt),
    },
    Rule {
        id: "image-size",
        name: "Sizes of images",
        severity: Severity::Low,
        group: Group::Images,
        source: sources::HTML_DIMENSIONS,
        why: "Without a size browsers keep no place free, and the page jumps when the image \
              arrives.",
        how: "Give `width` and `height`; the style sheet may still scale the image.",
        judge: Judge::Document(image_size),
    },
    Rule {
        id: "picture-img",
        name: "Pictures with an image",
        severity: Severity::Low,
        group: Group::Images,
        source: sources::HTML_PICTURE,
        why: "A `picture` shows its `img`, in one of the forms it offers. Without an `img` it \
              shows nothing.",
        how: "Add an `<img>` as the last element of the `<picture>`.",
        judge: Judge::Document(picture_img),
    },
    Rule {
        id: "image-src",
        name: "Images without scripts",
        severity: Severity::Low,
        group: Group::Images,
        source: sources::GOOGLE_LAZY,
        why: "The address stands where only a script finds it, so image search and readers without \
              scripts do not.",
        how: "Write the address into `src` and let the browser wait with `loading=\"lazy\"`.",
        judge: Judge::Document(image_src),
    },
];

fn visible(page: &Document) -> Vec<&Image> {
    page.facts.images.iter().filter(|it| !it.is_hidden).collect()
}

fn judge_images(
    page: &Document,
    one: &str,
    many: &str,
    is_wrong: impl Fn(&Image) -> bool,
) -> Judgement {
    let all = visible(page);
    if all.is_empty() {
        return Judgement::NotApplicable("there are no images");
    }
    let wrong: Vec<_> = all.iter().filter(|it| is_wrong(it)).collect();
    let title = match wrong.len() {
        0 => return Judgement::Pass,
        1 => one.to_owned(),
        count => format!("{count} {many}"),
    };
    let found = Found::new(title).of(wrong.len(), all.len(), "images");
    Judgement::Fail(found.at_each(&wrong, |it| at_tag(page, it.node)))
}

fn image_alt(_: &Subject, page: &Document) -> Judgement {
    judge_images(page, "An image has no text", "images have no text", |it| {
        let is_described = match it.alt.as_deref() {
            None => false,
            Some("") => true,
            Some(alt) => !alt.trim().is_empty(),
        };
        !is_described && !it.is_named
    })
}

fn image_size(_: &Subject, page: &Document) -> Judgement {
    judge_images(page, "An image has no size", "images have no size", |it| !it.has_size)
}

fn image_src(_: &Subject, page: &Document) -> Judgement {
    let one = "An image can only be found by a script";
    judge_images(page, one, "images can only be found by a script", |it| {
        it.origin == ImageOrigin::ScriptOnly
    })
}

fn picture_img(_: &Subject, page: &Document) -> Judgement {
    let empty = &page.facts.empty_pictures;
    let title = match empty.len() {
        0 if page.facts.images.is_empty() => {
            return Judgement::NotApplicable("there are no images");
        }
        0 => return Judgement::Pass,
        1 => "A picture shows nothing".to_owned(),
        count => format!("{count} pictures show nothing"),
    };
    Judgement::Fail(Found::new(title).at_each(empty, |it| at_tag(page, *it)))
}

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check(image: &str, id: &str, expected: &str) {
        Sample::html(format!("<!doctype html><body>{image}")).is(id, expected);
    }

    #[test]
    fn an_image_is_described_or_decoration() {
        check("", "image-alt", "na");
        check("<img src=a>", "image-alt", "medium");
        check("<img src=a alt=' '>", "image-alt", "medium");
        check("<img src=a alt=''>", "image-alt", "pass");
        check(
            "<img src=a title=x><img src=a role=none><img src=a aria-label=x>",
            "image-alt",
            "pass",
        );
        check("<div hidden><img src=a></div><img aria-hidden=true>", "image-alt", "na");
    }

    #[test]
    fn an_image_has_a_size_and_an_address() {
        check("<img src=a alt=x>", "image-size", "low");
        check("<img src=a width=1>", "image-size", "low");
        check("<img src=a width=1 height=2>", "image-size", "pass");
        check("<img src=a style='aspect-ratio: 2'>", "image-size", "pass");
        check("<img data-src=a>", "image-src", "low");
        check("<img src=b data-src=a>", "image-src", "pass");
        check("<picture><source srcset=a></picture>", "picture-img", "low");
        check("<picture><source srcset=a><img src=b></picture>", "picture-img", "pass");
    }
}
