//! Whole scans of sites in memory: the real client fetches them, the clock is simulated.

use errand::domain::outcome::Outcome;
use errand::domain::run::Trigger;
use serde_json::json;

use crate::street::{Street, changes, home};

#[track_caller]
fn check_silent(outcome: &Outcome) {
    assert!(matches!(outcome, Outcome::NoSignal(_)), "{outcome:?}");
}

#[track_caller]
fn check_told(outcome: &Outcome, expected: &[&str]) {
    assert!(matches!(outcome, Outcome::Succeeded(_)), "{outcome:?}");
    assert_eq!(changes(outcome), expected);
}

fn report(outcome: &Outcome) -> &str {
    let (Outcome::Succeeded(report) | Outcome::NoSignal(report)) = outcome else {
        panic!("{outcome:?}");
    };
    &report.output
}

#[tokio::test(start_paused = true)]
async fn the_first_scan_compares_and_the_next_is_silent_while_only_noise_changes() {
    let mut street = Street::new();
    let first = street.scan().await;
    check_told(&first, &[]);
    assert!(report(&first).contains("## Side by side"), "{}", report(&first));
    check_silent(&street.scan().await);
    street.put("a.example", "/", &home("Boats on time", 29, "<p>37 people are here right now</p>"));
    let quiet = street.scan().await;
    check_silent(&quiet);
    assert!(!report(&quiet).contains('\n'), "{}", report(&quiet));
}

