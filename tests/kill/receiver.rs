//! A receiver on loopback that remembers everything it was sent, and is not always kind.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A receiver; it lives as long as the process.
pub(crate) struct Receiver {
    address: SocketAddr,
    sends: Arc<Mutex<BTreeMap<String, Vec<Send>>>>,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Send {
    /// The number of the attempt, as its header says.
    pub(crate) attempt: u32,
    /// Its bytes.
    pub(crate) body: Vec<u8>,
    /// Timestamp and signature.
    pub(crate) signed: (String, String),
}

impl Receiver {
    /// Starts it.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sends = Arc::<Mutex<BTreeMap<String, Vec<Send>>>>::default();
        let kept = Arc::clone(&sends);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || take(stream, &kept));
            }
        });
        Self { address, sends }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/events", self.address)
    }

    /// Everything that was sent, by event.
    pub(crate) fn sends(&self) -> BTreeMap<String, Vec<Send>> {
        self.sends.lock().unwrap().clone()
    }
}

/// Takes one request. One that breaks off was never whole, and does not count.
fn take(mut stream: TcpStream, kept: &Mutex<BTreeMap<String, Vec<Send>>>) {
    let Ok(read) = stream.try_clone() else { return };
    let mut reader = BufReader::new(read);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.trim().is_empty() => break,
            Ok(_) => {
                if let Some((name, value)) = line.split_once(':') {
                    headers.insert(name.to_lowercase(), value.trim().to_owned());
                }
            }
        }
    }
    let length = headers["content-length"].parse().unwrap();
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let id = headers["x-service-event-id"].clone();
    let attempt = headers["x-service-attempt"].parse().unwrap();
    let signed = (headers["x-service-timestamp"].clone(), headers["x-service-signature"].clone());
    let before = {
        let mut kept = kept.lock().unwrap();
        let sends = kept.entry(id.clone()).or_default();
        sends.push(Send { attempt, body, signed });
        sends.len()
    };
    // What an event meets is decided by its name, so it is the same for every run of the test.
    let status = match id.bytes().last().unwrap() {
        b'0' => "500 Internal Server Error",
        b'1' | b'2' if before < 3 => "503 Service Unavailable",
        // It hangs up without a word.
        b'3' if before < 2 => return,
        _ => "204 No Content",
    };
    let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
}
