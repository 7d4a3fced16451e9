//! Several upstreams: who is asked, when, and who is left alone.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use errand::models::{Fault, Registry, discover};
use errand::outbound::ResolveError;
use errand::outbound::fake::{Internet, Lookup};
use errand::sys::clock::Clock;

use crate::support::{
    Reply, Server, Step, answer, begin, begin_within, chunk, drain, good, head, listen, registry,
    stream, upstreams,
};

const HOSTS: [&str; 4] = ["a.example", "b.example", "c.example", "d.example"];

/// Servers with one reply each, and a registry that asks them in order.
fn servers(replies: Vec<Reply>) -> (Vec<Arc<Server>>, Registry) {
    let internet = Internet::new();
    let hosts: Vec<_> = HOSTS.into_iter().take(replies.len()).collect();
    let servers = hosts.iter().zip(replies);
    let servers = servers.map(|(host, it)| Server::at(&internet, host, vec![it])).collect();
    (servers, registry(&internet, &hosts))
}

/// Asks servers that do this, and checks how many were asked and what came of it.
async fn check_order(replies: Vec<Reply>, asked: usize, fault: Option<Fault>) {
    let shown = format!("{replies:?}");
    let (servers, registry) = servers(replies);
    let (said, end) = listen(&registry).await;
    assert_eq!(end.err(), fault, "{shown}");
    assert_eq!(said, if fault.is_none() { "ok" } else { "" }, "{shown}");
    let counts: usize = servers.iter().map(|it| it.seen().requests.len()).sum();
    assert_eq!(counts, asked, "{shown}");
}

