//! A page that was read: its text, its tree, its facts, and the places of all of them.

use crate::agents::page::charset::{Decoded, decode};
use crate::agents::page::facts::Facts;
use crate::agents::page::gate::Passed;
use crate::agents::page::gather::gather;
use crate::agents::page::lines::{Lines, Place};
use crate::agents::page::media::Kind;
use crate::agents::page::parse::{Parsed, parse};
use crate::agents::page::text::{clip, printable};
use crate::agents::page::tree::{Node, NodeId, Span};
use crate::agents::parsers::Patience;

/// A page that was read.
#[derive(Debug)]
pub struct Document {
    /// Its text, and how it became text.
    pub decoded: Decoded,
    /// What the parser made of it.
    pub passed: Passed,
    /// The most attributes of one tag.
    pub attributes: usize,
    /// What it says.
    pub facts: Facts,
    kind: Kind,
    lines: Lines,
}

impl Document {
    /// Reads a page from its bytes; `label` is the encoding that the header names.
    ///
    /// Takes a while: this is work for a [`Parsers`](crate::agents::parsers::Parsers).
    #[must_use]
    pub fn read(bytes: &[u8], label: Option<&str>, kind: Kind, patience: &Patience) -> Self {
        Self::parse(decode(bytes, label, kind), kind, patience)
    }

    /// Reads a page from its text.
    #[must_use]
    pub fn parse(decoded: Decoded, kind: Kind, patience: &Patience) -> Self {
        let Parsed { passed, attributes } = parse(&decoded.text, kind, patience);
        let facts = gather(&passed.tree);
        let lines = Lines::of(&decoded.text);
        Self { decoded, passed, attributes, facts, kind, lines }
    }

    /// Whether it is XHTML.
    #[must_use]
    pub fn is_xml(&self) -> bool {
        self.kind == Kind::Xhtml
    }

    /// The line and column of a byte of the text.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        self.lines.place(&self.decoded.text, offset)
    }

    /// Where the start tag of a node stands; none for an element that was not written.
    #[must_use]
    pub fn span(&self, id: NodeId) -> Option<Span> {
        let node = self.node(id)?;
        let tag = self.decoded.text.as_bytes().get(node.span.start..)?.strip_prefix(b"<")?;
        let name = node.name()?.local.as_bytes();
        tag.get(..name.len())?.eq_ignore_ascii_case(name).then_some(node.span)
    }

    /// The source from `span` on, on one line, at most `chars` characters.
    #[must_use]
    pub fn excerpt(&self, span: Span, chars: usize) -> String {
        clip(&printable(self.source_from(span.start, chars)), chars)
    }

    /// The source of an element up to its closing tag, on one line, at most `chars` characters.
    #[must_use]
    pub fn element(&self, id: NodeId, chars: usize) -> Option<String> {
        let span = self.span(id)?;
        let closing = format!("</{}>", self.node(id)?.name()?.local);
        let source = self.source_from(span.start, chars);
        let end = source.find(&closing).map_or(source.len(), |it| it.saturating_add(closing.len()));
        Some(clip(&printable(source.get(..end)?), chars))
    }

    /// The source from a byte on, long enough for `chars` characters.
    fn source_from(&self, start: usize, chars: usize) -> &str {
        let text = &self.decoded.text;
        let mut end = start.saturating_add(chars.saturating_mul(4)).min(text.len());
        while !text.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        text.get(start..end).unwrap_or_default()
    }

    /// The start tag of a node as it stands in the source.
    #[must_use]
    pub fn tag(&self, id: NodeId, chars: usize) -> String {
        let span = self.span(id).unwrap_or_default();
        clip(&printable(self.decoded.text.get(span.start..span.end).unwrap_or_default()), chars)
    }

    /// A short path to an element, as a style sheet would name it: `main > p:nth-of-type(2) > a`.
    #[must_use]
    pub fn selector(&self, id: NodeId) -> String {
        let mut steps = Vec::new();
        let mut at = Some(id);
        while let Some(id) = at.filter(|_| steps.len() < STEPS_MAX) {
            let Some(name) = self.node(id).and_then(Node::name) else { break };
            let name = printable(&clip(&name.local, NAME_CHARS_MAX));
            let own_id = self.node(id).and_then(|it| it.attribute("id")).filter(|it| is_simple(it));
            if let Some(own_id) = own_id {
                steps.push(format!("{name}#{own_id}"));
                break;
            }
            steps.push(name + &self.position(id));
            at = self.passed.tree.parent(id);
        }
        // `html` and `body` say nothing when something else does.
        while steps.len() > 1 && steps.last().is_some_and(|it| it == "html" || it == "body") {
            steps.pop();
        }
        steps.reverse();
        steps.join(" > ")
    }

    /// `:nth-of-type(n)` when brothers of the same name come before.
    fn position(&self, id: NodeId) -> String {
        let tree = &self.passed.tree;
        let name = |it: NodeId| tree.node(it).and_then(Node::name);
        let mut count: usize = 1;
        let mut at = tree.previous(id);
        for _ in 0..BROTHERS_MAX {
            let Some(brother) = at else { break };
            if name(brother).is_some_and(|it| Some(it) == name(id)) {
                count = count.saturating_add(1);
            }
            at = tree.previous(brother);
        }
        if count > 1 && at.is_none() { format!(":nth-of-type({count})") } else { String::new() }
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        self.passed.tree.node(id)
    }
}

