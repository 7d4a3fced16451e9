//! `errand webhook`, `trigger` and `listen`: what is believed, why not, and who answers how.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::support::{DEADLINE, Errand, finish, get};

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g";
const BODY: &str = concat!(
    r#"{"id":"0190f3a0-7c1e-7cc3-9f5e-2b1c3d4e5f60","type":"agent.run.succeeded","#,
    r#""created_at":"2026-01-01T00:00:00.000000+00:00","data":{"#,
    r#""run_id":"0190f3a0-7c1d-7000-8000-000000000001","kind":"seo_audit","#,
    r#""status":"succeeded","output":"café ✓","output_truncated":false,"error":null,"#,
    r#""cost":"1.50"}}"#,
);
const SIGNED: &str = "v1=a6d962347de505881127a0c43da661f1c80c60843a620e0c338e9e252b94a62a";
const STANDARD: &str = "v1,9Vc/TaiR5XFKQIonu6By75NtIUNvogIUqdz90r3RHDY=";
const AT: &str = "1767225600";
const NOW: &str = "2026-01-01T00:00:07Z";

/// The secret in a file, and the body in another.
fn prepared() -> Errand {
    let errand = Errand::new();
    errand.file("whsec", &format!("{SECRET}\n"));
    errand.file("body.json", BODY);
    errand
}

/// A request as it is saved, with this event id and body.
fn request(id: &str, body: &str) -> String {
    format!(
        "POST /hooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\
         X-Service-Event-Id: {id}\r\nX-Service-Timestamp: {AT}\r\nX-Service-Signature: {SIGNED}\r\n\
         \r\n{body}",
        BODY.len(),
    )
}

