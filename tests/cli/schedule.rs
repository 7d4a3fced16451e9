//! `errand schedule`: every verb, with and without a running daemon.

use serde_json::{Value, json};

use crate::support::{Daemon, Errand, Page};

const INPUT: &str = r#"{"url": "http://nowhere.invalid/"}"#;
const NOBODY: &str = "01920f3c-1d2e-7a4b-8c5d-6e7f80910a1b";

/// Makes a schedule that does not fire while a test lasts.
#[track_caller]
fn create(errand: &Errand, account: &str, more: &[&str]) -> Value {
    let args = ["schedule", "create", "--account", account, "--kind", "seo_audit"];
    let args = [&args[..], &["--cron", "0 6 29 2 *", "--input", INPUT], more].concat();
    errand.json(&args)
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

/// What is said without `--output json`.
#[track_caller]
fn said(errand: &Errand, args: &[&str]) -> String {
    let done = errand.run(args);
    assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
    done.out
}

/// The questions that change nothing.
fn looks(errand: &Errand, account: &str, schedule: &str) -> Vec<Value> {
    let questions: [&[&str]; 3] = [
        &["schedule", "list"],
        &["schedule", "list", "--account", account],
        &["schedule", "show", schedule],
    ];
    questions.iter().map(|it| errand.json(it)).collect()
}

#[test]
fn the_same_is_answered_with_and_without_a_daemon() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    let first = create(&errand, &account, &[]);
    let offline = looks(&errand, &account, id(&first));
    assert_eq!(offline[0]["data"].as_array().unwrap().len(), 1);
    let daemon = Daemon::serve(&errand);
    assert_eq!(looks(&errand, &account, id(&first)), offline);
    let second = create(&errand, &account, &["--one-shot", "--overlap", "allow"]);
    errand.json(&["schedule", "disable", id(&first)]);
    let online = looks(&errand, &account, id(&first));
    assert_eq!(online[0]["data"][1]["id"], second["id"]);
    daemon.stop();
    assert_eq!(looks(&errand, &account, id(&first)), online);
    assert_eq!(errand.json(&["doctor"])["ok"], true);
}

#[test]
fn every_verb_does_what_it_says_also_without_a_daemon() {
    for is_online in [false, true] {
        let errand = Errand::new();
        let account = errand.account(&[]);
        let daemon = is_online.then(|| Daemon::serve(&errand));
        let made = create(&errand, &account, &["--missed", "skip"]);
        let schedule = id(&made);
        assert_eq!((&made["kind"], &made["enabled"]), (&json!("seo_audit"), &json!(true)));
        assert_eq!((&made["missed"], &made["overlap"]), (&json!("skip"), &json!("skip")));

        let off = errand.json(&["schedule", "disable", schedule]);
        assert_eq!((&off["enabled"], &off["disabled_reason"]), (&json!(false), &json!("user")));
        let on = errand.json(&["schedule", "enable", schedule]);
        assert_eq!(on["next_run_at"], made["next_run_at"]);
        let run = errand.json(&["schedule", "run", schedule]);
        assert_eq!((&run["trigger"], &run["schedule_id"]), (&json!("run_now"), &made["id"]));
        let shown = errand.json(&["schedule", "show", schedule]);
        assert_eq!((&shown["last_run_id"], &shown["ticks"]), (&run["id"], &json!([])));
        assert_eq!(shown["next_run_at"], made["next_run_at"]);
        let gone = errand.json(&["schedule", "delete", schedule]);
        assert_eq!(gone, json!({ "id": schedule, "deleted": true }));
        assert_eq!(errand.json(&["schedule", "list"])["data"], json!([]));
        errand.refusal(5, &["schedule", "delete", schedule]);
        if let Some(daemon) = daemon {
            daemon.stop();
        }
        assert_eq!(errand.json(&["doctor"])["ok"], true);
    }
}

