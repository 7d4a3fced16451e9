//! What is kept of findings and of the page to compare with later: stable under everything that
//! changes a page's source and nothing else.

use std::collections::BTreeMap;

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::facts::Part;
use crate::agents::page::text::{clip, printable};
use crate::agents::page::tree::{Node, NodeId, NodeKind};
use crate::agents::page::walk::Visit;
use crate::agents::seo::around::TargetAnswer;
use crate::agents::seo::audit::Audit;
use crate::agents::seo::checks::{canonical, hreflang};
use crate::agents::seo::finding::{Check, EVIDENCE_MAX, Evidence, Found, Judgement, Within};
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
/// A page that was not there says nothing of its content, and an address that was not asked or did
/// not answer nothing of what is there.
#[must_use]
pub fn is_known(audit: &Audit, check: &Check) -> bool {
    let (id, around) = (check.rule.id, &audit.subject.fetched.around);
    let is_unanswered = |it: &(Url, TargetAnswer)| !matches!(it.1, TargetAnswer::Answered(_));
    match id {
        "links-broken" if around.links.iter().any(is_unanswered) => return false,
        "hreflang-return" if around.translations.iter().any(is_unanswered) => return false,
        _ => {}
    }
    let is_na = matches!(check.judgement, Judgement::NotApplicable(_));
    !is_na || (audit.subject.document().is_some() && !ASKING.contains(&id))
}

/// A place without its position: what it is, and what is wrong with it.
fn text_of(evidence: &Evidence) -> String {
    let value = evidence.value.as_deref().unwrap_or_default();
    // A value that repeats markup changes with every attribute.
    let value = if value.contains('<') { String::new() } else { masked(value) };
    let excerpt = evidence.excerpt.as_deref().unwrap_or_default();
    let place = match (&evidence.key, evidence.within) {
        (Some(key), _) => key.as_str(),
        (None, Within::Page) => excerpt.split([' ', '>']).next().unwrap_or_default(),
        (None, Within::Headers | Within::RobotsTxt | Within::Exchange) => excerpt,
    };
    format!("{} {place} {value}", evidence.within.as_str())
}

/// A text in which measured numbers count for one; a status stays.
fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, it) in text.char_indices() {
        let is_status = || {
            let before = out.trim_end_matches(|it: char| it.is_ascii_digit());
            before.ends_with("status ")
        };
        if !it.is_ascii_digit() || is_status() {
            out.push(it);
        } else if !text.get(..at).unwrap_or_default().ends_with(|it: char| it.is_ascii_digit()) {
            out.push('#');
        }
    }
    out
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
        let value = if attribute == "src" { without_query(value) } else { value };
        let value = printable(&clip(value, VALUE_CHARS_MAX));
        let is_word = matches!(attribute, "rel" | "name" | "http-equiv" | "property");
        let value = if is_word { value.to_ascii_lowercase() } else { value };
        key.push_str(&format!(" {attribute}={value}"));
    }
    if NAMED_BY_TEXT.contains(&name.as_str()) {
        key.push(' ');
        key.push_str(&text_inside(page, id));
    }
    Some(key)
}

fn without_query(address: &str) -> &str {
    address.split(['?', '#']).next().unwrap_or(address)
}

/// A title without the number of unread messages that chats and mail put before it.
fn without_counter(title: &str) -> &str {
    let rest = title.strip_prefix('(').and_then(|it| it.split_once(") "));
    let rest = rest.filter(|(count, _)| count.bytes().all(|it| it.is_ascii_digit() || it == b'+'));
    rest.map_or(title, |(_, rest)| rest)
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
    use super::*;
    use crate::agents::seo::history::{Baseline, Changes};
    use crate::agents::seo::sample::Sample;
    use proptest::prelude::*;

    #[test]
    fn measured_numbers_count_for_one_and_a_status_stays() {
        assert_eq!(masked("61 words, 7 scripts"), "# words, # scripts");
        assert_eq!(
            masked("answers with status 404 after 12 ms"),
            "answers with status 404 after # ms"
        );
        assert_eq!(masked(""), "");
    }

    #[test]
    fn addresses_of_images_lose_their_version() {
        assert_eq!(without_query("/a.png?v=1#x"), "/a.png");
        assert_eq!(without_query(""), "");
        assert_eq!(without_counter("(12) Inbox"), "Inbox");
        assert_eq!(without_counter("(Old) Inbox"), "(Old) Inbox");
    }

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
