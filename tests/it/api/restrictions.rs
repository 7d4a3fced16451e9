//! What the operator restricts a key to, and what the key is answered.

use std::time::Duration;

use errand::app::limiter::{Rate, Rates};
use errand::inbound::Peer;
use errand::sys::host;
use serde_json::{Value, json};

use crate::support::{House, KIND, Lives, RUNS, Reply};

const SCHEDULES: &str = "/v1/agents/schedules";

/// The key as the operator sees it.
async fn shown(house: &House, id: &str) -> Value {
    let admin = house.admin(Peer::Local { uid: host::uid() });
    admin.get(&format!("/keys/{id}")).await.json()
}

#[track_caller]
fn check_forbidden(reply: &Reply, code: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (403, code), "{}", reply.raw);
    assert_eq!(reply.json()["error"]["type"], "permission_error");
    assert_eq!(reply.header("www-authenticate"), None, "{}", reply.raw);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_a_restriction_is_named_and_changes_nothing() {
    let house = House::new().await;
    let (_, id) = house.restricted(json!({ "kinds": [KIND], "strict": true })).await;
    let before = shown(&house, &id).await;
    let many: Vec<String> = (0..101).map(|it| format!("model-{it}")).collect();
    let cases = [
        (json!({ "models": [] }), "models", "invalid_value"),
        (json!({ "models": many }), "models", "invalid_value"),
        (json!({ "models": "offline/echo" }), "models", "invalid_type"),
        (json!({ "models": [1] }), "models", "invalid_type"),
        (json!({ "models": ["a", "*"] }), "models[1]", "invalid_value"),
        (json!({ "models": ["a*"] }), "models[0]", "invalid_value"),
        (json!({ "kinds": ["a b"] }), "kinds[0]", "invalid_value"),
        (json!({ "kinds": [""] }), "kinds[0]", "invalid_value"),
        (json!({ "networks": ["10.0.0.1/8"] }), "networks[0]", "invalid_value"),
        (json!({ "networks": ["::ffff:10.0.0.1"] }), "networks[0]", "invalid_value"),
        (json!({ "networks": ["office"] }), "networks[0]", "invalid_value"),
        (json!({ "requests_per_minute": 0 }), "requests_per_minute", "invalid_value"),
        (json!({ "requests_per_minute": 1_000_001 }), "requests_per_minute", "invalid_value"),
        (json!({ "requests_per_minute": "60" }), "requests_per_minute", "invalid_value"),
        (json!({ "concurrency": 0 }), "concurrency", "invalid_value"),
        (json!({ "concurrency": 1.5 }), "concurrency", "invalid_value"),
        (json!({ "strict": "yes" }), "strict", "invalid_type"),
        (json!({ "budget": "10" }), "budget", "invalid_type"),
        (json!({ "budget": {} }), "budget.amount", "missing_field"),
        (json!({ "budget": { "amount": 10 } }), "budget.amount", "invalid_type"),
        (json!({ "budget": { "amount": "0" } }), "budget.amount", "invalid_value"),
        (json!({ "budget": { "amount": "-1" } }), "budget.amount", "invalid_value"),
        (json!({ "budget": { "amount": "1e3" } }), "budget.amount", "invalid_value"),
        (
            json!({ "budget": { "amount": "1", "period": "year" } }),
            "budget.period",
            "invalid_value",
        ),
        (json!({ "budget": { "amount": "1", "per": "day" } }), "budget.per", "unknown_parameter"),
        (json!({ "rights": ["models"] }), "rights", "unknown_parameter"),
        (json!({ "name": "" }), "name", "invalid_value"),
    ];
    for (body, param, code) in cases {
        let reply = house.operate(&format!("/keys/{id}/update"), body.clone()).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, code), "{body}");
        assert_eq!(reply.json()["error"]["param"], param, "{body}");
    }
    let unknown = house.account.to_string();
    for id in ["nonsense", unknown.as_str()] {
        let reply = house.operate(&format!("/keys/{id}/update"), json!({})).await;
        assert_eq!((reply.status, reply.code().as_str()), (404, "not_found"), "{id}");
    }
    assert_eq!(shown(&house, &id).await, before);
}

