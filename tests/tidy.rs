//! The structure of the tree, as a test: floors, doors, files.
//!
//! Each rule is a function from a file's path and text to complaints. The tree must give none, and
//! for each rule there is a file that must give one, so that no rule can fall asleep.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// A rule: complaints about a file, given its path from `src/` and its text.
type Rule = fn(&str, &str) -> Vec<String>;

const RULES: [(&str, Rule); 7] = [
    ("floors", floors),
    ("doors", doors),
    ("store", store),
    ("heads", heads),
    ("sizes", sizes),
    ("names", names),
    ("leftovers", leftovers),
];

/// The floor of each room. A room uses rooms on lower floors only.
const FLOORS: [(&str, u8); 15] = [
    ("domain", 0),
    ("sys", 1),
    ("store", 2),
    ("inbound", 2),
    ("outbound", 2),
    ("models", 3),
    ("delivery", 3),
    ("agents", 4),
    ("app", 5),
    ("api", 6),
    ("console", 6),
    ("background", 6),
    ("config", 7),
    ("daemon", 8),
    ("cli", 9),
];

/// Crates that only some rooms may name, because each owns what it stands for.
const DOORS: [(&str, &[&str]); 22] = [
    ("redb", &["store"]),
    ("bincode", &["store"]),
    ("hyper", &["inbound", "outbound", "cli"]),
    ("hyper_util", &["inbound", "outbound", "cli"]),
    ("http_body_util", &["inbound", "outbound", "cli"]),
    ("rustls", &["inbound", "outbound"]),
    ("tokio_rustls", &["inbound", "outbound"]),
    ("webpki_roots", &["outbound"]),
    ("hickory_resolver", &["outbound"]),
    ("flate2", &["outbound", "agents"]),
    ("brotli_decompressor", &["outbound"]),
    ("ruzstd", &["outbound"]),
    ("ring", &["domain", "sys", "store"]),
    ("uuid", &["domain"]),
    ("clap", &["cli"]),
    ("toml", &["config"]),
    ("tracing_subscriber", &["sys"]),
    ("tokio_cron_scheduler", &["background"]),
    ("html5ever", &["agents"]),
    ("whatlang", &["agents"]),
    ("whichlang", &["agents"]),
    ("rustix", &["sys", "store"]),
];

/// The longest file, in lines.
const FILE_LINES_MAX: usize = 400;

/// Names that say nothing.
const EMPTY_NAMES: [&str; 9] =
    ["util", "utils", "common", "misc", "helpers", "manager", "types", "prelude", "constants"];

fn room(path: &str) -> &str {
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|it| it.0 == room).map(|it| it.1)
}

/// The words that follow `prefix` in the code, comments left out.
fn words_after<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let code = text.lines().filter(|it| !it.trim_start().starts_with("//"));
    let tails =
        code.flat_map(|line| line.match_indices(prefix).map(|(at, it)| &line[at + it.len()..]));
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    tails.map(|it| it.split(|c| !is_word(c)).next().unwrap_or("")).collect()
}

fn floors(path: &str, text: &str) -> Vec<String> {
    let here = room(path);
    if here == "lib" || here == "main" {
        return Vec::new();
    }
    let Some(mine) = floor(here) else {
        return vec![format!("the room {here} has no floor")];
    };
    let mut wrong = Vec::new();
    for used in words_after(text, "crate::") {
        match floor(used) {
            _ if used == here => {}
            Some(theirs) if theirs < mine => {}
            Some(_) => wrong.push(format!("uses {used}, which is not on a lower floor")),
            None => wrong.push(format!("uses crate::{used}, which is not a room")),
        }
    }
    wrong
}

fn doors(path: &str, text: &str) -> Vec<String> {
    let here = room(path);
    let mut wrong = Vec::new();
    for (name, rooms) in DOORS {
        let code = text.lines().map(str::trim_start).filter(|it| !it.starts_with("//"));
        let uses = |line: &str| {
            line.match_indices(name).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let free = before.is_none_or(|it| !it.is_alphanumeric() && it != '_' && it != ':');
                free && line[at + name.len()..].starts_with("::")
            })
        };
        if !rooms.contains(&here) && code.clone().any(uses) {
            wrong.push(format!("names {name}, which belongs to {}", rooms.join(", ")));
        }
    }
    wrong
}

