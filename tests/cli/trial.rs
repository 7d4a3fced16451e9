//! `errand try`: the main job once, and nothing left behind.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc;

use serde_json::Value;

use crate::support::{DEADLINE, Errand, finish};

#[test]
fn it_shows_a_report_and_what_it_cost_and_leaves_nothing() {
    let errand = Errand::new();
    let done = errand.run(&["try"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.starts_with("# "), "{}", done.out);
    assert!(done.out.contains("0.02 EUR, captured once: the balance went from 10 to 9.98"));
    assert!(done.out.contains("agent.run.succeeded arrived at attempt 1"), "{}", done.out);
    assert!(done.out.contains("its signature was verified, the receiver answered 204"));
    assert_eq!(done.err, "");
    assert!(errand.left_behind().is_empty());
    assert_eq!(std::fs::read_dir(errand.home()).unwrap().count(), 1);
}

#[test]
fn scripts_get_the_run_and_its_report() {
    let done = Errand::new().json(&["try"]);
    assert_eq!((&done["status"], &done["cost"]), (&Value::from("succeeded"), &Value::from("0.02")));
    assert!(done["output"].as_str().unwrap().starts_with("# "));
    let told = &done["webhook"];
    assert_eq!((&told["type"], &told["verified"]), (&"agent.run.succeeded".into(), &true.into()));
    assert_eq!((&told["attempt"], &told["status"]), (&1.into(), &204.into()));
}

#[test]
fn a_page_that_cannot_be_fetched_is_a_failure_with_its_reason() {
    let errand = Errand::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let said = errand.refusal(1, &["try", &format!("http://127.0.0.1:{port}/")]);
    assert!(said.contains("ended as failed"), "{said}");
    assert!(errand.left_behind().is_empty());
    errand.refusal(2, &["try", "not a url"]);
    errand.refusal(2, &["try", "--data-dir", "x"]);
    assert!(errand.left_behind().is_empty());
}

#[test]
fn an_interrupt_leaves_nothing_either() {
    let errand = Errand::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let (tx, asked) = mpsc::channel();
    std::thread::spawn(move || {
        let (stream, _) = silent.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        // The stream goes along, so that the agent waits for its answer.
        let _ = tx.send((line, reader));
    });
    let child = errand.command(&["try", &url]).spawn().unwrap();
    let (line, _unanswered) = asked.recv_timeout(DEADLINE).unwrap();
    assert!(line.starts_with("GET "), "{line}");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let done = finish(child);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains("interrupted; nothing was kept"), "{done:?}");
    assert!(errand.left_behind().is_empty());
}
