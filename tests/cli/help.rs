//! The help of every verb, as it was read and found good.

use std::path::Path;

use crate::support::Errand;

/// Every verb that has a help of its own.
const VERBS: [&str; 44] = [
    "",
    "try",
    "dev",
    "serve",
    "account",
    "account create",
    "account list",
    "account show",
    "key",
    "key create",
    "key list",
    "key show",
    "key update",
    "key revoke",
    "balance",
    "balance credit",
    "balance show",
    "balance ledger",
    "balance verify",
    "schedule",
    "schedule create",
    "schedule list",
    "schedule show",
    "schedule enable",
    "schedule disable",
    "schedule delete",
    "schedule run",
    "schedule preview",
    "models",
    "models list",
    "models test",
    "models price",
    "chat",
    "webhook",
    "webhook sign",
    "webhook verify",
    "trigger",
    "listen",
    "status",
    "doctor",
    "config init",
    "config check",
    "config show",
    "config keys",
];

/// Compares a text with the one that is kept; `UPDATE_GOLDEN=1` keeps it instead.
#[track_caller]
fn check_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = kept.lines().zip(text.lines()).position(|(old, new)| old != new);
    let line = differing.map_or(kept.lines().count().min(text.lines().count()), |it| it) + 1;
    assert!(
        kept == text,
        "{name} differs from line {line} on; look at it, then set UPDATE_GOLDEN=1\n{text}"
    );
}

#[test]
fn the_help_of_every_verb_is_the_one_that_was_read() {
    let errand = Errand::new().with("COLUMNS", "100");
    let mut all = String::new();
    for verb in VERBS {
        let mut args: Vec<&str> = verb.split_whitespace().collect();
        args.push("--help");
        let done = errand.run(&args);
        assert_eq!(done.code, Some(0), "{verb}: {done:?}");
        assert_eq!(done.err, "", "{verb}");
        all.push_str(&format!("$ errand {}\n{}\n", args.join(" "), done.out));
    }
    check_golden("help.txt", &all);
}

#[test]
fn no_line_of_help_is_wider_than_the_terminal() {
    let errand = Errand::new().with("COLUMNS", "100");
    for verb in VERBS {
        let mut args: Vec<&str> = verb.split_whitespace().collect();
        args.push("--help");
        let wide = errand.run(&args).out;
        let wide: Vec<&str> = wide.lines().filter(|it| it.chars().count() > 100).collect();
        assert!(wide.is_empty(), "{verb}: {wide:?}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let done = Errand::new().run(&["--version"]);
    assert_eq!(done.out, format!("errand {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(done.code, Some(0));
}

#[test]
fn a_wrong_call_ends_with_2_and_says_what_was_meant() {
    let errand = Errand::new();
    assert!(errand.refusal(2, &[]).contains("First steps:"));
    assert!(errand.refusal(2, &["serv"]).contains("'serve'"));
    assert!(errand.refusal(2, &["serve", "--lisen", "x"]).contains("'--listen'"));
    assert!(errand.refusal(2, &["account", "create"]).contains("--name"));
    assert!(errand.refusal(2, &["status", "--output", "xml"]).contains("json"));
    assert!(errand.refusal(2, &["status", "--output", "csv"]).contains("balance ledger"));
    errand.refusal(2, &["balance", "ledger", "id", "--kind", "gift"]);
    errand.refusal(2, &["balance", "ledger", "id", "--all", "--limit", "5"]);
    errand.refusal(2, &["balance", "ledger", "id", "--limit", "1000"]);
    errand.refusal(2, &["dev", "--ephemeral", "--data-dir", "x"]);
    assert!(errand.left_behind().is_empty());
}

#[test]
fn colours_are_for_terminals() {
    let done = Errand::new().run(&["--help"]);
    assert!(!done.out.contains('\x1b'), "{}", done.out);
    let err = Errand::new().refusal(3, &["status"]);
    assert!(!err.contains('\x1b') && err.starts_with("error: "), "{err}");
}
