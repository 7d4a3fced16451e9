//! Reads microdata: `itemscope`, `itemtype` and `itemprop`, with vocabulary schema.org.
//!
//! `itemref` is not followed. Source: HTML standard, microdata.

use crate::agents::page::document::Document;
use crate::agents::page::text::squeeze;
use crate::agents::page::tree::{Node, NodeId, NodeKind, Tree};
use crate::agents::page::walk::Visit;
use crate::agents::seo::items::{Item, Items, Value, plain_type};

/// Reads all things of a page into `items`.
pub fn read(page: &Document, items: &mut Items) {
    let tree = &page.passed.tree;
    // The open things: the element, and the place when it is one that is looked at.
    let mut open: Vec<(NodeId, Option<usize>)> = Vec::new();
    for visit in tree.walk(NodeId::DOCUMENT) {
        match visit {
            Visit::Leave(id) => {
                let _ = open.pop_if(|(it, _)| *it == id);
            }
            Visit::Enter(id) => {
                let Some(node) = tree.node(id) else { continue };
                let owner = open.last().and_then(|(_, it)| *it);
                if node.attribute("itemscope").is_some() {
                    let at = add(node, id, owner, items);
                    open.push((id, at));
                } else if let (Some(owner), Some(names)) = (owner, node.attribute("itemprop")) {
                    let value = value(tree, id, node);
                    for name in names.split_whitespace().filter(|_| !value.is_empty()) {
                        items.set(owner, &plain_type(name), Value::Text(value.clone()));
                    }
                }
            }
        }
    }
}

/// Adds a thing that begins at an element; others than those of schema.org are not looked at.
fn add(node: &Node, id: NodeId, owner: Option<usize>, items: &mut Items) -> Option<usize> {
    let written = node.attribute("itemtype").unwrap_or_default();
    if !written.is_empty() && !written.to_ascii_lowercase().contains("schema.org") {
        return None;
    }
    let types = written.split_whitespace().map(plain_type).collect();
    let names = node.attribute("itemprop").unwrap_or_default();
    let first = names.split_whitespace().next().map(plain_type);
    let owner = owner.zip(first);
    let at = items.add(Item::new(types, owner.clone(), id))?;
    if let Some((owner, _)) = owner {
        for name in names.split_whitespace() {
            items.set(owner, &plain_type(name), Value::Item(at));
        }
    }
    Some(at)
}

/// The value of a property: an attribute for elements that have one, the text for others.
fn value(tree: &Tree, id: NodeId, node: &Node) -> String {
    let given = VALUES.iter().find_map(|it| node.attribute(it));
    if let Some(given) = given {
        return squeeze(given);
    }
    let mut text = String::new();
    for visit in tree.walk(id).take(STEPS_MAX) {
        let Visit::Enter(inner) = visit else { continue };
        if let Some(NodeKind::Text(part)) = tree.node(inner).map(|it| &it.kind)
            && text.len() < TEXT_BYTES_MAX
        {
            text.push_str(part);
        }
    }
    squeeze(&text)
}

/// Attributes that hold the value of a property, the first one that is there.
const VALUES: [&str; 6] = ["content", "href", "src", "data", "datetime", "value"];
/// Steps into an element whose text is a value.
const STEPS_MAX: usize = 200;
/// Bytes of a value before no more is added.
const TEXT_BYTES_MAX: usize = 2_048;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::media::Kind;
    use crate::agents::parsers::Patience;

    fn items(html: &str) -> Items {
        Items::of(&Document::read(html.as_bytes(), Some("utf-8"), Kind::Html, &Patience::endless()))
    }

    #[test]
    fn things_nest_and_have_values() {
        let found = items(
            "<div itemscope itemtype=https://schema.org/Product><b itemprop='name x'> A <i>wheel</i></b>\
             <div itemprop=offers itemscope itemtype=http://schema.org/Offer>\
             <meta itemprop=price content=12.5></div><a itemprop=url href=/x>no</a></div>\
             <p itemprop=name>outside</p>",
        );
        let product = &found.all[0];
        assert_eq!((product.text("name"), product.text("x")), (Some("A wheel"), Some("A wheel")));
        assert_eq!(product.text("url"), Some("/x"));
        let offer = found.inside(product, "offers").next().unwrap();
        assert_eq!((offer.text("price"), found.all.len()), (Some("12.5"), 2));
    }

    #[test]
    fn other_vocabularies_are_passed_over() {
        let found =
            items("<div itemscope itemtype=https://a.example/X><b itemprop=name>x</b></div>");
        assert!(found.all.is_empty());
    }
}
