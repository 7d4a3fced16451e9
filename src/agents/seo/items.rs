//! The things that a page describes for programs, from JSON-LD and microdata alike.
//!
//! A thing has types and properties; the value of a property is a text or another thing. Their
//! number is bounded, and nothing recurses over how they are nested.

use crate::agents::page::document::Document;
use crate::agents::page::tree::{NodeId, Span};
use crate::agents::seo::{json_ld, microdata};

/// Everything that a page describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// The things, each after the one that it belongs to.
    pub all: Vec<Item>,
    /// Blocks of JSON-LD that cannot be read.
    pub broken: Vec<Broken>,
    /// Blocks of JSON-LD in all.
    pub blocks: usize,
    /// Things of JSON-LD without a vocabulary or without a type.
    pub unnamed: Vec<Unnamed>,
}

/// A thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its types, without the vocabulary: `Product`.
    pub types: Vec<String>,
    /// Its properties; those without a value are left out.
    pub properties: Vec<(String, Value)>,
    /// The thing that it belongs to, and as what.
    pub owner: Option<(usize, String)>,
    /// The element that describes it.
    pub node: NodeId,
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text or a number.
    Text(String),
    /// Another thing, by its place in the list.
    Item(usize),
}

/// A block that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The element.
    pub node: NodeId,
    /// Where the mistake stands.
    pub span: Span,
    /// What it is, as a fragment.
    pub problem: String,
}

/// A thing that nobody can make sense of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unnamed {
    /// The element.
    pub node: NodeId,
    /// What is missing, as a fragment.
    pub problem: &'static str,
}

impl Items {
    /// Everything that a page describes.
    #[must_use]
    pub fn of(page: &Document) -> Self {
        let mut items = Self::default();
        json_ld::read(page, &mut items);
        microdata::read(page, &mut items);
        items
    }

    /// Adds a thing; its place, or none when there are too many.
    pub fn add(&mut self, item: Item) -> Option<usize> {
        if self.all.len() >= ITEMS_MAX {
            return None;
        }
        self.all.push(item);
        Some(self.all.len().saturating_sub(1))
    }

    /// Adds a property to a thing.
    pub fn set(&mut self, at: usize, name: &str, value: Value) {
        if let Some(item) = self.all.get_mut(at)
            && item.properties.len() < PROPERTIES_MAX
        {
            item.properties.push((name.to_owned(), value));
        }
    }

    /// The things of a property.
    pub fn inside<'a>(&'a self, item: &'a Item, name: &'a str) -> impl Iterator<Item = &'a Item> {
        item.values(name).filter_map(|it| match it {
            Value::Item(at) => self.all.get(*at),
            Value::Text(_) => None,
        })
    }
}

impl Item {
    /// A thing without properties yet.
    #[must_use]
    pub const fn new(types: Vec<String>, owner: Option<(usize, String)>, node: NodeId) -> Self {
        Self { types, properties: Vec::new(), owner, node }
    }

    /// The values of a property.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.properties.iter().filter(move |(it, _)| it == name).map(|(_, value)| value)
    }

    /// Whether it has a property with a value.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.values(name).next().is_some()
    }

    /// The first text of a property.
    #[must_use]
    pub fn text<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.values(name).find_map(|it| match it {
            Value::Text(text) => Some(text.as_str()),
            Value::Item(_) => None,
        })
    }

    /// Whether it is of a type.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.types.iter().any(|it| it == name)
    }
}

/// The name of a type without its vocabulary.
#[must_use]
pub fn plain_type(written: &str) -> String {
    let name = written.trim().rsplit(['/', '#', ':']).next().unwrap_or_default();
    name.chars().take(NAME_CHARS_MAX).collect()
}

/// Things of a page that are looked at.
const ITEMS_MAX: usize = 1_000;
/// Properties of a thing that are looked at.
const PROPERTIES_MAX: usize = 300;
/// Characters of the name of a type.
const NAME_CHARS_MAX: usize = 60;
