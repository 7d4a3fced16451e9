//! A parsed page as an arena: nodes in one list, linked by numbers.
//!
//! Numbers instead of owners, so that nothing recurses: not to walk the tree, not to drop it.
//! Comments and the content of `template` are not kept.

use html5ever::{LocalName, QualName, ns};

use crate::agents::page::walk::Walk;

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// Where a start tag stands in the source: byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// A node.
#[derive(Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where the tag stands that made it.
    pub span: Span,
    /// How many elements it is inside of, when it was put there.
    pub depth: u32,
    parent: Option<NodeId>,
    previous: Option<NodeId>,
    next: Option<NodeId>,
    first: Option<NodeId>,
    last: Option<NodeId>,
}

/// What a node is.
#[derive(Debug)]
pub enum NodeKind {
    /// The document, or something that is not kept.
    Root,
    /// An element with its attributes.
    Element(QualName, Box<[Attribute]>),
    /// Text.
    Text(String),
}

/// An attribute of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name, lower case, without namespace.
    pub name: LocalName,
    /// Its value.
    pub value: Box<str>,
}

/// All nodes of a page.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl NodeId {
    /// The document.
    pub const DOCUMENT: Self = Self(0);
    /// The place for everything that is not kept.
    pub const NOWHERE: Self = Self(1);
}

impl Default for Tree {
    fn default() -> Self {
        let root = || Node::new(NodeKind::Root, Span::default());
        Self { nodes: vec![root(), root()] }
    }
}

impl Node {
    const fn new(kind: NodeKind, span: Span) -> Self {
        let (parent, previous, next, first, last) = (None, None, None, None, None);
        Self { kind, span, depth: 0, parent, previous, next, first, last }
    }

    /// The name of an HTML element.
    #[must_use]
    pub fn html_name(&self) -> Option<&LocalName> {
        match &self.kind {
            NodeKind::Element(name, _) if name.ns == ns!(html) => Some(&name.local),
            NodeKind::Element(..) | NodeKind::Root | NodeKind::Text(_) => None,
        }
    }

    /// The name of an element of any kind.
    #[must_use]
    pub const fn name(&self) -> Option<&QualName> {
        match &self.kind {
            NodeKind::Element(name, _) => Some(name),
            NodeKind::Root | NodeKind::Text(_) => None,
        }
    }

    /// The value of an attribute; its name in lower case.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        match &self.kind {
            NodeKind::Element(_, attributes) => {
                attributes.iter().find(|it| *it.name == *name).map(|it| &*it.value)
            }
            NodeKind::Root | NodeKind::Text(_) => None,
        }
    }
}

