//! Requests about receivers that are refused, and how. Source: the contract, sections 2 and 8.

use serde_json::{Value, json};

use super::hooks::{HOOKS, connect, connect_as, delete, house_with, log, run, settled};
use crate::support::{Act, House, golden, shown};

const ABSENT: &str = "01890000-0000-7000-8000-000000000000";

/// Source: the contract, section 2: a foreign, an absent and a malformed id get the same 404.
#[tokio::test(start_paused = true)]
async fn a_foreign_id_is_as_good_as_none() {
    let (house, _receiver, own) = house_with(Act::Answer(500), |_| {}).await;
    let (_, stranger) = house.tenant("second", "1").await;
    let foreign = connect_as(&house, &stranger, "http://hooks.example/").await;
    house.run_as(&stranger, json!({})).await;
    run(&house, json!({})).await;
    settled(&house, &[&own, &foreign]).await;
    let foreign_delivery = log(&house, &foreign).await[0]["id"].as_str().unwrap().to_owned();
    let own_delivery = log(&house, &own).await[0]["id"].as_str().unwrap().to_owned();

    let mut answers = Vec::new();
    for id in [foreign.id.as_str(), ABSENT, "x", "%2e%2e", &"9".repeat(300)] {
        for (method, tail, body) in [
            ("GET", String::new(), Value::Null),
            ("DELETE", String::new(), Value::Null),
            ("GET", "/deliveries".to_owned(), Value::Null),
            ("POST", "/test".to_owned(), Value::Null),
            ("POST", "/recover".to_owned(), json!({ "since": "2026-01-01T00:00:00Z" })),
            ("POST", format!("/deliveries/{own_delivery}/resend"), Value::Null),
            ("POST", format!("/deliveries/{foreign_delivery}/resend"), Value::Null),
        ] {
            let body = Some(body).filter(|it| !it.is_null());
            answers.push(house.ask(method, &format!("{HOOKS}/{id}{tail}"), body).await);
        }
    }
    for id in [foreign_delivery.as_str(), ABSENT, "x", own.id.as_str()] {
        let path = format!("{}/deliveries/{id}/resend", own.path());
        answers.push(house.ask("POST", &path, None).await);
    }
    for reply in &answers {
        assert_eq!(reply.status, 404, "{}", reply.raw);
        let plain =
            |raw: String| raw.lines().filter(|it| !it.starts_with("date: ")).collect::<String>();
        assert_eq!(plain(reply.without_id()), plain(answers[0].without_id()));
    }
    // Nothing has happened to either.
    assert_eq!(house.ask("GET", &own.path(), None).await.json()["status"], "active");
    assert_eq!(
        house.ask_as(&stranger, "GET", &foreign.path(), None).await.json()["status"],
        "active"
    );
    house.examine().await;
}

