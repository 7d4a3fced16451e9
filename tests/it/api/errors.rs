//! The table of errors, walked: every row of it is the answer to some request.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use errand::agents::{Agent, Bench, Entry, InputError, Task};
use errand::app::keys::{self, NewKey};
use errand::app::limiter::{Rate, Rates};
use errand::domain::account::Rights;
use errand::domain::money::Amount;
use errand::domain::outcome::Work;
use errand::domain::restrictions::{KindName, Only, Restrictions, origin};
use errand::inbound::Peer;
use errand::outbound::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use crate::support::http::with_headers;
use crate::support::{
    House, KIND, Plan, RUNS, Reply, Script, Trouble, golden, path_of, shown, upstream,
};

/// Answers that were collected, and their codes.
#[derive(Default)]
struct Found {
    text: String,
    codes: BTreeSet<String>,
}

impl Found {
    #[track_caller]
    fn note(&mut self, what: &str, status: u16, code: &str, reply: &Reply) {
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{what}: {}", reply.raw);
        self.codes.insert(code.to_owned());
        self.text.push_str(&format!("## {what}\n{}\n", shown(reply)));
    }
}

/// Requests that are wrong by themselves.
async fn wrong_requests(found: &mut Found) {
    let house = House::new().await;
    let cases = [
        ("a path that is not text", "GET", "/v1/%00", json!(null), 400, "invalid_path"),
        ("no such path", "GET", "/v1/nowhere", json!(null), 404, "route_not_found"),
        ("no such method", "PUT", RUNS, json!(null), 405, "method_not_allowed"),
        ("no such run", "GET", "/v1/agents/runs/x", json!(null), 404, "not_found"),
        ("no field", "POST", RUNS, json!({ "input": {} }), 400, "missing_field"),
        ("a field of another type", "POST", RUNS, json!({ "kind": 7 }), 400, "invalid_type"),
        (
            "a field that nobody knows",
            "POST",
            RUNS,
            json!({ "kind": KIND, "input": {}, "x": 1 }),
            400,
            "unknown_parameter",
        ),
        (
            "a label without letters",
            "POST",
            RUNS,
            json!({ "kind": KIND, "input": {}, "external_id": "" }),
            400,
            "invalid_value",
        ),
        ("no such kind", "POST", RUNS, json!({ "kind": "x", "input": {} }), 400, "unknown_kind"),
        (
            "an input of another type",
            "POST",
            RUNS,
            json!({ "kind": KIND, "input": { "ms": "1" } }),
            400,
            "invalid_input",
        ),
        (
            "a limit out of range",
            "GET",
            "/v1/agents/runs?limit=0",
            json!(null),
            400,
            "invalid_query",
        ),
        ("an array for a body", "POST", RUNS, json!([]), 400, "invalid_json"),
    ];
    for (what, method, path, body, status, code) in cases {
        let body = Some(body).filter(|it| !it.is_null());
        found.note(what, status, code, &house.ask(method, path, body).await);
    }
    let auth = format!("authorization: Bearer {}\r\n", house.key);
    let plain = with_headers("POST", RUNS, &format!("{auth}content-type: text/plain\r\n"), "x");
    let reply = house.send(plain.as_bytes()).await;
    found.note("a body that is not JSON", 415, "unsupported_media_type", &reply);
    let chunked = with_headers("POST", RUNS, &auth, "zz\r\n");
    let chunked = chunked.replace("content-length: 4", "transfer-encoding: chunked");
    let reply = house.send(chunked.as_bytes()).await;
    found.note("a body that breaks off", 400, "invalid_request", &reply);
    let over = house.run(json!({})).await;
    house.over(&over).await;
    let reply = house.ask("POST", &format!("{}/cancel", path_of(&over)), None).await;
    found.note("a cancel that comes too late", 409, "run_over", &reply);
}

