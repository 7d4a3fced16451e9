//! The operator's API: every route, and who gets nothing from it.

use errand::inbound::Peer;
use errand::sys::host;
use serde_json::{Value, json};

use crate::support::{Client, House, RUNS, Reply, golden, shown};

fn admin(house: &House) -> Client {
    house.admin(Peer::Local { uid: host::uid() })
}

async fn post(house: &House, path: &str, body: Value) -> Reply {
    admin(house).ask("POST", path, Some(body)).await
}

#[tokio::test(start_paused = true)]
async fn status_says_who_the_instance_is_and_how_it_does() {
    let house = House::with(1, |it| it.queue.workers = 1).await;
    house.run(json!({ "ms": 60_000 })).await;
    house.settle().await;
    house.run(json!({})).await;
    let reply = admin(&house).get("/status").await;
    // The number of the process and the version are the only things that change.
    let pid = format!("\"pid\": {}", std::process::id());
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let text = shown(&reply).replace(&pid, "\"pid\": 1").replace(&version, "\"version\": \"1\"");
    let stable = text.lines().filter(|it| !it.starts_with("content-length"));
    golden("admin/status.txt", &format!("{}\n", stable.collect::<Vec<_>>().join("\n")));
}

/// Source: service interface, "Authentication", rule 3: an administrator creates and revokes keys.
#[tokio::test(start_paused = true)]
async fn accounts_keys_and_balances_are_made_and_shown() {
    let house = House::with(1, |it| it.queue.workers = 0).await;
    let made = post(&house, "/accounts", json!({ "name": "  New  ", "currency": "USD" })).await;
    golden("admin/account-created.txt", &shown(&made));
    let plain = post(&house, "/accounts", json!({ "name": "Plain" })).await;
    assert_eq!(plain.json()["currency"], "EUR");
    let id = made.json()["id"].as_str().unwrap().to_owned();

    let body = json!({ "amount": "12.50", "note": "invoice 7" });
    let credited = post(&house, &format!("/accounts/{id}/credit"), body).await;
    golden("admin/credited.txt", &shown(&credited));
    let taken = post(&house, &format!("/accounts/{id}/credit"), json!({ "amount": "-2" })).await;
    assert_eq!(taken.json()["balance"], "10.5");
    golden("admin/account.txt", &shown(&admin(&house).get(&format!("/accounts/{id}")).await));
    golden("admin/accounts.txt", &shown(&admin(&house).get("/accounts").await));

    let body = json!({
        "account": id, "name": "robot", "rights": ["agents"], "expires_in_s": 3600,
    });
    let key = post(&house, "/keys", body).await;
    golden("admin/key-created.txt", &shown(&key));
    let secret = key.json()["key"].as_str().unwrap().to_owned();
    assert_eq!(house.ask_as(&secret, "GET", RUNS, None).await.status, 200);
    let path = format!("/keys/{}/revoke", key.json()["id"].as_str().unwrap());
    golden("admin/key-revoked.txt", &shown(&post(&house, &path, json!({})).await));
    assert_eq!(house.ask_as(&secret, "GET", RUNS, None).await.code(), "api_key_revoked");
    house.settle().await;
    let again = post(&house, &path, json!({})).await;
    assert_eq!(again.json()["revoked_at"], "2026-01-01T00:00:00.000+00:00");

    let keys = admin(&house).get(&format!("/keys?account={id}")).await;
    golden("admin/keys.txt", &shown(&keys));
    assert!(!keys.text.contains(&secret[17..]), "a key is shown once");
    assert_eq!(admin(&house).get("/keys").await.json()["data"].as_array().unwrap().len(), 2);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_ledger_is_read_from_its_end_in_pages() {
    let house = House::new().await;
    for say in ["1", "2", "3"] {
        let run = house.run(json!({ "say": say })).await;
        house.over(&run).await;
        house.ask("DELETE", &crate::support::path_of(&run), None).await;
    }
    let path = format!("/accounts/{}/ledger", house.account);
    golden("admin/ledger.txt", &shown(&admin(&house).get(&path).await));
    let page = admin(&house).get(&format!("{path}?limit=2&before=3")).await.json();
    let numbers: Vec<_> = page["data"].as_array().unwrap().iter().map(|it| &it["seq"]).collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(page["next_before"], json!(null));
    let page = admin(&house).get(&format!("{path}?limit=2")).await.json();
    assert_eq!(page["next_before"], 3);
    for query in [
        "limit=0",
        "limit=201",
        "offset=1",
        "before=x",
        "before=-1",
        "kind=gift",
        "kind=charge&kind=credit",
        "key=x",
        "since=yesterday",
        "until=2026-01-01",
        "x=1",
    ] {
        let refused = admin(&house).get(&format!("{path}?{query}")).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_query"), "{query}");
    }
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_ledger_is_filtered_by_kind_key_and_time() {
    let house = House::new().await;
    let (second, second_id) = house.key_of(house.account, "agents", None).await;
    for key in [&house.key, &second, &house.key] {
        house.clock.sleep(std::time::Duration::from_hours(24)).await;
        house.run_as(key, json!({})).await;
        house.settle().await;
    }
    let ask = async |query: &str| {
        let path = format!("/accounts/{}/ledger?{query}", house.account);
        let page = admin(&house).get(&path).await.json();
        let seqs = page["data"].as_array().unwrap().iter().map(|it| it["seq"].as_u64().unwrap());
        (seqs.collect::<Vec<_>>(), page["next_before"].as_u64())
    };
    for (query, expected) in [
        (String::new(), vec![4, 3, 2, 1]),
        ("kind=charge".to_owned(), vec![4, 3, 2]),
        ("kind=credit".to_owned(), vec![1]),
        ("kind=debit".to_owned(), vec![]),
        (format!("key={}", house.key_id), vec![4, 2]),
        (format!("key={second_id}"), vec![3]),
        (format!("key={}", house.account), vec![]),
        (format!("kind=credit&key={second_id}"), vec![]),
        ("since=2026-01-03T00:00:00Z".to_owned(), vec![4, 3]),
        ("until=2026-01-03T00:00:00Z".to_owned(), vec![2, 1]),
        ("since=2026-01-02T00:00:00Z&until=2026-01-03T00:00:00%2B00:00".to_owned(), vec![2]),
        ("since=2027-01-01T00:00:00Z".to_owned(), vec![]),
    ] {
        assert_eq!(ask(&query).await, (expected, None), "{query}");
    }
    let keyed = format!("key={}&limit=1", house.key_id);
    assert_eq!(ask(&keyed).await, (vec![4], Some(4)));
    assert_eq!(ask(&format!("{keyed}&before=4")).await, (vec![2], Some(2)), "a look may find none");
    assert_eq!(ask(&format!("{keyed}&before=2")).await, (vec![], None));
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_gets_wrong_is_named_and_changes_nothing() {
    let house = House::with(1, |it| it.queue.workers = 0).await;
    house.run(json!({})).await;
    let id = house.account.to_string();
    let credit = format!("/accounts/{id}/credit");
    let cases = [
        ("/accounts", json!({}), 400, "missing_field"),
        ("/accounts", json!({ "name": "" }), 400, "invalid_value"),
        ("/accounts", json!({ "name": " \t" }), 400, "invalid_value"),
        ("/accounts", json!({ "name": "x".repeat(101) }), 400, "invalid_value"),
        ("/accounts", json!({ "name": "a\u{7}" }), 400, "invalid_value"),
        ("/accounts", json!({ "name": "a", "currency": "eur" }), 400, "invalid_value"),
        ("/accounts", json!({ "name": "a", "balance": "1" }), 400, "unknown_parameter"),
        (&credit, json!({}), 400, "missing_field"),
        (&credit, json!({ "amount": 1 }), 400, "invalid_type"),
        (&credit, json!({ "amount": "1,5" }), 400, "invalid_value"),
        (&credit, json!({ "amount": "1e3" }), 400, "invalid_value"),
        (&credit, json!({ "amount": "0.0000000001" }), 400, "invalid_value"),
        (&credit, json!({ "amount": "0" }), 400, "invalid_value"),
        (&credit, json!({ "amount": "9223372036" }), 400, "invalid_value"),
        (&credit, json!({ "amount": "1", "note": "x".repeat(101) }), 400, "invalid_value"),
        // One unit more than is not held.
        (&credit, json!({ "amount": "-9.980000001" }), 402, "insufficient_balance"),
        ("/accounts/nonsense/credit", json!({ "amount": "1" }), 404, "not_found"),
        ("/keys", json!({ "account": id, "name": "a" }), 400, "missing_field"),
        ("/keys", json!({ "account": id, "name": "a", "rights": [] }), 400, "invalid_value"),
        ("/keys", json!({ "account": id, "name": "a", "rights": "agents" }), 400, "invalid_type"),
        ("/keys", json!({ "account": id, "name": "a", "rights": ["root"] }), 400, "invalid_value"),
        (
            "/keys",
            json!({ "account": id, "name": "a", "rights": ["agents"], "expires_in_s": 0 }),
            400,
            "invalid_type",
        ),
        (
            "/keys",
            json!({ "account": house.key_id.to_string(), "name": "a", "rights": ["agents"] }),
            404,
            "not_found",
        ),
        ("/keys/nonsense/revoke", json!({}), 404, "not_found"),
        ("/nowhere", json!({}), 404, "route_not_found"),
    ];
    for (path, body, status, code) in cases {
        let reply = post(&house, path, body.clone()).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{path} {body}");
    }
    let taken = post(&house, &credit, json!({ "amount": "-9.98" })).await;
    assert_eq!((taken.status, &taken.json()["available"]), (200, &json!("0")));
    assert_eq!(admin(&house).get("/accounts").await.json()["data"].as_array().unwrap().len(), 1);
    assert_eq!(admin(&house).get("/keys").await.json()["data"].as_array().unwrap().len(), 1);
    house.examine().await;
}

/// Source: service interface, "Authentication", rule 3: there is no separate key set for
/// administration; the contract, section 3: a socket of the daemon's user.
#[tokio::test(start_paused = true)]
async fn nobody_but_the_daemons_user_and_the_superuser_gets_anything() {
    let house = House::new().await;
    let id = house.account.to_string();
    let routes = [
        ("GET", "/status".to_owned()),
        ("GET", "/accounts".to_owned()),
        ("GET", format!("/accounts/{id}")),
        ("GET", format!("/accounts/{id}/ledger")),
        ("GET", "/keys".to_owned()),
        ("GET", format!("/keys/{}", house.key_id)),
        ("POST", format!("/keys/{}/update", house.key_id)),
        ("POST", "/accounts".to_owned()),
        ("POST", format!("/accounts/{id}/credit")),
        ("POST", "/keys".to_owned()),
        ("POST", format!("/keys/{}/revoke", house.key_id)),
        ("POST", "/ledger/verify".to_owned()),
        ("POST", "/doctor".to_owned()),
        ("GET", "/nowhere".to_owned()),
    ];
    let strangers = [
        Peer::Local { uid: host::uid() + 1 },
        Peer::Local { uid: u32::MAX },
        Peer::Tcp([127, 0, 0, 1].into()),
    ];
    let mut answers = Vec::new();
    for peer in strangers {
        // A key of the public API is worth nothing here.
        for client in [house.admin(peer), house.admin(peer).with_key(&house.key)] {
            for (method, path) in &routes {
                let reply = client.ask(method, path, None).await;
                assert_eq!(reply.status, 404, "{method} {path} for {peer:?}");
                answers.push(reply.without_id());
            }
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    for uid in [0, host::uid()] {
        assert_eq!(house.admin(Peer::Local { uid }).get("/status").await.status, 200);
    }
    assert_eq!(house.ask("GET", "/v1/account", None).await.status, 200);
}
