//! Scans over time: what lasts is told in the end, and nothing is swallowed on the way.

use errand::domain::outcome::Outcome;

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

/// A home page with a price.
fn priced(price: u32) -> String {
    home("Boats on time", price, "")
}

/// A home page with much to say.
fn long() -> String {
    let more = "<p>Tides, crews and tickets for every small ferry between two shores.</p>";
    home("Boats on time", 29, &more.repeat(10))
}

/// A page with little to say.
fn short(text: &str) -> String {
    format!("<!doctype html><html lang=en><title>Boats</title><p>{text}</p>")
}

const CLOSING: &str = "Boats is shutting down on 31 March, acquired by Canals.";

#[tokio::test(start_paused = true)]
async fn a_price_that_was_never_there_is_told_after_a_sale() {
    let mut street = Street::new();
    street.scan().await;
    for (price, from) in [(19, 29), (29, 19), (39, 29), (45, 39)] {
        street.put("a.example", "/", &priced(price));
        let told = format!("price: {from} USD / month > {price} USD / month");
        check_told(&street.scan().await, &[&told]);
        check_silent(&street.scan().await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_shrinks_and_stays_so_is_told_once() {
    let mut street = Street::new();
    street.put("a.example", "/", &long());
    street.scan().await;
    street.put("a.example", "/", &short(CLOSING));
    let told = changes(&street.scan().await);
    assert!(told.iter().any(|it| it.ends_with("most of the page is gone")), "{told:?}");
    assert!(told.iter().any(|it| it.contains("Boats is shutting down")), "{told:?}");
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_cut_short_once_is_not_told() {
    let mut street = Street::new();
    street.put("a.example", "/", &long());
    street.scan().await;
    for _ in 0..4 {
        street.put_all("a.example", "/", &[(200, &short(CLOSING)), (200, &long())]);
        check_silent(&street.scan().await);
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_scan_believes_the_same_little_and_the_third_any() {
    let mut street = Street::new();
    street.put("a.example", "/", &long());
    street.scan().await;
    street.put_all("a.example", "/", &[(200, &short(CLOSING)), (0, "")]);
    check_silent(&street.scan().await);
    street.put("a.example", "/", &short(CLOSING));
    assert!(!changes(&street.scan().await).is_empty());

    let mut street = Street::new();
    street.put("a.example", "/", &long());
    street.scan().await;
    let texts = ["One", "Two", "Three", "Four", "Five", "Six"].map(short);
    let answers: Vec<(u16, &str)> = texts.iter().map(|it| (200, it.as_str())).collect();
    street.put_all("a.example", "/", &answers);
    check_silent(&street.scan().await);
    check_silent(&street.scan().await);
    let told = changes(&street.scan().await);
    assert!(told.iter().any(|it| it.ends_with("most of the page is gone")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_change_without_a_second_look_waits_for_the_next_scan() {
    let mut street = Street::new();
    street.scan().await;
    street.put_all("a.example", "/", &[(200, &priced(35)), (0, "")]);
    street.put("b.example", "/", &home("Fleets on time", 29, ""));
    let told = ["title: Boats on time > Fleets on time", "heading: Boats on time > Fleets on time"];
    check_told(&street.scan().await, &told);
    street.put("a.example", "/", &priced(35));
    check_told(&street.scan().await, &["price: 29 USD / month > 35 USD / month"]);
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn a_site_that_is_read_for_the_first_time_is_told() {
    let mut street = Street::new();
    street.put_all("b.example", "/", &[(503, "")]);
    street.scan().await;
    street.put("b.example", "/", &priced(49));
    let second = street.scan().await;
    check_told(
        &second,
        &["unreachable: not readable > readable for the first time: Boats on time"],
    );
    let Outcome::Succeeded(report) = &second else { panic!("{second:?}") };
    assert!(report.output.contains("49 USD"), "{}", report.output);
    check_silent(&street.scan().await);
}

#[tokio::test(start_paused = true)]
async fn limits_of_offers_are_told_each_time_they_change() {
    let mut street = Street::new();
    let cards = |berths: u32| {
        let card = |name: &str, at: u32| {
            format!(
                "<div class=plan><h3>{name}</h3><p>$9{at} / month</p>\
                 <p>Up to {} berths included</p></div>",
                berths + at
            )
        };
        home("Boats on time", 29, &[card("Pier", 1), card("Quay", 2), card("Port", 3)].concat())
    };
    street.put("a.example", "/", &cards(10));
    street.scan().await;
    for berths in [20, 30, 40, 50] {
        street.put("a.example", "/", &cards(berths));
        assert_eq!(changes(&street.scan().await).len(), 3, "{berths}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_new_rules_cannot_read_again_is_named() {
    let mut street = Street::new();
    street.scan().await;
    street.outdate();
    let silent = street.scan().await;
    let Outcome::NoSignal(report) = &silent else { panic!("{silent:?}") };
    let said = "1 page of the last scan could not be compared, because the rules have changed";
    assert!(report.output.contains(said), "{}", report.output);
    street.put("a.example", "/", &priced(35));
    check_told(&street.scan().await, &["price: 29 USD / month > 35 USD / month"]);
}
