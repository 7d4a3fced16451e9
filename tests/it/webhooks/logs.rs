//! The log of a receiver in parts: filters, pages and totals. Source: the contract, section 8.

use std::time::Duration;

use errand::domain::retry::Pauses;
use errand::domain::time::Timestamp;
use serde_json::{Value, json};

use super::hooks::{Hook, house_with, page, run};
use crate::support::{Act, House};

/// A log of one delivery in each of four statuses, a second apart, oldest first.
async fn four() -> (House, Hook) {
    let (house, receiver, hook) =
        house_with(Act::Answer(204), |it| it.webhooks.rules.pauses = Pauses::Minutes).await;
    for act in [Act::Answer(204), Act::Answer(204), Act::Answer(500), Act::Hang] {
        house.clock.sleep(Duration::from_secs(1)).await;
        receiver.first(&[act]);
        let count = receiver.count();
        run(&house, json!({})).await;
        receiver.wait(count + 1).await;
        house.settle().await;
    }
    (house, hook)
}

#[track_caller]
fn statuses(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|it| it["status"].as_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn each_filter_gives_what_it_says_and_the_total_of_that() {
    let (house, hook) = four().await;
    let all = page(&house, &hook, "").await;
    assert_eq!(statuses(&all), ["pending", "retrying", "delivered", "delivered"]);
    let field = |line: usize, name: &str| all["data"][line][name].as_str().unwrap().to_owned();
    let (event, made) = (field(2, "event_id"), field(1, "created_at"));
    let made = Timestamp::parse(&made).unwrap();
    let later = made.after(Duration::from_millis(1)).to_string().replace('+', "%2B");
    let made = made.to_string().replace('+', "%2B");
    for (query, expected) in [
        ("status=delivered".to_owned(), &["delivered", "delivered"][..]),
        ("status=pending&status=retrying".to_owned(), &["pending", "retrying"]),
        ("status=retrying&status=retrying".to_owned(), &["retrying"]),
        ("status=failed&status=cancelled".to_owned(), &[]),
        (format!("event_id={event}"), &["delivered"]),
        (format!("event_id={event}&status=pending"), &[]),
        (format!("created_after={made}"), &["pending", "retrying"]),
        (format!("created_after={later}"), &["pending"]),
        (format!("created_before={made}"), &["delivered", "delivered"]),
        (format!("created_before={later}"), &["retrying", "delivered", "delivered"]),
        (format!("created_before={made}&status=pending"), &[]),
        (format!("created_after={made}&created_before={later}"), &["retrying"]),
    ] {
        let found = page(&house, &hook, &query).await;
        assert_eq!(statuses(&found), expected, "{query}");
        assert_eq!(found["total"], expected.len(), "{query}");
        assert_eq!(found["has_more"], false, "{query}");
    }
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_page_is_cut_and_its_total_is_that_of_all_pages() {
    let (house, hook) = four().await;
    for (query, expected, has_more) in [
        ("limit=1", &["pending"][..], true),
        ("limit=2&offset=1", &["retrying", "delivered"], true),
        ("limit=2&offset=2", &["delivered", "delivered"], false),
        ("limit=200&offset=4", &[], false),
        ("limit=1&offset=100000", &[], false),
    ] {
        let found = page(&house, &hook, query).await;
        assert_eq!(statuses(&found), expected, "{query}");
        assert_eq!((&found["total"], &found["has_more"]), (&json!(4), &json!(has_more)), "{query}");
    }
    let found = page(&house, &hook, "limit=1&status=delivered").await;
    assert_eq!((&found["total"], &found["has_more"]), (&json!(2), &json!(true)));
}
