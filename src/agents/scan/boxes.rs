//! Recognises boxes of a page that are not its content, by the words of class and id.

use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use crate::agents::page::tree::{Node, NodeId, NodeKind, Tree};
use crate::agents::page::walk::Visit;
use crate::agents::scan::price::may_name_price;

/// What is known about the boxes of a page before its text is read.
#[derive(Debug, Default)]
pub struct Boxes {
    /// Elements that hold the main heading or the main part, which are never left out.
    kept: HashSet<NodeId>,
    /// Elements that hold a price.
    priced: HashSet<NodeId>,
    /// Elements that hold a heading of the page, or something named after plans or prices.
    headed: HashSet<NodeId>,
    /// Bytes of text in links, and in all, of elements that may be menus.
    links: HashMap<NodeId, (usize, usize)>,
}

impl Boxes {
    /// Looks through a page.
    #[must_use]
    pub fn of(tree: &Tree) -> Self {
        let mut boxes = Self::default();
        let mut menus: Vec<NodeId> = Vec::new();
        let mut links: usize = 0;
        for visit in tree.walk(NodeId::DOCUMENT) {
            let (Visit::Enter(id) | Visit::Leave(id)) = visit;
            let is_enter = matches!(visit, Visit::Enter(_));
            let Some(node) = tree.node(id) else { continue };
            if let (NodeKind::Text(text), true) = (&node.kind, is_enter) {
                let bytes = text.trim().len();
                for menu in &menus {
                    let count = boxes.links.entry(*menu).or_default();
                    count.0 += if links > 0 { bytes } else { 0 };
                    count.1 += bytes;
                }
                if may_name_price(text) {
                    mark(&mut boxes.priced, tree, id);
                }
            }
            let Some(name) = node.html_name() else { continue };
            let is_link = matches!(*name, local_name!("a") | local_name!("button"));
            if is_link {
                links = if is_enter { links.saturating_add(1) } else { links.saturating_sub(1) };
            }
            if is_enter {
                if matches!(*name, local_name!("h1") | local_name!("main")) {
                    mark(&mut boxes.kept, tree, id);
                }
                if matches!(*name, local_name!("h1") | local_name!("h2")) || is_price_list(node) {
                    mark(&mut boxes.headed, tree, id);
                }
                if menus.len() < MENUS_OPEN_MAX && class_words(node).any(|it| is_menu(&it)) {
                    menus.push(id);
                }
            } else if menus.last() == Some(&id) {
                menus.pop();
            }
        }
        boxes
    }

    /// Whether nearly all the text of an element is in links.
    #[must_use]
    pub fn is_mostly_links(&self, id: NodeId) -> bool {
        self.links.get(&id).is_some_and(|(links, all)| links.saturating_mul(10) >= all * 7)
    }

    /// Whether an element is a box that is not content.
    #[must_use]
    pub fn is_left_out(&self, id: NodeId, node: &Node) -> bool {
        if self.kept.contains(&id) {
            return false;
        }
        let is_dialog = node.attribute("role").is_some_and(|it| it.ends_with("dialog"));
        let is_modal = node.attribute("aria-modal").is_some_and(|it| it == "true");
        if is_dialog || is_modal || is_old_price(node) {
            return true;
        }
        let words: Vec<String> = class_words(node).collect();
        let is_priced = self.priced.contains(&id);
        (is_foreign(&words) && !(is_priced && is_price_list(node)))
            || (is_stage(&words) && !is_priced && !self.headed.contains(&id))
    }
}

/// Marks an element and all that it stands in.
fn mark(set: &mut HashSet<NodeId>, tree: &Tree, id: NodeId) {
    let mut at = Some(id);
    while let Some(id) = at.filter(|it| set.insert(*it)) {
        at = tree.parent(id);
    }
}

