//! Text to tree, within limits that no page can talk its way around.
//!
//! A linear look cuts away endless attributes, the [`gate`](crate::agents::page::gate) bounds
//! depth, number and time, and the text is fed in small pieces so that there is always a next
//! moment to stop at.

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tokenizer, TokenizerOpts};

use crate::agents::page::gate::{Gate, Passed};
use crate::agents::page::media::Kind;
use crate::agents::page::prescan;
use crate::agents::parsers::Patience;

/// A page that was parsed, perhaps not to its end.
#[derive(Debug)]
pub struct Parsed {
    /// What the parser made of it.
    pub passed: Passed,
    /// The most attributes of one tag.
    pub attributes: usize,
}

/// Parses a page.
#[must_use]
pub fn parse(text: &str, kind: Kind, patience: &Patience) -> Parsed {
    let scan = prescan::scan(text);
    let gate = Gate::new(text, kind, patience.clone());
    let tokenizer = Tokenizer::new(gate, TokenizerOpts::default());
    let mut from: usize = 0;
    for cut in &scan.cuts {
        feed(&tokenizer, text, from, cut.start);
        from = cut.end;
    }
    feed(&tokenizer, text, from, text.len());
    if tokenizer.sink.is_open() {
        tokenizer.end();
    }
    Parsed { passed: tokenizer.sink.finish(), attributes: scan.attributes }
}

/// Feeds the part of the text from `from` to `to`, in pieces that end after a `>`, so that the
/// end of a piece is the end of the tag that is complete with it.
fn feed(tokenizer: &Tokenizer<Gate<'_>>, text: &str, from: usize, to: usize) {
    let queue = BufferQueue::default();
    let mut at = from;
    while at < to && tokenizer.sink.is_open() {
        let end = piece_end(text, at, to);
        let piece = text.get(at..end).unwrap_or_default();
        at = end;
        tokenizer.sink.set_position(end);
        queue.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        if !piece.ends_with('>') {
            tokenizer.sink.look_at_time();
        }
    }
}

/// The end of the piece that begins at `at`: after the next `>`, but not far away.
fn piece_end(text: &str, at: usize, to: usize) -> usize {
    let mut limit = at.saturating_add(PIECE_BYTES_MAX).min(to);
    while !text.is_char_boundary(limit) {
        limit = limit.saturating_sub(1);
    }
    let rest = text.get(at..limit).unwrap_or_default();
    rest.find('>').map_or(limit, |it| at.saturating_add(it).saturating_add(1))
}

