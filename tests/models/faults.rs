//! What upstreams do wrong before they have said anything, and while they do.

use std::time::Duration;

use errand::domain::chat::{FinishReason, UpstreamStream};
use errand::models::{End, Fault, Piece, UpstreamTexts};
use errand::outbound::fake::Internet;
use errand::sys::clock::Clock;
use serde_json::Value;

use crate::support::{
    Reply, Server, Step, answer, begin, begin_within, chunk, drain, good, head, listen, registry,
    registry_with, stream,
};

const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";

async fn hear(reply: Reply) -> (String, Result<End, Fault>) {
    let internet = Internet::new();
    Server::at(&internet, "a.example", vec![reply]);
    listen(&registry(&internet, &["a.example"])).await
}

async fn check_fault(reply: Reply, fault: Fault) {
    let shown = format!("{reply:?}");
    let shown = &shown[..shown.len().min(300)];
    assert_eq!(hear(reply).await, (String::new(), Err(fault)), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_our_key_or_model_is_never_the_callers() {
    let body =
        r#"{"error":{"message":"Incorrect API key provided: sk-up","code":"invalid_api_key"}}"#;
    for status in [401, 402, 403, 404] {
        check_fault(answer(status, "", body), Fault::Misconfigured).await;
    }
    check_fault(answer(400, "", body), Fault::Rejected(None)).await;
    check_fault(
        answer(429, "retry-after: 7\r\n", "{}"),
        Fault::RateLimited(Duration::from_secs(7)),
    )
    .await;
    check_fault(answer(500, "", "<html>"), Fault::Failed).await;
    let loading = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
    check_fault(answer(503, "", loading), Fault::Loading(Duration::from_secs(5))).await;
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_not_followed() {
    let internet = Internet::new();
    let replies = vec![answer(307, "location: http://b.example/v1/chat/completions\r\n", "")];
    Server::at(&internet, "a.example", replies);
    let other = Server::at(&internet, "b.example", vec![good()]);
    let (_, end) = listen(&registry(&internet, &["a.example"])).await;
    assert_eq!((end, other.seen().connections), (Err(Fault::Misconfigured), 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_answer_is_a_fault() {
    for body in ["", "\n\n", "data: [DONE]\n\n", ": hello\n\n", "<html>oops</html>", "oops"] {
        check_fault(stream(body), Fault::Invalid).await;
    }
    for body in ["{}", "{\"choices\":[]}", "{\"choices\":[{\"message\"", "{} {}"] {
        check_fault(stream(body), Fault::Invalid).await;
    }
    check_fault(stream("data: \u{fffd}"), Fault::Truncated).await;
    check_fault(stream("data: {\"a\":\"\u{0}\"}\n\n"), Fault::Invalid).await;
    check_fault(answer(204, "", ""), Fault::Invalid).await;
    check_fault(answer(200, "content-encoding: gzip\r\n", "x"), Fault::Invalid).await;
    check_fault(vec![Step::Say(b"SSH-2.0-x\r\n".to_vec()), Step::Close], Fault::Invalid).await;
    let head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(20_000));
    check_fault(vec![Step::Say(head.into_bytes())], Fault::Invalid).await;
}

#[tokio::test(start_paused = true)]
async fn an_error_with_a_good_status_is_an_error() {
    let too_long = r#"{"error":{"code":400,"message":"exceeds the context size","type":"exceed_context_size_error"}}"#;
    check_fault(stream(too_long), Fault::ContextLength).await;
    check_fault(answer(200, "", r#"{"error":{"message":"broken"}}"#), Fault::Failed).await;
    check_fault(answer(200, "", r#"{"error":"slow","code":429}"#), Fault::Failed).await;
}

#[tokio::test(start_paused = true)]
async fn a_line_that_never_ends_is_given_up_at_a_mebibyte() {
    let line = chunk(&vec![b'x'; 64 * 1024]);
    let mut reply = vec![Step::Say([head("text/event-stream"), chunk(b"data: ")].concat())];
    reply.extend(vec![Step::Say(line.clone()); 20]);
    check_fault(reply.clone(), Fault::Invalid).await;
    reply[0] = Step::Say([head("text/event-stream"), chunk(TEXT.as_bytes())].concat());
    assert_eq!(hear(reply).await, ("Hi".to_owned(), Err(Fault::Invalid)));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_in_the_middle_cuts_the_answer() {
    let start = [head("text/event-stream"), chunk(TEXT.as_bytes())].concat();
    for end in [Step::Close, Step::Reset] {
        let heard = hear(vec![Step::Say(start.clone()), end]).await;
        assert_eq!(heard, ("Hi".to_owned(), Err(Fault::Truncated)));
    }
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\"".to_vec();
    check_fault(vec![Step::Say(half), Step::Close], Fault::Truncated).await;
    check_fault(vec![Step::Close], Fault::Failed).await;
}

#[tokio::test(start_paused = true)]
async fn silence_has_an_end_wherever_it_falls() {
    let start = head("text/event-stream");
    let text = [start.clone(), chunk(TEXT.as_bytes())].concat();
    for (reply, said, seconds) in [
        (vec![Step::Hang], "", 120),
        // A server may send its head at once and load its model then.
        (vec![Step::Say(start), Step::Hang], "", 120),
        (vec![Step::Say(text), Step::Hang], "Hi", 60),
    ] {
        let before = Clock::host().mark();
        assert_eq!(hear(reply).await, (said.to_owned(), Err(Fault::Timeout)));
        assert_eq!(before.elapsed().as_secs(), seconds, "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_whose_body_does_not_come_is_known_by_its_status() {
    let head = b"HTTP/1.1 429 X\r\ncontent-length: 100\r\nretry-after: 9\r\n\r\n".to_vec();
    let before = Clock::host().mark();
    let fault = Fault::RateLimited(Duration::from_secs(9));
    check_fault(vec![Step::Say(head), Step::Hang], fault).await;
    assert_eq!(before.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_comments_ends_with_the_total() {
    let mut reply = vec![Step::Say(head("text/event-stream"))];
    for _ in 0..200 {
        reply.extend([Step::Say(chunk(b": wait\n\n")), Step::Pause(Duration::from_secs(20))]);
    }
    let before = Clock::host().mark();
    check_fault(reply, Fault::Timeout).await;
    assert_eq!(before.elapsed(), Duration::from_mins(30));
}

#[tokio::test(start_paused = true)]
async fn an_answer_ends_before_its_caller_gives_up() {
    let internet = Internet::new();
    let server = Server::at(&internet, "a.example", vec![vec![Step::Hang]]);
    let registry = registry(&internet, &["a.example"]);
    let before = Clock::host().mark();
    let fault = begin_within(&registry, Some(Duration::from_secs(10))).await.err();
    assert_eq!((fault, before.elapsed()), (Some(Fault::Timeout), Duration::from_secs(8)));
    Clock::host().sleep(Duration::from_millis(1)).await;
    assert_eq!(server.seen().left, 1, "the upstream was told to stop");
}

#[tokio::test(start_paused = true)]
async fn waiting_in_turns_loses_nothing_and_starts_no_deadline_anew() {
    let internet = Internet::new();
    let text = chunk(TEXT.as_bytes());
    let pause = Step::Pause(Duration::from_secs(25));
    let reply = vec![
        Step::Say([head("text/event-stream"), text.clone()].concat()),
        pause.clone(),
        Step::Say(text),
        Step::Hang,
    ];
    Server::at(&internet, "a.example", vec![reply]);
    let mut answer = begin(&registry(&internet, &["a.example"])).await.unwrap();
    let (clock, before) = (Clock::host(), Clock::host().mark());
    let (mut texts, mut beats) = (0, 0);
    let fault = loop {
        match clock.within(Duration::from_secs(10), answer.next()).await {
            Err(_) => beats += 1,
            Ok(Ok(Some(Piece::Text(_)))) => texts += 1,
            Ok(other) => break other.unwrap_err(),
        }
    };
    assert_eq!((fault, texts, beats), (Fault::Timeout, 2, 7));
    assert_eq!(before.elapsed(), Duration::from_secs(85));
}

#[tokio::test(start_paused = true)]
async fn dropping_an_answer_stops_the_upstream() {
    let internet = Internet::new();
    let start = [head("text/event-stream"), chunk(TEXT.as_bytes())].concat();
    let reply = vec![Step::Say(start), Step::Hang];
    let server = Server::at(&internet, "a.example", vec![reply]);
    let answer = begin(&registry(&internet, &["a.example"])).await.unwrap();
    assert_eq!(server.seen().left, 0);
    drop(answer);
    Clock::host().sleep(Duration::from_millis(1)).await;
    assert_eq!(server.seen().left, 1);
}

#[tokio::test(start_paused = true)]
async fn the_upstream_gets_its_own_name_a_cap_and_its_key() {
    let internet = Internet::new();
    let server = Server::at(&internet, "a.example", vec![good()]);
    let (said, end) = listen(&registry(&internet, &["a.example"])).await;
    let end = end.unwrap();
    assert_eq!((said.as_str(), end.finish, end.count), ("ok", FinishReason::Stop, None));
    let request = server.seen().requests.remove(0);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let is_fixed = |it: &&str| !it.starts_with("User-Agent") && !it.starts_with("Content-Length");
    let mut lines: Vec<_> = head.lines().filter(is_fixed).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "Accept: text/event-stream, application/json",
            "Authorization: Bearer sk-upstream",
            "Content-Type: application/json",
            "Host: a.example",
            "POST /v1/chat/completions HTTP/1.1",
        ]
    );
    let body: Value = serde_json::from_str(body).unwrap();
    let expected = serde_json::json!({
        "model": "theirs",
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 1000,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    assert_eq!(body, expected);
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_cannot_stream_is_read_in_one_piece() {
    let internet = Internet::new();
    let body = r#"{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}"#;
    let server = Server::at(&internet, "a.example", vec![answer(200, "", body)]);
    let (never, hide) = (UpstreamStream::Never, UpstreamTexts::Hide);
    let registry = registry_with(&internet, &["a.example"], never, hide);
    let (said, end) = drain(begin(&registry).await.unwrap()).await;
    assert_eq!((said.as_str(), end.unwrap().finish), ("ok", FinishReason::Stop));
    assert!(server.seen().requests[0].contains("\"stream\":false"));
}

#[tokio::test(start_paused = true)]
async fn an_upstreams_words_reach_the_caller_only_if_the_operator_says_so() {
    for (texts, shown) in
        [(UpstreamTexts::Hide, None), (UpstreamTexts::Show, Some("temperature is odd".to_owned()))]
    {
        let internet = Internet::new();
        let body = r#"{"error":{"message":"temperature is odd"}}"#;
        Server::at(&internet, "a.example", vec![answer(400, "", body)]);
        let registry = registry_with(&internet, &["a.example"], UpstreamStream::Ask, texts);
        assert_eq!(begin(&registry).await.err(), Some(Fault::Rejected(shown)));
    }
}
