//! What the names of elements say about nesting.

use html5ever::{LocalName, local_name};

/// Whether an element may hold others and so make a page deeper.
///
/// The ones that do not are empty, hold text only, or close their own kind.
#[must_use]
pub fn nests(name: &LocalName) -> bool {
    !is_void(name) && !is_flat(name)
}

/// Whether an element has no content and no closing tag.
#[must_use]
pub fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("hr")
            | local_name!("img")
            | local_name!("input")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

/// Whether authors leave out the closing tag, so that counting it would mislead.
#[must_use]
pub fn may_stay_open(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("p")
            | local_name!("li")
            | local_name!("dt")
            | local_name!("dd")
            | local_name!("option")
            | local_name!("optgroup")
            | local_name!("rb")
            | local_name!("rt")
            | local_name!("rp")
            | local_name!("tr")
            | local_name!("td")
            | local_name!("th")
            | local_name!("thead")
            | local_name!("tbody")
            | local_name!("tfoot")
    )
}

/// Whether an element may stand in the `head`. Source: HTML standard, section 4.2.1.
#[must_use]
pub fn is_metadata(name: &str) -> bool {
    ["title", "meta", "link", "script", "style", "base", "noscript", "template"].contains(&name)
}

fn is_flat(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("a")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
            | local_name!("script")
            | local_name!("style")
            | local_name!("title")
            | local_name!("textarea")
            | local_name!("noscript")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("xmp")
    )
}
