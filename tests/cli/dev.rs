//! `errand dev`: a key that stays, money to spend, and nothing for strangers.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Daemon, Errand, Page, get};

/// The file that programs read.
#[track_caller]
fn dev_json(errand: &Errand) -> Value {
    let path = errand.home().join(".errand/dev.json");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text<'a>(file: &'a Value, name: &str) -> &'a str {
    file[name].as_str().unwrap()
}

#[test]
fn programs_find_everything_in_one_file_before_it_is_ready() {
    let errand = Errand::new();
    let daemon = Daemon::dev(&errand);
    let file = dev_json(&errand);
    let names: Vec<&String> = file.as_object().unwrap().keys().collect();
    assert_eq!(names, ["base_url", "api_key", "signing_secret", "account_id"]);
    assert_eq!(text(&file, "base_url"), daemon.fact("base URL"));
    assert_eq!(text(&file, "api_key"), daemon.fact("key"));
    assert!(text(&file, "signing_secret").starts_with("whsec_"));
    assert_eq!(daemon.fact("balance"), "1000 EUR");
    let address = text(&file, "base_url").strip_prefix("http://").unwrap();
    let (address, path) = address.split_once('/').unwrap();
    let account = get(address, &format!("/{path}/account"), text(&file, "api_key")).json();
    assert_eq!(account["id"], file["account_id"]);
    assert_eq!(account["balance"], "1000");
    assert_eq!(account["key"]["rights"], json!(["models", "agents"]));
}