/// Why a saved request is not believed; the reason for scripts and what people read.
#[track_caller]
fn doubt(errand: &Errand, request: &str, now: &str) -> (String, String) {
    errand.file("saved.http", request);
    let args = ["webhook", "verify", "--request", "saved.http", "--secret-file", "whsec"];
    let args = [&args[..], &["--now", now]].concat();
    let said = errand.refusal(1, &args);
    let done = errand.run(&[&args[..], &["--output", "json"]].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(told["believed"], false, "{told}");
    (format!("{} {}", told["status"], told["reason"].as_str().unwrap()), said)
}

#[test]
fn a_body_gets_the_headers_of_an_independent_computation() {
    let errand = prepared();
    let done = errand.run(&sign(&["--secret", SECRET]));
    let id = "0190f3a0-7c1e-7cc3-9f5e-2b1c3d4e5f60";
    let expected = format!(
        "X-Service-Event-Id: {id}\nX-Service-Timestamp: {AT}\nX-Service-Signature: {SIGNED}\n\
         webhook-id: {id}\nwebhook-timestamp: {AT}\nwebhook-signature: {STANDARD}\n"
    );
    assert_eq!((done.code, done.out.as_str()), (Some(0), expected.as_str()), "{done:?}");
    let shown = errand.json(&sign(&["--secret-file", "whsec"]));
    assert_eq!(shown["X-Service-Signature"], SIGNED);
    errand.file("body.json", "no event");
    let done = errand.run(&sign(&["--secret-file", "whsec"]));
    assert_eq!(done.out.lines().count(), 2, "{done:?}");
}

#[test]
fn a_request_is_believed_as_it_was_saved_or_in_its_parts() {
    let errand = prepared();
    let id = "0190f3a0-7c1e-7cc3-9f5e-2b1c3d4e5f60";
    errand.file("saved.http", &request(id, BODY));
    let whole = ["webhook", "verify", "--request", "saved.http", "--now", NOW];
    let parts = ["webhook", "verify", "body.json", "--timestamp", AT, "--signature", SIGNED];
    let parts = [&parts[..], &["--now", NOW, "--event-id", id]].concat();
    for args in [&whole[..], &parts] {
        let told = errand.json(&[args, &["--secret-file", "whsec"]].concat());
        let expected = json!({
            "believed": true, "status": 204, "event_id": id, "type": "agent.run.succeeded",
            "run_id": "0190f3a0-7c1d-7000-8000-000000000001", "age_seconds": 7,
        });
        assert_eq!(told, expected);
    }
    let done = errand.run(&[&whole[..], &["--secret-file", "whsec"]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("signed     7 s ago"), "{done:?}");
}

#[test]
fn what_is_not_believed_is_told_with_its_cause() {
    let errand = prepared();
    let id = "0190f3a0-7c1e-7cc3-9f5e-2b1c3d4e5f60";
    let good = request(id, BODY);
    let (reason, said) = doubt(&errand, &good, "2026-01-01T00:10:03Z");
    assert_eq!(reason, "401 stale");
    assert!(said.contains("10 min 3 s old; at most 5 min"), "{said}");
    assert!(said.contains("the signature fits"), "{said}");
    let spaced = BODY.replace(':', ": ");
    for (text, reason, cause) in [
        (request(id, &format!("{BODY}\n")), "401 mismatch", "without the line end"),
        (request(id, &format!("{BODY}\n")), "401 mismatch", "content-length says"),
        (
            request(id, &spaced.replace("00: 00: 00", "00:00:00").replace("+00: 00", "+00:00")),
            "401 mismatch",
            "parsed and written again",
        ),
        (request(id, &BODY.replace("1.50", "1.51")), "401 mismatch", "this is not the secret"),
        (good.replace("v1=", ""), "401 bad_form", "64 hexadecimal digits"),
        (good.replace(AT, "x"), "401 bad_timestamp", "not a number of seconds"),
        (good.replace("X-Service-Signature", "X"), "401 no_header", "no X-Service-Signature"),
        (request("", BODY), "400 other_id", "there is no X-Service-Event-Id"),
        (request("0190f3a0", BODY), "400 other_id", "X-Service-Event-Id is \"0190f3a0\""),
    ] {
        let (found, said) = doubt(&errand, &text, NOW);
        assert_eq!(found, reason, "{said}");
        assert!(said.contains(cause), "{cause}: {said}");
        assert!(!said.contains(SECRET), "{said}");
    }
}

#[test]
fn a_secret_is_named_or_found_and_never_repeated() {
    let errand = prepared();
    let said = errand.refusal(5, &sign(&[]));
    assert!(said.contains("--secret-file"), "{said}");
    for wrong in ["whsec_short", "sk_live_of_somebody_else"] {
        let said = errand.refusal(2, &sign(&["--secret", wrong]));
        assert!(said.contains("not a signing secret") && !said.contains(wrong), "{said}");
    }
    errand.refusal(2, &sign(&["--secret", SECRET, "--secret-file", "whsec"]));
    errand.refusal(5, &sign(&["--secret-file", "nowhere"]));
    let file = json!({ "base_url": "", "api_key": "", "account_id": "", "signing_secret": SECRET });
    for dir in [".errand", "other"] {
        std::fs::create_dir(errand.home().join(dir)).unwrap();
        errand.file(&format!("{dir}/dev.json"), &file.to_string());
    }
    for more in [&[][..], &["--data-dir", "other"]] {
        assert_eq!(errand.json(&sign(more))["X-Service-Signature"], SIGNED);
    }
    let said = errand.refusal(2, &["trigger", "agent.run.failed"]);
    assert!(said.contains("--url"), "{said}");
    errand.file("saved.http", "{}");
    errand.refusal(2, &["webhook", "verify", "--request", "saved.http"]);
    errand.refusal(2, &["webhook", "verify", "--timestamp", AT, "body.json"]);
    errand.file("body.json", &"x".repeat(256 * 1024 + 1));
    errand.refusal(2, &sign(&[]));
}

fn sign<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["webhook", "sign", "--timestamp", AT, "body.json"], more].concat()
}

/// A receiver of ours that listens.
struct Listening {
    child: Child,
    lines: mpsc::Receiver<String>,
    url: String,
}