/// Keys that do not open, and accounts that cannot pay.
async fn wrong_callers(found: &mut Found) {
    let house = House::new().await;
    let reply = house.ask_as("", "GET", RUNS, None).await;
    found.note("no key", 401, "missing_api_key", &reply);
    let reply = house.ask_as("x", "GET", RUNS, None).await;
    found.note("an invented key", 401, "invalid_api_key", &reply);
    let reply = house.ask("GET", "/v1/account?key=x", None).await;
    found.note("a key in the URL", 401, "missing_api_key", &reply);
    let (key, _) = house.key_of(house.account, "models", None).await;
    let reply = house.ask_as(&key, "GET", RUNS, None).await;
    found.note("a key for something else", 403, "insufficient_rights", &reply);
    let (key, id) = house.key_of(house.account, "agents", None).await;
    keys::revoke(house.daemon().app(), id).await.unwrap();
    let reply = house.ask_as(&key, "GET", RUNS, None).await;
    found.note("a revoked key", 401, "api_key_revoked", &reply);
    let (key, _) = house.key_of(house.account, "agents", Some(Duration::from_secs(1))).await;
    house.clock.sleep(Duration::from_secs(1)).await;
    let reply = house.ask_as(&key, "GET", RUNS, None).await;
    found.note("an expired key", 401, "api_key_expired", &reply);
    let (_, poor) = house.tenant("poor", "0.019999999").await;
    let body = json!({ "kind": KIND, "input": {} });
    let reply = house.ask_as(&poor, "POST", RUNS, Some(body)).await;
    found.note("too little money", 402, "insufficient_balance", &reply);
}

/// Receivers that cannot be connected, or not be sent to.
async fn receivers(found: &mut Found) {
    const HOOKS: &str = "/v1/webhooks";
    let house = House::with(1, |it| it.webhooks.rules.receivers = 1).await;
    let ask = async |url: &str| house.ask("POST", HOOKS, Some(json!({ "url": url }))).await;
    let reply = ask("https://user@a.example/").await;
    found.note("a URL with a user name", 400, "invalid_receiver_url", &reply);
    let id = ask("https://a.example/").await.json()["id"].as_str().unwrap().to_owned();
    let reply = ask("https://b.example/").await;
    found.note("too many receivers", 400, "too_many_receivers", &reply);
    house.ask("DELETE", &format!("{HOOKS}/{id}"), None).await;
    let body = json!({ "since": "2025-12-31T00:00:00Z" });
    let reply = house.ask("POST", &format!("{HOOKS}/{id}/recover"), Some(body)).await;
    found.note("a receiver that is disabled", 400, "receiver_disabled", &reply);
    house.examine().await;
}

/// Keys that are not meant for what they are used for.
async fn restricted_keys(found: &mut Found) {
    let house = House::new().await;
    let keys_of = async |restrictions| {
        let new = NewKey {
            account: house.account,
            name: "bound",
            rights: Rights::parse("agents").unwrap(),
            lifetime: None,
            restrictions,
        };
        keys::create_restricted(house.daemon().app(), new).await.unwrap().0
    };
    let networks = Only::new(vec![origin("192.0.2.0/24").unwrap()]);
    let key = keys_of(Restrictions { networks, ..Restrictions::default() }).await;
    let reply = house.ask_as(key.reveal(), "GET", RUNS, None).await;
    found.note("a key in a foreign network", 403, "ip_not_allowed", &reply);
    let kinds = Only::new(vec![KindName::parse("other").unwrap()]);
    let key = keys_of(Restrictions { kinds, ..Restrictions::default() }).await;
    let body = json!({ "kind": KIND, "input": {} });
    let reply = house.ask_as(key.reveal(), "POST", RUNS, Some(body)).await;
    found.note("a key for other kinds", 403, "kind_not_allowed", &reply);
    house.examine().await;
}

/// Chats that are not begun; what upstreams do is walked in the tests of chats.
async fn chats(found: &mut Found) {
    let models = [Plan::priced("ours", &["a.example"])];
    let house = House::offering(1, &models, |it| it.limits.chats_in_flight = Some(0)).await;
    let ask_as = async |key: &str, model: &str, extra: Value| {
        let body = upstream::ask(model, &extra);
        house.ask_as(key, "POST", "/v1/chat/completions", Some(body)).await
    };
    let reply = ask_as(&house.key, "nobody", json!({})).await;
    found.note("no such model", 404, "model_not_found", &reply);
    let reply = ask_as(&house.key, "ours", json!({ "n": 2 })).await;
    assert_eq!((reply.status, reply.code().as_str()), (400, "unsupported_parameter"));
    let reply = ask_as(&house.key, "ours", json!({})).await;
    found.note("too many chats at once", 429, "concurrency_limited", &reply);
    let (key, _) = house.restricted(json!({ "models": ["offline/*"] })).await;
    let reply = ask_as(&key, "ours", json!({})).await;
    found.note("a key for other models", 403, "model_not_allowed", &reply);
    let budget = json!({ "amount": "0.001", "period": "month" });
    let (key, _) = house.restricted(json!({ "budget": budget, "concurrency": 1 })).await;
    let reply = ask_as(&key, "ours", json!({})).await;
    found.note("a budget that is too small", 402, "budget_exceeded", &reply);
}

