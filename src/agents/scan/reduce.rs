//! Writes a page down without what is never looked at, so that later rules can read it again.
//!
//! Scripts, styles, pictures and most attributes go; structured data, links and text stay. What
//! is written reads to the same facts as the page itself.

use html5ever::{local_name, ns};

use crate::agents::page::elements::is_void;
use crate::agents::page::tree::{Node, NodeId, NodeKind, Tree};
use crate::agents::page::walk::Visit;

/// The page, reduced; nothing when it stays too large.
#[must_use]
pub fn reduce(tree: &Tree) -> String {
    let mut out = String::from("<!doctype html>");
    let mut walk = tree.walk(NodeId::DOCUMENT);
    while let Some(visit) = walk.next() {
        let (Visit::Enter(id) | Visit::Leave(id)) = visit;
        let Some(node) = tree.node(id) else { continue };
        match (&node.kind, visit) {
            (NodeKind::Text(text), Visit::Enter(_)) => push_text(&mut out, tree, id, text),
            (NodeKind::Element(name, _), Visit::Enter(_)) => {
                if name.ns != ns!(html) || is_dropped(node) {
                    walk.skip_inside();
                    continue;
                }
                push_tag(&mut out, node);
            }
            (NodeKind::Element(name, _), Visit::Leave(_)) => {
                if name.ns == ns!(html) && !is_dropped(node) && !is_void(&name.local) {
                    out.push_str("</");
                    out.push_str(&name.local);
                    out.push('>');
                }
            }
            (NodeKind::Text(_), Visit::Leave(_)) | (NodeKind::Root, _) => {}
        }
        if out.len() > SOURCE_BYTES_MAX {
            return String::new();
        }
    }
    out
}

fn is_dropped(node: &Node) -> bool {
    let Some(name) = node.html_name() else { return true };
    let is_data = node.attribute("type").is_some_and(|it| it.contains("ld+json"));
    match *name {
        local_name!("script") => !is_data && node.attribute("src").is_none(),
        local_name!("style")
        | local_name!("noscript")
        | local_name!("template")
        | local_name!("object")
        | local_name!("canvas")
        | local_name!("video")
        | local_name!("audio")
        | local_name!("textarea")
        | local_name!("plaintext")
        | local_name!("xmp")
        | local_name!("select") => true,
        _ => false,
    }
}

fn push_tag(out: &mut String, node: &Node) {
    let NodeKind::Element(name, attributes) = &node.kind else { return };
    out.push('<');
    out.push_str(&name.local);
    for attribute in attributes.iter().filter(|it| KEPT.contains(&&*it.name)) {
        if attribute.value.len() > VALUE_BYTES_MAX {
            continue;
        }
        out.push(' ');
        out.push_str(&attribute.name);
        out.push_str("=\"");
        for it in attribute.value.chars() {
            match it {
                '"' => out.push_str("&quot;"),
                '&' => out.push_str("&amp;"),
                _ => out.push(it),
            }
        }
        out.push('"');
    }
    out.push('>');
}

fn push_text(out: &mut String, tree: &Tree, id: NodeId, text: &str) {
    let parent = tree.parent(id).and_then(|it| tree.node(it)).and_then(Node::html_name);
    if parent.is_some_and(|it| matches!(*it, local_name!("script") | local_name!("iframe"))) {
        out.push_str(text);
        return;
    }
    if text.trim().is_empty() {
        out.push(' ');
        return;
    }
    for it in text.chars() {
        match it {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            _ => out.push(it),
        }
    }
}

/// Attributes that facts are read from.
const KEPT: [&str; 29] = [
    "id",
    "class",
    "href",
    "src",
    "rel",
    "name",
    "property",
    "content",
    "type",
    "lang",
    "xml:lang",
    "hreflang",
    "itemprop",
    "itemtype",
    "itemscope",
    "role",
    "aria-label",
    "aria-modal",
    "aria-expanded",
    "aria-controls",
    "aria-haspopup",
    "aria-hidden",
    "hidden",
    "style",
    "title",
    "datetime",
    "http-equiv",
    "charset",
    "colspan",
];
/// Bytes of an attribute's value.
const VALUE_BYTES_MAX: usize = 2_048;
/// Bytes of a page that is kept.
pub const SOURCE_BYTES_MAX: usize = 1024 * 1024;
