//! Reads the blocks of JSON-LD on a page.
//!
//! Only what search engines read of it: types, properties, nesting, `@graph`. Contexts are not
//! resolved, and nothing is fetched.

use serde_json::{Map, Value as Json};

use crate::agents::page::document::Document;
use crate::agents::page::tree::{Node, NodeId, NodeKind, Span};
use crate::agents::page::walk::Visit;
use crate::agents::seo::items::{Broken, Item, Items, Unnamed, Value, plain_type};

/// Reads all blocks of a page into `items`.
pub fn read(page: &Document, items: &mut Items) {
    let tree = &page.passed.tree;
    let entered = tree.walk(NodeId::DOCUMENT).filter_map(|it| match it {
        Visit::Enter(id) => Some(id),
        Visit::Leave(_) => None,
    });
    for id in entered.filter(|it| tree.node(*it).is_some_and(is_block)) {
        if items.blocks >= BLOCKS_MAX {
            break;
        }
        items.blocks = items.blocks.saturating_add(1);
        let parts = tree.children(id).filter_map(|it| match &tree.node(it)?.kind {
            NodeKind::Text(text) => Some(text.as_str()),
            NodeKind::Root | NodeKind::Element(..) => None,
        });
        let text: String = parts.collect();
        match parse(&text) {
            Ok(json) => add_all(json, id, items),
            Err((problem, at)) => items.broken.push(broken(page, id, problem, at)),
        }
    }
}

fn is_block(node: &Node) -> bool {
    let kind = node.attribute("type").unwrap_or_default().split(';').next().unwrap_or_default();
    node.name().is_some_and(|it| &*it.local == "script")
        && kind.trim().eq_ignore_ascii_case("application/ld+json")
}

/// The JSON of a block, or what is wrong with it and at which byte.
fn parse(text: &str) -> Result<Json, (String, usize)> {
    let plain = text.trim();
    if plain.is_empty() {
        return Err(("the block is empty".to_owned(), 0));
    }
    let start = text.len().saturating_sub(text.trim_start().len());
    if plain.starts_with("<!--") {
        return Err(("the block is inside a comment".to_owned(), start));
    }
    serde_json::from_str(text).map_err(|error| {
        let line = error.line().saturating_sub(1);
        let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let at = before.saturating_add(error.column().saturating_sub(1));
        let problem = error.to_string();
        let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
        (problem, at.min(text.len()))
    })
}

/// The place of a mistake in the source; the text of a script stands there as it is.
fn broken(page: &Document, node: NodeId, problem: String, at: usize) -> Broken {
    let tag = page.span(node).unwrap_or_default();
    let mut start = tag.end.saturating_add(at).min(page.decoded.text.len());
    while !page.decoded.text.is_char_boundary(start) {
        start = start.saturating_sub(1);
    }
    Broken { node, span: Span { start, end: start }, problem }
}

/// A piece of JSON that is still to be read: what it belongs to, and as what.
type Waiting = (Json, Option<(usize, String)>);

fn add_all(json: Json, node: NodeId, items: &mut Items) {
    for top in objects(json) {
        if let Some(problem) = unnamed(&top) {
            items.unnamed.push(Unnamed { node, problem });
        }
        let mut waiting: Vec<Waiting> = Vec::new();
        match top.get("@graph").cloned() {
            Some(graph) => waiting.extend(objects(graph).map(|it| (Json::Object(it), None))),
            None => waiting.push((Json::Object(top), None)),
        }
        waiting.reverse();
        while let Some((json, owner)) = waiting.pop() {
            add(json, owner, node, items, &mut waiting);
        }
    }
}

/// The objects at the top of a block.
fn objects(json: Json) -> impl Iterator<Item = Map<String, Json>> {
    let all = if let Json::Array(all) = json { all } else { vec![json] };
    all.into_iter().take(TOPS_MAX).filter_map(|it| match it {
        Json::Object(object) => Some(object),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
    })
}

