//! How often somebody may ask.

use std::time::Duration;

use errand::app::limiter::{Rate, Rates};
use errand::inbound::Peer;
use serde_json::json;

use crate::support::{House, RUNS, Reply};

const fn rate(per_minute: u32, burst: u32) -> Option<Rate> {
    Some(Rate { per_minute, burst })
}

async fn house(key: Option<Rate>, account: Option<Rate>, strangers: Option<Rate>) -> House {
    House::with(1, |it| it.limits.rates = Rates { key, account, strangers }).await
}

/// Limit, remaining and reset, as the answer says.
fn standing(reply: &Reply) -> (&str, &str, &str) {
    let value = |name: &str| reply.header(&format!("x-ratelimit-{name}-requests")).unwrap_or("-");
    (value("limit"), value("remaining"), value("reset"))
}

#[tokio::test(start_paused = true)]
async fn a_key_that_asks_too_often_waits_as_long_as_it_is_told() {
    let house = house(rate(60, 3), None, None).await;
    for expected in [("3", "2", "1.0s"), ("3", "1", "2.0s"), ("3", "0", "3.0s")] {
        let reply = house.ask("GET", "/v1/account", None).await;
        assert_eq!((reply.status, standing(&reply)), (200, expected));
    }
    let refused = house.ask("GET", "/v1/account", None).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"));
    assert_eq!(refused.json()["error"]["type"], "rate_limit_error");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(standing(&refused), ("3", "0", "3.0s"));
    // The refused request did not count, so the wait is as long as was said.
    house.clock.sleep(Duration::from_millis(999)).await;
    assert_eq!(house.ask("GET", "/v1/account", None).await.status, 429);
    house.clock.sleep(Duration::from_millis(1)).await;
    assert_eq!(house.ask("GET", "/v1/account", None).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_does_nothing() {
    let house = house(rate(1, 1), None, None).await;
    let body = json!({ "kind": "script", "input": {} });
    assert_eq!(house.ask("POST", RUNS, Some(body.clone())).await.status, 201);
    let refused = house.ask("POST", RUNS, Some(body)).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), Some("60"));
    house.clock.sleep(Duration::from_mins(1)).await;
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 1);
    house.examine().await;
}

/// Source: the contract, section 12, "Rates": on every authenticated answer.
#[tokio::test(start_paused = true)]
async fn every_answer_to_a_key_says_where_it_stands_and_counts() {
    let house = house(rate(600, 60), None, None).await;
    let (models, _) = house.key_of(house.account, "models", None).await;
    let cases = [
        (&house.key, "GET", RUNS, 200, "59"),
        (&house.key, "POST", RUNS, 400, "58"),
        (&house.key, "GET", "/v1/agents/runs/x", 404, "57"),
        (&models, "GET", "/v1/account", 200, "59"),
        // Whoever may not ask uses up nothing of it.
        (&models, "GET", RUNS, 403, "-"),
        (&models, "GET", "/v1/account", 200, "58"),
    ];
    for (key, method, path, status, remaining) in cases {
        let reply = house.ask_as(key, method, path, None).await;
        assert_eq!((reply.status, standing(&reply).1), (status, remaining), "{method} {path}");
    }
    for (method, path) in [("GET", "/healthz"), ("GET", "/nowhere"), ("PUT", RUNS)] {
        let reply = house.ask(method, path, None).await;
        assert_eq!(standing(&reply), ("-", "-", "-"), "{method} {path}");
    }
}

/// Source: the contract, section 3: the right is asked for before the rate.
#[tokio::test(start_paused = true)]
async fn requests_without_the_right_use_up_nothing_of_their_account() {
    let house = house(None, rate(60, 2), None).await;
    let (models, _) = house.key_of(house.account, "models", None).await;
    for _ in 0..20 {
        let refused = house.ask_as(&models, "GET", RUNS, None).await;
        assert_eq!((refused.status, standing(&refused)), (403, ("-", "-", "-")));
    }
    for status in [200, 200, 429] {
        assert_eq!(house.ask("GET", RUNS, None).await.status, status);
    }
    // Also while the account has none left, the right comes first.
    assert_eq!(house.ask_as(&models, "GET", RUNS, None).await.status, 403);
}

