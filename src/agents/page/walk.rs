//! A walk through a tree in the order of the source, without recursion.

use crate::agents::page::tree::{NodeId, Tree};

/// A step of a walk through the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// A node begins.
    Enter(NodeId),
    /// All that is inside it has been visited.
    Leave(NodeId),
}

/// A walk through a tree, without recursion.
#[derive(Debug)]
pub struct Walk<'a> {
    tree: &'a Tree,
    root: NodeId,
    at: Visit,
    skip: bool,
}

impl<'a> Walk<'a> {
    /// Begins before everything inside `root`.
    pub(super) const fn new(tree: &'a Tree, root: NodeId) -> Self {
        Self { tree, root, at: Visit::Enter(root), skip: false }
    }

    /// Leaves out what is inside the node that was entered last.
    pub const fn skip_inside(&mut self) {
        self.skip = true;
    }
}

impl Iterator for Walk<'_> {
    type Item = Visit;

    fn next(&mut self) -> Option<Visit> {
        let skip = std::mem::take(&mut self.skip);
        self.at = match self.at {
            Visit::Enter(id) => match self.tree.first(id).filter(|_| !skip) {
                Some(child) => Visit::Enter(child),
                None if id == self.root => return None,
                None => Visit::Leave(id),
            },
            Visit::Leave(id) => match (self.tree.next(id), self.tree.parent(id)?) {
                (Some(next), _) => Visit::Enter(next),
                (None, parent) if parent == self.root => return None,
                (None, parent) => Visit::Leave(parent),
            },
        };
        Some(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::tree::{NodeKind, Span};

    fn node(tree: &mut Tree, parent: NodeId) -> NodeId {
        let id = tree.create(NodeKind::Root, Span::default());
        tree.append(parent, id);
        id
    }

    #[test]
    fn a_walk_can_skip_what_is_inside_a_node() {
        let mut tree = Tree::default();
        let a = node(&mut tree, NodeId::DOCUMENT);
        node(&mut tree, a);
        let c = node(&mut tree, NodeId::DOCUMENT);
        let mut walk = tree.walk(NodeId::DOCUMENT);
        assert_eq!(walk.next(), Some(Visit::Enter(a)));
        walk.skip_inside();
        assert_eq!(walk.next(), Some(Visit::Leave(a)));
        assert_eq!(walk.next(), Some(Visit::Enter(c)));
    }

    #[test]
    fn a_million_nested_nodes_are_walked_and_dropped_without_recursion() {
        let mut tree = Tree::default();
        let mut parent = NodeId::DOCUMENT;
        for _ in 0..1_000_000 {
            parent = node(&mut tree, parent);
        }
        assert_eq!(tree.walk(NodeId::DOCUMENT).count(), 2_000_000);
    }
}
