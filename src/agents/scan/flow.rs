//! Which elements stand on lines of their own, which say nothing, and which are headings.

use html5ever::{LocalName, local_name};

/// The level of a heading.
#[must_use]
pub fn level(name: &LocalName) -> Option<u8> {
    match *name {
        local_name!("h1") => Some(1),
        local_name!("h2") => Some(2),
        local_name!("h3") => Some(3),
        local_name!("h4") => Some(4),
        local_name!("h5") => Some(5),
        local_name!("h6") => Some(6),
        _ => None,
    }
}

/// Whether the inside of an element is not text for readers, or changes by itself.
#[must_use]
pub fn is_silent(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("style")
            | local_name!("noscript")
            | local_name!("template")
            | local_name!("noframes")
            | local_name!("object")
            | local_name!("canvas")
            | local_name!("video")
            | local_name!("audio")
            | local_name!("textarea")
            | local_name!("select")
            | local_name!("dialog")
            | local_name!("title")
            | local_name!("time")
            | local_name!("blockquote")
            | local_name!("del")
            | local_name!("s")
            | local_name!("strike")
    )
}

/// Whether an element is part of the line it stands in.
#[must_use]
pub fn is_inline(name: &LocalName) -> bool {
    INLINE.contains(&&**name)
}

/// Elements that do not begin a line of their own. Source: HTML standard, section 15.3.
const INLINE: [&str; 44] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "button", "cite", "code", "data",
    "dfn", "em", "font", "i", "img", "input", "ins", "kbd", "label", "map", "mark", "meter",
    "nobr", "output", "picture", "progress", "q", "rp", "rt", "ruby", "samp", "slot", "small",
    "source", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
];
