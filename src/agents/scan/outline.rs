//! Walks through a page once and notes its blocks of text and its links, each with its place.
//!
//! Text belongs to the nearest element that stands on lines of its own, whatever its name. Boxes
//! that change by themselves are left out: consent, advertising, chat, slides, quotes.

use html5ever::{LocalName, local_name, ns};

use crate::agents::page::text::push_squeezed;
use crate::agents::page::tree::{Node, NodeId, NodeKind, Tree};
use crate::agents::page::walk::Visit;
use crate::agents::scan::boxes::{Boxes, class_words, is_call};
use crate::agents::scan::facts::Zone;
use crate::agents::scan::flow::{is_inline, is_silent, level};

/// The blocks and links of a page.
#[derive(Debug, Default)]
pub struct Outline {
    /// Blocks of text, in the order in which they end.
    pub blocks: Vec<Block>,
    /// Links and buttons.
    pub links: Vec<Link>,
    /// The texts of JSON-LD scripts.
    pub json_ld: Vec<String>,
    /// Addresses of scripts, style sheets, frames.
    pub resources: Vec<String>,
    /// Properties of microdata with a value in an attribute.
    pub properties: Vec<(String, String)>,
    /// Types of microdata.
    pub item_types: Vec<String>,
    /// Resources that are asked for.
    pub requests: usize,
}

/// A block of text.
#[derive(Debug)]
pub struct Block {
    /// Its element.
    pub node: NodeId,
    /// The name of its element.
    pub tag: LocalName,
    /// Its text without the texts of links that stand in it; empty when it is all links.
    pub prose: String,
    /// All of its text.
    pub all: String,
    /// The heading, question or term above it.
    pub label: String,
    /// The part of the page.
    pub zone: Zone,
    /// The address of the link that it holds, or that holds it.
    pub href: Option<String>,
}

/// A link or a button.
#[derive(Debug)]
pub struct Link {
    /// What it says.
    pub text: String,
    /// Where it leads; none for a button.
    pub href: Option<String>,
    /// The part of the page.
    pub zone: Zone,
    /// Whether it looks like a button.
    pub is_call: bool,
}

impl Block {
    /// The level of a heading.
    #[must_use]
    pub fn level(&self) -> Option<u8> {
        level(&self.tag)
    }
}

/// Notes the blocks and links of a page.
#[must_use]
pub fn outline(tree: &Tree) -> Outline {
    let mut walker = Walker {
        tree,
        boxes: Boxes::of(tree),
        out: Outline::default(),
        frames: Vec::new(),
        zones: Vec::new(),
        anchor: None,
        label: String::new(),
        in_head: false,
    };
    let mut walk = tree.walk(NodeId::DOCUMENT);
    while let Some(visit) = walk.next() {
        let (Visit::Enter(id) | Visit::Leave(id)) = visit;
        let Some(node) = tree.node(id) else { continue };
        match (&node.kind, visit) {
            (NodeKind::Text(text), Visit::Enter(_)) => walker.text(text),
            (NodeKind::Element(..), Visit::Enter(_)) => {
                if !walker.enter(id, node) {
                    walk.skip_inside();
                }
            }
            (NodeKind::Element(..), Visit::Leave(_)) => walker.leave(id),
            (NodeKind::Text(_), Visit::Leave(_)) | (NodeKind::Root, _) => {}
        }
    }
    walker.out
}

struct Walker<'a> {
    tree: &'a Tree,
    boxes: Boxes,
    out: Outline,
    frames: Vec<Frame>,
    zones: Vec<(NodeId, Zone)>,
    anchor: Option<Open>,
    label: String,
    in_head: bool,
}

/// A block that is open.
struct Frame {
    block: Block,
}

/// A link that is open.
struct Open {
    node: NodeId,
    link: Link,
    /// Blocks that were open when it began.
    frames: usize,
}