/// Adds one value: a thing, several values, or a text; what is inside it waits.
fn add(
    json: Json,
    owner: Option<(usize, String)>,
    node: NodeId,
    items: &mut Items,
    waiting: &mut Vec<Waiting>,
) {
    let text = match json {
        Json::Object(object) => {
            if let (Some(literal), Some((at, name))) = (object.get("@value"), &owner) {
                items.set(*at, name, Value::Text(literal.to_string()));
                return;
            }
            let Some(at) = items.add(Item::new(types(&object), owner.clone(), node)) else {
                return;
            };
            if let Some((parent, name)) = owner {
                items.set(parent, &name, Value::Item(at));
            }
            for (name, value) in object.into_iter().filter(|(it, _)| !it.starts_with('@')) {
                waiting.push((value, Some((at, plain_type(&name)))));
            }
            return;
        }
        Json::Array(all) => {
            let all = all.into_iter().take(VALUES_MAX).rev();
            waiting.extend(all.map(|it| (it, owner.clone())));
            return;
        }
        Json::String(text) => text,
        Json::Number(number) => number.to_string(),
        Json::Bool(it) => it.to_string(),
        Json::Null => return,
    };
    if let Some((at, name)) = owner.filter(|_| !text.trim().is_empty()) {
        items.set(at, &name, Value::Text(text));
    }
}

fn types(object: &Map<String, Json>) -> Vec<String> {
    match object.get("@type") {
        Some(Json::String(one)) => vec![plain_type(one)],
        Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).map(plain_type).collect(),
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => Vec::new(),
    }
}

/// What is missing of an object at the top, so that it means something.
fn unnamed(object: &Map<String, Json>) -> Option<&'static str> {
    let context = object.get("@context").map(Json::to_string).unwrap_or_default();
    if !context.to_ascii_lowercase().contains("schema.org") {
        return Some("`@context` is not `https://schema.org`");
    }
    let has_type = !types(object).is_empty() || object.contains_key("@graph");
    (!has_type).then_some("`@type` is missing")
}

/// Blocks of a page that are read.
const BLOCKS_MAX: usize = 100;
/// Objects at the top of a block that are read.
const TOPS_MAX: usize = 200;
/// Values of a list that are read.
const VALUES_MAX: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::media::Kind;
    use crate::agents::parsers::Patience;

    fn items(json: &str) -> Items {
        let html = format!("<title>é</title><script type='Application/LD+json'>{json}</script>");
        let page = Document::read(html.as_bytes(), Some("utf-8"), Kind::Html, &Patience::endless());
        Items::of(&page)
    }

    #[test]
    fn things_are_listed_with_what_belongs_to_them() {
        let found = items(
            r#"[{"@context":"http://schema.org/","@graph":[{"@type":["Product","x:Thing"],
               "name":"Wheel","empty":"","offers":[{"@type":"Offer","price":149.5}]}]}]"#,
        );
        let product = &found.all[0];
        assert_eq!(product.types, ["Product", "Thing"]);
        assert!(product.has("name") && !product.has("empty") && product.owner.is_none());
        let offer = found.inside(product, "offers").next().unwrap();
        assert_eq!((offer.text("price"), offer.is("Offer")), (Some("149.5"), true));
        assert_eq!(offer.owner, Some((0, "offers".to_owned())));
        assert!(found.unnamed.is_empty() && found.broken.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_place() {
        let problem = |json: &str| items(json).broken[0].problem.clone();
        assert_eq!(problem(""), "the block is empty");
        assert_eq!(problem("<!-- {} -->"), "the block is inside a comment");
        assert_eq!(problem("{\"a\":1,}"), "trailing comma");
        let deep = items(&"[".repeat(100_000));
        assert_eq!(deep.broken[0].problem, "recursion limit exceeded");
        let json = "{\n\"é\": x}";
        let tag = "<title>é</title><script type='Application/LD+json'>";
        assert_eq!(items(json).broken[0].span.start, tag.len() + json.find('x').unwrap());
    }

    #[test]
    fn a_thing_needs_a_vocabulary_and_a_type() {
        let problem = |json: &str| items(json).unnamed.first().map(|it| it.problem);
        assert!(problem(r#"{"@type":"Product"}"#).unwrap().contains("@context"));
        assert!(problem(r#"{"@context":"https://schema.org"}"#).unwrap().contains("@type"));
        let vocabulary = r#"{"@context":{"@vocab":"https://schema.org/"},"@type":"Product"}"#;
        assert_eq!(problem(vocabulary), None);
    }

    #[test]
    fn endless_lists_are_cut_short() {
        let many = r#"{"@type":"Thing"},"#.repeat(5_000);
        let json = format!(r#"{{"@context":"https://schema.org","@graph":[{many}{{}}]}}"#);
        assert!(items(&json).all.len() <= 1_000);
    }
}