/// The words of an element's id and classes, in lower case.
pub fn class_words(node: &Node) -> impl Iterator<Item = String> {
    let names = ["id", "class"].map(|it| node.attribute(it).unwrap_or_default());
    let mut words = Vec::new();
    for name in names {
        let mut word = String::new();
        let mut was_lower = false;
        for it in name.chars().take(NAME_CHARS_MAX) {
            let ends = !it.is_ascii_alphabetic() || (it.is_ascii_uppercase() && was_lower);
            if ends && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if it.is_ascii_alphabetic() {
                word.push(it.to_ascii_lowercase());
            }
            was_lower = it.is_ascii_lowercase();
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words.into_iter()
}

/// Whether an element is made to look like a button.
#[must_use]
pub fn is_call(node: &Node) -> bool {
    node.attribute("role").is_some_and(|it| it == "button")
        || class_words(node).any(|it| matches!(it.as_str(), "btn" | "button" | "cta"))
}

/// Whether an element holds prices by its name.
#[must_use]
pub fn is_price_list(node: &Node) -> bool {
    class_words(node).any(|it| PRICE_LISTS.contains(&it.as_str()))
}

fn is_menu(word: &str) -> bool {
    matches!(word, "nav" | "navbar" | "navigation" | "menu" | "topnav" | "mainmenu")
}

/// Whether a box holds something that is not the site's own word: consent, advertising, chat.
fn is_foreign(words: &[String]) -> bool {
    let has = |list: &[&str]| words.iter().any(|it| list.contains(&it.as_str()));
    let begins = |with: &str| words.iter().any(|it| it.starts_with(with));
    has(&FOREIGN)
        || FOREIGN_BEGINNINGS.iter().any(|it| begins(it))
        || (begins("chat") && has(&WIDGETS))
        || (has(&["recommended"]) && has(&RECOMMENDED))
}

/// Whether a box shows one thing after another.
fn is_stage(words: &[String]) -> bool {
    words.iter().any(|word| {
        STAGES.contains(&word.as_str()) || STAGE_BEGINNINGS.iter().any(|it| word.starts_with(it))
    })
}

/// Whether an element shows the price of before.
fn is_old_price(node: &Node) -> bool {
    let words: Vec<String> = class_words(node).collect();
    let has = |list: &[&str]| words.iter().any(|it| list.contains(&it.as_str()));
    has(&["price", "preis", "prix", "precio", "prezzo", "amount"])
        && has(&[
            "old",
            "was",
            "before",
            "compare",
            "strike",
            "strikethrough",
            "crossed",
            "original",
        ])
}

/// Words of boxes that are not the site's own.
const FOREIGN: [&str; 29] = [
    "ad",
    "ads",
    "adslot",
    "adsense",
    "dfp",
    "cmp",
    "quote",
    "quotes",
    "toast",
    "snackbar",
    "related",
    "recommendation",
    "recommendations",
    "trending",
    "captcha",
    "newsticker",
    "livechat",
    "chatbox",
    "chatbubble",
    "chatwidget",
    "chatwindow",
    "crisp",
    "tawk",
    "zendesk",
    "weather",
    "clock",
    "breadcrumb",
    "countdown",
    "marquee",
];
/// Beginnings of such words.
const FOREIGN_BEGINNINGS: [&str; 14] = [
    "cookie",
    "consent",
    "gdpr",
    "onetrust",
    "didomi",
    "usercentrics",
    "cybot",
    "borlabs",
    "klaro",
    "iubenda",
    "advert",
    "sponsor",
    "intercom",
    "testimonial",
];
/// Words that make a box named after chat a window to chat in.
const WIDGETS: [&str; 10] =
    ["widget", "bubble", "launcher", "button", "box", "window", "popup", "icon", "toggle", "live"];
/// Words that make a box of what is recommended one for this visitor.
const RECOMMENDED: [&str; 6] = ["you", "products", "articles", "posts", "reading", "items"];
/// Words of boxes that show one thing after another.
const STAGES: [&str; 4] = ["slide", "slides", "rotator", "ticker"];
/// Beginnings of such words.
const STAGE_BEGINNINGS: [&str; 5] = ["carousel", "slider", "swiper", "slick", "splide"];
/// Words of boxes with prices.
const PRICE_LISTS: [&str; 15] = [
    "pricing", "price", "prices", "plan", "plans", "tariff", "tariffs", "preise", "tarif",
    "tarife", "tarifs", "precios", "prezzi", "prijzen", "packages",
];
/// Menus inside of each other.
const MENUS_OPEN_MAX: usize = 4;
/// Characters of a class attribute that are looked at.
const NAME_CHARS_MAX: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::media::Kind;
    use crate::agents::page::parse::parse;
    use crate::agents::parsers::Patience;

    fn left_out(html: &str, name: &str) -> bool {
        let tree = parse(html, Kind::Html, &Patience::endless()).passed.tree;
        let boxes = Boxes::of(&tree);
        let found = tree.walk(NodeId::DOCUMENT).find_map(|it| match it {
            Visit::Enter(id) => {
                tree.node(id).filter(|it| it.attribute("id") == Some(name)).map(|_| id)
            }
            Visit::Leave(_) => None,
        });
        let id = found.unwrap();
        boxes.is_left_out(id, tree.node(id).unwrap())
    }

    #[test]
    fn boxes_are_known_by_the_words_of_their_names() {
        assert!(left_out("<div id=CybotCookiebotDialog>x", "CybotCookiebotDialog"));
        assert!(left_out("<div id=x class='b hero-slider__item'>x", "x"));
        assert!(left_out("<div id=x class=ad-slot>x", "x"));
        assert!(left_out("<div id=x role=alertdialog>x", "x"));
        assert!(left_out("<span id=x class=price-old>x", "x"));
        assert!(!left_out("<div id=x class='add-on header shadow'>x", "x"));
        assert!(!left_out("<span id=x class=price>x", "x"));
    }

    #[test]
    fn plans_and_what_the_page_says_of_itself_are_never_left_out() {
        for class in ["plan recommended", "hero-slider", "swiper-slide", "plan quote", "slick-item"]
        {
            let card = format!("<div id=x class='{class}'><h3>Crew</h3><p>$<b>29</b> / month");
            assert!(!left_out(&card, "x"), "{class}");
        }
        assert!(!left_out("<div id=chat-plans class=chat-pricing><p>29 EUR", "chat-plans"));
        assert!(!left_out("<div id=x class='hero-slider'><p class=slide><h2>New</h2>", "x"));
        assert!(!left_out("<div id=chat>x", "chat"));
        // A price in somebody else's box is none of the site's.
        for class in ["ad-slot", "related-products", "recommended-for-you", "chat-widget"] {
            assert!(left_out(&format!("<div id=x class={class}><h2>y</h2><p>$5"), "x"), "{class}");
        }
    }

    #[test]
    fn what_holds_the_main_heading_is_never_left_out() {
        assert!(!left_out("<div id=x class=has-slider><h1>y</h1></div>", "x"));
        assert!(left_out("<h1>y</h1><div id=x class=has-slider></div>", "x"));
    }
}