impl Walker<'_> {
    /// Begins an element; says whether to look inside.
    fn enter(&mut self, id: NodeId, node: &Node) -> bool {
        self.note_properties(node);
        let Some(name) = node.html_name() else {
            return node.name().is_none_or(|it| it.ns != ns!(svg));
        };
        match *name {
            local_name!("head") => self.in_head = true,
            local_name!("body") => self.in_head = false,
            local_name!("script") => {
                self.script(id, node);
                return false;
            }
            local_name!("link") | local_name!("iframe") | local_name!("img") => {
                self.resource(name, node);
                return false;
            }
            _ => {}
        }
        if is_silent(name) || self.boxes.is_left_out(id, node) {
            return false;
        }
        if let Some(zone) = zone(name, node, self.boxes.is_mostly_links(id)) {
            // A menu at the end of the page is a menu; anything else there is the end.
            self.zones.push((id, zone));
        }
        if matches!(*name, local_name!("a") | local_name!("button") | local_name!("summary")) {
            self.open(id, name, node);
        }
        if !self.in_head && !is_inline(name) && self.frames.len() < FRAMES_MAX {
            self.space();
            self.begin_block(id, name);
        } else if *name == local_name!("br") {
            self.space();
        } else if *name == local_name!("sup") {
            self.raise(id);
        }
        true
    }

    /// Keeps raised digits apart from a number: cents after a point, a footnote after a space.
    fn raise(&mut self, id: NodeId) {
        let mut texts = self.tree.walk(id).take(RAISED_STEPS_MAX).filter_map(|it| match it {
            Visit::Enter(id) => self.tree.node(id),
            Visit::Leave(_) => None,
        });
        let raised = texts.find_map(|it| match &it.kind {
            NodeKind::Text(text) => Some(text.trim()),
            NodeKind::Element(..) | NodeKind::Root => None,
        });
        let Some(raised) = raised.filter(|it| it.starts_with(|it: char| it.is_ascii_digit()))
        else {
            return;
        };
        let is_pair = raised.len() == 2 && raised.bytes().all(|it| it.is_ascii_digit());
        let part = |text: &mut String| {
            let rest = text.trim_end_matches(|it: char| it.is_ascii_digit());
            let digits = text.len() - rest.len();
            let has_cents = digits == 2 && rest.ends_with(['.', ',']);
            if digits > 0 {
                text.push(if is_pair && !has_cents { '.' } else { ' ' });
            }
        };
        if let Some(open) = &mut self.anchor {
            part(&mut open.link.text);
        }
        if let Some(Frame { block }) = self.frames.last_mut() {
            part(&mut block.all);
            part(&mut block.prose);
        }
    }

    fn begin_block(&mut self, id: NodeId, name: &LocalName) {
        let href = self.anchor.as_ref().and_then(|it| it.link.href.clone());
        let block = Block {
            node: id,
            tag: name.clone(),
            prose: String::new(),
            all: String::new(),
            label: String::new(),
            zone: self.zone(),
            href,
        };
        self.frames.push(Frame { block });
    }

    /// Ends an element.
    fn leave(&mut self, id: NodeId) {
        if self.anchor.as_ref().is_some_and(|it| it.node == id)
            && let Some(Open { mut link, .. }) = self.anchor.take()
        {
            link.text.truncate(link.text.trim_end().len());
            if self.out.links.len() < LINKS_MAX {
                self.out.links.push(link);
            }
        }
        if self.frames.last().is_some_and(|it| it.block.node == id)
            && let Some(Frame { block }) = self.frames.pop()
        {
            self.end_block(block);
        }
        if self.zones.last().is_some_and(|it| it.0 == id) {
            self.zones.pop();
        }
    }

    fn end_block(&mut self, mut block: Block) {
        let is_heading = block.level().is_some();
        let is_empty = |it: &str| !it.chars().any(char::is_alphanumeric);
        let is_label = is_heading
            || matches!(
                block.tag,
                local_name!("dt") | local_name!("summary") | local_name!("legend")
            );
        if is_empty(if is_heading { &block.all } else { &block.prose }) {
            return;
        }
        block.label.clone_from(&self.label);
        if is_label {
            self.label.clone_from(&block.all);
        }
        if self.out.blocks.len() < BLOCKS_MAX {
            self.out.blocks.push(block);
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_head {
            return;
        }
        if let Some(open) = &mut self.anchor
            && open.link.text.len() < TEXT_BYTES_MAX
        {
            push_squeezed(&mut open.link.text, text);
        }
        let inside = self.anchor.as_ref().map(|it| it.frames);
        let depth = self.frames.len();
        let Some(Frame { block }) = self.frames.last_mut() else { return };
        if block.all.len() < TEXT_BYTES_MAX {
            push_squeezed(&mut block.all, text);
            // The text of a link counts as text only where a block stands inside the link.
            if inside.is_none_or(|it| depth > it) {
                push_squeezed(&mut block.prose, text);
            }
        }
        if block.href.is_none() && !text.trim().is_empty() {
            block.href = self.anchor.as_ref().and_then(|it| it.link.href.clone());
        }
    }

    /// Keeps texts apart that stand on different lines.
    fn space(&mut self) {
        if let Some(open) = &mut self.anchor {
            push_squeezed(&mut open.link.text, " ");
        }
        if let Some(Frame { block }) = self.frames.last_mut() {
            push_squeezed(&mut block.all, " ");
            push_squeezed(&mut block.prose, " ");
        }
    }

    fn open(&mut self, id: NodeId, name: &LocalName, node: &Node) {
        if *name == local_name!("summary") || self.anchor.is_some() {
            return;
        }
        let href = node.attribute("href").map(str::to_owned);
        if *name == local_name!("a") && href.is_none() {
            return;
        }
        let is_call = (*name == local_name!("button") && !is_control(node)) || is_call(node);
        let link = Link { text: String::new(), href, zone: self.zone(), is_call };
        self.anchor = Some(Open { node: id, link, frames: self.frames.len() });
    }

    fn zone(&self) -> Zone {
        self.zones.last().map(|it| it.1).unwrap_or_default()
    }

    fn script(&mut self, id: NodeId, node: &Node) {
        let kind = node.attribute("type").unwrap_or_default().trim().to_ascii_lowercase();
        if let Some(src) = node.attribute("src") {
            self.out.requests += 1;
            self.push_resource(src);
        } else if kind == "application/ld+json" && self.out.json_ld.len() < SCRIPTS_MAX {
            let texts = self.tree.children(id).filter_map(|it| match &self.tree.node(it)?.kind {
                NodeKind::Text(text) => Some(text.as_str()),
                NodeKind::Element(..) | NodeKind::Root => None,
            });
            self.out.json_ld.push(texts.collect());
        }
    }

    fn resource(&mut self, name: &LocalName, node: &Node) {
        let rel = node.attribute("rel").unwrap_or_default().to_ascii_lowercase();
        let is_asked = *name != local_name!("link") || rel.contains("stylesheet");
        self.out.requests += usize::from(is_asked);
        let attribute = if *name == local_name!("link") { "href" } else { "src" };
        if *name == local_name!("img") {
            return;
        }
        if let Some(address) = node.attribute(attribute) {
            self.push_resource(address);
        }
    }

    fn push_resource(&mut self, address: &str) {
        if self.out.resources.len() < RESOURCES_MAX && address.len() < TEXT_BYTES_MAX {
            self.out.resources.push(address.trim().to_ascii_lowercase());
        }
    }

    fn note_properties(&mut self, node: &Node) {
        if self.out.properties.len() >= PROPERTIES_MAX {
            return;
        }
        if let (Some(name), Some(value)) = (node.attribute("itemprop"), node.attribute("content")) {
            self.out.properties.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        if let Some(kind) = node.attribute("itemtype") {
            self.out.item_types.push(kind.trim().to_owned());
        }
    }
}

/// The part of the page that begins with an element.
fn zone(name: &LocalName, node: &Node, is_mostly_links: bool) -> Option<Zone> {
    let role = node.attribute("role").unwrap_or_default();
    if *name == local_name!("nav") || role == "navigation" {
        return Some(Zone::Nav);
    }
    if *name == local_name!("footer") || role == "contentinfo" {
        return Some(Zone::Footer);
    }
    if *name == local_name!("aside") || role == "complementary" {
        return Some(Zone::Aside);
    }
    let mut words = class_words(node);
    words.find_map(|it| match it.as_str() {
        "nav" | "navbar" | "navigation" | "menu" | "topnav" | "mainmenu" if is_mostly_links => {
            Some(Zone::Nav)
        }
        "footer" | "colophon" => Some(Zone::Footer),
        "sidebar" => Some(Zone::Aside),
        _ => None,
    })
}

/// Whether a button only opens or closes something.
fn is_control(node: &Node) -> bool {
    ["aria-expanded", "aria-controls", "aria-haspopup"]
        .iter()
        .any(|it| node.attribute(it).is_some())
        || node.attribute("role").is_some_and(|it| it == "tab" || it == "switch")
}

/// Blocks that are open at the same time.
const FRAMES_MAX: usize = 1_000;
/// Blocks of a page.
const BLOCKS_MAX: usize = 4_000;
/// Links of a page.
const LINKS_MAX: usize = 3_000;
/// Scripts with structured data.
const SCRIPTS_MAX: usize = 50;
/// Addresses of resources.
const RESOURCES_MAX: usize = 500;
/// Properties of microdata.
const PROPERTIES_MAX: usize = 500;
/// Steps into a raised text until what it says.
const RAISED_STEPS_MAX: usize = 8;
/// Bytes of a text after which no more is added.
const TEXT_BYTES_MAX: usize = 8 * 1024;
