//! What a page says, taken out of its tree: plain lists in the order of the source.
//!
//! No judgement here. Texts are as a reader sees them, white space collapsed and endless ones
//! cut; attribute values are as written.

use crate::agents::page::style::is_sized;
use crate::agents::page::tree::{Node, NodeId};

/// The facts of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The `html` element, also when it was not written.
    pub html: Option<NodeId>,
    /// Its `lang`, or for want of it its `xml:lang`.
    pub lang: Option<String>,
    /// The address that relative ones are relative to: the first `base`.
    pub base: Option<String>,
    /// The `title` elements of HTML.
    pub titles: Vec<Title>,
    /// The `meta` elements.
    pub metas: Vec<Meta>,
    /// The `link` elements.
    pub links: Vec<Link>,
    /// `h1` to `h6`.
    pub headings: Vec<Heading>,
    /// The `a` elements.
    pub anchors: Vec<Anchor>,
    /// The `img` elements.
    pub images: Vec<Image>,
    /// The `picture` elements that hold no `img`.
    pub empty_pictures: Vec<NodeId>,
    /// The contents of `noscript` elements, with their tags.
    pub noscripts: Vec<(NodeId, String)>,
    /// How much text there is.
    pub text: TextSize,
}

/// The part of a page where an element stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// In the `head`, where metadata counts.
    #[default]
    Head,
    /// In the `body`.
    Body,
}

/// A `title` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// The element.
    pub node: NodeId,
    /// Where it stands.
    pub part: Part,
    /// Its text.
    pub text: String,
}

/// A `meta` element; a missing attribute is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The element.
    pub node: NodeId,
    /// Where it stands.
    pub part: Part,
    /// Its `name`, lower case and trimmed.
    pub name: String,
    /// Its `http-equiv`, lower case and trimmed.
    pub pragma: String,
    /// Its `content`.
    pub content: String,
}

/// A `link` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The element.
    pub node: NodeId,
    /// Where it stands.
    pub part: Part,
    /// Its `rel`, lower case, words parted by single spaces.
    pub rel: String,
    /// Its `href`.
    pub href: Option<String>,
    /// Its `hreflang`.
    pub hreflang: Option<String>,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The element.
    pub node: NodeId,
    /// 1 to 6.
    pub level: u8,
    /// Its text, alternative texts of images included.
    pub text: String,
    /// Whether markup hides it from readers.
    pub is_hidden: bool,
}

/// An `a` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The element.
    pub node: NodeId,
    /// Its `href`.
    pub href: Option<String>,
    /// Its text, without alternative texts.
    pub text: String,
    /// A name that is not text: `aria-label`, `title`, the alternative text of an image inside.
    pub label: String,
    /// Its `rel`, lower case.
    pub rel: String,
    /// The language around it: the nearest `lang`, lower case.
    pub lang: Option<String>,
    /// Whether it has a `role`.
    pub has_role: bool,
    /// Whether it has an `id` or a `name`, so that it may be a place to jump to.
    pub is_place: bool,
    /// Whether it has an `onclick`.
    pub has_handler: bool,
    /// Whether markup hides it from readers.
    pub is_hidden: bool,
}

/// An `img` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The element.
    pub node: NodeId,
    /// Its `alt`.
    pub alt: Option<String>,
    /// Whether another attribute names it, or a role says that it is decoration.
    pub is_named: bool,
    /// Where the picture comes from.
    pub origin: ImageOrigin,
    /// Whether width and height are given.
    pub has_size: bool,
    /// Whether markup hides it from readers.
    pub is_hidden: bool,
}

/// Where the picture of an `img` comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageOrigin {
    /// `src` or `srcset`.
    Attribute,
    /// Only an attribute such as `data-src`, which a script reads.
    ScriptOnly,
    /// Nowhere.
    None,
}

/// How much text a page has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextSize {
    /// Words between white space in the body, hidden ones left out.
    pub words: usize,
    /// Bytes of text in the body that is not in a link.
    pub prose_bytes: usize,
}

