//! One request a connection, by hand, so that a broken answer is seen as one.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Status and body of the answer; an error when there was no whole answer.
pub(crate) fn ask(
    to: SocketAddr,
    key: &str,
    method: &str,
    path: &str,
    body: &str,
) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(5))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: {to}\r\nauthorization: Bearer {key}\r\n\
         connection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes())?;
    let mut raw = String::new();
    stream.read_to_string(&mut raw)?;
    let broken = || io::Error::other("half an answer");
    let (head, body) = raw.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).ok_or_else(broken)?;
    let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
    let whole = length.is_none_or(|it| it.parse() == Ok(body.len()));
    if whole { Ok((status, body.to_owned())) } else { Err(broken()) }
}