#[test]
fn people_read_what_they_need() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    assert!(said(&errand, &["schedule", "list"]).contains("There is no schedule yet"));
    let args = ["schedule", "create", "--account", &account, "--kind", "seo_audit"];
    let text = said(&errand, &[&args[..], &["--cron", "*/7 6 * * *", "--input", INPUT]].concat());
    assert!(text.contains("schedule ") && text.contains("(At minutes 0, 7, 14"), "{text}");
    assert!(text.contains("per day") && text.contains("9 runs, "), "{text}");
    assert!(text.contains("note") && text.contains("one gap is shorter"), "{text}");
    let listed = errand.json(&["schedule", "list"]);
    let schedule = id(&listed["data"][0]);
    let text = said(&errand, &["schedule", "list"]);
    for word in ["ID", "NEXT", "MISSED", schedule, "seo_audit", "*/7 6 * * *", " UTC"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let text = said(&errand, &["schedule", "show", schedule]);
    assert!(text.contains("0 fired, 0 skipped, 0 missed"), "{text}");
    for (name, value) in [("overlap", "skip"), ("missed", "fire_once"), ("fires", "at every slot")]
    {
        let line = text.lines().find(|it| it.trim_start().starts_with(name));
        assert!(line.is_some_and(|it| it.ends_with(value)), "{name}: {text}");
    }
    // The next one and the four after it.
    assert_eq!(text.matches(":00 UTC").count(), 5, "{text}");
    assert!(!text.contains("channels") && !text.contains("last skip"), "{text}");
    assert!(text.contains("No slot has come yet."), "{text}");
    let text = said(&errand, &["schedule", "disable", schedule]);
    assert!(text.contains("does not fire any more (user)"), "{text}");
    assert!(said(&errand, &["schedule", "list"]).contains("stopped (user)"));
    let text = said(&errand, &["schedule", "enable", schedule]);
    assert!(text.contains("fires next at 2") && text.contains(" UTC."), "{text}");
    assert!(said(&errand, &["schedule", "run", schedule]).contains("waits for a worker"));
    let text = said(&errand, &["schedule", "delete", schedule]);
    assert!(text.contains("is gone; its runs stay"), "{text}");
}

/// What there is to say of a schedule is said, and what does not apply is not.
#[test]
fn every_field_can_be_set_and_is_shown() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    let more = ["--one-shot", "--disabled", "--delivery-channels", "slack,email"];
    let made = create(&errand, &account, &more);
    assert_eq!(made["delivery_channels"], json!(["email", "slack"]));
    assert_eq!((&made["enabled"], &made["disabled_reason"]), (&json!(false), &json!("user")));
    assert_eq!((&made["runs_per_day"], &made["cost_per_day"]), (&Value::Null, &Value::Null));
    let text = said(&errand, &["schedule", "show", id(&made)]);
    for part in ["email, slack", "once, then it stops", "stopped (user)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("per day"), "{text}");
    let args = ["schedule", "create", "--account", &account, "--kind", "seo_audit"];
    let args = [&args[..], &["--cron", "0 6 * * *", "--input", INPUT]].concat();
    errand.refusal(2, &[&args[..], &["--delivery-channels", "sms"]].concat());
}

#[test]
fn a_long_list_comes_in_pages() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    let other = errand.account(&[]);
    let made: Vec<Value> =
        [&account, &account, &other].iter().map(|it| create(&errand, it, &[])).collect();
    let first = errand.json(&["schedule", "list", "--limit", "2"]);
    assert_eq!((&first["total"], &first["has_more"]), (&json!(3), &json!(true)));
    assert_eq!(first["data"][0]["account"], account.as_str());
    let last = errand.json(&["schedule", "list", "--limit", "2", "--offset", "2"]);
    assert_eq!((&last["data"][0]["id"], &last["has_more"]), (&made[2]["id"], &json!(false)));
    let only = errand.json(&["schedule", "list", "--account", &account]);
    assert_eq!((&only["total"], only["data"].as_array().unwrap().len()), (&json!(2), 2));
    let text = said(&errand, &["schedule", "list", "--limit", "2"]);
    assert!(text.contains("3 schedules in all; the next ones: --offset 2"), "{text}");
    let text = said(&errand, &["schedule", "list", "--offset", "9"]);
    assert!(text.contains("no schedule so far down"), "{text}");
    for args in [["--limit", "0"], ["--limit", "201"], ["--offset", "100001"]] {
        errand.refusal(2, &[&["schedule", "list"][..], &args].concat());
    }
    errand.refusal(2, &["schedule", "show", id(&made[0]), "--limit", "501"]);
}

#[test]
fn a_run_now_is_done_by_the_daemon_and_belongs_to_its_schedule() {
    let page = Page::serve("<!doctype html><html lang=en><title>A page</title><h1>A page</h1>");
    let errand = Errand::new();
    let daemon = Daemon::dev(&errand);
    let key = daemon.fact("key");
    let body = json!({ "kind": "seo_audit", "input": { "url": page.url }, "cron": "0 6 29 2 *" });
    let made = daemon.post("/v1/agents/schedules", &key, &body).json();
    let data = ["--data-dir", ".errand"];
    let args = [&["schedule", "run", id(&made)][..], &data].concat();
    let run = errand.json(&args);
    let path = format!("/v1/agents/runs/{}", id(&run));
    let over = (0..6_000).map(|_| daemon.get(&path, &key).json());
    let over = over.into_iter().find(|it| it["finished_at"].is_string()).unwrap();
    assert_eq!((&over["status"], &over["trigger"]), (&json!("succeeded"), &json!("run_now")));
    assert_eq!(over["schedule_id"], made["id"]);
    daemon.stop();
}