/// An agent that cannot be scheduled.
struct AskedOnly(Script, Entry);

impl Agent for AskedOnly {
    fn entry(&self) -> &Entry {
        &self.1
    }

    fn accept(&self, input: &Map<String, Value>) -> Result<String, InputError> {
        self.0.accept(input)
    }

    fn run<'a>(&'a self, task: &'a Task, bench: &'a Bench) -> BoxFuture<'a, Work> {
        self.0.run(task, bench)
    }
}

/// Schedules that cannot be made, or changed so.
async fn schedules(found: &mut Found) {
    const SCHEDULES: &str = "/v1/agents/schedules";
    let mut house = House::with(1, |it| {
        it.agents.prices.insert("asked_only".to_owned(), Amount::parse("0.02").unwrap());
        it.schedules.rules.per_account = 1;
    })
    .await;
    let entry = Entry {
        kind: "asked_only".to_owned(),
        schedulable: false,
        ..Script::default().entry().clone()
    };
    house.agents.push(Arc::new(AskedOnly(Script::default(), entry)));
    house.restart().await;
    let body = |kind: &str, cron: &str, channel: &str| json!({ "kind": kind, "input": {}, "cron": cron, "delivery_channels": [channel] });
    let ask = async |body: Value| house.ask("POST", SCHEDULES, Some(body)).await;
    let reply = ask(body(KIND, "61 * * * *", "email")).await;
    found.note("an expression of no time", 400, "invalid_cron", &reply);
    let reply = ask(body(KIND, "0 9 * * *", "pigeon")).await;
    found.note("a channel that there is not", 400, "invalid_channel", &reply);
    let reply = ask(body("asked_only", "0 9 * * *", "email")).await;
    found.note("an agent that cannot be scheduled", 400, "kind_not_schedulable", &reply);
    let made = ask(body(KIND, "0 9 * * *", "email")).await;
    let reply = ask(body(KIND, "0 9 * * *", "email")).await;
    found.note("too many schedules", 400, "too_many_schedules", &reply);
    let path = made.header("location").unwrap();
    let reply = house.ask("PATCH", path, Some(json!({ "kind": "other" }))).await;
    found.note("a change of what is fixed", 400, "not_patchable", &reply);
    house.examine().await;
}

/// Limits that are reached.
async fn limits(found: &mut Found) {
    let house = House::with(1, |it| {
        let once = Some(Rate { per_minute: 1, burst: 1 });
        it.limits.rates = Rates { key: once, account: None, strangers: once };
        it.limits.pending_runs = Some(1);
        it.queue.workers = 0;
    })
    .await;
    house.ask("GET", RUNS, None).await;
    found.note("a key in a hurry", 429, "rate_limited", &house.ask("GET", RUNS, None).await);
    house.ask_as("x", "GET", RUNS, None).await;
    let reply = house.ask_as("x", "GET", RUNS, None).await;
    found.note("a stranger in a hurry", 429, "too_many_auth_failures", &reply);
    house.clock.sleep(Duration::from_mins(1)).await;
    house.run(json!({})).await;
    house.clock.sleep(Duration::from_mins(1)).await;
    let reply = house.ask("POST", RUNS, Some(json!({ "kind": KIND, "input": {} }))).await;
    found.note("too many runs", 429, "queue_full", &reply);

    let rights = Rights::parse("agents").unwrap();
    for number in 1..100 {
        let name = format!("key {number}");
        keys::create(house.daemon().app(), house.account, &name, rights, None).await.unwrap();
    }
    let admin = house.admin(Peer::Local { uid: 0 });
    let account = house.account.to_string();
    let body = json!({ "account": account, "name": "one more", "rights": ["agents"] });
    let reply = admin.ask("POST", "/keys", Some(body)).await;
    found.note("too many keys", 400, "too_many_keys", &reply);
    let credit = json!({ "amount": "0" });
    let reply = admin.ask("POST", &format!("/accounts/{account}/credit"), Some(credit)).await;
    found.note("a credit of nothing", 400, "invalid_value", &reply);
    house.examine().await;
}

