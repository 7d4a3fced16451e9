//! A receiver on the fake internet: it keeps every request and answers by a script.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errand::domain::time::Timestamp;
use errand::outbound::fake::{Internet, Served};
use errand::sys::clock::{Clock, Mark};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

use super::disk::TestDisk;

/// What a receiver does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Answers with this status.
    Answer(u16),
    /// Answers with this status before it has read the body, and reads none of it.
    Early(u16),
    /// Answers with this status and this `Retry-After`.
    Hint(u16, &'static str),
    /// Writes these bytes and closes.
    Raw(&'static str),
    /// Answers with this status after so many milliseconds.
    Slow(u64, u16),
    /// Never answers.
    Hang,
    /// Answers with this status, promises a body, and says nothing more.
    Silence(u16),
    /// Writes its answer one byte a second.
    Drip,
    /// Resets the connection.
    Reset,
    /// Answers with this status and a body without end.
    Flood(u16),
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// When its head was there, on the clock that never steps.
    pub at: Mark,
    /// The same on the wall clock.
    pub wall: Timestamp,
    /// The head.
    pub head: String,
    /// The bytes after it; none when they were not read.
    pub body: Vec<u8>,
}

/// A receiver; clones share what it has seen.
#[derive(Clone)]
pub struct Receiver(Arc<Shared>);

struct Shared {
    clock: Clock,
    seen: Mutex<Vec<Request>>,
    script: Mutex<VecDeque<Act>>,
    then: Mutex<Act>,
    disk: Mutex<TestDisk>,
    under_way: AtomicUsize,
    most: AtomicUsize,
}

/// Counts one request down when it ends or is dropped.
struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Receiver {
    /// One that nobody can reach yet, and that always does `then`.
    pub fn new(clock: &Clock, then: Act) -> Self {
        Self(Arc::new(Shared {
            clock: clock.clone(),
            seen: Mutex::default(),
            script: Mutex::default(),
            then: Mutex::new(then),
            disk: Mutex::default(),
            under_way: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }))
    }

    /// Lets it answer at `http://{host}/`.
    pub fn plain(self, internet: &Internet, host: &str) -> Self {
        let it = self.clone();
        internet.site(host, 80, move |stream| serve(it.clone(), stream));
        self
    }

    /// Lets it answer at `address` over TLS.
    pub fn tls(self, internet: &Internet, address: &str, acceptor: TlsAcceptor) -> Self {
        let it = self.clone();
        internet.serve(address, move |stream| {
            let (it, acceptor) = (it.clone(), acceptor.clone());
            async move {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    talk(&it, &mut stream).await;
                    let _ = stream.shutdown().await;
                }
            }
        });
        self
    }

    /// Hears nothing of a process that has ended on `disk` and goes on in this one.
    pub fn forget_after_end_on(&self, disk: &TestDisk) {
        *self.0.disk.lock().unwrap() = disk.clone();
    }

    /// Does these first, one for each request.
    pub fn first(&self, acts: &[Act]) {
        self.0.script.lock().unwrap().extend(acts);
    }

    /// Does `then` from now on, when the script is at its end.
    pub fn always(&self, then: Act) {
        *self.0.then.lock().unwrap() = then;
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Request> {
        self.0.seen.lock().unwrap().clone()
    }

    /// How many requests there were.
    pub fn count(&self) -> usize {
        self.0.seen.lock().unwrap().len()
    }

    /// Waits until there were `count` requests, at most two hours.
    pub async fn wait(&self, count: usize) {
        for _ in 0..72_000 {
            if self.count() >= count {
                return;
            }
            self.0.clock.sleep(Duration::from_millis(100)).await;
        }
        panic!("after two hours there were {} of {count} requests", self.count());
    }

    /// The most requests that were under way at the same time.
    pub fn most(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }

    fn next(&self) -> Act {
        let next = self.0.script.lock().unwrap().pop_front();
        next.unwrap_or(*self.0.then.lock().unwrap())
    }
}

impl Request {
    /// The only header of that name.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|it| it.split_once(": "));
        let mut found = lines.filter(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1);
        let first = found.next().unwrap_or_else(|| panic!("no {name} in {}", self.head));
        assert_eq!(found.next(), None, "{name} stands twice in {}", self.head);
        first
    }

    /// The number of the attempt.
    pub fn attempt(&self) -> usize {
        self.header("x-service-attempt").parse().unwrap()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

async fn serve(it: Receiver, mut stream: Served) {
    if talk(&it, &mut stream).await == Act::Reset {
        stream.reset();
    }
}

/// Reads one request and does what the script says; gives what that was.
async fn talk<S: AsyncRead + AsyncWrite + Unpin>(it: &Receiver, stream: &mut S) -> Act {
    let Some((head, mut body)) = read_head(stream).await else { return Act::Hang };
    if it.0.disk.lock().unwrap().has_ended() {
        until_closed(stream).await;
        return Act::Hang;
    }
    let act = it.next();
    let request = Request {
        at: it.0.clock.mark(),
        wall: it.0.clock.now(),
        head,
        body: if matches!(act, Act::Early(_)) { Vec::new() } else { std::mem::take(&mut body) },
    };
    let length: usize = request.header("content-length").parse().unwrap();
    let number = {
        let mut seen = it.0.seen.lock().unwrap();
        seen.push(request);
        seen.len() - 1
    };
    let now = it.0.under_way.fetch_add(1, Ordering::SeqCst) + 1;
    it.0.most.fetch_max(now, Ordering::SeqCst);
    let _leave = Leave(&it.0.under_way);
    if !matches!(act, Act::Early(_)) {
        let mut body = std::mem::take(&mut it.0.seen.lock().unwrap()[number].body);
        let missing = length.saturating_sub(body.len());
        let mut rest = vec![0; missing];
        let is_whole = stream.read_exact(&mut rest).await.is_ok();
        body.extend(rest);
        it.0.seen.lock().unwrap()[number].body = body;
        assert!(is_whole, "a request broke off");
    }
    answer(it, stream, act).await;
    act
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(it: &Receiver, stream: &mut S, act: Act) {
    let clock = &it.0.clock;
    let plain = |status: u16| format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
    let text = match act {
        Act::Answer(status) | Act::Early(status) => plain(status),
        Act::Hint(status, hint) => {
            format!("HTTP/1.1 {status} X\r\nRetry-After: {hint}\r\nContent-Length: 0\r\n\r\n")
        }
        Act::Raw(text) => text.to_owned(),
        Act::Slow(millis, status) => {
            clock.sleep(Duration::from_millis(millis)).await;
            plain(status)
        }
        Act::Hang => return until_closed(stream).await,
        Act::Silence(status) => {
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 9\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).await;
            return until_closed(stream).await;
        }
        Act::Drip => {
            for byte in plain(200).bytes() {
                if stream.write_all(&[byte]).await.is_err() {
                    return;
                }
                clock.sleep(Duration::from_secs(1)).await;
            }
            return;
        }
        Act::Reset => return,
        Act::Flood(status) => {
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 1000000000\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).await;
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
            return;
        }
    };
    let _ = stream.write_all(text.as_bytes()).await;
}

/// The head of a request and what came with it of its body.
async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            let body = bytes.split_off(end + 4);
            return Some((String::from_utf8(bytes).unwrap(), body));
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

async fn until_closed<S: AsyncRead + Unpin>(stream: &mut S) {
    let mut bytes = [0; 1024];
    while stream.read(&mut bytes).await.is_ok_and(|it| it > 0) {}
}
