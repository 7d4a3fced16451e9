//! Whole answers, compared with files that people have looked at.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::http::Reply;

/// Compares `text` with the file of that name in `tests/golden/it`.
///
/// Where they differ, the new text is written below the target directory, and the failure says
/// how to take it over.
#[track_caller]
pub fn golden(name: &str, text: &str) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/it").join(name);
    let expected = fs::read_to_string(&kept).unwrap_or_default();
    if expected == text {
        return;
    }
    let found = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(name);
    fs::create_dir_all(found.parent().unwrap()).unwrap();
    fs::write(&found, text).unwrap();
    let pairs = expected.lines().chain([""]).zip(text.lines().chain([""]));
    let (line, (old, new)) = pairs.enumerate().find(|(_, (a, b))| a != b).unwrap_or_default();
    panic!(
        "{name} differs at line {}:\n- {old}\n+ {new}\nto take it over: cp {} {}",
        line + 1,
        found.display(),
        kept.display(),
    );
}

/// A reply as a text for people: status, headers, and its JSON over many lines.
///
/// The id of the request stands there as `(id)`: it depends on how often a test has asked before.
pub fn shown(reply: &Reply) -> String {
    let mut text = format!("{}\n", reply.status);
    for (name, value) in &reply.headers {
        text.push_str(&format!("{name}: {value}\n"));
    }
    text.push('\n');
    match serde_json::from_str::<Value>(&reply.text) {
        Ok(json) => text.push_str(&serde_json::to_string_pretty(&json).unwrap()),
        Err(_) => text.push_str(&reply.text),
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    match reply.header("x-request-id") {
        Some(id) => text.replace(id, "(id)"),
        None => text,
    }
}