#[tokio::test(start_paused = true)]
async fn the_next_is_asked_while_nothing_was_delivered() {
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n";
    for bad in [
        answer(500, "", ""),
        answer(503, "", ""),
        answer(429, "", ""),
        answer(401, "", ""),
        answer(404, "", ""),
        vec![Step::Close],
        vec![Step::Reset],
        stream(""),
        stream("<html>"),
        stream("data: {\"error\":\"no\"}\n\n"),
        stream(role),
        stream(&format!("{role}data: {{\"error\":{{\"code\":500}}}}\n\n")),
    ] {
        check_order(vec![bad, good()], 2, None).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_every_upstream_would_refuse_is_not_passed_around() {
    check_order(vec![answer(400, "", ""), good()], 1, Some(Fault::Rejected(None))).await;
    let long = r#"{"error":{"code":"context_length_exceeded"}}"#;
    check_order(vec![answer(400, "", long), good()], 1, Some(Fault::ContextLength)).await;
    check_order(vec![vec![Step::Hang], good()], 1, Some(Fault::Timeout)).await;
}

#[tokio::test(start_paused = true)]
async fn at_most_three_are_asked() {
    let bad = || answer(500, "", "");
    check_order(vec![bad(), bad(), bad(), good()], 3, Some(Fault::Failed)).await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_told_only_if_everybody_asks_for_one() {
    let limited = |seconds: u64| answer(429, &format!("retry-after: {seconds}\r\n"), "");
    let wait = |seconds| Some(Fault::RateLimited(Duration::from_secs(seconds)));
    check_order(vec![limited(9), limited(4)], 2, wait(4)).await;
    check_order(vec![limited(9), answer(500, "", "")], 2, Some(Fault::Failed)).await;
    check_order(vec![answer(401, "", ""), limited(9)], 2, Some(Fault::Misconfigured)).await;
}

#[tokio::test(start_paused = true)]
async fn after_the_first_text_nobody_else_is_asked() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let (servers, registry) = servers(vec![stream(text), good()]);
    assert_eq!(listen(&registry).await, ("Hi".to_owned(), Err(Fault::Truncated)));
    assert_eq!(servers[1].seen().connections, 0);
}

#[tokio::test(start_paused = true)]
async fn who_cannot_be_reached_is_passed_over() {
    let internet = Internet::new();
    internet.names("a.example", vec![Lookup::Fails(ResolveError::NxDomain)]);
    internet.name("b.example", "93.184.216.1");
    internet.fail("93.184.216.1:80", ErrorKind::ConnectionRefused);
    internet.name("c.example", "93.184.216.2");
    internet.hang("93.184.216.2:80");
    let first_two = registry(&internet, &["a.example", "b.example"]);
    assert_eq!(begin(&first_two).await.err(), Some(Fault::Failed));
    Server::at(&internet, "d.example", vec![good()]);
    let hung = registry(&internet, &["c.example", "d.example"]);
    let before = Clock::host().mark();
    assert_eq!(listen(&hung).await.0, "ok");
    assert!(before.elapsed() <= Duration::from_secs(5), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn who_fails_five_times_is_left_alone_and_tried_again_after_ten_seconds() {
    let internet = Internet::new();
    let mut replies = vec![answer(500, "", ""); 5];
    replies.extend([answer(500, "", ""), good(), good()]);
    let server = Server::at(&internet, "a.example", replies);
    let registry = registry(&internet, &["a.example"]);
    for _ in 0..5 {
        assert_eq!(begin(&registry).await.err(), Some(Fault::Failed));
    }
    let left_alone = Some(Fault::Unavailable(Duration::from_secs(10)));
    assert_eq!(begin(&registry).await.err(), left_alone);
    assert_eq!(server.seen().requests.len(), 5);
    Clock::host().sleep(Duration::from_secs(10)).await;
    assert_eq!(begin(&registry).await.err(), Some(Fault::Failed));
    assert_eq!(begin(&registry).await.err(), left_alone);
    Clock::host().sleep(Duration::from_secs(10)).await;
    assert_eq!(listen(&registry).await.0, "ok");
    assert_eq!(listen(&registry).await.0, "ok");
    assert_eq!(server.seen().requests.len(), 8);
}

#[tokio::test(start_paused = true)]
async fn answers_that_break_off_count_as_failures() {
    let internet = Internet::new();
    let text = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let start = [head("text/event-stream"), chunk(text)].concat();
    Server::at(&internet, "a.example", vec![vec![Step::Say(start), Step::Close]; 9]);
    let registry = registry(&internet, &["a.example"]);
    for _ in 0..5 {
        assert_eq!(listen(&registry).await, ("Hi".to_owned(), Err(Fault::Truncated)));
    }
    let left_alone = Fault::Unavailable(Duration::from_secs(10));
    assert_eq!(listen(&registry).await, (String::new(), Err(left_alone)));
}

#[tokio::test(start_paused = true)]
async fn refusals_and_callers_in_a_hurry_close_no_upstream_to_others() {
    let internet = Internet::new();
    let mut replies = vec![vec![Step::Hang]; 9];
    for status in [400, 401, 429] {
        replies.extend(vec![answer(status, "", ""); 9]);
    }
    let text = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let start = [head("text/event-stream"), chunk(text)].concat();
    replies.extend(vec![vec![Step::Say(start), Step::Hang]; 9]);
    replies.push(good());
    Server::at(&internet, "a.example", replies);
    let registry = registry(&internet, &["a.example"]);
    let hurry = Some(Duration::from_secs(3));
    for _ in 0..9 {
        assert_eq!(begin_within(&registry, hurry).await.err(), Some(Fault::Timeout));
    }
    for _ in 0..27 {
        let fault = begin(&registry).await.err().unwrap();
        assert!(!matches!(fault, Fault::Unavailable(_)), "{fault}");
    }
    for _ in 0..9 {
        let answer = begin_within(&registry, hurry).await.unwrap();
        assert_eq!(drain(answer).await, ("Hi".to_owned(), Err(Fault::Timeout)));
    }
    assert_eq!(listen(&registry).await.0, "ok");
}

#[tokio::test(start_paused = true)]
async fn the_second_serves_while_the_first_is_left_alone() {
    let internet = Internet::new();
    let first = Server::at(&internet, "a.example", vec![answer(500, "", ""); 9]);
    let second = Server::at(&internet, "b.example", vec![good(); 9]);
    let registry = registry(&internet, &["a.example", "b.example"]);
    for _ in 0..7 {
        assert_eq!(listen(&registry).await.0, "ok");
    }
    assert_eq!((first.seen().requests.len(), second.seen().requests.len()), (5, 7));
}

#[tokio::test(start_paused = true)]
async fn a_server_is_asked_for_its_models() {
    let ask = async |reply: Reply| {
        let internet = Internet::new();
        let server = Server::at(&internet, "a.example", vec![reply]);
        let base = "http://a.example/v1".parse().unwrap();
        let found = discover(&upstreams(&internet), &Clock::host(), &base, None).await;
        let lines = server.seen().requests.first().map(|it| it.lines().next().unwrap().to_owned());
        assert_eq!(lines.as_deref(), Some("GET /v1/models HTTP/1.1"));
        found.map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let list = r#"{"object":"list","data":[{"id":"l:8b"},{"id":"a/b"},{"id":7},{"id":"a b"},{}]}"#;
    assert_eq!(ask(answer(200, "", list)).await, Ok(vec!["a/b".to_owned(), "l:8b".to_owned()]));
    assert_eq!(ask(answer(200, "", "{}")).await, Err(Fault::Invalid));
    assert_eq!(ask(answer(200, "", "<html>")).await, Err(Fault::Invalid));
    assert_eq!(ask(answer(404, "", list)).await, Err(Fault::Misconfigured));
    assert_eq!(ask(vec![Step::Hang]).await, Err(Fault::Timeout));
}
