//! What is kept of findings and of the page to compare with later: stable under everything that
//! changes a page's source and nothing else.

use std::collections::BTreeMap;

use crate::agents::page::document::Document;
use crate::agents::page::facts::Part;
use crate::agents::page::text::{clip, printable};
use crate::agents::page::tree::{Node, NodeId, NodeKind};
use crate::agents::page::walk::Visit;
use crate::agents::seo::audit::Audit;
use crate::agents::seo::checks::{canonical, hreflang};
use crate::agents::seo::finding::{Check, EVIDENCE_MAX, Evidence, Found, Judgement, Within};
use crate::agents::seo::noise::{
    is_asset, masked, without_build, without_builds, without_counter, without_numbers,
};
use crate::agents::seo::result::directives;
use crate::agents::seo::subject::Subject;
use crate::agents::seo::target::hash;

/// What a finding was found in, as sorted hashes; of very many places only their number.
#[must_use]
pub fn evidence(found: &Found) -> Vec<String> {
    if found.places > EVIDENCE_MAX {
        return vec![format!("{} places", found.places)];
    }
    let text = |it: &Evidence| format!("{:016x}", hash(text_of(it).bytes()));
    let mut all: Vec<String> = found.evidence.iter().map(text).collect();
    all.sort_unstable();
    all
}

/// Whether an audit could look at what a check is about.
///
/// A page that was not there says nothing of its content, and an address that was not asked
/// nothing of what is there.
#[must_use]
pub fn is_known(audit: &Audit, check: &Check) -> bool {
    let is_na = matches!(check.judgement, Judgement::NotApplicable(_));
    !is_na || (audit.subject.document().is_some() && !ASKING.contains(&check.rule.id))
}

/// A place without its position: what it is, and what is wrong with it.
fn text_of(evidence: &Evidence) -> String {
    let value = evidence.value.as_deref().unwrap_or_default();
    // A value that repeats markup changes with every attribute.
    let is_markup = value.contains('<');
    let value = if is_markup { String::new() } else { masked(&without_builds(value)) };
    let excerpt = evidence.excerpt.as_deref().unwrap_or_default();
    let place = match (&evidence.key, evidence.within) {
        (Some(key), _) => key.as_str(),
        (None, Within::Page) => excerpt.split([' ', '>']).next().unwrap_or_default(),
        (None, Within::Headers | Within::RobotsTxt | Within::Exchange) => excerpt,
    };
    format!("{} {place} {value}", evidence.within.as_str())
}

/// An element by what a reader or a search engine takes from it: its name, the attributes that
/// mean something, and the text of links and headings.
#[must_use]
pub fn key(page: &Document, id: NodeId) -> Option<String> {
    let node = page.passed.tree.node(id)?;
    let name = node.name()?.local.to_string();
    let mut key = name.clone();
    for attribute in KEPT {
        let Some(value) = node.attribute(attribute) else { continue };
        let is_loaded = attribute == "src" || (attribute != "alt" && is_asset(value));
        let value = if is_loaded { without_build(value) } else { value.to_owned() };
        let value = printable(&clip(&value, VALUE_CHARS_MAX));
        let is_description = attribute == "content" && is_description(node);
        let value = if is_description { without_numbers(&value) } else { value };
        let is_word = matches!(attribute, "rel" | "name" | "http-equiv" | "property");
        let value = if is_word { value.to_ascii_lowercase() } else { value };
        key.push_str(&format!(" {attribute}={value}"));
    }
    if NAMED_BY_TEXT.contains(&name.as_str()) {
        let text = text_inside(page, id);
        key.push(' ');
        key.push_str(&if name == "title" { without_numbers(&text) } else { text });
    }
    Some(key)
}

fn is_description(node: &Node) -> bool {
    let name = node.attribute("name").unwrap_or_default();
    name.trim().eq_ignore_ascii_case("description")
}

fn text_inside(page: &Document, id: NodeId) -> String {
    let tree = &page.passed.tree;
    let parts = tree.walk(id).take(STEPS_MAX).filter_map(|it| match it {
        Visit::Enter(inner) => match tree.node(inner).map(|it: &Node| &it.kind) {
            Some(NodeKind::Text(text)) => Some(text.as_str()),
            Some(NodeKind::Root | NodeKind::Element(..)) | None => None,
        },
        Visit::Leave(_) => None,
    });
    printable(&clip(&parts.collect::<String>(), VALUE_CHARS_MAX))
}

/// What a page says about itself, by name; what is missing is empty.
#[must_use]
pub fn facts(subject: &Subject) -> BTreeMap<String, String> {
    let visit = &subject.fetched.visit;
    let mut facts =
        vec![("status", visit.reply.status.to_string()), ("final address", visit.url.to_string())];
    if let Some(page) = subject.document() {
        facts.extend(of_page(subject, page));
    }
    let short = |it: String| clip(&printable(&it), VALUE_CHARS_MAX);
    facts.into_iter().map(|(name, value)| (name.to_owned(), short(value))).collect()
}

