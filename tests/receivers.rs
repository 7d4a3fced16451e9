//! The receivers that customers copy: each answers as the interface wants it, and acts once.
//!
//! Those in Python and JavaScript are tried where their programs are installed; it is said on
//! standard error when one is not.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test stops at what it did not expect, and says what it passes over"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use errand::domain::event::{Event, EventType};
use errand::domain::id::Id;
use errand::domain::signature::SigningSecret;
use errand::sys::clock::Clock;

/// The longest that a test waits for anything.
const DEADLINE: Duration = Duration::from_secs(60);
const BODY_BYTES_MAX: usize = 256 * 1024;

/// A receiver that runs until its test ends.
struct Receiver {
    child: Child,
    lines: mpsc::Receiver<String>,
    address: String,
    secret: SigningSecret,
}

/// One request, before its signature.
struct Delivery<'a> {
    body: &'a [u8],
    /// What is signed instead of the body.
    signed: &'a [u8],
    header_id: String,
    /// How many seconds ago it was signed.
    age: i64,
}

impl Receiver {
    fn start(mut command: Command) -> Self {
        let secret = SigningSecret::new([7; 33]);
        let mut child = command
            .env("WEBHOOK_SECRET", secret.reveal())
            .env("PORT", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|it| panic!("{command:?} could not be started: {it}"));
        let (tx, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).try_for_each(|it| tx.send(it))
        });
        let mut receiver = Self { child, lines, address: String::new(), secret };
        let line = receiver.line();
        let address = line.strip_prefix("listening on http://");
        address.unwrap_or_else(|| panic!("{line}")).clone_into(&mut receiver.address);
        receiver
    }

    #[track_caller]
    fn line(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("the receiver prints a line")
    }

    /// The status of its answer to these bytes.
    #[track_caller]
    fn ask(&self, head: &str, body: &[u8]) -> u16 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let head = format!("{head}Host: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok());
        status.unwrap_or_else(|| panic!("no status in {answer:?}"))
    }

    #[track_caller]
    fn deliver(&self, delivery: &Delivery<'_>) -> u16 {
        let Delivery { body, signed, header_id, age } = delivery;
        let at = Clock::host().now().seconds() - age;
        let signature = self.secret.sign(at, signed);
        let length = body.len();
        let head = format!(
            "POST /hooks HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             X-Service-Event-Id: {header_id}\r\nX-Service-Timestamp: {at}\r\n\
             X-Service-Signature: {signature}\r\n"
        );
        self.ask(&head, body)
    }

    /// Everything it did.
    fn end(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut lines = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(DEADLINE) {
            lines.push(line);
        }
        lines
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sample(number: u8) -> Event {
    let run = Id::new(Clock::host().now(), 0, [number; 8]);
    Event::sample(EventType::Succeeded, Id::from_bytes([1; 16]), run, "café ✓ \"1.50\"\n")
}

fn good(event: &Event) -> Delivery<'_> {
    let body = event.body.as_bytes();
    Delivery { body, signed: body, header_id: event.id.to_string(), age: 0 }
}

/// Source: service interface, "Events", rules 5 to 9, and "Errors".
#[track_caller]
fn check_receiver(command: Command) {
    let receiver = Receiver::start(command);
    let (first, second) = (sample(1), sample(2));
    let status = |delivery: Delivery<'_>| receiver.deliver(&delivery);
    // What is refused leaves nothing behind: the same event is taken afterwards.
    let tampered = first.body.replace("0.02", "0.01");
    assert_eq!(status(Delivery { body: tampered.as_bytes(), ..good(&first) }), 401, "tampered");
    assert_eq!(status(Delivery { age: 302, ..good(&first) }), 401, "stale");
    assert_eq!(status(Delivery { age: -310, ..good(&first) }), 401, "ahead");
    let other = second.id.to_string();
    assert_eq!(status(Delivery { header_id: other, ..good(&first) }), 400, "another id");
    assert_eq!(status(good(&first)), 204, "good");
    assert_eq!(status(good(&first)), 204, "again");
    assert_eq!(status(Delivery { age: 280, ..good(&first) }), 204, "again, and slow");
    assert_eq!(status(good(&second)), 204, "another");
    for body in ["not json", "{", "[]", "null", "\"id\"", "{}", "{\"id\":1}", "{\"id\":null}", ""] {
        let (body, header_id) = (body.as_bytes(), String::new());
        assert_eq!(status(Delivery { body, signed: body, header_id, age: 0 }), 400, "{body:?}");
    }
    check_heads(&receiver, &first);
    let lines = receiver.end();
    let acted = |it: &Event| format!("acted on {}: agent.run.succeeded", it.id);
    assert_eq!(lines, [acted(&first), acted(&second)]);
}

/// What is wrong before the body.
#[track_caller]
fn check_heads(receiver: &Receiver, event: &Event) {
    assert_eq!(receiver.ask("GET /hooks HTTP/1.1\r\n", b""), 405);
    let length = BODY_BYTES_MAX + 1;
    let large = format!("POST /hooks HTTP/1.1\r\nContent-Length: {length}\r\n");
    assert_eq!(receiver.ask(&large, b""), 413);
    let body = event.body.as_bytes();
    let at = Clock::host().now().seconds();
    let signature = receiver.secret.sign(at, body);
    for (timestamp, signature) in [
        (String::new(), signature.clone()),
        (format!("+{at}"), signature.clone()),
        (format!("{at}.0"), signature.clone()),
        ("9".repeat(40), signature.clone()),
        (at.to_string(), String::new()),
        (at.to_string(), signature[3..].to_owned()),
        (at.to_string(), signature[..60].to_owned()),
        (at.to_string(), format!("{signature}é")),
        (at.to_string(), "v1=".to_owned()),
    ] {
        let head = format!(
            "POST / HTTP/1.1\r\nContent-Length: {}\r\nX-Service-Event-Id: {}\r\n\
             X-Service-Timestamp: {timestamp}\r\nX-Service-Signature: {signature}\r\n",
            body.len(),
            event.id,
        );
        assert_eq!(receiver.ask(&head, body), 401, "{timestamp} {signature}");
    }
    let bare = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
    assert_eq!(receiver.ask(&bare, body), 401);
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

/// A call of a program with an example, if the program is installed.
fn installed(program: &str, name: &str) -> Option<Command> {
    let version = Command::new(program).arg("--version").output();
    if !version.is_ok_and(|it| it.status.success()) {
        eprintln!("{name} was not tried: {program} is not installed");
        return None;
    }
    let mut command = Command::new(program);
    command.arg(example(name));
    Some(command)
}

#[test]
fn the_receiver_in_rust_is_one_to_copy() {
    let deps = std::env::current_exe().unwrap();
    let built = deps.ancestors().nth(2).unwrap().join("examples/receiver");
    assert!(built.exists(), "`cargo build --example receiver` builds {}", built.display());
    check_receiver(Command::new(built));
}

#[test]
fn the_receiver_in_python_is_one_to_copy() {
    if let Some(command) = installed("python3", "receiver.py") {
        check_receiver(command);
    }
}

#[test]
fn the_receiver_in_javascript_is_one_to_copy() {
    if let Some(command) = installed("node", "receiver.mjs") {
        check_receiver(command);
    }
}
