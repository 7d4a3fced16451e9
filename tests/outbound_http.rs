//! What other servers do wrong, over a network in memory and in paused time: every exchange ends
//! in time, within its sizes, and says what happened.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::io;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use errand::outbound::fake::{Internet, Served};
use errand::outbound::{
    Answer, Ask, BadResponse, Client, ConnectError, Error, Guard, GuardConfig, Limits, Method,
    Stage, TooLarge, Trust,
};
use errand::sys::clock::Clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const SITE: &str = "site.example.org";
const OK: &str = "HTTP/1.1 200 OK\r\n";

fn client(internet: &Internet) -> Client {
    let internet = Arc::new(internet.clone());
    let guard = Guard::new(GuardConfig::public(&[80]));
    let trust = Trust::new(Clock::host(), b"").unwrap();
    Client::new(Clock::host(), guard, internet.clone(), internet, trust, Arc::default())
}

fn ask() -> Ask {
    Ask::get(format!("http://{SITE}/in?x=1").parse().unwrap())
}

/// Asks a server that is `behave`, after it has read the request's head.
async fn ask_server<F, W>(ask: &Ask, behave: F) -> Result<Answer, Error>
where
    F: Fn(Served) -> W + Send + Sync + Clone + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let internet = Internet::new();
    internet.site(SITE, 80, move |mut stream| {
        let behave = behave.clone();
        async move {
            let _ = stream.read(&mut [0; 4096]).await;
            behave(stream).await;
        }
    });
    client(&internet).exchange(ask).await
}

/// Asks a server that answers with these bytes and closes.
async fn ask_bytes(bytes: impl Into<Vec<u8>>) -> Result<Answer, Error> {
    let bytes = Arc::new(bytes.into());
    let say = move |mut stream: Served| {
        let bytes = Arc::clone(&bytes);
        async move {
            let _ = stream.write_all(&bytes).await;
        }
    };
    ask_server(&ask(), say).await
}

/// Sends one piece again and again, for ever, and counts them.
async fn repeat(mut stream: Served, first: &str, piece: &[u8], pause: Duration) -> usize {
    let (clock, mut sent) = (Clock::host(), 0);
    let _ = stream.write_all(first.as_bytes()).await;
    while stream.write_all(piece).await.is_ok() {
        sent += piece.len();
        clock.sleep(pause).await;
    }
    sent
}

