//! What never is a change, whatever the page, and what always is one.

use errand::agents::Patience;
use errand::agents::scan::reading::Reading;
use proptest::prelude::*;

use crate::pairs::{read, verdict};

const URL: &str = "https://site.example/";

/// A page that is made of parts, so that each can be changed alone.
#[derive(Clone, Debug)]
struct Page {
    title: String,
    headings: Vec<String>,
    texts: Vec<String>,
    prices: Vec<u32>,
}

impl Page {
    /// Its sections, in their order.
    fn sections(&self) -> Vec<String> {
        let texts = self.headings.iter().zip(&self.texts);
        let texts = texts.enumerate().map(|(at, (heading, text))| {
            // Names of boxes that others give to what changes by itself.
            let around = ["x", "hero-slider", "slide", "swiper-slide"][at % 4];
            format!(
                "<div class=\"{around}\"><section class=\"a b\" data-x=\"1\"><h2>{heading}</h2>\
                 <p>{text}</p></section></div>"
            )
        });
        let cards = self.prices.iter().enumerate().map(|(at, price)| {
            let around = ["x", "swiper", "chat-pricing", "carousel"][at % 4];
            let named = ["plan", "plan recommended", "swiper-slide", "plan quote"][at % 4];
            format!(
                "<div class=\"{around}\"><div class=\"{named}\" id=\"p{at}\"><h3>Plan {at}</h3>\
                 <p>${price} / month</p></div></div>"
            )
        });
        texts.chain(cards).collect()
    }

    fn html(&self, sections: &[String]) -> String {
        let title = &self.title;
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <link rel=\"canonical\" href=\"/\"></head><body><main><h1>{title}</h1>{}</main></body></html>",
            sections.join("\n")
        )
    }
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    // No numbers and no words that mean something to the scan.
    proptest::collection::vec("[b-z][aeiou][bdklmnrt][aeiou][nrst]", count)
        .prop_map(|it| it.join(" "))
}

fn pages() -> impl Strategy<Value = Page> {
    let texts = proptest::collection::vec((words(2..4), words(5..12)), 2..6);
    let prices = proptest::collection::vec(5_u32..900, 2..5);
    (words(3..6), texts, prices).prop_map(|(title, texts, prices)| {
        let (headings, texts) = texts.into_iter().unzip();
        Page { title, headings, texts, prices }
    })
}

fn kinds(before: &str, after: &str) -> Vec<String> {
    let (before, after) = (scanned(before.as_bytes()), scanned(after.as_bytes()));
    let changes =
        after.changed_since(before.page().unwrap(), &Patience::endless()).unwrap().changes;
    verdict(&changes).kinds.into_iter().collect()
}

fn scanned(body: &[u8]) -> Reading {
    read(URL, 200, &[], body)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn order_attributes_white_space_and_encoding_are_never_a_change(page in pages(), turn in 0_usize..6) {
        let sections = page.sections();
        let html = page.html(&sections);
        let mut turned = sections.clone();
        let by = turn % turned.len();
        turned.rotate_left(by);
        prop_assert_eq!(kinds(&html, &page.html(&turned)), Vec::<String>::new());
        let attributes = html.replace("class=\"a b\" data-x=\"1\"", "data-y='7' CLASS='c'");
        prop_assert_eq!(kinds(&html, &attributes), Vec::<String>::new());
        let ids = html.replace("id=\"p", "id=\"react-9f-");
        prop_assert_eq!(kinds(&html, &ids), Vec::<String>::new());
        let spaced = html.replace("><", ">\n\t  <").replace(' ', " \n ");
        prop_assert_eq!(kinds(&html, &spaced), Vec::<String>::new());
        let moved = html.replace("<main>", "<main><div><div>").replace("</main>", "</div></div></main>");
        prop_assert_eq!(kinds(&html, &moved), Vec::<String>::new());
        let mut wide = vec![0xff, 0xfe];
        wide.extend(html.encode_utf16().flat_map(u16::to_le_bytes));
        let after = scanned(&wide);
        let changes = after.changed_since(scanned(html.as_bytes()).page().unwrap(), &Patience::endless()).unwrap().changes;
        prop_assert!(changes.iter().all(|it| !it.is_notable()), "{changes:?}");
    }

    #[test]
    fn prices_titles_robots_canonicals_and_sections_always_are(page in pages(), at in 0_usize..6) {
        let html = page.html(&page.sections());
        let has = |after: &str, kind: &str| kinds(&html, after).iter().any(|it| it == kind);
        let mut dearer = page.clone();
        let price = at % dearer.prices.len();
        dearer.prices[price] += 1;
        prop_assert!(has(&page.html(&dearer.sections()), "price"));
        prop_assert!(has(&html.replace("<title>", "<title>Zorro "), "title"));
        prop_assert!(has(&html.replace("<title>", "<meta name=robots content=noindex><title>"), "robots"));
        prop_assert!(has(&html.replace("href=\"/\"", "href=\"https://other.example/\""), "canonical"));
        let mut fewer = page.clone();
        let gone = at % fewer.texts.len();
        let heading = fewer.headings.remove(gone);
        let text = fewer.texts.remove(gone);
        let is_said_again = fewer.headings.contains(&heading) || fewer.texts.contains(&text);
        prop_assume!(!is_said_again);
        let found = kinds(&html, &page.html(&fewer.sections()));
        prop_assert!(found.contains(&"heading".to_owned()) && found.contains(&"text".to_owned()), "{found:?}");
    }

    #[test]
    fn a_page_that_was_kept_reads_as_it_did(page in pages()) {
        let reading = scanned(page.html(&page.sections()).as_bytes());
        let again = Reading::again(reading.page().unwrap(), &reading.source, &Patience::endless());
        prop_assert_eq!(again.as_ref(), reading.page());
    }
}

#[test]
fn every_page_of_the_corpus_reads_as_it_did_when_it_is_read_from_what_was_kept() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages");
    for set in ["pairs", "pairs2"] {
        for entry in std::fs::read_dir(format!("{folder}/{set}")).unwrap() {
            let path = entry.unwrap().path();
            let reading = scanned(&std::fs::read(&path).unwrap());
            let Some(facts) = reading.page() else { continue };
            let again = Reading::again(facts, &reading.source, &Patience::endless()).unwrap();
            assert_eq!(again, *facts, "{}", path.display());
        }
    }
}
