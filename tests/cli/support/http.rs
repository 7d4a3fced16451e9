//! Requests as bytes, so that nothing of ours is on both sides.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::once::DEADLINE;

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub body: String,
}

impl Reply {
    /// The body of an answer that says yes.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        serde_json::from_str(&self.body).unwrap()
    }
}

#[track_caller]
pub fn get(address: &str, path: &str, key: &str) -> Reply {
    exchange(address, &format!("GET {path} HTTP/1.1\r\n{}\r\n", head(key)))
}

#[track_caller]
pub fn post(address: &str, path: &str, key: &str, body: &Value) -> Reply {
    let body = body.to_string();
    let length = body.len();
    let more = format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}");
    exchange(address, &format!("POST {path} HTTP/1.1\r\n{}{more}", head(key)))
}

fn head(key: &str) -> String {
    let key =
        if key.is_empty() { String::new() } else { format!("authorization: Bearer {key}\r\n") };
    format!("host: localhost\r\nconnection: close\r\n{key}")
}

#[track_caller]
fn exchange(address: &str, request: &str) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    Reply {
        status: status.unwrap_or_else(|| panic!("no status in {answer:?}")),
        body: body.to_owned(),
    }
}
