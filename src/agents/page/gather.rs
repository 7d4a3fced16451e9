//! Walks through a tree once and writes down the [`Facts`].

use html5ever::{LocalName, local_name, ns};

use crate::agents::page::facts::{Anchor, Facts, Heading, Image, Link, Meta, Part, Title};
use crate::agents::page::style::is_unseen;
use crate::agents::page::text::push_squeezed;
use crate::agents::page::tree::{Node, NodeId, NodeKind, Tree};
use crate::agents::page::walk::Visit;

/// Gathers the facts of a page.
#[must_use]
pub fn gather(tree: &Tree) -> Facts {
    let mut gatherer = Gatherer::new(tree);
    let mut walk = tree.walk(NodeId::DOCUMENT);
    while let Some(visit) = walk.next() {
        let (Visit::Enter(id) | Visit::Leave(id)) = visit;
        let Some(node) = tree.node(id) else { continue };
        match (&node.kind, visit) {
            (NodeKind::Text(text), Visit::Enter(_)) => gatherer.text(text),
            (NodeKind::Element(..), Visit::Enter(_)) => {
                if gatherer.enter(id, node) == Inside::Skip {
                    walk.skip_inside();
                }
            }
            (NodeKind::Element(..), Visit::Leave(_)) => gatherer.leave(id),
            (NodeKind::Text(_), Visit::Leave(_)) | (NodeKind::Root, _) => {}
        }
    }
    gatherer.facts
}

/// Whether to look inside an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Look,
    Skip,
}

/// What an element inherits from those around it.
#[derive(Clone, Default)]
struct Around {
    /// Whether it is not shown at all.
    is_unseen: bool,
    /// Whether it is not shown, or not to those who listen.
    is_hidden: bool,
    lang: Option<String>,
}

struct Gatherer<'a> {
    tree: &'a Tree,
    facts: Facts,
    part: Part,
    /// One for every open element that changes something, with that element.
    around: Vec<(NodeId, Around)>,
    /// Open elements whose text is being collected.
    title: Option<NodeId>,
    heading: Option<NodeId>,
    anchor: Option<NodeId>,
}

impl<'a> Gatherer<'a> {
    fn new(tree: &'a Tree) -> Self {
        let (facts, part) = (Facts::default(), Part::Head);
        let (title, heading, anchor) = (None, None, None);
        Self { tree, facts, part, around: Vec::new(), title, heading, anchor }
    }

    fn enter(&mut self, id: NodeId, node: &Node) -> Inside {
        self.enter_surroundings(id, node);
        let Some(name) = node.html_name() else {
            return self.enter_foreign(node);
        };
        if breaks_text(name) {
            self.collect(" ");
        }
        match *name {
            local_name!("html") => self.html(id, node),
            local_name!("body") | local_name!("frameset") => self.part = Part::Body,
            local_name!("base") => {
                let href = node.attribute("href").map(str::to_owned);
                self.facts.base = self.facts.base.take().or(href);
            }
            local_name!("title") => {
                self.facts.titles.push(Title { node: id, part: self.part, text: String::new() });
                self.title = Some(id);
            }
            local_name!("meta") => self.facts.metas.push(Meta::of(id, node, self.part)),
            local_name!("link") => self.facts.links.push(Link::of(id, node, self.part)),
            local_name!("a") => self.anchor(id, node),
            local_name!("img") => self.image(id, node),
            local_name!("picture") => self.picture(id),
            local_name!("noscript") => self.noscript(id),
            _ => self.heading(id, node, name),
        }
        if is_silent(name) { Inside::Skip } else { Inside::Look }
    }

    /// Notes what this element changes for those inside it.
    fn enter_surroundings(&mut self, id: NodeId, node: &Node) {
        let lang = node.attribute("lang").or_else(|| node.attribute("xml:lang"));
        let unseen = node.attribute("hidden").is_some() || is_unseen(node.attribute("style"));
        let unheard =
            node.attribute("aria-hidden").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        if lang.is_none() && !unseen && !unheard {
            return;
        }
        let outer = self.current();
        let around = Around {
            is_unseen: outer.is_unseen || unseen,
            is_hidden: outer.is_hidden || unseen || unheard,
            lang: lang.map(|it| it.trim().to_ascii_lowercase()).or(outer.lang),
        };
        self.around.push((id, around));
    }

    fn leave(&mut self, id: NodeId) {
        if self.title == Some(id) {
            self.title = None;
            trim_end(self.facts.titles.last_mut().map(|it| &mut it.text));
        }
        if self.heading == Some(id) {
            self.heading = None;
            trim_end(self.facts.headings.last_mut().map(|it| &mut it.text));
        }
        if self.anchor == Some(id) {
            self.anchor = None;
            trim_end(self.facts.anchors.last_mut().map(|it| &mut it.text));
        }
        if self.around.last().is_some_and(|(it, _)| *it == id) {
            self.around.pop();
        }
    }

