//! Keys: what opens the API, and what does not.

use std::time::Duration;

use errand::app::keys;
use errand::domain::secret::ApiKey;
use serde_json::json;

use crate::support::http::with_headers;
use crate::support::{House, RUNS, Reply};

/// Sends a request with header lines of its own.
async fn ask(house: &House, path: &str, headers: &str) -> Reply {
    house.send(with_headers("GET", path, headers, "").as_bytes()).await
}

#[track_caller]
fn check_refused(reply: &Reply, code: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (401, code), "{}", reply.raw);
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{}", reply.raw);
    assert!(!reply.raw.contains("service_sk_0") && !reply.raw.contains("service_sk_X"));
}

/// Source: service interface, "Authentication", rule 1: the header Authorization: Bearer.
#[tokio::test(start_paused = true)]
async fn a_key_is_shown_in_one_header_and_in_one_way() {
    let house = House::new().await;
    let key = house.key.clone();
    for headers in [
        String::new(),
        "authorization: \r\n".to_owned(),
        "authorization: Bearer\r\n".to_owned(),
        "authorization: Bearer \r\n".to_owned(),
        format!("authorization: {key}\r\n"),
        format!("authorization: Basic {key}\r\n"),
        format!("authorization: Bearer{key}\r\n"),
        format!("authorization: Bearer {key}\r\nauthorization: Bearer {key}\r\n"),
        format!("authorization: Basic eDp5\r\nauthorization: Bearer {key}\r\n"),
        format!("x-api-key: {key}\r\n"),
        format!("cookie: key={key}\r\n"),
    ] {
        check_refused(&ask(&house, "/v1/account", &headers).await, "missing_api_key");
    }
    for headers in [
        format!("authorization: Bearer {key}\r\n"),
        format!("AUTHORIZATION: bearer {key}\r\n"),
        format!("authorization:   BEARER   {key}  \r\n"),
    ] {
        assert_eq!(ask(&house, "/v1/account", &headers).await.status, 200, "{headers}");
    }
}