async fn silence(stream: Served) {
    std::future::pending::<()>().await;
    drop(stream);
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn with_coding(coding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{OK}Content-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[track_caller]
fn check_bad(found: Result<Answer, Error>, expected: BadResponse) {
    assert_eq!(found.unwrap_err(), Error::BadResponse(expected));
}

#[tokio::test(start_paused = true)]
async fn a_request_has_its_host_first_and_its_names_in_title_case() {
    let internet = Internet::new();
    let (said, mut heard) = tokio::sync::mpsc::channel(1);
    internet.site(SITE, 80, move |mut stream| {
        let said = said.clone();
        async move {
            let mut text = vec![0; 4096];
            let count = stream.read(&mut text).await.unwrap();
            text.truncate(count);
            said.send(String::from_utf8(text).unwrap()).await.unwrap();
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        }
    });
    let headers = vec![("user-agent", "Errand/1".into()), ("x-service-event-id", "7".into())];
    let ask = Ask { method: Method::Post, headers, body: "{}".into(), ..ask() };
    assert_eq!(client(&internet).exchange(&ask).await.unwrap().status, 204);
    let expected = "POST /in?x=1 HTTP/1.1\r\nHost: site.example.org\r\nUser-Agent: Errand/1\r\n\
        X-Service-Event-Id: 7\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    assert_eq!(heard.recv().await.unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn an_answer_comes_with_its_headers_body_and_times() {
    let internet = Internet::new();
    let ip = internet.site(SITE, 80, async |mut stream| {
        let _ = stream.read(&mut [0; 4096]).await;
        Clock::host().sleep(Duration::from_millis(300)).await;
        let text =
            format!("{OK}Link: a\r\nX-A: b\r\nLINK: c\r\nContent-Length: 5\r\n\r\nhello, and more");
        let _ = stream.write_all(text.as_bytes()).await;
    });
    let answer = client(&internet).exchange(&ask()).await.unwrap();
    assert_eq!((answer.status, &answer.body[..], answer.wire_bytes), (200, &b"hello"[..], 5));
    assert_eq!(answer.headers("link").collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!((answer.header("x-a"), answer.header("none")), (Some("b"), None));
    assert_eq!((answer.peer.ip(), answer.tls, answer.content_encoding), (ip, None, None));
    assert!(answer.timing.first_byte >= Duration::from_millis(300), "{:?}", answer.timing);
    assert!(answer.timing.total >= answer.timing.first_byte);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_does_not_take_the_connection_is_left_for_the_other() {
    for refuse in [true, false] {
        let internet = Internet::new();
        internet.name(SITE, "2a00::1 93.184.216.34");
        if refuse {
            internet.fail("[2a00::1]:80", io::ErrorKind::NetworkUnreachable);
        } else {
            internet.hang("[2a00::1]:80");
        }
        internet.serve("93.184.216.34:80", async |mut stream| {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(format!("{OK}\r\n").as_bytes()).await;
        });
        assert_eq!(client(&internet).exchange(&ask()).await.unwrap().status, 200);
        assert_eq!(internet.dialled().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn two_black_holes_end_after_five_seconds_each() {
    let internet = Internet::new();
    internet.name(SITE, "2a00::1 93.184.216.34 93.184.216.35");
    internet.hang("[2a00::1]:80");
    internet.hang("93.184.216.34:80");
    let mark = Clock::host().mark();
    let found = client(&internet).exchange(&ask()).await;
    assert_eq!(found.unwrap_err(), Error::Timeout(Stage::Connect));
    assert_eq!(mark.elapsed(), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_or_a_byte_a_second_is_given_up_in_time() {
    let mark = Clock::host().mark();
    let found = ask_server(&ask(), silence).await;
    assert_eq!(found.unwrap_err(), Error::Timeout(Stage::Head));
    let drip = async |stream| _ = repeat(stream, OK, b"a", Duration::from_secs(1)).await;
    let found = ask_server(&ask(), drip).await;
    assert_eq!(found.unwrap_err(), Error::Timeout(Stage::Head));
    assert_eq!(mark.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_does_not_hold_the_sender() {
    let internet = Internet::new();
    internet.site(SITE, 80, silence);
    let body = vec![b'a'; 200 * 1024].into();
    let mark = Clock::host().mark();
    let found = client(&internet).exchange(&Ask { method: Method::Post, body, ..ask() }).await;
    assert_eq!(found.unwrap_err(), Error::Timeout(Stage::Head));
    assert_eq!(mark.elapsed(), Duration::from_secs(15));
}

#[tokio::test(start_paused = true)]
async fn an_answer_before_the_whole_request_was_read_counts() {
    let internet = Internet::new();
    internet.site(SITE, 80, async |mut stream| {
        let _ = stream.write_all(format!("{OK}Content-Length: 2\r\n\r\nok").as_bytes()).await;
        silence(stream).await;
    });
    let body = vec![b'a'; 200 * 1024].into();
    let ask = Ask { method: Method::Post, body, ..ask() };
    assert_eq!(&client(&internet).exchange(&ask).await.unwrap().body[..], b"ok");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_says_where() {
    let found = ask_server(&ask(), async |stream: Served| stream.reset()).await;
    assert_eq!(found.unwrap_err(), Error::Connect(ConnectError::Reset));
    for text in ["HTTP/1.1 200 OK\r\nX-", "HTTP/1.1 200 OK\r\n\r\nhalf"] {
        let broken = move |mut stream: Served| async move {
            let _ = stream.write_all(text.as_bytes()).await;
            stream.reset();
        };
        check_bad(ask_server(&ask(), broken).await, BadResponse::ClosedEarly);
    }
    check_bad(ask_bytes("").await, BadResponse::ClosedEarly);
    check_bad(ask_bytes("HTTP/1.1 200 O").await, BadResponse::ClosedEarly);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_http_is_not_an_answer() {
    let texts = [
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "<html>0.9</html>\r\n\r\n",
        "HTTP/0.9 200 OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 Low\r\n\r\n",
        "HTTP/1.1 600 High\r\n\r\n",
        "HTTP/1.1 999 High\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-A: b\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ];
    for text in texts {
        let found = ask_bytes(text).await;
        assert_eq!(found.unwrap_err(), Error::BadResponse(BadResponse::NotHttp), "{text:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_has_a_size_and_a_number_of_headers() {
    let headers = |count: usize| format!("{OK}{}\r\n", "A: b\r\n".repeat(count));
    assert!(ask_bytes(headers(100)).await.is_ok());
    check_bad(ask_bytes(headers(101)).await, BadResponse::HeadTooLarge);
    check_bad(ask_bytes(headers(10_000)).await, BadResponse::HeadTooLarge);
    let long = |size: usize| format!("{OK}A: {}\r\n\r\n", "b".repeat(size));
    assert!(ask_bytes(long(16_000)).await.is_ok());
    check_bad(ask_bytes(long(17_000)).await, BadResponse::HeadTooLarge);
    check_bad(ask_bytes(long(10_000_000)).await, BadResponse::HeadTooLarge);
}

#[tokio::test(start_paused = true)]
async fn interim_answers_are_skipped_but_not_for_ever() {
    let few = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(ask_bytes(format!("{few}{OK}\r\n")).await.unwrap().status, 200);
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let flood = move |stream| {
        let count = Arc::clone(&count);
        async move {
            let piece = "HTTP/1.1 100 Continue\r\n\r\n".repeat(40);
            let all = repeat(stream, "", piece.as_bytes(), Duration::ZERO).await;
            count.store(all, Ordering::Relaxed);
        }
    };
    check_bad(ask_server(&ask(), flood).await, BadResponse::HeadTooLarge);
    tokio::task::yield_now().await;
    let sent = sent.load(Ordering::Relaxed);
    assert!((128 * 1024..256 * 1024).contains(&sent), "{sent} with what waited in the pipe");
    let slow = async |stream| {
        _ = repeat(stream, "", b"HTTP/1.1 100 Continue\r\n\r\n", Duration::from_secs(1)).await;
    };
    assert_eq!(ask_server(&ask(), slow).await.unwrap_err(), Error::Timeout(Stage::Head));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_in_the_same_moment_as_its_head_is_not_part_of_it() {
    let body = vec![b'a'; 1024 * 1024];
    let head = format!("{OK}Content-Length: {}\r\n\r\n", body.len());
    let answer = ask_bytes([head.as_bytes(), &body].concat()).await.unwrap();
    assert_eq!(answer.body, body);
}

#[tokio::test(start_paused = true)]
async fn a_body_has_a_size_and_a_time() {
    let endless = async |stream| {
        let head = format!("{OK}Transfer-Encoding: chunked\r\n\r\n");
        _ = repeat(stream, &head, b"5\r\nhello\r\n", Duration::ZERO).await;
    };
    let ask = Ask { limits: Limits { wire_bytes: 100_000, ..Limits::default() }, ..ask() };
    let found = ask_server(&ask, endless).await;
    assert_eq!(found.unwrap_err(), Error::TooLarge(TooLarge::Wire));
    let announced = format!("{OK}Content-Length: 10000000000\r\n\r\n");
    assert_eq!(ask_bytes(announced).await.unwrap_err(), Error::TooLarge(TooLarge::Wire));
    let drip = async |stream| {
        let head = format!("{OK}Content-Length: 1000\r\n\r\n");
        _ = repeat(stream, &head, b"a", Duration::from_secs(1)).await;
    };
    let mark = Clock::host().mark();
    assert_eq!(ask_server(&ask, drip).await.unwrap_err(), Error::Timeout(Stage::Body));
    assert_eq!(mark.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_shorter_than_announced_is_cut_off() {
    for text in [
        "Content-Length: 10\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "Transfer-Encoding: chunked\r\n\r\nff\r\nhello",
    ] {
        check_bad(ask_bytes(format!("{OK}{text}")).await, BadResponse::ClosedEarly);
    }
    let whole = ask_bytes(format!("{OK}\r\nuntil the end")).await.unwrap();
    assert_eq!(&whole.body[..], b"until the end");
}

#[tokio::test(start_paused = true)]
async fn coded_bodies_are_undone_and_bad_ones_refused() {
    let page = b"<!doctype html><title>page</title>".repeat(100);
    let answer = ask_bytes(with_coding("gzip", &gzip(&page))).await.unwrap();
    assert_eq!((&answer.body[..], answer.wire_bytes), (&page[..], gzip(&page).len()));
    assert_eq!(answer.content_encoding.as_deref(), Some("gzip"));
    let double = ask_bytes(with_coding("gzip, gzip", &gzip(&gzip(&page)))).await.unwrap();
    assert_eq!(&double.body[..], page);
    for (coding, body) in [
        ("gzip", page.clone()),
        ("gzip", gzip(&page)[..50].to_vec()),
        ("gzip, gzip", gzip(&page)),
        ("gzip, gzip, gzip", gzip(&page)),
        ("rot13", page.clone()),
    ] {
        let found = ask_bytes(with_coding(coding, &body)).await;
        assert_eq!(found.unwrap_err(), Error::BadEncoding, "{coding}");
    }
    let bomb = gzip(&vec![0; 50_000_000]);
    let found = ask_bytes(with_coding("gzip", &bomb)).await;
    assert_eq!(found.unwrap_err(), Error::TooLarge(TooLarge::Ratio));
}

#[tokio::test(start_paused = true)]
async fn answers_without_a_body_have_none_whatever_they_announce() {
    let head = Ask { method: Method::Head, ..ask() };
    let say = async |mut stream: Served| {
        let text = format!("{OK}Content-Encoding: gzip\r\nContent-Length: 10000000000\r\n\r\n");
        let _ = stream.write_all(text.as_bytes()).await;
    };
    let answer = ask_server(&head, say).await.unwrap();
    assert_eq!((answer.body.len(), answer.header("content-length")), (0, Some("10000000000")));
    let text = "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(ask_bytes(text).await.unwrap().body.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_an_answer() {
    for status in [301, 302, 303, 307, 308] {
        let text = format!("HTTP/1.1 {status} Moved\r\nLocation: http://169.254.169.254/\r\n\r\n");
        let answer = ask_bytes(text).await.unwrap();
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("location"), Some("http://169.254.169.254/"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_head_decides_and_what_follows_is_dropped_in_time() {
    let internet = Internet::new();
    internet.site(SITE, 80, async |mut stream| {
        let _ = stream.read(&mut [0; 4096]).await;
        let head = format!("{OK}Transfer-Encoding: chunked\r\nContent-Encoding: rot13\r\n\r\n");
        let _ = stream.write_all(head.as_bytes()).await;
        silence(stream).await;
    });
    let client = client(&internet);
    let mark = Clock::host().mark();
    let opened = client.open(&ask()).await.unwrap();
    assert_eq!(opened.status, 200);
    opened.discard(64 * 1024, Duration::from_secs(2)).await;
    assert_eq!(mark.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn dropping_an_answer_closes_the_connection() {
    let internet = Internet::new();
    let (said, mut heard) = tokio::sync::mpsc::channel(1);
    internet.site(SITE, 80, move |mut stream| {
        let said = said.clone();
        async move {
            let _ = stream.read(&mut [0; 4096]).await;
            let head = format!("{OK}Transfer-Encoding: chunked\r\n\r\n");
            let sent = repeat(stream, &head, b"4\r\naaaa\r\n", Duration::ZERO).await;
            said.send(sent).await.unwrap();
        }
    });
    let mut opened = client(&internet).open(&ask()).await.unwrap();
    let first = opened.chunk(&Limits::default()).await.unwrap();
    assert!(first.unwrap().starts_with(b"aaaa"));
    drop(opened);
    assert!(heard.recv().await.unwrap() < 1024 * 1024);
}