impl Listening {
    #[track_caller]
    fn start(errand: &Errand, more: &[&str]) -> Self {
        let args = ["listen", "--port", "0", "--secret-file", "whsec", "--output", "json"];
        let mut child = errand.command(&[&args[..], more].concat()).spawn().unwrap();
        let (tx, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).try_for_each(|it| tx.send(it))
        });
        let mut listening = Self { child, lines, url: String::new() };
        let url = listening.line()["listening"].as_str().unwrap().to_owned();
        listening.url = url;
        listening
    }

    /// The next thing that it tells.
    #[track_caller]
    fn line(&self) -> Value {
        let line = self.lines.recv_timeout(DEADLINE).expect("a line comes");
        serde_json::from_str(&line).unwrap()
    }

    /// Interrupts it; what it says at its end.
    #[track_caller]
    fn end(mut self) -> Value {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let last = self.line();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        last
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn trigger<'a>(kind: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["trigger", kind, "--url", url, "--secret-file", "whsec"], more].concat()
}

/// Source: service interface, "Events", rules 6 and 9, and "Errors".
#[test]
fn a_sample_arrives_as_what_it_is_and_a_tampered_one_is_refused() {
    let errand = prepared();
    let listening = Listening::start(&errand, &[]);
    for kind in ["agent.run.succeeded", "agent.run.failed", "agent.run.no_signal"] {
        let told = errand.json(&trigger(kind, &listening.url, &[]));
        assert_eq!((&told["ok"], &told["status"]), (&json!(true), &json!(204)), "{told}");
        assert!(told["request_id"].as_str().unwrap().starts_with("req_"), "{told}");
        let seen = listening.line();
        assert_eq!((&seen["type"], &seen["event_id"]), (&json!(kind), &told["event_id"]));
        assert_eq!((&seen["seen"], &seen["attempt"]), (&json!("new"), &json!(1)), "{seen}");
    }
    for (tamper, status) in [("signature", 401), ("timestamp", 401), ("id", 400)] {
        let told = errand.json(&trigger("agent.run.failed", &listening.url, &["--tamper", tamper]));
        assert_eq!((&told["ok"], &told["status"]), (&json!(true), &json!(status)), "{told}");
        let seen = listening.line();
        assert_eq!((&seen["believed"], &seen["status"]), (&json!(false), &json!(status)), "{seen}");
    }
    let kept = trigger("agent.run.succeeded", &listening.url, &["--body", "body.json"]);
    for word in ["new", "again"] {
        errand.json(&kept);
        let seen = listening.line();
        assert_eq!(seen["seen"], word);
        assert_eq!(seen["event_id"], "0190f3a0-7c1e-7cc3-9f5e-2b1c3d4e5f60");
        assert_eq!(seen["run_id"], "0190f3a0-7c1d-7000-8000-000000000001");
    }
    assert_eq!(listening.end(), json!({ "count": { "new": 4, "again": 1, "refused": 3 } }));
}

#[test]
fn a_receiver_that_answers_wrongly_is_told_so() {
    let errand = prepared();
    let lenient = Listening::start(&errand, &["--status", "200"]);
    let failing = Listening::start(&errand, &["--status", "503"]);
    errand.json(&trigger("agent.run.failed", &lenient.url, &[]));
    for (tamper, advice) in [
        ("signature", "anybody could send it events"),
        ("timestamp", "an old request could be sent again"),
        ("id", "compare the id"),
    ] {
        let args = trigger("agent.run.failed", &lenient.url, &["--tamper", tamper]);
        let said = errand.refusal(1, &args);
        assert!(said.contains("answered 200, and should answer 40"), "{said}");
        assert!(said.contains(advice), "{said}");
    }
    let said = errand.refusal(1, &trigger("agent.run.failed", &failing.url, &[]));
    assert!(said.contains("answered 503, and should answer 2xx"), "{said}");
    assert_eq!(failing.line()["status"], 503);
    errand.file("other", "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj9A");
    let strict = Listening::start(&errand, &[]);
    let args = ["trigger", "agent.run.failed", "--url", &strict.url, "--secret-file", "other"];
    let said = errand.refusal(1, &args);
    assert!(said.contains("has it the same secret"), "{said}");
}

