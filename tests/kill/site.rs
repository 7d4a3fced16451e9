//! A page on loopback for the daemon to audit.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A server of one page; it lives as long as the process.
pub(crate) struct Site(SocketAddr);

const PAGE: &str = "<!doctype html><html lang=en><head><title>A page to audit</title>\
    <meta name=description content=\"A page that is audited while the daemon is killed.\"></head>\
    <body><h1>A page</h1><p>It has one paragraph and one <a href=/other>link to another page</a>.";

impl Site {
    /// Starts it.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || answer(stream));
            }
        });
        Self(address)
    }

    /// The page's URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/page", self.0)
    }
}

/// Answers one request. A caller that dies meanwhile is what this test is about.
fn answer(mut stream: TcpStream) {
    let Ok(read) = stream.try_clone() else { return };
    let mut head = BufReader::new(read).lines().map_while(Result::ok);
    let line = head.next().unwrap_or_default();
    head.take_while(|it| !it.is_empty()).for_each(drop);
    let (status, kind, body) = if line.contains(" /robots.txt ") {
        ("404 Not Found", "text/plain", "no such page\n")
    } else {
        ("200 OK", "text/html; charset=utf-8", PAGE)
    };
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    );
}
