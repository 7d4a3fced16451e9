//! One send and every way it can end, over a network in memory: what is decided, why, and how soon.
//!
//! Certificates have a test of their own (`outbound_tls.rs`), and so have addresses (`ssrf.rs`).
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use errand::delivery::{Post, Sender, Sent, StandardHeaders, Verdict, Vetted};
use errand::domain::fault::{Detail, Fault, Reason};
use errand::domain::id::Id;
use errand::domain::receiver::{ReceiverUrl, UrlPolicy};
use errand::domain::signature::SigningSecret;
use errand::domain::time::Timestamp;
use errand::outbound::fake::{Internet, Lookup, Served};
use errand::outbound::{
    BoxFuture, ByteStream, Client, Dialer, Guard, GuardConfig, PublicAddr, ResolveError, Trust,
};
use errand::sys::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const HOST: &str = "hooks.example.org";
const URL: &str = "http://hooks.example.org/events";
/// 1 January 2026.
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn sender(internet: &Internet, dialer: Arc<dyn Dialer>) -> Sender {
    let clock = Clock::simulated(NOW);
    let guard = Guard::new(GuardConfig::public(&[80, 443]));
    let trust = Trust::new(clock.clone(), b"").unwrap();
    let client = Client::new(
        clock.clone(),
        guard,
        Arc::new(internet.clone()),
        dialer,
        trust,
        Arc::default(),
    );
    Sender::new(client, clock, UrlPolicy::Development, StandardHeaders::Sent)
}

/// Sends `bytes` bytes to `url`.
async fn send_to(internet: &Internet, url: &str, bytes: usize) -> Sent {
    let secret = SigningSecret::new([7; 33]);
    let post = Post {
        receiver: Id::from_bytes([1; 16]),
        url,
        secret: &secret,
        event: Id::from_bytes([2; 16]),
        body: Bytes::from(vec![b'x'; bytes]),
        attempt: 1,
    };
    sender(internet, Arc::new(internet.clone())).send(&post).await
}

/// Sends to a receiver that does `act` once it has the head of the request.
async fn send<F, W>(bytes: usize, act: F) -> Sent
where
    F: Fn(Served) -> W + Send + Sync + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let internet = Internet::new();
    let act = Arc::new(act);
    internet.site(HOST, 80, move |mut stream| {
        let act = Arc::clone(&act);
        async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            act(stream).await;
        }
    });
    send_to(&internet, URL, bytes).await
}

/// Sends to a receiver that answers with `text` and hangs up.
async fn answered(text: impl Into<Vec<u8>>) -> Verdict {
    let text = text.into();
    let sent = send(300, move |mut stream| {
        let text = text.clone();
        async move {
            let _ = stream.write_all(&text).await;
        }
    });
    sent.await.verdict
}

const fn failed(reason: Reason, detail: Option<Detail>) -> Verdict {
    Verdict::Failed { http_code: None, fault: Fault { reason, detail }, retry_after: None }
}

/// Source: service interface, "Events", rule 7.
#[tokio::test(start_paused = true)]
async fn any_2xx_is_a_success_whatever_comes_with_it() {
    for (http_code, rest) in [
        (200, "OK\r\ncontent-length: 2\r\n\r\nok"),
        (201, "Created\r\n\r\n"),
        (202, "\r\ncontent-length: 99999999999\r\n\r\nonly the beginning"),
        (204, "No Content\r\ncontent-length: 3\r\n\r\nabc"),
        (205, "Reset Content\r\n\r\n"),
        (206, "Partial Content\r\ncontent-range: bytes 0-1/2\r\n\r\n"),
        (299, "Whatever\r\ntransfer-encoding: chunked\r\n\r\nnot a chunk"),
    ] {
        let verdict = answered(format!("HTTP/1.1 {http_code} {rest}")).await;
        assert_eq!(verdict, Verdict::Delivered { http_code });
    }
    let after_hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(answered(after_hints).await, Verdict::Delivered { http_code: 200 });
}

