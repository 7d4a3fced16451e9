//! Connections to upstreams: kept, replaced, closed and limited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use errand::outbound::fake::Internet;
use errand::outbound::{
    BadResponse, Error, TooLarge, UpstreamAnswer, UpstreamAsk, UpstreamLimits, UpstreamUrl,
    Upstreams,
};
use errand::sys::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{LAST, Reply, Server, Step, answer, chunk, head, upstreams};

async fn ask_with(
    upstreams: &Upstreams,
    host: &str,
    limits: UpstreamLimits,
) -> Result<UpstreamAnswer, Error> {
    let base = format!("http://{host}/v1").parse().unwrap();
    let url = UpstreamUrl::new(&base, "chat/completions").unwrap();
    let until = Clock::host().mark().after(Duration::from_mins(30));
    let body = Some(Bytes::from_static(b"{}"));
    upstreams.ask(&UpstreamAsk { url: &url, bearer: None, body, limits, until }).await
}

async fn ask(upstreams: &Upstreams) -> Result<UpstreamAnswer, Error> {
    ask_with(upstreams, "a.example", UpstreamLimits::default()).await
}

/// Asks and reads all of the answer.
async fn exchange(upstreams: &Upstreams) -> Result<Bytes, Error> {
    ask(upstreams).await?.read(1024).await
}

fn place(replies: Vec<Reply>) -> (Arc<Server>, Upstreams) {
    let internet = Internet::new();
    let server = Server::at(&internet, "a.example", replies);
    (server, upstreams(&internet))
}

async fn moment() {
    Clock::host().sleep(Duration::from_millis(1)).await;
}

fn ok() -> Reply {
    answer(200, "", "ok")
}

fn then(mut reply: Reply, step: Step) -> Reply {
    reply.push(step);
    reply
}