    fn text(&mut self, text: &str) {
        if self.title.is_some() {
            push_short(self.facts.titles.last_mut().map(|it| &mut it.text), text);
            return;
        }
        if self.part == Part::Head || self.is_unseen() {
            return;
        }
        self.facts.text.words += text.split_whitespace().count();
        if self.anchor.is_none() {
            self.facts.text.prose_bytes += text.trim().len();
        }
        self.collect(text);
    }

    /// Adds text to the heading and the link that are open.
    fn collect(&mut self, text: &str) {
        self.collect_heading(text);
        if self.anchor.is_some() {
            push_short(self.facts.anchors.last_mut().map(|it| &mut it.text), text);
        }
    }

    fn collect_heading(&mut self, text: &str) {
        if self.heading.is_some() {
            push_short(self.facts.headings.last_mut().map(|it| &mut it.text), text);
        }
    }

    /// Text inside a picture names the link around it.
    fn enter_foreign(&mut self, node: &Node) -> Inside {
        let is_title = node.name().is_some_and(|it| it.ns == ns!(svg) && &*it.local == "title");
        let label = node.attribute("aria-label").unwrap_or_default();
        let inner = if is_title { "picture" } else { label };
        if self.anchor.is_some() && !inner.trim().is_empty() {
            push_short(self.facts.anchors.last_mut().map(|it| &mut it.label), inner);
        }
        if is_title { Inside::Skip } else { Inside::Look }
    }

    fn html(&mut self, id: NodeId, node: &Node) {
        self.facts.html = Some(id);
        let lang = node.attribute("lang").or_else(|| node.attribute("xml:lang"));
        self.facts.lang = lang.map(str::to_owned);
    }

    fn anchor(&mut self, id: NodeId, node: &Node) {
        let around = self.current();
        self.facts.anchors.push(Anchor::of(id, node, around.lang, around.is_hidden));
        self.anchor = Some(id);
    }

    fn image(&mut self, id: NodeId, node: &Node) {
        let image = Image::of(id, node, self.is_hidden());
        if let Some(alt) = image.alt.as_deref().filter(|it| !it.trim().is_empty()) {
            self.collect_heading(alt);
            if self.anchor.is_some() {
                push_short(self.facts.anchors.last_mut().map(|it| &mut it.label), alt);
            }
        }
        self.facts.images.push(image);
    }

    fn heading(&mut self, id: NodeId, node: &Node, name: &LocalName) {
        let level = match *name {
            local_name!("h1") => 1,
            local_name!("h2") => 2,
            local_name!("h3") => 3,
            local_name!("h4") => 4,
            local_name!("h5") => 5,
            local_name!("h6") => 6,
            _ => return,
        };
        let text = node.attribute("aria-label").unwrap_or_default().trim().to_owned();
        let is_hidden = self.is_hidden();
        self.facts.headings.push(Heading { node: id, level, text, is_hidden });
        self.heading = Some(id);
    }

    fn picture(&mut self, id: NodeId) {
        let is_image = |it: NodeId| {
            self.tree.node(it).and_then(Node::html_name).is_some_and(|it| *it == local_name!("img"))
        };
        if !self.tree.children(id).any(is_image) {
            self.facts.empty_pictures.push(id);
        }
    }

    fn noscript(&mut self, id: NodeId) {
        let inside = self.tree.children(id).filter_map(|it| self.tree.node(it));
        let text = inside
            .filter_map(|it| if let NodeKind::Text(text) = &it.kind { Some(text) } else { None });
        let text: String = text.flat_map(|it| it.chars()).take(NOSCRIPT_CHARS_MAX).collect();
        self.facts.noscripts.push((id, text));
    }

    fn current(&self) -> Around {
        self.around.last().map(|(_, it)| it.clone()).unwrap_or_default()
    }

    fn is_unseen(&self) -> bool {
        self.around.last().is_some_and(|(_, it)| it.is_unseen)
    }

    fn is_hidden(&self) -> bool {
        self.around.last().is_some_and(|(_, it)| it.is_hidden)
    }
}

/// Whether an element's text is not for readers.
#[must_use]
pub fn is_silent(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("noscript")
            | local_name!("template")
            | local_name!("iframe")
            | local_name!("noframes")
            | local_name!("noembed")
            | local_name!("textarea")
            | local_name!("select")
            | local_name!("object")
    )
}

