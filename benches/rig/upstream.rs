//! An upstream that costs little: it answers every request with the same bytes, ready made.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// A few events with a length, written at once.
    Short,
    /// Two hundred chunks, each written by itself.
    Long,
}

/// Starts one on a loopback port; it lives as long as the process.
pub async fn start(speech: Speech) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let writes: Arc<[Vec<u8>]> = writes(speech).into();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::spawn(serve(stream, Arc::clone(&writes)));
        }
    });
    address
}

async fn serve(mut stream: TcpStream, writes: Arc<[Vec<u8>]>) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let mut have = 0;
        while !is_whole(&buffer[..have]) {
            match stream.read(&mut buffer[have..]).await {
                Ok(read) if read > 0 => have += read,
                Ok(_) | Err(_) => return,
            }
        }
        for bytes in writes.iter() {
            if stream.write_all(bytes).await.is_err() {
                return;
            }
        }
    }
}

/// Whether a request is there with all of its body.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(head) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else { return false };
    let text = std::str::from_utf8(&bytes[..head]).unwrap().to_ascii_lowercase();
    let length = text.lines().find_map(|it| it.strip_prefix("content-length: "));
    bytes.len() >= head + 4 + length.map_or(0, |it| it.parse::<usize>().unwrap())
}

fn writes(speech: Speech) -> Vec<Vec<u8>> {
    let piece = json!({ "choices": [{ "index": 0, "delta": { "content": "some words " } }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 9 } });
    let end = format!("data: {end}\n\ndata: {usage}\n\ndata: [DONE]\n\n");
    let piece = format!("data: {piece}\n\n");
    let kind = "content-type: text/event-stream";
    match speech {
        Speech::Short => {
            let body = piece.repeat(3) + &end;
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\n{kind}\r\ncontent-length: {length}\r\n\r\n");
            vec![(head + &body).into_bytes()]
        }
        Speech::Long => {
            let head = format!("HTTP/1.1 200 OK\r\n{kind}\r\ntransfer-encoding: chunked\r\n\r\n");
            let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len()).into_bytes();
            let mut writes = vec![head.into_bytes()];
            writes.extend(vec![chunk(&piece); 200]);
            writes.extend([chunk(&end), b"0\r\n\r\n".to_vec()]);
            writes
        }
    }
}