#[tokio::test(start_paused = true)]
async fn restrictions_are_kept_shown_changed_and_lifted_one_by_one() {
    let mut house = House::new().await;
    let all = json!({
        "models": ["offline/*", "vendor/name:tag"],
        "kinds": [KIND, "other", KIND],
        "networks": ["192.0.2.0/24", "2001:db8::1", "203.0.113.0/24"],
        "requests_per_minute": 120,
        "concurrency": 4,
        "strict": true,
        "budget": { "amount": "10.50", "period": "month" },
    });
    let (secret, id) = house.restricted(all).await;
    let expected = json!({
        "models": ["offline/*", "vendor/name:tag"],
        "kinds": [KIND, "other"],
        "networks": ["192.0.2.0/24", "2001:db8::1/128", "203.0.113.0/24"],
        "requests_per_minute": 120,
        "concurrency": 4,
        "strict": true,
        "budget": {
            "amount": "10.5", "period": "month", "used": "0", "resets_at": "2026-02-01T00:00:00.000+00:00",
        },
    });
    #[track_caller]
    fn check(found: &Value, expected: &Value) {
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&found[name], value, "{name}");
        }
    }
    check(&shown(&house, &id).await, &expected);
    house.restart().await;
    check(&shown(&house, &id).await, &expected);
    check(&house.ask_as(&secret, "GET", "/v1/account", None).await.json()["key"], &expected);

    let changed = house.restrict(&id, json!({ "name": " new ", "strict": false })).await;
    assert_eq!((&changed["name"], &changed["strict"]), (&json!("new"), &json!(false)));
    assert_eq!(changed["models"], expected["models"], "what is not named stays");
    let day = json!({ "budget": { "amount": "1", "period": "day" }, "concurrency": "off" });
    let changed = house.restrict(&id, day).await;
    assert_eq!(changed["budget"]["resets_at"], "2026-01-02T00:00:00.000+00:00");
    assert_eq!(changed["concurrency"], Value::Null);
    let off = json!({
        "models": "off", "kinds": "off", "networks": "off", "requests_per_minute": "off",
        "budget": "off",
    });
    let free = house.restrict(&id, off).await;
    for name in ["models", "kinds", "networks", "requests_per_minute", "concurrency", "budget"] {
        assert_eq!(free[name], Value::Null, "{name}");
    }
    house.restart().await;
    assert_eq!(shown(&house, &id).await["name"], "new");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_opens_from_its_networks_and_nothing_from_others() {
    let house = House::new().await;
    let networks = json!({ "networks": ["192.0.2.0/24", "2001:db8:1::/48"] });
    let (secret, id) = house.restricted(networks).await;
    let ask =
        async |ip: &str, path: &str| house.client().at_ip(ip).with_key(&secret).get(path).await;
    for ip in ["203.0.113.9", "192.0.3.1", "2001:db8:2::1", "::1", "::ffff:203.0.113.9"] {
        check_forbidden(&ask(ip, "/v1/account").await, "ip_not_allowed");
        // Who asks from elsewhere does not learn what the key opens.
        check_forbidden(&ask(ip, "/v1/agents/runs/nonsense").await, "ip_not_allowed");
    }
    assert_eq!(shown(&house, &id).await["last_used_at"], Value::Null);
    for ip in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8:1:ffff::1"] {
        assert_eq!(ask(ip, "/v1/account").await.status, 200, "{ip}");
    }
    house.restrict(&id, json!({ "networks": ["203.0.113.0/24"] })).await;
    check_forbidden(&ask("192.0.2.1", "/v1/account").await, "ip_not_allowed");
    assert_eq!(ask("203.0.113.9", "/v1/account").await.status, 200);
}

/// Source: the contract's table of limits: failed authentication by address.
#[tokio::test(start_paused = true)]
async fn a_key_in_a_foreign_network_is_that_of_a_stranger() {
    let rate = Some(Rate { per_minute: 60, burst: 2 });
    let rates = Rates { key: None, account: None, strangers: rate };
    let house = House::with(1, |it| it.limits.rates = rates).await;
    let (secret, _) = house.restricted(json!({ "networks": ["192.0.2.0/24"] })).await;
    let ask =
        async |ip: &str| house.client().at_ip(ip).with_key(&secret).get("/v1/account").await.code();
    for code in ["ip_not_allowed", "ip_not_allowed", "too_many_auth_failures"] {
        assert_eq!(ask("203.0.113.9").await, code);
    }
}

