//! Pages that mean no good: the scan stays within its time, and never breaks.

use std::time::Duration;

use errand::agents::Patience;
use errand::agents::scan::reading::Reading;
use proptest::prelude::*;

use crate::pairs::read;

fn scanned(html: &str) -> Reading {
    read("https://site.example/", 200, &[], html.as_bytes())
}

/// Pages that make naive readers slow: deep, wide, repetitive.
fn hostile() -> Vec<(&'static str, String)> {
    vec![
        ("deep", "<div>".repeat(50_000) + "$5 / month"),
        ("tables", "<table><tr><td>".repeat(5_000) + "$5"),
        ("prices", "<p>$5 / month</p>".repeat(60_000)),
        ("cards", "<div><h3>x</h3><p>$5</p></div>".repeat(30_000)),
        (
            "wide table",
            format!("<table>{}</table>", format!("<tr>{}</tr>", "<td>$1".repeat(500)).repeat(300)),
        ),
        ("links", "<a href=/blog/x>$1 now</a>".repeat(60_000)),
        ("menus", "<div class=menu>".repeat(400) + &"<a href=/x>y</a>".repeat(20_000)),
        ("numbers", "<p>".to_owned() + &"1 000 ".repeat(200_000)),
        ("words", "<h1>".to_owned() + &"x ".repeat(500_000)),
        ("classes", format!("<div class='{}'>x</div>", "a-".repeat(1_000)).repeat(1_000)),
        ("json", format!("<script type=application/ld+json>{}</script>", "[".repeat(500_000))),
        (
            "offers",
            format!(
                "<script type=application/ld+json>[{}1]</script>",
                "{\"price\":1},".repeat(100_000)
            ),
        ),
    ]
}

/// What this thread has used of a processor; other work on the machine does not count.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap())
}

#[test]
fn no_page_takes_long() {
    for (name, html) in hostile() {
        let start = processor_time();
        let page = scanned(&html);
        let other = scanned(&(html + "<p>Something else that is new here"));
        if let Some(before) = page.page() {
            let _ = other.changed_since(before, &Patience::endless());
        }
        // Two readings and a comparison without optimisation; one reading alone takes far less.
        let spent = processor_time() - start;
        assert!(spent < Duration::from_secs(10), "{name} took {spent:?}");
    }
}

/// Pages of many parts, of which no word stands in a page of another side.
fn replaced(side: &str) -> Vec<(&'static str, String)> {
    let words = |at: usize, count: usize| {
        (0..count).map(|it| format!("{side}{at}x{it}")).collect::<Vec<_>>().join(" ")
    };
    let all = |count: usize, part: &dyn Fn(usize) -> String| (0..count).map(part).collect();
    vec![
        ("texts", all(490, &|at| format!("<p>{}</p>", words(at, 280)))),
        ("headings", all(3_000, &|at| format!("<h2>{}</h2>", words(at, 6)))),
        (
            "cards",
            all(1_500, &|at| {
                let name = words(at, 2);
                format!(
                    "<div class=plan><h3>{name}</h3><p>${at}</p><a href=/{at}>Buy {name}</a></div>"
                )
            }),
        ),
        ("links", all(2_500, &|at| format!("<a href=/x{at}>{}</a> ", words(at, 5)))),
    ]
}

#[test]
fn no_comparison_of_other_pages_takes_long() {
    for ((name, one), (_, other)) in replaced("a").into_iter().zip(replaced("b")) {
        let (one, other) = (scanned(&one), scanned(&other));
        let start = processor_time();
        let diff = other.changed_since(one.page().unwrap(), &Patience::endless()).unwrap();
        let spent = processor_time() - start;
        assert!(diff.is_notable(), "{name}");
        assert!(spent < Duration::from_secs(5), "{name} took {spent:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_breaks_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let page = read("https://site.example/", 200, &[], &bytes);
        if let Some(facts) = page.page() {
            prop_assert!(page.changed_since(facts, &Patience::endless()).is_some_and(|it| it.changes.is_empty()));
        }
    }

    #[test]
    fn markup_in_any_order_breaks_nothing(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..60),
    ) {
        let page = scanned(&parts.concat());
        if let Some(facts) = page.page() {
            prop_assert!(page.changed_since(facts, &Patience::endless()).is_some_and(|it| it.changes.is_empty()));
        }
    }
}

/// Pieces of pages, whole and torn.
const PARTS: &[&str] = &[
    "<table>",
    "<tr>",
    "<td>",
    "<th colspan=9>",
    "</table>",
    "<h1>",
    "</h1>",
    "<h3>Crew",
    "</h3>",
    "<div class=plan>",
    "</div>",
    "<p>$29 / month",
    "</p>",
    "1.290,00 €",
    "<a href=/blog/x>",
    "</a>",
    "<a href='http://['>",
    "<button>",
    "<nav>",
    "</nav>",
    "<footer>",
    "<dl><dt>",
    "<dd>",
    "<details>",
    "<summary>",
    "<script type=application/ld+json>{\"@type\":",
    "</script>",
    "<svg><title>",
    "</svg>",
    "<select><option>",
    "<template>",
    "<!--",
    "-->",
    "&#x202e;",
    "\u{0}",
    "2026年11月20日",
    "3 hours ago",
    "© 2026",
    "<title>",
    "</title>",
    "<base href=//x>",
    "<meta name=robots content=NOINDEX>",
    "<del>",
    "<plaintext>",
    "月額980円",
    "１２",
    "<form class='slider'>",
    "<main>",
    "<math><mi>",
    "v2.3.1",
];