#[test]
fn nobody_at_the_url_or_no_url_at_all_is_a_failure() {
    let errand = prepared();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/");
    let said = errand.refusal(1, &trigger("agent.run.failed", &url, &[]));
    assert!(said.contains("the connection was refused"), "{said}");
    for url in ["ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "hooks", "http://127.0.0.1/#a"] {
        errand.refusal(2, &trigger("agent.run.failed", url, &[]));
    }
    errand.refusal(2, &trigger("agent.run.started", &url, &[]));
    errand.refusal(2, &trigger("agent.run.failed", &url, &["--body", "body.json"]));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = errand.refusal(6, &["listen", "--port", &port, "--secret-file", "whsec"]);
    assert!(said.contains("--port 0"), "{said}");
}

/// What is refused before anything is judged, and the first lines that people see.
#[test]
fn a_listener_takes_posts_of_a_bounded_size() {
    let errand = prepared();
    let listening = Listening::start(&errand, &[]);
    let address = listening.url.strip_prefix("http://").unwrap();
    assert_eq!(get(address, "/", "").status, 405);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let length = 256 * 1024 + 1;
    let head = format!("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let told = listening.line();
    assert_eq!((&told["status"], &told["attempt"]), (&json!(413), &json!(null)), "{told}");
    assert_eq!(listening.end(), json!({ "count": { "new": 0, "again": 0, "refused": 1 } }));
    let child = errand.command(&["listen", "--port", "0", "--secret-file", "whsec"]).spawn();
    let mut child = child.unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let greeting: Vec<String> = lines.by_ref().take(4).map(Result::unwrap).collect();
    assert!(greeting[0].starts_with("listening on http://127.0.0.1:"), "{greeting:?}");
    assert!(greeting[2].ends_with("--secret-file whsec"), "{greeting:?}");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(lines.next().unwrap().unwrap(), "0 new, 0 again, 0 not believed");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The head of the one request that comes, and its body; it is answered with 204.
fn taken(listener: &TcpListener) -> (String, String) {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let length = head.lines().find_map(|it| it.strip_prefix("Content-Length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    (head, String::from_utf8(body).unwrap())
}

/// It goes to where `errand dev` forwards.
#[test]
fn what_one_tool_sends_another_believes() {
    let errand = prepared();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hooks?a=b", listener.local_addr().unwrap());
    let file = json!({
        "base_url": "", "api_key": "", "account_id": "", "signing_secret": SECRET,
        "forward_to": url,
    });
    std::fs::create_dir(errand.home().join(".errand")).unwrap();
    errand.file(".errand/dev.json", &file.to_string());
    let args = ["trigger", "agent.run.failed", "--output-text", "a \"report\""];
    let child = errand.command(&args).spawn().unwrap();
    let (head, body) = taken(&listener);
    let done = finish(child);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("The receiver has taken the event."), "{done:?}");
    assert!(head.starts_with("POST /hooks?a=b HTTP/1.1\r\nHost: 127.0.0.1:"), "{head}");
    let names: Vec<&str> = head.lines().filter_map(|it| Some(it.split_once(": ")?.0)).collect();
    let expected = [
        "Host",
        "Content-Type",
        "User-Agent",
        "Accept",
        "X-Service-Event-Id",
        "X-Service-Timestamp",
        "X-Service-Signature",
        "Webhook-Id",
        "Webhook-Timestamp",
        "Webhook-Signature",
        "X-Service-Webhook-Id",
        "X-Service-Attempt",
        "Content-Length",
        "Connection",
    ];
    assert_eq!(names, expected);
    let event: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(event["data"]["output"], "a \"report\"");
    assert_eq!(event["data"]["error"], "agent_failed");
    errand.file("saved.http", &format!("{head}{body}"));
    let told = errand.json(&["webhook", "verify", "--request", "saved.http"]);
    assert_eq!(told["event_id"], event["id"]);
}