#[tokio::test(start_paused = true)]
async fn one_connection_serves_one_request_after_the_other() {
    let (server, upstreams) = place(vec![ok(); 5]);
    for _ in 0..5 {
        assert_eq!(exchange(&upstreams).await.unwrap(), "ok");
    }
    assert_eq!((server.seen().connections, server.seen().requests.len()), (1, 5));
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_same_time_have_connections_of_their_own() {
    let (server, upstreams) = place(vec![ok(); 3]);
    let mut first = ask(&upstreams).await.unwrap();
    let mut second = ask(&upstreams).await.unwrap();
    assert_eq!(server.seen().connections, 2);
    assert_eq!(
        (first.read(9).await.unwrap(), second.read(9).await.unwrap()),
        ("ok".into(), "ok".into())
    );
    exchange(&upstreams).await.unwrap();
    assert_eq!(server.seen().connections, 2);
}

#[tokio::test(start_paused = true)]
async fn a_kept_connection_that_was_closed_meanwhile_is_not_used() {
    let (server, upstreams) = place(vec![then(ok(), Step::Close), ok()]);
    exchange(&upstreams).await.unwrap();
    moment().await;
    exchange(&upstreams).await.unwrap();
    assert_eq!((server.seen().connections, server.seen().requests.len()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_kept_connection_that_breaks_before_any_byte_is_replaced_once() {
    for end in [Step::Close, Step::Reset] {
        let (server, upstreams) = place(vec![ok(), vec![end.clone()], ok()]);
        exchange(&upstreams).await.unwrap();
        assert_eq!(exchange(&upstreams).await.unwrap(), "ok");
        let seen = server.seen();
        assert_eq!((seen.connections, seen.requests.len()), (2, 3));
        assert_eq!(seen.requests[1], seen.requests[2]);
        // The fresh one breaks too: that is a failure, and not tried again.
        let (server, upstreams) = place(vec![ok(), vec![end.clone()], vec![end], ok()]);
        exchange(&upstreams).await.unwrap();
        assert!(exchange(&upstreams).await.is_err());
        assert_eq!(server.seen().requests.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn what_broke_after_a_byte_or_too_late_is_not_sent_again() {
    let byte = vec![Step::Say(b"H".to_vec()), Step::Close];
    let (server, upstreams) = place(vec![ok(), byte, ok()]);
    exchange(&upstreams).await.unwrap();
    let error = exchange(&upstreams).await.unwrap_err();
    assert_eq!(error, Error::BadResponse(BadResponse::ClosedEarly));
    assert_eq!(server.seen().requests.len(), 2);
    let (server, upstreams) = place(vec![ok(), vec![Step::Hang], ok()]);
    exchange(&upstreams).await.unwrap();
    assert!(matches!(exchange(&upstreams).await, Err(Error::Timeout(_))));
    assert_eq!(server.seen().requests.len(), 2);
    // A fresh connection gets no second chance at all.
    let (server, upstreams) = place(vec![vec![Step::Close], ok()]);
    assert!(exchange(&upstreams).await.is_err());
    assert_eq!(server.seen().requests.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_nobody_needs_is_closed_after_half_a_minute() {
    let (server, upstreams) = place(vec![then(ok(), Step::Hang)]);
    exchange(&upstreams).await.unwrap();
    Clock::host().sleep(Duration::from_secs(29)).await;
    assert_eq!(server.seen().left, 0);
    Clock::host().sleep(Duration::from_secs(2)).await;
    assert_eq!(server.seen().left, 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_kept_only_after_a_whole_answer_that_allows_it() {
    let closing = answer(200, "connection: close\r\n", "ok");
    let surplus = answer(200, "", "ok").into_iter().chain([Step::Say(b"surplus".to_vec())]);
    for reply in [closing, surplus.collect()] {
        let (server, upstreams) = place(vec![reply, ok()]);
        exchange(&upstreams).await.unwrap();
        moment().await;
        exchange(&upstreams).await.unwrap();
        assert_eq!(server.seen().connections, 2);
    }
    let (server, upstreams) = place(vec![then(ok(), Step::Hang), ok()]);
    drop(ask(&upstreams).await.unwrap());
    moment().await;
    assert_eq!(server.seen().left, 1, "an answer that is dropped closes its connection");
    exchange(&upstreams).await.unwrap();
    assert_eq!(server.seen().connections, 2);
}

#[tokio::test(start_paused = true)]
async fn who_has_heard_enough_gives_the_connection_back_once_the_end_is_there() {
    let start = Step::Say([head("text/event-stream"), chunk(b"all")].concat());
    let end = Step::Say(LAST.to_vec());
    let pause = |it| Step::Pause(Duration::from_millis(it));
    for (reply, connections) in [
        (vec![start.clone(), end.clone()], 1),
        (vec![start.clone(), pause(500), end.clone()], 1),
        (vec![start, pause(5000), end], 2),
    ] {
        let (server, upstreams) = place(vec![reply, ok()]);
        let mut answer = ask(&upstreams).await.unwrap();
        assert_eq!(answer.chunk().await.unwrap().unwrap(), "all");
        answer.release();
        Clock::host().sleep(Duration::from_secs(2)).await;
        exchange(&upstreams).await.unwrap();
        assert_eq!(server.seen().connections, connections);
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_reads_ahead_of_who_reads() {
    let internet = Internet::new();
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    internet.site("a.example", 80, move |mut stream| {
        let count = Arc::clone(&count);
        async move {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(&head("text/event-stream")).await;
            let piece = chunk(&[b'x'; 1000]);
            while stream.write_all(&piece).await.is_ok() {
                count.fetch_add(piece.len(), Ordering::Relaxed);
            }
        }
    });
    let upstreams = upstreams(&internet);
    let mut answer = ask(&upstreams).await.unwrap();
    answer.chunk().await.unwrap().unwrap();
    Clock::host().sleep(Duration::from_secs(30)).await;
    assert!(written.load(Ordering::Relaxed) < 200_000, "{written:?}");
    let limits = UpstreamLimits { body_bytes: 1_000_000, ..UpstreamLimits::default() };
    let mut answer = ask_with(&upstreams, "a.example", limits).await.unwrap();
    let error = loop {
        if let Err(error) = answer.chunk().await {
            break error;
        }
    };
    assert_eq!(error, Error::TooLarge(TooLarge::Wire));
    let mut answer = ask(&upstreams).await.unwrap();
    assert_eq!(answer.read(5000).await, Err(Error::TooLarge(TooLarge::Decoded)));
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_interim_answers_is_given_up() {
    let flood = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(20_000);
    let (_, upstreams) = place(vec![vec![Step::Say(flood), Step::Hang]]);
    let error = ask(&upstreams).await.err();
    assert_eq!(error, Some(Error::BadResponse(BadResponse::HeadTooLarge)));
}

#[tokio::test(start_paused = true)]
async fn private_addresses_are_reached_and_those_that_tell_secrets_are_not() {
    let internet = Internet::new();
    for host in ["127.0.0.1:11434", "10.1.2.3:80", "100.64.0.1:80", "[::1]:8080"] {
        let server = Arc::new(Server::with(vec![ok()]));
        internet.serve(host, move |stream| Arc::clone(&server).serve(stream));
        let asked = ask_with(&upstreams(&internet), host, UpstreamLimits::default()).await;
        assert_eq!(asked.unwrap().status, 200, "{host}");
    }
    for host in ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]"] {
        let asked = ask_with(&upstreams(&internet), host, UpstreamLimits::default()).await;
        assert_eq!(asked.err(), Some(Error::Forbidden), "{host}");
    }
}
