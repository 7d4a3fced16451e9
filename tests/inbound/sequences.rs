//! Any requests after each other, cut into any pieces.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::test_runner::Config;

use crate::support::{World, check_refusal};

/// What a request of a sequence sends, and what it is told.
#[derive(Clone, Debug)]
struct Step {
    bytes: String,
    echo: Option<String>,
}

fn sized(text: &str) -> Step {
    let head = "\r\nPOST /echo HTTP/1.1\r\nHost: h\r\nCONTENT-length:";
    let bytes = format!("{head} {}\r\nX-Transfer-Encoding: chunked\r\n\r\n{text}", text.len());
    Step { bytes, echo: Some(text.to_owned()) }
}

fn chunked(parts: &[String]) -> Step {
    let mut bytes = "POST /echo HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n".to_owned();
    for part in parts.iter().filter(|it| !it.is_empty()) {
        bytes.push_str(&format!("00{:X} ;a=\"b\"\r\n{part}\r\n", part.len()));
    }
    bytes.push_str("0\r\nContent-Length: 3\r\n\r\n");
    Step { bytes, echo: Some(parts.concat()) }
}

fn ambiguous() -> Step {
    let head = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n";
    let bytes = format!("{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    Step { bytes, echo: None }
}

/// Bodies full of what heads are made of.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\r\n"),
        Just("\n"),
        Just("\r\n\r\n"),
        Just("Content-Length: 5\r\n"),
        Just("Transfer-Encoding: chunked\r\n"),
        Just("GET / HTTP/1.1"),
        Just("0"),
        Just("x"),
    ];
    vec(piece, 0..8).prop_map(|it| it.concat())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => text().prop_map(|it| sized(&it)),
        4 => vec(text(), 0..4).prop_map(|it| chunked(&it)),
        1 => Just(ambiguous()),
    ]
}

/// Runs `work` on a runtime of its own, with paused time.
fn simulate(work: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().expect("a runtime").block_on(work);
}

async fn check_sequence(steps: &[Step], cuts: &[u8]) {
    let mut client = World::new().connect();
    let bytes: String = steps.iter().map(|it| it.bytes.as_str()).collect();
    let mut rest = bytes.as_str();
    for cut in cuts {
        let (piece, left) = rest.split_at(rest.len().min(usize::from(*cut)));
        client.send(piece).await;
        tokio::task::yield_now().await;
        rest = left;
    }
    client.send(rest).await;
    for (nth, step) in steps.iter().enumerate() {
        let answer = client.answer().await;
        let Some(echo) = &step.echo else {
            check_refusal(&answer, 400, "invalid_request", &format!("{nth} of {bytes:?}"));
            assert_eq!(client.rest().await, "");
            return;
        };
        assert_eq!((answer.status, &answer.body), (200, echo), "{nth} of {bytes:?}");
    }
}

proptest! {
    #![proptest_config(Config::with_cases(200))]

    #[test]
    fn every_request_gets_its_own_body_back_and_an_ambiguous_one_ends_it(
        steps in vec(step(), 1..6),
        cuts in vec(1_u8..60, 0..20),
    ) {
        simulate(check_sequence(&steps, &cuts));
    }

    #[test]
    fn no_bytes_at_all_make_the_daemon_panic_or_hang(
        pieces in vec(vec(any::<u8>(), 0..80), 0..6),
        steps in vec(step(), 0..3),
    ) {
        simulate(async {
            let mut client = World::new().connect();
            for step in &steps {
                client.send(&step.bytes).await;
            }
            for piece in &pieces {
                // The connection may have ended; then nothing can be sent any more.
                let _ = tokio::io::AsyncWriteExt::write_all(&mut client.stream, piece).await;
            }
            while client.more().await {}
            client.ended().await;
        });
    }
}