/// Source: service interface, "Events", rules 3 and 7.
#[tokio::test(start_paused = true)]
async fn every_other_answer_is_a_failure_and_a_redirect_says_so() {
    for (status, detail) in [
        (301, Some(Detail::Redirect)),
        (304, Some(Detail::Redirect)),
        (308, Some(Detail::Redirect)),
        (400, None),
        (401, None),
        (410, None),
        (429, None),
        (500, None),
        (599, None),
    ] {
        let text = format!("HTTP/1.1 {status} x\r\nlocation: http://169.254.169.254/\r\n\r\n");
        let fault = Fault { reason: Reason::HttpStatus, detail };
        let verdict = Verdict::Failed { http_code: Some(status), fault, retry_after: None };
        assert_eq!(answered(text).await, verdict);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_is_asked_for_counts_once_and_for_two_answers_only() {
    for (status, hints, pause) in [
        (429, "retry-after: 120\r\n", Some(120)),
        (503, "retry-after: Thu, 01 Jan 2026 00:10:00 GMT\r\n", Some(600)),
        (503, "retry-after: 1.5\r\n", None),
        (503, "retry-after: 1\r\nretry-after: 2\r\n", None),
        (500, "retry-after: 120\r\n", None),
    ] {
        let verdict = answered(format!("HTTP/1.1 {status} x\r\n{hints}\r\n")).await;
        let Verdict::Failed { retry_after, .. } = verdict else { panic!("{verdict:?}") };
        assert_eq!(retry_after, pause.map(Duration::from_secs), "{status} {hints}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_answer_is_called_so() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(10_000));
    let large = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(10_000_000));
    let endless = "HTTP/1.1 100 Continue\r\n\r\n".repeat(100_000);
    for (text, detail) in [
        ("SSH-2.0-OpenSSH_9.6\r\n", Detail::NotHttp),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Detail::NotHttp),
        ("HTTP/1.1 2000 OK\r\n\r\n", Detail::NotHttp),
        ("HTTP/1.1 099 x\r\n\r\n", Detail::NotHttp),
        ("HTTP/1.1 600 x\r\n\r\n", Detail::NotHttp),
        ("HTTP/1.1 abc x\r\n\r\n", Detail::NotHttp),
        ("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", Detail::NotHttp),
        ("<html>", Detail::NotHttp),
        (&many, Detail::HeadTooLarge),
        (&large, Detail::HeadTooLarge),
        (&endless, Detail::HeadTooLarge),
        ("", Detail::ClosedEarly),
        ("HTTP/1.1 200 OK\r\n", Detail::ClosedEarly),
    ] {
        let start = &text[..text.len().min(40)];
        let verdict = answered(text).await;
        assert_eq!(verdict, failed(Reason::BadResponse, Some(detail)), "{start}");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_longer_than_fifteen_seconds() {
    let late = failed(Reason::Timeout, Some(Detail::Response));
    // It says nothing; it sends a byte a second; it does not read.
    let silent = send(300, |stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    });
    let dripping = send(300, |mut stream| async move {
        for byte in b"HTTP/1.1 200 OK\r\nx: ".iter().chain(std::iter::repeat(&b'a')) {
            Clock::simulated(NOW).sleep(Duration::from_secs(1)).await;
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
        }
    });
    let deaf = send(200_000, |stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    });
    for sent in [silent.await, dripping.await, deaf.await] {
        assert_eq!((sent.verdict, sent.duration), (late, Duration::from_secs(15)));
    }
    let internet = Internet::new();
    internet.name(HOST, "198.41.0.4 199.9.14.201 192.33.4.12");
    for address in ["198.41.0.4:80", "199.9.14.201:80", "192.33.4.12:80"] {
        internet.hang(address);
    }
    let sent = send_to(&internet, URL, 300).await;
    assert_eq!(sent.verdict, failed(Reason::Timeout, Some(Detail::Connect)));
    assert_eq!((sent.duration, internet.dialled().len()), (Duration::from_secs(10), 2));
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_says_where_it_broke() {
    let reset = send(300, |stream| async move { stream.reset() }).await.verdict;
    assert_eq!(reset, failed(Reason::ConnectFailed, Some(Detail::Reset)));
    let half = send(300, |mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 20").await;
        stream.reset();
    });
    assert_eq!(half.await.verdict, failed(Reason::BadResponse, Some(Detail::ClosedEarly)));
    let internet = Internet::new();
    internet.name(HOST, "198.41.0.4");
    for (kind, detail) in [
        (io::ErrorKind::ConnectionRefused, Detail::Refused),
        (io::ErrorKind::NetworkUnreachable, Detail::Unreachable),
    ] {
        internet.fail("198.41.0.4:80", kind);
        let sent = send_to(&internet, URL, 300).await;
        assert_eq!(sent.verdict, failed(Reason::ConnectFailed, Some(detail)));
        assert_eq!(sent.duration, Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_whole_head_nothing_changes_the_verdict() {
    let reset = send(300, |mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        stream.reset();
    });
    assert_eq!(reset.await.verdict, Verdict::Delivered { http_code: 204 });
    // The answer comes before most of the body was read.
    let early = send(200_000, |mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 202 Accepted\r\n\r\n").await;
    });
    assert_eq!(early.await.verdict, Verdict::Delivered { http_code: 202 });
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_read_for_64_kib_and_a_silence_for_two_seconds() {
    let written = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&written);
    let sent = send(300, move |mut stream| {
        let written = Arc::clone(&counted);
        async move {
            let head =
                b"HTTP/1.1 500 x\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n";
            let _ = stream.write_all(head).await;
            while stream.write_all(b"400\r\n").await.is_ok() {
                if stream.write_all(&[0x1f; 1024]).await.is_err() {
                    return;
                }
                let _ = stream.write_all(b"\r\n").await;
                written.fetch_add(1024, Ordering::Relaxed);
            }
        }
    });
    let sent = sent.await;
    sent.rest.unwrap().discard().await;
    tokio::task::yield_now().await;
    let bytes = written.load(Ordering::Relaxed);
    assert!((64 * 1024..512 * 1024).contains(&bytes), "{bytes} bytes went out");

    let clock = Clock::simulated(NOW);
    let start = clock.mark();
    let sent = send(300, |mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n").await;
        std::future::pending::<()>().await;
        drop(stream);
    });
    let sent = sent.await;
    assert_eq!(sent.verdict, Verdict::Delivered { http_code: 200 });
    sent.rest.unwrap().discard().await;
    assert_eq!(start.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_name_is_looked_up_at_every_send_and_one_inside_address_refuses_all() {
    let internet = Internet::new();
    let (inside, outside) = (Lookup::of("198.41.0.4 10.0.0.7"), Lookup::of("198.41.0.4"));
    internet.names(HOST, vec![outside.clone(), inside, Lookup::of("127.0.0.1"), outside]);
    internet.serve("198.41.0.4:80", |mut stream: Served| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
    });
    let forbidden = failed(Reason::AddressNotAllowed, None);
    let delivered = Verdict::Delivered { http_code: 204 };
    for verdict in [delivered, forbidden, forbidden, delivered] {
        assert_eq!(send_to(&internet, URL, 300).await.verdict, verdict);
    }
    assert_eq!(internet.asked().len(), 4);
    assert!(internet.dialled().iter().all(|it| it.to_string() == "198.41.0.4:80"));
    // Who ends up elsewhere than at the judged address sends nothing.
    internet.mislead("198.41.0.4:80", "10.0.0.7:80");
    assert_eq!(send_to(&internet, URL, 300).await.verdict, forbidden);
}

#[tokio::test(start_paused = true)]
async fn names_that_lead_nowhere_say_how() {
    let internet = Internet::new();
    for (lookup, detail) in [
        (Lookup::Fails(ResolveError::NxDomain), Detail::NxDomain),
        (Lookup::Fails(ResolveError::NoAddress), Detail::NoAddress),
        (Lookup::Fails(ResolveError::ServerFailure), Detail::ServerFailure),
        (Lookup::Hangs, Detail::DnsTimeout),
    ] {
        internet.names(HOST, vec![lookup]);
        let sent = send_to(&internet, URL, 300).await;
        assert_eq!(sent.verdict, failed(Reason::DnsFailed, Some(detail)));
        assert!(sent.duration <= Duration::from_secs(3));
        let url = ReceiverUrl::parse(URL, UrlPolicy::Development).unwrap();
        let vetted = sender(&internet, Arc::new(internet.clone())).vet(&url).await;
        assert_eq!(vetted, Vetted::Unresolved);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stored_url_that_is_not_allowed_any_more_is_not_even_looked_up() {
    let internet = Internet::new();
    for url in ["ftp://hooks.example.org/", "http://u@hooks.example.org/", "http://[::1", "x"] {
        let sent = send_to(&internet, url, 300).await;
        assert_eq!(sent.verdict, failed(Reason::AddressNotAllowed, None), "{url}");
    }
    assert!(internet.asked().is_empty() && internet.dialled().is_empty());
}

/// A host without a socket left.
#[derive(Debug)]
struct Exhausted;

impl Dialer for Exhausted {
    fn dial<'a>(&'a self, _: &'a PublicAddr) -> BoxFuture<'a, io::Result<Box<dyn ByteStream>>> {
        Box::pin(std::future::ready(Err(io::Error::from_raw_os_error(24))))
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_without_sockets_has_sent_nothing() {
    let internet = Internet::new();
    internet.name(HOST, "198.41.0.4");
    let secret = SigningSecret::new([7; 33]);
    let post = Post {
        receiver: Id::from_bytes([1; 16]),
        url: URL,
        secret: &secret,
        event: Id::from_bytes([2; 16]),
        body: Bytes::from_static(b"{}"),
        attempt: 1,
    };
    let sent = sender(&internet, Arc::new(Exhausted)).send(&post).await;
    assert_eq!(sent.verdict, Verdict::NotSent);
}