impl Tree {
    /// The node of this number.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// The number of nodes, the document and the place for the rest included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing but the document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.node(NodeId::DOCUMENT).is_none_or(|it| it.first.is_none())
    }

    /// The node that holds this one.
    #[must_use]
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.parent
    }

    /// The node before this one in the same parent.
    #[must_use]
    pub fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.previous
    }

    /// The node after this one in the same parent.
    #[must_use]
    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.next
    }

    /// The first node inside this one.
    #[must_use]
    pub fn first(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.first
    }

    /// The nodes directly inside this one, in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.first(id), |it| self.next(*it))
    }

    /// All nodes inside `root` in the order of the source, each entered and left.
    ///
    /// The caller may ask to skip what is inside the node just entered.
    #[must_use]
    pub const fn walk(&self, root: NodeId) -> Walk<'_> {
        Walk::new(self, root)
    }

    /// Adds a node that is not yet anywhere.
    pub fn create(&mut self, kind: NodeKind, span: Span) -> NodeId {
        // The parser stops long before there are 2^32 nodes.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(NodeId::NOWHERE.0));
        self.nodes.push(Node::new(kind, span));
        id
    }

    /// Puts `child` at the end of `parent`.
    pub fn append(&mut self, parent: NodeId, child: NodeId) {
        self.detach(child);
        let last = self.node(parent).and_then(|it| it.last);
        self.link(parent, last, child, None);
    }

    /// Puts `child` before `sibling`, when that is somewhere.
    pub fn insert_before(&mut self, sibling: NodeId, child: NodeId) {
        self.detach(child);
        let found = self.node(sibling).and_then(|it| Some((it.parent?, it.previous)));
        if let Some((parent, previous)) = found {
            self.link(parent, previous, child, Some(sibling));
        }
    }

    /// Adds text at the end of `parent`, to the text that is there already if there is one.
    pub fn append_text(&mut self, parent: NodeId, text: &str) {
        let last = self.node(parent).and_then(|it| it.last);
        if !self.extend_text(last, text) {
            let id = self.create(NodeKind::Text(text.to_owned()), Span::default());
            self.append(parent, id);
        }
    }

    /// Adds text before `sibling`.
    pub fn insert_text_before(&mut self, sibling: NodeId, text: &str) {
        let previous = self.node(sibling).and_then(|it| it.previous);
        if !self.extend_text(previous, text) {
            let id = self.create(NodeKind::Text(text.to_owned()), Span::default());
            self.insert_before(sibling, id);
        }
    }

    /// Takes a node out of its parent, with all that is inside it.
    pub fn detach(&mut self, id: NodeId) {
        let Some((parent, previous, next)) =
            self.node(id).and_then(|it| Some((it.parent?, it.previous, it.next)))
        else {
            return;
        };
        match previous {
            Some(it) => self.change(it, |node| node.next = next),
            None => self.change(parent, |node| node.first = next),
        }
        match next {
            Some(it) => self.change(it, |node| node.previous = previous),
            None => self.change(parent, |node| node.last = previous),
        }
        self.change(id, |node| (node.parent, node.previous, node.next) = (None, None, None));
    }

    /// Moves everything inside `from` to the end of `to`.
    pub fn move_children(&mut self, from: NodeId, to: NodeId) {
        let children: Vec<_> = self.children(from).collect();
        for child in children {
            self.append(to, child);
        }
    }

    /// Adds the attributes that an element does not have yet.
    pub fn add_attributes(&mut self, id: NodeId, more: Vec<Attribute>) {
        self.change(id, |node| {
            if let NodeKind::Element(_, attributes) = &mut node.kind {
                let mut all = std::mem::take(attributes).into_vec();
                let is_new = |it: &Attribute| all.iter().all(|other| other.name != it.name);
                let new: Vec<_> = more.into_iter().filter(is_new).collect();
                all.extend(new);
                *attributes = all.into();
            }
        });
    }

    fn extend_text(&mut self, id: Option<NodeId>, more: &str) -> bool {
        let node = id.and_then(|it| self.nodes.get_mut(it.0 as usize));
        match node.map(|it| &mut it.kind) {
            Some(NodeKind::Text(text)) => {
                text.push_str(more);
                true
            }
            Some(NodeKind::Root | NodeKind::Element(..)) | None => false,
        }
    }

    fn link(&mut self, parent: NodeId, previous: Option<NodeId>, id: NodeId, next: Option<NodeId>) {
        let depth = self.node(parent).map_or(0, |it| it.depth.saturating_add(1));
        match previous {
            Some(it) => self.change(it, |node| node.next = Some(id)),
            None => self.change(parent, |node| node.first = Some(id)),
        }
        match next {
            Some(it) => self.change(it, |node| node.previous = Some(id)),
            None => self.change(parent, |node| node.last = Some(id)),
        }
        self.change(id, |node| {
            (node.parent, node.previous, node.next) = (Some(parent), previous, next);
            node.depth = depth;
        });
    }

    fn change(&mut self, id: NodeId, with: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(id.0 as usize) {
            with(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::agents::page::walk::Visit;

    fn element(tree: &mut Tree, name: &str) -> NodeId {
        let name = QualName::new(None, ns!(html), LocalName::from(name));
        tree.create(NodeKind::Element(name, Box::default()), Span::default())
    }

    /// The tree as text: `a(b,c)`.
    fn shown(tree: &Tree) -> String {
        let mut out = String::new();
        for visit in tree.walk(NodeId::DOCUMENT) {
            match visit {
                Visit::Enter(id) => {
                    out.push(' ');
                    match &tree.node(id).unwrap().kind {
                        NodeKind::Element(name, _) => out.push_str(&name.local),
                        NodeKind::Text(text) => out.push_str(text),
                        NodeKind::Root => out.push('?'),
                    }
                }
                Visit::Leave(_) => out.push(';'),
            }
        }
        out
    }

    #[test]
    fn nodes_are_put_moved_and_taken_out_and_texts_grow_together() {
        let mut tree = Tree::default();
        assert!(tree.is_empty());
        let [a, b, c] = ["a", "b", "c"].map(|it| element(&mut tree, it));
        tree.append(NodeId::DOCUMENT, a);
        tree.append(a, b);
        tree.append_text(a, "x");
        tree.append_text(a, "y");
        assert_eq!(shown(&tree), " a b; xy;;");
        tree.insert_before(b, c);
        tree.insert_text_before(b, "1");
        tree.insert_text_before(b, "2");
        assert_eq!(shown(&tree), " a c; 12; b; xy;;");
        tree.move_children(a, c);
        assert_eq!(shown(&tree), " a;");
        tree.append(a, c);
        assert_eq!(shown(&tree), " a c 12; b; xy;;;");
        tree.detach(c);
        assert_eq!((shown(&tree).as_str(), tree.parent(c)), (" a;", None));
        assert_eq!(tree.parent(b), Some(c));
    }
}