fn is_simple(id: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    (1..=NAME_CHARS_MAX).contains(&id.len())
        && id.starts_with(|it: char| it.is_ascii_alphabetic())
        && id.bytes().all(is_plain)
}

/// Elements in a path.
const STEPS_MAX: usize = 4;
/// Characters of a name or an id in a path.
const NAME_CHARS_MAX: usize = 40;
/// Brothers that are counted for a position.
const BROTHERS_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> Document {
        Document::read(html.as_bytes(), Some("utf-8"), Kind::Html, &Patience::endless())
    }

    #[track_caller]
    fn check_heading(html: &str, place: (u32, u32), excerpt: &str, selector: &str) {
        let page = read(html);
        let id = page.facts.headings.last().unwrap().node;
        let span = page.span(id).unwrap();
        let found = page.place(span.start);
        assert_eq!((found.line, found.column), place, "{html:?}");
        assert_eq!(page.element(id, 20).as_deref(), Some(excerpt));
        assert_eq!(page.selector(id), selector);
    }

    #[test]
    fn every_element_has_a_place_an_excerpt_and_a_path() {
        check_heading("<h1>x</h1>", (1, 1), "<h1>x</h1>", "h1");
        check_heading("\n é<h2\nid=top>x y z</h2>!", (2, 3), "<h2 id=top>x y z</h…", "h2#top");
        check_heading("<main><p><p><h2>a</h2><h2>b", (1, 23), "<h2>b", "main > h2:nth-of-type(2)");
        check_heading("<div id=a><div><h3>x", (1, 16), "<h3>x", "div#a > div > h3");
    }

    #[test]
    fn a_document_may_move_between_threads() {
        fn is_send<T: Send + Sync>() {}
        is_send::<Document>();
    }

    #[test]
    fn an_element_that_was_not_written_has_no_place() {
        let page = read("<p>x");
        assert_eq!(page.facts.html.and_then(|it| page.span(it)), None);
        assert_eq!(page.span(NodeId::DOCUMENT), None);
    }

    #[test]
    fn a_page_of_a_hundred_kilobytes_is_read_in_no_time() {
        let row = "<tr><td><a href='/boats/1' class=x>Boat</a><td>1 &amp; 2<td><img src=a alt=b>\n";
        let page = read(&format!("<table>{}", row.repeat(100_000 / row.len())));
        assert_eq!(page.facts.anchors.len(), page.facts.images.len());
        assert!(page.passed.stopped.is_none());
    }
}