#[test]
fn an_expression_is_explained_without_data() {
    let errand = Errand::new();
    let text = said(&errand, &["schedule", "preview", "*/20 * * * *", "--count", "2"]);
    assert!(text.starts_with("Every 20 minutes\n"), "{text}");
    assert_eq!(text.lines().filter(|it| it.ends_with(":00 UTC")).count(), 2, "{text}");
    assert!(text.contains("per day") && text.contains("72"), "{text}");
    let shown = errand.json(&["schedule", "preview", "0 0 13 * 5"]);
    assert_eq!((&shown["cron"], &shown["runs_per_day"]), (&json!("0 0 13 * 5"), &json!(0.171)));
    assert_eq!(shown["timezone"], "UTC");
    assert_eq!(shown["next_runs"].as_array().unwrap().len(), 10);
    assert_eq!(shown["warnings"].as_array().unwrap().len(), 1);
    for (cron, part) in [
        ("@daily", "write 0 0 * * *"),
        ("61 * * * *", "minute"),
        ("0 0 30 2 *", "never"),
        ("", "five fields"),
    ] {
        let said = errand.refusal(2, &["schedule", "preview", cron]);
        assert!(said.contains(part), "{cron}: {said}");
    }
    for count in ["0", "21", "x"] {
        errand.refusal(2, &["schedule", "preview", "* * * * *", "--count", count]);
    }
    assert!(!errand.data().exists(), "a look made a directory");
}

/// S10: a host whose clock changes twice a year has the same slots.
#[test]
fn the_time_zone_of_the_host_moves_no_slot() {
    let preview = |zone: &str| {
        let errand = Errand::new().with("TZ", zone);
        errand.json(&["schedule", "preview", "30 2 29 3 *", "--count", "3"])
    };
    let utc = preview("UTC");
    assert!(utc["next_runs"][0].as_str().unwrap().ends_with("-03-29T02:30:00.000+00:00"), "{utc}");
    for zone in ["Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "nonsense"] {
        assert_eq!(preview(zone), utc, "{zone}");
    }
}

#[test]
fn each_refusal_has_its_code() {
    let errand = Errand::new();
    let said = errand.refusal(5, &["schedule", "list"]);
    assert!(said.contains("there is no data in"), "{said}");
    let account = errand.account(&[]);
    for is_online in [false, true] {
        let daemon = is_online.then(|| Daemon::serve(&errand));
        for verb in ["show", "enable", "disable", "delete", "run"] {
            errand.refusal(5, &["schedule", verb, NOBODY]);
            let said = errand.refusal(5, &["schedule", verb, "nonsense"]);
            assert!(said.contains("errand schedule list"), "{said}");
            errand.refusal(2, &["schedule", verb]);
        }
        let refused = |code, changed: &[(&str, &str)]| {
            let mut args = vec!["schedule", "create"];
            let usual = [
                ("--account", account.as_str()),
                ("--kind", "seo_audit"),
                ("--cron", "0 6 * * *"),
                ("--input", INPUT),
            ];
            for (name, value) in usual {
                let changed = changed.iter().find(|it| it.0 == name);
                args.extend([name, changed.map_or(value, |it| it.1)]);
            }
            let more = changed.iter().filter(|it| usual.iter().all(|usual| usual.0 != it.0));
            more.for_each(|(name, value)| args.extend([*name, *value]));
            errand.refusal(code, &args)
        };
        refused(5, &[("--account", NOBODY)]);
        refused(5, &[("--account", "nonsense")]);
        assert!(refused(2, &[("--input", "{")]).contains("--input must be a JSON object"));
        refused(2, &[("--input", "[]")]);
        refused(2, &[("--overlap", "wait")]);
        refused(2, &[("--missed", "all")]);
        assert!(refused(2, &[("--cron", "@daily")]).contains("write 0 0 * * *"));
        assert!(refused(2, &[("--kind", "nothing")]).contains("kind"));
        assert!(refused(2, &[("--input", "{}")]).contains("url"));
        assert_eq!(errand.json(&["schedule", "list"])["data"], json!([]));
        errand.refusal(5, &["schedule", "list", "--account", "nonsense"]);
        drop(daemon);
    }
    let made = create(&errand, &account, &[]);
    errand.json(&["balance", "credit", &account, "-10"]);
    let said = errand.refusal(1, &["schedule", "run", id(&made)]);
    assert!(said.contains("balance"), "{said}");
}
