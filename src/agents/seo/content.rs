//! What a page has besides its metadata: its main text, and what it loads from elsewhere.
//!
//! The main text is what a reader came for: `main`, or the body without navigation, header, footer
//! and asides. Long texts are cut, and nothing recurses over the tree.

use html5ever::{LocalName, local_name};

use crate::agents::page::document::Document;
use crate::agents::page::gather::is_silent;
use crate::agents::page::style;
use crate::agents::page::text::{columns, push_squeezed};
use crate::agents::page::tree::{Node, NodeId, NodeKind, Tree};
use crate::agents::page::walk::Visit;

/// The content of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The beginning of the main text, white space collapsed.
    pub text: String,
    /// How much main text there is.
    pub size: Amount,
    /// How much text the body has in all.
    pub body: Amount,
    /// `script` elements.
    pub scripts: usize,
    /// An element that scripts fill, and that is empty so far.
    pub shell: Option<NodeId>,
    /// What is loaded or sent to.
    pub resources: Vec<Resource>,
}

/// An amount of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Words between white space.
    pub words: usize,
    /// Characters of scripts that put no spaces between words, such as Chinese and Thai.
    pub unspaced: usize,
}

/// Something that a page loads or sends to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The element.
    pub node: NodeId,
    /// What it is.
    pub kind: ResourceKind,
    /// The address as written.
    pub address: String,
}

/// What a page loads, by what it could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// It can change the page, or gets what a reader types: script, style sheet, frame, form.
    Active,
    /// It is only shown: image, sound, film.
    Passive,
}

impl Content {
    /// The content of a page.
    #[must_use]
    pub fn of(page: &Document) -> Self {
        let tree = &page.passed.tree;
        let mut survey = Survey::default();
        let mut walk = tree.walk(NodeId::DOCUMENT);
        while let Some(visit) = walk.next() {
            let (Visit::Enter(id) | Visit::Leave(id)) = visit;
            let Some(node) = tree.node(id) else { continue };
            match (&node.kind, visit) {
                (NodeKind::Text(text), Visit::Enter(_)) => survey.text(text),
                (NodeKind::Element(..), Visit::Enter(_)) => {
                    if survey.enter(id, node) {
                        walk.skip_inside();
                    }
                }
                (NodeKind::Element(..), Visit::Leave(_)) => survey.leave(id),
                (NodeKind::Text(_), Visit::Leave(_)) | (NodeKind::Root, _) => {}
            }
        }
        survey.finish(tree)
    }
}

impl Amount {
    fn add(&mut self, text: &str) {
        self.words = self.words.saturating_add(text.split_whitespace().count());
        let unspaced = text.chars().filter(|it| is_unspaced(*it)).count();
        self.unspaced = self.unspaced.saturating_add(unspaced);
    }

    /// Whether most of it is in a script without spaces.
    #[must_use]
    pub const fn is_unspaced(self) -> bool {
        self.unspaced > self.words.saturating_mul(4)
    }
}

/// A region that may be the main one.
struct Region {
    id: NodeId,
    size: Amount,
}

/// What is known so far of a page that is being walked through.
#[derive(Default)]
struct Survey {
    content: Content,
    body: Option<NodeId>,
    /// Open elements of navigation and the like, the outermost one.
    chrome: Option<NodeId>,
    plain: Amount,
    open: Vec<Region>,
    largest: Option<Region>,
    root: Option<(NodeId, usize)>,
}

impl Survey {
    /// Notes an element; whether what is inside it is to be skipped.
    fn enter(&mut self, id: NodeId, node: &Node) -> bool {
        let Some(name) = node.html_name() else { return false };
        self.resources(id, node, name);
        if *name == local_name!("script") {
            self.content.scripts = self.content.scripts.saturating_add(1);
        }
        if is_silent(name) || is_unseen(node) {
            return true;
        }
        if *name == local_name!("body") {
            self.body = self.body.or(Some(id));
        }
        let is_main = *name == local_name!("main") || node.attribute("role") == Some("main");
        if is_main && self.open.len() < REGIONS_MAX {
            self.open.push(Region { id, size: Amount::default() });
        }
        if self.open.is_empty() && self.chrome.is_none() && is_chrome(name) {
            self.chrome = Some(id);
        }
        if self.content.shell.is_none() && self.root.is_none() && is_root(node, name) {
            self.root = Some((id, self.content.body.words));
        }
        false
    }