#[tokio::test(start_paused = true)]
async fn a_price_a_headline_and_indexability_are_told_once_each() {
    let mut street = Street::new();
    street.scan().await;
    street.put("a.example", "/", &home("Boats on time", 35, ""));
    let price = street.scan().await;
    check_told(&price, &["price: 29 USD / month > 35 USD / month"]);
    assert!(
        report(&price).contains("**Price** (`Crew`): `29 USD / month` is now `35 USD / month`")
    );
    check_silent(&street.scan().await);
    street.put("b.example", "/", &home("Fleets on time", 29, ""));
    let headline = street.scan().await;
    let told = ["title: Boats on time > Fleets on time", "heading: Boats on time > Fleets on time"];
    check_told(&headline, &told);
    let hidden =
        home("Fleets on time", 29, "").replace("<nav>", "<meta name=robots content=noindex><nav>");
    street.put(
        "b.example",
        "/",
        &hidden.replace("<title>", "<meta name=robots content=noindex><title>"),
    );
    check_told(&street.scan().await, &["robots: - > noindex"]);
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn a_change_that_a_second_look_does_not_find_is_not_told() {
    let mut street = Street::new();
    street.scan().await;
    let (usual, other) = (home("Boats on time", 29, ""), home("Boats on time", 35, ""));
    street.put_all("a.example", "/", &[(200, &other), (200, &usual)]);
    let before = street.bench.clock.now();
    check_silent(&street.scan().await);
    assert!(street.bench.clock.now().since(before) >= street.bench.confirm_pause);
    street.put_all("a.example", "/", &[(200, &other), (500, "")]);
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn a_value_that_comes_back_is_said_to_alternate_once() {
    let mut street = Street::new();
    let (one, other) = (home("Boats on time", 29, ""), home("Fleets for all", 29, ""));
    street.put("a.example", "/", &one);
    street.scan().await;
    street.put("a.example", "/", &other);
    assert_eq!(changes(&street.scan().await).len(), 2);
    street.put("a.example", "/", &one);
    let back = street.scan().await;
    assert_eq!(changes(&back).len(), 2);
    assert!(report(&back).contains("it alternates between the two"), "{}", report(&back));
    for page in [&other, &one, &other] {
        street.put("a.example", "/", page);
        check_silent(&street.scan().await);
    }
}

#[tokio::test(start_paused = true)]
async fn what_differs_between_two_fetches_of_the_first_scan_is_never_told() {
    let mut street = Street::new();
    let deal =
        |it: &str| home("Boats on time", 29, &format!("<p>Deal of the minute: {it} rope set</p>"));
    street.put_all("a.example", "/", &[(200, &deal("red")), (200, &deal("blue"))]);
    street.scan().await;
    street.put("a.example", "/", &deal("blue"));
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn a_site_that_fails_is_told_at_the_third_time_and_its_return_once() {
    let mut street = Street::new();
    street.scan().await;
    street.put_all("b.example", "/", &[(503, "<title>Busy</title>")]);
    check_silent(&street.scan().await);
    check_silent(&street.scan().await);
    let third = changes(&street.scan().await);
    assert!(third[0].starts_with("unreachable: - > not readable 3 times in a row"), "{third:?}");
    check_silent(&street.scan().await);
    street.put("b.example", "/", &home("Boats on time", 29, ""));
    check_told(&street.scan().await, &["unreachable: not readable > readable again"]);
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_gone_and_comes_back_is_told_each_time() {
    let mut street = Street::new();
    street.scan().await;
    street.put_all("b.example", "/", &[(404, "<p>no")]);
    check_told(&street.scan().await, &["status: status 200 > status 404"]);
    check_silent(&street.scan().await);
    street.put("b.example", "/", &home("Boats on time", 29, ""));
    check_told(&street.scan().await, &["status: status 404 > status 200"]);
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_obeyed_also_for_further_pages_and_its_pause_is_kept() {
    let mut street = Street::new();
    street.put(
        "a.example",
        "/robots.txt",
        "User-agent: errand\nDisallow: /features\nCrawl-delay: 7",
    );
    street.put("b.example", "/robots.txt", "User-agent: *\nDisallow: /");
    street.put("a.example", "/features", &home("Features", 29, ""));
    let begun = street.bench.clock.now();
    let outcome = street.scan().await;
    let asked = street.asked.lock().unwrap().clone();
    assert!(!asked.iter().any(|it| it == "a.example/features" || it == "b.example/"), "{asked:?}");
    assert!(street.bench.clock.now().since(begun).as_secs() >= 7);
    assert!(report(&outcome).contains("robots.txt forbids it in line 2: `Disallow: /`"));
    street.put("a.example", "/robots.txt", "User-agent: *\nDisallow: /");
    let Outcome::Failed(failure) = street.scan().await else { panic!("nothing may be read") };
    assert_eq!(failure.code, "all_refused");
}

#[tokio::test(start_paused = true)]
async fn other_sites_are_a_new_beginning_with_its_reason() {
    let mut street = Street::new();
    street.scan().await;
    street.open("c.example");
    street.put("c.example", "/", &home("Canal boats", 19, ""));
    let other = json!({ "competitors": ["http://a.example/", "http://c.example/"] });
    let outcome = street.scan_of(&other).await;
    check_told(&outcome, &[]);
    assert!(report(&outcome).contains("the sites to scan are others than last time"));
    assert!(matches!(street.scan_of(&other).await, Outcome::NoSignal(_)));
}

#[tokio::test(start_paused = true)]
async fn slow_drift_adds_up_and_is_told_once() {
    let mut street = Street::new();
    let crews = |it: u32| home("Boats on time", 29, &format!("<p>Trusted by {it} crews.</p>"));
    street.put("a.example", "/", &crews(1_000));
    street.scan().await;
    for number in [1_060, 1_120, 1_180, 1_240] {
        street.put("a.example", "/", &crews(number));
        check_silent(&street.scan().await);
    }
    street.put("a.example", "/", &crews(1_260));
    let told = changes(&street.scan().await);
    assert_eq!(told, ["text: Trusted by 1000 crews. > Trusted by 1260 crews."]);
    street.put("a.example", "/", &crews(1_300));
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn further_pages_are_found_and_compared() {
    let mut street = Street::new();
    street.put(
        "a.example",
        "/features",
        &home("What it does", 29, "<p>Rosters respect rest hours.</p>"),
    );
    street.scan().await;
    street.put(
        "a.example",
        "/features",
        &home("What it does", 29, "<p>Refunds for cancelled crossings.</p>"),
    );
    let told = changes(&street.scan().await);
    assert_eq!(told, ["text: Rosters respect rest hours. > Refunds for cancelled crossings."]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_asked_for_compares_and_keeps_nothing() {
    let street = Street::new();
    street.open("me.example");
    street.put("me.example", "/", &home("Our own boats", 25, ""));
    let input = json!({
        "competitors": ["http://a.example/", "http://b.example/"],
        "own_url": "http://me.example/",
    });
    let work = street.run(&input, Trigger::Api, None).await;
    assert!(matches!(work.outcome, Outcome::Succeeded(_)) && work.baseline.is_none());
    assert!(report(&work.outcome).contains("`me.example` (yours)"));
    let nobody = json!({ "competitors": ["http://x.example/", "http://y.example/"] });
    let work = street.run(&nobody, Trigger::Api, None).await;
    let Outcome::Failed(failure) = work.outcome else { panic!("nobody is there") };
    assert_eq!(failure.code, "all_unreachable");
}