/// Bytes that are fed at once.
const PIECE_BYTES_MAX: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::gate::{DEPTH_KEPT, ELEMENTS_MAX, HeadEnd, Stop};
    use crate::agents::page::tree::{NodeId, NodeKind};
    use crate::agents::page::walk::Visit;
    use crate::sys::clock::Clock;
    use std::time::Duration;

    fn html(text: &str) -> Passed {
        parse(text, Kind::Html, &Patience::endless()).passed
    }

    /// The elements and texts of a page: `html(head()body(p("x")))`, head and body as parsed.
    fn shown(passed: &Passed) -> String {
        let mut out = String::new();
        for visit in passed.tree.walk(NodeId::DOCUMENT) {
            let (Visit::Enter(id) | Visit::Leave(id)) = visit;
            match (&passed.tree.node(id).unwrap().kind, visit) {
                (NodeKind::Element(name, _), Visit::Enter(_)) => out += &format!("{}(", name.local),
                (NodeKind::Element(..), Visit::Leave(_)) => out.push(')'),
                (NodeKind::Text(text), Visit::Enter(_)) => out += &format!("{text:?}"),
                (NodeKind::Text(_) | NodeKind::Root, _) => {}
            }
        }
        out
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(shown(&html(text)), expected, "{text:?}");
    }

    #[test]
    fn pages_become_trees_as_browsers_make_them() {
        check("", "html(head()body())");
        check("<p>a<p>b", r#"html(head()body(p("a")p("b")))"#);
        check("<b><i>x</b>y</i>", r#"html(head()body(b(i("x"))i("y")))"#);
        check(
            "<table><tr><td>x<p>y</table>z",
            r#"html(head()body(table(tbody(tr(td("x"p("y")))))"z"))"#,
        );
        check("<table>x<td>y</table>", r#"html(head()body("x"table(tbody(tr(td("y"))))))"#);
        check("a<!-- b -->c", r#"html(head()body("ac"))"#);
        check(
            "<template><h1>no</h1></template><h1>yes</h1>",
            r#"html(head(template())body(h1("yes")))"#,
        );
        check("<noscript><img></noscript>", r#"html(head(noscript("<img>"))body())"#);
        check("<script>if (a<b) {}</script>", r#"html(head(script("if (a<b) {}"))body())"#);
        check("<svg><title>t</title></svg>", r#"html(head()body(svg(title("t"))))"#);
    }

    #[test]
    fn xhtml_elements_can_be_empty() {
        let text =
            "<html><head><script src='x'/><title>t</title></head><body><a id='x'/>y</body></html>";
        let passed = parse(text, Kind::Xhtml, &Patience::endless()).passed;
        assert_eq!(shown(&passed), r#"html(head(script()title("t"))body(a()"y"))"#);
    }

    #[test]
    fn every_element_knows_its_place_in_the_source() {
        let text = "a < b <!-- <p> --> é<P title='<p>'\n>x<p>y<script><p></script><p >";
        let passed = html(text);
        let spans: Vec<_> = passed
            .tree
            .walk(NodeId::DOCUMENT)
            .filter_map(|it| if let Visit::Enter(id) = it { passed.tree.node(id) } else { None })
            .filter(|it| it.html_name().is_some_and(|it| &**it == "p"))
            .map(|it| &text[it.span.start..it.span.end])
            .collect();
        assert_eq!(spans, ["<P title='<p>'\n>", "<p>", "<p >"]);
    }

    #[track_caller]
    fn check_head_end(text: &str, expected: Option<(&str, bool)>) {
        let found = html(text).head_end;
        let shown = |it: &HeadEnd| (text[it.span.start..].to_owned(), it.closed_later);
        let expected = expected.map(|(at, later)| (at.to_owned(), later));
        assert_eq!(found.as_ref().map(shown), expected, "{text:?}");
    }

    #[test]
    fn what_ended_the_head_is_named() {
        check_head_end("<head><title>t</title></head><body><p>", None);
        check_head_end("<title>t</title><body><p>", None);
        check_head_end("<head></head><p>", None);
        check_head_end("<title>t</title><p>x", Some(("<p>x", false)));
        check_head_end("<head><img><meta></head>", Some(("<img><meta></head>", true)));
        check_head_end("<head>\n oops</head>", Some(("oops</head>", true)));
    }

    /// Parses a hostile page; it must end soon even in a slow build, and not fill the memory.
    #[track_caller]
    fn check_hostile(text: &str, patience: &Patience) -> Passed {
        let before = busy_time();
        let found = parse(text, Kind::Html, patience).passed;
        let (begin, took) = (&text[..20], busy_time() - before);
        assert!(took < Duration::from_secs(2), "{begin} took {took:?}");
        assert!(found.elements <= ELEMENTS_MAX + 1_000, "{begin}: {} elements", found.elements);
        assert!(
            found.tree.len() <= 2 * ELEMENTS_MAX + 2_000,
            "{begin}: {} nodes",
            found.tree.len()
        );
        found
    }

    /// How long this thread has been busy; other work on the machine does not count.
    fn busy_time() -> Duration {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
    }

    #[test]
    fn nesting_that_would_take_the_parser_minutes_ends_within_two_seconds() {
        for part in ["<div>", "<table><tr><td>", "<svg>", "<ul><li>", "<font color=red>"] {
            let times = 100_000 / part.matches('<').count();
            let found = check_hostile(&part.repeat(times), &Patience::endless());
            assert!(found.depth > times && found.stopped.is_none(), "{part}: {}", found.depth);
        }
        let closed = format!("{}{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
        check_hostile(&closed, &Patience::endless());
        for part in ["<div></x>", "<table>", "<p><span>", "<select><option>", "<div><template>"] {
            check_hostile(&part.repeat(100_000), &Patience::endless());
        }
    }

    #[test]
    fn formatting_elements_do_not_multiply_without_end() {
        for part in ["<b><i>", "<b><i></b>", "<b><p></b>", "<a><div>", "<nobr><font></nobr>"] {
            check_hostile(&part.repeat(10_000), &Patience::endless());
        }
        let many: String = (0..400).map(|it| format!("<b x{it}>")).collect();
        let page = format!("<p>{many}</p>{}", "<p>x</p>".repeat(5_000));
        assert_eq!(check_hostile(&page, &Patience::endless()).stopped, Some(Stop::Elements));
        let attributes: String = (0..400).map(|it| format!(" a{it}=1")).collect();
        let page = format!("<p><b{attributes}></p>{}", "<p>x</p>".repeat(5_000));
        assert_eq!(check_hostile(&page, &Patience::endless()).stopped, Some(Stop::Attributes));
        let page = format!("<p><b a='{}'></p>{}", "x".repeat(100_000), "<p>x</p>".repeat(5_000));
        assert_eq!(check_hostile(&page, &Patience::endless()).stopped, Some(Stop::Attributes));
    }

    #[test]
    fn endless_attributes_and_unclosed_things_are_cut_short() {
        let many: String = (0..60_000).map(|it| format!(" a{it}=1")).collect();
        check_hostile(&format!("<p>x</p><div{many}><p>y"), &Patience::endless());
        for part in ["<a href='", "<!--", "<script>", "<title>", "&", "</", "<![CDATA["] {
            check_hostile(&part.repeat(100_000), &Patience::endless());
        }
        // The quick look takes this for text, and the tokenizer for a tag; time ends it.
        let clock = Clock::host();
        let patience = Patience::until(clock.mark().after(Duration::from_millis(200)));
        let found = check_hostile(&format!("<svg><textarea><g {many}"), &patience);
        assert_eq!(found.stopped, Some(Stop::Time));
    }

    #[test]
    fn a_page_deeper_than_browsers_keep_is_read_to_its_end() {
        let depth = DEPTH_KEPT as usize * 4;
        let text = format!(
            "<main>{}x{}</main><h2>after</h2>",
            "<div>".repeat(depth),
            "</div>".repeat(depth)
        );
        let passed = html(&text);
        assert_eq!(passed.stopped, None);
        assert!(shown(&passed).ends_with(r#"h2("after")))"#), "{}", passed.depth);
    }
}