#[tokio::test(start_paused = true)]
async fn a_rate_that_is_off_is_not_shown() {
    let house = house(None, None, None).await;
    let reply = house.ask("GET", "/v1/account", None).await;
    assert_eq!(standing(&reply), ("-", "-", "-"));
}

#[tokio::test(start_paused = true)]
async fn the_keys_of_an_account_share_its_rate_and_no_other_accounts() {
    let house = house(None, rate(60, 2), None).await;
    let (second, _) = house.key_of(house.account, "agents", None).await;
    let (_, stranger) = house.tenant("second", "0").await;
    assert_eq!(house.ask("GET", RUNS, None).await.status, 200);
    assert_eq!(house.ask_as(&second, "GET", RUNS, None).await.status, 200);
    for key in [&house.key, &second] {
        let refused = house.ask_as(key, "GET", RUNS, None).await;
        assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"));
    }
    assert_eq!(house.ask_as(&stranger, "GET", RUNS, None).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_refused_uses_up_nothing_of_its_account() {
    let house = house(rate(60, 2), rate(60, 4), None).await;
    let (second, _) = house.key_of(house.account, "agents", None).await;
    let mut statuses = Vec::new();
    for _ in 0..20 {
        statuses.push(house.ask("GET", RUNS, None).await.status);
    }
    assert_eq!(statuses.iter().filter(|it| **it == 200).count(), 2, "{statuses:?}");
    assert_eq!(house.ask_as(&second, "GET", RUNS, None).await.status, 200);
}

/// Source: the contract's table of limits: failed authentication by address.
#[tokio::test(start_paused = true)]
async fn strangers_are_counted_by_their_network() {
    let house = house(None, None, rate(60, 2)).await;
    let ask =
        async |ip: &str, key: &str| house.client().at_ip(ip).with_key(key).get("/v1/account").await;
    for (ip, status) in [
        ("192.0.2.1", 401),
        ("192.0.2.1", 401),
        ("192.0.2.1", 429),
        ("::ffff:192.0.2.1", 429),
        ("192.0.2.2", 401),
        ("2001:db8:0:7::1", 401),
        ("2001:db8:0:7:ffff::2", 401),
        ("2001:db8:0:7:1:2:3:4", 429),
        ("2001:db8:0:8::1", 401),
    ] {
        let reply = ask(ip, "wrong").await;
        assert_eq!(reply.status, status, "{ip}");
        if status == 429 {
            assert_eq!(reply.code(), "too_many_auth_failures");
            assert_eq!(reply.header("retry-after"), Some("1"));
        }
    }
    // Whoever has a key is no stranger, wherever it is.
    assert_eq!(ask("192.0.2.1", &house.key).await.status, 200);
    house.clock.sleep(Duration::from_secs(1)).await;
    assert_eq!(ask("192.0.2.1", "").await.status, 401);
    assert_eq!(ask("192.0.2.1", "").await.status, 429);
}

#[tokio::test(start_paused = true)]
async fn callers_behind_a_trusted_proxy_are_counted_by_their_own_address() {
    let house = House::with(1, |it| {
        it.limits.rates = Rates { key: None, account: None, strangers: rate(60, 1) };
        it.http.edge.trusted_proxies = vec![([10, 0, 0, 0].into(), 8)];
    })
    .await;
    let ask = async |peer: [u8; 4], forwarded: &str| {
        let mut client = house.client();
        client.peer = Peer::Tcp(peer.into());
        let line = format!("x-forwarded-for: {forwarded}\r\n");
        let text = crate::support::http::with_headers("GET", RUNS, &line, "");
        client.send(text.as_bytes()).await.status
    };
    assert_eq!(ask([10, 0, 0, 1], "192.0.2.1").await, 401);
    assert_eq!(ask([10, 0, 0, 1], "192.0.2.2").await, 401);
    assert_eq!(ask([10, 0, 0, 2], "192.0.2.9, 192.0.2.1").await, 429);
    // Nobody believes what a stranger says of itself.
    assert_eq!(ask([203, 0, 113, 1], "192.0.2.3").await, 401);
    assert_eq!(ask([203, 0, 113, 1], "192.0.2.4").await, 429);
}