/// Source: service interface, "Authentication", rule 2: the form of a key.
#[tokio::test(start_paused = true)]
async fn what_is_not_a_key_of_this_instance_is_refused_in_the_same_words() {
    let house = House::new().await;
    let other = House::with(2, |_| {}).await;
    let key = &house.key;
    let mut wrong_end = key.clone();
    let last = wrong_end.pop().unwrap();
    wrong_end.push(if last == 'x' { 'y' } else { 'x' });
    let mut answers = Vec::new();
    for wrong in [
        "x".to_owned(),
        "service_sk_".to_owned(),
        wrong_end,
        key[..56].to_owned(),
        format!("{key}0"),
        format!("{key} {key}"),
        format!("{key},{key}"),
        key.to_uppercase(),
        key.replace("service_sk_", "sk_service_"),
        "é".repeat(28),
        "a".repeat(8_000),
        other.key.clone(),
        ApiKey::generate(|out| out.fill(7)).reveal().to_owned(),
    ] {
        let reply = ask(&house, RUNS, &format!("authorization: Bearer {wrong}\r\n")).await;
        if wrong.is_ascii() {
            check_refused(&reply, "invalid_api_key");
            answers.push(reply.without_id());
        } else {
            // A header that is not text shows nothing at all.
            check_refused(&reply, "missing_api_key");
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
}

/// Source: service interface, "Authentication", rule 6: a key must not be placed in a URL.
#[tokio::test(start_paused = true)]
async fn a_key_in_a_url_is_refused_even_beside_a_good_header() {
    let house = House::new().await;
    let key = house.key.clone();
    let good = format!("authorization: Bearer {key}\r\n");
    for query in [
        format!("key={key}"),
        format!("api_key={key}"),
        format!("limit=1&access_token={key}"),
        format!("external_id={key}"),
        "API_KEY=x".to_owned(),
    ] {
        let reply = ask(&house, &format!("{RUNS}?{query}"), &good).await;
        check_refused(&reply, "missing_api_key");
        assert!(reply.text.contains("must not stand in a URL"), "{}", reply.raw);
        assert!(!reply.raw.contains(&key[11..]), "{}", reply.raw);
    }
}

/// Source: service interface, "Authentication", rule 7: revoking stops new requests but does not
/// cancel tasks already accepted.
#[tokio::test(start_paused = true)]
async fn a_revoked_key_opens_nothing_from_the_next_request_on_and_its_runs_go_on() {
    let mut house = House::with(1, |it| it.queue.workers = 1).await;
    let (key, id) = house.key_of(house.account, "agents", None).await;
    let running = house.run_as(&key, json!({ "ms": 5_000 })).await;
    house.settle().await;
    let waiting = house.run_as(&key, json!({})).await;
    keys::revoke(house.daemon().app(), id).await.unwrap();
    for (method, path) in [("GET", RUNS), ("POST", RUNS), ("GET", "/v1/account")] {
        check_refused(&house.ask_as(&key, method, path, None).await, "api_key_revoked");
    }
    for run in [&running, &waiting] {
        assert_eq!(house.over(run).await["status"], "succeeded");
    }
    assert_eq!(house.money().await, ("9.96".into(), "0".into(), "9.96".into()));
    house.restart().await;
    check_refused(&house.ask_as(&key, "GET", RUNS, None).await, "api_key_revoked");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_opens_until_the_millisecond_of_its_end() {
    let mut house = House::new().await;
    let minute = Duration::from_mins(1);
    let (key, _) = house.key_of(house.account, "agents", Some(minute)).await;
    house.clock.sleep(minute - Duration::from_millis(1)).await;
    assert_eq!(house.ask_as(&key, "GET", RUNS, None).await.status, 200);
    house.clock.sleep(Duration::from_millis(1)).await;
    check_refused(&house.ask_as(&key, "GET", RUNS, None).await, "api_key_expired");
    house.restart().await;
    check_refused(&house.ask_as(&key, "GET", RUNS, None).await, "api_key_expired");
    house.clock.step(-1);
    assert_eq!(house.ask_as(&key, "GET", RUNS, None).await.status, 200);
}

/// Source: service interface, "Authentication", rule 4: rights models and agents.
#[tokio::test(start_paused = true)]
async fn a_key_without_the_right_is_told_which_one() {
    let house = House::new().await;
    let run = house.run(json!({})).await;
    let own = crate::support::path_of(&run);
    let (key, _) = house.key_of(house.account, "models", None).await;
    let [result, cancel] = ["result", "cancel"].map(|it| format!("{own}/{it}"));
    for (method, path) in [
        ("GET", "/v1/agents"),
        ("GET", "/v1/agents/"),
        ("GET", RUNS),
        ("POST", RUNS),
        ("GET", &own),
        ("DELETE", &own),
        ("GET", &result),
        ("POST", &cancel),
        // Who may not look does not learn what there is.
        ("GET", "/v1/agents/runs/nonsense"),
    ] {
        let reply = house.ask_as(&key, method, path, None).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "insufficient_rights"), "{path}");
        assert_eq!(reply.json()["error"]["details"], json!({ "required_right": "agents" }));
        assert_eq!(reply.json()["error"]["type"], "permission_error");
    }
    assert_eq!(house.over(&run).await["status"], "succeeded");
    house.examine().await;
}

/// Source: service interface, "Authentication", rule 2: the service stores only its hash.
#[tokio::test(start_paused = true)]
async fn no_key_stands_on_the_disk() {
    let mut house = House::new().await;
    house.ask("GET", "/v1/account", None).await;
    house.stop().await;
    let image = house.disk.image();
    let hint = &house.key.as_bytes()[..17];
    let rest = &house.key.as_bytes()[17..];
    let stands = |text: &[u8]| image.windows(text.len()).any(|it| it == text);
    assert!(stands(hint), "the search is blind");
    assert!(!stands(rest));
    house.start().await;
    house.examine().await;
}