/// A disk that does not do its work.
async fn disk_trouble(found: &mut Found) {
    let house = House::new().await;
    let body = json!({ "kind": KIND, "input": {} });
    house.disk.fail(Trouble::Full);
    let reply = house.ask("POST", RUNS, Some(body.clone())).await;
    found.note("a full disk", 503, "storage_full", &reply);
    house.disk.heal();
    house.clock.sleep(Duration::from_secs(10)).await;
    house.disk.fail(Trouble::Broken);
    let reply = house.ask("POST", RUNS, Some(body)).await;
    found.note("a broken disk", 500, "internal_error", &reply);
    house.disk.heal();
    house.clock.sleep(Duration::from_secs(10)).await;
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 0);
    house.examine().await;
}

/// More than can wait for a disk that takes its time.
async fn disk_queue(found: &mut Found) {
    let house = House::with(1, |it| {
        it.queue.workers = 0;
        it.limits.pending_runs = None;
    })
    .await;
    let gate = house.disk.shut();
    let mut asks = JoinSet::new();
    for _ in 0..=1024 {
        let client = house.client();
        let body = json!({ "kind": KIND, "input": {} });
        asks.spawn(async move { client.ask("POST", RUNS, Some(body)).await });
    }
    // While the disk is at work the paused clock does not move by itself.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_secs(6)).await;
    let refused = asks.join_next().await.unwrap().unwrap();
    found.note("a disk that others wait for", 503, "overloaded", &refused);
    drop(gate);
    let mut statuses = Vec::new();
    while let Some(reply) = asks.join_next().await {
        statuses.push(reply.unwrap().status);
    }
    // All that could wait were done: as many as there was money for.
    assert_eq!(statuses.len(), 1024);
    assert_eq!(statuses.iter().filter(|it| **it == 201).count(), 500);
    house.examine().await;
}

/// The codes that stand in the table, by its own text.
fn codes_of_the_table() -> BTreeSet<String> {
    let table = [
        include_str!("../../../src/api/error.rs"),
        include_str!("../../../src/api/app_row.rs"),
        include_str!("../../../src/api/chat_fault.rs"),
        include_str!("../../../src/api/row.rs"),
    ];
    let texts = table.iter().flat_map(|it| it.split('"').skip(1).step_by(2));
    let is_code =
        |it: &&str| it.len() > 7 && it.bytes().all(|b| b == b'_' || b.is_ascii_lowercase());
    let codes = texts.filter(is_code).filter(|it| !OTHER_WORDS.contains(it));
    codes.map(str::to_owned).collect()
}

/// Words of the table that look like codes: types and details.
const OTHER_WORDS: [&str; 16] = [
    "affordable_max_tokens",
    "api_error",
    "authentication_error",
    "available",
    "billing_error",
    "currency",
    "delivery_channels",
    "invalid_request_error",
    "messages",
    "overloaded_error",
    "permission_error",
    "rate_limit_error",
    "required",
    "required_right",
    "resets_at",
    "upstream_error",
];

/// Rows that take thousands of deliveries, or a daemon that stops; tests of webhooks and of chats
/// walk them.
const ELSEWHERE: [&str; 3] = ["backlog_full", "shutting_down", "too_many_resends"];

/// Source: the contract, section 2: one body on every path, one table.
#[tokio::test(start_paused = true)]
async fn every_row_of_the_table_is_the_answer_to_some_request() {
    let mut found = Found::default();
    wrong_requests(&mut found).await;
    wrong_callers(&mut found).await;
    restricted_keys(&mut found).await;
    chats(&mut found).await;
    receivers(&mut found).await;
    schedules(&mut found).await;
    limits(&mut found).await;
    disk_trouble(&mut found).await;
    disk_queue(&mut found).await;
    found.codes.extend(ELSEWHERE.map(str::to_owned));
    assert_eq!(found.codes, codes_of_the_table());
    golden("api/errors.txt", &found.text);
}
