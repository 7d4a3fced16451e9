//! A page on loopback for agents to read.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// A server of one page; it ends with the test.
pub struct Page {
    pub url: String,
}

impl Page {
    /// Serves a page under every path but that of `robots.txt`.
    pub fn serve(html: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever hangs up early gets nothing.
                let _ = answer(stream, html);
            }
        });
        Self { url }
    }
}

fn answer(stream: TcpStream, html: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let (status, body) = match first.split(' ').nth(1) {
        Some("/robots.txt") => ("404 Not Found", ""),
        _ => ("200 OK", html),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    reader.get_mut().write_all(format!("{head}{body}").as_bytes())
}