#[tokio::test(start_paused = true)]
async fn behind_a_trusted_proxy_the_address_is_the_one_it_speaks_for() {
    let house = House::with(1, |it| {
        it.http.edge.trusted_proxies = vec![([10, 0, 0, 0].into(), 8)];
    })
    .await;
    let (secret, _) = house.restricted(json!({ "networks": ["192.0.2.0/24"] })).await;
    let ask = async |peer: [u8; 4], forwarded: &str| {
        let mut client = house.client();
        client.peer = Peer::Tcp(peer.into());
        let headers = format!("authorization: Bearer {secret}\r\nx-forwarded-for: {forwarded}\r\n");
        let text = crate::support::http::with_headers("GET", "/v1/account", &headers, "");
        client.send(text.as_bytes()).await.status
    };
    assert_eq!(ask([10, 0, 0, 1], "192.0.2.1").await, 200);
    assert_eq!(ask([10, 0, 0, 1], "203.0.113.9").await, 403);
    assert_eq!(ask([10, 0, 0, 1], "192.0.2.1, 203.0.113.9").await, 403);
    // Nobody believes what a stranger says of itself.
    assert_eq!(ask([203, 0, 113, 9], "192.0.2.1").await, 403);
}

/// Source: the contract, section 2: `kind_not_allowed`.
#[tokio::test(start_paused = true)]
async fn a_key_runs_and_schedules_its_kinds_alone() {
    let house = House::new().await;
    let (other, id) = house.restricted(json!({ "kinds": ["other"] })).await;
    let ask = async |method: &str, path: &str, body: Value| {
        house.ask_as(&other, method, path, Some(body)).await
    };
    // What there is does not show in the answer.
    for kind in [KIND, "nonsense", ""] {
        let run = json!({ "kind": kind, "input": {} });
        check_forbidden(&ask("POST", RUNS, run).await, "kind_not_allowed");
        let schedule = json!({ "kind": kind, "input": {}, "cron": "0 6 * * *" });
        let refused = ask("POST", SCHEDULES, schedule).await;
        check_forbidden(&refused, "kind_not_allowed");
        assert_eq!(refused.json()["error"]["param"], "kind");
    }
    // Allowed is not the same as there.
    let absent = json!({ "kind": "other", "input": {} });
    assert_eq!(ask("POST", RUNS, absent).await.code(), "unknown_kind");

    // The account's other key has made them; this one sees them all the same.
    let schedule = json!({ "kind": KIND, "input": {}, "cron": "0 6 * * *", "enabled": false });
    let made = house.ask("POST", SCHEDULES, Some(schedule)).await.json();
    let path = format!("{SCHEDULES}/{}", made["id"].as_str().unwrap());
    check_forbidden(&ask("POST", &format!("{path}/run"), json!({})).await, "kind_not_allowed");
    for change in [json!({ "enabled": true }), json!({ "input": { "say": "x" } })] {
        check_forbidden(&ask("PATCH", &path, change).await, "kind_not_allowed");
    }
    assert_eq!(ask("PATCH", &path, json!({ "enabled": false })).await.status, 200);
    assert_eq!(house.ask_as(&other, "GET", &path, None).await.json(), made);
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 0);
    assert_eq!(house.money().await.1, "0", "nothing is held");

    let list = async || house.ask_as(&other, "GET", "/v1/agents/", None).await.json();
    assert_eq!(list().await["total"], 0);
    house.restrict(&id, json!({ "kinds": [KIND] })).await;
    assert_eq!(list().await["data"][0]["kind"], KIND);
    assert_eq!(ask("POST", &format!("{path}/run"), json!({})).await.status, 201);
    let run = house.run_as(&other, json!({})).await;
    assert_eq!(house.over(&run).await["status"], "succeeded");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_has_its_own_rate_also_where_the_rates_are_off() {
    let off = Rates { key: None, account: None, strangers: None };
    let house = House::with(1, |it| it.limits.rates = off).await;
    let (secret, id) = house.restricted(json!({ "requests_per_minute": 2 })).await;
    let ask = async || house.ask_as(&secret, "GET", RUNS, None).await;
    for left in ["1", "0"] {
        let reply = ask().await;
        assert_eq!(reply.header("x-ratelimit-limit-requests"), Some("2"));
        assert_eq!(reply.header("x-ratelimit-remaining-requests"), Some(left));
    }
    let refused = ask().await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"));
    assert_eq!(refused.header("retry-after"), Some("30"));
    assert_eq!(house.ask("GET", RUNS, None).await.status, 200, "other keys have no rate");
    house.clock.sleep(Duration::from_secs(30)).await;
    assert_eq!(ask().await.status, 200);
    house.restrict(&id, json!({ "requests_per_minute": "off" })).await;
    assert_eq!(ask().await.header("x-ratelimit-limit-requests"), None);
}