impl Meta {
    /// Reads a `meta` element.
    #[must_use]
    pub fn of(id: NodeId, node: &Node, part: Part) -> Self {
        let word = |name| node.attribute(name).unwrap_or_default().trim().to_ascii_lowercase();
        let (name, pragma) = (word("name"), word("http-equiv"));
        let content = node.attribute("content").unwrap_or_default().to_owned();
        Self { node: id, part, name, pragma, content }
    }
}

impl Link {
    /// Reads a `link` element.
    #[must_use]
    pub fn of(id: NodeId, node: &Node, part: Part) -> Self {
        let words = node.attribute("rel").unwrap_or_default().to_ascii_lowercase();
        let rel = words.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let [href, hreflang] = ["href", "hreflang"].map(|it| node.attribute(it).map(str::to_owned));
        Self { node: id, part, rel, href, hreflang }
    }

    /// Whether `rel` contains `word`.
    #[must_use]
    pub fn is(&self, word: &str) -> bool {
        self.rel.split(' ').any(|it| it == word)
    }
}

impl Anchor {
    /// Reads the tag of an `a` element; the text inside is still to come.
    #[must_use]
    pub fn of(id: NodeId, node: &Node, lang: Option<String>, is_hidden: bool) -> Self {
        let value = |name| node.attribute(name).unwrap_or_default().trim();
        let labels = [value("aria-label"), value("title"), value("aria-labelledby")];
        Self {
            node: id,
            href: node.attribute("href").map(str::to_owned),
            text: String::new(),
            label: labels.into_iter().find(|it| !it.is_empty()).unwrap_or_default().to_owned(),
            rel: value("rel").to_ascii_lowercase(),
            lang,
            has_role: !value("role").is_empty(),
            is_place: !value("id").is_empty() || !value("name").is_empty(),
            has_handler: node.attribute("onclick").is_some(),
            is_hidden,
        }
    }

    /// Whether `rel` contains `word`.
    #[must_use]
    pub fn has_rel(&self, word: &str) -> bool {
        self.rel.split_ascii_whitespace().any(|it| it == word)
    }
}

impl Image {
    /// Reads an `img` element.
    #[must_use]
    pub fn of(id: NodeId, node: &Node, is_hidden: bool) -> Self {
        let has = |name: &str| node.attribute(name).is_some_and(|it| !it.trim().is_empty());
        let role = node.attribute("role").unwrap_or_default();
        let is_decoration = matches!(role, "presentation" | "none");
        let origin = if has("src") || has("srcset") {
            ImageOrigin::Attribute
        } else if SCRIPT_SOURCES.into_iter().any(has) {
            ImageOrigin::ScriptOnly
        } else {
            ImageOrigin::None
        };
        Self {
            node: id,
            alt: node.attribute("alt").map(str::to_owned),
            is_named: is_decoration || NAMES.into_iter().any(has),
            origin,
            has_size: (has("width") && has("height")) || is_sized(node.attribute("style")),
            is_hidden,
        }
    }
}

impl Facts {
    /// The `meta` elements of this name that stand in the head.
    pub fn metas_in_head<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Meta> {
        self.metas.iter().filter(move |it| it.part == Part::Head && it.name == name)
    }

    /// The first title that is not blank, wherever it stands, as browsers take it.
    #[must_use]
    pub fn title(&self) -> Option<&Title> {
        self.titles.iter().find(|it| !it.text.is_empty())
    }

    /// The first description in the head.
    #[must_use]
    pub fn description(&self) -> Option<&Meta> {
        self.metas_in_head("description").next()
    }

    /// The visible headings of the first level that are not blank.
    pub fn main_headings(&self) -> impl Iterator<Item = &Heading> {
        self.headings.iter().filter(|it| it.level == 1 && !it.is_hidden && !it.text.is_empty())
    }
}

/// Attributes that name an image besides `alt`.
const NAMES: [&str; 3] = ["aria-label", "aria-labelledby", "title"];
/// Attributes from which scripts take the address of an image.
const SCRIPT_SOURCES: [&str; 4] = ["data-src", "data-srcset", "data-lazy-src", "data-original"];