/// Whether an element stands on lines of its own, so that texts around it are apart.
fn breaks_text(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("br")
            | local_name!("div")
            | local_name!("p")
            | local_name!("li")
            | local_name!("td")
            | local_name!("th")
            | local_name!("section")
            | local_name!("article")
            | local_name!("figcaption")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
    )
}

fn push_short(to: Option<&mut String>, text: &str) {
    if let Some(to) = to.filter(|it| it.len() < TEXT_BYTES_MAX) {
        let mut end = text.len().min(TEXT_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        push_squeezed(to, text.get(..end).unwrap_or_default());
    }
}

fn trim_end(text: Option<&mut String>) {
    if let Some(text) = text {
        text.truncate(text.trim_end().len());
    }
}

/// Bytes of a title, heading or link text that are looked at before no more is added.
const TEXT_BYTES_MAX: usize = 2048;
/// Characters of a `noscript` that are looked at.
const NOSCRIPT_CHARS_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::facts::ImageOrigin;
    use crate::agents::page::media::Kind;
    use crate::agents::page::parse::parse;
    use crate::agents::parsers::Patience;

    fn facts(html: &str) -> Facts {
        gather(&parse(html, Kind::Html, &Patience::endless()).passed.tree)
    }

    #[test]
    fn metadata_is_found_with_the_part_where_it_stands() {
        let found = facts(
            "<html LANG=en><base href=/a/><base href=/b/><title> A\n b </title>\
             <META Name=' Robots ' content=NOINDEX><link REL='Canonical  x' href=/c>\
             <body><meta name=robots><title>late</title>",
        );
        assert_eq!((found.lang.as_deref(), found.base.as_deref()), (Some("en"), Some("/a/")));
        let titles: Vec<_> = found.titles.iter().map(|it| (it.part, it.text.as_str())).collect();
        assert_eq!(titles, [(Part::Head, "A b"), (Part::Body, "late")]);
        let metas: Vec<_> = found.metas.iter().map(|it| (it.part, it.content.as_str())).collect();
        assert_eq!(metas, [(Part::Head, "NOINDEX"), (Part::Body, "")]);
        assert_eq!(found.metas_in_head("robots").count(), 1);
        assert!(found.links[0].is("canonical") && !found.links[0].is("canon"));
    }

    #[test]
    fn links_have_the_text_that_readers_see() {
        let text = |html: &str| {
            let found = facts(html);
            let anchor = found.anchors[0].clone();
            (anchor.text, anchor.label)
        };
        let is = |text: &str, label: &str| (text.to_owned(), label.to_owned());
        assert_eq!(text("<a href=/> one <b>two </b>three </a> four"), is("one two three", ""));
        assert_eq!(text("<a href=/><div>one</div><div>two</div></a>"), is("one two", ""));
        assert_eq!(text("<a href=/><span hidden>x</span>y<script>z</script></a>"), is("y", ""));
        assert_eq!(text("<a href=/ title=t><img alt='a picture'></a>"), is("", "ta picture"));
        assert_eq!(text("<a href=/><svg><title>home</title></svg></a>"), is("", "picture"));
        assert_eq!(text("<a href=/><img alt=''></a>"), is("", ""));
    }

    #[test]
    fn headings_know_their_level_and_whether_they_are_hidden() {
        let found = facts("<h1>a <img alt=b></h1><div aria-hidden=TRUE><h2>c</h2></div><h6> </h6>");
        let shown: Vec<_> =
            found.headings.iter().map(|it| (it.level, it.text.as_str(), it.is_hidden)).collect();
        assert_eq!(shown, [(1, "a b", false), (2, "c", true), (6, "", false)]);
        assert_eq!(found.main_headings().count(), 1);
    }

    #[test]
    fn images_are_described_without_style_sheets() {
        let found = facts(
            "<img src=a alt=''><div style='Display : None'><img src=b></div>\
             <img data-src=c role=presentation width=1 height=1><picture><source></picture>",
        );
        let shown: Vec<_> =
            found.images.iter().map(|it| (it.is_hidden, it.is_named, it.has_size)).collect();
        assert_eq!(shown, [(false, false, false), (true, false, false), (false, true, true)]);
        assert_eq!(found.images[2].origin, ImageOrigin::ScriptOnly);
        assert_eq!(found.empty_pictures.len(), 1);
    }

    #[test]
    fn text_is_counted_where_readers_see_it() {
        let found = facts(
            "<title>no</title><p>one two <a href=/>three</a><p hidden>four<script>five</script>",
        );
        assert_eq!((found.text.words, found.text.prose_bytes), (3, 7));
    }
}