#[test]
fn a_directory_keeps_its_key_and_gets_its_money_once() {
    let errand = Errand::new();
    Daemon::dev(&errand).stop();
    let first = dev_json(&errand);
    let daemon = Daemon::dev(&errand);
    let second = dev_json(&errand);
    for name in ["api_key", "signing_secret", "account_id"] {
        assert_eq!(first[name], second[name], "{name}");
    }
    assert_eq!(text(&second, "base_url"), daemon.fact("base URL"));
    assert_eq!(daemon.fact("balance"), "1000 EUR");
    let here = ["--data-dir", ".errand"];
    let accounts = errand.json(&[&["account", "list"][..], &here].concat());
    assert_eq!(accounts["data"].as_array().unwrap().len(), 1);
    let keys = errand.json(&[&["key", "list"][..], &here].concat());
    assert_eq!(keys["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_key_that_is_gone_is_replaced_and_that_is_said() {
    let errand = Errand::new();
    Daemon::dev(&errand).stop();
    let first = dev_json(&errand);
    let key = errand.json(&["key", "list", "--data-dir", ".errand"])["data"][0]["id"].clone();
    errand.json(&["key", "revoke", key.as_str().unwrap(), "--data-dir", ".errand"]);
    let daemon = Daemon::dev(&errand);
    assert!(daemon.fact("note").contains("was revoked: here is a new key"));
    let second = dev_json(&errand);
    assert_ne!(first["api_key"], second["api_key"]);
    assert_eq!(first["signing_secret"], second["signing_secret"]);
    assert_eq!(first["account_id"], second["account_id"]);
    daemon.stop();
    errand.file(".errand/dev.json", "{ not json");
    let daemon = Daemon::dev(&errand);
    assert!(daemon.fact("note").contains("could not be read"), "{:?}", daemon.banner);
    let third = dev_json(&errand);
    assert_eq!(third["account_id"], first["account_id"]);
    assert_eq!(daemon.get("/v1/account", text(&third, "api_key")).json()["balance"], "1000");
    daemon.stop();
    std::fs::remove_file(errand.home().join(".errand/dev.json")).unwrap();
    let daemon = Daemon::dev(&errand);
    assert_eq!(dev_json(&errand)["account_id"], first["account_id"]);
    assert_eq!(daemon.fact("balance"), "1000 EUR");
}

#[test]
fn every_end_is_forwarded_and_every_attempt_is_shown() {
    let errand = Errand::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/hooks");
    let args = ["dev", "--listen", "127.0.0.1:0", "--forward-to", &url];
    let mut daemon = Daemon::start(&errand, &args);
    assert_eq!(text(&dev_json(&errand), "forward_to"), url);
    assert_eq!(daemon.fact("forwards"), format!("every event to {url}"));
    let key = daemon.fact("key");
    let order =
        json!({ "kind": "seo_audit", "input": { "url": format!("http://127.0.0.1:{port}/") } });
    let run = daemon.post("/v1/agents/runs", &key, &order).json()["id"].clone();
    let line = daemon.line();
    assert!(
        line.starts_with(&format!("agent.run.failed  run {}", run.as_str().unwrap())),
        "{line}"
    );
    assert!(line.contains(&format!("attempt 1 > {url}: connect_failed (refused)")), "{line}");
    assert!(line.contains("again in 1."), "{line}");
    // Now somebody listens, with the secret of the directory.
    let port = port.to_string();
    let mut listener = errand.command(&["listen", "--port", &port, "--data-dir", ".errand"]);
    let mut listener = listener.spawn().unwrap();
    let line = daemon.line();
    assert!(line.contains(": 204, "), "{line}");
    listener.kill().unwrap();
    listener.wait().unwrap();
    daemon.stop();
    // Without the flag nothing is forwarded any more.
    let daemon = Daemon::dev(&errand);
    assert!(dev_json(&errand).get("forward_to").is_none());
    assert_eq!(daemon.get("/v1/webhooks", &key).json()["total"], 0);
}

#[test]
fn what_cannot_be_a_receiver_is_not_forwarded_to() {
    let errand = Errand::new();
    let said = errand.refusal(2, &["dev", "--listen", "127.0.0.1:0", "--forward-to", "ftp://a/"]);
    assert!(said.contains("--forward-to ftp://a/: the scheme is not allowed"), "{said}");
}

#[test]
fn it_listens_on_loopback_only() {
    let errand = Errand::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let said = errand.refusal(2, &["dev", "--listen", address]);
        assert!(said.contains("loopback only"), "{said}");
    }
    assert!(!errand.home().join(".errand").exists());
}

#[test]
fn what_is_ephemeral_is_gone_at_the_end() {
    let errand = Errand::new();
    let args = ["dev", "--ephemeral", "--listen", "127.0.0.1:0"];
    let daemon = Daemon::start(&errand, &args);
    assert_eq!(errand.left_behind().len(), 1);
    let key = daemon.fact("key");
    assert_eq!(daemon.get("/v1/account", &key).json()["balance"], "1000");
    daemon.stop();
    assert!(errand.left_behind().is_empty(), "{:?}", errand.left_behind());
    assert!(!errand.home().join(".errand").exists());
}

#[test]
fn the_data_of_customers_is_not_for_developing() {
    let errand = Errand::new();
    errand.account(&[]);
    let data = errand.data();
    let args = ["dev", "--data-dir", data.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let said = errand.refusal(6, &args);
    assert!(said.contains("the data of `errand serve`"), "{said}");
    assert!(!data.join("dev.json").exists());
    assert_eq!(errand.json(&["account", "list"])["data"].as_array().unwrap().len(), 1);
}

#[test]
fn requests_are_not_counted() {
    let daemon = Daemon::dev(&Errand::new());
    let key = daemon.fact("key");
    for _ in 0..100 {
        assert_eq!(daemon.get("/v1/account", &key).status, 200);
        assert_eq!(daemon.get("/v1/account", "service_sk_wrong").status, 401);
    }
}

#[test]
fn a_run_on_loopback_succeeds_is_charged_once_and_outlives_the_daemon() {
    let page = Page::serve("<!doctype html><html lang=en><title>A page</title><h1>Page</h1>");
    let errand = Errand::new();
    let daemon = Daemon::dev(&errand);
    let key = daemon.fact("key");
    let order = json!({ "kind": "seo_audit", "input": { "url": page.url } });
    let made = daemon.post("/v1/agents/runs", &key, &order).json();
    let path = format!("/v1/agents/runs/{}", made["id"].as_str().unwrap());
    // Each question takes a connection, so many of them take longer than any run.
    let over = (0..20_000).map(|_| daemon.get(&path, &key).json()).find(|run| {
        let status = run["status"].as_str().unwrap();
        status != "pending" && status != "running"
    });
    let run = over.unwrap_or_else(|| panic!("the run did not end: {made}"));
    assert_eq!((&run["status"], &run["cost"]), (&json!("succeeded"), &json!("0.02")), "{run}");
    assert!(run["output"].as_str().unwrap().starts_with("# "), "{run}");
    daemon.stop();
    let daemon = Daemon::dev(&errand);
    assert_eq!(daemon.fact("key"), key);
    assert_eq!((daemon.get(&path, &key).json()), (run));
    assert_eq!(daemon.fact("balance"), "999.98 EUR");
    let id = daemon.fact("account").split(' ').next().unwrap().to_owned();
    let ledger = errand.json(&["balance", "ledger", &id, "--data-dir", ".errand"]);
    let kinds: Vec<&Value> =
        ledger["data"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds.iter().filter(|it| **it == "charge").count(), 1, "{ledger}");
    assert_eq!(errand.json(&["doctor", "--data-dir", ".errand"])["ok"], true);
}
