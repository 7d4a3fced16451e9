//! Accounts, keys and balances, with and without a running daemon.

use serde_json::{Value, json};

use crate::support::{Daemon, Errand};

/// The questions that change nothing, as scripts ask them.
fn looks(errand: &Errand, account: &str) -> Vec<Value> {
    let questions: [&[&str]; 7] = [
        &["account", "list"],
        &["account", "show", account],
        &["key", "list"],
        &["balance", "show", account],
        &["balance", "ledger", account],
        &["balance", "verify"],
        &["doctor"],
    ];
    questions.iter().map(|it| errand.json(it)).collect()
}

fn keys_of(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

#[test]
fn the_same_is_answered_with_and_without_a_daemon() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    errand.json(&["key", "create", "--account", &account, "--name", "one"]);
    let offline = looks(&errand, &account);
    let daemon = Daemon::serve(&errand);
    assert_eq!(looks(&errand, &account), offline);
    let made = errand.json(&["key", "create", "--account", &account, "--name", "two"]);
    errand.json(&["balance", "credit", &account, "-2.5", "--note", "back"]);
    let online = looks(&errand, &account);
    daemon.stop();
    assert_eq!(looks(&errand, &account), online);
    assert_eq!(online[3]["balance"], "7.5");
    assert_eq!(online[2]["data"][1]["id"], made["id"]);
}

#[test]
fn scripts_get_the_shapes_that_they_rely_on() {
    let errand = Errand::new();
    let daemon = Daemon::serve(&errand);
    let account = errand.json(&["account", "create", "--name", "Ana", "--currency", "USD"]);
    assert_eq!(keys_of(&account), ["id", "name", "currency"]);
    assert_eq!((&account["name"], &account["currency"]), (&json!("Ana"), &json!("USD")));
    let id = account["id"].as_str().unwrap();
    let args = ["key", "create", "--account", id, "--name", "n", "--rights", "models,agents"];
    let key = errand.json(&args);
    assert_eq!(keys_of(&key), ["id", "key", "rights"]);
    assert_eq!(key["rights"], json!(["models", "agents"]));
    let balance = errand.json(&["balance", "credit", id, "12.50", "--note", "first"]);
    assert_eq!(
        balance,
        json!({
            "balance": "12.5", "held": "0", "available": "12.5", "currency": "USD",
        })
    );
    assert_eq!(errand.json(&["balance", "show", id]), balance);
    let verified = errand.json(&["balance", "verify"]);
    assert_eq!(verified, json!({ "ok": true, "accounts": 1, "entries": 1 }));
    let status = errand.json(&["status"]);
    assert_eq!((&status["pid"], &status["mode"]), (&json!(daemon.pid()), &json!("serve")));
    assert_eq!(status["ready"], json!(true));
}

#[test]
fn a_key_opens_the_api_until_it_is_revoked() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    let args = ["key", "create", "--account", &account, "--name", "n", "--expires", "1h"];
    let made = errand.json(&args);
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let daemon = Daemon::serve(&errand);
    assert_eq!(daemon.get("/v1/account", key).json()["balance"], "10");
    let revoked = errand.json(&["key", "revoke", id]);
    assert_eq!(keys_of(&revoked), ["id", "revoked_at"]);
    assert_eq!(daemon.get("/v1/account", key).status, 401);
    assert_eq!(errand.json(&["key", "revoke", id]), revoked, "twice is once");
}

#[test]
fn every_verb_names_the_data_it_worked_on() {
    let errand = Errand::new();
    let data = errand.data();
    let data = data.to_str().unwrap();
    let made = errand.run(&["account", "create", "--name", "Ana", "--output", "json"]);
    assert!(made.err.contains(data) && made.err.contains("a new file was made"), "{made:?}");
    let listed = errand.run(&["account", "list"]);
    assert!(listed.out.contains(data) && listed.out.contains("the file was opened"), "{listed:?}");
    let daemon = Daemon::serve(&errand);
    let listed = errand.run(&["account", "list"]);
    assert!(listed.out.contains("the running daemon was asked"), "{listed:?}");
    let said = errand.refusal(5, &["account", "show", "01920f3c-1d2e-7a4b-8c5d-6e7f80910a1b"]);
    assert!(said.contains(data), "{said}");
    drop(daemon);
}

#[test]
fn each_refusal_has_its_code() {
    let errand = Errand::new();
    let unknown = "01920f3c-1d2e-7a4b-8c5d-6e7f80910a1b";
    let said = errand.refusal(5, &["account", "list"]);
    assert!(said.contains("there is no data in"), "{said}");
    assert!(!errand.data().exists(), "a look made a directory");
    let said = errand.refusal(3, &["status"]);
    assert!(said.contains("errand serve --data-dir"), "{said}");
    let account = errand.account(&[]);
    errand.refusal(3, &["status"]);
    for args in [
        &["account", "show", unknown][..],
        &["account", "show", "nonsense"],
        &["key", "create", "--account", unknown, "--name", "n"],
        &["key", "revoke", unknown],
        &["balance", "credit", unknown, "1"],
        &["balance", "ledger", unknown],
    ] {
        errand.refusal(5, args);
    }
    for args in [
        &["balance", "credit", &account, "1e3"][..],
        &["balance", "credit", &account, "1.0000000001"],
        &["account", "create", "--name", ""],
        &["account", "create", "--name", "x", "--currency", "euro"],
        &["key", "create", "--account", &account, "--name", "n", "--rights", "root"],
        &["key", "create", "--account", &account, "--name", "n", "--expires", "soon"],
    ] {
        errand.refusal(2, args);
    }
    let said = errand.refusal(1, &["balance", "credit", &account, "-10.01"]);
    assert!(said.contains("balance is too low"), "{said}");
    assert_eq!(errand.json(&["balance", "show", &account])["balance"], "10");
}

#[test]
fn output_that_nobody_takes_is_a_failure() {
    let errand = Errand::new();
    let mut child = errand.command(&["config", "keys"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let done = child.stdout(full).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("could not print"));
}