/// The store is named by the operations and by the wiring; others ask the operations.
fn store(path: &str, text: &str) -> Vec<String> {
    let allowed = ["store", "app", "config", "daemon", "cli"];
    let names = words_after(text, "crate::").contains(&"store");
    let wrong = names && !allowed.contains(&room(path));
    wrong.then(|| "names crate::store instead of an operation".to_owned()).into_iter().collect()
}

fn heads(_: &str, text: &str) -> Vec<String> {
    let first = text.lines().next().unwrap_or("");
    let says = first.strip_prefix("//! ").is_some_and(|it| it.len() > 10);
    (!says).then(|| "does not begin with what it is for".to_owned()).into_iter().collect()
}

fn sizes(_: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        wrong.push(format!("has {lines} lines; it is two ideas"));
    }
    wrong
}

fn names(path: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let stem = Path::new(path).file_stem().and_then(|it| it.to_str()).unwrap_or("");
    if EMPTY_NAMES.contains(&stem) {
        wrong.push("has a name that says nothing".to_owned());
    }
    // What a trait of another crate asks for has that crate's names; it is never `pub`.
    let ours: String = text.lines().filter(|it| it.trim_start().starts_with("pub")).collect();
    for word in words_after(&ours, "fn ") {
        if ["get_", "do_", "handle_", "process_", "perform_"].iter().any(|it| word.starts_with(it))
        {
            wrong.push(format!("fn {word} has a name that says nothing"));
        }
    }
    wrong
}

fn leftovers(_: &str, text: &str) -> Vec<String> {
    let marks = [
        "TODO",
        "FIXME",
        "XXX",
        "todo!(",
        "unimplemented!(",
        "#[allow(",
        "#![allow(",
        "super::super",
    ];
    let found = marks.iter().filter(|it| text.contains(**it));
    found.map(|it| format!("has {it} in it")).collect()
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|it| it == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn the_tree_follows_every_rule() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 40, "the tree was not found: {} files", files.len());
    let mut complaints = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap();
        for (name, rule) in RULES {
            complaints.extend(rule(path, &text).iter().map(|it| format!("{name}: {path} {it}")));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn tests_benches_and_examples_are_not_left_unfinished() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["tests", "benches", "examples"].map(|it| root.join(it)) {
        let mut files = Vec::new();
        if folder.is_dir() {
            sources(&folder, &mut files);
        }
        for file in files.iter().filter(|it| !it.ends_with("tidy.rs")) {
            let text = fs::read_to_string(file).unwrap();
            for mark in ["#[ignore", "TODO", "FIXME", "thread::sleep"] {
                assert!(!text.contains(mark), "{} has {mark} in it", file.display());
            }
            assert!(heads("", &text).is_empty(), "{} has no first line", file.display());
        }
    }
}

#[track_caller]
fn check_complaint(rule: &str, path: &str, text: &str) {
    let (_, found) = RULES.iter().find(|it| it.0 == rule).unwrap();
    assert!(!found(path, text).is_empty(), "{rule} has no complaint about {path}: {text}");
}

#[test]
fn every_rule_finds_what_breaks_it() {
    check_complaint("floors", "domain/run.rs", "use crate::sys::clock::Clock;");
    check_complaint("floors", "store/runs.rs", "use crate::outbound::Client;");
    check_complaint("floors", "api/runs.rs", "fn a() { crate::background::drive(); }");
    check_complaint("floors", "nowhere/runs.rs", "");
    check_complaint("doors", "app/runs.rs", "use redb::Database;");
    check_complaint("doors", "sys/clock.rs", "let a = hyper::Method::GET;");
    check_complaint("store", "api/runs.rs", "use crate::store::runs;");
    check_complaint("heads", "app/runs.rs", "use std::fs;");
    check_complaint("sizes", "app/runs.rs", &"\n".repeat(401));
    check_complaint("names", "app/util.rs", "");
    check_complaint("names", "app/runs.rs", "pub fn get_run() {}");
    check_complaint("leftovers", "app/runs.rs", "// TODO: later");
}

#[test]
fn no_rule_complains_about_what_is_right() {
    let good = "//! What this file is for.\n// see crate::api\nuse crate::domain::run::Run;\n";
    for (name, rule) in RULES {
        let complaints = rule("store/runs.rs", good);
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
    }
}
