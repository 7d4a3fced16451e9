//! Takes the parser's orders and builds the [`Tree`].
//!
//! It counts what it is told to make, so that the parser can be stopped in time, and notes which
//! token is being read, so that every element knows its place in the source.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{LocalName, Namespace, QualName, interface::ElemName, local_name, ns};

use crate::agents::page::tree::{Attribute, NodeId, NodeKind, Span, Tree};

/// Builds a tree.
#[derive(Debug, Default)]
pub struct Sink {
    tree: RefCell<Tree>,
    in_quirks_mode: Cell<bool>,
    token: Cell<Span>,
    elements: Cell<usize>,
    attributes: Cell<usize>,
    attribute_bytes: Cell<usize>,
    newest_depth: Cell<u32>,
    has_body: Cell<bool>,
}

/// An element's name for the parser, which asks often; a copy costs next to nothing.
#[derive(Clone, Debug)]
pub struct Name {
    ns: Namespace,
    local: LocalName,
}

impl Sink {
    /// Says where the token stands that is read from now on.
    pub fn set_token(&self, span: Span) {
        self.token.set(span);
    }

    /// Elements made so far.
    #[must_use]
    pub const fn elements(&self) -> usize {
        self.elements.get()
    }

    /// Attributes of all elements made so far.
    #[must_use]
    pub const fn attributes(&self) -> usize {
        self.attributes.get()
    }

    /// Bytes of the values of all attributes made so far.
    #[must_use]
    pub const fn attribute_bytes(&self) -> usize {
        self.attribute_bytes.get()
    }

    /// How many elements the one put into the tree last is inside of.
    #[must_use]
    pub const fn newest_depth(&self) -> u32 {
        self.newest_depth.get()
    }

    /// Whether there is a `body` or a `frameset`.
    #[must_use]
    pub const fn has_body(&self) -> bool {
        self.has_body.get()
    }

    /// Takes over attributes and counts them.
    fn take(&self, attributes: Vec<html5ever::Attribute>) -> Vec<Attribute> {
        self.attributes.set(self.attributes.get().saturating_add(attributes.len()));
        let attributes = attributes.into_iter().map(|it| {
            self.attribute_bytes.set(self.attribute_bytes.get().saturating_add(it.value.len()));
            Attribute { name: it.name.local, value: Box::from(&*it.value) }
        });
        attributes.collect()
    }

    fn put(&self, child: NodeOrText<NodeId>, parent: NodeId) {
        let mut tree = self.tree.borrow_mut();
        match child {
            NodeOrText::AppendNode(NodeId::NOWHERE) => {}
            NodeOrText::AppendNode(id) => {
                tree.append(parent, id);
                self.newest_depth.set(tree.node(id).map_or(0, |it| it.depth));
            }
            NodeOrText::AppendText(text) => tree.append_text(parent, &text),
        }
    }

    fn put_before(&self, child: NodeOrText<NodeId>, sibling: NodeId) {
        let mut tree = self.tree.borrow_mut();
        match child {
            NodeOrText::AppendNode(NodeId::NOWHERE) => {}
            NodeOrText::AppendNode(id) => {
                tree.insert_before(sibling, id);
                self.newest_depth.set(tree.node(id).map_or(0, |it| it.depth));
            }
            NodeOrText::AppendText(text) => tree.insert_text_before(sibling, &text),
        }
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = (Tree, bool);
    type ElemName<'a> = Name;

    fn finish(self) -> (Tree, bool) {
        (self.tree.into_inner(), self.in_quirks_mode.get())
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name {
        let tree = self.tree.borrow();
        let name = tree.node(*target).and_then(|it| it.name());
        match name {
            Some(name) => Name { ns: name.ns.clone(), local: name.local.clone() },
            None => Name { ns: ns!(), local: local_name!("") },
        }
    }

    fn create_element(
        &self,
        name: QualName,
        attrs: Vec<html5ever::Attribute>,
        _: ElementFlags,
    ) -> NodeId {
        let is_body = matches!(name.local, local_name!("body") | local_name!("frameset"));
        self.has_body.set(self.has_body.get() || (is_body && name.ns == ns!(html)));
        self.elements.set(self.elements.get().saturating_add(1));
        let attributes = self.take(attrs).into();
        self.tree.borrow_mut().create(NodeKind::Element(name, attributes), self.token.get())
    }

    fn create_comment(&self, _text: StrTendril) -> NodeId {
        NodeId::NOWHERE
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeId {
        NodeId::NOWHERE
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.put(child, *parent);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        prev_element: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let is_somewhere = self.tree.borrow().parent(*element).is_some();
        if is_somewhere { self.put_before(child, *element) } else { self.put(child, *prev_element) }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, _target: &NodeId) -> NodeId {
        NodeId::NOWHERE
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.in_quirks_mode.set(mode == QuirksMode::Quirks);
    }

    fn append_before_sibling(&self, sibling: &NodeId, new_node: NodeOrText<NodeId>) {
        self.put_before(new_node, *sibling);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<html5ever::Attribute>) {
        let attributes = self.take(attrs);
        self.tree.borrow_mut().add_attributes(*target, attributes);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.tree.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.tree.borrow_mut().move_children(*node, *new_parent);
    }
}

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.local
    }
}
