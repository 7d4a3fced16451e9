//! Restricted keys and the ledger, as operators type them.

use serde_json::{Value, json};

use crate::support::{Daemon, Errand};

/// Makes a key with more flags; its id and the key.
#[track_caller]
fn key(errand: &Errand, account: &str, flags: &[&str]) -> (String, String) {
    let args = ["key", "create", "--account", account, "--name", "bound"];
    let made = errand.json(&[&args, flags].concat());
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("key"))
}

#[test]
fn flags_that_cannot_be_meant_are_refused_and_change_nothing() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    let (id, _) = key(&errand, &account, &["--rpm", "60"]);
    let before = errand.json(&["key", "list"]);
    for flags in [
        &["--models", "*"][..],
        &["--models", ""],
        &["--models", "off,a"],
        &["--kinds", "a b"],
        &["--networks", "10.0.0.1/8"],
        &["--rpm", "0"],
        &["--rpm", "many"],
        &["--concurrency", "10001"],
        &["--budget", "0"],
        &["--budget", "10/year"],
        &["--strict=maybe"],
    ] {
        // `off` stands alone; in a list it is the name of a model.
        let code = if flags[1..] == ["off,a"] { 0 } else { 2 };
        let args = [&["key", "update", &id], flags].concat();
        assert_eq!(errand.run(&args).code, Some(code), "{flags:?}");
    }
    errand.json(&["key", "update", &id, "--models", "off"]);
    assert!(errand.refusal(2, &["key", "update", &id]).contains("nothing is named"));
    for args in [&["key", "show", "nonsense"][..], &["key", "update", &account, "--rpm", "1"]] {
        errand.refusal(5, args);
    }
    assert_eq!(errand.json(&["key", "list"]), before);
}

#[test]
fn a_key_is_restricted_shown_changed_and_freed() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    let flags = [
        "--models",
        "offline/*, vendor/name:tag",
        "--kinds=seo_audit",
        "--networks",
        "192.0.2.0/24,2001:db8::/32",
        "--rpm=120",
        "--concurrency=4",
        "--budget=10.50/month",
        "--strict",
    ];
    let (id, secret) = key(&errand, &account, &flags);
    let shown = errand.json(&["key", "show", &id]);
    assert_eq!(shown["models"], json!(["offline/*", "vendor/name:tag"]));
    assert_eq!(shown["kinds"], json!(["seo_audit"]));
    assert_eq!(shown["networks"], json!(["192.0.2.0/24", "2001:db8::/32"]));
    assert_eq!(shown["requests_per_minute"], 120);
    assert_eq!(shown["concurrency"], 4);
    assert_eq!(shown["strict"], true);
    assert_eq!(shown["budget"]["amount"], "10.5");
    assert_eq!(shown["budget"]["period"], "month");
    let listed = errand.run(&["key", "list"]).out;
    assert!(listed.contains("RESTRICTED") && listed.contains("rpm"), "{listed}");
    assert!(listed.contains("10.5/month"), "{listed}");

    let daemon = Daemon::serve(&errand);
    assert_eq!(daemon.get("/v1/account", &secret).status, 403);
    let update = ["key", "update", &id, "--networks", "127.0.0.0/8", "--strict=false"];
    assert_eq!(errand.json(&update)["strict"], false);
    let account = daemon.get("/v1/account", &secret).json();
    assert_eq!(account["key"]["budget"]["amount"], "10.5");
    assert!(account["key"]["last_used_at"].is_string());
    let off = ["--models", "off", "--kinds", "off", "--networks", "off", "--budget", "off"];
    let free = errand.json(&[&["key", "update", &id], &off[..]].concat());
    assert_eq!((&free["models"], &free["budget"]), (&Value::Null, &Value::Null));
    assert_eq!(free["requests_per_minute"], 120, "what is not named stays");
    let used_at = errand.json(&["key", "show", &id])["last_used_at"].clone();
    daemon.stop();
    assert_eq!(errand.json(&["key", "show", &id])["last_used_at"], used_at);
}

#[test]
fn a_ledger_is_filtered_and_paged_to_its_end() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    let daemon = Daemon::serve(&errand);
    for _ in 0..4 {
        errand.json(&["balance", "credit", &account, "-1", "--note", "=1+1"]);
    }
    let seqs = |flags: &[&str]| {
        let found = errand.json(&[&["balance", "ledger", &account], flags].concat());
        let rows = found["data"].as_array().unwrap().clone();
        let seqs: Vec<u64> = rows.iter().map(|it| it["seq"].as_u64().unwrap()).collect();
        (seqs, found["next_before"].as_u64())
    };
    assert_eq!(seqs(&[]), (vec![5, 4, 3, 2, 1], None));
    assert_eq!(seqs(&["--limit", "2"]), (vec![5, 4], Some(4)));
    assert_eq!(seqs(&["--limit", "2", "--before", "4"]), (vec![3, 2], Some(2)));
    assert_eq!(seqs(&["--kind", "credit"]), (vec![1], None));
    assert_eq!(seqs(&["--kind", "debit", "--all"]), (vec![5, 4, 3, 2], None));
    assert_eq!(seqs(&["--key", &account]), (vec![], None));
    assert_eq!(seqs(&["--since", "2020-01-01", "--until", "2020-01-02"]), (vec![], None));
    assert_eq!(seqs(&["--since", "2020-01-01T00:00:00+01:00"]).0.len(), 5);
    for flags in [["--since", "yesterday"], ["--until", "2026-02-30"]] {
        errand.refusal(2, &[&["balance", "ledger", &account], &flags[..]].concat());
    }
    errand.refusal(5, &["balance", "ledger", &account, "--key", "nonsense"]);
    let table = errand.run(&["balance", "ledger", &account, "--limit", "2"]).out;
    assert!(table.contains("--before 4, or --all"), "{table}");
    daemon.stop();
}

/// Source: RFC 4180; a note is nobody's formula.
#[test]
fn a_ledger_is_a_table_for_spreadsheets() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    errand.json(&["balance", "credit", &account, "-1.5", "--note", "=A1, \"x\""]);
    let done = errand.run(&["balance", "ledger", &account, "--all", "--output", "csv"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.err.contains("data: "), "{done:?}");
    let lines: Vec<&str> = done.out.split_terminator("\r\n").collect();
    assert_eq!(lines[0], "seq,at,kind,amount,balance_after,reference,key_id,note");
    assert!(lines[1].starts_with("2,") && lines[1].contains(",debit,-1.5,8.5,,,"), "{lines:?}");
    assert!(lines[1].ends_with(",\"'=A1, \"\"x\"\"\""), "{lines:?}");
    assert!(lines[2].ends_with(",credit,10,10,,,"), "{lines:?}");
    assert_eq!(lines.len(), 3);
    let unknown = "01920f3c-1d2e-7a4b-8c5d-6e7f80910a1b";
    let refused = errand.run(&["balance", "ledger", unknown, "--output", "csv"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(5), ""));
}
