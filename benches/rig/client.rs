//! A client that costs little: it writes the same bytes again and looks only for the end of the
//! answer. The less it costs, the more of the machine is left for what is measured.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Figures;

/// Sends `request` over `connections` connections, each one after the other, for `span`.
pub async fn load(to: SocketAddr, request: String, connections: usize, span: Duration) -> Figures {
    load_of(Form::Whole, to, request, connections, span).await
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// After as many bytes as its head says.
    Whole,
    /// With its last chunk.
    Chunks,
}

/// The same for answers of any form.
#[expect(clippy::disallowed_methods, reason = "a bench measures the host")]
pub async fn load_of(
    form: Form,
    to: SocketAddr,
    request: String,
    connections: usize,
    span: Duration,
) -> Figures {
    let request: Arc<[u8]> = request.into_bytes().into();
    let start = Instant::now();
    let tasks: Vec<_> = (0..connections)
        .map(|_| {
            let request = Arc::clone(&request);
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(to).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let mut times = Vec::new();
                let mut buffer = vec![0; 256 * 1024];
                while start.elapsed() < span {
                    let begin = Instant::now();
                    stream.write_all(&request).await.unwrap();
                    match form {
                        Form::Whole => drop(answer(&mut stream, &mut buffer).await),
                        Form::Chunks => chunks(&mut stream, &mut buffer).await,
                    }
                    times.push(begin.elapsed());
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    let taken = start.elapsed().as_secs_f64();
    times.sort();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let rate = times.len() as f64 / taken;
    Figures { rate, times }
}

/// Bytes of the body of the answer to `request`, so that the floor can answer as much.
#[expect(clippy::disallowed_methods, reason = "a bench measures the host")]
pub async fn answer_bytes(to: SocketAddr, request: &str) -> usize {
    let mut stream = TcpStream::connect(to).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    answer(&mut stream, &mut vec![0; 64 * 1024]).await
}

/// Reads one answer with a length; anything but a success ends the bench.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> usize {
    let mut have = 0;
    loop {
        let read = stream.read(&mut buffer[have..]).await.unwrap();
        assert!(read > 0, "the connection was closed");
        have += read;
        let Some(head) = buffer[..have].windows(4).position(|it| it == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&buffer[..head]).unwrap();
        assert!(text.starts_with("HTTP/1.1 20"), "{}", String::from_utf8_lossy(&buffer[..have]));
        let length = text.lines().find_map(|it| it.strip_prefix("content-length: "));
        let length: usize = length.unwrap().parse().unwrap();
        if have >= head + 4 + length {
            return length;
        }
    }
}

/// Reads one answer in chunks; anything but a complete stream ends the bench.
async fn chunks(stream: &mut TcpStream, buffer: &mut [u8]) {
    let mut have = 0;
    loop {
        let read = stream.read(&mut buffer[have..]).await.unwrap();
        assert!(read > 0, "the connection was closed");
        have += read;
        if buffer[..have].ends_with(b"0\r\n\r\n") {
            let text = String::from_utf8_lossy(&buffer[..have]);
            assert!(text.starts_with("HTTP/1.1 200") && text.contains("[DONE]"), "{text}");
            return;
        }
    }
}