    fn leave(&mut self, id: NodeId) {
        if self.chrome == Some(id) {
            self.chrome = None;
        }
        if let Some((root, words)) = self.root.filter(|(it, _)| *it == id) {
            let inside = self.content.body.words.saturating_sub(words);
            self.content.shell = (inside <= SHELL_WORDS_MAX).then_some(root);
            self.root = None;
        }
        if let Some(region) = self.open.pop_if(|it| it.id == id) {
            let is_larger = |it: &Region| weight(region.size) > weight(it.size);
            if self.largest.as_ref().is_none_or(is_larger) {
                self.largest = Some(region);
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.body.is_none() {
            return;
        }
        self.content.body.add(text);
        if self.chrome.is_none() {
            self.plain.add(text);
        }
        for region in &mut self.open {
            region.size.add(text);
        }
    }

    fn resources(&mut self, id: NodeId, node: &Node, name: &LocalName) {
        for (attribute, kind) in loads(node, name) {
            let Some(value) = node.attribute(attribute) else { continue };
            let addresses: Vec<&str> = match *attribute {
                "srcset" => {
                    value.split(',').filter_map(|it| it.split_whitespace().next()).collect()
                }
                _ => vec![value.trim()],
            };
            for address in addresses.into_iter().filter(|it| !it.is_empty()) {
                if self.content.resources.len() >= RESOURCES_MAX {
                    return;
                }
                let address = address.to_owned();
                self.content.resources.push(Resource { node: id, kind: *kind, address });
            }
        }
    }

    /// Chooses the main region and takes its text.
    fn finish(mut self, tree: &Tree) -> Content {
        let main = self.largest.take();
        let main = main.filter(|it| weight(it.size).saturating_mul(3) >= weight(self.plain));
        let (root, size) = match (main, self.body) {
            (Some(region), _) => (region.id, region.size),
            (None, Some(body)) => (body, self.plain),
            (None, None) => return self.content,
        };
        self.content.size = size;
        self.content.text = text_of(tree, root, Some(root) == self.body);
        self.content
    }
}

/// The text inside an element; without its navigation and the like when that is to be left out.
fn text_of(tree: &Tree, root: NodeId, is_body: bool) -> String {
    let mut text = String::new();
    let mut walk = tree.walk(root);
    while let Some(visit) = walk.next() {
        let Visit::Enter(id) = visit else { continue };
        let Some(node) = tree.node(id) else { continue };
        if let NodeKind::Text(part) = &node.kind {
            push_squeezed(&mut text, part);
            if text.len() >= TEXT_BYTES_MAX {
                break;
            }
        } else if let Some(name) = node.html_name() {
            let is_left_out = is_silent(name) || is_unseen(node) || (is_body && is_chrome(name));
            if is_left_out && id != root {
                walk.skip_inside();
            }
            push_squeezed(&mut text, " ");
        }
    }
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.truncate(end);
    text
}

/// The attributes of an element that name something to load.
fn loads(node: &Node, name: &LocalName) -> &'static [(&'static str, ResourceKind)] {
    use ResourceKind::{Active, Passive};
    match *name {
        local_name!("script")
        | local_name!("iframe")
        | local_name!("frame")
        | local_name!("embed") => &[("src", Active)],
        local_name!("object") => &[("data", Active)],
        local_name!("form") => &[("action", Active)],
        local_name!("button") | local_name!("input") => &[("formaction", Active)],
        local_name!("img") | local_name!("source") => &[("src", Passive), ("srcset", Passive)],
        local_name!("audio") => &[("src", Passive)],
        local_name!("video") => &[("src", Passive), ("poster", Passive)],
        local_name!("link") if has_rel(node, "stylesheet") => &[("href", Active)],
        local_name!("link") if has_rel(node, "icon") => &[("href", Passive)],
        _ => &[],
    }
}

fn has_rel(node: &Node, word: &str) -> bool {
    let rel = node.attribute("rel").unwrap_or_default();
    rel.split_ascii_whitespace().any(|it| it.eq_ignore_ascii_case(word))
}