fn of_page(subject: &Subject, page: &Document) -> [(&'static str, String); 7] {
    let facts = &page.facts;
    let mut robots = directives(subject, page);
    robots.iter_mut().for_each(|it| it.make_ascii_lowercase());
    robots.sort_unstable();
    robots.dedup();
    let headings: Vec<&str> = facts.main_headings().map(|it| it.text.as_str()).collect();
    let heading = if let [only] = headings.as_slice() { *only } else { "" };
    let mut versions: Vec<String> =
        hreflang::addresses(subject, page).into_iter().map(String::from).collect();
    versions.sort_unstable();
    let digest = hash(versions.join(" ").bytes());
    let versions = match versions.len() {
        0 => String::new(),
        count => format!("{count} addresses, {digest:08x}"),
    };
    let is_title = |it: &&crate::agents::page::facts::Title| it.part == Part::Head;
    let title = facts.titles.iter().filter(is_title).find(|it| !it.text.is_empty());
    let title = title.or(facts.title()).map(|it| it.text.as_str()).unwrap_or_default();
    [
        ("title", without_counter(title).to_owned()),
        ("description", facts.description().map(|it| it.content.clone()).unwrap_or_default()),
        ("main heading", heading.to_owned()),
        ("language", facts.lang.clone().unwrap_or_default()),
        (
            "canonical address",
            canonical::address(subject, page).map(String::from).unwrap_or_default(),
        ),
        ("robots directives", robots.join(", ")),
        ("translations", versions),
    ]
}

/// Checks that depend on what other addresses answer.
const ASKING: [&str; 7] = [
    "canonical-target",
    "hreflang-return",
    "sitemap",
    "links-broken",
    "llms-txt",
    "favicon",
    "tls-expiry",
];
/// Attributes that mean something to readers or search engines.
const KEPT: [&str; 15] = [
    "rel",
    "name",
    "property",
    "http-equiv",
    "hreflang",
    "lang",
    "type",
    "href",
    "src",
    "content",
    "alt",
    "aria-label",
    "itemprop",
    "itemtype",
    "action",
];
/// Elements that are known by their text.
const NAMED_BY_TEXT: [&str; 8] = ["a", "title", "h1", "h2", "h3", "h4", "h5", "h6"];
/// Characters of a value.
const VALUE_CHARS_MAX: usize = 500;
/// Steps into an element for its text.
const STEPS_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use crate::agents::seo::history::Baseline;
    use crate::agents::seo::news::Changes;
    use crate::agents::seo::sample::Sample;
    use proptest::prelude::*;

    /// What a schedule would tell about two versions of a page.
    fn changes(before: Sample, after: Sample) -> Changes {
        Baseline::of(&before.audit(), "{}", "run", None).compare(&after.audit())
    }

    /// One element of a page with a fault or none; its attributes in any order.
    fn element(name: &str, attributes: &[&str], text: &str, noise: u64) -> String {
        let mut all: Vec<String> = attributes.iter().map(ToString::to_string).collect();
        all.push(format!("id=x{noise}"));
        all.push(format!("class='c{} d'", noise % 7));
        let turn = usize::try_from(noise).unwrap() % all.len();
        all.rotate_left(turn);
        let space = if noise.is_multiple_of(3) { "\n\t" } else { " " };
        format!("{space}<{name}{space}{}>{text}</{name}>{space}", all.join(space))
    }

    #[test]
    fn a_build_is_nothing_to_tell() {
        let page = |hash: &str| {
            let head =
                format!("<meta property=og:image content=https://example.com/og.{hash}.png>");
            let body = format!("<img src=/hero.{hash}.png width=8 height=8>");
            let mut sample = Sample::page(&head, &body);
            let image = format!("https://example.com/og.{hash}.png");
            let gone = Sample::html("").status(404).into_target();
            sample.0.around.image = Some((url::Url::parse(&image).unwrap(), gone));
            sample
        };
        let found = changes(page("8f3ab2c1"), page("91bb02de"));
        assert!(found.is_silent(), "{found:?}");
        assert_eq!(page("8f3ab2c1").audit().checks.iter().filter_map(|it| it.fault()).count(), 2);
    }

    const BLOCKS: &[(&str, &[&str], &str)] = &[
        ("p", &["lang=en"], "The wheels of the mill turn all day long."),
        ("a", &["href=/more", "rel=bookmark"], "click here"),
        ("a", &["href='javascript:go()'"], "Map of the canal"),
        ("a", &["href=/empty"], ""),
        ("img", &["src=/wheel.png?v=3", "width=8", "height=8"], ""),
        ("h1", &["title=again"], "A second main heading"),
        ("h2", &["lang=en"], "The lower lock"),
        ("p", &["data-x=1"], "<b>Boats</b> and <i>ropes</i>"),
    ];

    proptest! {
        #[test]
        fn order_white_space_and_ids_never_signal(
            seeds in prop::collection::vec(0..1_000_u64, BLOCKS.len()),
            order in Just((0..BLOCKS.len()).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let block = |at: usize, noise: u64| {
                let (name, attributes, text) = BLOCKS[at];
                element(name, attributes, text, noise)
            };
            let head = |one: &str, two: &str| format!("<meta {one} {two}>");
            let before: String = (0..BLOCKS.len()).map(|it| block(it, 0)).collect();
            let after: String = order.iter().map(|it| block(*it, seeds[*it])).collect();
            let before = Sample::page(&head("name=robots", "content=nosnippet"), &before);
            let after = Sample::page(&head("content=nosnippet", "name=Robots"), &after);
            let found = changes(before, after);
            prop_assert!(found.is_silent(), "{found:?}");
        }

        #[test]
        fn a_changed_title_or_directive_always_signals(
            title in "[a-zé ]{1,40}[a-z]",
            directive in prop::sample::select(&["noindex", "nofollow", "none", "nosnippet"][..]),
            path in "/[a-z]{1,12}",
        ) {
            let titled = |it: &str| Sample::html(format!(
                "<!doctype html><html lang=en><title>{it}</title><h1>x</h1>"
            ));
            prop_assert!(!changes(titled("Before 1"), titled(&title)).is_silent());
            let tag = format!("<meta name=robots content={directive}>");
            prop_assert!(!changes(Sample::head(""), Sample::head(&tag)).is_silent());
            let link = |it: &str| Sample::head(&format!("<link rel=canonical href='https://example.com{it}'>"));
            prop_assert!(!changes(link("/A"), link(&path)).is_silent());
        }
    }
}
