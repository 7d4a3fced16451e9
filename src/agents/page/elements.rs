//! What the names of elements say about nesting.

/// Whether an element may hold others and so make a page deeper.
///
/// The ones that do not are empty, hold text only, or close their own kind.
#[must_use]
pub fn nests(name: &str) -> bool {
    !is_void(name) && !FLAT.contains(&name)
}

/// Whether an element has no content and no closing tag.
#[must_use]
pub fn is_void(name: &str) -> bool {
    VOID.contains(&name)
}

/// Whether authors leave out the closing tag, so that counting it would mislead.
#[must_use]
pub fn may_stay_open(name: &str) -> bool {
    STAYING_OPEN.contains(&name)
}

/// Whether an element may stand in the `head`. Source: HTML standard, section 4.2.1.
#[must_use]
pub fn is_metadata(name: &str) -> bool {
    METADATA.contains(&name)
}

const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];
const FLAT: [&str; 16] = [
    "a", "h1", "h2", "h3", "h4", "h5", "h6", "script", "style", "title", "textarea", "noscript",
    "iframe", "noembed", "noframes", "xmp",
];
const STAYING_OPEN: [&str; 15] = [
    "p", "li", "dt", "dd", "option", "optgroup", "rb", "rt", "rp", "tr", "td", "th", "thead",
    "tbody", "tfoot",
];
const METADATA: [&str; 8] =
    ["title", "meta", "link", "script", "style", "base", "noscript", "template"];
