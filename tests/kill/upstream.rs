//! An upstream on loopback that counts as it is asked to, so that every chat has a price of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

/// An upstream; it lives as long as the process.
pub(crate) struct Upstream(SocketAddr);

/// Tokens that an answer can have: enough for a price of its own for each chat of 2,000 rounds.
pub(crate) const TOKENS_MAX: u32 = 10_000_000;
/// The name of its model.
pub(crate) const MODEL: &str = "priced";

impl Upstream {
    /// Starts it.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || while answer(&stream).is_some() {});
            }
        });
        Self(address)
    }

    /// The settings of a daemon that asks it: a token that is read is free, one that is written
    /// costs a billionth.
    pub(crate) fn settings(&self) -> String {
        format!(
            "[[models]]\nid = \"{MODEL}\"\nbase_url = \"http://{}/v1\"\n\
             input_per_million = \"0\"\noutput_per_million = \"0.001\"\n\
             max_output_tokens = {TOKENS_MAX}\ncontext_window = 20000000\n",
            self.0
        )
    }
}

/// Answers one request of a connection; `None` when there is no more.
fn answer(mut stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|it| *it > 0)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).ok()?;
    let tokens: u64 = asked["messages"][0]["content"].as_str()?.parse().ok()?;
    let piece = json!({ "choices": [{ "index": 0, "delta": { "content": "word " } }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let usage =
        json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": tokens } });
    let mut events = vec![format!("data: {piece}\n\n"); 5];
    events.extend([format!("data: {end}\n\ndata: {usage}\n\ndata: [DONE]\n\n")]);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).ok()?;
    for event in events {
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).ok()?;
    }
    stream.write_all(b"0\r\n\r\n").ok()
}