fn is_unseen(node: &Node) -> bool {
    node.attribute("hidden").is_some() || style::is_unseen(node.attribute("style"))
}

fn is_chrome(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("nav") | local_name!("header") | local_name!("footer") | local_name!("aside")
    )
}

/// Whether an element is where a script puts a page, by the names that frameworks give it.
fn is_root(node: &Node, name: &LocalName) -> bool {
    let id = node.attribute("id").unwrap_or_default();
    ROOT_IDS.contains(&id) || ROOT_ELEMENTS.contains(&&**name)
}

fn is_unspaced(it: char) -> bool {
    let code = u32::from(it);
    let is_hangul = matches!(code, 0x1100..=0x115f | 0xac00..=0xd7a3);
    let is_southern = matches!(code, 0xe00..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff);
    let mut buffer = [0; 4];
    is_southern || (code >= 0x2e80 && !is_hangul && columns(it.encode_utf8(&mut buffer)) == 2)
}

/// Two amounts can be compared by this: a word is about two characters without spaces.
const fn weight(size: Amount) -> usize {
    size.words.saturating_add(size.unspaced / 2)
}

/// Main regions inside of each other that are looked at.
const REGIONS_MAX: usize = 4;
/// Resources that are looked at.
const RESOURCES_MAX: usize = 5_000;
/// Bytes of the main text that are kept.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Words in an element that is as good as empty: "Loading …".
const SHELL_WORDS_MAX: usize = 5;
/// Ids of the elements that frameworks fill.
const ROOT_IDS: [&str; 12] = [
    "root",
    "app",
    "__next",
    "__nuxt",
    "___gatsby",
    "svelte",
    "sapper",
    "q-app",
    "react-root",
    "app-root",
    "main-app",
    "mount",
];
/// Elements that frameworks fill.
const ROOT_ELEMENTS: [&str; 3] = ["app-root", "my-app", "ember-app"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::media::Kind;
    use crate::agents::parsers::Patience;

    fn content(html: &str) -> Content {
        let page = Document::read(html.as_bytes(), Some("utf-8"), Kind::Html, &Patience::endless());
        Content::of(&page)
    }

    #[test]
    fn the_main_text_is_what_a_reader_came_for() {
        let found = content(
            "<nav>Home Shop</nav><main>One <b>two</b><p>three<script>no</script></main><p>four",
        );
        assert_eq!(
            (found.text.trim(), found.size.words, found.body.words),
            ("One two three", 3, 6)
        );
        let found =
            content("<header>Menu</header><article>One two</article><article>three</article>");
        assert_eq!((found.text.trim(), found.size.words), ("One two three", 3));
        let found = content("<main>x</main><p>One two three four five<p hidden>six");
        assert_eq!((found.size.words, found.body.words), (6, 6));
        assert_eq!(content("<frameset><frame src=/a>").size, Amount::default());
    }

    #[test]
    fn characters_without_spaces_are_counted_apart() {
        let found = content("<main>水の博物館のご案内</main>");
        assert_eq!((found.size.words, found.size.unspaced), (1, 9));
        assert!(found.size.is_unspaced() && !content("<p>한국어 물 박물관").size.is_unspaced());
    }

    #[test]
    fn an_empty_element_for_scripts_is_noticed() {
        assert!(content("<div id=root></div><script src=/a.js></script>").shell.is_some());
        assert!(content("<app-root>Loading</app-root>").shell.is_some());
        assert!(content("<div id=root><p>one two three four five six</div>").shell.is_none());
    }

    #[test]
    fn everything_that_is_loaded_is_listed() {
        let found = content(
            "<link rel='x Stylesheet' href=/a><script src=/b></script><img src=/c srcset='/d 1x, \
             /e 2x'><form action=/f></form><a href=/no>x</a><link rel=canonical href=/no>",
        );
        let shown: Vec<_> = found.resources.iter().map(|it| it.address.as_str()).collect();
        assert_eq!(shown, ["/a", "/b", "/c", "/d", "/e", "/f"]);
        assert_eq!(found.resources[2].kind, ResourceKind::Passive);
    }
}