/// The first thing that is wrong is the one that is told.
#[tokio::test(start_paused = true)]
async fn a_key_that_is_wrong_in_many_ways_is_told_the_first() {
    let house = House::new().await;
    let (secret, id) = house
        .restricted(json!({
            "rights": ["models"], "expires_in_s": 60, "networks": ["192.0.2.0/24"],
            "kinds": ["other"], "requests_per_minute": 1,
        }))
        .await;
    let run = json!({ "kind": KIND, "input": {} });
    let ask = async |ip: &str| {
        let client = house.client().at_ip(ip).with_key(&secret);
        client.ask("POST", RUNS, Some(run.clone())).await.code()
    };
    assert_eq!(ask("203.0.113.9").await, "ip_not_allowed");
    assert_eq!(ask("192.0.2.1").await, "insufficient_rights");
    house.clock.sleep(Duration::from_mins(1)).await;
    assert_eq!(ask("203.0.113.9").await, "api_key_expired");
    house.operate(&format!("/keys/{id}/revoke"), json!({})).await;
    assert_eq!(ask("203.0.113.9").await, "api_key_revoked");
    // A change does not bring it back.
    house.restrict(&id, json!({ "networks": "off", "kinds": "off" })).await;
    assert_eq!(ask("192.0.2.1").await, "api_key_revoked");
    assert!(shown(&house, &id).await["revoked_at"].is_string());
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn the_last_use_is_known_at_once_and_outlives_an_orderly_end() {
    let mut house = House::new().await;
    let (secret, id) = house.restricted(json!({})).await;
    let used_at = async |house: &House| shown(house, &id).await["last_used_at"].clone();
    assert_eq!(used_at(&house).await, Value::Null);
    house.clock.sleep(Duration::from_secs(1)).await;
    // A use is a use, whatever the answer is.
    assert_eq!(house.ask_as(&secret, "GET", "/v1/agents/runs/x", None).await.status, 404);
    let first = "2026-01-01T00:00:01.000+00:00";
    assert_eq!(used_at(&house).await, first);
    let account = house.ask_as(&secret, "GET", "/v1/account", None).await.json();
    assert_eq!(account["key"]["last_used_at"], first);
    house.restart().await;
    assert_eq!(used_at(&house).await, first);
    // A clock that goes back makes nothing older.
    house.clock.step(-3_600_000);
    assert_eq!(house.ask_as(&secret, "GET", RUNS, None).await.status, 200);
    assert_eq!(used_at(&house).await, first);
    house.examine().await;
}

#[test]
fn a_use_is_on_disk_a_minute_later() {
    let mut lives = Lives::new(1, |_| {});
    let (secret, id) = lives.live(async |house| house.restricted(json!({})).await);
    let minute = Duration::from_secs(70);
    lives.live(async |house| {
        assert_eq!(house.ask_as(&secret, "GET", RUNS, None).await.status, 200);
        house.clock.sleep(minute).await;
    });
    lives.kill();
    let written = lives.live(async |house| {
        let written = shown(house, &id).await["last_used_at"].clone();
        // The key lives through what is written of it.
        assert_eq!(house.ask_as(&secret, "GET", RUNS, None).await.status, 200);
        assert_ne!(shown(house, &id).await["last_used_at"], written);
        house.examine().await;
        written
    });
    assert_eq!(written, "2026-01-01T00:00:00.000+00:00");
}
