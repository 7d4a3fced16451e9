//! A scripted API on loopback: it says what a test wants and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server that answers by a script; it ends with the test.
pub struct Api {
    pub base_url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Api {
    /// Answers each request with what `script` makes of its first line and its body.
    pub fn serve(script: impl Fn(&str, &str) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some((head, body)) = read(&stream) else { continue };
                let first = head.lines().next().unwrap_or_default().to_owned();
                kept.lock().unwrap().push(format!("{head}{body}"));
                // Whoever hangs up early gets nothing.
                let _ = stream.write_all(script(&first, &body).as_bytes());
            }
        });
        Self { base_url, requests }
    }

    /// Everything that was asked, in order.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// An answer in JSON.
pub fn json(status: u16, body: &serde_json::Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}

/// A stream of these events, which ends with the connection.
pub fn events(events: &[&str]) -> String {
    let events: String = events.iter().map(|it| format!("data: {it}\n\n")).collect();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
         : keep-alive\n\n{events}"
    )
}

/// The head and the body of a request.
fn read(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let before = head.len();
        reader.read_line(&mut head).ok()?;
        let line = head[before..].to_ascii_lowercase();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).ok()?))
}
