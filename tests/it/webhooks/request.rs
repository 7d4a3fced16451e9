//! The request as it goes out: its head, its signatures, and what stays the same over attempts.

use serde_json::json;

use super::hooks::{SECOND, check_all, check_signature, house_with, minutes, only, run, settled};
use crate::support::{Act, golden};

/// Source: service interface, "Events", rule 4, and "Webhook event payload".
#[tokio::test(start_paused = true)]
async fn the_request_has_the_headers_and_the_body_of_the_interface() {
    let (house, receiver, _) = house_with(Act::Answer(204), |_| {}).await;
    run(&house, json!({ "say": "café \"✓\" 😀\n" })).await;
    receiver.wait(1).await;
    let request = receiver.seen().remove(0);
    let body = String::from_utf8(request.body.clone()).unwrap();
    golden("webhooks/request.txt", &format!("{}{body}\n", request.head.replace("\r\n", "\n")));
    let stamp: i64 = request.header("x-service-timestamp").parse().unwrap();
    assert_eq!(stamp, request.wall.seconds());
    assert_eq!(request.header("x-service-event-id"), request.json()["id"]);
    assert_eq!(request.json()["data"]["output"], "café \"✓\" 😀\n");
}

/// Source: service interface, "Events", rule 5.
#[tokio::test(start_paused = true)]
async fn the_signature_is_that_of_the_whole_secret_over_the_bytes_that_came() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    for say in ["x".to_owned(), "😀".repeat(15_000), "\u{1}\u{7f}\u{2028}\\\"/".to_owned()] {
        run(&house, json!({ "say": say })).await;
    }
    receiver.wait(3).await;
    for request in receiver.seen() {
        check_signature(&request, &hook.secret);
        assert_eq!(request.header("content-length"), request.body.len().to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn the_public_library_of_standard_webhooks_makes_the_same_signature() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    run(&house, json!({ "say": "café \"✓\" 😀\n" })).await;
    receiver.wait(1).await;
    let request = receiver.seen().remove(0);
    let library = standardwebhooks::Webhook::new(&hook.secret).unwrap();
    let stamp = request.header("webhook-timestamp").parse().unwrap();
    let signed = library.sign(request.header("webhook-id"), stamp, &request.body).unwrap();
    assert_eq!(request.header("webhook-signature"), signed);
}

/// Source: service interface, "Events", rule 8.
#[tokio::test(start_paused = true)]
async fn id_and_body_stay_and_timestamp_and_signature_are_fresh_at_every_attempt() {
    let (house, receiver, hook) = house_with(Act::Answer(500), minutes).await;
    run(&house, json!({ "say": "the same" })).await;
    settled(&house, &[&hook]).await;
    let seen = receiver.seen();
    assert_eq!(seen.len(), 6);
    for pair in seen.windows(2) {
        assert_eq!(pair[0].body, pair[1].body);
        for name in ["x-service-event-id", "x-service-webhook-id", "webhook-id"] {
            assert_eq!(pair[0].header(name), pair[1].header(name));
        }
        for name in ["x-service-timestamp", "x-service-signature", "webhook-signature"] {
            assert_ne!(pair[0].header(name), pair[1].header(name));
        }
        assert_eq!(pair[0].attempt() + 1, pair[1].attempt());
    }
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// Source: service interface, "Events", rule 8; the run is another one by then.
#[tokio::test(start_paused = true)]
async fn a_restart_and_other_settings_change_no_byte_of_the_body() {
    let (mut house, receiver, hook) = house_with(Act::Answer(500), minutes).await;
    run(&house, json!({ "say": "kept" })).await;
    for _ in 0..3 {
        let count = receiver.count();
        receiver.wait(count + 1).await;
        house.config.data.name = format!("other {count}");
        house.restart().await;
    }
    receiver.always(Act::Answer(200));
    settled(&house, &[&hook]).await;
    assert_eq!(only(&house, &hook).await["status"], "delivered");
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}