/// Source: the contract, sections 2 and 8: every row.
#[tokio::test(start_paused = true)]
async fn a_wrong_request_is_refused_with_its_code_and_parameter() {
    let (house, _receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    let path = hook.path();
    let recover = format!("{path}/recover");
    let since = "2026-01-01T00:00:00Z";
    let mut text = String::new();
    for (method, path, body, code) in [
        ("POST", HOOKS.to_owned(), json!({}), "missing_field"),
        ("POST", HOOKS.to_owned(), json!({ "url": null }), "missing_field"),
        ("POST", HOOKS.to_owned(), json!({ "url": 7 }), "invalid_type"),
        ("POST", HOOKS.to_owned(), json!({ "url": ["http://a.example/"] }), "invalid_type"),
        (
            "POST",
            HOOKS.to_owned(),
            json!({ "url": "http://a.example/", "secret": "x" }),
            "unknown_parameter",
        ),
        ("POST", HOOKS.to_owned(), json!({ "url": "ftp://a.example/" }), "invalid_receiver_url"),
        ("POST", HOOKS.to_owned(), json!([]), "invalid_json"),
        ("GET", format!("{HOOKS}?limit=0"), json!(null), "invalid_query"),
        ("GET", format!("{HOOKS}?limit=201"), json!(null), "invalid_query"),
        ("GET", format!("{HOOKS}?include=all"), json!(null), "invalid_query"),
        ("GET", format!("{path}/deliveries?limit=201"), json!(null), "invalid_query"),
        ("GET", format!("{path}/deliveries?limit=-1"), json!(null), "invalid_query"),
        ("GET", format!("{path}/deliveries?offset=100001"), json!(null), "invalid_query"),
        ("GET", format!("{path}/deliveries?status=new"), json!(null), "invalid_query"),
        ("GET", format!("{path}/deliveries?event_id=x"), json!(null), "invalid_query"),
        ("GET", format!("{path}/deliveries?created_after=now"), json!(null), "invalid_query"),
        ("GET", format!("{path}/deliveries?include=bodies"), json!(null), "invalid_query"),
        ("GET", format!("{path}/deliveries?x=1"), json!(null), "invalid_query"),
        ("POST", recover.clone(), json!({}), "missing_field"),
        ("POST", recover.clone(), json!({ "since": "now" }), "invalid_value"),
        ("POST", recover.clone(), json!({ "since": 5 }), "invalid_type"),
        ("POST", recover.clone(), json!({ "since": since, "until": since }), "invalid_value"),
        ("POST", recover.clone(), json!({ "since": "2025-12-01T00:00:00Z" }), "invalid_value"),
        ("POST", recover, json!({ "since": since, "x": 1 }), "unknown_parameter"),
        ("PUT", path, json!({ "url": "http://a.example/" }), "method_not_allowed"),
    ] {
        let sent = Some(body).filter(|it| !it.is_null());
        let reply = house.ask(method, &path, sent.clone()).await;
        assert_eq!(reply.code(), code, "{method} {path} {sent:?}: {}", reply.raw);
        let asked = sent.map(|it| it.to_string()).unwrap_or_default();
        let line = format!("## {method} {path} {asked}").replace(&hook.id, "(receiver)");
        text.push_str(&format!("{line}\n{}\n", shown(&reply)));
    }
    golden("webhooks/refusals.txt", &text);
    assert_eq!(house.ask("GET", HOOKS, None).await.json()["total"], 1);
}

/// Source: the contract, section 8: receivers of an account.
#[tokio::test(start_paused = true)]
async fn the_eleventh_receiver_is_refused_until_one_is_disabled() {
    let house = House::new().await;
    let mut hooks = Vec::new();
    for number in 0..10 {
        hooks.push(connect(&house, &format!("http://a.example/{number}")).await);
    }
    let body = json!({ "url": "http://a.example/10" });
    let reply = house.ask("POST", HOOKS, Some(body.clone())).await;
    assert_eq!((reply.status, reply.code().as_str()), (400, "too_many_receivers"));
    golden("webhooks/too-many.txt", &shown(&reply));
    let (_, other) = house.tenant("second", "1").await;
    connect_as(&house, &other, "http://a.example/10").await;
    delete(&house, &hooks[3]).await;
    assert_eq!(house.ask("POST", HOOKS, Some(body)).await.status, 201);
    house.examine().await;
}

/// Source: service interface, "Authentication", rule 4.
#[tokio::test(start_paused = true)]
async fn a_key_without_the_right_to_agents_sees_and_changes_nothing() {
    let (house, _receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    let (key, _) = house.key_of(house.account, "models", None).await;
    let path = hook.path();
    let url = json!({ "url": "http://a.example/" });
    for (method, path, body) in [
        ("POST", HOOKS.to_owned(), Some(url)),
        ("GET", HOOKS.to_owned(), None),
        ("GET", path.clone(), None),
        ("DELETE", path.clone(), None),
        ("GET", format!("{path}/deliveries"), None),
        ("POST", format!("{path}/deliveries/{ABSENT}/resend"), None),
        ("POST", format!("{path}/recover"), Some(json!({ "since": "2026-01-01T00:00:00Z" }))),
        ("POST", format!("{path}/test"), None),
    ] {
        let reply = house.ask_as(&key, method, &path, body.clone()).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "insufficient_rights"), "{path}");
        let reply = house.ask_as("", method, &path, body).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "missing_api_key"), "{path}");
    }
    assert_eq!(house.ask("GET", &path, None).await.json()["status"], "active");
}

/// Source: the contract, section 8.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_again_to_a_disabled_receiver() {
    let (house, receiver, hook) = house_with(Act::Answer(500), |_| {}).await;
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    let id = log(&house, &hook).await[0]["id"].as_str().unwrap().to_owned();
    delete(&house, &hook).await;
    let body = json!({ "since": "2026-01-01T00:00:00Z" });
    for (tail, body) in
        [(format!("deliveries/{id}/resend"), None), ("recover".to_owned(), Some(body))]
    {
        let reply = house.ask("POST", &format!("{}/{tail}", hook.path()), body).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "receiver_disabled"), "{tail}");
    }
    assert_eq!((receiver.count(), log(&house, &hook).await.len()), (6, 1));
}
